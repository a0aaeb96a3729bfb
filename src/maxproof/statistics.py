"""Rates with their uncertainty: Wilson intervals, Student's t, pass@k from raw counts, and errors made together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, pi, sqrt, tan
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Rate:
    """`successes` of `total`, with the interval [low, high] at the confidence it was made for; all in [0, 1]."""

    successes: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """In [0, 1]; 0 with nothing counted."""
        return self.successes / self.total if self.total else 0.0


def wilson(successes: int, total: int, confidence: float = 0.95) -> Rate:
    """The score interval of a proportion (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927); [0, 1] with nothing counted.

    Raises ValueError unless 0 <= successes <= total and 0 < confidence < 1.
    """
    if not 0 <= successes <= total or not 0 < confidence < 1:
        raise ValueError(f"{successes} of {total} at {confidence}")
    if total == 0:
        return Rate(0, 0, 0.0, 1.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p = successes / total
    scale = 1 + z * z / total
    middle = (p + z * z / (2 * total)) / scale
    half = z * sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / scale
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == total else min(1.0, middle + half)
    return Rate(successes, total, low, high)


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t with `freedom` >= 1 degrees.

    Exact for 1 and 2, else the expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5), which is right to 1 %.
    """
    if freedom == 1:
        return tan(pi * 0.475)
    if freedom == 2:
        return 0.95 * sqrt(2 / (1 - 0.95**2))
    x = NormalDist().inv_cdf(0.975)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
    )
    return x + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """The chance that at least one of k attempts, drawn without replacement from those made, is a success.

    1 - C(n - c, k) / C(n, k): the unbiased estimator (Chen et al., arXiv 2107.03374, equation 1).

    Raises ValueError unless 0 <= successes <= attempts and 1 <= k <= attempts.
    """
    if not 0 <= successes <= attempts or not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} of {successes} successes in {attempts} attempts")
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


@dataclass(frozen=True, slots=True)
class MeanRate:
    """A mean over problems with its interval; all in [0, 1]."""

    value: float
    low: float
    high: float


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int, confidence: float = 0.95) -> MeanRate:
    """pass@k averaged over problems, with the normal interval from the spread between problems.

    Where all problems are at 0 or all at 1 that spread says nothing, and the interval is Wilson's.

    Args:
        counts: (attempts, successes) of each problem.

    Raises ValueError for no problems, or as `pass_at_k`.
    """
    if not counts:
        raise ValueError("no problems")
    values = [pass_at_k(attempts, successes, k) for attempts, successes in counts]
    mean = sum(values) / len(values)
    if len(values) == 1:
        return MeanRate(mean, 0.0, 1.0)
    if mean in (0.0, 1.0):
        rate = wilson(round(mean * len(values)), len(values), confidence)
        return MeanRate(mean, rate.low, rate.high)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(variance / len(values))
    return MeanRate(mean, max(0.0, mean - half), min(1.0, mean + half))


def joint_error_rate(rates: Sequence[float], correlation: float) -> float:
    """Probability that judges with these error rates all err at once, 0..1, in the shared-draw model.

    Each decides by a draw that all share with probability sqrt(correlation), else by his own; those who share it all
    err iff it is below the least of their rates. Two judges of equal rates then have errors of that correlation. The
    lab's judges and the simulated model err by this rule.
    """
    share = sqrt(correlation)
    # In ascending order the first judge to share has the least rate of those who do; whether a later one shares is
    # then free: the sum over all sets of sharers is one pass from the last judge to the first.
    alone, later, total = 1.0, 1.0, 0.0
    for rate in sorted(rates, reverse=True):
        own = (1 - share) * rate
        total = share * rate * later + own * total
        later *= share + own
        alone *= own
    return alone + total
