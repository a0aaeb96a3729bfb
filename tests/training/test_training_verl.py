"""The reward function for verl, called as verl 0.9.1 calls it."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any

import pytest
from judge_fakes import FAIR_PANEL

from maxproof.lab.generate import problems
from maxproof.lab.judges import LabJudges
from maxproof.models.types import Caller, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.problems import InputError
from maxproof.training.reward import VerifierReward
from maxproof.training.verl import NotScored, compute_score, local_score
from maxproof.verifier import VerifierSettings

PROBLEM = next(iter(problems("train", 1, 0))).problem


def verifier(caller: Caller) -> VerifierReward:
    return VerifierReward(VerifierSettings(), lambda _: caller, [PROBLEM])


class NoJudge:
    def __init__(self, why: NoAnswer) -> None:
        self.why = why

    async def ask(self, call: Any) -> Any:
        raise self.why

    async def ask_samples(self, calls: list[Any]) -> list[Any]:
        return [self.why for _ in calls]


async def one(score: Any, text: str, **changes: Any) -> Any:
    """One answer, with verl's wrapping and keywords."""

    async def call_with(function: Any, extra: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return await function(*args, **{**kwargs, **extra})

    wrapped = partial(call_with, score, {})
    assert inspect.iscoroutinefunction(wrapped)
    arguments = {
        "data_source": "lab",
        "solution_str": text,
        "ground_truth": "",
        "extra_info": {"problem_id": PROBLEM.id, "num_turns": None, "rollout_reward_scores": {}},
        "reward_router_address": None,
        "reward_model_tokenizer": None,
    }
    return await wrapped(**(arguments | changes))


async def test_one_number_an_answer() -> None:
    score = local_score(verifier(LabJudges(FAIR_PANEL)))
    assert await one(score, PROBLEM.reference or "") == 1.0
    assert await one(score, "I have no idea what to do here.") == 0.0
    async with asyncio.TaskGroup() as group:  # as many at once as there are rollouts
        tasks = [group.create_task(one(score, f"{PROBLEM.reference}\n")) for _ in range(20)]
    assert [task.result() for task in tasks] == [1.0] * 20


@pytest.mark.parametrize("why", [CallFailed(FailureKind.TIMEOUT, "slow"), CallNotRun("the budget is spent")])
async def test_not_scored_is_raised_never_a_zero(why: NoAnswer) -> None:
    with pytest.raises(NotScored):
        await one(local_score(verifier(NoJudge(why))), PROBLEM.reference or "")


async def test_the_server_is_asked_by_coroutine_functions_only() -> None:
    assert inspect.iscoroutinefunction(compute_score)
    assert inspect.iscoroutinefunction(local_score(verifier(LabJudges(FAIR_PANEL))))


@pytest.mark.parametrize("extra", [None, {}, {"problem_id": None}])
async def test_a_row_without_a_problem_is_refused(extra: dict[str, Any] | None) -> None:
    for score in (compute_score, local_score(verifier(LabJudges(FAIR_PANEL)))):
        with pytest.raises(InputError, match=r"extra_info\.problem_id"):
            await one(score, "text", extra_info=extra)
