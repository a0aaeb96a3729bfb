"""What the command line says of a call that it can't understand: one line that points to the right help."""

from __future__ import annotations

import sys

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
