"""What is shown on standard error while a file is followed."""

import io
import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

from monitor_reports import HOSTILE, alarm, report
from rich.console import Console
from rich.live import Live

from maxproof.cli.monitor_watch import JsonLines, Lines, LiveView, counting, follow_view

EXAMPLE = Path(__file__).parents[2] / "examples" / "monitor"


def test_the_live_view_draws_the_report_again_and_keeps_notes() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, height=60)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        view = LiveView(live)
        view.show(report())
        view.note(f"was cut {HOSTILE}")
        view.show(report(alarm()))
    drawn = stream.getvalue()
    assert drawn.index("Quiet: no alarm") < drawn.index("was cut") < drawn.index("1 alarm: ")
    assert "\x1b[31mred" not in drawn
    assert "\u202e" not in drawn


@pytest.mark.parametrize(("as_json", "kind"), [(False, Lines), (True, JsonLines)])
def test_elsewhere_a_line_for_each_alarm(as_json: bool, kind: type, capsys: pytest.CaptureFixture[str]) -> None:
    with follow_view(as_json=as_json, quiet=False) as view:
        assert isinstance(view, kind)
        view.show(report(alarm()))
        view.alarm(alarm())
        view.note("was cut")
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 2
    if as_json:
        told = json.loads(lines[0])
        assert (told["event"], told["signal"], told["began"]) == ("alarm", "visible_length", 41)
        assert json.loads(lines[1]) == {"event": "note", "text": "was cut"}
    else:
        assert lines[0].startswith("alarm: Length of the visible text went up")


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with follow_view(as_json=False, quiet=True) as view, counting(quiet=False) as count:
        view.show(report())
        view.alarm(alarm())
        view.note("was cut")
        count(10)
    assert capsys.readouterr() == ("", "")


def test_the_shipped_example_is_what_its_script_makes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE / "make.py"), run_name="__main__")
    assert capsys.readouterr().out == (EXAMPLE / "rollouts.jsonl").read_text(encoding="utf-8")
