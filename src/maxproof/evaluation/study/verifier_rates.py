"""How often the minimum over K samples errs: measured on the model's first proofs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from maxproof.evaluation.study.estimates import ratio_interval
from maxproof.evaluation.study.model import RIGHT, TOP, Draws, Model
from maxproof.evaluation.study.parameters import SimulatorSettings
from maxproof.evaluation.study.runs import blocks
from maxproof.evaluation.study.types import Curve

KINDS = ("false positives", "false negatives")


def counts(model: Model, proofs: int, samples: Sequence[int]) -> np.ndarray:
    """(kinds, samples, 2, problems): errors of the minimum over K, and the proofs that could give one.

    A false positive passes a wrong proof (no blind spot of the verifier is left out), a false negative faults a right
    one.

    Args:
        proofs: first proofs of each problem.
        samples: the K, ascending.
    """
    rows = np.arange(model.draws.problems)
    columns = range(proofs)
    found = model.fresh(rows, columns)
    right = found.grade == RIGHT
    result = np.zeros((len(KINDS), len(samples), 2, len(rows)))
    z = np.full(right.shape, -np.inf, dtype=np.float32)
    run = 0
    for place, size in enumerate(samples):
        for sample in range(run, size):
            z = np.maximum(z, model.leniency(rows, columns, found.shared, sample))
        run = size
        passes = model.report(found, z) == TOP
        result[0, place] = (passes & ~right).sum(axis=1), (~right).sum(axis=1)
        result[1, place] = (~passes & right).sum(axis=1), right.sum(axis=1)
    return result


def rate_curves(
    settings: Mapping[str, SimulatorSettings],
    proofs: int,
    samples: Sequence[int],
    seeds: Iterable[int],
    problems: int,
) -> tuple[Curve, ...]:
    """The two rates over K, one line for each of the settings, by name."""
    parts: dict[str, list[np.ndarray]] = {name: [] for name in settings}
    for seed, block, size in blocks(seeds, problems):
        draws = Draws(seed, block, size)
        for name, chosen in settings.items():
            parts[name].append(counts(Model(chosen, draws), proofs, samples))
    whole = {name: np.concatenate(found, axis=-1) for name, found in parts.items()}
    curves = []
    for kind, title in enumerate(KINDS):
        lines = {}
        for name, found in whole.items():
            rates = [ratio_interval(*found[kind, place]) for place in range(len(samples))]
            lines[name] = tuple((float(k), *rate) for k, rate in zip(samples, rates, strict=True) if rate is not None)
        curves.append(Curve(f"{title} of the minimum", "K, samples", lines))
    return tuple(curves)
