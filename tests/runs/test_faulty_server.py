"""Whole searches against servers that fail in every way: each ends, says what happened, and judges nothing unfairly."""

from __future__ import annotations

import socket
import time
from functools import partial
from pathlib import Path

import pytest
from comparing import decisions, result
from in_process import assert_replays, prove, work_on

from maxproof.cli.errors import ExitCode
from maxproof.models import client
from maxproof.models.mock import FaultPlan, Features, Latency, MockReply, MockRequest, MockServer, SimulatedModel
from maxproof.models.retry import RetryPolicy
from maxproof.models.settings import BudgetSettings
from maxproof.models.types import StopKind
from maxproof.search.run import ProveOutcome, reusable
from maxproof.search.run_folder import open_run
from maxproof.verifier.types import ScoreState

LATENCY = Latency(median_s=0.02)
MODEL = SimulatedModel(seed=5, quality=0.3)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are a tenth of what they are."""
    monkeypatch.setattr(client, "RetryPolicy", partial(RetryPolicy, base_s=0.05, cap_s=3.0))


async def sound(tmp_path: Path) -> dict[str, object]:
    """What the search decides when nothing fails."""
    async with MockServer(MODEL) as server:
        await prove(server.base_url, tmp_path / "sound")
    return decisions(tmp_path / "sound")


def assert_fair(outcome: ProveOutcome) -> None:
    """Points come from judges alone: whatever was not judged is not scored."""
    for standing in outcome.result.standings:
        for verification in standing.verifications.values():
            scored = [judge for judge in verification.judges if judge.state is not ScoreState.NOT_SCORED]
            if verification.state is ScoreState.NOT_SCORED:
                assert verification.points is None
            else:
                assert scored or verification.bad_cases
                assert verification.points is not None


@pytest.mark.parametrize(
    "fault",
    [
        "429@0.3",
        "429@first=4,retry-after=1",
        "429@over=3",
        "500@0.2",
        "503@first=6",
        "half@0.2",
        "reset@0.2",
        "bad-json@0.15",
        "wrong-json@0.15",
        "html@0.2",
        "drip@0.2,seconds=0.3",
        pytest.param("stall@every=17", marks=pytest.mark.slow),
        "hang@every=17",
    ],
)
async def test_what_passes_with_time_changes_nothing(fault: str, tmp_path: Path) -> None:
    """Retries get the very answers that were missed, and so the search decides the same."""
    hangs = fault.startswith(("hang", "stall"))
    async with MockServer(MODEL, faults=FaultPlan.parse([fault]), latency=LATENCY) as server:
        code, outcome = await prove(
            server.base_url, tmp_path / "run", endpoints__default__timeout_s=1.0 if hangs else 60.0
        )
        assert server.stats.faults
    assert_fair(outcome)
    assert not outcome.account.stop
    await assert_replays(tmp_path / "run")
    if not hangs:
        assert code in (ExitCode.PASSED, ExitCode.NOT_PASSED)
        assert decisions(tmp_path / "run") == await sound(tmp_path)
        assert result(tmp_path / "run")["total"]["failed"] == 0
    else:
        assert result(tmp_path / "run")["total"]["failed"] > 0


async def test_a_wait_longer_than_the_deadline_of_a_call_is_not_waited_for(tmp_path: Path) -> None:
    faults = FaultPlan.parse(["429@first=3,retry-after=90"])
    began = time.monotonic()
    async with MockServer(MODEL, faults=faults) as server:
        _, outcome = await prove(server.base_url, tmp_path / "run", endpoints__default__timeout_s=30.0)
    assert time.monotonic() - began < 30
    assert len(outcome.result.lost) == 3
    assert all("asks to wait 90 s" in reason for reason in outcome.result.lost.values())
    assert len(outcome.result.rounds) == 3
    assert_fair(outcome)


@pytest.mark.slow
async def test_a_wait_of_90_s_is_obeyed_and_the_others_go_on(tmp_path: Path) -> None:
    faults = FaultPlan.parse(["429@first=1,retry-after=90"])
    began = time.monotonic()
    async with MockServer(MODEL, faults=faults) as server:
        await prove(server.base_url, tmp_path / "run")
        assert server.stats.requests > 10
    assert 90 <= time.monotonic() - began < 150
    assert decisions(tmp_path / "run") == await sound(tmp_path)


@pytest.mark.parametrize(
    "fault",
    [
        "die@after=30",
        pytest.param("hang@after=30", marks=pytest.mark.slow),
        "500@after=30",
        "401@after=30",
        "wrong-json@after=30",
    ],
)
async def test_an_endpoint_that_is_gone_ends_the_run_with_the_best_so_far(fault: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with MockServer(MODEL, faults=FaultPlan.parse([fault])) as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        code, outcome = await prove(
            server.base_url,
            run,
            endpoints__default__timeout_s=1.0,
            endpoints__default__model="mock",
            budget__max_failures=4,
        )
    assert code is ExitCode.NO_MODEL
    assert outcome.account.stop.kind is StopKind.ENDPOINT
    assert outcome.result.winner is not None
    assert_fair(outcome)
    await assert_replays(run)
    paid = sum(row.calls - row.failed for row in outcome.account.usage)

    async with MockServer(MODEL, port=port) as server:  # it is back
        code, resumed = await work_on(open_run(run))
        assert code in (ExitCode.PASSED, ExitCode.NOT_PASSED)
        assert not resumed.account.stop
        total = sum(row.calls - row.failed for row in resumed.account.usage)
        assert server.stats.requests == total - paid  # what failed is asked again, what was answered is not
    assert decisions(run) == await sound(tmp_path)
    await assert_replays(run)


async def test_a_server_that_only_accepts_connections(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=256) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        for name, settings in (("listing", {}), ("asking", {"endpoints__default__model": "m"})):
            began = time.monotonic()
            code, outcome = await prove(url, tmp_path / name, endpoints__default__timeout_s=1.0, **settings)
            assert time.monotonic() - began < 15
            assert code is ExitCode.NO_MODEL
            assert outcome.result.winner is None
            await assert_replays(tmp_path / name)


@pytest.mark.parametrize(
    "features",
    [
        Features(n="ignored"),
        Features(n="refused"),
        Features(usage=False),
        Features(system_role=False),
        Features(seed=False),
        Features(max_completion_tokens_only=True),
        Features(reasoning="reasoning"),
        Features(reasoning="think-tags"),
        Features(n="refused", usage=False, system_role=False, seed=False, reasoning="think-tags"),
    ],
    ids=lambda features: "+".join(
        name
        for name in ("n", "usage", "system_role", "seed", "reasoning", "max_completion_tokens_only")
        if getattr(features, name) != getattr(Features(), name)
    ),
)
async def test_a_server_that_lacks_something_serves_all_the_same(features: Features, tmp_path: Path) -> None:
    model = SimulatedModel(seed=5, quality=0.3, reasoning_chars=300)
    async with MockServer(model, features=features) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run", search__verifications=3)
    assert code in (ExitCode.PASSED, ExitCode.NOT_PASSED)
    assert all(row.failed == 0 for row in outcome.account.usage)
    assert all(row.estimated is not features.usage for row in outcome.account.usage)
    assert not any(
        "chain of thought" in s.candidate.text or "<think" in s.candidate.text for s in outcome.result.standings
    )
    assert_fair(outcome)
    await assert_replays(tmp_path / "run")


async def test_thinking_that_eats_the_limit_is_truncated_not_an_empty_proof(tmp_path: Path) -> None:
    model = SimulatedModel(seed=5, reasoning_chars=6000)

    def thinks_long(request: MockRequest) -> MockReply:
        reply = model(request)
        return MockReply("", reply.reasoning, "length") if request.task == "generate" and request.number % 2 else reply

    async with MockServer(thinks_long) as server:
        _, outcome = await prove(server.base_url, tmp_path / "run")
    assert_fair(outcome)
    (generator,) = (row for row in outcome.account.usage if row.role == "generator")
    assert generator.failed == 0
    assert generator.reasoning_tokens > 1000  # billed
    unread = [s for s in outcome.result.standings if any(v.bad_cases for v in s.verifications.values())]
    assert unread
    for standing in unread:
        rules = {hit.rule for v in standing.verifications.values() for hit in v.bad_cases}
        assert any("truncat" in rule for rule in rules), rules
    await assert_replays(tmp_path / "run")


async def test_judges_that_refuse_or_babble_leave_proofs_unscored(tmp_path: Path) -> None:
    model = SimulatedModel(seed=5, quality=0.9)

    def unhelpful(request: MockRequest) -> MockReply:
        if request.task != "verify":
            return model(request)
        return MockReply(*(("", "", "content_filter") if len(request.key) % 2 else ("It looks fine to me.",)))

    async with MockServer(unhelpful) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run")
    assert code is ExitCode.NOT_PASSED
    assert outcome.result.standings
    for standing in outcome.result.standings:
        assert standing.fitness is None
        assert all(v.state is ScoreState.NOT_SCORED for v in standing.verifications.values())
    assert "not scored" in (tmp_path / "run" / "report.html").read_text()
    await assert_replays(tmp_path / "run")


async def test_refusals_of_every_role_are_survived(tmp_path: Path) -> None:
    async with MockServer(SimulatedModel(seed=5, quality=0.5, refusal=0.3, unreadable=0.2, truncation=0.1)) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run")
    assert code in (ExitCode.PASSED, ExitCode.NOT_PASSED)
    assert_fair(outcome)
    await assert_replays(tmp_path / "run")


async def test_a_prompt_that_does_not_fit_says_what_to_change(tmp_path: Path) -> None:
    async with MockServer(MODEL, features=Features(context_tokens=3000)) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run")
    assert code is ExitCode.NO_MODEL
    assert "max_tokens" in outcome.account.stop.reason
    await assert_replays(tmp_path / "run")


async def test_judge_prompts_that_do_not_fit_are_not_scored(tmp_path: Path) -> None:
    faults = FaultPlan.parse(["400@task=verify,message=This model's maximum context length is 100 tokens"])
    async with MockServer(MODEL, faults=faults) as server:
        code, outcome = await prove(server.base_url, tmp_path / "run")
    assert code in (ExitCode.NOT_PASSED, ExitCode.NO_MODEL)
    assert all(s.fitness is None for s in outcome.result.standings)
    assert_fair(outcome)
    await assert_replays(tmp_path / "run")


async def test_three_hundred_asked_are_three_hundred_in_flight(tmp_path: Path) -> None:
    quick = dict.fromkeys(("verify", "summarise", "rank"), 0.05)
    latency = Latency(median_s=2.0, sigma=0.0, task_factors=quick)
    async with MockServer(MODEL, latency=latency) as server:
        code, outcome = await prove(
            server.base_url,
            tmp_path / "run",
            search__candidates=300,
            search__verifications=1,
            search__rounds=0,
            endpoints__default__concurrency=300,
        )
        assert server.stats.peak_in_flight == 300
    assert len(outcome.result.standings) == 300
    assert code in (ExitCode.PASSED, ExitCode.NOT_PASSED)


async def test_a_server_that_comes_back_with_another_model_adds_nothing_to_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with MockServer(MODEL, features=Features(models=("first", "second"))) as server:
        await prove(server.base_url, run, budget__max_calls=8)
        port = int(server.base_url.rpartition(":")[2].partition("/")[0])
        assert open_run(run).served == {"default": "first"}
        await assert_replays(run)
    async with MockServer(MODEL, features=Features(models=("second",)), port=port) as server:
        folder = open_run(run)
        unlimited = folder.settings.model_copy(update={"budget": BudgetSettings()})
        code, outcome = await work_on(folder.with_settings(unlimited))
        assert server.stats.requests == 0
        assert code is ExitCode.NO_MODEL
        assert "--set endpoints.default.model" in outcome.account.stop.reason
        await assert_replays(run)
    async with MockServer(MODEL, features=Features(models=("first",)), port=port) as server:
        assert reusable(open_run(run)) == (8, 0)
        code, outcome = await work_on(open_run(run))
        assert not outcome.account.stop
        await assert_replays(run)
