"""Intervals by resampling problems, and the seeds of each: what would differ with other problems and other luck.

Candidates and seeds of one problem are alike, so a problem is drawn as a whole first, and then as many of its seeds as
it has, both with replacement (a hierarchical, or two-stage cluster, bootstrap; Davison and Hinkley, "Bootstrap Methods
and their Application", 1997, section 3.8). The interval is between percentiles of the statistic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

RESAMPLES = 1000
_ALIKE = 1e-9


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems of means over seeds, with its interval; `problems` and `values` stand behind it.

    `value` is None without values. The bounds are None where resampling can say nothing: one problem, or all alike.
    """

    value: float | None
    low: float | None
    high: float | None
    problems: int
    values: int


def mean_interval(
    values: Mapping[str, Sequence[float]], *, confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Mean:
    """The mean of `values` by problem, one value a seed; problems without a value are left out."""
    rows = [(tuple(row), (1.0,) * len(row)) for _, row in sorted(values.items()) if row]
    return _interval([(numbers, ones) for numbers, ones in rows], True, confidence, seed, resamples)


def ratio_interval(
    counts: Mapping[str, Sequence[tuple[float, float]]],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Mean:
    """The sum of the first numbers over the sum of the second ones, one pair a seed: a rate of candidates."""
    rows = [
        (tuple(float(part) for part, _ in row), tuple(float(whole) for _, whole in row))
        for _, row in sorted(counts.items())
        if any(whole for _, whole in row)
    ]
    return _interval(rows, False, confidence, seed, resamples)


_Row = tuple[tuple[float, ...], tuple[float, ...]]


def _interval(rows: Sequence[_Row], by_problem: bool, confidence: float, seed: int, resamples: int) -> Mean:
    count = sum(int(sum(wholes)) for _, wholes in rows)
    if not rows:
        return Mean(None, None, None, 0, 0)

    def statistic(drawn: Sequence[tuple[float, float]]) -> float | None:
        if by_problem:
            return fmean(part / whole for part, whole in drawn)
        whole = sum(whole for _, whole in drawn)
        return sum(part for part, _ in drawn) / whole if whole else None

    sums = [(sum(parts), sum(wholes)) for parts, wholes in rows]
    value = statistic(sums)
    if len(rows) == 1:
        return Mean(value, None, None, 1, count)
    random = Random(seed)
    several = any(len(parts) > 1 for parts, _ in rows)
    found: list[float] = []
    for _ in range(resamples):
        if several:
            drawn = [_redrawn(row, random) for row in random.choices(rows, k=len(rows))]
        else:
            drawn = random.choices(sums, k=len(rows))
        result = statistic(drawn)
        if result is not None:
            found.append(result)
    found.sort()
    if not found or found[-1] - found[0] < _ALIKE:
        return Mean(value, None, None, len(rows), count)
    tail = (1 - confidence) / 2
    low, high = (found[min(len(found) - 1, int(share * len(found)))] for share in (tail, 1 - tail))
    return Mean(value, low, high, len(rows), count)


def _redrawn(row: _Row, random: Random) -> tuple[float, float]:
    parts, wholes = row
    chosen = random.choices(range(len(parts)), k=len(parts))
    return sum(parts[i] for i in chosen), sum(wholes[i] for i in chosen)
