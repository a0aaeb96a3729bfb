"""What the command line says of a call that it can't understand: one line that points to the right help."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from maxproof.cli.main import main


def said(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error with which `maxproof WORDS` is refused."""
    monkeypatch.setattr(sys, "argv", ["maxproof", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    line = capsys.readouterr().err
    assert line.startswith("maxproof: error: ")
    assert line.count("\n") == 1
    return line


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("prove p.md --effort", "maxproof prove"),
        ("eval run set.jsonl --seeds", "maxproof eval run"),
        ("data split --out", "maxproof data split"),
        ("prove p.md --nonsense", "maxproof prove"),
        ("data nonsense", "maxproof data"),
        ("nonsense", "maxproof"),
    ],
)
def test_the_help_of_the_command_itself_is_named(
    words: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"({command} --help lists what there is)" in said(words, monkeypatch, capsys)


def test_a_wrong_choice_is_told_without_the_libraries_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = said("calibrate g.jsonl --judges foo", monkeypatch, capsys)
    assert "Invalid value for '--judges': 'foo' is not one of 'lab-biased', 'lab-panel', 'endpoints'" in line


def test_records_of_which_none_is_of_use_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numpy", reason="needs the extra data")
    (tmp_path / "r.jsonl").write_text("{\n[]\n")
    line = said(
        f"data annotate {tmp_path}/r.jsonl -o {tmp_path}/o.jsonl --base-url http://127.0.0.1:9/v1 --model m",
        monkeypatch,
        capsys,
    )
    assert "none of 2 rows could be used; the first: line 1" in line


PROC = "/proc/no-such-folder"
REFUSED = (
    "calibrate {examples}/lab-proofs.jsonl --problems {examples}/lab-problems.jsonl --judges lab-panel "
    f"-K 1 -o {PROC}",
    "calibrate {examples}/lab-proofs.jsonl --problems {examples}/lab-problems.jsonl --base-url http://127.0.0.1:9/v1 "
    f"--model m -o {PROC}",
    f"data filter {{records}} --base-url http://127.0.0.1:9/v1 --model m -o {{folder}}/o.jsonl --calls {PROC}",
    f"study --problems 2 --seeds 1 --questions equal_budget --out {PROC}",
    f"monitor --demo stationary --export tensorboard={PROC}",
    "monitor --demo stationary --map trl",
)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder in which nobody can make one")
@pytest.mark.parametrize("words", REFUSED)
def test_a_place_that_cant_be_written_is_one_line(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("numpy", "polars", "tensorboard"):
        pytest.importorskip(module, reason="needs the extras monitor, tensorboard and study")
    monkeypatch.chdir(tmp_path)
    examples = Path(__file__).parents[2] / "examples" / "calibrate"
    records = tmp_path / "records.jsonl"
    records.write_text('{"id": "a", "statement": "Prove that 1 + 1 = 2."}\n')
    line = said(words.format(examples=examples, records=records, folder=tmp_path), monkeypatch, capsys)
    assert PROC in line or "--map" in line
