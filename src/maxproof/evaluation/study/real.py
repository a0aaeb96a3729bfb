"""The study on a real model: every arm on every problem, at equal budget, graded by a separate oracle.

    folder = create_study(path, problems, settings, RealStudySettings(), "judge", oracle_settings)
    stop = await run_study(folder)
    result = study_result(folder)       # of the units that are finished

The unit of work is one problem with one seed (`unit.py`); units share clients and the budget of the whole study, and
a study that was stopped or killed goes on where it was: a finished call is never asked again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from maxproof.evaluation.dataset.shared_endpoint import SharedEndpoints, UnitCalls, amounts_of
from maxproof.evaluation.dataset.spent import seconds_of_work
from maxproof.evaluation.oracle.oracle import JudgeOracle, LabOracle
from maxproof.evaluation.study.real_folder import StudyFolder, StudyUnit
from maxproof.evaluation.study.unit import UnitRecord, grade_all, read_unit, run_arms, wanted, write_unit
from maxproof.models.bindings import Bindings, resolve_bindings
from maxproof.models.budget import NOTHING, Amounts
from maxproof.models.caller import JournaledCaller
from maxproof.models.endpoints import check_keys, open_clients
from maxproof.models.journal import Journal
from maxproof.models.prices import check_priced
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.types import CallNotRun, CallProgress, Stop, StopKind
from maxproof.models.usage import role_usage
from maxproof.problems import InputError, Problem

_UNLIMITED = BudgetSettings(max_failures=1_000_000)
"""Of a unit's caller: the limits of the study lie behind its endpoints."""


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """A snapshot for the live view: units, and how the calls of the arms and of a judge as the oracle stand."""

    units: int
    done: int
    open: int
    arms: CallProgress
    oracle: CallProgress | None


Watch = Callable[[Callable[[], StudyProgress]], None]


async def run_study(folder: StudyFolder, watch: Watch | None = None) -> Stop:
    """Does every unit that is not finished. Returns what ended it early; false if nothing did.

    A unit whose last calls failed, at an endpoint that has answered nobody since, is done once more at the end.

    Raises InputError: no key, a budget that can't trip, a journal that can't be used; OSError.
    """
    waiting = [unit for unit in folder.units() if _known(folder, unit) is None]
    if not waiting:
        return Stop()
    async with AsyncExitStack() as stack:
        worker = await _Worker.open(folder, stack)
        worker.done = len(folder.units()) - len(waiting)
        if watch is not None:
            watch(worker.progress)
        again = await worker.run_all(waiting, last=False)
        unanswered = await worker.run_all(again, last=True)
        if unanswered and not worker.stop:
            return Stop(StopKind.ENDPOINT, _unanswered(len(unanswered), worker.trouble))
        return worker.stop


def _unanswered(units: int, trouble: str) -> str:
    has = "1 problem has" if units == 1 else f"{units} problems have"
    return f"{has} calls that were not answered" + (f", the last: {trouble}" if trouble else "")


def unit_records(folder: StudyFolder) -> list[UnitRecord]:
    """Of the finished units, in order. Raises InputError for a damaged one."""
    found = (_known(folder, unit) for unit in folder.units())
    return [record for record in found if record is not None]


def _known(folder: StudyFolder, unit: StudyUnit) -> UnitRecord | None:
    """The unit's record, if it has all that is asked now."""
    record = read_unit(unit.record)
    whole = record is not None and all(plan.name in record.arms for plan in folder.plans)
    return record if whole else None


def study_seconds(folder: StudyFolder) -> float:
    """Seconds in which at least one of its units was at work."""
    return seconds_of_work([unit.journal for unit in folder.units()])


