"""How the openers of one step differ from those of others, corrected for what chance alone does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import exp, lgamma, pi, sqrt

_EXACT = 25


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
    names = sorted(here.keys() | there.keys())
    apart = sum(abs(here.get(name, 0) / n - there.get(name, 0) / m) for name in names)
    rest = abs((n - sum(here.values())) / n - (m - sum(there.values())) / m)
    return (apart + rest) / 2


def chance_variation(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> float:
    """The total variation to expect if the n rollouts were drawn at random from all n + m: its mean over permutations.

    Of an opener that k of them have, hypergeometrically many X are among the n. E|X/n - (k-X)/m| is summed up exactly
    for k <= 25, and is that of a folded normal of the same variance for more.
    """
    names = sorted(here.keys() | there.keys())
    kinds = Counter(here.get(name, 0) + there.get(name, 0) for name in names)
    kinds[max(0, n + m - sum(here.values()) - sum(there.values()))] += 1
    return sum(times * _apart(k, n, m) for k, times in sorted(kinds.items())) / 2


def _apart(k: int, n: int, m: int) -> float:
    if not k:
        return 0.0
    if k > _EXACT:
        p = k / (n + m)
        variance = n * p * (1 - p) * m / max(1, n + m - 1)
        return (1 / n + 1 / m) * sqrt(2 * variance / pi)
    most = _log_choose(n + m, k)
    return sum(
        exp(_log_choose(n, x) + _log_choose(m, k - x) - most) * abs(x / n - (k - x) / m)
        for x in range(max(0, k - m), min(k, n) + 1)
    )


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def shift(here: Mapping[str, int], n: int, there: Mapping[str, int], m: int) -> tuple[float, float]:
    """(total variation beyond chance, its standard error).

    TV - c with c by `chance_variation`: 0 on average when nothing changed, whatever n, m and the number of openers, so
    that small steps don't look different; at most 1 - c. The standard error is that of a sum of shares with the signs
    of the differences: where nothing changed an upper bound.
    """
    value = total_variation(here, n, there, m) - chance_variation(here, n, there, m)
    signed_here = signed_there = 0.0
    for name in sorted(here.keys() | there.keys()):
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
