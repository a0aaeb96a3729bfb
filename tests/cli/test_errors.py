"""How a command ends when something goes wrong."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from maxproof.cli.errors import ExitCode, NoModel, reporting
from maxproof.problems import InputError


def ending(error: BaseException, *, as_json: bool = False, run: Path | None = None) -> int:
    """The exit code with which a command ends that raises `error`."""

    def body() -> None:
        with reporting(as_json) as report:
            report.run = run
            raise error

    with pytest.raises(SystemExit) as caught:
        body()
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_the_codes_are_the_documented_ones() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "PASSED": 0,
        "ERROR": 1,
        "BAD_INPUT": 2,
        "NOT_PASSED": 3,
        "NO_MODEL": 4,
        "BUDGET": 5,
        "NOT_SCORED": 6,
        "INTERRUPTED": 130,
    }
    page = Path(__file__).parents[2] / "docs" / "exit-codes.md"
    assert all(f"| {code.value} |" in page.read_text() for code in ExitCode)


def test_a_body_that_succeeds_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting():
        print("fine")
    assert capsys.readouterr() == ("fine\n", "")


def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    error = InputError("no statement", file="a.md", line=3, field="x", hint="write one")
    assert ending(error) == ExitCode.BAD_INPUT
    assert capsys.readouterr() == ("", "maxproof: error: a.md:3: x: no statement (write one)\n")
    assert ending(NoModel("no model is configured")) == ExitCode.NO_MODEL


def test_a_mistake_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(InputError("no statement", file="a.md", line=3), as_json=True) == 2
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == {
        "event": "error",
        "exit_code": 2,
        "message": "no statement",
        "file": "a.md",
        "line": 3,
        "field": None,
        "hint": None,
    }


def test_a_hostile_message_stays_one_harmless_line(capsys: pytest.CaptureFixture[str]) -> None:
    ending(InputError("no problem with id '\x1b[2J\n\r\u202emaxproof: ok'"))
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert not {"\x1b", "\r", "\u202e"} & set(err)


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_says_how_to_go_on(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    assert ending(KeyboardInterrupt(), run=Path("runs/a-1"), as_json=as_json) == 130
    assert "maxproof resume runs/a-1" in "".join(capsys.readouterr())
    assert ending(KeyboardInterrupt()) == 130
    assert "resume" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "the file system is read-only"),
        (errno.EMFILE, "too many open files"),
        (errno.EEXIST, "there is a file of that name"),
        (errno.ENOTDIR, "a part of that path is a file"),
    ],
)
def test_what_the_system_refuses_is_one_line(capsys: pytest.CaptureFixture[str], code: int, expected: str) -> None:
    wrong_path = code in (errno.EEXIST, errno.ENOTDIR)
    ended = ending(OSError(code, os.strerror(code), "/x/journal.sqlite"), run=Path("runs/a-1"))
    assert ended == (ExitCode.BAD_INPUT if wrong_path else ExitCode.ERROR)
    err = capsys.readouterr().err
    assert err.startswith(f"maxproof: error: /x/journal.sqlite: {expected}")
    assert err.count("\n") == 1
    assert "maxproof resume runs/a-1" in err
    ending(OSError(code, os.strerror(code)), run=Path("runs/a-1"))
    assert capsys.readouterr().err.startswith("maxproof: error: runs/a-1: ")


def test_a_database_on_a_full_disk_is_told_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connection = sqlite3.connect(tmp_path / "a.sqlite")
    connection.execute("PRAGMA max_page_count = 2")
    connection.execute("CREATE TABLE t (x)")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.close()
    assert ending(caught.value, run=tmp_path) == ExitCode.ERROR
    assert "the disk is full" in capsys.readouterr().err


async def _fails_with(*errors: Exception) -> None:
    async def fail(error: Exception) -> None:
        raise error

    async with asyncio.TaskGroup() as group:
        for error in errors:
            group.create_task(fail(error))


def test_a_task_group_is_unwrapped(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught, reporting():
        asyncio.run(_fails_with(InputError("one"), OSError(errno.ENOSPC, "full")))
    assert caught.value.code == ExitCode.BAD_INPUT
    assert capsys.readouterr().err == "maxproof: error: one\n"
    with pytest.raises(BaseExceptionGroup), reporting():
        asyncio.run(_fails_with(InputError("one"), ZeroDivisionError()))


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("bug"), OSError(errno.EBADF, "bug"), sqlite3.IntegrityError("bug")]
)
def test_a_bug_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), reporting():
        raise error


def test_a_closed_pipe_ends_quietly() -> None:
    code = "from maxproof.cli.errors import reporting\nwith reporting():\n  for _ in range(10**5): print('x' * 100)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == ExitCode.ERROR
    process.stderr.close()
