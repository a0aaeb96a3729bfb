"""Supervised training: the model learns to give each prompt its answer.

Examples are read in pools, tokenised, sorted by length and cut into batches of similar length, which are then shuffled:
little is padded, and the order depends on the seed alone. The loss is the mean negative log-likelihood of the answers'
tokens, the end token included; prompts are read but not learnt.

The run's folder holds its latest checkpoint with the optimiser's state. Called again with the same arguments, a run
that was interrupted goes on from there and ends with the same weights, bit for bit on one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch

from maxproof.problems import InputError
from maxproof.training.checkpoint import (
    LATEST,
    Checkpoint,
    copy_model,
    digest,
    has_checkpoint,
    load_checkpoint,
    save_checkpoint,
    trained,
)
from maxproof.training.model import Decoder, answer_logprobs, collate
from maxproof.training.settings import SftSettings
from maxproof.training.state import capture, load_state, restore
from maxproof.training.tokenizer import Tokenizer
from maxproof.training.types import Example

Progress = Callable[[int, int, float, float, float], None]
"""Called after each step with: steps done, steps in all, loss, tokens a second so far, seconds left."""

_POOL = 32  # batches that are sorted by length together
_BETAS = (0.9, 0.95)
_FINAL_RATE = 0.1
_PEAK = "peak"
_END = "<end>"
_Pair = tuple[list[int], list[int]]


def train_sft(
    checkpoint: Checkpoint,
    examples: Iterable[Example],
    settings: SftSettings,
    out: Path,
    seed: int,
    *,
    progress: Progress | None = None,
) -> Checkpoint:
    """Trains a copy of the model, where the checkpoint's model is; returns it, also saved in `out`/checkpoint.

    Args:
        examples: read as a stream, from the start again when they end (an iterator can't be). An answer is ordinary
            text; the end token is added, unless the text says `<end>` at its end. Examples longer than the context are
            left out and counted in the result's notes.
        out: the run's folder. If it holds a checkpoint of the same run, that is continued: give the same examples.

    Raises InputError when the loss or the gradient is NaN or infinite (the last good checkpoint stays in `out`), when
    the examples end too soon or hardly any fits the context, when `out` holds another run, and when it can't be
    written.
    """
    run = {"settings": settings.model_dump(), "seed": seed, "parent": digest(checkpoint)}
    model = copy_model(checkpoint.model)
    optimizers = _optimizers(model, settings)
    done = _resume(out / LATEST, run, model, optimizers)
    batches = _Batches(checkpoint.tokenizer, examples, settings.batch, model.shape.context, seed)
    stream = batches.from_batch(done)
    loss = math.nan

    def reached(step: int) -> Checkpoint:
        notes = {"settings": run["settings"], "too_long": batches.too_long, "loss": None if math.isnan(loss) else loss}
        return trained(checkpoint, model, trained_by="sft", seed=seed, step=step, notes=notes)

    if not done:
        save_checkpoint(out / LATEST, reached(0), state=capture(model, *optimizers, step=0, extra=run))
    started, tokens = time.monotonic(), 0
    for step in range(done, settings.steps):
        pairs = next(stream)
        loss = _step(model, optimizers, pairs, settings, step, out / LATEST)
        tokens += sum(len(prompt) + len(answer) for prompt, answer in pairs)
        if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
            state = capture(model, *optimizers, step=step + 1, position=batches.position, extra=run)
            save_checkpoint(out / LATEST, reached(step + 1), state=state)
        if progress is not None:
            spent = time.monotonic() - started
            left = spent / (step + 1 - done) * (settings.steps - step - 1)
            progress(step + 1, settings.steps, loss, tokens / max(spent, 1e-9), left)
    return load_checkpoint(out / LATEST, model.device)


def learning_rate(step: int, settings: SftSettings) -> float:
    """Of step 0, 1, ...: linear up to the peak over `warmup` steps, then half a cosine down to a tenth of it."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    along = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.learning_rate * (_FINAL_RATE + (1 - _FINAL_RATE) * (1 + math.cos(math.pi * along)) / 2)


def _optimizers(model: Decoder, settings: SftSettings) -> tuple[torch.optim.Optimizer, ...]:
    """AdamW, whose decay leaves the gains of norms alone; with `matrix_learning_rate`, Muon on the hidden matrices."""
    hidden, matrices, gains = [], [], []
    for name, weights in model.named_parameters():
        if weights.dim() != 2:
            gains.append(weights)
        elif settings.matrix_learning_rate is not None and ".layers." in name:
            hidden.append(weights)
        else:
            matrices.append(weights)
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": gains, "weight_decay": 0.0},
    ]
    found: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(groups, lr=settings.learning_rate, betas=_BETAS, fused=True)
    ]
    if hidden:
        rate = settings.matrix_learning_rate or 0.0
        found.append(torch.optim.Muon(hidden, lr=rate, weight_decay=settings.weight_decay, momentum=0.95))
    for group in (group for optimizer in found for group in optimizer.param_groups):
        group[_PEAK] = group["lr"]
    return tuple(found)


