"""`maxproof report`: one HTML file that holds everything and loads nothing.

The page has no script at all and a policy that would refuse one; its style sheet is inline and allowed by its hash.
Everything that a model, a file or a setting wrote reaches the page in one of two ways: escaped by the template (after
hidden characters were made visible), or through `maths.MathsRenderer`. The page is a pure function of the `RunView`.

Mathematics is rendered for the problem, the winner and the finalists; every other candidate is plain text in a closed
`details`, cut so that a page stays within what a browser opens.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from maxproof.models.template import clip, visible
from maxproof.report import charts, summary, tables
from maxproof.report.maths import MathsRenderer
from maxproof.report.summary import KnownError
from maxproof.report.view import RunView
from maxproof.search.types import Fitness
from maxproof.verifier.types import MAX_POINTS

MAX_CANDIDATE_CHARS = 250_000
MAX_TOTAL_CHARS = 26_000_000
MAX_RENDERED_FINALISTS = 4
MAX_FIELD_CHARS = 100_000

FITNESS_RULES: Mapping[Fitness, str] = {
    "min": "the minimum over the scored ones",
    "mean": "the mean of the scored ones",
    "majority": "the most that more than half of the scored ones give at least",
}
"""What a candidate's points are, by the setting `search.fitness`."""


def render_report(view: RunView) -> str:
    """The whole page. The same view gives the same bytes."""
    # In a thread of its own: how deep a formula may nest then depends on the formula, not on who called us.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_render, view).result()


def _render(view: RunView) -> str:
    result = view.result
    maths = MathsRenderer()
    limit = min(MAX_CANDIDATE_CHARS, MAX_TOTAL_CHARS // max(1, len(result.standings)))
    finalists = [n for n in result.finalists if n != result.winner][:MAX_RENDERED_FINALISTS]
    rendered = {n: Markup(maths.html(clip(result.standing(n).candidate.text, limit))) for n in finalists}
    winner = result.standing(result.winner) if result.winner is not None else None
    total = tables.total_usage(view.usage)
    css = style_sheet()
    page = environment().get_template("report.html.j2")
    return page.render(
        view=view,
        result=result,
        css=Markup(css),
        css_hash=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
        outcome=summary.outcome(view),
        how_sure=summary.how_sure(view),
        winner=winner,
        winner_name=summary.winner_name(view),
        winner_points=f"{summary.fitness_text(winner)} of {MAX_POINTS} points" if winner else "",
        winner_html=Markup(maths.html(clip(winner.candidate.text, limit))) if winner else "",
        winner_errors=[
            KnownError(Markup(maths.html(e.location)), Markup(maths.html(e.description)), e.found_by)
            for e in tables.shown_errors(summary.known_errors(winner) if winner else ())
        ],
        statement=Markup(maths.html(clip(view.problem.statement, MAX_FIELD_CHARS))),
        given=[
            (name, Markup(maths.html(clip(text, MAX_FIELD_CHARS))))
            for name, text in (
                ("Answer", view.problem.answer),
                ("Reference solution", view.problem.reference),
                ("Grading scheme", view.problem.rubric),
            )
            if text
        ],
        tree=Markup(charts.family_tree(result)),
        curve=Markup(charts.best_curve(result.rounds)),
        matrix=tables.matrix(result),
        samples=max((len(summary.cells(s)) for s in result.standings), default=0),
        fitness_rule=FITNESS_RULES[result.standings[0].rule] if result.standings else "",
        meanings=[(state, summary.SYMBOLS[state], text) for state, text in summary.MEANINGS.items()],
        stages=tables.stages(summary.shown_matches(view), view.stopped),
        cards=(tables.card(s, result, limit) for s in sorted(result.standings, key=lambda s: s.candidate.id)),
        rendered=rendered,
        lost=summary.lost_slots(result),
        usage_rows=tables.usage_rows(view.usage),
        total=total,
        lazy=summary.lazy_saving(view),
        settings=sorted(view.settings.items()),
    )


@lru_cache(maxsize=1)
def style_sheet() -> str:
    """The style sheet that every page carries in full."""
    return (resources.files("maxproof.report") / "templates" / "report.css").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Templates escape whatever is not `Markup`, after hidden characters were made visible."""
    made = Environment(
        loader=PackageLoader("maxproof.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters |= {
        "points": summary.points_text,
        "duration": summary.duration,
        "thousands": "{:,}".format,
        "money": "{:,.4f}".format,
        "clip": clip,
        "vote_state": summary.vote_state,
    }
    return made


def _finalize(value: object) -> object:
    """Hidden characters become visible in whatever is not our own markup."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
