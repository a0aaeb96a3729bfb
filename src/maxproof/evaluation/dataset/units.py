"""One unit of an evaluation: the method on one problem with one seed, then the grades of what it wrote.

Both parts have a journal of their own. Live, resumed and replayed are one path: what is recorded is answered from the
journal, and what the two derived files say follows from it alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from maxproof import __version__
from maxproof.evaluation.dataset.folder import GIVEN, EvalFolder, Unit, UnitFolder
from maxproof.evaluation.dataset.given import GivenProofs
from maxproof.evaluation.dataset.shared_endpoint import SharedEndpoints, UnitCalls
from maxproof.evaluation.dataset.unit_files import (
    UnitGrades,
    UnitOutcome,
    read_grades_file,
    read_outcome_file,
    write_grades_file,
    write_outcome_file,
)
from maxproof.evaluation.methods import METHODS, unlimited
from maxproof.evaluation.methods.types import Method, Outcome
from maxproof.evaluation.oracle.human_grades import HumanOracle, read_grades
from maxproof.evaluation.oracle.oracle import Grade, JudgeOracle, LabOracle, NoOracle, Oracle, proof_digest
from maxproof.evaluation.oracle.settings import ROLE
from maxproof.models.bindings import Bindings, resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.journal import Journal
from maxproof.models.journal_schema import create_file
from maxproof.models.journal_writer import take_lock
from maxproof.models.settings import BudgetSettings
from maxproof.models.types import Answer, Call, Caller, CallNotRun, NoAnswer, StopKind
from maxproof.problems import InputError, Problem
from maxproof.search.run import tournament_calls
from maxproof.search.run_folder import RunFolder

HUMAN_GRADES = "human-grades.jsonl"
IN_DOUBT = "its last calls failed, and the endpoint has answered nobody since"
_TOURNAMENT = ("search", "best_of")
"""Methods that end with the search's tournament, for which calls of the budget are kept."""
_UNLIMITED = BudgetSettings(max_failures=1_000_000)
"""Of a unit's caller: the evaluation's limits lie behind its endpoints, as does the count of failures in a row."""


def bindings_of(folder: EvalFolder) -> Bindings:
    """Who answers the roles of the method. Raises InputError for a role without an endpoint."""
    return _configured(folder).with_models(folder.asked.served)


def unnamed_endpoints(folder: EvalFolder) -> set[str]:
    """The endpoints whose server is asked for its model, since a role there names none."""
    return {binding.endpoint for binding in _configured(folder).values() if not binding.model}


def _configured(folder: EvalFolder) -> Bindings:
    settings = folder.asked.settings
    return resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)


def oracle_bindings(folder: EvalFolder) -> Bindings:
    """Who answers the oracle, which must be a judge."""
    settings = folder.asked.oracle_settings
    assert settings is not None
    return settings.bindings(folder.asked.served.get(ROLE, ""))


def asks_models(folder: EvalFolder) -> bool:
    """Whether the method makes calls: given proofs that are not verified need none."""
    return folder.asked.method != GIVEN or folder.asked.verify


async def run_method(
    folder: EvalFolder,
    unit: Unit,
    shared: SharedEndpoints | None,
    *,
    last: bool = True,
    begun: Callable[[], None] = lambda: None,
) -> UnitOutcome:
    """Runs the method on the unit, or goes on with it, and writes `outcome.json`.

    A unit that is finished is not run again.

    Args:
        shared: None where the method asks no models.
        last: failures of its last calls count as the calls' own. If false, and the endpoint has answered nobody since,
            the unit ends early for the reason `IN_DOUBT`, and the next session asks them again.
        begun: called with each request to an endpoint.

    Raises InputError: a journal that can't be read or written, or that another process writes.
    """
    place = folder.unit(unit)
    known = read_outcome_file(place.outcome)
    if known is not None and known.finished:
        return known
    place.path.mkdir(parents=True, exist_ok=True)
    if shared is None:
        found = UnitOutcome(await _method(folder, unit, _Nobody()))
        write_outcome_file(place.outcome, found)
        return found
    if folder.asked.method == "search":
        await asyncio.to_thread(_save_run, folder, unit, place)
    settings = folder.settings(unit.seed).search
    calls = shared.for_unit(tournament_calls(settings) if folder.asked.method in _TOURNAMENT else 0, begun)
    try:
        await asyncio.to_thread(_make_journal, place.journal, folder.problems[unit.problem])
        with _open_journal(place.journal, folder.problems[unit.problem]) as journal:
            caller = JournaledCaller(
                journal, calls.endpoints, bindings_of(folder), _UNLIMITED, unit.seed, elsewhere=shared.answered
            )
            outcome = await _method(folder, unit, caller)
            await _end(caller, calls, outcome.stop, last=last)
            found = _outcome(outcome, caller)
    finally:
        calls.close()
    await asyncio.to_thread(write_outcome_file, place.outcome, found)
    return found


