"""What the tests of RL share: a model that is trained in a moment, its tasks, and rewards that need no judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import torch

from maxproof.training.checkpoint import Checkpoint, new_checkpoint
from maxproof.training.settings import CispoSettings, ModelShape, SamplingSettings
from maxproof.training.tokenizer import build_tokenizer
from maxproof.training.types import Reward, Rollout, Task

torch.set_num_threads(1)
TASKS = [Task(f"t{number}", f"<prove> {number} <sep>") for number in range(6)]
SETTINGS = CispoSettings(
    steps=6,
    prompts=4,
    group=4,
    learning_rate=0.02,
    save_every=2,
    seed=3,
    sampling=SamplingSettings(max_new_tokens=6),
)


def small_model() -> Checkpoint:
    shape = ModelShape(layers=1, width=16, heads=2, kv_heads=1, hidden=16, context=24)
    return new_checkpoint(shape, build_tokenizer(["yes no"]), seed=1)


class Digits:
    """Rewards the share of characters that are digits; counts what it is asked."""

    def __init__(self, value: Callable[[Rollout], float | None] | None = None) -> None:
        self.value = value or (lambda rollout: sum(c.isdigit() for c in rollout.text) / max(1, len(rollout.text)))
        self.batches: list[list[Rollout]] = []

    async def __call__(self, rollouts: Sequence[Rollout]) -> list[Reward]:
        self.batches.append(list(rollouts))
        await asyncio.sleep(0)
        return [Reward(self.value(rollout), None, {"oracle": 0.5}) for rollout in rollouts]

    @property
    def asked(self) -> list[tuple[int, int, int]]:
        return [(found.step, found.group, found.sample) for batch in self.batches for found in batch]


class Crash(Exception):
    """Stands for a process that ends."""


def crash_at(step: int) -> Digits:
    def value(rollout: Rollout) -> float | None:
        if rollout.step == step:
            raise Crash
        return plain.value(rollout)

    plain = Digits()
    return Digits(value)
