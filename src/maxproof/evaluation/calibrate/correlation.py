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
from math import prod, sqrt
from random import Random
from statistics import fmean

from maxproof.evaluation.bootstrap import RESAMPLES
from maxproof.evaluation.calibrate.types import Judged
from maxproof.statistics import Rate, joint_error_rate, wilson

MIN_DEFINED = 0.9
"""Of the resamples; with fewer in which phi is defined, it has no interval."""

_Table = Counter[tuple[bool, bool]]


@dataclass(frozen=True, slots=True)
class PairErrors:
    """Two judges on proofs of one kind, over the judgements where both are scored.

    Attributes:
        both: rate at which both err. product: what that would be if they were independent.
        phi, rho: see the module; None where a judge always or never errs.
        low, high: of phi, from resampling problems; None where that says nothing.
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
    proofs: Sequence[Judged], names: Sequence[str], right: bool, pass_at: float, confidence: float, seed: int
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
    pairs = tuple(_pair(first, second, rows, confidence, seed) for first, second in combinations(names, 2))
    whole = [errors for _, errors in rows if len(errors) == len(names)]
    rates = [fmean(errors[name] for errors in whole) for name in names] if whole else []
    rhos = [pair.rho for pair in pairs if pair.rho is not None]
    modelled = joint_error_rate(rates, min(1.0, max(0.0, fmean(rhos)))) if rates and rhos else None
    return PanelErrors(
        right,
        pairs,
        wilson(sum(all(errors.values()) for errors in whole), len(whole), confidence),
        wilson(sum(any(errors.values()) for errors in whole), len(whole), confidence),
        prod(rates) if rates else 0.0,
        1 - prod(1 - rate for rate in rates) if rates else 0.0,
        modelled,
    )


def phi_of(table: Mapping[tuple[bool, bool], int]) -> float | None:
    """phi of a two by two table of counts; None where a row or a column is empty."""
    a, b, c, d = (table.get(key, 0) for key in ((True, True), (True, False), (False, True), (False, False)))
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return (a * d - b * c) / sqrt(below) if below else None


def _pair(
    first: str, second: str, rows: Sequence[tuple[str, Mapping[str, bool]]], confidence: float, seed: int
) -> PairErrors:
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
    both = wilson(table[True, True], total, confidence)
    phi = phi_of(table)
    rho = (both.value - p * q) / (min(p, q) - p * q) if phi is not None else None
    low, high = _interval(list(tables.values()), confidence, seed) if phi is not None else (None, None)
    return PairErrors(first, second, both, p * q, phi, rho, low, high)


def _interval(tables: Sequence[_Table], confidence: float, seed: int) -> tuple[float | None, float | None]:
    """Percentiles of phi over resampled problems (a cluster bootstrap)."""
    if len(tables) < 2:
        return None, None
    random = Random(seed)
    keys = ((True, True), (True, False), (False, True), (False, False))
    cells = [tuple(table[key] for key in keys) for table in tables]
    found: list[float] = []
    for _ in range(RESAMPLES):
        sums = [sum(column) for column in zip(*random.choices(cells, k=len(cells)), strict=True)]
        phi = phi_of(dict(zip(keys, sums, strict=True)))
        if phi is not None:
            found.append(phi)
    if len(found) < MIN_DEFINED * RESAMPLES:
        return None, None
    found.sort()
    tail = (1 - confidence) / 2
    return found[int(tail * len(found))], found[min(len(found) - 1, int((1 - tail) * len(found)))]
