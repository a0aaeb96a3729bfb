"""The verifier as a reward: concurrency counted in waves of an event-driven caller, masking, and what is never read."""

from __future__ import annotations

import asyncio

import pytest
from judge_fakes import GOOD, PROBLEM, TEXT, OneByOne, Waves

from maxproof.models.types import Answer, Call, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.problems import InputError, Problem
from maxproof.training.reward import VerifierReward, candidate_id
from maxproof.training.types import Reward, Rollout
from maxproof.verifier import ScoreState, VerifierSettings

GAPS = (
    "<assessment>one gap</assessment><errors>1. Location: line 1\nThe sum is not shown.</errors>"
    "<verdict>minor_gaps</verdict>"
)


def rollouts(count: int, *, text: str = TEXT, finished: bool = True) -> list[Rollout]:
    return [Rollout(0, "p", index // 8, index % 8, "prove it", text, finished) for index in range(count)]


class Script(OneByOne):
    """Answers at once, by the judge's name."""

    def __init__(self, by_judge: dict[str, str | NoAnswer]) -> None:
        self.by_judge = by_judge
        self.asked = 0

    async def ask(self, call: Call) -> Answer:
        self.asked += 1
        reply = self.by_judge[call.address.judge]
        if isinstance(reply, NoAnswer):
            raise reply
        return Answer(reply)


def scripted(**changes: str | NoAnswer) -> Script:
    return Script(
        {"rubric-1": GOOD, "rubric-2": GOOD, "free": GOOD} | {k.replace("_", "-"): v for k, v in changes.items()}
    )


async def test_64_rollouts_with_3_judges_at_limit_32_take_6_latencies() -> None:
    waves = Waves()
    reward = VerifierReward(VerifierSettings(), lambda _: waves, [PROBLEM], limit=32)
    async with asyncio.timeout(60):
        work = asyncio.create_task(reward(rollouts(64)))
        await waves.drive(work)
    assert [found.value for found in work.result()] == [1.0] * 64
    assert sum(waves.sizes) == 192
    assert max(waves.sizes) == 32
    assert len(waves.sizes) == 6


async def test_the_limit_holds_over_calls_of_the_reward_that_overlap() -> None:
    waves = Waves()
    reward = VerifierReward(VerifierSettings(), lambda _: waves, [PROBLEM], limit=5)

    async def both() -> list[Reward]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(reward(rollouts(4))) for _ in range(2)]
        return [found for task in tasks for found in task.result()]

    async with asyncio.timeout(60):
        work = asyncio.create_task(both())
        await waves.drive(work)
    assert max(waves.sizes) == 5


async def test_every_rollout_is_asked_under_an_address_of_its_own() -> None:
    waves = Waves()
    reward = VerifierReward(VerifierSettings(), lambda _: waves, [PROBLEM], limit=100)
    work = asyncio.create_task(reward(rollouts(16)))
    await waves.drive(work)
    assert len({call.address for call in waves.calls}) == 48
    ids = {candidate_id(Rollout(s, "p", g, k, "", "")) for s in range(3) for g in range(40) for k in range(9)}
    assert len(ids) == 3 * 40 * 9


async def test_the_minimum_over_the_judges_counts() -> None:
    script = scripted(free=GAPS)
    (found,) = await VerifierReward(VerifierSettings(), lambda _: script, [PROBLEM])(rollouts(1))
    assert found.value == pytest.approx(6 / 7)
    assert found.verification is not None
    assert "The sum is not shown" in found.verification.critique


async def test_a_failed_judge_is_not_scored_never_zero() -> None:
    script = scripted(free=CallFailed(FailureKind.TIMEOUT, "too slow"))
    (found,) = await VerifierReward(VerifierSettings(), lambda _: script, [PROBLEM])(rollouts(1))
    assert found.value is None
    assert found.verification is not None
    assert found.verification.state is ScoreState.NOT_SCORED


async def test_calls_that_were_not_run_are_not_scored() -> None:
    script = scripted(free=CallNotRun("the budget is spent"))
    (found,) = await VerifierReward(VerifierSettings(), lambda _: script, [PROBLEM])(rollouts(1))
    assert found.value is None
    assert found.verification is None


async def test_a_rollout_that_the_token_limit_cut_is_zero_without_a_call() -> None:
    script = scripted()
    (found,) = await VerifierReward(VerifierSettings(), lambda _: script, [PROBLEM])(rollouts(1, finished=False))
    assert found.value == 0.0
    assert found.verification is not None
    assert [hit.rule for hit in found.verification.bad_cases] == ["truncated"]
    assert script.asked == 0


async def test_the_oracle_is_recorded_and_never_rewards() -> None:
    seen: list[str] = []

    def oracle(problem: Problem, text: str) -> float:
        seen.append(text)
        return 0.25

    reward = VerifierReward(VerifierSettings(), lambda _: scripted(), [PROBLEM], oracle=oracle)
    (found,) = await reward(rollouts(1, text=f"<think>hm</think>{TEXT}"))
    assert found.value == 1.0
    assert found.parts == {"oracle": 0.25, "is_proof": 1.0}
    assert seen == [TEXT]


async def test_an_unknown_task_is_refused_before_any_call() -> None:
    script = scripted()
    reward = VerifierReward(VerifierSettings(), lambda _: script, [PROBLEM])
    with pytest.raises(InputError, match="no problem has the id 'other'"):
        await reward([*rollouts(1), Rollout(0, "other", 0, 1, "", "x")])
    assert script.asked == 0


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        VerifierReward(VerifierSettings(), lambda _: scripted(), [PROBLEM], limit=0)
