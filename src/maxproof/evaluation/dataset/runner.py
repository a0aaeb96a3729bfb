"""Runs the units of an evaluation in one process, with every endpoint kept full.

    async with open_worker(folder, units) as worker:    # one set of clients, one budget
        await worker.run(unit)                          # as many at a time as one likes

`work` is the whole of it: it opens a further unit whenever an endpoint could take more than the open ones ask of it,
and grades what is finished while others still search. How many are open at a time is bounded by what an operating
system allows in open files. What a unit comes to does not depend on the others: it has its own journal, addresses and
seeds.

A unit that ends with failed calls at an endpoint that has answered nobody since is run once more at the end: if the
endpoint has answered others by then, the failures are the unit's own.
"""

from __future__ import annotations

import asyncio
import resource
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from maxproof.evaluation.dataset.folder import EvalFolder, Unit
from maxproof.evaluation.dataset.shared_endpoint import SharedEndpoints
from maxproof.evaluation.dataset.spent import UnitState, seconds_of_work, total, unit_state
from maxproof.evaluation.dataset.units import (
    asks_models,
    bindings_of,
    oracle_bindings,
    run_grading,
    run_method,
    unnamed_endpoints,
)
from maxproof.evaluation.oracle.settings import ROLE
from maxproof.models.budget import Amounts
from maxproof.models.chat import ChatEndpoint
from maxproof.models.endpoints import check_keys, open_clients
from maxproof.models.prices import check_priced
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.types import CallFailed, CallProgress, Stop, StopKind
from maxproof.problems import InputError

MAX_OPEN = 1024
"""Units open at a time, at most."""
_FILES_A_UNIT = 8
_OTHER_FILES = 1500  # connections to endpoints, above all
_WANTED_FILES = 65_536


class NoAnswerAtAll(InputError):
    """An endpoint can't be asked which model it serves."""


@dataclass(frozen=True, slots=True)
class EvalProgress:
    """A snapshot for the live view: units, and how the calls of the searches and of the oracle stand."""

    units: int
    done: int
    searching: int
    grading: int
    search: CallProgress | None
    oracle: CallProgress | None


Watch = Callable[[Callable[[], EvalProgress]], None]


@dataclass
class Worker:
    """What runs units: shared clients and budgets. `search` or `oracle` is None where no model is asked."""

    folder: EvalFolder
    search: SharedEndpoints | None
    oracle: SharedEndpoints | None
    units: int = 0
    done: int = 0
    searching: int = 0
    grading: int = 0
    tell: Callable[[], None] = field(default=lambda: None)

    @property
    def stop(self) -> Stop:
        """What ended the work early: the search's reason first."""
        for shared in (self.search, self.oracle):
            if shared is not None and shared.stop:
                return shared.stop
        return Stop()

    def progress(self) -> EvalProgress:
        return EvalProgress(
            self.units,
            self.done,
            self.searching,
            self.grading,
            self.search.progress() if self.search is not None else None,
            self.oracle.progress() if self.oracle is not None else None,
        )

    async def run(self, unit: Unit, *, last: bool = True, begun: Callable[[], None] = lambda: None) -> bool:
        """The whole unit: method, then grades. What is done already costs nothing.

        Args:
            last: false: a unit whose last calls failed for a reason that may pass is left for later.
            begun: called with each of the method's requests, and when the method has ended.

        Returns whether it is to be run again. Raises InputError.
        """
        self.searching += 1
        try:
            found = await run_method(self.folder, unit, self.search, last=last, begun=begun)
        finally:
            self.searching -= 1
            begun()
            self.tell()
        if not last and _may_pass(found.stop, self.search):
            return True
        self.grading += 1
        try:
            grades = await run_grading(self.folder, unit, found.outcome, self.oracle, last=last)
        finally:
            self.grading -= 1
            self.tell()
        if not last and _may_pass(grades.stop, self.oracle):
            return True
        self.done += found.finished and grades.finished
        return False


def _may_pass(stop: StopKind, shared: SharedEndpoints | None) -> bool:
    """The unit took an endpoint for gone that serves others still."""
    return stop is StopKind.ENDPOINT and shared is not None and not shared.stop


@asynccontextmanager
async def open_worker(
    folder: EvalFolder, units: Sequence[Unit], tell: Callable[[], None] = lambda: None, *, others: bool = False
) -> AsyncIterator[Worker]:
    """Opens what the units need: no client, and no model in this process, where nothing is left to be asked.

    Args:
        units: those that this worker may run; the budget counts what all of them have used.
        tell: called whenever something has changed that a scheduler may want to know.
        others: further units may come, for which clients are opened in any case.

    Raises InputError: no key, a budget that can't trip, a server that has other models now; NoAnswerAtAll.
    """
    states = [unit_state(folder, unit) for unit in units]
    asked = folder.asked
    async with AsyncExitStack() as stack:
        search = oracle = None
        if asks_models(folder):
            used = {binding.endpoint for binding in bindings_of(folder).values()}
            endpoints = {name: value for name, value in asked.settings.endpoints.items() if name in used}
            needed = others or not all(state.method_done for state in states)
            clients = await _clients(stack, endpoints, needed)
            folder = await _served(folder, clients, unnamed_endpoints(folder))
            journals = [folder.unit(unit).journal for unit in units]
            search = _shared(clients, endpoints, asked.settings.budget, [s.search for s in states], journals, tell)
        if asked.oracle == "judge" and asked.oracle_settings is not None:
            endpoints = {ROLE: oracle_bindings(folder)[ROLE].settings}
            clients = await _clients(stack, endpoints, others or not all(state.graded for state in states))
            folder = await _served(folder, clients, () if endpoints[ROLE].model else (ROLE,))
            journals = [folder.unit(unit).oracle_journal for unit in units]
            budget = asked.oracle_settings.budget
            oracle = _shared(clients, endpoints, budget, [s.oracle for s in states], journals, tell)
        done = sum(state.method_done and state.graded for state in states)
        yield Worker(folder, search, oracle, len(units), done, tell=tell)


