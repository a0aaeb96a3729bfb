"""Means over problems with their intervals, paired differences, and what can be said of them in words."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from maxproof.evaluation.study.types import Difference
from maxproof.statistics import wilson

if TYPE_CHECKING:
    import numpy as np

Z = NormalDist().inv_cdf(0.975)


def mean_interval(values: np.ndarray, scale: float = 1.0, most: float | None = None) -> tuple[float, float, float]:
    """(mean, low, high): the normal 95 % interval from the spread between problems; within [0, most] if that is given.

    Where all values are the same, their spread says nothing: the interval is then as wide as Wilson's for none of as
    many, times `scale`, the largest size of a value.

    Raises ValueError for no values.
    """
    if not len(values):
        raise ValueError("no values")
    mean = float(values.mean(dtype=float))
    if float(values.min()) == float(values.max()):
        half = wilson(0, len(values)).high * scale
    else:
        half = Z * float(values.std(dtype=float, ddof=1)) / sqrt(len(values))
    if most is None:
        return mean, mean - half, mean + half
    return mean, max(0.0, mean - half), min(most, mean + half)


def ratio_interval(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float, float] | None:
    """(ratio, low, high) of the sums of `parts` and `wholes` (problems,), with problems as clusters.

    The linearised (delta method) interval of a ratio estimator (Cochran, Sampling Techniques, 3rd ed., section 6.3);
    None if the wholes are all 0. In [0, 1].
    """
    total = float(wholes.sum(dtype=float))
    if total == 0:
        return None
    ratio = float(parts.sum(dtype=float)) / total
    residuals = parts - ratio * wholes
    n = len(parts)
    spread = float(residuals.std(dtype=float, ddof=1)) if n > 1 else 0.0
    half = Z * spread * sqrt(n) / total
    if spread == 0:
        half = wilson(0, round(total)).high
    return ratio, max(0.0, ratio - half), min(1.0, ratio + half)


def difference(arm: str, against: str, ours: np.ndarray, theirs: np.ndarray, scale: float = 1.0) -> Difference:
    """Paired by problem, both (problems,)."""
    return Difference(arm, against, *mean_interval(ours.astype(float) - theirs, scale))


def told_apart(found: Difference) -> bool:
    """Its interval does not hold 0."""
    return found.low > 0 or found.high < 0


def in_words(found: Difference, what: str = "points", percent: bool = False) -> str:
    """ "A has 0.12 more points than B (0.05 to 0.19)", or that they can't be told apart. Shares (`percent`) differ by
    percentage points."""
    unit = " percentage points" if percent else ""
    scale, least = (100, 1) if percent else (1, 2)
    value, low, high = (scale * number for number in (found.value, found.low, found.high))
    # A bound that would be rounded to 0 gets one digit more: its side of 0 is what the sentence says.
    digits = least + any(0 < abs(bound) < 0.5 * 10.0**-least for bound in (low, high))
    if not told_apart(found):
        between = f"{value:+.{digits}f}, {low:+.{digits}f} to {high:+.{digits}f}{unit}"
        return f"{found.arm} and {found.against} can't be told apart ({between})"
    more = "more" if value > 0 else "less"
    low, high = sorted((abs(low), abs(high)))
    size = f"{abs(value):.{digits}f}{unit} {more}"
    return f"{found.arm} has {size} {what} than {found.against} ({low:.{digits}f} to {high:.{digits}f})"
