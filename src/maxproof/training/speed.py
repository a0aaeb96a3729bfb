"""How fast a model samples and trains here, beside the bound that the processor's arithmetic sets.

The bound is the rate of a large matrix product, measured on the same threads, over the operations that a token costs by
`flops_per_token`. What is missing to it goes to attention over the cache, which reads memory rather than computes, to
element-wise work, and to the overhead of calls. A model that is timed is not changed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from maxproof.training import sampling
from maxproof.training.checkpoint import Checkpoint, copy_model
from maxproof.training.model import Decoder, flops_per_token
from maxproof.training.policy_update import Group, adamw, update_policy
from maxproof.training.settings import CispoSettings, SamplingSettings, SftSettings
from maxproof.training.sft import train_sft
from maxproof.training.types import Example, Sampled

SAMPLING_PASSES, SFT_PASSES = 1.0, 3.0
"""Forward passes that a token costs: the backward pass is worth two."""


def product_flops_per_s(seconds: float = 0.5) -> float:
    """Operations a second of a 1024 x 1024 float32 matrix product on torch's threads, the best in `seconds`."""
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best, end = 0.0, time.perf_counter() + seconds
    while not best or time.perf_counter() < end:
        started = time.perf_counter()
        torch.mm(left, right)
        best = max(best, 2 * 1024**3 / (time.perf_counter() - started))
    return best


def bound_tokens_per_s(model: Decoder, flops_per_s: float, length: float, passes: float) -> float:
    """Tokens a second that arithmetic alone would allow.

    Args:
        length: tokens attended to, in the mean: half of a sequence.
        passes: forward passes a token costs, in operations.
    """
    return flops_per_s / (passes * flops_per_token(model.shape, model.vocabulary, round(length)))


def rl_passes(settings: CispoSettings) -> float:
    """Of a token in a step of RL: trained once, and a forward pass for what pi_old said, but in the first minibatch."""
    return SFT_PASSES + 1 - 1 / settings.minibatches


def sampling_speed(
    start: Checkpoint, prompts: Sequence[str], settings: SamplingSettings, repeats: int = 1
) -> tuple[float, list[Sampled]]:
    """Sampled tokens a second, prompts included in the time: the best of `repeats`; and the answers."""
    best, answers = 0.0, []
    for _ in range(repeats):
        started = time.perf_counter()
        answers = sampling.sample(start.model, start.tokenizer, prompts, settings, range(len(prompts)))
        tokens = sum(len(answer.ids) for answer in answers)
        best = max(best, tokens / max(time.perf_counter() - started, 1e-9))
    return best, answers


def sft_speed(start: Checkpoint, examples: Sequence[Example], settings: SftSettings, steps: int) -> float:
    """Tokens a second over `steps` >= 1 steps of supervised training, prompts included and padding not.

    Tokenising and batching are counted, saving is not.
    """
    speeds: list[float] = []
    timed = settings.model_copy(update={"steps": steps + 1, "save_every": steps + 1})
    with tempfile.TemporaryDirectory() as folder:
        train_sft(
            start,
            examples,
            timed,
            Path(folder) / "run",
            0,
            progress=lambda step, steps, loss, speed, left: speeds.append(speed),
        )
    return speeds[-2]  # the last one includes a save


def rl_training_speed(start: Checkpoint, groups: Sequence[Group], settings: CispoSettings) -> float:
    """Tokens a second of one step of optimisation by CISPO, prompts included and padding not."""
    model = copy_model(start.model)
    optimizer = adamw(model, settings)
    tokens = sum(len(member.prompt) + len(member.answer) for group in groups for member in group)
    started = time.perf_counter()
    update_policy(model, optimizer, groups, settings)
    return tokens / max(time.perf_counter() - started, 1e-9)
