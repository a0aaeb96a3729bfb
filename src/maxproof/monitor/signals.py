"""The signals: what each is, and its readings from the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maxproof.monitor.stats import Stats
from maxproof.monitor.types import Series, Signal, SignalInfo

INFO: Mapping[Signal, SignalInfo] = {}


def readings(stats: Stats, baseline: Sequence[int]) -> Mapping[Signal, Series]:
    """All series but HACK_SCORE; a signal that is off is missing. `baseline`: the steps of the baseline window."""
    raise NotImplementedError


def off(stats: Stats) -> Mapping[Signal, str]:
    """Why a signal is off, for those that are, HACK_SCORE excepted."""
    raise NotImplementedError
