"""What the trainers exchange. Plain data: no torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from maxproof.lab.types import Example as Example
from maxproof.verifier.types import Verification


@dataclass(frozen=True, slots=True)
class Sampled:
    """One sampled answer.

    Attributes:
        ids: the answer's tokens, the end token included if it was reached.
        logprobs: log-probability of each under the policy that sampled it (at temperature 1, before top-p).
        finished: the end token was reached.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finished: bool


@dataclass(frozen=True, slots=True)
class Rollout:
    """One answer to be rewarded.

    Attributes:
        task: the problem's id (or the harvested example's).
        group: index of its group in the step, 0..prompts-1; sample: its index in the group, 0..G-1.
        finished: it ended by itself; false when the token limit cut it.
    """

    step: int
    task: str
    group: int
    sample: int
    prompt: str
    text: str
    finished: bool = True


@dataclass(frozen=True, slots=True)
class Reward:
    """What a rollout earned.

    Attributes:
        value: 0..1; None is "not scored": the rollout is masked out, it is never a zero.
        verification: the four-layer verifier's, where that is what scored it.
        parts: further figures by name, for the record (`oracle`, `r_error`, `r_verdict`, ...), each 0..1.
    """

    value: float | None
    verification: Verification | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


class RewardFunction(Protocol):
    """Scores all rollouts of a step at once, concurrently inside; one reward each, in order."""

    async def __call__(self, rollouts: Sequence[Rollout]) -> Sequence[Reward]: ...


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to train on: what the model is asked. `id` finds whatever the reward needs beside it."""

    id: str
    prompt: str
