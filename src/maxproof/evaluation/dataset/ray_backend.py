"""An evaluation on a Ray cluster: one worker a shard, problems stolen from slow ones, a lost node's problems run on.

    stop = work_on_ray(folder, folder.units(), RayCluster("auto", workers=4))

The evaluation's folder lies on storage that all nodes see under the same path, and every unit's journals in it: what a
lost node had finished is recorded there, so another worker asks only for the rest. A journal has one writer at a time;
its lock goes with the process that held it.

Each worker is a process with clients of its own, so what limits an endpoint or the whole evaluation is divided among
the workers: concurrency and rates evenly, budgets by what is left of them. Keys are read on each node from its own
environment; none travels.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from maxproof.evaluation.dataset.board import Board, BoardState
from maxproof.evaluation.dataset.folder import Asked, EvalFolder, Unit, open_eval
from maxproof.evaluation.dataset.runner import EvalProgress, Watch, open_worker, run_units
from maxproof.evaluation.dataset.spent import UnitState, unit_state
from maxproof.models.budget import NOTHING, Amounts
from maxproof.models.schemes import Opener, openers, register_scheme
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.types import Stop
from maxproof.problems import InputError

_Endpoint = TypeVar("_Endpoint", bound=EndpointSettings)
LOOK_EVERY_S = 0.5
REACH_S = 10.0
MAX_RESTARTS = 3
"""Times that the worker of one shard is started again."""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """Where to run.

    Attributes:
        address: of a cluster (`auto`, `ray://host:10001`, `host:6379`), or `local` for one on this machine.
        workers: processes, one CPU each; None: one for each node that has a CPU.
    """

    address: str
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a worker's work came to its end; `error` is a user's mistake, in one line."""

    stop: Stop
    error: str = ""


class _Worker:
    """One process of the evaluation."""

    def __init__(self, embedded: Mapping[str, Opener]) -> None:
        """`embedded`: what models inside the process the driver knows, by scheme."""
        for scheme, opener in embedded.items():
            register_scheme(scheme, opener)

    async def work(self, path: str, asked: Asked, units: Sequence[Unit], index: int, board: Any) -> _Ended:
        """Runs what the board hands out. `asked` has this worker's limits, `units` is its own shard."""
        try:
            folder = replace(open_eval(Path(path)), asked=asked)
            return _Ended(await self._work(folder, units, index, board))
        except InputError as error:
            return _Ended(Stop(), str(error))
        except BaseExceptionGroup as group:  # of the task group that runs the units
            errors, others = group.split(InputError)
            if errors is None or others is not None:
                raise
            return _Ended(Stop(), str(_first(errors)))

    async def _work(self, folder: EvalFolder, units: Sequence[Unit], index: int, board: Any) -> Stop:
        news = asyncio.Event()

        async def take() -> Unit | None:
            unit: Unit | None = await board.take.remote(index)
            return unit

        async with open_worker(folder, units, news.set, others=True) as worker:
            await run_units(worker, take, news, lambda unit: board.finish.remote(index, unit))
            return worker.stop


def work_on_ray(folder: EvalFolder, units: Sequence[Unit], cluster: RayCluster, watch: Watch | None = None) -> Stop:
    """Runs all of `units` that are not done on `cluster`. Returns what ended it early; false if nothing did.

    Raises InputError: no cluster at that address, a worker's own (with its node's view of the folder), nodes that are
    lost faster than they are replaced; `runner.NoAnswerAtAll`.
    """
    asyncio.run(_name_models(folder, units))
    folder = open_eval(folder.path)
    states = [unit_state(folder, unit) for unit in units]
    waiting = [state.unit for state in states if not (state.method_done and state.graded)]
    if not waiting:
        return Stop()
    ours = _connect(cluster.address)
    try:
        return _Run(folder, states, waiting, cluster, watch).run()
    finally:
        if ours:
            ray.shutdown()


