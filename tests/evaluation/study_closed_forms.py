"""Closed forms that the simulator is held against."""

from __future__ import annotations

from math import exp, pi, sqrt
from statistics import NormalDist

from maxproof.evaluation.study.model import quantile


def pass_all(rate: float, samples: int, rho: float, steps: int = 4001) -> float:
    """The chance that all of `samples` err, each with `rate`, their latent errors correlated by `rho` in [0, 1].

    Independent: rate^samples. In general E[Phi((t - sqrt(rho) S) / sqrt(1 - rho))^samples] over a standard normal S,
    with t the quantile of the rate (Vasicek, Risk 15, 2002), by the trapezoid rule on [-8, 8].
    """
    if rate in (0, 1) or samples == 1 or rho >= 1:
        return rate
    normal, level = NormalDist(), quantile(rate)
    width = 16 / (steps - 1)
    total = 0.0
    for step in range(steps):
        s = -8 + width * step
        total += exp(-s * s / 2) * normal.cdf((level - sqrt(rho) * s) / sqrt(1 - rho)) ** samples
    return total * width / sqrt(2 * pi)
