"""Bootstrap intervals of means over problems, where each problem has a value for each of its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np

from maxproof.statistics import student, wilson

DRAWS = 2000
_CHUNK = 200


def bootstrap(clusters: Sequence[Sequence[float]], scale: float = 1.0, seed: int = 0) -> tuple[float, float, float]:
    """(mean, low, high) of all values, with the 95 % expanded percentile interval over resampled problems.

    Problems are drawn with all their seeds, since the seeds of one problem are alike (B. Efron, Ann. Stat. 7, 1979;
    clusters: A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, section 3.8). Plain percentiles
    are too narrow for few problems: they are taken as far out as Student's t asks for (T. C. Hesterberg, The American
    Statistician 69, 2015, section 5.3); with less than six the data don't reach that far, and it stays too narrow.
    Where all problems have the same mean, their spread says nothing: the interval is then as wide as Wilson's for none
    of as many problems, times `scale`, the largest size of a value.

    Args:
        clusters: the values of each problem; problems without any are left out.

    Raises ValueError if no value is left.
    """
    kept = [cluster for cluster in clusters if len(cluster)]
    if not kept:
        raise ValueError("no values")
    sums = np.array([sum(cluster) for cluster in kept], dtype=np.float64)
    counts = np.array([len(cluster) for cluster in kept], dtype=np.float64)
    middle = float(sums.sum() / counts.sum())
    means = sums / counts
    if float(means.max() - means.min()) < 1e-12:
        half = wilson(0, len(kept)).high * scale
        return middle, middle - half, middle + half
    rng = np.random.default_rng(seed)
    drawn = []
    for start in range(0, DRAWS, _CHUNK):
        picked = rng.integers(len(kept), size=(min(_CHUNK, DRAWS - start), len(kept)))
        drawn.append(sums[picked].sum(axis=1) / counts[picked].sum(axis=1))
    tail = NormalDist().cdf(-sqrt(len(kept) / (len(kept) - 1)) * student(len(kept) - 1))
    low, high = np.quantile(np.concatenate(drawn), [tail, 1 - tail])
    return middle, float(low), float(high)
