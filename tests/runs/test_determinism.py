"""The same answers give the same run, whatever came first, however it ended, and wherever it is replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from comparing import decisions, page, result
from in_process import assert_replays, new_run, prove, work_on

from maxproof.cli.config import with_overrides
from maxproof.models.mock import FaultPlan, Features, Latency, MockServer, SimulatedModel
from maxproof.models.types import StopKind
from maxproof.search.run import run_prove
from maxproof.search.run_folder import open_run

# Judges that err now and then: fitness differs from sample to sample, so that much depends on which are asked.
MODEL = SimulatedModel(seed=8, quality=0.55, false_positive=0.15, false_negative=0.3)
# Counts that depend on what the server has cached by then, and the setting that is varied.
LATENCY = Latency(median_s=0.01)
CACHED = ("cached_tokens", "settings")


@pytest.mark.parametrize("n", ["supported", "ignored", pytest.param("refused", marks=pytest.mark.slow)])
async def test_neither_concurrency_nor_latency_changes_anything(n: str, tmp_path: Path) -> None:
    found = []
    for number, concurrency in enumerate((1, 4, 64, "auto", "auto")):
        run = tmp_path / f"run{number}"
        features = Features(n=n)  # type: ignore[arg-type]
        latency = Latency(median_s=0.01 if concurrency != 1 else 0.0, sigma=1.0, seed=number)
        async with MockServer(MODEL, latency=latency, features=features) as server:
            await prove(server.base_url, run, search__verifications=4, endpoints__default__concurrency=concurrency)
        found.append(result(run, without=CACHED))
        await assert_replays(run)
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("seed", range(3))
async def test_eager_and_lazy_searches_decide_the_same(seed: int, tmp_path: Path) -> None:
    """Each sample is its own request here, so that both searches get the same answers."""
    model = SimulatedModel(seed=seed, quality=0.7, false_positive=0.1, false_negative=0.4)
    calls = []
    for name, lazy in (("lazy", True), ("eager", False)):
        async with MockServer(model, latency=Latency(median_s=0.005, seed=seed)) as server:
            await prove(
                server.base_url,
                tmp_path / name,
                search__lazy=lazy,
                search__verifications=4,
                search__seed=seed,
                endpoints__default__n_samples="off",
            )
            calls.append(server.stats.by_task["verify"])
    assert decisions(tmp_path / "lazy") == decisions(tmp_path / "eager")
    assert calls[0] < calls[1]


ENDINGS: Mapping[str, tuple[list[str], dict[str, object]]] = {
    "passed": ([], {}),
    "calls": ([], {"budget.max_calls": 37}),
    "tokens": ([], {"budget.max_tokens": 40_000}),
    "few calls": ([], {"budget.max_calls": 3}),
    "endpoint": (["reset@after=25"], {"endpoints.default.timeout_s": 1.0, "budget.max_failures": 3}),
    "key": (["401@after=0"], {"endpoints.default.model": "mock"}),
    "deadline": (["hang@after=25"], {"budget.deadline_s": 2.0}),
    "failures": (["hang@every=11"], {"endpoints.default.timeout_s": 0.7}),
}


@pytest.mark.parametrize(
    "ending", [pytest.param(name, marks=[pytest.mark.slow] * (name == "failures")) for name in ENDINGS]
)
async def test_a_replay_is_the_run_byte_for_byte_however_it_ended(ending: str, tmp_path: Path) -> None:
    faults, settings = ENDINGS[ending]
    run = tmp_path / "run"
    async with MockServer(MODEL, faults=FaultPlan.parse(faults), latency=LATENCY) as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        folder = new_run(server.base_url, run, settings)
        _, outcome = await work_on(folder)
        await assert_replays(run)
        before = page(run), result(run)
        if outcome.account.stop.kind is not StopKind.ENDPOINT:  # nothing new to ask or to say: nothing changes
            await work_on(open_run(run))
            assert (page(run), result(run)) == before
            await assert_replays(run)
    async with MockServer(MODEL, port=port, latency=LATENCY) as server:
        unlimited = {f"budget.{name}": "none" for name in ("max_calls", "max_tokens", "deadline_s")}
        await work_on(open_run(run).with_settings(with_overrides(folder.settings, unlimited)))
        await assert_replays(run)
        await prove(server.base_url, tmp_path / "whole")
    if ending != "failures":  # whose failed calls were final, since the server answered later ones
        assert decisions(run) == decisions(tmp_path / "whole")


async def interrupted(run: Path, after_s: float) -> None:
    work = asyncio.create_task(run_prove(open_run(run)))
    await asyncio.sleep(after_s)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_interrupted_again_and_again_it_ends_the_same(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with MockServer(MODEL, latency=Latency(median_s=0.05)) as server:
        await prove(server.base_url, tmp_path / "whole", endpoints__default__concurrency=4)
        asked = server.stats.requests
        new_run(server.base_url, run, {"endpoints.default.concurrency": 4})
        for step in range(6):
            await interrupted(run, 0.08 + 0.03 * step)
            await run_prove(open_run(run), replay=True)  # what there is can be read at any time
        await work_on(open_run(run))
        assert server.stats.requests - asked <= asked + 6 * 4
    assert result(run, without=CACHED) == result(tmp_path / "whole", without=CACHED)
    await assert_replays(run)