def _step(
    model: Decoder,
    optimizers: tuple[torch.optim.Optimizer, ...],
    pairs: list[_Pair],
    settings: SftSettings,
    step: int,
    saved: Path,
) -> float:
    loss = -answer_logprobs(model, collate(pairs, model.device)).mean()
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
    for name, value in (("loss", loss), ("gradient", norm)):
        if not math.isfinite(value.item()):
            raise InputError(
                f"the {name} is {value.item()} at step {step + 1}; training stopped, the last good checkpoint is kept",
                file=saved,
                hint=f"lower the learning rate, {settings.learning_rate:g}",
            )
    share = learning_rate(step, settings) / settings.learning_rate
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group[_PEAK] * share
        optimizer.step()
    return loss.item()


def _resume(folder: Path, run: dict[str, Any], model: Decoder, optimizers: tuple[torch.optim.Optimizer, ...]) -> int:
    """Puts model and optimisers where the run in `folder` was; its steps done, 0 if there is none."""
    if not has_checkpoint(folder):
        return 0
    latest = load_checkpoint(folder)
    state = load_state(folder)
    if state is None:
        raise InputError("holds a checkpoint that no training can be resumed from", file=folder)
    for name, value in run.items():
        if state.extra.get(name) != value:
            what = "start" if name == "parent" else name
            raise InputError(
                f"is of a run with another {what}: {_difference(state.extra, run, name)}",
                file=folder,
                hint="give the same arguments to resume it, or another folder",
            )
    model.load_state_dict(latest.model.state_dict())
    restore(state, model, *optimizers)
    return state.step


def _difference(old: Any, new: Any, name: str) -> str:
    before, now = old.get(name), new[name]
    if isinstance(before, dict) and isinstance(now, dict):
        name, before, now = next((key, before.get(key), now[key]) for key in now if before.get(key) != now[key])
    return f"{name} {before}, now {now}"


class _Batches:
    """Batches of similar length, in an order that depends on the seed alone.

    Attributes:
        position: examples of the stream that were read.
        too_long: of these, those left out because they exceed the context.
    """

    def __init__(self, tokenizer: Tokenizer, examples: Iterable[Example], batch: int, context: int, seed: int) -> None:
        self._tokenizer, self._examples, self._batch = tokenizer, examples, batch
        self._context, self._seed = context, seed
        self.position = self.too_long = 0

    def from_batch(self, first: int) -> Iterator[list[_Pair]]:
        """Batches `first`, `first` + 1, ... of the stream, without end."""
        stream = self._fitting()
        for pool in range(first // _POOL):
            self._read(stream, pool)
        pool, skip = divmod(first, _POOL)
        while True:
            yield from self._read(stream, pool)[skip:]
            pool, skip = pool + 1, 0

    def _read(self, stream: Iterator[_Pair], pool: int) -> list[list[_Pair]]:
        pairs = list(islice(stream, _POOL * self._batch))
        random = Random(f"{self._seed}/{pool}")
        random.shuffle(pairs)
        pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        batches = [pairs[start : start + self._batch] for start in range(0, len(pairs), self._batch)]
        random.shuffle(batches)
        return batches

    def _fitting(self) -> Iterator[_Pair]:
        while True:
            before = self.position
            stream = iter(self._examples)
            while chunk := list(islice(stream, 4 * self._batch)):
                self.position += len(chunk)
                pairs = self._encode(chunk)
                self.too_long += len(chunk) - len(pairs)
                yield from pairs
            if self.position == before:
                raise InputError(
                    f"the examples ended after {self.position}", hint="give a list, or an iterable without end"
                )
            if self.position - self.too_long < self.position / 2:
                raise InputError(
                    f"{self.too_long} of {self.position} examples do not fit a context of {self._context} tokens"
                )

    def _encode(self, chunk: list[Example]) -> list[_Pair]:
        answers = [example.answer.rstrip().removesuffix(_END).rstrip() for example in chunk]
        encoded = zip(
            self._tokenizer.encode_batch([example.prompt for example in chunk], prompts=True),
            self._tokenizer.encode_batch(answers),
            strict=True,
        )
        ended = [(prompt, [*answer, self._tokenizer.end]) for prompt, answer in encoded]
        return [pair for pair in ended if sum(map(len, pair)) <= self._context]
