"""The dashboard: one HTML page with all that a report says, without a script and without anything to load.

A pure function of the report: the same report gives the same bytes. What rollouts say (texts, problem names, openers)
is hostile; it is escaped and clipped by `report.blocks`, and never goes into a chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from maxproof.models.template import clip
from maxproof.monitor.signals import INFO
from maxproof.monitor.summary import (
    alarm_line,
    alarms_by_signal,
    baseline_window,
    counted,
    example_line,
    headline,
    interval,
    number,
    share,
    state,
)
from maxproof.monitor.types import Alarm, Reading, Report, Signal, SignalInfo
from maxproof.report.blocks import Block, Charts, Details, Notice, Quote, Section, Table, Text, to_html
from maxproof.report.line_charts import Level, Series, Span, line_chart

MAX_EXAMPLE_CHARS = 3_000
MAX_NAME_CHARS = 200
MAX_POINTS = 500
"""Points in one chart; more steps than these are averaged in equal stretches."""

_LOOKS: Mapping[str, Literal["good", "bad", "open"]] = {"alarm": "bad", "quiet": "good", "unknown": "open"}
_Z = 1.96


def to_dashboard(report: Report) -> str:
    """The page as HTML text. Its size grows with steps up to `MAX_POINTS`, and with alarms."""
    first, last = _steps(report)
    window = f" · baseline: {_window(report)}" if report.baseline else ""
    steps = f"{report.steps:,} steps" + (f" ({first} to {last})" if report.steps else "")
    return to_html(
        "MaxProof monitor",
        clip(report.source, MAX_NAME_CHARS),
        f"{report.rollouts:,} rollouts · {steps}{window}",
        sections(report),
    )


def sections(report: Report) -> list[Section]:
    """What the page is made of."""
    parts = [Section("Outcome", _outcome(report)), Section("Signals by step", _charts(report))]
    if report.alarms:
        alarms = [_alarm(alarm, shown=place == 0) for place, alarm in enumerate(report.alarms)]
        parts.append(Section("Alarms", tuple(alarms)))
    if report.off:
        rows = tuple((INFO[signal].title, why) for signal, why in sorted(report.off.items()))
        parts.append(Section("Off", (Table(("signal", "why"), rows, prose=True),)))
    parts.append(Section("What was read", (_read(report),)))
    parts.append(Section("How each signal is computed", (_definitions(),)))
    return parts


def _steps(report: Report) -> tuple[int, int]:
    steps = [reading.step for series in report.series.values() for reading in (series[:1] + series[-1:])]
    first, last = (min(steps), max(steps)) if steps else (0, 0)
    return (first if report.own_from is None else report.own_from, last)


def _window(report: Report) -> str:
    if report.baseline is None:
        return "not full"
    first, last = report.baseline
    if report.own_from is None:
        return f"steps {first} to {last}"
    return f"another run, drawn as steps {first} to {last}"


def _outcome(report: Report) -> tuple[Block, ...]:
    lines = [f"{alarm_line(alarm)}." for alarm in report.alarms]
    if report.off:
        lines.append(f"Off: {', '.join(INFO[s].title.lower() for s in sorted(report.off))} (why: below).")
    return Notice(_LOOKS[state(report)], headline(report), tuple(lines)), Text(
        " ".join(f"{line}." for line in counted(report))
    )


def _charts(report: Report) -> tuple[Block, ...]:
    alarms = alarms_by_signal(report.alarms)
    drawn = tuple(_chart(report, s, alarms.get(s, ())) for s in sorted(report.series, key=_order))
    if not any(drawn):
        return (Text("Fewer than two steps have values: nothing to draw."),)
    caption = "Band around the line: 95 % interval of a step's value from its spread in the step."
    if report.baseline:
        caption += (
            " Shaded stretch: the baseline window; broken line with band: its mean and two standard deviations of its "
            "readings."
        )
    if report.alarms:
        caption += " Red: from the step where a change began to the one that raised the alarm."
    if (size := _stretch(report)) > 1:
        caption += f" Each point is the mean of {size} steps."
    return (Charts(drawn, caption),)


def _order(signal: Signal) -> tuple[int, int]:
    number_of = INFO[signal].number
    return (number_of if number_of is not None else 100, list(Signal).index(signal))


def _stretch(report: Report) -> int:
    return -(-max((len(series) for series in report.series.values()), default=0) // MAX_POINTS)


def _chart(report: Report, signal: Signal, alarms: Sequence[Alarm]) -> str:
    info = INFO[signal]
    readings = _thinned(report.series[signal], _stretch(report))
    spans = [
        Span(a.began, a.raised, f"began at step {a.began}, raised at step {a.raised}", "alarm", f"alarm at {a.raised}")
        for a in alarms
    ]
    level = None
    if (window := baseline_window(report, signal)) is not None and report.baseline is not None:
        first, last = report.baseline
        spans.append(Span(first, last, f"baseline window: {_window(report)}"))
        low, high = _bounded(window.mean, 2 * window.std, info)
        level = Level(window.mean, low, high, f"baseline: {number(window.mean, info)}")
    bounds = [_bounded(r.value, _Z * r.error, info) if r.value is not None and r.error else None for r in readings]
    line = Series(
        info.title,
        tuple((r.step, r.value) for r in readings),
        tuple(b[0] if b else r.value for b, r in zip(bounds, readings, strict=True)),
        tuple(b[1] if b else r.value for b, r in zip(bounds, readings, strict=True)),
        kind=4,
    )
    name = f"{info.number} · {info.title}" if info.number is not None else info.title
    signed = info.low is None or info.low < 0
    highest = max((high for high in line.high if high is not None), default=0.0)
    # The whole range, unless the data would lie flat in it.
    top = info.high if info.high is not None and highest > info.high / 2 and not signed else None
    return line_chart(name, [line], top=top, bottom=None if signed else 0.0, spans=spans, level=level, note=info.unit)


def _bounded(value: float, half: float, info: SignalInfo) -> tuple[float, float]:
    low, high = value - half, value + half
    return (low if info.low is None else max(low, info.low), high if info.high is None else min(high, info.high))


def _thinned(series: Sequence[Reading], size: int) -> Sequence[Reading]:
    """Means over stretches of `size` readings, weighted evenly by step; without errors, which do not average."""
    if size <= 1:
        return series
    found = []
    for start in range(0, len(series), size):
        part = series[start : start + size]
        values = [reading.value for reading in part if reading.value is not None]
        mean = sum(values) / len(values) if values else None
        found.append(replace(part[0], value=mean, count=sum(r.count for r in part), error=None))
    return found


def _alarm(alarm: Alarm, *, shown: bool) -> Details:
    info = INFO[alarm.signal]
    blocks: list[Block] = [
        Table(
            ("signal", "began at step", "raised at step", "baseline", "since then", "standard deviations"),
            (
                (
                    info.title,
                    str(alarm.began),
                    str(alarm.raised),
                    number(alarm.baseline, info),
                    number(alarm.value, info),
                    f"{alarm.sigmas:+.1f}",
                ),
            ),
        )
    ]
    if alarm.detail:
        blocks.append(Text(clip(f"Behind it: {alarm.detail}", MAX_NAME_CHARS)))
    blocks += [
        Quote(clip(example_line(example), 2 * MAX_NAME_CHARS), clip(example.text, MAX_EXAMPLE_CHARS))
        for example in alarm.examples
    ]
    if not alarm.examples:
        blocks.append(Text("No example rollout was kept."))
    return Details(alarm_line(alarm), tuple(blocks), shown)


def _read(report: Report) -> Table:
    rows = [
        ("rollouts", f"{report.rollouts:,}"),
        ("steps", f"{report.steps:,}"),
        *((f"skipped: {reason}", f"{count:,}") for reason, count in sorted(report.skipped.items())),
    ]
    if report.not_scored is not None:
        unscored = report.not_scored
        rows.append(("without a train reward (not scored)", f"{unscored.successes:,} ({share(unscored.value)})"))
    if (rate := report.false_positives) is not None:
        rows.append(("with both scores", f"{rate.total:,}"))
        if rate.total:
            rows.append(("false positives, with 95 % interval", f"{rate.successes:,}: {interval(rate)}"))
    rows.append(("baseline window", _window(report)))
    return Table(("what", "count"), tuple(rows))


def _definitions() -> Table:
    rows = tuple(
        (
            f"{info.number}. {info.title}" if info.number is not None else info.title,
            _range(info),
            ", ".join(info.needs),
            info.formula,
            info.source,
        )
        for info in sorted(INFO.values(), key=lambda info: _order(info.signal))
    )
    return Table(("signal", "unit and range", "needs", "formula", "source"), rows, prose=True)


def _range(info: SignalInfo) -> str:
    if info.low is None and info.high is None:
        return info.unit
    ends = [f"from {info.low:g}"] if info.low is not None else []
    ends += [f"to {info.high:g}"] if info.high is not None else []
    return f"{info.unit}, {' '.join(ends)}"
