"""Line charts: gaps, marks, axes; and they can be drawn whatever the numbers."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.report.line_charts import Level, Series, Span, _ticks, line_chart

_NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


def _paths(svg: str, kind: str) -> list[str]:
    return re.findall(rf'<path class="{kind}[^"]*" d="([^"]*)"', svg)


def test_a_gap_breaks_line_and_band() -> None:
    points = ((0, 1.0), (1, 2.0), (2, None), (3, 1.0), (4, None), (5, 3.0))
    series = Series("x", points, tuple(y for _, y in points), tuple(y for _, y in points))
    svg = line_chart("t", [series])
    lines = _paths(svg, "series")
    assert [line.count("L") for line in lines] == [1, 1, 1]
    first, second = lines[1][1:].split("L")
    assert first == second  # a lone value is a dot
    assert len(_paths(svg, "band")) == 3


def test_nothing_to_draw() -> None:
    assert line_chart("t", [Series("x", ((0, 1.0), (1, None)))]) == ""


def test_marks_and_level_are_there_and_escaped() -> None:
    series = Series("x", tuple((x, float(x)) for x in range(10)))
    spans = [Span(0, 3, "base"), Span(4, 6, "<b>", "alarm", "<i>")]
    svg = line_chart("<t>", [series], spans=spans, level=Level(2, 1, 3, "<l>"), note="<n>")
    root = ElementTree.fromstring(svg)
    assert root.get("class") == "chart alarmed"
    assert [rect.get("class") for rect in root.iter("rect")] == ["span reference", "span alarm"]
    assert "<b>" in [title.text for title in root.iter("title")]
    assert line_chart("t", [series], spans=spans[:1]).startswith('<figure class="chart">')


def test_the_last_label_ends_inside_and_hidden_characters_are_shown() -> None:
    svg = line_chart("t\u202e\x00", [Series("x\x00", ((0, 1.0), (123456.5, 2.0)))], "n\u200b")
    texts = [(text.get("class"), text.get("x"), text.text) for text in ElementTree.fromstring(svg).iter("text")]
    assert ("axis end", "335", f"{123456.5:g}") in texts
    assert "⟨U+202E⟩" in svg
    assert "⟨U+0000⟩" in svg
    assert "\u200b" not in svg


@pytest.mark.parametrize(
    ("lowest", "highest", "bottom", "top", "ends"),
    [
        (0.1, 0.9, 0.0, None, (0, 1)),
        (0.1, 0.9999, 0.0, None, (0, 2)),
        (0.1, 0.4, 0.0, 1.0, (0, 1)),
        (-0.12, 0.31, None, None, (-0.2, 0.4)),
        (3.0, 3.0, None, None, (3.0, 3.001)),
    ],
)
def test_axes_end_at_round_numbers(
    lowest: float, highest: float, bottom: float | None, top: float | None, ends: tuple[float, float]
) -> None:
    ticks = _ticks(lowest, highest, bottom, top)
    assert (ticks[0], ticks[-1]) == pytest.approx(ends)


@given(_NUMBERS, _NUMBERS)
def test_an_axis_around_data_holds_them_in_few_even_steps(one: float, other: float) -> None:
    ticks = _ticks(min(one, other), max(one, other), None, None)
    slack = 1e-9 * max(1.0, abs(one), abs(other))
    assert ticks[0] <= min(one, other) + slack
    assert ticks[-1] >= max(one, other) - slack
    assert 2 <= len(ticks) <= 7
    steps = [b - a for a, b in pairwise(ticks)]
    assert min(steps) > 0
    assert max(steps) - min(steps) <= slack


@given(st.lists(st.none() | _NUMBERS, min_size=2, max_size=20), st.booleans())
def test_any_numbers_can_be_drawn(values: list[float | None], signed: bool) -> None:
    series = Series("x", tuple(enumerate(values)))
    svg = line_chart("t", [series], bottom=None if signed else 0.0)
    assert bool(svg) == (sum(v is not None for v in values) > 1)
    if svg:
        ElementTree.fromstring(svg)
        for path in _paths(svg, "series"):
            for place in path[1:].split("L"):
                x, y = map(float, place.split())
                assert 0 <= x <= 340
                assert 0 <= y <= 210
