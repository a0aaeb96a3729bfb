"""Grades that people gave, from a CSV or JSONL file, in the oracle's place.

    problem,proof,points            the proof by the digest that result.json shows (its first 12 digits or more), or
    problem,attempt,points          by its number in the archive; a column `seed` tells seeds apart

Several rows for one proof are several graders: the grade is the mean or median of theirs. A proof without a row is not
graded.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from maxproof.evaluation.oracle.oracle import Grade, combine, proof_digest
from maxproof.evaluation.oracle.settings import Statistic
from maxproof.problems import InputError, Problem
from maxproof.problems.errors import Place
from maxproof.problems.text import read_lines
from maxproof.verifier.types import MAX_POINTS

MAX_LINE_BYTES = 64 * 1024
MIN_DIGITS = 12
_COLUMNS = ("problem", "seed", "attempt", "proof", "points", "grader")
_DIGEST = re.compile(rf"[0-9a-f]{{{MIN_DIGITS},64}}")


@dataclass(frozen=True, slots=True)
class HumanGrade:
    """One row. `proof`: the first digits of a `proof_digest`, or "" where `attempt` tells; `seed` None: any."""

    problem: str
    points: float
    proof: str = ""
    attempt: int | None = None
    seed: int | None = None


def read_grades(path: Path) -> tuple[HumanGrade, ...]:
    """All rows of a .csv or .jsonl file.

    Raises InputError with file, line and field: a row without problem or points, points outside 0..7, a row that names
    no proof, an unknown column, no row at all.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise InputError(f"unknown suffix {suffix!r}, expected .csv or .jsonl", file=path)
    rows = tuple(_grade(row, place) for place, row in (_csv_rows(path) if suffix == ".csv" else _json_rows(path)))
    if not rows:
        raise InputError("no grade in the file", file=path)
    return rows


def grades_text(grades: Sequence[HumanGrade]) -> str:
    """The rows as JSONL, which `read_grades` reads."""
    rows = ({key: value for key, value in asdict(grade).items() if value not in (None, "")} for grade in grades)
    return "".join(json.dumps(row) + "\n" for row in rows)


class HumanOracle:
    """Looks grades up. `seed` is that of the unit whose proofs are graded."""

    def __init__(self, grades: tuple[HumanGrade, ...], statistic: Statistic, seed: int) -> None:
        self._statistic = statistic
        self._by_problem: dict[str, list[HumanGrade]] = {}
        for grade in grades:
            if grade.seed in (None, seed):
                self._by_problem.setdefault(grade.problem, []).append(grade)

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        digest = proof_digest(text)
        points = tuple(row.points for row in self._by_problem.get(problem.id, ()) if _is_of(row, digest, attempts))
        if not points:
            return Grade(None, (), "nobody graded it")
        return Grade(combine(points, self._statistic), points)


def without_proof(
    grades: Sequence[HumanGrade], proofs: Mapping[tuple[str, int], Sequence[tuple[int, str]]]
) -> tuple[HumanGrade, ...]:
    """The rows that grade none of `proofs`: by problem and seed, number and digest of each."""
    by_problem: dict[str, list[tuple[int, int, str]]] = {}
    for (problem, seed), found in proofs.items():
        by_problem.setdefault(problem, []).extend((seed, attempt, digest) for attempt, digest in found)

    def used(row: HumanGrade) -> bool:
        return any(
            row.seed in (None, seed) and _is_of(row, digest, (attempt,))
            for seed, attempt, digest in by_problem.get(row.problem, ())
        )

    return tuple(row for row in grades if not used(row))


def _is_of(row: HumanGrade, digest: str, attempts: Sequence[int]) -> bool:
    """The row grades the proof with this digest, which has these numbers."""
    return digest.startswith(row.proof) if row.proof else row.attempt in attempts


def _csv_rows(path: Path) -> Iterator[tuple[Place, Mapping[str, object]]]:
    reader = csv.reader((line for _, line in read_lines(path, MAX_LINE_BYTES)), strict=True)
    header: list[str] = []
    start = 1
    try:
        for row in reader:
            place, start = Place(path, start), reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip().casefold() for cell in row]
                continue
            if len(row) != len(header):
                raise place.error(f"{len(row)} cells, but the header names {len(header)} columns")
            yield place, {name: cell.strip() for name, cell in zip(header, row, strict=True) if cell.strip()}
    except csv.Error as error:
        raise Place(path, start).error(f"not CSV: {error}") from None


def _json_rows(path: Path) -> Iterator[tuple[Place, Mapping[str, object]]]:
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if not line.strip():
            continue
        place = Place(path, number)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise place.error("not JSON") from None
        if not isinstance(row, dict):
            raise place.error("expected a JSON object")
        yield place, {key: value for key, value in row.items() if value is not None}


def _grade(row: Mapping[str, object], place: Place) -> HumanGrade:
    for key in row:
        if key not in _COLUMNS:
            raise place.error("unknown column", field=key, hint=f"known: {', '.join(_COLUMNS)}")
    problem = str(row.get("problem", ""))
    if not problem:
        raise place.error("no problem", field="problem")
    proof = str(row.get("proof", "")).lower()
    if proof and not _DIGEST.fullmatch(proof):
        raise place.error(f"expected {MIN_DIGITS} to 64 hexadecimal digits of the proof's digest", field="proof")
    attempt = _whole(row, "attempt", place)
    if not proof and attempt is None:
        raise place.error("names no proof", field="proof", hint="give its digest in proof, or its number in attempt")
    return HumanGrade(problem, _points(row, place), proof, attempt, _whole(row, "seed", place))


def _points(row: Mapping[str, object], place: Place) -> float:
    value = row.get("points")
    try:
        points = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        points = -1.0
    if not 0 <= points <= MAX_POINTS:
        raise place.error(f"expected a number from 0 to {MAX_POINTS}", field="points")
    return points


def _whole(row: Mapping[str, object], name: str, place: Place) -> int | None:
    if name not in row:
        return None
    text = str(row[name])
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise place.error("expected a whole number", field=name)
    return int(text)
