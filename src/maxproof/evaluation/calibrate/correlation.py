"""Whether judges err together: phi of their errors, and what the minimum over them gains or loses by it.

For two judges who err with rates p and q, and both at once with rate b:

    phi = (b - p q) / sqrt(p (1-p) q (1-q))          the correlation of two yes/no variables
    rho = (b - p q) / (min(p, q) - p q)              how much of what they could share they do share

rho is the parameter of the shared-draw model (`joint_error_rate`): with probability rho both decide by one draw. It
equals phi for equal rates, and like phi is 0 for independent judges; unlike phi it reaches 1 for unequal rates too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import atanh, fsum, prod, sqrt, tanh
from statistics import NormalDist, fmean

from maxproof.evaluation.calibrate.rates import rate_over
from maxproof.evaluation.calibrate.types import Judged
from maxproof.statistics import Rate, joint_error_rate

_Table = Counter[tuple[bool, bool]]
_CELLS = ((True, True), (True, False), (False, True), (False, False))


@dataclass(frozen=True, slots=True)
class PairErrors:
    """Two judges on proofs of one kind, over the judgements where both are scored.

    Attributes:
        both: rate at which both err. product: what that would be if they were independent.
        phi, rho: see the module; None where a judge always or never errs.
        low, high: of phi, from leaving out one problem at a time; None where that says nothing.
    """

    first: str
    second: str
    both: Rate
    product: float
    phi: float | None
    rho: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PanelErrors:
    """All judges on proofs of one kind, over the judgements where all are scored.

    Attributes:
        right: whether these are the right proofs; an error is then a fail, else a pass.
        all_err: rate at which all err; on wrong proofs that is the false-positive rate of the minimum.
        any_errs: rate at which one errs at least; on right proofs the false-negative rate of the minimum.
        independent_all, independent_any: what these would be for independent judges with the same rates.
        modelled_all: `all_err` in the shared-draw model at the mean rho of the pairs; None without.
    """

    right: bool
    pairs: tuple[PairErrors, ...]
    all_err: Rate
    any_errs: Rate
    independent_all: float
    independent_any: float
    modelled_all: float | None


def panel_errors(
    proofs: Sequence[Judged], names: Sequence[str], right: bool, pass_at: float, confidence: float
) -> PanelErrors:
    """How the judges err together on the proofs that are `right`, or on those that are not."""
    rows: list[tuple[str, dict[str, bool]]] = []
    for proof in proofs:
        if proof.right is right:
            for sample in proof.samples:
                errors = {
                    name: (points < pass_at) is right for name, points in sample.points.items() if points is not None
                }
                if errors:
                    rows.append((proof.problem, errors))
    pairs = tuple(_pair(first, second, rows, confidence) for first, second in combinations(names, 2))
    whole = [errors for _, errors in rows if len(errors) == len(names)]
    problems = len({problem for problem, errors in rows if len(errors) == len(names)})
    rates = [fmean(errors[name] for errors in whole) for name in names] if whole else []
    rhos = [pair.rho for pair in pairs if pair.rho is not None]
    modelled = joint_error_rate(rates, min(1.0, max(0.0, fmean(rhos)))) if rates and rhos else None
    return PanelErrors(
        right,
        pairs,
        rate_over(sum(all(errors.values()) for errors in whole), len(whole), problems, confidence),
        rate_over(sum(any(errors.values()) for errors in whole), len(whole), problems, confidence),
        prod(rates) if rates else 0.0,
        1 - prod(1 - rate for rate in rates) if rates else 0.0,
        modelled,
    )


def phi_of(table: Mapping[tuple[bool, bool], int]) -> float | None:
    """phi of a two by two table of counts; None where a row or a column is empty."""
    a, b, c, d = (table.get(key, 0) for key in _CELLS)
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return (a * d - b * c) / sqrt(below) if below else None


def _pair(first: str, second: str, rows: Sequence[tuple[str, Mapping[str, bool]]], confidence: float) -> PairErrors:
    tables: dict[str, _Table] = defaultdict(Counter)
    for problem, errors in rows:
        if first in errors and second in errors:
            tables[problem][errors[first], errors[second]] += 1
    table: _Table = Counter()
    for found in tables.values():
        table.update(found)
    total = table.total()
    p = (table[True, True] + table[True, False]) / total if total else 0.0
    q = (table[True, True] + table[False, True]) / total if total else 0.0
    both = rate_over(table[True, True], total, len(tables), confidence)
    phi = phi_of(table)
    rho = (both.value - p * q) / (min(p, q) - p * q) if phi is not None else None
    low, high = _interval(list(tables.values()), confidence) if phi is not None else (None, None)
    return PairErrors(first, second, both, p * q, phi, rho, low, high)


def _interval(tables: Sequence[_Table], confidence: float) -> tuple[float | None, float | None]:
    """phi plus and minus its error from leaving out one problem at a time, on Fisher's z scale.

    The delete-one jackknife over clusters (B. Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", 1982,
    chapter 3); none with fewer than two problems, with |phi| = 1, or where a problem can't be left out.
    """
    whole: _Table = Counter()
    for table in tables:
        whole.update(table)
    phi = phi_of(whole)
    # Problems with the same table change phi in the same way.
    kinds = Counter(tuple(table[key] for key in _CELLS) for table in tables)
    left: list[tuple[float, int]] = []
    for cells, count in kinds.items():
        found = phi_of({key: whole[key] - cell for key, cell in zip(_CELLS, cells, strict=True)})
        if found is None or abs(found) >= 1:
            return None, None
        left.append((atanh(found), count))
    if phi is None or abs(phi) >= 1 or len(tables) < 2:
        return None, None
    total = len(tables)
    mean = fsum(value * count for value, count in left) / total
    error = sqrt((total - 1) / total * fsum(count * (value - mean) ** 2 for value, count in left))
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return tanh(atanh(phi) - half), tanh(atanh(phi) + half)