async def replay_method(folder: EvalFolder, unit: Unit) -> UnitOutcome | None:
    """What `outcome.json` says, made from the journal alone; None for a unit that was never run. Changes nothing."""
    place = folder.unit(unit)
    if not asks_models(folder):
        return UnitOutcome(await _method(folder, unit, _Nobody()))
    if not place.journal.exists():
        return None
    with Journal.replay(place.journal) as journal:
        caller = JournaledCaller(journal, {}, bindings_of(folder), _UNLIMITED, unit.seed)
        return _outcome(await _method(folder, unit, caller), caller)


async def run_grading(
    folder: EvalFolder, unit: Unit, outcome: Outcome, shared: SharedEndpoints | None, *, last: bool = True
) -> UnitGrades:
    """Grades the unit's proofs, as far as they are not graded, and writes `grades.json`.

    `shared` is None for an oracle that is no judge; else as `run_method`.
    """
    place, wanted = folder.unit(unit), to_grade(folder, outcome)
    if shared is None:
        found = await _grades_without_calls(folder, unit, wanted)
        if not wanted:
            return found
    else:
        known = read_grades_file(place.grades)
        if known is not None and known.finished and known.grades.keys() == wanted.keys():
            return known
        if not wanted:
            return UnitGrades()
        calls = shared.for_unit(0)
        try:
            await asyncio.to_thread(_make_journal, place.oracle_journal, folder.problems[unit.problem])
            with _open_journal(place.oracle_journal, folder.problems[unit.problem]) as journal:
                caller = JournaledCaller(
                    journal, calls.endpoints, oracle_bindings(folder), _UNLIMITED, unit.seed, elsewhere=shared.answered
                )
                grades = await _grade_all(folder, unit, caller, wanted)
                await _end(caller, calls, "graded", last=last)
                found = _grades(grades, caller)
        finally:
            calls.close()
    place.path.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(write_grades_file, place.grades, found)
    return found


async def replay_grading(folder: EvalFolder, unit: Unit, outcome: Outcome) -> UnitGrades:
    """What `grades.json` says, made from the oracle's journal alone (or by an oracle without one)."""
    place, wanted = folder.unit(unit), to_grade(folder, outcome)
    if folder.asked.oracle != "judge":
        return await _grades_without_calls(folder, unit, wanted)
    if not wanted or not place.oracle_journal.exists():
        missing = Grade(None, (), "not asked yet", final=False)
        return UnitGrades(dict.fromkeys(wanted, missing))
    with Journal.replay(place.oracle_journal) as journal:
        caller = JournaledCaller(journal, {}, oracle_bindings(folder), _UNLIMITED, unit.seed)
        return _grades(await _grade_all(folder, unit, caller, wanted), caller)


def to_grade(folder: EvalFolder, outcome: Outcome) -> dict[str, tuple[list[int], str]]:
    """By digest, the ids and the text of each proof that is to be graded; equal proofs are one."""
    found: dict[str, tuple[list[int], str]] = {}
    for attempt in sorted(outcome.attempts, key=lambda attempt: attempt.id):
        found.setdefault(proof_digest(attempt.text), ([], attempt.text))[0].append(attempt.id)
    if folder.asked.grade == "picked":
        found = {digest: item for digest, item in found.items() if outcome.picked in item[0]}
    return found


