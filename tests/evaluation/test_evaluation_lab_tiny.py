"""The tiny study, for real: minutes of training from nothing, and it must improve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from typer.testing import CliRunner  # noqa: E402

from maxproof.cli.main import app  # noqa: E402
from maxproof.evaluation.lab.hacking_section import growth  # noqa: E402
from maxproof.evaluation.lab.results import read_results  # noqa: E402


def test_the_tiny_study_trains_and_improves(tmp_path: Path) -> None:
    out = tmp_path / "lab"
    found = CliRunner().invoke(app, ["lab", "run", "--profile", "tiny", "--out", str(out), "--quiet", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout.splitlines()[-1])["run"] == str(out)
    assert (out / "report.html").exists()
    results = read_results(out)
    assert not results.waiting
    base, prover = results.results["measure-base"], results.results["measure-panel-0"]
    assert prover["greedy"]["successes"] >= base["greedy"]["successes"] + 10
    assert prover["best_at"]["1"]["value"] >= base["best_at"]["1"]["value"] + 0.15
    # The base is weak by habit, not at random: what it can't do in one try it does in several.
    assert base["best_at"]["8"]["value"] >= base["best_at"]["1"]["value"] + 0.2
    (biased,), (panel,) = results.arms("biased"), results.arms("panel")
    assert growth(biased) > growth(panel)
    assert biased["heldout"]["biased"]["false_positives"] > 2 * panel["heldout"]["panel"]["false_positives"]
