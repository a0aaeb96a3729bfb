"""The page of a formal run: statuses by method, then each problem with its statement, its proof and what failed."""

from __future__ import annotations

import base64
import hashlib

from markupsafe import Markup

from maxproof.formal.results import Status
from maxproof.report.formal_text import (
    STATUS_MEANINGS,
    STATUS_NAMES,
    attempt_line,
    outcome_text,
    proved_label,
    rate_text,
    shown_pass_at,
)
from maxproof.report.formal_view import FormalView
from maxproof.report.html import environment, style_sheet

MAX_TEXT_CHARS = 40_000
MAX_TOTAL_CHARS = 3_000_000  # of all statements and proofs


def render_formal_report(view: FormalView) -> str:
    """The whole page; it holds everything and loads nothing. The same view gives the same bytes."""
    css = style_sheet()
    return (
        environment()
        .get_template("formal.html.j2")
        .render(
            css=Markup(css),
            css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
            title=view.entries[0].problem.name if view.asks_for_a_proof else f"{len(view.entries)} formal problems",
            view=view,
            counts={status: view.count(status) for status in Status},
            statuses=[status for status in Status if view.count(status)],
            status_names=STATUS_NAMES,
            meanings=STATUS_MEANINGS,
            limit=_limit(view),
            attempt_line=attempt_line,
            label=proved_label,
            outcome=outcome_text,
            pass_at=shown_pass_at,
            rate=rate_text,
        )
    )


def _limit(view: FormalView) -> int:
    """How many characters of each text are shown, so that all of them fit on the page."""
    lengths = [len(entry.problem.source) for entry in view.entries]
    lengths += [len(s.best.solution) for entry in view.entries for s in entry.methods.values() if s.best is not None]
    limit = MAX_TEXT_CHARS
    while sum(min(length, limit) for length in lengths) > MAX_TOTAL_CHARS:
        limit //= 2
    return limit