async def _method(folder: EvalFolder, unit: Unit, caller: Caller) -> Outcome:
    asked, settings = folder.asked, folder.settings(unit.seed)
    method: Method
    if asked.method == GIVEN:
        method = GivenProofs(folder.proofs.get(unit.problem, ()), verify=asked.verify)
    else:
        method = METHODS[asked.method]
    return await method(folder.problems[unit.problem], settings.search, settings.verifier, caller, unlimited)


async def _grade_all(
    folder: EvalFolder, unit: Unit, caller: JournaledCaller, wanted: Mapping[str, tuple[list[int], str]]
) -> dict[str, Grade]:
    settings = folder.asked.oracle_settings
    assert settings is not None
    return await _ask(JudgeOracle(caller, settings), folder.problems[unit.problem], wanted)


async def _grades_without_calls(
    folder: EvalFolder, unit: Unit, wanted: Mapping[str, tuple[list[int], str]]
) -> UnitGrades:
    oracle: Oracle
    match folder.asked.oracle:
        case "grades":
            oracle = HumanOracle(read_grades(folder.path / HUMAN_GRADES), folder.asked.statistic, unit.seed)
        case "lab":
            oracle = LabOracle()
        case _:
            oracle = NoOracle()
    return UnitGrades(await _ask(oracle, folder.problems[unit.problem], wanted))


async def _ask(oracle: Oracle, problem: Problem, wanted: Mapping[str, tuple[list[int], str]]) -> dict[str, Grade]:
    async with asyncio.TaskGroup() as group:
        tasks = {
            digest: group.create_task(oracle.grade(problem, attempts, text))
            for digest, (attempts, text) in wanted.items()
        }
    return {digest: task.result() for digest, task in tasks.items()}


async def _end(caller: JournaledCaller, calls: UnitCalls, outcome: str, *, last: bool) -> None:
    if not caller.stop and calls.in_doubt and not last:
        await caller.end_early(CallNotRun(IN_DOUBT, StopKind.ENDPOINT))
    await caller.finish(outcome)


def _outcome(outcome: Outcome, caller: JournaledCaller) -> UnitOutcome:
    return UnitOutcome(outcome, caller.usage(), caller.stop.kind, caller.stop.reason)


def _grades(grades: Mapping[str, Grade], caller: JournaledCaller) -> UnitGrades:
    """After an early end, what has no points, or not all samples, is asked again."""
    if caller.stop:
        grades = {
            digest: grade if grade.final and None not in grade.samples else _open(grade)
            for digest, grade in grades.items()
        }
    return UnitGrades(grades, caller.usage(), caller.stop.kind, caller.stop.reason)


def _open(grade: Grade) -> Grade:
    return Grade(grade.points, grade.samples, grade.reason, final=False)


def _make_journal(path: Path, problem: Problem) -> None:
    """Makes the journal if there is none; in a thread, since the disk may take its time. Raises InputError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = take_lock(path)
    try:
        if not path.exists():
            create_file(path, {"problem": problem.digest})
    finally:
        lock.release()


def _open_journal(path: Path, problem: Problem) -> Journal:
    """The journal of a unit's part. Raises InputError."""
    journal = Journal.resume(path)
    if journal.meta("problem") != problem.digest:
        journal.close()
        raise InputError("is the journal of another problem than problems.jsonl's", file=path)
    return journal


def _save_run(folder: EvalFolder, unit: Unit, place: UnitFolder) -> None:
    """Makes the unit's folder a run folder."""
    problem, settings = folder.problems[unit.problem], folder.settings(unit.seed)
    run = RunFolder(place.path, "prove", problem, settings, __version__, served=folder.asked.served)
    file = place.path / "run.json"
    if not file.exists() or file.read_text(encoding="utf-8") != run.to_json():
        run.save()


class _Nobody:
    """A `Caller` for a method that asks nothing."""

    async def ask(self, call: Call) -> Answer:
        """Raises `CallNotRun`."""
        raise CallNotRun("nothing is asked here")

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """See `models.types.Caller`."""
        return [CallNotRun("nothing is asked here") for _ in calls]
