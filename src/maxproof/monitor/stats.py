"""Sums by step."""

from __future__ import annotations

from typing import Literal

import polars as pl

from maxproof.monitor.types import Example, Signal


class Stats:
    """Memory grows with steps, never with rollouts. `merge` and the cuts of batches make no difference."""

    def add(self, frame: pl.DataFrame) -> None:
        """Adds a frame from `add_features`."""
        raise NotImplementedError

    def merge(self, other: Stats) -> None:
        """Adds another's sums."""
        raise NotImplementedError

    @property
    def steps(self) -> tuple[int, ...]:
        """By rising step."""
        raise NotImplementedError

    @property
    def rollouts(self) -> int:
        raise NotImplementedError

    def examples(
        self, signal: Signal, first: int, last: int, direction: Literal["up", "down"], opener: str = ""
    ) -> tuple[Example, ...]:
        """Up to three rollouts of the steps first..last, those that move the signal most in that direction."""
        raise NotImplementedError

    def false_positives(self) -> tuple[int, int]:
        """(false positives, rollouts with both scores) over everything."""
        raise NotImplementedError

    def not_scored(self) -> tuple[int, int]:
        """(rollouts without a train reward, rollouts) over everything."""
        raise NotImplementedError