class _Run:
    """The driver's side: starts workers, hears of lost ones, starts others in their place."""

    def __init__(
        self,
        folder: EvalFolder,
        states: Sequence[UnitState],
        waiting: Sequence[Unit],
        cluster: RayCluster,
        watch: Watch | None,
    ) -> None:
        count = min(cluster.workers or _nodes_with_cpu(), len({unit.problem for unit in waiting}))
        place = {problem: number for number, problem in enumerate(dict.fromkeys(unit.problem for unit in waiting))}
        self._shards = [[unit for unit in waiting if place[unit.problem] % count == index] for index in range(count)]
        self._asked = [_share(folder.asked, shard, states, count) for shard in self._shards]
        self._path = str(folder.path.resolve())
        # The board must not go down with a worker's node.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._board: Any = ray.remote(Board).options(num_cpus=0, scheduling_strategy=here).remote(self._shards)
        self._actors: dict[int, Any] = {}
        self._work: dict[Any, int] = {}
        self._restarts = [0] * count
        self._stops: dict[int, Stop] = {}
        self._units, self._running, self._left = len(states), 0, len(waiting)
        if watch is not None:
            watch(self._progress)

    def run(self) -> Stop:
        """Until every worker has ended. Workers are ended with it, however it ends."""
        try:
            for index in range(len(self._shards)):
                self._start(index)
            while self._work:
                done, _ = ray.wait(list(self._work), timeout=LOOK_EVERY_S)
                for reference in done:
                    self._end(reference, self._work.pop(reference))
                state = self._state()
                self._running, self._left = state.running, state.waiting + state.running
            if given_up := self._state().given_up:
                raise InputError(
                    f"{given_up[0].problem}, seed {given_up[0].seed}, was under way in each of several workers that "
                    f"were lost ({len(given_up)} such in all)",
                    file=self._path,
                    hint="look at the memory of the nodes; the same command goes on",
                )
            return next((stop for _, stop in sorted(self._stops.items()) if stop), Stop())
        finally:
            for actor in self._actors.values():
                ray.kill(actor)

    def _start(self, index: int) -> None:
        self._actors[index] = ray.remote(_Worker).options(num_cpus=1, scheduling_strategy="SPREAD").remote(openers())
        arguments = (self._path, self._asked[index], self._shards[index], index, self._board)
        self._work[self._actors[index].work.remote(*arguments)] = index

    def _end(self, reference: Any, index: int) -> None:
        try:
            ended: _Ended = ray.get(reference)
        except RayTaskError:
            raise  # a bug: it keeps its traceback
        except RayActorError:
            self._lose(index)
            return
        if ended.error:
            raise InputError(ended.error, hint=f"{self._path} must be the same folder on every node")
        self._stops[index] = ended.stop
        ray.kill(self._actors.pop(index))  # its CPU is free for a worker in place of a lost one
        if not ended.stop and self._state().waiting:
            self._start(index)  # for what a lost worker gave back meanwhile

    def _lose(self, index: int) -> None:
        self._actors.pop(index, None)
        ray.get(self._board.lose.remote(index))
        self._restarts[index] += 1
        if self._restarts[index] > MAX_RESTARTS or _nodes_with_cpu() == 0:
            raise InputError(
                f"worker {index + 1} of {len(self._shards)} was lost {self._restarts[index]} times",
                file=self._path,
                hint="what is done is recorded: the same command goes on",
            )
        self._start(index)

    def _state(self) -> BoardState:
        state: BoardState = ray.get(self._board.state.remote())
        return state

    def _progress(self) -> EvalProgress:
        done = self._units - self._left
        return EvalProgress(self._units, done, self._running, 0, None, None)


async def _name_models(folder: EvalFolder, units: Sequence[Unit]) -> None:
    """Settles which models the servers give, once for all workers, and writes it down."""
    async with open_worker(folder, units):
        pass


def _share(asked: Asked, shard: Sequence[Unit], states: Sequence[UnitState], workers: int) -> Asked:
    """The settings of one worker of so many: its part of each limit, what its shard has used included."""
    ours = set(shard)

    def budget(whole: BudgetSettings, spent: Sequence[tuple[Unit, Amounts]]) -> BudgetSettings:
        everything = sum((amounts for _, amounts in spent), NOTHING)
        own = sum((amounts for unit, amounts in spent if unit in ours), NOTHING)
        changed = {
            f"max_{name}": kind(getattr(own, name) + max(0, limit - getattr(everything, name)) / workers) or least
            for name, kind, least in (("calls", int, 1), ("tokens", int, 1), ("cost", float, 1e-9))
            if (limit := getattr(whole, f"max_{name}")) is not None
        }
        return whole.model_copy(update=changed)

    settings = asked.settings.model_copy(
        update={
            "endpoints": {name: _limits(endpoint, workers) for name, endpoint in asked.settings.endpoints.items()},
            "budget": budget(asked.settings.budget, [(state.unit, state.search) for state in states]),
        }
    )
    oracle = asked.oracle_settings
    if oracle is not None:
        spent = [(state.unit, state.oracle) for state in states]
        oracle = _limits(oracle, workers).model_copy(update={"budget": budget(oracle.budget, spent)})
    return asked.model_copy(update={"settings": settings, "oracle_settings": oracle})


def _limits(endpoint: _Endpoint, workers: int) -> _Endpoint:
    """An endpoint's limits for one of so many workers."""
    changed: dict[str, object] = {"max_concurrency": max(1, endpoint.max_concurrency // workers)}
    if endpoint.concurrency != "auto":
        changed["concurrency"] = max(1, int(endpoint.concurrency) // workers)
    for name in ("requests_per_minute", "tokens_per_minute"):
        if (limit := getattr(endpoint, name)) is not None:
            changed[name] = limit / workers
    return endpoint.model_copy(update=changed)


def _first(errors: BaseExceptionGroup[InputError]) -> InputError:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


def _connect(address: str) -> bool:
    """Whether this made the connection. Raises InputError if there is no cluster."""
    if ray.is_initialized():
        return False
    try:
        if address == "local":
            ray.init(include_dashboard=False, log_to_driver=False)
        else:
            _reach(address)
            ray.init(address=address, log_to_driver=False)
    except (OSError, ValueError) as error:  # no ConnectionError alone: a name that is none, or a silent host
        hint = "auto, HOST:PORT, or local for one on this machine"
        raise InputError(f"no Ray cluster at {address!r}: {error}", field="--ray", hint=hint) from None
    return True


def _reach(address: str) -> None:
    """Knocks at the host: Ray itself would go on trying for minutes. Raises OSError, ValueError."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("no HOST:PORT")
    socket.create_connection((host, int(port)), REACH_S).close()


def _nodes_with_cpu() -> int:
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return len([node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1])
