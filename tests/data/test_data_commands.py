"""The commands on the shipped example: what they tell, write and return."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

pytest.importorskip("datasketch", reason="needs the extra data")

from maxproof.cli.data import data_app

EXAMPLE = Path(__file__).parents[2] / "examples" / "data"


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(data_app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    run("build", EXAMPLE / "raw", "-o", tmp_path / "records.jsonl")
    return tmp_path / "records.jsonl"


def test_the_worked_example_from_raw_to_split(tmp_path: Path, records: Path) -> None:
    assert len(ids(records)) == 14
    rejects = [json.loads(line) for line in (tmp_path / "records.rejects.jsonl").read_text().splitlines()]
    assert [(Path(row["file"]).name, row["line"]) for row in rejects] == [
        ("contest.jsonl", 8), ("contest.jsonl", 9), ("extra.csv", 5),
    ]  # fmt: skip
    clean, balanced, parts = (tmp_path / f"{name}.jsonl" for name in ("clean", "balanced", "split"))
    told = run("decontaminate", records, "--against", EXAMPLE / "evaluation.jsonl", "-o", clean).output
    assert "three-sums" in told
    pairs = {
        (pair["id"], pair["evaluation_id"]): pair["kind"]
        for pair in map(json.loads, (tmp_path / "clean.pairs.jsonl").read_text().splitlines())
    }
    assert pairs == {("three-sums", "E2"): "renamed", ("three-sums", "E1"): "near", ("midpoints", "E3"): "near"}
    assert set(ids(records)) - set(ids(clean)) == {"three-sums", "midpoints"}
    told = run("balance", clean, "-o", balanced).output
    assert "combinatorics" in told
    assert "30.5%" in told
    assert 0 < len(ids(balanced)) < len(ids(clean))
    told = run("split", clean, "-o", parts, "--test", "0.25", "--validation", "0", "--files").output
    assert "checked by other signatures: 0 clusters" in told
    assert sorted(ids(clean)) == sorted(ids(tmp_path / "split.train.jsonl") + ids(tmp_path / "split.test.jsonl"))
    labels = {row["id"]: row["split"] for row in map(json.loads, parts.read_text().splitlines())}
    assert labels["board"] == labels["board-again"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_json_counts(tmp_path: Path, records: Path) -> None:
    found = json.loads(run("build", EXAMPLE / "raw", "-o", tmp_path / "again.jsonl", "--json").stdout)
    assert (found["written"], found["rejected"], found["dropped"], found["duplicates"]) == (14, 2, 1, 1)
    found = json.loads(
        run("decontaminate", records, "-a", EXAMPLE / "evaluation.jsonl", "-o", tmp_path / "c.jsonl", "--json").stdout
    )
    assert (found["by_kind"], found["pairs"]) == ({"renamed": 1, "near": 1}, 3)
    found = json.loads(
        run("balance", records, "-o", tmp_path / "b.jsonl", "--json", "--domains", "algebra=1,geometry=1").stdout
    )
    assert found["after"]["domains"]["algebra"] == found["after"]["domains"]["geometry"] == 3
    found = json.loads(run("split", records, "-o", tmp_path / "s.jsonl", "--json").stdout)
    assert found["leaks"] == []


def test_steps_give_the_same_bytes_again(tmp_path: Path, records: Path) -> None:
    for command, extra in (
        ("balance", ()),
        ("split", ("--seed", "3")),
        ("decontaminate", ("-a", EXAMPLE / "evaluation.jsonl")),
    ):
        texts = set()
        for name in ("one.jsonl", "two.jsonl"):
            run(command, records, "-o", tmp_path / name, *extra)
            texts.add((tmp_path / name).read_bytes())
        assert len(texts) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "missing", "-o", "out.jsonl"), "no such file or folder"),
        (("build", EXAMPLE / "raw", "-o", "out.csv"), ".jsonl"),
        (("build", EXAMPLE / "raw", "-o", "out.jsonl", "--strict"), "contest.jsonl:8: no statement"),
        (("balance", "RECORDS", "-o", "out.jsonl", "--domains", "algebra"), "expected NAME=SHARE"),
        (("balance", "RECORDS", "-o", "out.jsonl", "--domains", "algebra=1,algebra=2"), "each name once"),
        (("balance", "RECORDS", "-o", "out.jsonl", "--domains", "algebra=-1"), "--domains"),
        (("balance", "RECORDS", "-o", "out.jsonl", "--levels", "paper"), "no record of"),
        (("balance", "RECORDS", "-o", "out.jsonl", "--size", "99"), "at most"),
        (("split", "RECORDS", "-o", "out.jsonl", "--test", "1.5"), "--test"),
        (("split", "RECORDS", "-o", "RECORDS"), "also an input"),
        (("decontaminate", "RECORDS", "-a", "missing.csv", "-o", "out.jsonl"), "missing.csv: no such file"),
        (("decontaminate", EXAMPLE / "raw" / "extra.csv", "-a", EXAMPLE / "evaluation.jsonl", "-o", "out.jsonl"),
         "maxproof data build"),
        (("balance", EXAMPLE / "evaluation.jsonl", "-o", "out.jsonl"), "no record of"),
    ],
)  # fmt: skip
def test_a_users_mistake_is_one_line(
    tmp_path: Path, records: Path, arguments: tuple[object, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [records if argument == "RECORDS" else argument for argument in arguments]
    result = run(*given, code=2)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


def test_nothing_but_bad_rows_is_an_error_and_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{\n")
    result = run("build", tmp_path / "bad.jsonl", "-o", tmp_path / "out.jsonl", code=2)
    assert "none of 1 rows" in result.stderr
    assert (tmp_path / "out.rejects.jsonl").exists()


def test_a_leak_that_is_found_ends_with_an_error(
    tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maxproof.cli import data_split
    from maxproof.problems.data.split import Leak

    leak = Leak((("a", "train"), ("b", "test")))
    monkeypatch.setattr(data_split, "leaks", lambda *_: [leak])
    assert "leak: a (train), b (test)" in run("split", records, "-o", tmp_path / "s.jsonl", code=1).output


def test_help_names_all_steps() -> None:
    told = run("--help").output
    for step in ("build", "rubric", "annotate", "decontaminate", "filter", "balance", "split"):
        assert step in told


def test_a_step_that_is_terminated_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maxproof.problems.data.build.build", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    run("build", EXAMPLE / "raw", "-o", tmp_path / "out.jsonl", code=130)
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before
