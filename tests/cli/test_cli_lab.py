"""`maxproof lab run` and `lab report` on the command line, with small stages in place of the study's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maxproof.cli.errors import ExitCode
from maxproof.cli.lab import lab_app
from maxproof.evaluation.lab import pipeline
from maxproof.evaluation.lab.pipeline import RUN, read_lab
from maxproof.evaluation.lab.stages import RESULT, Stage, stage_folder
from maxproof.models.journal_writer import take_lock

run = CliRunner().invoke
HERE = "test_cli_lab"


def work(place: object, profile: object, tell: object) -> dict[str, object]:
    """A stage that does nothing."""
    return {}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])
    monkeypatch.setattr(pipeline, "stages", lambda profile: (Stage("harvest", f"{HERE}:work"),))


@pytest.mark.usefixtures("small")
def test_a_run_ends_with_its_report_and_is_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "lab"
    first = run(lab_app, ["run", "--out", str(out), "--profile", "tiny", "--seed", "3", "--workers", "1"])
    assert first.exit_code == 0, first.output
    assert first.stdout == f"Report: {out / 'report.html'}, {out / 'report.md'}\n"
    assert "1 of 1 stages done" in first.stderr
    assert (read_lab(out).name, read_lab(out).seed) == ("tiny", 3)
    assert (stage_folder(out, "harvest") / RESULT).exists()
    assert "Not measured yet" in (out / "report.md").read_text(encoding="utf-8")

    again = run(lab_app, ["run", "--out", str(out), "--json", "--workers", "1"])
    assert json.loads(again.stdout) == {"run": str(out), "report": [str(out / "report.html"), str(out / "report.md")]}
    assert read_lab(out).seed == 3
    assert run(lab_app, ["run", "--out", str(out), "--quiet", "--workers", "1"]).stderr == ""


@pytest.mark.usefixtures("small")
def test_another_profile_than_the_folders_is_refused(tmp_path: Path) -> None:
    run(lab_app, ["run", "--out", str(tmp_path), "--profile", "tiny", "--workers", "1"])
    found = run(lab_app, ["run", "--out", str(tmp_path), "--profile", "standard"])
    assert found.exit_code == ExitCode.BAD_INPUT
    assert "was begun with another profile" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.usefixtures("small")
def test_two_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    with take_lock(tmp_path / RUN):
        found = run(lab_app, ["run", "--out", str(tmp_path), "--profile", "tiny", "--workers", "1"])
    assert found.exit_code == ExitCode.BAD_INPUT
    assert "is writing this run" in found.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_interrupt_says_that_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "run_lab", interrupted)
    found = run(lab_app, ["run", "--out", str(tmp_path), "--profile", "tiny", *options])
    assert found.exit_code == ExitCode.INTERRUPTED
    assert "the same command goes on" in found.output
    assert "no run was started" not in found.output


def test_a_mistake_begins_nothing(tmp_path: Path) -> None:
    out = tmp_path / "lab"
    found = run(lab_app, ["run", "--profile", "huge", "--out", str(out)])
    assert found.exit_code == ExitCode.BAD_INPUT
    assert "unknown profile 'huge', known: standard, tiny" in found.stderr
    assert found.stderr.count("\n") == 1
    found = run(lab_app, ["run", "--seed", "-1", "--out", str(out)])
    assert found.exit_code == ExitCode.BAD_INPUT
    assert "--seed" in found.stderr
    assert not out.exists()


def test_a_report_of_no_run_is_one_line(tmp_path: Path) -> None:
    found = run(lab_app, ["report", str(tmp_path)])
    assert found.exit_code == ExitCode.BAD_INPUT
    assert "no lab run there" in found.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_a_report_can_be_written_again_and_its_numbers_read(tmp_path: Path) -> None:
    run(lab_app, ["run", "--out", str(tmp_path), "--profile", "tiny", "--workers", "1"])
    (tmp_path / "report.html").unlink()
    found = run(lab_app, ["report", str(tmp_path)])
    assert found.stdout.split() == [str(tmp_path / "report.html"), str(tmp_path / "report.md")]
    assert (tmp_path / "report.html").exists()
    numbers = json.loads(run(lab_app, ["report", str(tmp_path), "--json"]).stdout)
    assert numbers["profile"]["name"] == "tiny"
    assert numbers["results"]["harvest"]["seconds"] >= 0
    assert (tmp_path / RUN).exists()
