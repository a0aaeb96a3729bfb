"""From the sums by step to the report: all series, the hack score, the alarms with their examples.

A pure function of the sums, so that a file read at once, a file that grew, and a live trainer end with the same report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from maxproof.monitor.alarms import baseline_of, detect, one_sided_tests
from maxproof.monitor.hack_score import hack_score
from maxproof.monitor.settings import SMALLEST_BASELINE, MonitorSettings
from maxproof.monitor.signals import INFO, off, readings, risen_opener
from maxproof.monitor.stats import Stats
from maxproof.monitor.types import Alarm, Report, Series, Signal
from maxproof.problems.errors import InputError
from maxproof.statistics import Rate, wilson

_OF_OPENERS = (Signal.OPENER_SHIFT, Signal.OPENER_TOP_SHARE)


def report_of(
    stats: Stats, settings: MonitorSettings, source: str, *, growing: bool = False, trusted: Stats | None = None
) -> Report:
    """What the sums say.

    Args:
        source: what was read, for display.
        growing: the last step may not be complete; it has readings but can raise no alarm.
        trusted: rollouts of another run, whose first steps are the baseline instead. In the series and in `baseline`
            they stand before the run's first step; counts and rates are of the run alone. A signal of which they have
            too few readings is off.
    """
    whole = stats
    first = stats.steps[0] if stats.steps else 0
    if trusted is not None:
        whole = stats.preceded_by(trusted, baseline_window(trusted.steps, settings))
        settings = settings.model_copy(update={"baseline_steps": (whole.steps[0], first - 1)})
    window = baseline_window(whole.steps, settings)
    series = dict(readings(whole, window))
    missing = off(stats)
    gone = dict(missing)
    if trusted is not None:
        for signal, every in series.items():
            if signal not in gone and baseline_of(every, INFO[signal], settings) is None:
                gone[signal] = f"the rollouts of the baseline have it at fewer than {SMALLEST_BASELINE} steps"
        series = {signal: every for signal, every in series.items() if signal not in gone}
    if score := hack_score(series, INFO, settings):
        series[Signal.HACK_SCORE] = score
    else:
        gone[Signal.HACK_SCORE] = f"no signal has a full baseline yet, of {_wanted(settings)}"
    unfinished = stats.steps[-1] if growing and stats.steps else None
    return Report(
        source=source,
        rollouts=stats.rollouts,
        steps=len(stats.steps),
        series={signal: series[signal] for signal in INFO if signal in series},
        off=gone,
        alarms=_alarms(whole, series, settings, window, unfinished),
        false_positives=None if Signal.FALSE_POSITIVES in missing else _rate(stats.false_positives()),
        not_scored=None if Signal.NOT_SCORED in missing else _rate(stats.not_scored()),
        baseline=_full(whole.steps, window, settings, unfinished),
        unfinished=unfinished,
        own_from=None if trusted is None else first,
    )


def baseline_window(steps: Sequence[int], settings: MonitorSettings) -> Sequence[int]:
    """The steps of the baseline window, as far as they are there. A signal that has no reading at some of them takes
    further ones for its own baseline."""
    if settings.baseline_steps is None:
        return steps[: settings.baseline]
    first, last = settings.baseline_steps
    return [step for step in steps if first <= step <= last]


def check_trusted(
    trusted: Stats, settings: MonitorSettings, *, field: str = "trusted", file: Path | None = None
) -> None:
    """Raises InputError, which names `file` and `field`, where the rollouts don't fill a baseline."""
    found = len(baseline_window(trusted.steps, settings))
    wanted = SMALLEST_BASELINE if settings.baseline_steps else settings.baseline
    if found < wanted:
        raise InputError(
            f"a baseline of {wanted} steps is not full, there are {found}",
            file=file,
            field=field,
            hint=f"--baseline {found}, or MonitorSettings(baseline={found})" if found >= SMALLEST_BASELINE else None,
        )


def _alarms(
    stats: Stats,
    series: Mapping[Signal, Series],
    settings: MonitorSettings,
    window: Sequence[int],
    unfinished: int | None,
) -> tuple[Alarm, ...]:
    tests = one_sided_tests(INFO)
    found: list[Alarm] = []
    for signal, every in series.items():
        complete = tuple(reading for reading in every if reading.step != unfinished)
        found.extend(detect(complete, INFO[signal], settings, tests))
    found.sort(key=lambda alarm: (alarm.raised, alarm.signal, alarm.direction))
    return tuple(_with_examples(alarm, stats, window) for alarm in found)


def _with_examples(alarm: Alarm, stats: Stats, window: Sequence[int]) -> Alarm:
    opener = ""
    if alarm.signal in _OF_OPENERS:
        opener = risen_opener(stats, window, [step for step in stats.steps if alarm.began <= step <= alarm.raised])
    examples = stats.examples(alarm.signal, alarm.began, alarm.raised, alarm.direction, opener)
    return replace(alarm, examples=examples)


def _full(
    steps: Sequence[int], window: Sequence[int], settings: MonitorSettings, unfinished: int | None
) -> tuple[int, int] | None:
    if not window or unfinished in window:
        return None
    if settings.baseline_steps is None:
        return (window[0], window[-1]) if len(window) == settings.baseline else None
    return (window[0], window[-1]) if steps[-1] >= settings.baseline_steps[1] else None


def _wanted(settings: MonitorSettings) -> str:
    if settings.baseline_steps is None:
        return f"{settings.baseline} steps"
    return f"steps {settings.baseline_steps[0]}..{settings.baseline_steps[1]}"


def _rate(counts: tuple[int, int]) -> Rate:
    return wilson(*counts)
