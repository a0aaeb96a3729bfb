"""Intervals by resampling problems: what would differ with other problems and other luck.

Candidates and seeds of one problem are alike, so a problem is drawn with all of them (Davison and Hinkley, "Bootstrap
Methods and their Application", 1997, section 3.8). The interval is between percentiles of the statistic. Plain ones are
too narrow for few problems: those of a mean are taken as far out as Student's t asks for (T. C. Hesterberg, The
American Statistician 69, 2015, section 5.3). Simulated points in 0 or 7 are covered in 95 to 97 % from eight problems
on; in 93 % with six and 86 % with four, where the data don't reach that far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import NormalDist, fmean

from maxproof.statistics import student

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


def mean_interval(values: Mapping[str, Sequence[float]], *, seed: int = 0, resamples: int = RESAMPLES) -> Mean:
    """The mean of `values` by problem, one value a seed, at 95 %; problems without a value are left out."""
    rows = [(sum(row), float(len(row))) for _, row in sorted(values.items()) if row]
    freedom = len(rows) - 1
    tail = NormalDist().cdf(-sqrt(len(rows) / freedom) * student(freedom)) if freedom > 0 else 0.0

    def mean(drawn: Sequence[_Row]) -> float:
        return fmean(part / whole for part, whole in drawn)

    return _interval(rows, mean, tail, seed, resamples)


def ratio_interval(
    counts: Mapping[str, Sequence[tuple[float, float]]],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Mean:
    """The sum of the first numbers over the sum of the second ones, one pair a seed: a rate of candidates."""
    sums = {name: (sum(part for part, _ in row), sum(whole for _, whole in row)) for name, row in counts.items()}
    rows = [(float(part), float(whole)) for _, (part, whole) in sorted(sums.items()) if whole]

    def ratio(drawn: Sequence[_Row]) -> float:
        return sum(part for part, _ in drawn) / sum(whole for _, whole in drawn)

    return _interval(rows, ratio, (1 - confidence) / 2, seed, resamples)


_Row = tuple[float, float]
"""The sum over a problem's seeds, and what it is divided by, > 0."""


def _interval(
    rows: Sequence[_Row], statistic: Callable[[Sequence[_Row]], float], tail: float, seed: int, resamples: int
) -> Mean:
    count = round(sum(whole for _, whole in rows))
    if not rows:
        return Mean(None, None, None, 0, 0)
    value = statistic(rows)
    random = Random(seed)
    found = sorted(statistic(random.choices(rows, k=len(rows))) for _ in range(resamples)) if len(rows) > 1 else []
    if not found or found[-1] - found[0] < _ALIKE:
        return Mean(value, None, None, len(rows), count)
    low, high = (found[min(resamples - 1, int(share * resamples))] for share in (tail, 1 - tail))
    return Mean(value, low, high, len(rows), count)
