"""`maxproof lab problems`, `maxproof lab grade`, and `maxproof prove --model lab` with the oracle's word at the end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from maxproof.cli import lab_world
from maxproof.cli.errors import ExitCode
from maxproof.cli.main import app
from maxproof.cli.options import settings_from
from maxproof.lab.domains import read_question
from maxproof.lab.generate import problems
from maxproof.problems.load import load_problem, load_problems
from maxproof.training.lab_endpoint import MAX_ANSWER_TOKENS

lab_app = typer.Typer()
lab_app.command()(lab_world.problems)
lab_app.command()(lab_world.grade)
run = CliRunner().invoke


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lab.jsonl"
    assert run(lab_app, ["problems", "--count", "6", "--out", str(path)]).exit_code == 0
    return path


def test_the_commands_on_the_page_of_the_model_name_a_problem_that_is_there() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lab-model.md").read_text(encoding="utf-8")
    written = re.findall(r"^maxproof lab (problems .*) --out lab.jsonl$", page, re.MULTILINE)
    named = set(re.findall(r"lab\.jsonl .*--id (\S+)", page))
    found = run(lab_app, written[0].split()).stdout
    assert named
    assert all(f'"id": "{name}"' in found for name in named)


def test_problems_are_written_in_the_projects_format(file: Path) -> None:
    found = list(load_problems(file))
    assert found == [made.problem for made in problems("test", 6, 0, levels=(1, 2, 3, 4))]
    assert load_problem(file, found[2].id) == found[2]
    printed = run(lab_app, ["problems", "--count", "6"])
    assert printed.stdout == file.read_text()
    other = run(lab_app, ["problems", "--count", "6", "--seed", "1"])
    assert other.stdout != printed.stdout


def test_problems_of_one_domain_and_level() -> None:
    found = run(lab_app, ["problems", "--domain", "modular", "--level", "2", "--count", "5"])
    records = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(record["domain"], record["level"]) for record in records] == [("modular", "2")] * 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", "modula"], "did you mean modular?"),
        (["--out", "x.csv"], "expected a name that ends in .jsonl"),
        (["--count", "0"], "greater than or equal to 1"),
        (["--level", "5"], "less than or equal to 4"),
    ],
)
def test_bad_options_are_one_line(arguments: list[str], message: str) -> None:
    result = run(lab_app, ["problems", *arguments])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr


def test_grade_tells_each_sentence(file: Path, tmp_path: Path) -> None:
    problem = next(load_problems(file))
    proof = tmp_path / "proof.md"
    proof.write_text(problem.reference or "")
    right = run(lab_app, ["grade", str(file), str(proof), "--id", problem.id])
    assert right.exit_code == ExitCode.PASSED
    assert right.stdout.startswith("Exact oracle of the lab: no_errors, 7 of 7 points.\n")
    assert right.stdout.count("  valid  ") == len((problem.reference or "").splitlines())

    proof.write_text("1 = 2.\n" + (problem.reference or ""))
    wrong = run(lab_app, ["grade", str(file), str(proof), "--id", problem.id, "--json"])
    assert wrong.exit_code == ExitCode.NOT_PASSED
    report = json.loads(wrong.stdout)
    assert report["verdict"] != "no_errors"
    assert report["points"] < 7
    assert report["sentences"][0]["verdict"] != "valid"


def test_what_the_oracle_cannot_read_is_bad_input(tmp_path: Path) -> None:
    problem, proof = tmp_path / "p.md", tmp_path / "proof.md"
    problem.write_text("Prove that there are infinitely many primes.")
    proof.write_text("Clear.")
    result = run(lab_app, ["grade", str(problem), str(proof)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "no problem of the lab" in result.stderr


def test_a_hostile_proof_is_graded_and_shown_without_control_characters(file: Path, tmp_path: Path) -> None:
    problem = next(load_problems(file))
    proof = tmp_path / "proof.md"
    proof.write_text("x = " + "(" * 20_000 + "\n\x1b]0;title\x07 1 = 1 2^9999999999.\n" + "1 = 1. " * 3000)
    result = run(lab_app, ["grade", str(file), str(proof), "--id", problem.id])
    assert result.exit_code == ExitCode.NOT_PASSED
    assert "\x1b" not in result.stdout


def test_model_lab_names_the_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for model, url in (("lab", "lab:"), ("lab:", "lab:"), ("lab:weights", f"lab:{tmp_path / 'weights'}")):
        settings = settings_from(None, None, None, {}, model=model)
        endpoint = settings.endpoints["default"]
        assert (endpoint.base_url, endpoint.model) == (url, "")
        assert {role.max_tokens for role in settings.roles.values()} == {MAX_ANSWER_TOKENS}
    fewer = settings_from(None, None, None, {}, model="lab", role_flags={"max_tokens": 9})
    assert {role.max_tokens for role in fewer.roles.values()} == {9}
    named = settings_from(None, None, None, {}, model="lab", base_url="http://localhost:1/v1").endpoints["default"]
    assert (named.base_url, named.model) == ("http://localhost:1/v1", "lab")


SMALL_SEARCH = ["-N", "2", "-M", "1", "-K", "1", "-R", "0", "--output-tokens", "16", "--quiet"]


@pytest.fixture
def checkpoint(file: Path, tmp_path: Path) -> Path:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training.checkpoint import new_checkpoint, save_checkpoint
    from maxproof.training.settings import ModelShape
    from maxproof.training.tokenizer import build_tokenizer

    texts = [text for problem in load_problems(file) for text in (problem.statement, problem.reference or "")]
    shape = ModelShape(layers=1, width=16, heads=2, hidden=32, context=384)
    save_checkpoint(tmp_path / "model", new_checkpoint(shape, build_tokenizer(texts), 0))
    return tmp_path / "model"


def test_prove_with_the_labs_model_ends_with_the_oracles_word(file: Path, tmp_path: Path, checkpoint: Path) -> None:
    problem = next(load_problems(file))
    assert read_question(problem.statement) is not None
    folder = tmp_path / "run"
    arguments = ["prove", str(file), "--id", problem.id, "--model", f"lab:{checkpoint}", *SMALL_SEARCH]
    result = run(app, [*arguments, "--out", str(folder)])
    assert result.exit_code == ExitCode.NOT_PASSED
    assert "Exact oracle of the lab: " in " ".join(result.stdout.split())
    outcome = json.loads((folder / "result.json").read_text())
    assert outcome["oracle"]["verdict"] != "no_errors"
    assert outcome["outcome"] == "not_passed"
    assert "Exact oracle of the lab" in (folder / "report.html").read_text()
    before = {path.name: path.read_bytes() for path in folder.glob("re*.*")}
    assert run(app, ["report", str(folder)]).exit_code == 0
    assert {path.name: path.read_bytes() for path in folder.glob("re*.*")} == before


def test_the_labs_model_refuses_any_other_problem(tmp_path: Path, checkpoint: Path) -> None:
    problem = tmp_path / "p.md"
    problem.write_text("Prove that there are infinitely many primes.")
    result = run(
        app, ["prove", str(problem), "--model", f"lab:{checkpoint}", *SMALL_SEARCH, "--out", str(tmp_path / "r")]
    )
    assert result.exit_code == ExitCode.NO_MODEL
    assert "this is no problem of the lab" in " ".join(result.stdout.split())
    assert json.loads((tmp_path / "r" / "result.json").read_text())["oracle"] is None


def test_models_checks_the_labs_model(tmp_path: Path, checkpoint: Path) -> None:
    result = run(app, ["models", "--model", f"lab:{checkpoint}", "--json"])
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout)
    assert row["ok"]
    assert row["model"].startswith("lab-")
    missing = run(app, ["models", "--model", f"lab:{tmp_path / 'none'}"])
    assert missing.exit_code == ExitCode.BAD_INPUT
    assert "no such folder" in missing.stderr
