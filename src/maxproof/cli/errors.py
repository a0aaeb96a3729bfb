"""How a command ends: its exit codes, and how a failure is told.

A user's mistake, an unusable model, a full disk or an interrupt is one line on standard error (with `--json`, one JSON
object on standard output). A bug keeps its traceback.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from maxproof.models.template import visible
from maxproof.problems.errors import InputError


class ExitCode(IntEnum):
    """What the exit code of every command means."""

    PASSED = 0  # a proof passed, or the command did what was asked
    ERROR = 1  # the system failed (disk full, no permission), or a bug, which shows a traceback
    BAD_INPUT = 2  # a file, an option or a setting is wrong
    NOT_PASSED = 3  # the search ended and no candidate passed, or the verified proof failed
    NO_MODEL = 4  # nothing to ask: no endpoint is configured, or none answers
    BUDGET = 5  # a budget or the deadline was reached before a proof passed
    NOT_SCORED = 6  # the judges gave no usable verdict, or the checker failed, which says nothing about the proof
    INTERRUPTED = 130  # stopped by Ctrl-C or SIGTERM; the run can be resumed


class NoModel(InputError):
    """There is no model to ask."""


@dataclass
class Report:
    """What `reporting` should know when the command ends badly.

    Attributes:
        run: the run folder, once there is one.
        again: how to go on after an interrupt where there is no run folder, e.g. `the same command goes on`.
    """

    run: Path | None = None
    again: str = ""


_SYSTEM_FAULTS = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the disk quota is used up: free some space",
    errno.EACCES: "permission denied: choose a folder that can be written",
    errno.EPERM: "not permitted: choose a folder that can be written",
    errno.EROFS: "the file system is read-only: choose a folder that can be written",
    errno.EIO: "the disk fails: save what can be saved",
    errno.EEXIST: "there is a file of that name: choose another folder",
    errno.ENOTDIR: "a part of that path is a file: choose another folder",
    errno.EMFILE: "too many open files: raise the limit (ulimit -n) or lower concurrency",
}
_USER_FAULTS = (errno.EEXIST, errno.ENOTDIR)
"""Of these, what is a wrong path rather than a failing system."""
_SQLITE_FAULTS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


@contextmanager
def reporting(as_json: bool = False) -> Iterator[Report]:
    """Ends the process with one clear line and the right exit code when the body fails for a known reason.

        with reporting(as_json) as report:
            report.run = folder.path  # so that a failure names the run to resume
            ...

    Raises SystemExit for what it reports; anything else, a bug, passes.
    """
    report = Report()
    try:
        yield report
    except KeyboardInterrupt:
        hint = (
            f"go on with: maxproof resume {report.run}"
            if report.run is not None
            else report.again or "no run was started"
        )
        _end(ExitCode.INTERRUPTED, InputError("interrupted", hint=hint), as_json)
    except Exception as error:
        if _reader_gone(error):
            _discard_output()
            raise SystemExit(ExitCode.ERROR) from None
        known = _known(error, report.run)
        if known is None:
            raise
        _end(*known, as_json)


def _reader_gone(error: BaseException) -> bool:
    """The reader of our output has ended, as in `maxproof show RUN | head`."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_reader_gone, error.exceptions))
    return isinstance(error, BrokenPipeError)


def _discard_output() -> None:
    # Python flushes both streams once more at its end, and would complain.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())


def _known(error: BaseException, run: Path | None) -> tuple[ExitCode, InputError] | None:
    """The exit code and the message of a failure that is no bug; None for any other."""
    if isinstance(error, BaseExceptionGroup):  # from a task group: known if every part is; the first one is told
        parts = [_known(part, run) for part in error.exceptions]
        return None if None in parts else parts[0]
    if isinstance(error, NoModel):
        return ExitCode.NO_MODEL, error
    if isinstance(error, InputError):
        return _exit_code(_fault_code(error.__cause__)), error
    if run is not None and isinstance(error, FileNotFoundError) and not run.exists():
        return ExitCode.ERROR, InputError("the run folder was deleted while the run went on", file=run)
    code = _fault_code(error)
    if code is None:
        return None
    file = (error.filename if isinstance(error, OSError) else None) or run
    hint = f"what is done is kept; then: maxproof resume {run}" if run is not None else None
    return _exit_code(code), InputError(_SYSTEM_FAULTS[code], file=file, hint=hint)


def _exit_code(fault: int | None) -> ExitCode:
    return ExitCode.BAD_INPUT if fault is None or fault in _USER_FAULTS else ExitCode.ERROR


def _fault_code(error: BaseException | None) -> int | None:
    """The errno of a failure of the system, None for any other error."""
    code: int | None = None
    if isinstance(error, OSError):
        code = error.errno
    elif isinstance(error, sqlite3.Error):
        code = _SQLITE_FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return code if code in _SYSTEM_FAULTS else None


def _end(code: ExitCode, error: InputError, as_json: bool) -> None:
    # A message may quote a hostile file: nothing in it may move the cursor or add a line.
    if as_json:
        details = {"message": error.message, "file": error.file, "line": error.line, "field": error.field}
        print(json.dumps({"event": "error", "exit_code": int(code), **details, "hint": error.hint}))
    else:
        line = visible(str(error)).replace("\n", "\\n").replace("\t", " ")
        print(f"maxproof: error: {line}", file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Around the import of what `extra` installs; `what` needs it. Raises InputError if a package is missing."""
    try:
        yield
    except ImportError as error:
        if error.name is None or error.name.startswith("maxproof"):
            raise
        raise InputError(
            f"{what} needs {error.name}, which is not installed",
            hint=f"install it with: pip install 'maxproof[{extra}]'",
        ) from None
