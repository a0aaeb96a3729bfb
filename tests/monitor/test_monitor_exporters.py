"""What is exported is read back with the tools it was exported for."""

import importlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

from monitor_reports import alarm, report

from maxproof.monitor.exporters import Exporter, open_exporter, scalar_rows
from maxproof.monitor.types import Alarm, Report, Signal
from maxproof.problems import InputError


class _Recorder:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.closed = False

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        self.calls.append(("scalars", step))

    def alarm(self, alarm: Alarm, line: str) -> None:
        self.calls.append(("alarm", alarm.raised))

    def close(self) -> None:
        self.closed = True


def test_rows_leave_out_what_was_not_measured() -> None:
    rows = scalar_rows(report(alarm(), gap=7))
    assert rows[7] == {"monitor/alarms": 0.0}
    assert rows[8]["monitor/visible_length"] == report().series[Signal.VISIBLE_LENGTH][8].value
    assert rows[45]["monitor/alarms"] == 0
    assert rows[46]["monitor/alarms"] == 1


def test_each_complete_step_is_written_once_and_alarms_follow_their_step() -> None:
    sink = _Recorder()
    with Exporter(sink) as exporter:
        exporter.write(replace(report(steps=10), unfinished=9), last=False)
        assert sink.calls == []  # no baseline yet: some signals have no value
        exporter.write(replace(report(steps=45), unfinished=44), last=False)
        exporter.write(replace(report(alarm(), steps=50), unfinished=49), last=False)
        exporter.write(report(alarm(), steps=50), last=True)
        early = sink.closed
    assert (early, sink.closed) == (False, True)
    assert [step for kind, step in sink.calls if kind == "scalars"] == list(range(50))
    assert sink.calls.index(("alarm", 46)) == sink.calls.index(("scalars", 46)) + 1
    assert sink.calls.count(("alarm", 46)) == 1


def test_a_sink_is_closed_after_an_error() -> None:
    sink = _Recorder()
    with pytest.raises(RuntimeError), Exporter(sink):
        raise RuntimeError
    assert sink.closed


def test_tensorboard_reads_back_what_was_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    made = report(alarm(), gap=7)
    _export(f"tensorboard={tmp_path}/deep/run", made)
    events = EventAccumulator(f"{tmp_path}/deep/run", size_guidance={"tensors": 0})
    events.Reload()
    tags = set(events.Tags()["tensors"])
    assert tags == {f"monitor/{s.value}" for s in made.series} | {"monitor/alarms", "monitor/alarm/visible_length"}
    lengths = events.Tensors("monitor/visible_length")
    values = {e.step: float(tensor_util.make_ndarray(e.tensor_proto)) for e in lengths}
    expected = {r.step: r.value for r in made.series[Signal.VISIBLE_LENGTH] if r.value is not None}
    assert values == pytest.approx(expected)
    (told,) = events.Tensors("monitor/alarm/visible_length")
    assert told.step == 46
    assert b"began at step 41" in told.tensor_proto.string_val[0]


def test_trackio_keeps_it_in_its_own_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("trackio", reason="needs the extra trackio")
    import subprocess
    import sys

    # A process of its own: trackio fixes its folder when it is imported.
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    script = (
        "from monitor_reports import alarm, report\n"
        "from maxproof.monitor.exporters import open_exporter\n"
        "with open_exporter('trackio=proofs/run-1') as exporter:\n"
        "    exporter.write(report(alarm(), gap=7), last=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "initialized" not in done.stdout
    (file,) = tmp_path.glob("*.db")
    with sqlite3.connect(file) as database:
        rows = database.execute("SELECT run_name, step, metrics FROM metrics ORDER BY step").fetchall()
        alerts = database.execute("SELECT title, text FROM alerts").fetchall()
    assert {run for run, _, _ in rows} == {"run-1"}
    logged = {step: json.loads(metrics) for _, step, metrics in rows}
    assert logged == {step: pytest.approx(row) for step, row in scalar_rows(report(alarm(), gap=7)).items()}
    assert len(alerts) == 1
    assert "visible_length up" in alerts[0][0]


def test_wandb_is_called_by_its_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, Any]] = []
    run = SimpleNamespace(
        log=lambda values, step: calls.append(("log", step)),
        alert=lambda title, text: calls.append(("alert", title)),
    )

    def init(**options: object) -> object:
        calls.append(("init", options))
        return run

    module = SimpleNamespace(init=init, finish=lambda: calls.append(("finish", None)))
    monkeypatch.setattr(importlib, "import_module", lambda name: {"wandb": module}[name])
    _export("wandb=proofs/run-1", report(alarm()))
    assert calls[0] == ("init", {"project": "proofs", "name": "run-1"})
    assert [step for kind, step in calls if kind == "log"] == list(range(60))
    assert ("alert", "monitor: visible_length up") in calls
    assert calls[-1] == ("finish", None)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tensorbord=x", "did you mean tensorboard"),
        ("csv=x", "known: tensorboard, trackio, wandb"),
        ("tensorboard", "e.g. tensorboard=runs/tb"),
        ("trackio=", "no place"),
    ],
)
def test_a_wrong_target_is_told(target: str, said: str) -> None:
    with pytest.raises(InputError, match="--export") as error:
        open_exporter(target)
    assert said in str(error.value)


def _export(target: str, made: Report) -> None:
    with open_exporter(target) as exporter:
        exporter.write(made, last=True)
