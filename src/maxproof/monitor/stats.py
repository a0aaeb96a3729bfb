"""Sums by step, from which every signal is read.

A step's sums are counts, sums of values and of their products, a histogram of the train rewards, the commonest
openers, and a few example rollouts. So memory grows with the number of steps, never with that of rollouts, and files
may be read in any order, in any cuts, and in parts that are merged: counts and examples come out the same, sums up to
rounding.

Openers are counted by a Misra-Gries summary (Mergeable Summaries, Agarwal et al., PODS 2012): of a step's n rollouts,
an opener's count is too low by at most n / (OPENERS + 1), and exact while the step has no more than OPENERS different
ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from maxproof.monitor import sums
from maxproof.monitor.examples import PER_SIGNAL, SAMPLE, Kept, kept_of, merged, name_of
from maxproof.monitor.types import Example, Signal

OPENERS = 400
"""Different openers that a step keeps."""
BINS = 20
"""Of the histogram of train rewards: bin i has the rewards in [i/20, (i+1)/20), the last one 1 too."""


@dataclass(slots=True)
class StepStats:
    """One step.

    Attributes:
        sums: by the names of `sums.SUMS`.
        rewards: counts by bin. openers: counts. templates: rollouts by kind of mark.
        kept: example rollouts by what they show.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(sums.SUMS, 0.0))
    rewards: list[int] = field(default_factory=lambda: [0] * BINS)
    openers: Counter[str] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)
    kept: dict[str, tuple[Kept, ...]] = field(default_factory=dict)

    def merge(self, other: StepStats) -> None:
        """Adds another's sums."""
        for name, value in other.sums.items():
            self.sums[name] += value
        self.rewards = [mine + more for mine, more in zip(self.rewards, other.rewards, strict=True)]
        self.openers.update(other.openers)
        trim(self.openers)
        self.templates.update(other.templates)
        for name, kept in other.kept.items():
            self.kept[name] = merged(name, self.kept.get(name, ()), kept)


def trim(openers: Counter[str]) -> None:
    """Lowers all counts so that at most OPENERS are left."""
    if len(openers) > OPENERS:
        least = sorted(openers.values(), reverse=True)[OPENERS]
        for name in [name for name, count in openers.items() if count <= least]:
            del openers[name]
        for name in openers:
            openers[name] -= least


class Stats:
    """See the module. Not for use by several threads at once."""

    def __init__(self) -> None:
        self._steps: dict[int, StepStats] = {}

    def add(self, frame: pl.DataFrame) -> None:
        """Adds a frame from `features.add_features`."""
        if not frame.height:
            return
        for step, part in _summed(frame).items():
            known = self._steps.get(step)
            if known is None:
                trim(part.openers)
                self._steps[step] = part
            else:
                known.merge(part)

    def merge(self, other: Stats) -> None:
        """Adds another's sums; `other` stays as it is."""
        for step, part in other._steps.items():
            self._steps.setdefault(step, StepStats()).merge(part)

    def preceded_by(self, other: Stats, steps: Sequence[int]) -> Stats:
        """These sums, and before the first step those of `steps` of `other`, numbered so that they end one step before.

        The sums are shared, not copied: for reading only.
        """
        first = min(self._steps, default=0) - len(steps)
        found = Stats()
        found._steps = {first + place: other._steps[step] for place, step in enumerate(steps)} | self._steps
        return found

    @property
    def steps(self) -> tuple[int, ...]:
        """By rising step."""
        return tuple(sorted(self._steps))

    @property
    def rollouts(self) -> int:
        """How many were added."""
        return int(self.total("n"))

    def __getitem__(self, step: int) -> StepStats:
        """The sums of a step. Raises KeyError."""
        return self._steps[step]

    def total(self, name: str) -> float:
        """One of `sums.SUMS` over all steps."""
        return sum(self._steps[step].sums[name] for step in self.steps)

    def false_positives(self) -> tuple[int, int]:
        """(false positives, rollouts with both scores) over everything."""
        return int(self.total("false_positives")), int(self.total("gap.n"))

    def not_scored(self) -> tuple[int, int]:
        """(rollouts without a train reward, rollouts) over everything."""
        return self.rollouts - int(self.total("reward.n")), self.rollouts

    def rewards(self, step: int) -> tuple[int, ...]:
        """The histogram of a step's train rewards. Raises KeyError."""
        return tuple(self._steps[step].rewards)

    def examples(
        self, signal: Signal, first: int, last: int, direction: Literal["up", "down"] = "up", opener: str = ""
    ) -> tuple[Example, ...]:
        """Up to three rollouts of the steps first..last that show best where a signal went.

        Where no rollout is better than another (bimodality, openers, ...) they are drawn at random, by a hash; with
        `opener` from those that begin so.
        """
        steps = [self._steps[step].kept for step in self.steps if first <= step <= last]
        found = [kept for step in steps for kept in step.get(name_of(signal, direction), ())]
        if opener:
            found = [kept for step in steps for kept in step.get(SAMPLE, ()) if kept.opener == opener] or found
        best = sorted(found, key=lambda kept: kept.order)[:PER_SIGNAL]
        return tuple(kept.example for kept in best)


def _summed(frame: pl.DataFrame) -> Mapping[int, StepStats]:
    found = {int(row["step"]): StepStats() for row in frame.select(pl.col("step").unique()).to_dicts()}
    frame = sums.with_values(frame)
    for row in sums.summed(frame).to_dicts():
        found[row.pop("step")].sums.update({name: float(value or 0) for name, value in row.items()})
    binned = frame.filter(pl.col("train_reward").is_not_null()).select(
        "step", bin=(pl.col("train_reward") * BINS + 1e-9).floor().clip(0, BINS - 1).cast(pl.Int64)
    )
    for step, bin_, count in binned.group_by("step", "bin").len().iter_rows():
        found[step].rewards[bin_] = count
    for step, opener, count in frame.group_by("step", "opener").len().iter_rows():
        found[step].openers[opener] = count
    marks = [name for name in frame.columns if name.startswith("template.")]
    for row in frame.group_by("step").agg(pl.col(marks).sum()).to_dicts():
        step = row.pop("step")
        found[step].templates.update({name.removeprefix("template."): count for name, count in row.items() if count})
    for step, kept in kept_of(frame).items():
        found[step].kept = kept
    return found
