"""Tokens a second of sampling and of supervised training, beside the bound that the processor's arithmetic sets.

The bound is measured in the same run on the same threads: the rate of a large matrix product, over the operations that
a token costs by `flops_per_token` (three times as many in training). What is missing to it goes to attention over the
cache, which reads memory rather than computes, to element-wise work, and to the overhead of calls.

Weights are random and so are texts: speed does not depend on what is learnt, except that untrained answers rarely end,
so the batch stays full to the end. Data handling (tokenising, batching) is counted, saving is not.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from random import Random

import torch

from benchmarks.report import print_table
from maxproof.training.checkpoint import Checkpoint, new_checkpoint
from maxproof.training.model import flops_per_token, parameter_count, use_threads
from maxproof.training.sampling import sample
from maxproof.training.settings import ModelShape, SamplingSettings, SftSettings
from maxproof.training.sft import train_sft
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
        bound = _flops_per_second()
        for name, measure, factor in (("sampling", _sampling, 1), ("training", _training, 3)):
            speed = measure(start, quick)
            length = (_PROMPT + _ANSWER) // 2
            attainable = bound / (factor * flops_per_token(start.model.shape, start.model.vocabulary, length))
            rows.append(
                (name, threads, round(speed), round(attainable), f"{speed / attainable:.0%}", f"{bound / 1e9:.0f}")
            )
    use_threads(before)
    print_table(
        f"Training kit: {parameter_count(start.model):,} parameters, {start.model.vocabulary} tokens",
        ("what", "threads", "tokens/s", "bound, tokens/s", "of bound", "product, GFLOP/s"),
        rows,
        note="bound: a 1024 x 1024 float32 product on the same threads; sampling 256 rows, training batches of 64",
    )


def _flops_per_second() -> float:
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = 0.0
    for _ in range(12):
        started = time.perf_counter()
        torch.mm(left, right)
        best = max(best, 2 * 1024**3 / (time.perf_counter() - started))
    return best


def _sampling(start: Checkpoint, quick: bool) -> float:
    """Sampled tokens a second, prompts included in the time; the best of three."""
    count = 256 if quick else 1024
    prompts = [f"<prove> {_text(Random(row // 8), _PROMPT - 2)} <sep>" for row in range(count)]
    settings = SamplingSettings(max_new_tokens=_ANSWER)
    best = 0.0
    for _ in range(3):
        started = time.perf_counter()
        answers = sample(start.model, start.tokenizer, prompts, settings, range(count))
        best = max(best, sum(len(answer.ids) for answer in answers) / (time.perf_counter() - started))
    return best


def _training(start: Checkpoint, quick: bool) -> float:
    """Tokens a second that were trained on, prompts included and padding not."""
    random = Random(0)
    examples = [
        Example(f"<prove> {_text(random, _PROMPT - 2)} <sep>", _text(random, random.randrange(_ANSWER // 2, _ANSWER)))
        for _ in range(2048)
    ]
    settings = SftSettings(steps=15 if quick else 60, save_every=1000)
    speeds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        train_sft(
            start,
            examples,
            settings,
            Path(folder) / "run",
            0,
            progress=lambda step, steps, loss, speed, left: speeds.append(speed),
        )
    return speeds[-2]  # the last one includes a save


def _text(random: Random, length: int) -> str:
    return " ".join(
        random.choice(_WORDS) if random.random() < 0.4 else str(random.randrange(100)) for _ in range(length)
    )
