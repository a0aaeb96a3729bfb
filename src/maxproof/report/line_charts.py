"""Line charts as inline SVG: lines with bands and gaps, marked stretches of x, reference lines.

Names are escaped, everything else drawn is numbers; colours are classes of the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal

from markupsafe import Markup, escape

from maxproof.models.template import visible

WIDTH, HEIGHT = 340, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 10, 14, 34
DASHES = ("", "6 3", "2 3", "8 3 2 3", "", "10 3")
_LABELS = 3


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `points`: (x, y) by rising x, y None is a gap; `low`, `high`: the band's bounds at the same x, or
    empty; `kind` its look: 0..5, of which 4 is that of a line alone."""

    name: str
    points: tuple[tuple[float, float | None], ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of x. `reference` is shaded lightly; `alarm` in the colour of failure, with a flag `label` at its end.
    `name` is shown when pointed at."""

    start: float
    end: float
    name: str
    look: Literal["reference", "alarm"] = "reference"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal reference line at `y`, with the band `low`..`high` around it."""

    y: float
    low: float
    high: float
    name: str


def mean_band(name: str, rows: Sequence[Sequence[tuple[float, float]]], kind: int = 0) -> Series:
    """The mean of several curves at the x that all have, with their minimum and maximum as the band."""
    shared = sorted(set.intersection(*({x for x, _ in row} for row in rows))) if rows else []
    values = [[dict(row)[x] for row in rows] for x in shared]
    points = tuple((x, sum(v) / len(v)) for x, v in zip(shared, values, strict=True))
    return Series(name, points, tuple(map(min, values)), tuple(map(max, values)), kind)


def line_chart(
    title: str,
    series: Sequence[Series],
    x_name: str = "step",
    top: float | None = None,
    *,
    bottom: float | None = 0.0,
    spans: Sequence[Span] = (),
    level: Level | None = None,
    note: str = "",
) -> str:
    """One small chart; "" when no series has two values.

    The y axis goes from `bottom` to `top`; a `top` of None is a round number above the data, a `bottom` of None a round
    number below them. `note` stands after the title. A chart with an alarm has the class `alarmed`.
    """
    drawn = [s for s in series if sum(y is not None for _, y in s.points) > 1]
    if not drawn:
        return ""
    right = max(x for s in drawn for x, _ in s.points)
    left = min(x for s in drawn for x, _ in s.points)
    values = [y for s in drawn for y in (*(y for _, y in s.points), *s.low, *s.high) if y is not None]
    values += [level.low, level.high] if level else []
    ticks = _ticks(min(values), max(values), bottom, top)
    floor_y, top_y = ticks[0], ticks[-1]
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def px(x: float) -> str:
        return f"{_LEFT + (min(max(x, left), right) - left) / max(right - left, 1e-9) * width:.1f}"

    def py(y: float) -> str:
        return f"{_TOP + (1 - (min(max(y, floor_y), top_y) - floor_y) / (top_y - floor_y)) * height:.1f}"

    parts = []
    for span in sorted(spans, key=lambda s: s.look == "alarm"):
        start, end = px(span.start), px(span.end)
        shade = max(float(end) - float(start), 1.5)
        parts.append(
            f'<rect class="span {span.look}" x="{start}" y="{_TOP}" width="{shade:.1f}" height="{height}">'
            f"<title>{_said(span.name)}</title></rect>"
        )
    for value in ticks:
        y = py(value)
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="axis end" x="{_LEFT - 4}" y="{float(y) + 4:.1f}">{_number(value)}</text>')
    middle = (left + right) / 2
    whole = all(float(x).is_integer() for s in drawn for x, _ in s.points)
    for x in (left, float(floor(middle)) if whole and right - left > 8 else middle, right):
        # The last one ends inside the picture, however long it is.
        look, at = ("axis end", str(WIDTH - _RIGHT // 2)) if x == right else ("axis", px(x))
        parts.append(f'<text class="{look}" x="{at}" y="{HEIGHT - _BOTTOM + 14}">{x:g}</text>')
    parts.append(f'<text class="axis end" x="{WIDTH - _RIGHT}" y="{HEIGHT - 4}">{_said(x_name)}</text>')
    if level is not None:
        band = f"M{_LEFT} {py(level.high)}H{WIDTH - _RIGHT}V{py(level.low)}H{_LEFT}Z"
        parts.append(f'<path class="level-band" d="{band}"/>')
        line = f"M{_LEFT} {py(level.y)}H{WIDTH - _RIGHT}"
        parts.append(f'<path class="level" d="{line}"><title>{_said(level.name)}</title></path>')
    for s in drawn:
        for points in _runs(s.points, s.low, s.high):
            xs = [px(x) for x, _, _, _ in points]
            up = [f"{x} {py(high)}" for x, (_, _, _, high) in zip(xs, points, strict=True) if high is not None]
            down = [f"{x} {py(low)}" for x, (_, _, low, _) in zip(xs, points, strict=True) if low is not None]
            if up and down:
                parts.append(f'<path class="band s{s.kind}" d="M{"L".join(up + down[::-1])}Z"/>')
            # A value between two gaps is a line of no length, which round ends make a dot.
            path = "L".join(f"{x} {py(y)}" for x, (_, y, _, _) in zip(xs, points, strict=True))
            path += f"L{path}" if len(points) == 1 else ""
            dash = f' stroke-dasharray="{DASHES[s.kind % len(DASHES)]}"' if DASHES[s.kind % len(DASHES)] else ""
            parts.append(f'<path class="series s{s.kind}" d="M{path}"{dash}><title>{_said(s.name)}</title></path>')
    alarms = [span for span in spans if span.look == "alarm"]
    for place, span in enumerate(alarms):
        at = px(span.end)
        line = f"M{at} {_TOP}V{HEIGHT - _BOTTOM}"
        parts.append(f'<path class="flag" d="{line}"><title>{_said(span.name)}</title></path>')
        if span.label and place < _LABELS:
            past = float(at) > WIDTH * 0.6
            parts.append(
                f'<text class="flag {"end" if past else "start"}" x="{float(at) + (-4 if past else 4):.1f}" '
                f'y="{_TOP + 9 + 12 * place}">{_said(span.label)}</text>'
            )
    alarmed = " alarmed" if alarms else ""
    said = f" <small>{_said(note)}</small>" if note else ""
    return (
        f'<figure class="chart{alarmed}"><figcaption>{_said(title)}{said}</figcaption><svg '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{_said(title)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def legend(names: Sequence[tuple[str, int]]) -> str:
    """A key for charts: (name, kind)."""
    keys = []
    for name, kind in names:
        dash = f' stroke-dasharray="{DASHES[kind % len(DASHES)]}"' if DASHES[kind % len(DASHES)] else ""
        keys.append(
            f'<span class="key"><svg width="34" height="10" aria-hidden="true"><path class="series s{kind}" '
            f'd="M2 5H32"{dash}/></svg> {_said(name)}</span>'
        )
    return f'<p class="legend">{"".join(keys)}</p>'


def _said(text: str) -> Markup:
    return escape(visible(text))


_Point = tuple[float, float, float | None, float | None]


def _runs(
    points: Sequence[tuple[float, float | None]], low: Sequence[float | None], high: Sequence[float | None]
) -> Iterator[list[_Point]]:
    """Stretches of (x, y, low, high) without a gap."""
    run: list[_Point] = []
    for index, (x, y) in enumerate(points):
        if y is not None:
            run.append((x, y, low[index] if low else None, high[index] if high else None))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _ticks(lowest: float, highest: float, bottom: float | None, top: float | None) -> tuple[float, ...]:
    """Where the grid stands: the ends of the y axis and what is between them."""
    if bottom is not None:
        top = top if top is not None else bottom + _round_above(highest - bottom)
        return tuple(bottom + share * (top - bottom) for share in (0, 0.25, 0.5, 0.75, 1))
    highest = top if top is not None else highest
    room = max(highest - lowest, abs(highest) * 1e-3, 1e-9)
    step = _round_above(room / 4)
    first, last = floor(lowest / step), ceil(highest / step)
    return tuple(number * step for number in range(first, max(last, first + 1) + 1))


def _round_above(value: float) -> float:
    """The next round number above: 1, 2, 2.5 or 5 times a power of ten."""
    if value < 1e-300:  # below, powers of ten are no longer exact
        return 1.0
    unit: float = 10.0 ** floor(log10(value))
    return next(step * unit for step in (1, 2, 2.5, 5, 10, 20) if step * unit >= value * 1.001)


def _number(value: float) -> str:
    """Three digits, thousands as k and millions as M."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * 1e3 and abs(value) >= unit:
            return f"{value / unit:.3g}{sign}"
    return f"{0.0 if abs(value) < 1e-12 else value:.4g}" if abs(value) >= 1000 else f"{value:.3g}"
