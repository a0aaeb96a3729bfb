"""What a rollout's text says of itself, as columns."""

from __future__ import annotations

import polars as pl

from maxproof.monitor.phrases import Phrases


def add_features(frame: pl.DataFrame, phrases: Phrases) -> pl.DataFrame:
    """`frame` (canonical) with the feature columns that `Stats.add` sums up."""
    raise NotImplementedError
