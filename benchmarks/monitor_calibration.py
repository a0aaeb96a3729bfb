"""`python -m benchmarks.monitor_calibration`: simulates the thresholds of the alarms anew and writes their table.

Gaussian AR(1) readings of standard deviation 1: the baseline's mean and spread are estimated, the rest is standardised,
clipped and scanned just as `monitor/alarms.py` does it; the largest statistic of a run is one draw. A few minutes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from maxproof.monitor import alarms

BASELINES = (10, 15, 20, 30, 50, 100)
LENGTHS = (50, 100, 200, 500, 1000, 2000)
CHANCES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
AUTOCORRELATION = 0.3
RUNS, SEED = 200_000, 20260613
OUT = Path(alarms.__file__).parent / "alarm_thresholds.json"


def autoregressive(rng: np.random.Generator, runs: int, steps: int, autocorrelation: float) -> Any:
    """Stationary AR(1) noise of standard deviation 1, float32 [runs, steps]."""
    noise = rng.standard_normal((steps, runs), dtype=np.float32)
    scale = np.float32((1 - autocorrelation**2) ** 0.5)
    for step in range(1, steps):
        noise[step] = autocorrelation * noise[step - 1] + scale * noise[step]
    return noise.T


def largest(noise: Any, baseline: int, lengths: Sequence[int]) -> Any:
    """The largest statistic of each run within each number of steps after the baseline: [runs, lengths]."""
    head = noise[:, :baseline]
    mean, spread = head.mean(1, keepdims=True), head.std(1, ddof=1, keepdims=True)
    clipped = np.clip((noise[:, baseline:] - mean) / spread, -alarms.CLIP, alarms.CLIP)
    sums = np.concatenate([np.zeros((len(noise), 1), np.float32), np.cumsum(clipped, 1)], 1)
    found = np.full(clipped.shape, -np.inf, np.float32)
    for count in alarms.WINDOWS:
        if count <= clipped.shape[1]:
            scale = 1 / count / (1 / count + 1 / baseline) ** 0.5
            ends = (sums[:, count:] - sums[:, :-count]) * scale
            np.maximum(found[:, count - 1 :], ends, out=found[:, count - 1 :])
    return np.stack([found[:, :length].max(1) for length in lengths], 1)


def trend(noise: Any, baseline: int) -> Any:
    """The t statistic of the slope of each run's baseline: [runs]."""
    head = noise[:, :baseline] - noise[:, :baseline].mean(1, keepdims=True)
    place = np.arange(baseline) - (baseline - 1) / 2
    squares = (place**2).sum()
    slope = head @ place / squares
    rest = ((head - slope[:, None] * place) ** 2).sum(1) / (baseline - 2)
    return slope * np.sqrt(squares / rest)


def quantiles(baseline: int, runs: int = RUNS, autocorrelation: float = AUTOCORRELATION) -> Any:
    """The thresholds of one baseline size: [lengths + 1, chances], those of the trend last."""
    rng = np.random.default_rng([SEED, baseline])
    chunk = 2000
    draws = []
    for _ in range(runs // chunk):
        noise = autoregressive(rng, chunk, baseline + LENGTHS[-1], autocorrelation)
        draws.append(np.column_stack([largest(noise, baseline, LENGTHS), trend(noise, baseline)]))
    return np.quantile(np.concatenate(draws), [1 - chance for chance in CHANCES], axis=0).T


def main() -> None:
    found = {str(baseline): np.round(quantiles(baseline).astype(float), 3).tolist() for baseline in BASELINES}
    table = {
        "autocorrelation": AUTOCORRELATION,
        "runs": RUNS,
        "seed": SEED,
        "chances": CHANCES,
        "quantiles": {size: dict(zip(map(str, LENGTHS), rows, strict=False)) for size, rows in found.items()},
        "trends": {size: rows[-1] for size, rows in found.items()},
    }
    OUT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
