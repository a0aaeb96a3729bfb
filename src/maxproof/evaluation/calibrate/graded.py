"""Graded proofs from a file: JSONL, JSON or CSV, one proof a row.

    {"id": "p1-a", "problem": "P1", "proof": "...", "points": 6}
    {"problem": "P2", "statement": "Prove ...", "proof": "...", "correct": "yes", "style": "terse"}

| field | also called | what |
| --- | --- | --- |
| `problem` | `problem id` | the problem's id; proofs of one problem are resampled together |
| `proof` | `text`, `solution`, `candidate`, `response` | the text; needed for a verifier that is asked |
| `points` | `grade` | 0..7, or |
| `correct` | `right` | yes/no, true/false, 1/0; counts where both are there |
| `id` | `proof id` | of the proof; default: its file and line |
| `statement` | `problem statement` | where the problems are not given apart |
| `style` | `group` | a word of yours; rates are shown for each |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from maxproof.evaluation.calibrate.types import Graded
from maxproof.problems import InputError, Problem
from maxproof.problems.errors import Place, nearest
from maxproof.problems.records import BadRow, read_rows
from maxproof.problems.text import unix_newlines
from maxproof.verifier.types import MAX_POINTS

SUFFIXES = (".jsonl", ".json", ".csv")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "problem": ("problem", "problem id"),
    "proof": ("proof", "text", "solution", "candidate", "response"),
    "points": ("points", "grade"),
    "correct": ("correct", "right"),
    "id": ("id", "proof id"),
    "statement": ("statement", "problem statement"),
    "style": ("style", "group"),
}
_TRUTHS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_SAME_CHARS = re.compile(r"[\s_-]+")


def read_graded(path: Path, right_at: float, problems: Mapping[str, Problem] | None = None) -> tuple[Graded, ...]:
    """The graded proofs of a file.

    Args:
        right_at: points that make a proof right.
        problems: by id; their statements are taken, and a proof of another problem is an error.

    Raises InputError with file, line and field: no problem, no grade, a grade out of range, an id given twice, an
    unknown problem, no row at all.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"unknown suffix {suffix!r}, expected one of {', '.join(SUFFIXES)}", file=path)
    found: dict[str, Graded] = {}
    for record in read_rows(path):
        if isinstance(record, BadRow):
            raise record.error
        row = {_SAME_CHARS.sub(" ", key.strip()).casefold(): value for key, value in record.raw.items()}
        graded = _graded(row, record.place, right_at, problems)
        if graded.id in found:
            raise record.place.error(f"the proof {graded.id!r} is given twice", field="id")
        found[graded.id] = graded
    if not found:
        raise InputError("no graded proof in the file", file=path)
    return tuple(found.values())


def _graded(row: Mapping[str, object], place: Place, right_at: float, problems: Mapping[str, Problem] | None) -> Graded:
    statement = _text(row, "statement", place)
    problem = _text(row, "problem", place) or statement
    if not problem:
        raise place.error("names no problem", field="problem", hint="give its id, or its statement")
    if problems is not None:
        if problem not in problems:
            raise place.error(f"no problem {problem[:100]!r}", field="problem", hint=nearest(problem, problems))
        statement = problems[problem].statement
    correct, given = _value(row, "correct"), _value(row, "points")
    points = None if given is None else _points(given, place)
    if correct is not None:
        right = _TRUTHS.get(str(correct).strip().casefold())
        if right is None:
            raise place.error("expected yes or no", field="correct")
    elif points is not None:
        right = points >= right_at
    else:
        raise place.error("has no grade", field="points", hint="give points 0..7, or correct yes or no")
    id = _text(row, "id", place) or str(place)
    return Graded(id, problem, right, _text(row, "proof", place), statement, _text(row, "style", place))


def _value(row: Mapping[str, object], field: str) -> object:
    """The first of the field's names that has a value."""
    return next((row[name] for name in _NAMES[field] if row.get(name) not in (None, "")), None)


def _text(row: Mapping[str, object], field: str, place: Place) -> str:
    value = _value(row, field)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise place.error("expected text", field=field)
    return unix_newlines(str(value)).strip()


def _points(value: object, place: Place) -> float:
    points = -1.0
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            points = float(value)
        except (ValueError, OverflowError):
            points = -1.0
    if not isfinite(points) or not 0 <= points <= MAX_POINTS:
        raise place.error(f"expected a number from 0 to {MAX_POINTS}", field="points")
    return points
