"""The verifier as a reward function of TRL's trainers.

    trainer = GRPOTrainer(model, reward_funcs=server_reward("http://127.0.0.1:8300"), ...)

TRL (1.16) calls `reward(prompts=, completions=, completion_ids=, **columns of the data set)` with all answers of a
process at once and awaits it. A reward of None, "not scored", gets advantage 0 and is left out of its group's mean and
standard deviation. What is not an answer at all (the server fails, a budget is spent) raises and ends the training.

Rows of the data set need a column `problem_id`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from maxproof.problems import InputError
from maxproof.training.reward import VerifierReward
from maxproof.training.serve.client import ask_rewards
from maxproof.training.types import Rollout

Messages = Sequence[Mapping[str, Any]]
_Score = Callable[[Sequence[Rollout]], Awaitable[list[float | None]]]


class TrlReward(Protocol):
    """What TRL calls. `completions` are texts, or lists of messages; columns are lists as long."""

    async def __call__(
        self, *, prompts: Sequence[str | Messages], completions: Sequence[str | Messages], **columns: Any
    ) -> list[float | None]: ...


class NotJudged(RuntimeError):
    """The judges can't be asked any more: a budget is spent, or an endpoint is gone."""


def server_reward(url: str | None = None, *, eos_ids: Collection[int] = ()) -> TrlReward:
    """Rewards from a running `maxproof reward serve`.

    Args:
        url: None: `$MAXPROOF_REWARD_URL`, else http://127.0.0.1:8300.
        eos_ids: the tokens that end an answer. An answer without one at its end was cut by the token limit and is
            worth 0, without a judge's call. With none given, every answer is judged as it is.

    The function raises RewardServerError (see `serve.client`), TimeoutError, aiohttp.ClientError; InputError for a row
    without a problem's id.
    """

    async def score(rollouts: Sequence[Rollout]) -> list[float | None]:
        items = [{"problem_id": found.task, "answer": found.text, "finished": found.finished} for found in rollouts]
        return await ask_rewards(items, url)

    return _function(score, eos_ids)


def local_reward(reward: VerifierReward, *, eos_ids: Collection[int] = ()) -> TrlReward:
    """Rewards from a verifier in this process. With more than one training process, use the server: a journal has one
    writer, and each process would have a limit of its own.

    The function raises NotJudged when the judges can't be asked any more; InputError for a row without a problem's id,
    or with an unknown one. `eos_ids` as for `server_reward`.
    """

    async def score(rollouts: Sequence[Rollout]) -> list[float | None]:
        found = await reward(rollouts)
        if any(one.verification is None for one in found):
            raise NotJudged("the judges can't be asked any more")
        return [one.value for one in found]

    return _function(score, eos_ids)


def text_of(completion: str | Messages) -> str:
    """What the model wrote: the text itself, or that of the last message of the assistant; "" if there is none."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role") == "assistant":
            content = message.get("content")
            if isinstance(content, list):  # parts, as for models that see images
                return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
            return str(content or "")
    return ""


def _function(score: _Score, eos_ids: Collection[int]) -> TrlReward:
    ends = frozenset(eos_ids)

    async def maxproof(
        *,
        prompts: Sequence[str | Messages],
        completions: Sequence[str | Messages],
        completion_ids: Sequence[Sequence[int]] | None = None,
        problem_id: Sequence[Any] | None = None,
        trainer_state: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        if problem_id is None or len(problem_id) != len(completions):
            raise InputError("the data set has no column problem_id", field="problem_id")
        if ends and completion_ids is None:
            raise InputError("the trainer gives no tokens to tell a cut answer by", field="completion_ids")
        ids = completion_ids if ends and completion_ids is not None else [None] * len(completions)
        groups: dict[str, int] = {}
        samples: Counter[str] = Counter()
        rollouts = []
        for name, prompt, completion, tokens in zip(problem_id, prompts, completions, ids, strict=True):
            task = str(name)
            finished = tokens is None or (len(tokens) > 0 and int(tokens[-1]) in ends)
            rollouts.append(
                Rollout(
                    step=int(getattr(trainer_state, "global_step", 0)),
                    task=task,
                    group=groups.setdefault(task, len(groups)),
                    sample=samples[task],
                    prompt=_prompt_text(prompt),
                    text=text_of(completion),
                    finished=finished,
                )
            )
            samples[task] += 1
        rewards = await score(rollouts)
        if log_metric is not None and rewards:
            log_metric("maxproof/not_scored", rewards.count(None) / len(rewards))
        return rewards

    return maxproof


def _prompt_text(prompt: str | Messages) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n".join(str(message.get("content") or "") for message in prompt)
