"""The commands of the data steps that ask a model: what they refuse, and one that runs on the lab's model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from data_model_fakes import record
from typer.testing import CliRunner

from maxproof.cli.data_models import annotate, filter_, rubric
from maxproof.lab.generate import problems
from maxproof.models.schemes import register_scheme
from maxproof.problems.data.files import read_data
from maxproof.problems.data.record import DataRecord


def run(*arguments: object) -> tuple[int, str]:
    app = typer.Typer()
    app.command("rubric")(rubric)
    app.command("annotate")(annotate)
    app.command("filter")(filter_)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(record().model_dump_json(exclude_defaults=True) + "\n")
    return path


URL = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("filter", "--threshold", 2), "--threshold"),
        (("filter", "--samples", 0), "--samples"),
        (("annotate", "--techniques", 0), "--techniques"),
        (("annotate", "--taxonomy", "none.toml"), "none.toml"),
        (("rubric", "--examples", "none.jsonl"), "none.jsonl"),
        (("filter", "--out", "same"), "is also an input"),
    ],
)
def test_bad_options_are_named(records: Path, arguments: tuple[object, ...], message: str) -> None:
    command, *rest = arguments
    rest = [records if value == "same" else value for value in rest]
    out = [] if "--out" in rest else ["--out", records.with_name("out.jsonl")]
    code, output = run(command, records, *rest, *out, *URL)
    assert code == 2
    assert message in output
    assert not records.with_name("out.jsonl").exists()


def test_an_endpoint_that_is_not_there_leaves_everything_in_the_reject_file(records: Path) -> None:
    code, output = run("annotate", records, "-o", records.with_name("out.jsonl"), *URL, "--timeout", 0.3, "--json")
    assert code == 4
    told = json.loads(output)
    assert (told["records"], told["rejected"]) == (0, 1)
    assert told["stopped"]
    (line,) = records.with_name("out.rejects.jsonl").read_text().splitlines()
    assert json.loads(line)["raw"]["id"] == "a"


def test_the_filter_runs_on_the_labs_model(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.lab_endpoint import open_lab

    register_scheme("lab:", open_lab)
    path, out = tmp_path / "lab.jsonl", tmp_path / "hard.jsonl"
    rows = [
        DataRecord(id=made.problem.id, statement=made.problem.statement, reference=made.problem.reference)
        for made in problems("validation", 6, 0)
    ]
    path.write_text("".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows))
    code, output = run("filter", path, "-o", out, "-k", 4, "--model", "lab", "--json")
    assert code == 0
    told = json.loads(output)
    assert told["records"] + told["rejected"] == 6
    kept = [row for _, row in read_data(out) if isinstance(row, DataRecord)]
    assert len(kept) == told["records"]
    assert all(0 <= row.provenance[-1].notes["solve_rate"] < 0.75 for row in kept)  # type: ignore[operator]
    text = out.read_text()
    code, output = run("filter", path, "-o", out, "-k", 4, "--model", "lab", "--json")
    assert json.loads(output)["replayed"] == told["calls"]
    assert out.read_text() == text