async def work(folder: EvalFolder, units: Sequence[Unit], watch: Watch | None = None) -> Stop:
    """Runs all of `units` that are not done. Returns what ended it early; false if nothing did.

    Raises as `open_worker`; InputError for a journal that can't be used; OSError.
    """
    news = asyncio.Event()
    async with open_worker(folder, units, news.set) as worker:
        if watch is not None:
            watch(worker.progress)
        open_states = [state for state in (unit_state(folder, unit) for unit in units) if not _complete(state)]
        # What only lacks its grades comes first: a spent budget of the search must not keep it from them.
        waiting = [state.unit for state in sorted(open_states, key=lambda state: not state.method_done)]
        await run_units(worker, queue_of(waiting), news)
        return worker.stop


Take = Callable[[], Awaitable[Unit | None]]
"""Hands out the next unit; None when there is none for this worker any more."""


def queue_of(units: Sequence[Unit]) -> Take:
    """Hands out `units` in their order."""
    waiting = deque(units)

    async def take() -> Unit | None:
        return waiting.popleft() if waiting else None

    return take


async def run_units(
    worker: Worker, take: Take, news: asyncio.Event, ended: Callable[[Unit], None] = lambda _: None
) -> None:
    """Runs what `take` hands out, a further unit whenever an endpoint has room.

    Args:
        news: what `open_worker` was given to tell.
        ended: told of each unit whose work is over, whatever has come of it.
    """
    again = await _run_all(worker, take, news, ended, last=False)
    await _run_all(worker, queue_of(again), news, ended, last=True)
    for shared in (worker.search, worker.oracle):
        if shared is not None:
            shared.end_silent()


async def _run_all(
    worker: Worker, take: Take, news: asyncio.Event, ended: Callable[[Unit], None], *, last: bool
) -> list[Unit]:
    """Runs the units, in order of their start; returns those that are to be run again, in the same order."""
    started: list[Unit] = []
    again: set[Unit] = set()
    open_units = 0
    most = _most_open()

    async def run(unit: Unit, begun: asyncio.Event) -> None:
        nonlocal open_units

        def tell() -> None:
            begun.set()
            news.set()

        try:
            if await worker.run(unit, last=last, begun=tell):
                again.add(unit)
            else:
                ended(unit)
        finally:
            open_units -= 1
            tell()

    drained = False
    async with asyncio.TaskGroup() as group:
        while not drained or open_units:
            news.clear()
            if not drained and open_units < most and _may_open(worker):
                unit = await take()
                if unit is None:
                    drained = True
                    continue
                begun = asyncio.Event()
                started.append(unit)
                open_units += 1
                group.create_task(run(unit, begun))
                await begun.wait()  # its first calls count before the next one is opened
            elif not drained and worker.search is not None and worker.search.stop:
                drained = True
            else:
                await news.wait()
    return [unit for unit in started if unit in again]


def _may_open(worker: Worker) -> bool:
    if worker.search is None:
        return worker.grading == 0 or (worker.oracle is None or worker.oracle.has_room)
    return not worker.search.stop and (worker.searching == 0 or worker.search.has_room)


def _complete(state: UnitState) -> bool:
    return state.method_done and state.graded


async def _clients(
    stack: AsyncExitStack, endpoints: Mapping[str, EndpointSettings], needed: bool
) -> Mapping[str, ChatEndpoint]:
    if not needed:
        return {}
    check_keys(endpoints)
    return await stack.enter_async_context(open_clients(endpoints))


async def _served(folder: EvalFolder, clients: Mapping[str, ChatEndpoint], unnamed: Collection[str]) -> EvalFolder:
    """The folder with the models that servers give where none is configured; kept before a call is made with them.

    Were the name left open, a server that comes back with another model would go on as if nothing had changed.
    """
    for name, client in clients.items():
        known = folder.asked.served.get(name, "")
        if name not in unnamed:
            continue
        try:
            if not known:
                served = {**folder.asked.served, name: await client.first_model()}
                folder = folder.save(folder.asked.model_copy(update={"served": served}))
                continue
            listed = await client.models()
        except CallFailed as failure:
            if known:
                continue  # it may come back while the units run
            raise NoAnswerAtAll(f"can't be used: {failure.message}", field=f"endpoints.{name}") from None
        if listed and known not in listed:
            raise InputError(
                f"does not serve {known!r} any more, with which this evaluation was made, but {listed[0]!r}",
                field=f"endpoints.{name}",
                hint="bring it back, or evaluate anew in another folder",
            )
    return folder


def _shared(
    clients: Mapping[str, ChatEndpoint],
    endpoints: Mapping[str, EndpointSettings],
    budget: BudgetSettings,
    spent: Sequence[Amounts],
    journals: Sequence[Path],
    tell: Callable[[], None],
) -> SharedEndpoints:
    if budget.max_cost is not None:
        check_priced(endpoints)
    elapsed = seconds_of_work(journals) if budget.deadline_s is not None else 0.0
    return SharedEndpoints(clients, endpoints, budget, total(spent), elapsed, tell)


def _most_open() -> int:
    """Units that the limit of open files has room for; the limit is raised as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    room = _WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    return max(4, min(MAX_OPEN, (room - min(room // 2, _OTHER_FILES)) // _FILES_A_UNIT))
