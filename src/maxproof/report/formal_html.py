"""The page of a formal run: statuses by method, then each problem with its statement, its proof and what failed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from maxproof.formal.folder import FormalFolder
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.summary import MethodSummary, ProblemSummary
from maxproof.models.template import clip
from maxproof.report.formal_text import STATUS_NAMES, rate_text
from maxproof.report.html import environment, style_sheet

MAX_TEXT_CHARS = 40_000
MAX_TOTAL_CHARS = 20_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One problem with what each method made of it."""

    problem: FormalProblem
    statement: str
    status: Status
    methods: tuple[ProblemSummary, ...]
    proof: str


def render_formal_report(
    folder: FormalFolder, problems: Sequence[ProblemSummary], methods: Sequence[MethodSummary]
) -> str:
    """The whole page; it holds everything and loads nothing. The same run gives the same bytes."""
    css = style_sheet()
    limit = min(MAX_TEXT_CHARS, MAX_TOTAL_CHARS // max(1, 2 * len(folder.problems)))
    entries = _entries(folder, problems, limit)
    counts = {name: sum(entry.status is status for entry in entries) for status, name in STATUS_NAMES.items()}
    return (
        environment()
        .get_template("formal.html.j2")
        .render(
            css=Markup(css),
            css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
            title=entries[0].problem.name if len(entries) == 1 else f"{len(entries)} formal problems",
            folder=folder,
            entries=entries,
            counts=counts,
            methods=methods,
            names=list(dict.fromkeys(summary.method for summary in problems)),
            status_names=STATUS_NAMES,
            statuses=list(Status),
            rate=rate_text,
            single=len(entries) == 1,
        )
    )


def _entries(folder: FormalFolder, problems: Sequence[ProblemSummary], limit: int) -> list[Entry]:
    by_problem: dict[str, list[ProblemSummary]] = {problem.name: [] for problem in folder.problems}
    for summary in problems:
        by_problem[summary.problem].append(summary)
    entries = []
    for problem in folder.problems:
        own = by_problem[problem.name]
        accepted = [s.best.solution for s in own if s.accepted and s.best is not None]
        status = folder.statements.get(problem.name) or (Status.SOLVED if accepted else Status.OPEN)
        proof = clip(min(accepted, key=len), limit) if accepted else ""
        entries.append(Entry(problem, clip(problem.source, limit), status, tuple(own), proof))
    return entries
