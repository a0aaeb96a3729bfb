"""Tokens a second of sampling and of supervised training, beside the bound that the processor's arithmetic sets.

What is measured and what the bound is: `maxproof.training.speed`.

Weights are random and so are texts: speed does not depend on what is learnt, except that untrained answers rarely end,
so the batch stays full to the end. Data handling (tokenising, batching) is counted, saving is not.
"""

from __future__ import annotations

import os
from random import Random

import torch

from benchmarks.report import print_table
from maxproof.training.checkpoint import Checkpoint, new_checkpoint
from maxproof.training.model import parameter_count, use_threads
from maxproof.training.settings import ModelShape, SamplingSettings, SftSettings
from maxproof.training.speed import (
    SAMPLING_PASSES,
    SFT_PASSES,
    bound_tokens_per_s,
    product_flops_per_s,
    sampling_speed,
    sft_speed,
)
from maxproof.training.tokenizer import build_tokenizer
from maxproof.training.types import Example

_WORDS = [f"w{first}{second}" for first in "abcdefghij" for second in "abcdefghijklmnopq"]
_PROMPT, _ANSWER = 16, 64  # tokens, about as in the lab's proofs


def run(*, quick: bool) -> None:
    """Prints one row for each number of threads: 1, and 2 where there are as many cores and time (not `quick`)."""
    rows = []
    start = new_checkpoint(ModelShape(), build_tokenizer([" ".join(_WORDS)]), 0)
    before = torch.get_num_threads()
    for threads in range(1, 1 + (1 if quick else min(2, os.cpu_count() or 1))):
        use_threads(threads)
        product = product_flops_per_s()
        for name, measure, passes in (("sampling", _sampling, SAMPLING_PASSES), ("training", _training, SFT_PASSES)):
            speed = measure(start, quick)
            attainable = bound_tokens_per_s(start.model, product, (_PROMPT + _ANSWER) / 2, passes)
            rows.append(
                (name, threads, round(speed), round(attainable), f"{speed / attainable:.0%}", f"{product / 1e9:.0f}")
            )
    use_threads(before)
    print_table(
        f"Training kit: {parameter_count(start.model):,} parameters, {start.model.vocabulary} tokens",
        ("what", "threads", "tokens/s", "bound, tokens/s", "of bound", "product, GFLOP/s"),
        rows,
        note="bound: a 1024 x 1024 float32 product on the same threads; sampling 256 rows, training batches of 64",
    )


def _sampling(start: Checkpoint, quick: bool) -> float:
    count = 256 if quick else 1024
    prompts = [f"<prove> {_text(Random(row // 8), _PROMPT - 2)} <sep>" for row in range(count)]
    return sampling_speed(start, prompts, SamplingSettings(max_new_tokens=_ANSWER), repeats=3)[0]


def _training(start: Checkpoint, quick: bool) -> float:
    random = Random(0)
    examples = [
        Example(f"<prove> {_text(random, _PROMPT - 2)} <sep>", _text(random, random.randrange(_ANSWER // 2, _ANSWER)))
        for _ in range(2048)
    ]
    return sft_speed(start, examples, SftSettings(), 14 if quick else 59)


def _text(random: Random, length: int) -> str:
    return " ".join(
        random.choice(_WORDS) if random.random() < 0.4 else str(random.randrange(100)) for _ in range(length)
    )
