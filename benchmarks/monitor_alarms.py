"""The alarms: how often they are false, and how late they are when they are right.

A run is as many signals as the monitor has, each watched for 200 steps after its baseline. A run counts as false when
any of its signals raises an alarm.
"""

from __future__ import annotations

import numpy as np

from benchmarks.monitor_null import BEYOND, KINDS, Maker, gaussian, info, shifted
from benchmarks.report import print_table
from maxproof.monitor.alarms import detect, one_sided_tests
from maxproof.monitor.settings import MonitorSettings
from maxproof.monitor.signals import INFO
from maxproof.statistics import Rate, wilson

STEPS, BASELINES = 200, (10, 20, 50)
SPREAD = 0.05
"""Of the readings of `gaussian`."""


def false_alarm_rate(make: Maker, settings: MonitorSettings, runs: int, seed: int) -> Rate:
    """Runs with any alarm, of runs in which nothing changes."""
    tests = one_sided_tests(INFO)
    return wilson(sum(_any_alarm(make, settings, tests, [seed, run]) for run in range(runs)), runs)


def _any_alarm(make: Maker, settings: MonitorSettings, tests: int, seed: list[int]) -> bool:
    rng = np.random.default_rng(seed)
    steps = settings.baseline + STEPS
    # All series are made before any is looked at, so that the draws of one don't depend on the alarms of another.
    made = [(make(rng, steps), signal) for signal in INFO.values()]
    return any(detect(series, info(signal.worse), settings, tests) for series, signal in made)


def delays(
    size: float, ramp: int, settings: MonitorSettings, runs: int, seed: int
) -> tuple[list[int | None], list[int]]:
    """Steps from a change by `size` spreads to its alarm (None: not found), and errors of the step it began."""
    tests = one_sided_tests(INFO)
    start = settings.baseline + 30
    late: list[int | None] = []
    off: list[int] = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        series = shifted(gaussian(rng, settings.baseline + STEPS, 0.3), start, ramp, size * SPREAD)
        found = [alarm for alarm in detect(series, info("up"), settings, tests) if alarm.raised >= start]
        late.append(found[0].raised - start if found else None)
        if found:
            off.append(found[0].began - start)
    return late, off


def run(quick: bool) -> None:
    """Prints the tables of `docs/monitor-alarms.md`."""
    runs = 20 if quick else 1000
    rows = []
    for name, make in [*KINDS.items(), *BEYOND.items()]:
        rates = [false_alarm_rate(make, MonitorSettings(baseline=size), runs, 1) for size in BASELINES]
        rows.append([name, *(f"{rate.value:.1%} ({rate.low:.1%}-{rate.high:.1%})" for rate in rates)])
    print_table(
        f"runs of {STEPS} steps x {len(INFO)} signals with a false alarm; promised: at most 5 %; {runs} runs each",
        ["readings", *(f"baseline {size}" for size in BASELINES)],
        rows,
    )
    rows = []
    for size in (1.0, 1.5, 2.0, 3.0, 5.0, 10.0):
        for ramp in (0, 50):
            cells = []
            for baseline in BASELINES:
                late, off = delays(size, ramp, MonitorSettings(baseline=baseline), runs // 2, 2)
                cells.append(_delay_cell(late, off))
            rows.append([f"{size:g}", "at once" if ramp == 0 else f"over {ramp} steps", *cells])
    print_table(
        "steps from a change to its alarm: median, 95th percentile, share found within 170; median error of its begin",
        ["change, spreads", "how", *(f"baseline {size}" for size in BASELINES)],
        rows,
    )


def _delay_cell(late: list[int | None], off: list[int]) -> str:
    found = sorted(delay for delay in late if delay is not None)
    if not found:
        return "not found"
    median, high = np.percentile(found, [50, 95])
    return f"{median:.0f}, {high:.0f}, {len(found) / len(late):.0%}; {np.median(off):+.0f}"
