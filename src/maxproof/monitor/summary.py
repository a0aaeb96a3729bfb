"""What a report says in words and figures: the dashboard, the terminal and the exporters tell the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from maxproof.monitor.signals import INFO
from maxproof.monitor.types import FP_ORACLE, FP_TRAIN, Alarm, Example, Report, Signal, SignalInfo
from maxproof.statistics import Rate

NAMED_ALARMS = 4
"""In the headline; the earliest are the ones to look at."""
_BARE = ("score", "distance")

State = Literal["alarm", "quiet", "unknown"]


@dataclass(frozen=True, slots=True)
class Window:
    """A series over the baseline window: mean and sample standard deviation of its `steps` readings."""

    mean: float
    std: float
    steps: int


def state(report: Report) -> State:
    """`alarm` with one; `unknown` while no baseline window is full or no signal has a value; else `quiet`."""
    if report.alarms:
        return "alarm"
    measured = any(reading.value is not None for series in report.series.values() for reading in series)
    return "quiet" if measured and report.baseline is not None else "unknown"


def headline(report: Report) -> str:
    """The outcome in one sentence."""
    match state(report):
        case "alarm":
            moved = list(dict.fromkeys(f"{_title(a.signal)} {a.direction}" for a in report.alarms))
            more = [f"{len(moved) - NAMED_ALARMS} more"] if len(moved) > NAMED_ALARMS else []
            return f"{_count(len(report.alarms), 'alarm')}: {'; '.join(moved[:NAMED_ALARMS] + more)}"
        case "quiet":
            return f"Quiet: no alarm in {_count(len(report.series), 'signal')} over {_count(report.steps, 'step')}"
        case "unknown":
            return f"Nothing can be said yet: {_why_unknown(report)}"


def _why_unknown(report: Report) -> str:
    if report.rollouts == 0:
        return "no rollouts were read"
    if report.baseline is None:
        return f"the baseline window is not full after {_count(report.steps, 'step')}"
    return "no signal has what it needs"


def alarm_line(alarm: Alarm) -> str:
    """One alarm: what moved, how far, since when. `detail` is left out: it may be hostile."""
    info = INFO[alarm.signal]
    size = f"{figure(alarm.baseline, info)} to {number(alarm.value, info)}{_ratio(alarm)}"
    return (
        f"{info.title} went {alarm.direction}: {size}, {abs(alarm.sigmas):.1f} standard deviations of a baseline "
        f"reading; began at step {alarm.began}, raised at step {alarm.raised}"
    )


def _ratio(alarm: Alarm) -> str:
    """The change relative to the baseline, where that is no small number that makes it meaningless."""
    low = INFO[alarm.signal].low
    if low is None or low < 0 or alarm.baseline <= 0 or not 0.1 <= alarm.value / alarm.baseline <= 10:
        return ""
    return f" ({100 * (alarm.value / alarm.baseline - 1):+.0f} %)"


def counted(report: Report) -> tuple[str, ...]:
    """The rates over everything and what was not measured, one sentence each."""
    lines = []
    if (rate := report.false_positives) is not None and rate.total:
        lines.append(
            f"False positives (train reward >= {FP_TRAIN}, oracle <= {FP_ORACLE}): {interval(rate)} of "
            f"{_count(rate.total, 'rollout')} with both scores"
        )
    elif rate is None:
        lines.append("False positives: not measured, since no rollouts have both a train reward and an oracle score")
    if (rate := report.not_scored) is not None:
        lines.append(
            f"Not scored: {share(rate.value)} of {_count(rate.total, 'rollout')} have no train reward; they count as "
            "unknown, never as 0"
        )
    else:
        lines.append("Train rewards: not there")
    if report.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.skipped.items()))
        lines.append(f"Skipped lines: {reasons}")
    if report.unfinished is not None:
        lines.append(f"Step {report.unfinished} may still grow: no alarm looks at it yet")
    return tuple(lines)


def interval(rate: Rate) -> str:
    """`5.3 % [4.1, 6.8]`, the interval at 95 %."""
    return f"{share(rate.value)} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def share(value: float) -> str:
    """A share as a percentage."""
    return f"{100 * value:.1f} %"


def number(value: float | None, info: SignalInfo) -> str:
    """A value with its unit, if that says more than the signal's name; `none` where there is none."""
    bare = value is None or is_share(info) or info.unit in _BARE
    return figure(value, info) if bare else f"{figure(value, info)} {info.unit}"


def is_share(info: SignalInfo) -> bool:
    """Its values are shares of something, told as percentages."""
    return info.unit.startswith("share")


def figure(value: float | None, info: SignalInfo) -> str:
    """A value without its unit, of which a percentage needs none."""
    if value is None:
        return "none"
    if is_share(info):
        return share(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def baseline_window(report: Report, signal: Signal) -> Window | None:
    """What the series was in the baseline window; None without a window or with no value there."""
    if report.baseline is None:
        return None
    first, last = report.baseline
    series = report.series.get(signal, ())
    values = [r.value for r in series if r.value is not None and first <= r.step <= last]
    if not values:
        return None
    mean = sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values)
    return Window(mean, sqrt(spread / (len(values) - 1)) if len(values) > 1 else 0.0, len(values))


def alarms_by_signal(alarms: Sequence[Alarm]) -> Mapping[Signal, tuple[Alarm, ...]]:
    """Alarms of each signal that has any, in their order."""
    found: dict[Signal, tuple[Alarm, ...]] = {}
    for alarm in alarms:
        found[alarm.signal] = (*found.get(alarm.signal, ()), alarm)
    return found


def example_line(example: Example) -> str:
    """Which rollout an example is, and what it adds to the signal. The problem's name may be hostile."""
    place = [f"step {example.step}"]
    place += [f"group {example.group}"] if example.group is not None else []
    place += [f"sample {example.sample}"] if example.sample is not None else []
    train = "not scored" if example.train_reward is None else f"{example.train_reward:.2f}"
    oracle = "" if example.oracle is None else f", oracle {example.oracle:.2f}"
    adds = f", adds {example.value:,.4g}" if example.value else ""
    figures = f"train reward {train}{oracle}{adds}"
    return f"{', '.join(place)}: {figures}; problem {example.problem}"


def _title(signal: Signal) -> str:
    return INFO[signal].title.lower()


def _count(number_of: int, noun: str) -> str:
    return f"{number_of:,} {noun}" + ("" if number_of == 1 else "s")
