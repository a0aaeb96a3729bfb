"""An evaluation on a Ray cluster of two nodes, one of which is killed: no unit and no finished call is lost."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eval_fakes import asked, dataset, make, model, oracle_settings

from maxproof.evaluation.dataset.folder import open_eval
from maxproof.evaluation.dataset.report import write_report
from maxproof.evaluation.dataset.result import collect
from maxproof.evaluation.dataset.runner import work
from maxproof.models.journal import Journal
from maxproof.models.mock import Latency, MockReply, MockRequest, MockServer, SimulatedModel
from maxproof.models.settings import BudgetSettings, EndpointSettings, RoleSettings
from maxproof.models.types import StopKind
from maxproof.problems import InputError

ray = pytest.importorskip("ray", reason="needs the extra ray")


class Counting:
    """Counts how often each request was answered; `reached` is set after so many answers."""

    def __init__(self, script: SimulatedModel, limit: int) -> None:
        self._script, self._limit = script, limit
        self.asked: Counter[str] = Counter()
        self.reached = asyncio.Event()

    def __call__(self, request: MockRequest) -> MockReply:
        self.asked[request.key] += 1
        if self.asked.total() >= self._limit:
            self.reached.set()
        return self._script(request)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    before = os.environ.get("RAY_DEDUP_LOGS")
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        ray.init(address=started.address, log_to_driver=False)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()
        if before is None:
            os.environ.pop("RAY_DEDUP_LOGS", None)


def recorded(folder: Path, name: str) -> int:
    count = 0
    for path in folder.glob(f"problems/*/*/{name}"):
        with Journal.replay(path) as journal:
            count += sum(1 for _ in journal.calls("1"))
    return count


def sessions(path: Path) -> int:
    with Journal.replay(path) as journal:
        return len(list(journal.sessions()))


async def test_a_killed_node_loses_no_unit_and_no_finished_call(cluster: Any, tmp_path: Path) -> None:
    from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray

    node = cluster.add_node(num_cpus=1)
    problems = dataset(6)
    search, oracle = Counting(model(), 40), Counting(model(2), 10**9)
    async with (
        MockServer(search, latency=Latency(median_s=0.05, sigma=0.3)) as one,
        MockServer(oracle, latency=Latency(median_s=0.02, sigma=0.3)) as other,
    ):
        wanted = asked(problems, one.base_url, oracle_settings(other.base_url), concurrency=8)
        folder = make(tmp_path / "cluster", problems, wanted)
        seen: list[int] = []

        def run() -> Any:
            return work_on_ray(
                folder, folder.units(), RayCluster(cluster.address, workers=2), lambda now: seen.append(now().units)
            )

        running = asyncio.create_task(asyncio.to_thread(run))
        reached = asyncio.create_task(search.reached.wait())
        await asyncio.wait({running, reached}, return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        assert not running.done(), await running
        cluster.remove_node(node, allow_graceful=False)
        assert not await running
        assert seen == [6]
        result = await collect(open_eval(folder.path))
        assert result.states["done"] == 6
        assert any(sessions(path) > 1 for path in folder.path.glob("problems/*/*/journal.sqlite"))

        # Asked in vain: the four calls that the node had in flight, and answers that were on their way to the disk.
        assert search.asked.total() - recorded(folder.path, "journal.sqlite") <= 12
        assert oracle.asked.total() - recorded(folder.path, "oracle.sqlite") <= 12

        alone = make(tmp_path / "alone", problems, wanted)
        await work(alone, alone.units())
    write_report(folder.path, result)
    write_report(alone.path, await collect(open_eval(alone.path)))
    assert (folder.path / "result.json").read_bytes() == (alone.path / "result.json").read_bytes()


async def test_the_budget_of_all_workers_together_is_kept(cluster: Any, tmp_path: Path) -> None:
    from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray

    problems = dataset(4)
    async with MockServer(model()) as server:
        wanted = asked(problems, server.base_url, budget=BudgetSettings(max_calls=41))
        folder = make(tmp_path / "e", problems, wanted)
        stop = await asyncio.to_thread(work_on_ray, folder, folder.units(), RayCluster(cluster.address))
        assert stop.kind is StopKind.BUDGET
        assert server.stats.requests <= 41
        assert open_eval(folder.path).asked == wanted  # a worker's part of the limits is nowhere written down


async def test_workers_know_the_embedded_models_of_the_driver(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray
    from maxproof.lab.generate import problems
    from maxproof.models import schemes
    from maxproof.training.lab_endpoint import open_lab

    schemes.register_scheme("lab:", open_lab)
    chosen = tuple(made.problem for made in problems("test", 2, 0))
    wanted = asked(chosen, "lab:", method="one_shot")
    settings = wanted.settings.model_copy(
        update={
            "endpoints": {"default": EndpointSettings(base_url="lab:")},
            "roles": {"generator": RoleSettings(max_tokens=144)},
        }
    )
    folder = make(tmp_path / "e", chosen, wanted.model_copy(update={"settings": settings}))
    assert not await asyncio.to_thread(work_on_ray, folder, folder.units(), RayCluster(cluster.address))
    result = await collect(open_eval(folder.path))
    assert result.states["done"] == 2


async def test_a_mistake_is_one_line(cluster: Any, tmp_path: Path) -> None:
    from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray

    problems = dataset(3)
    async with MockServer(model()) as server:
        folder = make(tmp_path / "e", problems, asked(problems, server.base_url))
        path = folder.unit(folder.units()[0]).journal
        path.parent.mkdir(parents=True)
        Journal.create(path, {"problem": "another"}).close()  # which only shows when a worker opens the unit
        with pytest.raises(InputError, match=r"journal of another problem.*same folder on every node"):
            await asyncio.to_thread(work_on_ray, folder, folder.units(), RayCluster(cluster.address))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-port", "ray://127.0.0.1:1"])
def test_no_cluster_is_a_clear_line(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    problems = dataset(1)
    folder = make(tmp_path / "e", problems, asked(problems, "http://127.0.0.1:1/v1"))
    with pytest.raises(InputError, match="no Ray cluster"):
        work_on_ray(folder, folder.units(), RayCluster(address))
