"""How the openers of one step differ from those of others, corrected for what chance alone does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import pi, sqrt


def pooled(counters: Iterable[Mapping[str, int]]) -> Counter[str]:
    """The sum of several counts."""
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def total_variation(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> float:
    """Half the sum over openers of |share here - share there|, in [0, 1].

    What the counts leave of the n and m rollouts, openers too rare to be kept, is taken as one opener more.
    """
    names = here.keys() | there.keys()
    apart = sum(abs(here.get(name, 0) / n - there.get(name, 0) / m) for name in names)
    rest = abs((n - sum(here.values())) / n - (m - sum(there.values())) / m)
    return (apart + rest) / 2


def chance_variation(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> float:
    """The total variation to expect if both are samples, of n and m, of one distribution: that of both together.

    For a share p, E|X/n - Y/m| is about sqrt(2 p (1-p) (1/n + 1/m) / pi), the mean of a folded normal, and never more
    than 2p, which holds the sum down where openers are many and rare.
    """
    expected = 0.0
    seen = 0
    for name in here.keys() | there.keys():
        both = here.get(name, 0) + there.get(name, 0)
        seen += both
        expected += _apart(both / (n + m), n, m)
    return (expected + _apart(max(0, n + m - seen) / (n + m), n, m)) / 2


def _apart(p: float, n: int, m: int) -> float:
    return min(2 * p, sqrt(2 * p * (1 - p) * (1 / n + 1 / m) / pi))


def shift(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> tuple[float, float]:
    """(corrected total variation, its standard error).

    (TV - c) / (1 - c) with c by `chance_variation`: about 0 when nothing changed, whatever n and m, and chance can push
    it a little below; 1 when nothing is in common. The standard error is that of a sum of shares with the signs of the
    differences, at its largest (half of 1/sqrt(n) and 1/sqrt(m) together): an upper bound.
    """
    chance = min(chance_variation(here, n, there, m), 0.999)
    value = (total_variation(here, n, there, m) - chance) / (1 - chance)
    signed_here = signed_there = 0.0
    for name in here.keys() | there.keys():
        p, q = here.get(name, 0) / n, there.get(name, 0) / m
        sign = 1 if p > q else -1
        signed_here += sign * p
        signed_there += sign * q
    variance = max(0.0, 1 - signed_here**2) / n + max(0.0, 1 - signed_there**2) / m
    return value, max(sqrt(variance) / 2, 0.5 / n)


def risen(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> tuple[str, float, float]:
    """(opener whose share rose most, its share there, its share here); the first in the alphabet of several."""
    return max(
        ((name, there.get(name, 0) / m, count / n) for name, count in sorted(here.items())),
        key=lambda found: found[2] - found[1],
        default=("", 0.0, 0.0),
    )
