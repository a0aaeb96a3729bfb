"""How error rates move with K: the minimum, or the majority, over k of the K samples that a proof has.

For a proof of which s of n scored samples pass, a set of k of them drawn at random passes

    all of it      with probability C(s, k) / C(n, k)                                       (the minimum)
    by majority    with probability sum over j > k/2 of C(s, j) C(n-s, k-j) / C(n, k)

so the mean over proofs is exact over all subsets (a U-statistic; W. Hoeffding, Ann. Math. Stat. 19, 1948): no draw is
made. Every k is computed on the same proofs, those with all K samples scored, so that the rates differ by k alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

from maxproof.evaluation.bootstrap import Mean
from maxproof.evaluation.calibrate.rates import by_problem_interval
from maxproof.evaluation.calibrate.types import Judged, Rule

EVERY_K = 16


@dataclass(frozen=True, slots=True)
class AtK:
    """Rates over k samples, each a mean over proofs, with intervals from resampling problems.

    `independent_positive`: the k-th power of the false-positive rate at k = 1: the minimum's if the samples of a proof
    were independent of each other and all wrong proofs alike. None without wrong proofs.
    """

    k: int
    min_positive: Mean
    min_negative: Mean
    majority_positive: Mean
    majority_negative: Mean
    independent_positive: float | None


@dataclass(frozen=True, slots=True)
class Draws:
    """Rates for k up to K, see `shown`; `left_out`: proofs that lack a scored sample."""

    rows: tuple[AtK, ...]
    wrong: int
    right: int
    left_out: int


def shown(most: int) -> tuple[int, ...]:
    """Every k up to 16, then powers of two, and the last."""
    return tuple(k for k in range(1, most + 1) if k <= EVERY_K or k == most or k & (k - 1) == 0)


def all_pass(passes: int, samples: int, k: int) -> float:
    """The chance that k of `samples`, of which `passes` pass, all pass."""
    return comb(passes, k) / comb(samples, k)


@cache
def most_pass(passes: int, samples: int, k: int) -> float:
    """The chance that more than half of k of them pass."""
    least = k // 2 + 1
    return sum(comb(passes, j) * comb(samples - passes, k - j) for j in range(least, k + 1)) / comb(samples, k)


def draws(proofs: Sequence[Judged], rule: Rule, pass_at: float, confidence: float, seed: int) -> Draws:
    """The rates of `rule` for k up to the largest number of samples that a proof has."""
    most = max((len(proof.samples) for proof in proofs), default=0)
    passes: dict[bool, dict[str, list[int]]] = {True: defaultdict(list), False: defaultdict(list)}
    whole = 0
    for proof in proofs:
        points = [value for sample in proof.samples if (value := rule(sample)) is not None]
        if most and len(points) == most:
            whole += 1
            passes[proof.right][proof.problem].append(sum(value >= pass_at for value in points))

    def mean(right: bool, k: int, share: Callable[[int, int, int], float]) -> Mean:
        """The mean error, an error being a pass of a wrong proof or a fail of a right one."""
        # One sum a problem: its proofs are resampled together.
        sums = {}
        for problem, counts in passes[right].items():
            passing = sum(share(count, most, k) for count in counts)
            sums[problem] = (len(counts) - passing if right else passing, float(len(counts)))
        return by_problem_interval(sums, confidence, seed)

    rows: list[AtK] = []
    for k in shown(most):
        positive = mean(False, k, all_pass)
        first = rows[0].min_positive.value if rows else positive.value
        rows.append(
            AtK(
                k,
                positive,
                mean(True, k, all_pass),
                mean(False, k, most_pass),
                mean(True, k, most_pass),
                first**k if first is not None else None,
            )
        )
    counts = {right: sum(map(len, passes[right].values())) for right in (False, True)}
    return Draws(tuple(rows), counts[False], counts[True], len(proofs) - whole)
