"""What the units of an evaluation have used, in all their sessions, as their files and journals have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maxproof.evaluation.dataset.folder import EvalFolder, Unit
from maxproof.evaluation.dataset.shared_endpoint import amounts_of
from maxproof.evaluation.dataset.unit_files import UnitGrades, UnitOutcome, read_grades_file, read_outcome_file
from maxproof.evaluation.dataset.units import to_grade
from maxproof.models.budget import NOTHING, Amounts
from maxproof.models.journal import Journal
from maxproof.models.settings import EndpointSettings
from maxproof.models.usage import role_usage


@dataclass(frozen=True, slots=True)
class UnitState:
    """How far a unit is: its method, the grading of what that wrote, and what both have used."""

    unit: Unit
    method_done: bool
    graded: bool
    search: Amounts = NOTHING
    oracle: Amounts = NOTHING


def unit_state(folder: EvalFolder, unit: Unit) -> UnitState:
    """Reads a unit's files; where a session was killed, its journals. Raises InputError for damaged ones."""
    place, asked = folder.unit(unit), folder.asked
    outcome, grades = read_outcome_file(place.outcome), read_grades_file(place.grades)
    endpoints = asked.settings.endpoints
    oracle = {"oracle": asked.oracle_settings} if asked.oracle_settings is not None else {}
    done = outcome is not None and outcome.finished
    graded = asked.oracle == "none"
    if outcome is not None and done:
        # Grades from a session that was ended early or killed may lack proofs that came later.
        wanted = to_grade(folder, outcome.outcome).keys()
        whole = grades is not None and grades.finished and grades.grades.keys() == wanted
        # Those of people may have changed, and looking them up costs nothing.
        graded |= not wanted or (asked.oracle != "grades" and whole)
    return UnitState(
        unit,
        done,
        graded,
        _used(place.journal, outcome if done else None, endpoints),
        _used(place.oracle_journal, grades if graded else None, oracle),
    )


def seconds_of_work(journals: Iterable[Path]) -> float:
    """Seconds in which at least one session of any of these journals was at work."""
    spans: list[tuple[float, float]] = []
    for path in journals:
        if path.exists():
            with Journal.replay(path) as journal:
                spans += [(session.started, session.last) for session in journal.sessions()]
    total, end = 0.0, float("-inf")
    for start, last in sorted(spans):
        total += max(0.0, last - max(start, end))
        end = max(end, last)
    return total


def total(amounts: Sequence[Amounts]) -> Amounts:
    """Their sum."""
    return sum(amounts, NOTHING)


def _used(journal: Path, known: UnitOutcome | UnitGrades | None, endpoints: Mapping[str, EndpointSettings]) -> Amounts:
    if known is not None:
        return amounts_of(known.usage)
    if not journal.exists():
        return NOTHING
    with Journal.replay(journal) as opened:
        return amounts_of(role_usage(opened, endpoints))
