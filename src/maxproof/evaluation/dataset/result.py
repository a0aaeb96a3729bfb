"""What an evaluation has measured, unit by unit: the only thing that its tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from maxproof.evaluation.dataset.folder import Asked, EvalFolder, Unit
from maxproof.evaluation.dataset.unit_files import UnitGrades, UnitOutcome, read_grades_file, read_outcome_file
from maxproof.evaluation.dataset.units import HUMAN_GRADES, replay_grading, replay_method
from maxproof.evaluation.methods.types import Outcome
from maxproof.evaluation.oracle.human_grades import HumanGrade, read_grades, without_proof
from maxproof.evaluation.oracle.oracle import Grade, proof_digest
from maxproof.models.types import RoleUsage
from maxproof.problems import Problem


@dataclass(frozen=True, slots=True)
class Used:
    """Calls, tokens in and out, and money, None where an endpoint has no prices.

    `failed` of the calls have no answer; `estimated` says that servers sent no token counts and some are our own.
    """

    calls: int = 0
    failed: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    estimated: bool = False

    def __add__(self, other: Used) -> Used:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Used(
            self.calls + other.calls,
            self.failed + other.failed,
            self.tokens + other.tokens,
            cost,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proof: as the method sees it, and the oracle's points; `reason` says why it has none."""

    id: int
    round: int
    origin: str
    fitness: float | None
    proof: str
    points: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """One problem with one seed.

    Attributes:
        state: `done`; `stopped`: the method or the grading ended early, for `reason`; `not_run`.
        candidates: by id.
        picked, argmax: ids, or None.
        rounds: refinement rounds done. stop: why the method ended.
    """

    problem: str
    seed: int
    domain: str | None
    level: str | None
    state: Literal["done", "stopped", "not_run"]
    reason: str = ""
    candidates: tuple[Candidate, ...] = ()
    picked: int | None = None
    argmax: int | None = None
    passed: bool = False
    rounds: int = 0
    stop: str = ""
    search: Used = field(default_factory=Used)
    oracle: Used = field(default_factory=Used)

    def points(self, candidate: int | None) -> float | None:
        """The oracle's points of a candidate; None if there is none or it is not graded."""
        return next((c.points for c in self.candidates if c.id == candidate), None)

    @property
    def picked_points(self) -> float | None:
        return self.points(self.picked)

    @property
    def best(self) -> float | None:
        """The highest points of a graded candidate."""
        return self.best_after(self.rounds)

    def best_after(self, number: int) -> float | None:
        """The highest points of a graded candidate of the rounds up to `number`."""
        found = [c.points for c in self.candidates if c.points is not None and c.round <= number]
        return max(found, default=None)

    @property
    def loss(self) -> float | None:
        """Selection loss, 0..7: best minus picked; None unless both are graded."""
        best, picked = self.best, self.picked_points
        return None if best is None or picked is None else best - picked

    @property
    def not_graded(self) -> int:
        return sum(candidate.points is None for candidate in self.candidates)


@dataclass(frozen=True, slots=True)
class EvalResult:
    """All units of an evaluation, seed by seed in the order of the dataset, and its problems.

    `stray_grades`: grades by people that fit no proof of any unit.
    """

    asked: Asked
    units: tuple[UnitResult, ...]
    problems: Mapping[str, Problem]
    stray_grades: tuple[HumanGrade, ...] = ()

    @property
    def states(self) -> dict[str, int]:
        """How many units are `done`, `stopped`, `not_run`."""
        return {state: sum(u.state == state for u in self.units) for state in ("done", "stopped", "not_run")}

    def by_problem(self, units: Sequence[UnitResult], value: Callable[[UnitResult], float | None]) -> dict[str, Any]:
        """`value` of the units that have it, by problem, one for each seed."""
        found: dict[str, list[float]] = {}
        for unit in units:
            number = value(unit)
            if number is not None:
                found.setdefault(unit.problem, []).append(number)
        return found


async def collect(folder: EvalFolder, *, replay: bool = False) -> EvalResult:
    """Reads every unit's two derived files; where one is missing, or with `replay`, its journals.

    Makes no call and changes nothing. Raises InputError for damaged files.
    """
    units = [await _unit_result(folder, unit, replay=replay) for unit in folder.units()]
    return EvalResult(folder.asked, tuple(units), folder.problems, _stray_grades(folder, units))


def _stray_grades(folder: EvalFolder, units: Sequence[UnitResult]) -> tuple[HumanGrade, ...]:
    path = folder.path / HUMAN_GRADES
    if folder.asked.oracle != "grades" or not path.exists():
        return ()
    proofs = {(unit.problem, unit.seed): [(c.id, c.proof) for c in unit.candidates] for unit in units}
    return without_proof(read_grades(path), proofs)


async def _unit_result(folder: EvalFolder, unit: Unit, *, replay: bool) -> UnitResult:
    place, problem = folder.unit(unit), folder.problems[unit.problem]
    outcome = None if replay else read_outcome_file(place.outcome)
    if outcome is None:
        outcome = await replay_method(folder, unit) if _was_run(folder, place.path, place.outcome) else None
    if outcome is None:
        return UnitResult(unit.problem, unit.seed, problem.domain, problem.level, "not_run")
    grades = None if replay else read_grades_file(place.grades)
    if grades is None:
        grades = await replay_grading(folder, unit, outcome.outcome)
    return _joined(unit, problem, outcome, grades, grade_all=folder.asked.grade == "archive")


def _was_run(folder: EvalFolder, path: Path, outcome: Path) -> bool:
    return outcome.exists() or (path / "journal.sqlite").exists()


def _joined(unit: Unit, problem: Problem, found: UnitOutcome, grades: UnitGrades, *, grade_all: bool) -> UnitResult:
    outcome: Outcome = found.outcome
    none = Grade(None, (), "not asked yet" if grade_all else "only picked proofs are graded", final=False)
    candidates = []
    for attempt in sorted(outcome.attempts, key=lambda attempt: attempt.id):
        digest = proof_digest(attempt.text)
        grade = grades.grades.get(digest, none)
        candidates.append(
            Candidate(
                attempt.id, attempt.round, attempt.origin, attempt.fitness, digest, grade.points,
                grade.reason if grade.points is None or None in grade.samples else "",
            )
        )  # fmt: skip
    reason = found.reason or grades.reason
    return UnitResult(
        problem=unit.problem,
        seed=unit.seed,
        domain=problem.domain,
        level=problem.level,
        state="done" if found.finished and not grades.reason else "stopped",
        reason=reason,
        candidates=tuple(candidates),
        picked=outcome.picked,
        argmax=outcome.argmax,
        passed=outcome.passed,
        rounds=outcome.rounds,
        stop=outcome.stop,
        search=_used(found.usage),
        oracle=_used(grades.usage),
    )


def _used(usage: Sequence[RoleUsage]) -> Used:
    total = Used()
    for role in usage:
        tokens = role.prompt_tokens + role.completion_tokens
        total += Used(role.calls, role.failed, tokens, role.cost, role.estimated)
    return total


def unit_json(unit: UnitResult) -> dict[str, Any]:
    """A unit as `result.json` has it, with what follows from its grades."""
    rounds = [unit.best_after(number) for number in range(unit.rounds + 1)] if unit.candidates else []
    return {
        **asdict(unit),
        "picked_points": unit.picked_points,
        "argmax_points": unit.points(unit.argmax),
        "best_points": unit.best,
        "selection_loss": unit.loss,
        "best_by_round": rounds,
        "not_graded": unit.not_graded,
    }
