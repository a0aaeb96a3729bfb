"""Budgets of whole searches: what they bound is never exceeded, whatever the server hides or holds back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from comparing import result
from in_process import assert_replays, new_run, prove, work_on

from maxproof.cli.errors import ExitCode
from maxproof.models.mock import FaultPlan, Features, Latency, MockServer, SimulatedModel
from maxproof.models.types import StopKind
from maxproof.search.run import tournament_calls
from maxproof.search.run_folder import open_run
from maxproof.search.settings import SearchSettings

MODEL = SimulatedModel(seed=5, quality=0.2, rewrite_quality=0.2, patch_fix=0.1)


@pytest.mark.parametrize("n", ["supported", pytest.param("ignored", marks=pytest.mark.slow)])
async def test_no_number_of_calls_is_ever_exceeded(n: str, tmp_path: Path) -> None:
    for budget in range(1, 41):
        run = tmp_path / f"run{budget}"
        async with MockServer(MODEL, features=Features(n=n)) as server:  # type: ignore[arg-type]
            code, outcome = await prove(server.base_url, run, budget__max_calls=budget, search__verifications=3)
            samples = server.stats.samples
        calls = sum(row.calls for row in outcome.account.usage)
        assert samples == calls <= budget
        assert calls >= min(budget, 2) // 2
        assert code is ExitCode.BUDGET
        if budget >= 24 and len(outcome.result.finalists) > 1:
            assert any(vote.choice is not None for match in outcome.result.matches for vote in match.votes)
        if budget % 8 == 0:
            await assert_replays(run)


async def test_failed_calls_count_too(tmp_path: Path) -> None:
    faults = FaultPlan.parse(["400@every=2,message=no"])
    async with MockServer(MODEL, faults=faults) as server:
        _, outcome = await prove(server.base_url, tmp_path / "run", budget__max_calls=20, budget__max_failures=1000)
        assert server.stats.requests <= 20
    assert sum(row.calls for row in outcome.account.usage) <= 20


async def test_tokens_are_counted_where_the_server_sends_none(tmp_path: Path) -> None:
    limit = 30_000
    async with MockServer(MODEL, features=Features(usage=False)) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run", budget__max_tokens=limit)
        seen = server.stats.prompt_tokens + server.stats.completion_tokens
    total = result(tmp_path / "run")["total"]
    assert code is ExitCode.BUDGET
    assert total["estimated"]
    assert limit / 2 < total["prompt_tokens"] + total["completion_tokens"] <= 1.1 * limit
    assert seen <= 1.3 * limit
    assert outcome.result.winner is not None
    await assert_replays(tmp_path / "run")


async def test_money_is_bounded(tmp_path: Path) -> None:
    prices = {"input": 10.0, "output": 40.0}
    async with MockServer(MODEL) as server:
        code, _ = await prove(
            server.base_url, tmp_path / "run", endpoints__default__prices=prices, budget__max_cost=0.3
        )
    total = result(tmp_path / "run")["total"]
    assert code is ExitCode.BUDGET
    assert 0.1 < total["cost"] <= 0.33
    assert total["cost"] == pytest.approx((total["prompt_tokens"] * 10 + total["completion_tokens"] * 40) / 1e6)
    await assert_replays(tmp_path / "run")


@pytest.mark.parametrize("hangs_after", [0, 12])
async def test_the_deadline_holds_though_the_server_hangs(hangs_after: int, tmp_path: Path) -> None:
    began = time.monotonic()
    async with MockServer(MODEL, faults=FaultPlan.parse([f"hang@after={hangs_after}"])) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run", budget__deadline_s=2.0)
    assert time.monotonic() - began < 2 + 5
    assert code is ExitCode.BUDGET
    assert outcome.account.stop.kind is StopKind.BUDGET
    assert outcome.account.elapsed_s < 3
    await assert_replays(tmp_path / "run")


@pytest.mark.parametrize(("candidates", "rounds", "calls"), [(2, 0, 3), (1, 0, 0), (2, 1, 9), (32, 20, 9)])
def test_no_more_is_kept_for_the_tournament_than_it_can_take(candidates: int, rounds: int, calls: int) -> None:
    settings = SearchSettings(candidates=candidates, parents=1, rounds=rounds, finalists=4, votes=3)
    assert tournament_calls(settings) == calls


async def test_a_budget_is_of_all_sessions_together(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with MockServer(MODEL, latency=Latency(median_s=0.01)) as server:
        folder = new_run(server.base_url, run, {"budget.max_calls": 20})
        for budget in (20, 30, 30, 45):
            changed = folder.settings.budget.model_copy(update={"max_calls": budget})
            await work_on(open_run(run).with_settings(folder.settings.model_copy(update={"budget": changed})))
            assert server.stats.requests <= budget
            await assert_replays(run)
    assert server.stats.requests > 30