class _Worker:
    """Units with shared clients.

    Attributes:
        trouble: why the last unit that could not ask all could not, in its endpoint's own words.
    """

    def __init__(self, folder: StudyFolder, shared: SharedEndpoints, oracle: SharedEndpoints | None) -> None:
        self._folder = folder
        self._shared = shared
        self._oracle = oracle
        self._plans = folder.plans
        self._open = 0
        self.done = 0
        self.trouble = ""

    @classmethod
    async def open(cls, folder: StudyFolder, stack: AsyncExitStack) -> _Worker:
        asked, units = folder.asked, folder.units()
        endpoints = _bindings(folder).endpoints
        shared = await _shared(stack, endpoints, asked.settings.budget, [unit.journal for unit in units])
        oracle = None
        if asked.oracle_settings is not None:
            endpoints = asked.oracle_settings.bindings().endpoints
            budget = asked.oracle_settings.budget
            oracle = await _shared(stack, endpoints, budget, [unit.oracle_journal for unit in units])
        return cls(folder, shared, oracle)

    @property
    def stop(self) -> Stop:
        return self._shared.stop or (self._oracle.stop if self._oracle is not None else Stop())

    def progress(self) -> StudyProgress:
        oracle = self._oracle.progress() if self._oracle is not None else None
        return StudyProgress(len(self._folder.units()), self.done, self._open, self._shared.progress(), oracle)

    async def run_all(self, units: Sequence[StudyUnit], *, last: bool) -> list[StudyUnit]:
        """Runs units until nothing more can be asked; returns those that are in doubt."""
        waiting = deque(units)
        doubtful: set[Path] = set()

        async def work() -> None:
            while waiting and not self.stop:
                unit = waiting.popleft()
                self._open += 1
                try:
                    if not await self._run(unit, last=last):
                        doubtful.add(unit.path)
                finally:
                    self._open -= 1

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._folder.asked.study.at_once, len(units))):
                group.create_task(work())
        return [unit for unit in units if unit.path in doubtful]

    async def _run(self, unit: StudyUnit, *, last: bool) -> bool:
        """One unit; its record is written if all of it could be done. False if it is in doubt."""
        asked = self._folder.asked
        unit.path.mkdir(parents=True, exist_ok=True)
        search = asked.settings.search.model_copy(update={"seed": unit.seed})
        with self._caller(unit.journal, unit, self._shared, _bindings(self._folder)) as (caller, calls):
            arms, texts = await run_arms(
                unit.problem, self._plans, search, asked.settings.verifier, caller, asked.study.budget
            )
            if not await _end(caller, calls, last=last):
                self.trouble = caller.stop.reason
                return bool(self.stop)
        digests = wanted(arms, archive=asked.study.grade == "archive")
        if self._oracle is None:
            grades, final = await grade_all(LabOracle(), unit.problem, digests, texts)
        else:
            settings = asked.oracle_settings
            assert settings is not None
            with self._caller(unit.oracle_journal, unit, self._oracle, settings.bindings()) as (caller, calls):
                grades, final = await grade_all(JudgeOracle(caller, settings), unit.problem, digests, texts)
                if not await _end(caller, calls, last=last):
                    self.trouble = caller.stop.reason
                    return bool(self.stop)
        if final:
            write_unit(unit.record, UnitRecord(unit.problem.id, unit.seed, arms, grades))
            self.done += 1
        return final or bool(self.stop)

    @contextmanager
    def _caller(
        self, path: Path, unit: StudyUnit, shared: SharedEndpoints, bindings: Bindings
    ) -> Iterator[tuple[JournaledCaller, UnitCalls]]:
        """Over the journal at `path`, with the unit's share of the endpoints."""
        calls = shared.for_unit(0)
        known = self._folder.asked.served
        served = {name: known[name] for name in bindings.endpoints if name in known}
        try:
            with _open_journal(path, unit.problem) as journal:
                caller = JournaledCaller(
                    journal, calls.endpoints, bindings, _UNLIMITED, unit.seed,
                    served=served, keep_served=self._keep_served, elsewhere=shared.answered,
                )  # fmt: skip
                yield caller, calls
        finally:
            calls.close()

    def _keep_served(self, endpoint: str, model: str) -> None:
        if self._folder.asked.served.get(endpoint) != model:
            self._folder = self._folder.with_served(endpoint, model)


async def _end(caller: JournaledCaller, calls: UnitCalls, *, last: bool) -> bool:
    """Ends the session; whether all that was wanted could be asked."""
    if not caller.stop and calls.in_doubt and not last:
        reason = "its last calls failed, and the endpoint has answered nobody since"
        await caller.end_early(CallNotRun(reason, StopKind.ENDPOINT))
    await caller.finish("stopped" if caller.stop else "done")
    return not caller.stop


def _bindings(folder: StudyFolder) -> Bindings:
    settings = folder.asked.settings
    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)
    return bindings.with_models(folder.asked.served)


async def _shared(
    stack: AsyncExitStack, endpoints: Mapping[str, EndpointSettings], budget: BudgetSettings, journals: Sequence[Path]
) -> SharedEndpoints:
    check_keys(endpoints)
    if budget.max_cost is not None:
        check_priced(endpoints)
    clients = await stack.enter_async_context(open_clients(endpoints))
    spent = sum((_used(path, endpoints) for path in journals), NOTHING)
    elapsed = seconds_of_work(journals) if budget.deadline_s is not None else 0.0
    return SharedEndpoints(clients, endpoints, budget, spent, elapsed)


def _used(path: Path, endpoints: Mapping[str, EndpointSettings]) -> Amounts:
    if not path.exists():
        return NOTHING
    with Journal.replay(path) as journal:
        return amounts_of(role_usage(journal, endpoints))


def _open_journal(path: Path, problem: Problem) -> Journal:
    """Made if there is none. Raises InputError."""
    if not path.exists():
        return Journal.create(path, {"problem": problem.digest})
    journal = Journal.resume(path)
    if journal.meta("problem") != problem.digest:
        journal.close()
        raise InputError("is the journal of another problem than problems.jsonl's", file=path)
    return journal
