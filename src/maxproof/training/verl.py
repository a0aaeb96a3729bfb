"""The verifier as the reward function of verl's reward loop.

    reward.custom_reward_function.path=pkg://maxproof.training.verl
    reward.custom_reward_function.name=compute_score

verl awaits `compute_score` once an answer, with all of them in flight. Rows of the data need `extra_info.problem_id`.

**verl can't mask an answer**: its contract is one number each. A zero for "not scored" would teach that an unread proof
is a wrong one, so NotScored is raised, which ends the run; verl resumes from its last checkpoint, and what was judged
is in the server's journal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from maxproof.problems import InputError
from maxproof.training.reward import VerifierReward
from maxproof.training.serve.client import ask_rewards
from maxproof.training.types import Rollout


class NotScored(RuntimeError):
    """An answer has no reward."""


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **others: Any,
) -> float:
    """The reward 0..1 of one answer, from the server at `$MAXPROOF_REWARD_URL` (default http://127.0.0.1:8300).

    Only `solution_str` and `extra_info["problem_id"]` matter.

    Raises NotScored, InputError for a row without a problem's id; RewardServerError (see `serve.client`), TimeoutError,
    aiohttp.ClientError.
    """
    (reward,) = await ask_rewards([{"problem_id": _problem(extra_info), "answer": solution_str}])
    return _scored(reward)


def local_score(reward: VerifierReward) -> Callable[..., Awaitable[float]]:
    """A `compute_score` that asks a verifier in this process. Raises NotScored, InputError (also for an unknown id)."""

    async def compute_score(
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> float:
        (found,) = await reward([Rollout(0, _problem(extra_info), 0, 0, "", solution_str)])
        return _scored(found.value)

    return compute_score


def _problem(extra_info: Mapping[str, Any] | None) -> str:
    if extra_info is None or extra_info.get("problem_id") is None:
        raise InputError("the row has no extra_info.problem_id", field="problem_id")
    return str(extra_info["problem_id"])


def _scored(reward: float | None) -> float:
    if reward is None:
        raise NotScored("an answer could not be scored, and verl has nothing for that: see the reward server's log")
    return reward
