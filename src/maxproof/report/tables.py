"""What the report's tables and cards show, prepared for the template: plain values, nothing escaped yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from html import escape

from maxproof.models.template import clip, visible
from maxproof.models.types import RoleUsage
from maxproof.report.charts import fitness_class
from maxproof.report.layout import shortened
from maxproof.report.summary import (
    Cell,
    KnownError,
    cell,
    cells,
    fitness_text,
    known_errors,
    match_tally,
    points_text,
)
from maxproof.search.types import Match, SearchResult, Standing
from maxproof.verifier.types import ScoreState, Verification

MAX_SHOWN_ERRORS = 40
MAX_ASSESSMENT_CHARS = 8_000
MAX_ERROR_CHARS = 4_000
MAX_GIST_CELLS = 110
_CHUNK = 64


def shown(text: str, limit: int) -> str:
    """`text` with hidden characters made visible, cut to `limit` characters and 1.5 `limit` bytes of HTML, with a note.

    Escapes and code points make a text longer, up to tenfold: what counts for the page is what is written.
    """
    text = clip(text, limit)
    pieces: list[str] = []
    room = limit * 3 // 2
    for start in range(0, len(text), _CHUNK):
        piece = visible(text[start : start + _CHUNK])
        room -= len(escape(piece).encode())
        if room < 0:
            return "".join(pieces) + f"\n[… {len(text) - start} characters left out …]"
        pieces.append(piece)
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the verdict matrix."""

    id: int
    origin: str
    round: int
    fitness: str
    colour: str
    cells: tuple[Cell, ...]
    winner: bool
    finalist: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a candidate's text; `error` is the 1-based number of the error located there, 0 for none."""

    text: str
    error: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One verification with what each judge said."""

    number: int
    cell: Cell
    verification: Verification
    judges: tuple[tuple[str, str, str, str], ...]
    """name, mode, what it said in short, its assessment."""


@dataclass(frozen=True, slots=True)
class Card:
    """One candidate with all that is known of it."""

    id: int
    origin: str
    round: int
    parent: int | None
    fitness: str
    colour: str
    marks: tuple[Cell, ...]
    winner: bool
    chars: int
    gist: str
    """The beginning of the summary, on one line."""
    summary: str
    pieces: tuple[Piece, ...]
    errors: tuple[KnownError, ...]
    more_errors: int
    samples: tuple[Sample, ...]


def matrix(result: SearchResult) -> tuple[Row, ...]:
    """The verdict matrix, one row for each candidate by id."""
    return tuple(
        Row(
            id=standing.candidate.id,
            origin=standing.candidate.slot.origin,
            round=standing.candidate.slot.round,
            fitness=fitness_text(standing),
            colour=fitness_class(standing),
            cells=cells(standing),
            winner=standing.candidate.id == result.winner,
            finalist=standing.candidate.id in result.finalists,
        )
        for standing in sorted(result.standings, key=lambda s: s.candidate.id)
    )


def card(standing: Standing, result: SearchResult, limit: int) -> Card:
    """A candidate's card; its text is cut to about `limit` characters, with a note of what was left out."""
    slot = standing.candidate.slot
    errors = known_errors(standing)
    listed = shown_errors(errors)
    return Card(
        id=slot.id,
        origin=slot.origin,
        round=slot.round,
        parent=slot.parent,
        fitness=fitness_text(standing),
        colour=fitness_class(standing),
        marks=cells(standing),
        winner=slot.id == result.winner,
        chars=len(standing.candidate.text),
        gist=shortened(standing.summary, MAX_GIST_CELLS),
        summary=shown(standing.summary, MAX_ERROR_CHARS),
        pieces=mark_errors(shown(standing.candidate.text, limit), [error.location for error in listed]),
        errors=listed,
        more_errors=len(errors) - len(listed),
        samples=tuple(_sample(k, v) for k, v in sorted(standing.verifications.items())),
    )


def shown_errors(errors: Sequence[KnownError]) -> tuple[KnownError, ...]:
    """The first MAX_SHOWN_ERRORS errors, each cut to a length that can be read."""
    return tuple(
        KnownError(shown(e.location, MAX_ERROR_CHARS), shown(e.description, MAX_ERROR_CHARS), e.found_by)
        for e in errors[:MAX_SHOWN_ERRORS]
    )


def mark_errors(text: str, locations: Sequence[str]) -> tuple[Piece, ...]:
    """Cuts a text where errors quote it literally (8 characters or more, first place); quotes never overlap."""
    spans: list[tuple[int, int, int]] = []
    for number, location in enumerate(locations, start=1):
        quote = location.strip().strip("\"'`“”‘’.… ")
        start = text.find(quote) if len(quote) >= 8 else -1
        end = start + len(quote)
        if start >= 0 and all(end <= a or b <= start for a, b, _ in spans):
            spans.append((start, end, number))
    pieces: list[Piece] = []
    at = 0
    for start, end, number in sorted(spans):
        pieces += [Piece(text[at:start]), Piece(text[start:end], number)]
        at = end
    return tuple(piece for piece in (*pieces, Piece(text[at:])) if piece.text)


def _sample(number: int, verification: Verification) -> Sample:
    judges = tuple(
        (
            view.judge,
            view.mode,
            f"not scored: {view.reason or 'no reason given'}"
            if view.state is ScoreState.NOT_SCORED
            else f"{points_text(view.points)} points, {view.verdict.value if view.verdict else 'no verdict'}",
            shown(view.assessment, MAX_ASSESSMENT_CHARS),
        )
        for view in verification.judges
    )
    return Sample(number, cell(verification), verification, judges)


def stages(matches: Iterable[Match], stopped: str = "") -> tuple[tuple[str, tuple[tuple[Match, str], ...]], ...]:
    """The bracket: for each stage its name and its matches with their tally."""
    by_stage: dict[int, list[Match]] = {}
    for match in sorted(matches, key=lambda m: m.number):
        by_stage.setdefault(match.stage, []).append(match)
    names = ["Final", "Semi-finals", "Quarter-finals"]
    ordered = sorted(by_stage)
    named = []
    for index, stage in enumerate(ordered):
        to_go = len(ordered) - 1 - index
        name = names[to_go] if to_go < len(names) else f"Stage {index + 1}"
        named.append((name, tuple((match, match_tally(match, stopped)) for match in by_stage[stage])))
    return tuple(named)


def usage_rows(usage: Sequence[RoleUsage]) -> tuple[RoleUsage, ...]:
    """The roles and then their sum. A role without an answered call has no cost: nothing tells if it has prices."""
    return (*(replace(row, cost=None) if row.failed == row.calls else row for row in usage), total_usage(usage))


def total_usage(usage: Iterable[RoleUsage]) -> RoleUsage:
    """The sum over roles; its cost is None when no call was answered, or one that was has no price."""
    rows = tuple(usage)
    numbers = {
        f.name: sum(getattr(row, f.name) for row in rows)
        for f in fields(RoleUsage)
        if f.name not in ("role", "cost", "estimated")
    }
    costs = [row.cost for row in rows if row.failed < row.calls]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if known and len(known) == len(costs) else None
    return RoleUsage(role="all", cost=cost, estimated=any(row.estimated for row in rows), **numbers)
