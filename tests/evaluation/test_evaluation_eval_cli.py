"""`maxproof eval` at the command line, on given proofs and the lab's oracle: no model, no network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maxproof.cli.eval import eval_app
from maxproof.cli.eval_settings import oracle_settings, split_assignments
from maxproof.evaluation.oracle.oracle import proof_digest
from maxproof.lab.generate import problems as lab_problems
from maxproof.problems import InputError

BENCH = Path(__file__).parents[3] / "shared" / "data" / "imo-proofbench.csv"
DERIVED = ("result.json", "report.html", "report.md")


def call(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(eval_app, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    """Three problems of the lab; of the first a right and a wrong proof, of the second a wrong one."""
    problems = [made.problem for made in lab_problems("test", 3, seed=0)]
    dataset, proofs = tmp_path / "lab.jsonl", tmp_path / "proofs.jsonl"
    dataset.write_text(
        "".join(
            json.dumps({"id": p.id, "statement": p.statement, "domain": p.domain, "level": p.level}) + "\n"
            for p in problems
        ),
        encoding="utf-8",
    )
    rows = [(problems[0], problems[0].reference), (problems[0], "0 = 1."), (problems[1], "0 = 1.")]
    proofs.write_text("".join(json.dumps({"problem": p.id, "text": t}) + "\n" for p, t in rows), encoding="utf-8")
    return dataset, proofs


def test_given_proofs_are_graded_and_the_same_command_goes_on(given: tuple[Path, Path], tmp_path: Path) -> None:
    dataset, proofs = given
    command = (dataset, "--proofs", proofs, "--oracle", "lab", "--out", tmp_path / "e", "--json", "--quiet")
    code, out, _ = call(*command)
    assert code == 0
    value = json.loads(out)
    points = [[c["points"] for c in unit["candidates"]] for unit in value["units"]]
    assert points[0][0] == 7
    assert points[0][1] < 7
    assert len(points) == 2  # the third problem has no proof
    assert [unit["picked"] for unit in value["units"]] == [None, 0]  # of several without a view, none is picked
    files = [(tmp_path / "e" / name).read_bytes() for name in DERIVED]
    assert call(*command)[0] == 0
    assert call("report", tmp_path / "e", "--replay", "--json")[0] == 0
    assert [(tmp_path / "e" / name).read_bytes() for name in DERIVED] == files


def test_a_changed_setting_is_named(given: tuple[Path, Path], tmp_path: Path) -> None:
    dataset, proofs = given
    command = (dataset, "--proofs", proofs, "--oracle", "lab", "--out", tmp_path / "e", "--quiet")
    assert call(*command)[0] == 0
    code, _, err = call(*command, "--grade", "picked")
    assert code == 2
    assert "another grade" in err
    proofs.write_text(proofs.read_text(encoding="utf-8").replace("0 = 1", "0 = 2"), encoding="utf-8")
    code, _, err = call(*command)
    assert code == 2
    assert "another inputs.proofs" in err
    code, _, err = call(*command, "--first", 1)
    assert code == 2
    assert "another dataset" in err


def test_grading_may_come_later_and_by_people(given: tuple[Path, Path], tmp_path: Path) -> None:
    dataset, proofs = given
    command = (dataset, "--proofs", proofs, "--out", tmp_path / "e", "--quiet")
    code, out, _ = call(*command, "--oracle", "none")
    assert code == 0
    assert "Nothing is graded" in out
    first, second = (json.loads(line)["text"] for line in proofs.read_text(encoding="utf-8").splitlines()[:2])
    grades = tmp_path / "grades.csv"
    problem = json.loads(proofs.read_text(encoding="utf-8").splitlines()[0])["problem"]
    grades.write_text(f"problem,proof,points\n{problem},{proof_digest(first)},7\n", encoding="utf-8")
    code, out, _ = call(*command, "--grades", grades)
    assert code == 6  # two proofs have no grade
    assert "Not graded: 2 of 3" in out
    other = json.loads(proofs.read_text(encoding="utf-8").splitlines()[2])["problem"]
    with grades.open("a", encoding="utf-8") as file:
        file.write(f"{problem},{proof_digest(second)[:12]},0\n{other},{proof_digest(second)[:12]},1\n")
    assert call(*command, "--grades", grades)[0] == 0


def test_shards_are_merged_and_a_missing_one_is_told(given: tuple[Path, Path], tmp_path: Path) -> None:
    dataset, proofs = given
    command = (dataset, "--proofs", proofs, "--oracle", "lab", "--quiet")
    assert call(*command, "--shard", "1/2", "--out", tmp_path / "a")[0] == 0
    assert call(*command, "--shard", "2/2", "--out", tmp_path / "b")[0] == 0
    code, _, err = call("merge", tmp_path / "a", "--out", tmp_path / "half")
    assert code == 6
    assert "in no shard" in err
    code, out, _ = call("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "all", "--json")
    assert code == 0
    assert json.loads(out)["states"] == {"done": 2, "stopped": 0, "not_run": 0}
    assert call(*command, "--out", tmp_path / "whole")[0] == 0
    for name in ("report.md", "result.json"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "who grades? no oracle is named"),
        (("--oracle-model", "x"), "names no server for the oracle"),
        (("--oracle", "lab", "--id", "nobody"), "no problem with id 'nobody'"),
        (("--oracle", "lab", "--method", "pool"), "the proofs are given"),
        (("--oracle", "lab", "--shard", "3/2"), "expected I/N"),
        (("--oracle", "lab", "--grades", "g.csv"), "one of them grades"),
        (("--oracle-base-url", "ftp://x"), "expected http://"),
        (("--oracle-base-url", "http://x/v1", "--set", "oracle.sample=2"), "unknown setting (did you mean samples?)"),
    ],
)
def test_mistakes_are_one_line(given: tuple[Path, Path], tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    dataset, proofs = given
    code, _, err = call(dataset, "--proofs", proofs, "--out", tmp_path / "e", *options)
    assert code == 2
    assert told in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[" * 100_000, "not JSON"),
        ("3", "expected a JSON object"),
        ('{"problem": "nobody", "text": "x"}', "no problem 'nobody'"),
        ('{"problem": "%s"}', "text: expected the text of a proof"),
    ],
)
def test_a_bad_proof_names_its_line(given: tuple[Path, Path], tmp_path: Path, line: str, told: str) -> None:
    dataset, proofs = given
    known = json.loads(proofs.read_text(encoding="utf-8").splitlines()[0])["problem"]
    proofs.write_text(line.replace("%s", known) + "\n", encoding="utf-8")
    code, _, err = call(dataset, "--proofs", proofs, "--oracle", "lab", "--out", tmp_path / "e")
    assert code == 2
    assert "proofs.jsonl:1:" in err
    assert told in err


def test_what_is_no_evaluation_is_told(tmp_path: Path) -> None:
    assert "has no eval.json" in call("report", tmp_path)[2]
    (tmp_path / "eval.json").write_text("[" * 100_000, encoding="utf-8")
    assert "is damaged" in call("report", tmp_path)[2]
    (tmp_path / "eval.json").write_text('{"format": 9}', encoding="utf-8")
    assert "upgrade maxproof" in call("report", tmp_path)[2]


def test_the_forecast_asks_and_writes_nothing(tmp_path: Path) -> None:
    if not BENCH.exists():
        pytest.skip("needs ../shared/data/imo-proofbench.csv")
    server = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    oracle = ("--oracle-base-url", "http://127.0.0.1:9/v1", "--oracle-model", "o", "--oracle-samples", "2")
    code, out, _ = call(BENCH, *server, *oracle, "--seeds", 2, "--forecast", "--json", "--out", tmp_path / "e")
    assert code == 0
    told = json.loads(out)
    assert told["runs"] == 120
    # 112 candidates with 4 verifications by three judges, 32 + 80 proofs, 112 summaries, 9 votes.
    assert told["search_calls"] == 120 * (112 * 4 * 3 + 112 + 112 + 9)
    assert told["oracle_calls"] == 120 * 112 * 2
    assert not (tmp_path / "e").exists()


def test_the_oracles_table_is_read_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "maxproof.toml"
    file.write_text('[oracle]\nbase_url = "http://o/v1"\nmodel = "m"\nsamples = 0\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"maxproof\.toml:4: oracle\.samples"):
        oracle_settings(file, {})
    found = oracle_settings(file, {"samples": 3})
    assert found is not None
    assert (found.samples, found.model) == (3, "m")
    other = oracle_settings(file, {"samples": 1, "base_url": "http://else/v1"})
    assert other is not None
    assert other.model == ""  # another server's model is not carried over
    assert split_assignments(["oracle.samples=2", "search.rounds=1"]) == ({"samples": 2}, ["search.rounds=1"])
    file.write_text('[oracle]\nbase_url = "http://o/v1"\napi_key = "sk-abcdefghijklmnop"\n', encoding="utf-8")
    with pytest.raises(InputError, match="keys don't belong"):
        oracle_settings(file, {})
