"""A report in a terminal: the outcome, a row with a sparkline for each signal, the alarms.

The same picture is printed once after a read and drawn again and again while a file is followed. Hostile texts
(openers, problem names) are on one line with hidden characters made visible; texts of rollouts are left to the
dashboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from maxproof.monitor.signals import INFO
from maxproof.monitor.summary import (
    alarm_line,
    alarms_by_signal,
    baseline_window,
    counted,
    example_line,
    figure,
    headline,
    is_share,
    state,
)
from maxproof.monitor.types import Report, Signal
from maxproof.report.layout import MIN_WIDTH, WIDTH, one_line, shortened

SPARKS = "▁▂▃▄▅▆▇█"
MIN_SPARK_CELLS, MAX_SPARK_CELLS = 8, 40
MIN_TITLE_CELLS = 10
GAP = 2
_STYLES = {"alarm": "bold red", "quiet": "bold green", "unknown": "bold yellow"}


def render(report: Report, width: int = WIDTH, *, examples: bool = True) -> RenderableType:
    """The picture for a terminal of `width` cells, with or without the example rollouts of each alarm."""
    parts: list[RenderableType] = [Text(headline(report), _STYLES[state(report)])]
    if report.series:
        parts += [Text(), _table(report, width)]
    for alarm in report.alarms:
        parts += [Text(), Text(alarm_line(alarm), "red")]
        if alarm.detail:
            parts.append(_indented(f"behind it: {alarm.detail}", width))
        parts += [_indented(example_line(example), width) for example in alarm.examples if examples]
    parts.append(Text())
    parts += [Text(f"Off: {INFO[s].title.lower()}: {one_line(why)}", "dim") for s, why in _off(report)]
    parts += [Text(line, "dim") for line in counted(report)]
    return Group(*parts)


def _table(report: Report, width: int) -> Table:
    """A row for each signal. In a narrow terminal the units go, then titles are cut, never figures."""
    alarms = alarms_by_signal(report.alarms)
    rows: list[dict[str, str]] = []
    for signal in (s for s in Signal if s in report.series):
        info = INFO[signal]
        window = baseline_window(report, signal)
        last = next((r.value for r in reversed(report.series[signal]) if r.value is not None), None)
        moved = ", ".join(f"{a.direction} since {a.began}" for a in alarms.get(signal, ())[-1:])
        row = {
            "signal": info.title,
            "by step": "",
            "baseline": "" if window is None else figure(window.mean, info),
            "last": figure(last, info),
            "unit": "" if is_share(info) else info.unit,
            "alarm": moved,
        }
        rows.append(row)
    names: tuple[str, ...] = ("signal", "by step", "baseline", "last", "unit", "alarm")
    widths = {name: max([len(name), *(len(row[name]) for row in rows)]) for name in names}
    if _room(names, widths, width) < MIN_SPARK_CELLS:
        names = tuple(name for name in names if name != "unit")
    missing = max(0, MIN_SPARK_CELLS - _room(names, widths, width))
    widths["signal"] = max(MIN_TITLE_CELLS, widths["signal"] - missing)
    widths["by step"] = max(MIN_SPARK_CELLS, min(MAX_SPARK_CELLS, _room(names, widths, width)))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    for name in names:
        justify: Literal["left", "right"] = "right" if name in ("baseline", "last") else "left"
        table.add_column(name, justify=justify, no_wrap=True, width=widths[name])
    for signal, row in zip((s for s in Signal if s in report.series), rows, strict=True):
        row["by step"] = sparkline([reading.value for reading in report.series[signal]], widths["by step"])
        table.add_row(*(Text(row[name], "red" if row["alarm"] else "") for name in names))
    return table


def _room(names: Sequence[str], widths: Mapping[str, int], width: int) -> int:
    """Cells that the other columns leave to the sparkline; the last column has no gap after it."""
    return width - sum(widths[name] for name in names if name != "by step") - GAP * (len(names) - 1)


def _indented(text: str, width: int) -> Text:
    """A hostile text after the margin, where no line of it can pass for ours."""
    return Text("  " + shortened(text, max(MIN_WIDTH, width) - 2))


def sparkline(values: Sequence[float | None], width: int) -> str:
    """`values` in at most `width` cells, lowest to highest; a longer row is averaged, a gap is a blank.

    The heights are relative to the row's own range: they show its form, not its size.
    """
    size = max(1, -(-len(values) // width))
    means = [_mean(values[start : start + size]) for start in range(0, len(values), size)]
    known = [value for value in means if value is not None]
    if not known:
        return ""
    low, room = min(known), max(known) - min(known)
    top = len(SPARKS) - 1
    return "".join(" " if v is None else SPARKS[round((v - low) / room * top) if room > 0 else top // 2] for v in means)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _off(report: Report) -> list[tuple[Signal, str]]:
    return [(signal, report.off[signal]) for signal in Signal if signal in report.off]
