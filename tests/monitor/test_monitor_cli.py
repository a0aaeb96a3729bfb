"""`maxproof monitor` from files to page, JSON and exit code, and what it says when something is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

import polars as pl
import typer
from typer.testing import CliRunner, Result

from maxproof.cli.monitor import monitor
from maxproof.monitor.fields import MAPS

app = typer.Typer(rich_markup_mode="rich")
app.command()(monitor)


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _rows(steps: int = 60, drift_from: int | None = None) -> list[dict[str, Any]]:
    """Eight rollouts a step; from `drift_from` on, longer and longer ones."""
    random = Random(7)
    rows = []
    for step in range(steps):
        grown = 1.0 if drift_from is None else 1.0 + max(0, step - drift_from) * 0.25
        for sample in range(8):
            words = int(random.gauss(60, 8) * grown)
            text = " ".join(random.choices(["we", "prove", "that", "even", "sums", "are", "closed"], k=words))
            reward = random.random()
            rows.append({"problem": f"p{sample}", "step": step, "text": f"{text}.", "train_reward": reward})
    return rows


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def quiet_file(tmp_path: Path) -> Path:
    return _write(tmp_path / "quiet.jsonl", _rows())


@pytest.fixture
def drift_file(tmp_path: Path) -> Path:
    return _write(tmp_path / "drift.jsonl", _rows(drift_from=30))


def test_quiet_rollouts_end_with_0(quiet_file: Path) -> None:
    done = _run(quiet_file)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Quiet: no alarm in ")
    assert "Off: train reward above oracle" in done.stdout


def test_an_alarm_ends_with_3_and_names_its_signal_and_steps(drift_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = _run(drift_file, "--json", "--out", page)
    assert done.exit_code == 3, done.output
    made = json.loads(done.stdout)
    assert made["state"] == "alarm"
    lengths = [alarm for alarm in made["alarms"] if alarm["signal"] == "visible_length"]
    assert lengths
    assert lengths[0]["direction"] == "up"
    assert 28 <= lengths[0]["began"] <= lengths[0]["raised"] <= 40
    assert len(lengths[0]["examples"]) == 3
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert _run(drift_file, "--fail-on", "never").exit_code == 0


def test_another_run_can_be_the_baseline(quiet_file: Path, tmp_path: Path) -> None:
    hacked = _write(tmp_path / "hacked.jsonl", _rows(drift_from=-40)[:120])
    assert _run(hacked).exit_code == 6  # too short for a baseline of its own
    page = tmp_path / "page.html"
    done = _run(hacked, "--baseline-from", quiet_file, "--json", "--out", page)
    assert done.exit_code == 3, done.output
    made = json.loads(done.stdout)
    assert (made["steps"], made["own_from"], made["baseline"]) == (15, 0, [-20, -1])
    assert {alarm["signal"] for alarm in made["alarms"] if alarm["raised"] < 5} == {"hack_score", "visible_length"}
    assert "baseline: another run, drawn as steps -20 to -1" in page.read_text()
    again = _run(quiet_file, "--baseline-from", quiet_file)
    assert again.exit_code == 0, again.output
    short = _run(quiet_file, "--baseline-from", hacked)
    assert short.exit_code == 2
    assert "a baseline of 20 steps is not full, there are 15 (--baseline 15, or " in " ".join(short.stderr.split())
    pytest.importorskip("tensorboard", reason="needs the extra tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    _run(hacked, "--baseline-from", quiet_file, "--export", f"tensorboard={tmp_path / 'tb'}")
    events = EventAccumulator(str(tmp_path / "tb"), size_guidance={"tensors": 0})
    events.Reload()
    assert [event.step for event in events.Tensors("monitor/visible_length")] == list(range(15))


def test_the_page_goes_into_a_folder(quiet_file: Path, tmp_path: Path) -> None:
    done = _run(quiet_file, "--out", tmp_path / "pages")
    assert (tmp_path / "pages" / "monitor.html").exists()
    assert f"Dashboard: {tmp_path}" in done.stdout


def test_the_same_rollouts_give_the_same_page(drift_file: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        _run(drift_file, "--out", tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_too_few_steps_say_nothing(tmp_path: Path) -> None:
    done = _run(_write(tmp_path / "short.jsonl", _rows(5)))
    assert done.exit_code == 6
    assert done.stdout.startswith("Nothing can be said yet: the baseline window is not full after 5 steps")


def test_parquet_and_other_names(tmp_path: Path) -> None:
    rows = [{"q": r["problem"], "at": r["step"], "answer": r["text"], "points": 7 * r["train_reward"]} for r in _rows()]
    path = tmp_path / "other.parquet"
    pl.DataFrame(rows).write_parquet(path)
    maps = ("problem=q", "step=at", "text=answer", "train_reward=points:0..7")
    done = _run(path, "--json", *(part for entry in maps for part in ("--map", entry)))
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["rollouts"] == 480
    assert "bimodality" in made["signals"]


def test_a_ready_map_with_a_column_on_top(tmp_path: Path) -> None:
    rows = [
        {"input": r["problem"], "output": r["text"], "score": 2 * r["train_reward"] - 1, "step": r["step"]}
        for r in _rows()
    ]
    path = _write(tmp_path / "verl.jsonl", rows)
    for maps in (("--map", "verl", "--map", "train_reward=score:-1..1"), ("--map", "train_reward=score:-1..1")):
        done = _run(path, "--json", *maps)
        assert done.exit_code == 0, done.output
    wrong = _run(path)
    assert wrong.exit_code == 2
    assert "outside 0..1" in wrong.stderr
    assert f"{path}:" in wrong.stderr


def test_a_bad_line_is_named_and_costs_only_itself(quiet_file: Path) -> None:
    lines = quiet_file.read_text().splitlines(keepends=True)
    quiet_file.write_text("".join([*lines[:4], "{broken\n", *lines[4:]]))
    done = _run(quiet_file)
    assert done.exit_code == 0
    assert f"{quiet_file}:5: skipped 1 line" in done.stderr
    assert "Skipped lines: 1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such.jsonl"], "no-such.jsonl: no such file"),
        ([], "expected ROLLOUTS, or --demo and none"),
        (["{file}", "--demo", "drift"], "expected ROLLOUTS, or --demo and none"),
        (["{file}", "--map", "trll"], "did you mean trl"),
        (["{file}", "--map", "txt=text"], "did you mean text"),
        (["{file}", "--map", "text=txet"], "did you mean text"),
        (["{file}", "--baseline", "3"], "--baseline"),
        (["{file}", "--set", "false_alarm=0.1"], "known: "),
        (["{file}", "--set", "false_alarms"], "expected KEY=VALUE"),
        (["{file}", "--set", "baseline_steps=5..6"], "baseline_steps needs at least"),
        (["{file}", "--until-idle", "3"], "only with --follow"),
        (["{file}", "--export", "tensorbord=x"], "did you mean tensorboard"),
        (["{file}", "--out", "no/such/folder/page.html"], "no such folder"),
        (["{file}", "--out", "{file}"], "expected a name that ends in .html"),
        (["{file}", "--phrases", "no/such/folder"], "no/such/folder"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], said: str, quiet_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = _run(*(argument.replace("{file}", str(quiet_file)) for argument in arguments))
    assert done.exit_code == 2, done.output
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_mistake_as_json(tmp_path: Path) -> None:
    done = _run(tmp_path / "none.jsonl", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["message"] == "no such file"


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [("polars", "monitor", []), ("tensorboard", "tensorboard", ["--export", "tensorboard=x"])],
)
def test_a_missing_extra_is_one_line(
    package: str, extra: str, arguments: list[str], quiet_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = _run(quiet_file, *arguments)
    assert done.exit_code == 2
    assert f"pip install 'maxproof[{extra}]'" in done.stderr


def test_export_writes_what_tensorboard_reads(quiet_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert _run(quiet_file, "--export", f"tensorboard={tmp_path}/tb").exit_code == 0
    events = EventAccumulator(f"{tmp_path}/tb", size_guidance={"tensors": 0})
    events.Reload()
    assert [event.step for event in events.Tensors("monitor/visible_length")] == list(range(60))


@pytest.mark.parametrize(("kind", "code"), [("stationary", 0), ("drift", 3)])
def test_the_demo_needs_no_data(kind: str, code: int) -> None:
    done = _run("--demo", kind)
    assert done.exit_code == code, done.output


def test_the_page_of_the_docs_shows_what_is_printed() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "monitor.md").read_text(encoding="utf-8")
    shown = page.split("$ maxproof monitor examples/monitor/rollouts.jsonl\n")[1].split("```")[0].splitlines()
    printed = _run(root / "examples" / "monitor" / "rollouts.jsonl").stdout
    lines = {line.rstrip() for line in printed.splitlines()}
    assert len(shown) > 30
    assert [line for line in shown if line not in lines and line != "..."] == []


def test_help_names_all_ready_maps() -> None:
    said = re.sub(r"[\s│]+", " ", CliRunner().invoke(app, ["--help"], terminal_width=200).stdout)
    assert all(name in said for name in MAPS)


def test_following_a_folder_until_it_rests(tmp_path: Path) -> None:
    _write(tmp_path / "rollouts.jsonl", _rows(drift_from=30))
    done = _run(tmp_path, "--follow", "--until-idle", "0")
    assert done.exit_code == 3, done.output
    alarms = [line for line in done.stderr.splitlines() if line.startswith("alarm: ")]
    assert alarms
    assert len(set(alarms)) == len(alarms)


def _following(path: Path, *arguments: str) -> "subprocess.Popen[str]":
    script = "import typer; from maxproof.cli.monitor import monitor; a = typer.Typer(); a.command()(monitor); a()"
    command = [sys.executable, "-c", script, str(path), "--follow", *arguments]
    # A session that ignores interrupts, as one under nohup, would hand that on.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_listen_to_interrupts
    )


def _listen_to_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_following_tells_each_alarm_once_and_ends_on_an_interrupt_with_the_last_report(tmp_path: Path) -> None:
    path, page = tmp_path / "rollouts.jsonl", tmp_path / "page.html"
    rows = _rows(drift_from=30)
    _write(path, rows[: 8 * 25])
    with _following(path, "--json", "--out", str(page)) as process:
        _wait_for(lambda: page.exists() or process.poll() is not None)
        with path.open("a") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows[8 * 25 :]))
        assert process.stderr is not None
        first = json.loads(process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    events = [first, *map(json.loads, err.splitlines())]
    assert {event["event"] for event in events} == {"alarm"}
    told = [(event["signal"], event["direction"], event["raised"]) for event in events]
    assert len(set(told)) == len(told)
    made = json.loads(out)
    assert made["rollouts"] == 480
    assert made["unfinished"] is None
    assert "not_passed" in page.read_text()


def _wait_for(condition: Callable[[], bool], limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_start_stays_light() -> None:
    script = (
        "import sys, maxproof.cli.monitor; print([m for m in ('polars', 'numpy', 'rich.live') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert done.stdout.strip() == "[]"
