"""Inline SVG: the family tree of candidates by round, and the best-by-round curve.

Everything drawn is numbers and fixed words; no text of a model or a problem goes into a chart. Colours are classes of
the style sheet (`f0` worst to `f7` best), so that a chart follows light and dark; each node has its points in it, so
that colour is never the only sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maxproof.report.summary import cells, filtered, fitness_text
from maxproof.search.types import Round, SearchResult, Standing
from maxproof.verifier.types import MAX_POINTS

NODES_PER_LINE = 32
_STEP_X = 32
_STEP_Y = 58
_LEFT = 76
_RADIUS = 12


def fitness_class(standing: Standing) -> str:
    """The colour class of a candidate: `f0`..`f7`, `fx` when filtered, `fn` when nothing is scored."""
    if filtered(standing):
        return "fx"
    return points_class(standing.fitness)


def points_class(points: float | None) -> str:
    """The colour class of points 0..7; only full points get `f7`."""
    return "fn" if points is None else f"f{int(min(max(points, 0), MAX_POINTS))}"


@dataclass(frozen=True, slots=True)
class _Place:
    x: int
    y: int


def family_tree(result: SearchResult) -> str:
    """The family tree: one band for each round, PATCH edges solid, REWRITE edges dashed, the winner ringed."""
    rounds: dict[int, list[Standing]] = {}
    for standing in sorted(result.standings, key=lambda s: s.candidate.id):
        rounds.setdefault(standing.candidate.slot.round, []).append(standing)
    if not rounds:
        return ""
    widest = min(NODES_PER_LINE, max(len(members) for members in rounds.values()))
    places: dict[int, _Place] = {}
    labels: list[str] = []
    y = 26
    for number, members in sorted(rounds.items()):
        labels.append(f'<text class="lane" x="4" y="{y + 4}">round {number}</text>')
        for start in range(0, len(members), NODES_PER_LINE):
            line = members[start : start + NODES_PER_LINE]
            # Short lines are centred under the long ones: edges stay short.
            indent = (widest - len(line)) * _STEP_X // 2
            for index, standing in enumerate(line):
                places[standing.candidate.id] = _Place(_LEFT + indent + index * _STEP_X + _RADIUS, y)
            y += _STEP_Y
    edges = [_edge(standing, places) for standing in result.standings]
    nodes = [_node(standing, places[standing.candidate.id], result) for standing in result.standings]
    width, height = _LEFT + widest * _STEP_X + 8, y - 18
    return (
        f'<svg class="tree" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="Family tree of {len(places)} candidates by round">'
        f"{''.join(labels)}{''.join(edges)}{''.join(nodes)}</svg>"
    )


def _edge(standing: Standing, places: dict[int, _Place]) -> str:
    slot = standing.candidate.slot
    if slot.parent is None or slot.parent not in places:
        return ""
    a, b = places[slot.parent], places[slot.id]
    start, end = a.y + _RADIUS + 11, b.y - _RADIUS - 1
    middle = (start + end) // 2
    return f'<path class="edge {slot.origin}" d="M{a.x} {start}C{a.x} {middle} {b.x} {middle} {b.x} {end}"/>'


def _node(standing: Standing, place: _Place, result: SearchResult) -> str:
    number = standing.candidate.id
    ring = ""
    if number == result.winner:
        ring = f'<circle class="ring winner" cx="{place.x}" cy="{place.y}" r="{_RADIUS + 4}"/>'
    elif number in result.finalists:
        ring = f'<circle class="ring" cx="{place.x}" cy="{place.y}" r="{_RADIUS + 3}"/>'
    said = fitness_text(standing).replace(" ", "")
    inside = "⊘" if filtered(standing) else said
    marks = " ".join(cell.label for cell in cells(standing))
    label = place.y + _RADIUS + (13 if ring else 9)
    star = "★" if number == result.winner else ""
    return (
        f'<a href="#c{number}"><title>candidate {number}, {standing.candidate.slot.origin}: {said} points; {marks}'
        f"</title>{ring}"
        f'<circle class="node {fitness_class(standing)}" cx="{place.x}" cy="{place.y}" r="{_RADIUS}"/>'
        f'<text class="points {fitness_class(standing)}" x="{place.x}" y="{place.y + 4}">{inside}</text>'
        f'<text class="id" x="{place.x}" y="{label}">{star}{number}</text></a>'
    )


def best_curve(rounds: Sequence[Round]) -> str:
    """Best fitness in the archive after each round, 0..7; "" with fewer than two rounds that have one."""
    points = [(r.number, r.best, len(r.perfect)) for r in rounds if r.best is not None]
    if len(points) < 2:
        return ""
    last = points[-1][0]
    step = max(24, min(160, 800 // last))
    width, height, top = _LEFT + last * step + 60, 210, 16
    unit = (height - 50) / MAX_POINTS

    def x(number: int) -> int:
        return _LEFT - 40 + number * step

    def y(value: float) -> str:
        return f"{top + (MAX_POINTS - value) * unit:.1f}"

    grid = "".join(
        f'<path class="grid" d="M{_LEFT - 48} {y(value)}H{width - 10}"/>'
        f'<text class="axis end" x="{_LEFT - 54}" y="{float(y(value)) + 4:.1f}">{value}</text>'
        for value in range(MAX_POINTS + 1)
    )
    path = f"M{x(points[0][0])} {y(points[0][1])}"
    path += "".join(f"H{x(number)}V{y(best)}" for number, best, _ in points[1:])
    dots = "".join(
        f"<g><title>round {number}: best {best:g}, {perfect} passed</title>"
        f'<circle class="node {points_class(best)}" cx="{x(number)}" cy="{y(best)}" r="5"/></g>'
        f'<text class="axis" x="{x(number)}" y="{height - 12}">{number}</text>'
        for number, best, perfect in points
    )
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="Best points by round">{grid}<path class="line" d="{path}"/>{dots}'
        f'<text class="axis end" x="{width - 10}" y="{height - 12}">round</text></svg>'
    )
