"""`maxproof train config`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from maxproof.cli.train_config import train_config
from maxproof.training.dialects.trainers import TRAINERS

app = typer.Typer()
app.command()(train_config)


def invoke(out: Path, *arguments: str, trainer: str = "verl"):
    words = ["--trainer", trainer, "--model", "m", "--data", "d", "--out", str(out), *arguments]
    return CliRunner().invoke(app, words)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_writes_the_files_of_each_trainer_and_its_notes(trainer: str, tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", "--json", trainer=trainer)
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["trainer"] == trainer
    assert value["notes"]
    assert sorted(value["files"]) == sorted(map(str, (tmp_path / "out").iterdir()))
    scripts = [path for path in value["files"] if path.endswith(".sh")]
    assert all(os.access(path, os.X_OK) for path in scripts)


def test_settings_of_the_file_and_of_the_command_line_arrive(tmp_path: Path) -> None:
    Path("maxproof.toml").write_text("[train]\nweight_high = 4.0\ngroup = 16\n")
    result = invoke(tmp_path / "out", "--set", "train.weight_high=3.5")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "run_verl.sh").read_text()
    assert "clip_ratio_high=2.5" in text
    assert "rollout.n=16" in text


def test_differences_are_told(tmp_path: Path) -> None:
    result = invoke(tmp_path / "out", "--set", "train.minibatches=1")
    assert "WARNING: one optimiser step a batch" in result.stdout
    assert "WARNING: verl drops groups" in result.stdout


@pytest.mark.parametrize(
    ("trainer", "arguments", "message"),
    [
        ("open-rlhf", [], "no trainer 'open-rlhf'"),
        ("trl", ["--set", "train.weight_low=0.5"], "can't be expressed"),
        ("trl", ["--gpus", "3"], "equal parts"),
        ("verl", ["--set", "train.group=1"], "group"),
        ("verl", ["--set", "search.seed=1"], "expected train.KEY=VALUE"),
        ("verl", ["--set", "train.weight_hihg=1"], "weight_high"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    trainer: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    result = invoke(tmp_path / "out", *arguments, trainer=trainer)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_files_that_were_edited_are_not_overwritten(tmp_path: Path) -> None:
    assert invoke(tmp_path / "out").exit_code == 0
    assert invoke(tmp_path / "out").exit_code == 0
    (tmp_path / "out" / "run_verl.sh").write_text("mine")
    result = invoke(tmp_path / "out")
    assert result.exit_code == 2
    assert "exists with other content" in result.output
    assert (tmp_path / "out" / "run_verl.sh").read_text() == "mine"
