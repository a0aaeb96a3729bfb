"""The weights that come with the package: small, loadable, and good for the full search on a bare machine."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from typer.testing import CliRunner  # noqa: E402

from maxproof.cli.main import app  # noqa: E402
from maxproof.lab.generate import lab_problem  # noqa: E402
from maxproof.training.checkpoint import load_checkpoint  # noqa: E402


def weights() -> Path:
    return Path(str(resources.files("maxproof.lab") / "weights"))


def test_they_are_small_and_say_how_they_were_made() -> None:
    assert sum(file.stat().st_size for file in weights().iterdir()) <= 10_000_000
    checkpoint = load_checkpoint(weights())
    assert checkpoint.meta.trained_by.startswith("merge")
    assert 500_000 <= sum(p.numel() for p in checkpoint.model.parameters()) <= 2_000_000


def test_the_full_search_runs_with_them_and_is_graded_exactly(tmp_path: Path) -> None:
    problem = lab_problem("inequalities", "scaling", 1, 5).problem
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({"id": problem.id, "statement": problem.statement}))
    out = tmp_path / "run"
    found = CliRunner().invoke(app, ["prove", str(file), "--model", "lab", "--out", str(out), "--quiet", "--json"])
    assert found.exit_code in (0, 3), found.output
    result = json.loads((out / "result.json").read_text())
    assert 0 <= result["oracle"]["points"] <= 7
    rounds = result["rounds"]
    assert len(rounds[0]["added"]) == 32
    assert len(rounds) == 11 or result["stop"] == "perfect"
