"""Attempts on disk: one JSON line each, written before anything else is done with it.

    attempts.jsonl    a header line (what was asked), then a line for each attempt; of two of one kind the later counts

A killed process loses no finished attempt: a line is flushed to the disk as soon as its attempt is done, and a line
torn by the kill is dropped when the file is opened again. One process at a time writes (a lock file holds others off).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path

from filelock import FileLock, Timeout

from maxproof.formal.error_classes import ErrorClass
from maxproof.formal.results import Attempt
from maxproof.formal.solution.types import SolutionState
from maxproof.problems import InputError

FORMAT = 1
_NAMES = {field.name for field in fields(Attempt)}

Key = tuple[str, str, int]


def key_of(attempt: Attempt) -> Key:
    """What makes an attempt one of a kind in a run: problem, method, seed."""
    return attempt.problem, attempt.method, attempt.seed


class AttemptStore:
    """The attempts of one run, in the order in which they were finished."""

    def __init__(self, path: Path, attempts: dict[Key, Attempt], descriptor: int) -> None:
        self._path = path
        self._attempts = attempts
        self._descriptor = descriptor

    @property
    def attempts(self) -> Mapping[Key, Attempt]:
        return self._attempts

    def add(self, attempt: Attempt) -> None:
        """Keeps an attempt for good. Raises InputError when the disk is full or the file can't be written."""
        line = json.dumps(asdict(attempt), ensure_ascii=True).encode() + b"\n"
        try:
            _write_all(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            raise InputError(f"can't be written: {error.strerror}", file=self._path) from error
        self._attempts[key_of(attempt)] = attempt


@contextmanager
def open_store(path: Path, header: Mapping[str, object]) -> Iterator[AttemptStore]:
    """Opens or creates the store of a run.

    Args:
        path: `attempts.jsonl` of the run.
        header: what was asked (problem set digest, method settings, checker); a store that was made for something else
            is refused.

    Raises InputError: another process holds it, another header, a damaged line that is not the last.
    """
    lock = FileLock(f"{path}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError("is in use by another process", file=path, hint="wait for it, or name another --out") from None
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=path, hint="name another --out") from error
    try:
        wanted = json.loads(json.dumps({"format": FORMAT, **header}))
        attempts, size = _read(path, wanted) if path.exists() else ({}, 0)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            os.ftruncate(descriptor, size)
            os.lseek(descriptor, 0, os.SEEK_END)
            if size == 0:
                _write_all(descriptor, json.dumps(wanted, ensure_ascii=True).encode() + b"\n")
                os.fsync(descriptor)
            yield AttemptStore(path, attempts, descriptor)
        finally:
            os.close(descriptor)
    finally:
        lock.release()


def read_attempts(path: Path) -> tuple[dict[str, object], list[Attempt]]:
    """(header, attempts) of a store that nobody need hold; nothing of one that was killed before its header was whole.

    Raises InputError when it can't be read.
    """
    try:
        if b"\n" not in path.read_bytes():
            return {}, []
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    header = _header(path)
    attempts, _ = _read(path, header)
    return header, list(attempts.values())


def _header(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline())
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError("is no record of attempts of this version", file=path, line=1)
    return header


def _read(path: Path, wanted: dict[str, object]) -> tuple[dict[Key, Attempt], int]:
    """The whole lines' attempts, and where the last whole line ends (0 if even the header is torn)."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    lines = data[:end].splitlines()
    if not lines:
        return {}, 0
    header = _header(path)
    if header != wanted:
        changed = sorted(name for name in header.keys() | wanted.keys() if header.get(name) != wanted.get(name))
        raise InputError(
            f"was made with another {', '.join(changed)}", file=path, line=1, hint="name another --out for this run"
        )
    attempts: dict[Key, Attempt] = {}
    for number, line in enumerate(lines[1:], start=2):
        attempt = _attempt(line)
        if attempt is None:
            raise InputError("is no attempt", file=path, line=number, hint="remove that line; its attempt is run again")
        attempts[key_of(attempt)] = attempt
    return attempts, end


def _attempt(line: bytes) -> Attempt | None:
    try:
        value = json.loads(line)
        if not isinstance(value, dict) or not value.keys() <= _NAMES:
            return None
        findings = tuple(value.get("findings", ()))
        errors = tuple(map(ErrorClass, value.get("errors", ())))
        return Attempt(**{**value, "state": SolutionState(value["state"]), "findings": findings, "errors": errors})
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
