"""What the monitor reads, what it measures each step, and what it raises.

The way of a rollout: `fields` maps a trainer's names to the columns below, `read` streams batches of them, `features`
adds what one text says of itself, `stats` sums up by step, `signals` makes readings of the sums, `alarms` looks for a
change in the readings. Memory grows with the number of steps, never with that of rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from maxproof.statistics import Rate

REQUIRED = ("problem", "step", "text")
OPTIONAL = ("group", "sample", "thinking", "train_reward", "oracle", "judges", "is_proof")
"""Columns of a canonical batch.

problem: str. step: int >= 0. group, sample: int, which rollout of its step it is. text: the visible answer. thinking:
str, null or absent column: unknown. train_reward, oracle: 0..1, null is not scored. judges: list of (judge: str, score:
0..1 or null). is_proof: bool, null is unknown.
"""

FP_TRAIN, FP_ORACLE = 0.7, 0.3
"""A false positive has a train reward >= FP_TRAIN and an oracle score <= FP_ORACLE, bounds inclusive; the rate is a
share of all rollouts that have both (MaxProof section 2.5)."""
ROUNDING = 1e-6
"""How far a score may be off a bound and still be on it: float32 makes 0.7 slightly less, and sums overshoot 1."""


class Signal(StrEnum):
    """The series by step. Each of the nine published signals (the authors' blog) has at least one."""

    TRAIN_EVAL_GAP = "train_eval_gap"  # 1
    BIMODALITY = "bimodality"  # 2
    VISIBLE_LENGTH = "visible_length"  # 3
    THINKING_LENGTH = "thinking_length"  # 3
    PROOF_GAP = "proof_gap"  # 4
    TEMPLATE_SHARE = "template_share"  # 5
    OPENER_SHIFT = "opener_shift"  # 6, against the baseline window
    OPENER_TOP_SHARE = "opener_top_share"  # 6
    SELF_CORRECTION = "self_correction"  # 7
    HAND_WAVING = "hand_waving"  # 8
    HACK_SCORE = "hack_score"  # 9, against the baseline window
    FALSE_POSITIVES = "false_positives"
    DISAGREEMENT = "disagreement"
    NOT_SCORED = "not_scored"


@dataclass(frozen=True, slots=True)
class SignalInfo:
    """What a signal is, for the dashboard and the docs.

    Attributes:
        number: of the published signal, 1..9; None for ours.
        needs: the columns without which it is off.
        worse: which way hacking moves it; the alarms look both ways at `either`.
        low, high: its range; None: unbounded.
        formula: how it is computed, in words. source: where it comes from.
    """

    signal: Signal
    number: int | None
    title: str
    unit: str
    low: float | None
    high: float | None
    needs: tuple[str, ...]
    worse: Literal["up", "down", "either"]
    formula: str
    source: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One signal at one step.

    Attributes:
        value: None when nothing at this step had what the signal needs.
        count: rollouts behind it.
        error: standard error of `value` from the spread inside the step; None if unknown.
        detail: in words what stands behind it, e.g. the commonest opener; hostile text, "" if nothing.
    """

    step: int
    value: float | None
    count: int
    error: float | None = None
    detail: str = ""


Series = tuple[Reading, ...]
"""By rising step."""


@dataclass(frozen=True, slots=True)
class Example:
    """A rollout that shows what an alarm is about. `text` is clipped and hostile; `value` is what it adds to the signal
    (its reward gap, its length, its count of phrases, ...)."""

    problem: str
    step: int
    group: int | None
    sample: int | None
    text: str
    train_reward: float | None
    oracle: float | None
    value: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """A change that is no noise.

    Attributes:
        signal: which series. direction: where it went.
        began: the step at which the change is estimated to have begun. raised: the step whose reading raised it.
        baseline: mean of the series over the baseline window. value: its mean from `began` to `raised`.
        sigmas: (value - baseline) in standard deviations of a reading in the baseline window.
        examples: up to three rollouts from the steps `began`..`raised`.
        detail: e.g. which opener rose.
    """

    signal: Signal
    direction: Literal["up", "down"]
    began: int
    raised: int
    baseline: float
    value: float
    sigmas: float
    examples: tuple[Example, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All that the monitor says of a set of rollouts; the dashboard, `--json` and the exporters show it.

    Attributes:
        source: what was read, for display.
        rollouts, steps: how many were read. skipped: lines that could not be used, by reason.
        series: readings by signal; a signal that is off is missing.
        off: why a signal is off.
        alarms: by (raised, signal).
        false_positives: joint rate over everything that has both scores; None without both columns.
        not_scored: share of rollouts without a train reward, over everything; None without that column.
        baseline: first and last step of the baseline window; None while it is not full.
        unfinished: the last step, which a growing file may still add to; not read for alarms.
        own_from: the first step of what was read, where the baseline is another run's: in the series and in `baseline`
            that run's steps are numbered to end right before it. None: the baseline is its own.
    """

    source: str
    rollouts: int
    steps: int
    series: Mapping[Signal, Series]
    off: Mapping[Signal, str]
    alarms: tuple[Alarm, ...]
    false_positives: Rate | None
    not_scored: Rate | None
    baseline: tuple[int, int] | None
    skipped: Mapping[str, int] = field(default_factory=dict)
    unfinished: int | None = None
    own_from: int | None = None
