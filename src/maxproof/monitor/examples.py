"""Example rollouts that are kept for each step: for every signal that one rollout can show, the three that show it
best; and a random sample of the step for the others.

Rollouts are ordered by what they add to the signal and then by a hash of what they are, so that the same ones are kept
however the rollouts are cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from maxproof.monitor.types import Example, Signal

PER_SIGNAL = 3
SAMPLE = "sample"
SAMPLE_SIZE = 12
CLIP = 600
_PROBLEM_CLIP = 120
_SEED = 20_260_613

_UP = {
    Signal.TRAIN_EVAL_GAP: "gap",
    Signal.FALSE_POSITIVES: "false_gap",
    Signal.VISIBLE_LENGTH: "visible",
    Signal.THINKING_LENGTH: "thinking_length",
    Signal.TEMPLATE_SHARE: "templates",
    Signal.SELF_CORRECTION: "self_correction",
    Signal.HAND_WAVING: "hand_waving",
    Signal.DISAGREEMENT: "spread",
    Signal.NOT_SCORED: "unscored",
    Signal.PROOF_GAP: "proof",
    Signal.HACK_SCORE: "gap",
}
_DOWN = {
    Signal.VISIBLE_LENGTH: "visible",
    Signal.THINKING_LENGTH: "thinking_length",
    Signal.SELF_CORRECTION: "self_correction",
    Signal.PROOF_GAP: "proof",
}
_OF_THINKING = (Signal.THINKING_LENGTH, Signal.SELF_CORRECTION)
_POSITIVE = ("gap", "false_gap", "templates", "self_correction", "hand_waving", "spread")
"""Of these a rollout with 0 or less shows nothing when the signal rises."""


@dataclass(frozen=True, slots=True)
class Kept:
    """`order`: the smaller, the better it shows what it is kept for."""

    order: tuple[float, int]
    opener: str
    example: Example


def name_of(signal: Signal, direction: Literal["up", "down"]) -> str:
    """Under which name a step keeps what shows that the signal went there."""
    if signal in (_UP if direction == "up" else _DOWN):
        return f"{signal.value}.{direction}"
    return SAMPLE


def kept_of(frame: pl.DataFrame) -> Mapping[int, dict[str, tuple[Kept, ...]]]:
    """By step, what a frame from `sums.with_values` has to show."""
    identity = pl.struct("problem", "group", "sample", "text", "thinking", "train_reward", "oracle").hash(_SEED)
    frame = frame.with_row_index("row").with_columns(
        hash=identity,
        false_gap=pl.when("false_positives").then("gap"),
        unscored=pl.when(pl.col("train_reward").is_null()).then(1.0),
    )
    found: dict[int, dict[str, tuple[Kept, ...]]] = {}
    for signal, column in _UP.items():
        shown = pl.col(column) > 0 if column in _POSITIVE else pl.col(column).is_not_null()
        _keep(found, name_of(signal, "up"), frame.filter(shown), column, -1.0, signal in _OF_THINKING, PER_SIGNAL)
    for signal, column in _DOWN.items():
        known = frame.filter(pl.col(column).is_not_null())
        _keep(found, name_of(signal, "down"), known, column, 1.0, signal in _OF_THINKING, PER_SIGNAL)
    _keep(found, SAMPLE, frame.with_columns(always=pl.lit(0.0)), "always", 1.0, False, SAMPLE_SIZE)
    return found


def merged(name: str, first: Iterable[Kept], second: Iterable[Kept]) -> tuple[Kept, ...]:
    """The best of both."""
    limit = SAMPLE_SIZE if name == SAMPLE else PER_SIGNAL
    return tuple(sorted((*first, *second), key=lambda kept: kept.order)[:limit])


def _keep(
    found: dict[int, dict[str, tuple[Kept, ...]]],
    name: str,
    frame: pl.DataFrame,
    column: str,
    sign: float,
    of_thinking: bool,
    limit: int,
) -> None:
    order = frame.select("step", "row", "hash", value=pl.col(column).cast(pl.Float64)).sort(
        pl.col("value") * sign, "hash", "row"
    )
    best = order.group_by("step", maintain_order=True).head(limit)
    shown = "thinking" if of_thinking else "text"
    rows = best.join(
        frame.select(
            "row", "group", "sample", "train_reward", "oracle", "opener",
            problem=pl.col("problem").str.head(_PROBLEM_CLIP), text=pl.col(shown).str.head(CLIP),
        ),
        on="row", how="left", maintain_order="left",
    )  # fmt: skip
    for row in rows.iter_rows(named=True):
        example = Example(
            problem=row["problem"],
            step=row["step"],
            group=row["group"],
            sample=row["sample"],
            text=row["text"],
            train_reward=row["train_reward"],
            oracle=row["oracle"],
            value=row["value"],
        )
        kept = Kept((row["value"] * sign, row["hash"]), row["opener"], example)
        names = found.setdefault(row["step"], {})
        names[name] = (*names.get(name, ()), kept)
