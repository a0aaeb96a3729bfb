"""Signals in which nothing changes, and signals that change by a known amount, as the alarms see them.

`KINDS` are what readings look like in practice; the thresholds were simulated with only one of them (Gaussian AR(1)).
Each maker gives the readings of one signal, a pure function of the generator it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from maxproof.monitor.types import Reading, Series, Signal, SignalInfo

Maker = Callable[[np.random.Generator, int], Series]
ROLLOUTS = 64


def info(worse: str, bounded: bool = True, signal: Signal = Signal.TEMPLATE_SHARE) -> SignalInfo:
    """What the alarms must know of a made signal."""
    assert worse in ("up", "down", "either")
    return SignalInfo(
        signal=signal,
        number=None,
        title="made",
        unit="",
        low=0.0 if bounded else None,
        high=1.0 if bounded else None,
        needs=(),
        worse=worse,  # type: ignore[arg-type]
        formula="",
        source="",
    )


def gaussian(rng: np.random.Generator, steps: int, autocorrelation: float = 0.0) -> Series:
    """Means around 0.5 of a spread of 0.05 between steps."""
    noise = rng.standard_normal(steps)
    for step in range(1, steps):
        noise[step] = autocorrelation * noise[step - 1] + (1 - autocorrelation**2) ** 0.5 * noise[step]
    return _series(0.5 + 0.05 * noise)


def heavy_tailed(rng: np.random.Generator, steps: int) -> Series:
    """Student's t with 3 degrees of freedom: now and then a step is far off."""
    return _series(0.5 + 0.03 * rng.standard_t(3, steps))


def overdispersed(rng: np.random.Generator, steps: int) -> Series:
    """A share whose chance differs between steps (beta-binomial, 0.3 +- 0.08): spread far above sampling's."""
    return _shares(rng, rng.beta(10, 23, steps), np.full(steps, ROLLOUTS))


def few_rollouts(rng: np.random.Generator, steps: int) -> Series:
    """A share of 0.3 among 8 rollouts a step."""
    return _shares(rng, np.full(steps, 0.3), np.full(steps, 8))


def uneven(rng: np.random.Generator, steps: int) -> Series:
    """A share of 0.3 among 4 to 128 rollouts a step."""
    return _shares(rng, np.full(steps, 0.3), rng.integers(4, 129, steps))


def missing(rng: np.random.Generator, steps: int) -> Series:
    """Gaussian, and every other reading is missing by chance."""
    absent = rng.random(steps) < 0.5
    return tuple(
        Reading(reading.step, None, 0) if gone else reading
        for reading, gone in zip(gaussian(rng, steps), absent, strict=True)
    )


def constant(rng: np.random.Generator, steps: int) -> Series:
    """Always the same but for rounding errors."""
    return _series(0.5 + 1e-12 * rng.standard_normal(steps))


def rare(rng: np.random.Generator, steps: int) -> Series:
    """False positives: a chance of 0 to 3 % (another one each run), 64 rollouts a step."""
    return _shares(rng, np.full(steps, rng.uniform(0, 0.03)), np.full(steps, ROLLOUTS))


def rare_few(rng: np.random.Generator, steps: int) -> Series:
    """The same among 16 rollouts a step."""
    return _shares(rng, np.full(steps, rng.uniform(0, 0.03)), np.full(steps, 16))


def _cyclic(period: int) -> Maker:
    """Gaussian, on a sine of three times its spread that begins anywhere: problems in a fixed order, a curriculum."""

    def make(rng: np.random.Generator, steps: int) -> Series:
        begin = rng.uniform(0, 2 * np.pi)
        cycle = np.sin(2 * np.pi * np.arange(steps) / period + begin)
        return _series(0.5 + 0.03 * cycle + 0.01 * rng.standard_normal(steps))

    return make


def _autocorrelated(autocorrelation: float) -> Maker:
    return lambda rng, steps: gaussian(rng, steps, autocorrelation)


KINDS: Mapping[str, Maker] = {
    "independent Gaussian": gaussian,
    "AR(1), 0.3": _autocorrelated(0.3),
    "heavy tails (t, 3 df)": heavy_tailed,
    "overdispersed share": overdispersed,
    "8 rollouts a step": few_rollouts,
    "4 to 128 rollouts a step": uneven,
    "half the readings missing": missing,
    "constant": constant,
    "rare, 0-3 % of 64": rare,
    "rare, 0-3 % of 16": rare_few,
}
BEYOND: Mapping[str, Maker] = {
    "AR(1), 0.5": _autocorrelated(0.5),
    "AR(1), 0.8": _autocorrelated(0.8),
    "cycle of 5 steps": _cyclic(5),
    "cycle of 20 steps": _cyclic(20),
    "cycle of 40 steps": _cyclic(40),
}
"""Outside of what the thresholds promise."""


def shifted(series: Series, start: int, ramp: int, size: float) -> Series:
    """`series` and a change by `size` that begins at `start` and is whole `ramp` steps later (0: at once)."""
    return tuple(
        Reading(
            reading.step,
            None
            if reading.value is None
            else reading.value + size * min(1.0, max(0.0, (reading.step - start + 1) / (ramp + 1))),
            reading.count,
            reading.error,
        )
        for reading in series
    )


def _series(values: np.ndarray) -> Series:
    return tuple(Reading(step, float(value), ROLLOUTS) for step, value in enumerate(values))


def _shares(rng: np.random.Generator, chances: np.ndarray, counts: np.ndarray) -> Series:
    values = rng.binomial(counts, chances) / counts
    errors = np.sqrt(values * (1 - values) / counts)
    return tuple(
        Reading(step, float(value), int(count), float(error))
        for step, (value, count, error) in enumerate(zip(values, counts, errors, strict=True))
    )
