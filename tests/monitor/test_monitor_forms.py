"""JSON, the terminal's picture and the words that all outputs share."""

import io
import json

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

from hypothesis import given
from hypothesis import strategies as st
from monitor_reports import alarm, report
from rich.console import Console

from maxproof.monitor.json_form import to_json
from maxproof.monitor.signals import INFO
from maxproof.monitor.summary import alarm_line, baseline_window, number, state
from maxproof.monitor.terminal import SPARKS, render, sparkline
from maxproof.monitor.types import Alarm, Report, Signal


def _drawn(made: Report, width: int = 100) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(render(made, width))
    return stream.getvalue()


def test_json_has_the_documented_form() -> None:
    made = to_json(report(alarm(), gap=3))
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert list(made) == [
        *("version", "source", "state", "headline", "rollouts", "steps", "skipped", "baseline"),
        *("own_from", "unfinished", "alarms", "false_positives", "not_scored", "signals", "off"),
    ]
    assert made["state"] == "alarm"
    assert made["baseline"] == [0, 19]
    assert made["alarms"][0]["signal"] == "visible_length"
    assert len(made["alarms"][0]["examples"]) == 3
    assert made["signals"]["visible_length"]["readings"][3] == {
        "step": 3,
        "value": None,
        "count": 64,
        "error": 0.01,
        "detail": made["signals"]["visible_length"]["readings"][0]["detail"],
    }
    assert set(made["signals"]) | set(made["off"]) == {signal.value for signal in Signal}
    assert made["false_positives"]["value"] == 0.029


def test_json_says_unknown_rather_than_zero() -> None:
    made = to_json(Report("x", 0, 0, {}, {}, (), None, None, None))
    assert made["state"] == "unknown"
    assert made["false_positives"] is None
    assert made["not_scored"] is None


def test_state() -> None:
    assert [state(made) for made in (report(alarm()), report(), report(steps=10))] == ["alarm", "quiet", "unknown"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_picture_fits_and_shows_no_hidden_character(width: int) -> None:
    drawn = _drawn(report(alarm()), width)
    assert not set("\u202e\u200b\x1b") & set(drawn)
    lines = drawn.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("1 alarm")
    for signal in report().series:
        assert any(line.startswith(INFO[signal].title[:8]) for line in lines)
    assert "up since 41" in drawn


def test_hostile_details_never_stand_at_the_margin() -> None:
    made = report(Alarm(Signal.VISIBLE_LENGTH, "up", 1, 2, 1.0, 2.0, 5.0, (), "x\nQuiet: no alarm in 12 signals " * 20))
    assert not [line for line in _drawn(made).splitlines() if line.startswith("Quiet")]


@given(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=200), st.integers(1, 50))
def test_a_sparkline_has_a_cell_for_each_stretch(values: list[float | None], width: int) -> None:
    line = sparkline(values, width)
    assert len(line) <= width
    assert set(line) <= {" ", *SPARKS}
    if len(values) <= width and any(v is not None for v in values):
        assert [cell == " " for cell in line] == [v is None for v in values]


def test_a_sparkline_shows_the_form() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == SPARKS
    assert sparkline([5.0, None, 5.0], 8) == "▄ ▄"


def test_numbers_say_their_unit() -> None:
    length = INFO[Signal.VISIBLE_LENGTH]
    assert number(3512.3, length).startswith("3,512 ")
    assert number(None, length) == "none"


def test_a_size_is_relative_only_where_that_says_something() -> None:
    assert "3,500 to 9,800 characters (+180 %)" in alarm_line(alarm())
    near_zero = Alarm(Signal.TRAIN_EVAL_GAP, "up", 1, 2, 0.001, 0.3, 5.0)
    assert " %)" not in alarm_line(near_zero)


def test_the_baseline_window_is_of_its_steps_only() -> None:
    made = report()
    window = baseline_window(made, Signal.VISIBLE_LENGTH)
    values = [r.value for r in made.series[Signal.VISIBLE_LENGTH][:20] if r.value is not None]
    assert window is not None
    assert window.steps == 20
    assert window.mean == pytest.approx(sum(values) / 20)
    assert baseline_window(report(steps=10), Signal.VISIBLE_LENGTH) is None
