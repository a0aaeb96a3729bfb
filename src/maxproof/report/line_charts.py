"""Line charts with bands as inline SVG: numbers and fixed words only, colours as classes of the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from markupsafe import escape

WIDTH, HEIGHT = 340, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 14, 34
DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `points`: (x, y); `low`, `high`: the band's bounds at the same x, or empty; `kind` 0..3 its look."""

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    kind: int = 0


def mean_band(name: str, rows: Sequence[Sequence[tuple[float, float]]], kind: int = 0) -> Series:
    """The mean of several curves at the x that all have, with their minimum and maximum as the band."""
    shared = sorted(set.intersection(*({x for x, _ in row} for row in rows))) if rows else []
    values = [[dict(row)[x] for row in rows] for x in shared]
    points = tuple((x, sum(v) / len(v)) for x, v in zip(shared, values, strict=True))
    return Series(name, points, tuple(map(min, values)), tuple(map(max, values)), kind)


def line_chart(title: str, series: Sequence[Series], x_name: str = "step", top: float | None = None) -> str:
    """One small chart; "" when no series has two points. The y axis goes from 0 to `top`, or above the data."""
    drawn = [s for s in series if len(s.points) > 1]
    if not drawn:
        return ""
    right = max(x for s in drawn for x, _ in s.points)
    left = min(x for s in drawn for x, _ in s.points)
    highest = max(max([y for _, y in s.points] + list(s.high)) for s in drawn)
    top = top if top is not None else _ceiling(highest)
    width, height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def px(x: float) -> str:
        return f"{_LEFT + (x - left) / max(right - left, 1e-9) * width:.1f}"

    def py(y: float) -> str:
        return f"{_TOP + (1 - min(y, top) / top) * height:.1f}"

    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = py(share * top)
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>')
        parts.append(f'<text class="axis end" x="{_LEFT - 4}" y="{float(y) + 4:.1f}">{share * top:.3g}</text>')
    for x in (left, (left + right) / 2, right):
        parts.append(f'<text class="axis" x="{px(x)}" y="{HEIGHT - _BOTTOM + 14}">{x:g}</text>')
    parts.append(f'<text class="axis end" x="{WIDTH - _RIGHT}" y="{HEIGHT - 4}">{escape(x_name)}</text>')
    for s in drawn:
        xs = [px(x) for x, _ in s.points]
        if s.low and s.high:
            up = [f"{x} {py(y)}" for x, y in zip(xs, s.high, strict=True)]
            down = [f"{x} {py(y)}" for x, y in zip(xs, s.low, strict=True)]
            parts.append(f'<path class="band s{s.kind}" d="M{"L".join(up + down[::-1])}Z"/>')
        path = "L".join(f"{x} {py(y)}" for x, (_, y) in zip(xs, s.points, strict=True))
        dash = f' stroke-dasharray="{DASHES[s.kind % len(DASHES)]}"' if DASHES[s.kind % len(DASHES)] else ""
        parts.append(f'<path class="series s{s.kind}" d="M{path}"{dash}><title>{escape(s.name)}</title></path>')
    return (
        f'<figure class="chart"><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )


def legend(names: Sequence[tuple[str, int]]) -> str:
    """A key for charts: (name, kind)."""
    keys = []
    for name, kind in names:
        dash = f' stroke-dasharray="{DASHES[kind % len(DASHES)]}"' if DASHES[kind % len(DASHES)] else ""
        keys.append(
            f'<span class="key"><svg width="34" height="10" aria-hidden="true"><path class="series s{kind}" '
            f'd="M2 5H32"{dash}/></svg> {escape(name)}</span>'
        )
    return f'<p class="legend">{"".join(keys)}</p>'


def _ceiling(value: float) -> float:
    """The next round number above: 1, 2, 2.5 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    unit: float = 10.0 ** floor(log10(value))
    return next(step * unit for step in (1, 2, 2.5, 5, 10) if step * unit >= value * 1.001)
