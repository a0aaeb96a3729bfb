"""Verdicts on disk, found again by content, checker and limits.

The key is the program as a tree (with the places of its nodes, which results name), the targets, the tool with its
versions, and the limits with the seed. What may turn out otherwise next time is not kept: a tool's own failure, and any
result in which something ran out of time or resources.

One SQLite file in WAL mode: any number of processes share it, and a kill loses nothing that was written. A damaged
entry counts as missing and is written anew; a damaged file is put aside. The cache only saves work, so that a disk that
fails or fills up costs the work again, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sqlite3
import threading
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationResult,
    ObligationState,
    Tool,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1  # of key and entry; a change makes old entries unfindable
WAIT_SECONDS = 10.0  # for another process's write


def default_cache() -> Path:
    """`maxproof/verdicts.sqlite` in the user's cache (XDG_CACHE_HOME, else `~/.cache`)."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "maxproof" / "verdicts.sqlite"


def verdict_key(task: CheckTask, limits: Limits, tool: Tool) -> bytes:
    """32 bytes that only the same check has."""
    digest = hashlib.sha256()
    pending: list[object] = [tool, limits, task, FORMAT]
    while pending:
        value = pending.pop()
        if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value)]
            digest.update(f"<{type(value).__name__} {len(names)}>".encode())
            pending.extend(getattr(value, name) for name in names)
        elif isinstance(value, tuple):
            digest.update(f"({len(value)})".encode())
            pending.extend(value)
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogatepass")
            digest.update(f"'{len(text)}'".encode() + text)
        elif isinstance(value, int) and not isinstance(value, bool):
            digest.update(f"{value:x};".encode())
        elif isinstance(value, Fraction):
            digest.update(f"{value.numerator:x}/{value.denominator:x};".encode())
        elif value is None or isinstance(value, bool | float | Enum):
            digest.update(f"{value!r};".encode())
        else:
            raise TypeError(f"{type(value).__name__} in a program")
    return digest.digest()


def keepable(result: CheckResult) -> bool:
    """Whether the same check would surely end the same way."""
    if result.state in (CheckState.TOOL_ERROR, CheckState.TIMEOUT):
        return False
    return not any(_ran_out(obligation) for obligation in result.obligations)


def _ran_out(obligation: ObligationResult) -> bool:
    """A limit or a fuse may have ended a way of settling it: one that stays open with a candidate doesn't tell."""
    if obligation.state is ObligationState.UNKNOWN:
        return bool(obligation.counterexample)
    return obligation.state is ObligationState.TIMEOUT


class VerdictStore:
    """The file of verdicts. Its methods may be called from any thread, and never fail for what the file is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, key: bytes) -> CheckResult | None:
        with self._lock:
            try:
                row = self._open().execute("SELECT body FROM verdicts WHERE key = ?", (key,)).fetchone()
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
                return None
        return None if row is None else unpacked(row[0])

    def put(self, key: bytes, result: CheckResult) -> None:
        body = packed(result)
        with self._lock:
            try:
                with self._open() as connection:
                    connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, body))
            except (sqlite3.Error, OSError) as error:
                self._recover(error)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=WAIT_SECONDS, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS verdicts (key BLOB PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID"
                )
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _recover(self, error: Exception) -> None:
        """Lets go of the file. A damaged one is put aside; the next use makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if damaged:
            with contextlib.suppress(OSError):  # then the store stays as it is: of no use, and no harm
                os.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
                for suffix in ("-wal", "-shm"):
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


class CachedChecker:
    """Any checker, asked only what the store at `path` doesn't know."""

    def __init__(self, checker: Checker, path: Path) -> None:
        self._checker = checker
        self._store = VerdictStore(path)

    @property
    def tool(self) -> Tool:
        return self._checker.tool

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        """As the checker's own; a result from the store has `cached` set and took 0 seconds."""
        key = verdict_key(task, limits, self.tool)
        known = await asyncio.to_thread(self._store.get, key)
        if known is not None:
            return replace(known, cached=True, seconds=0.0)
        result = await self._checker.check(task, limits)
        if keepable(result):
            await asyncio.to_thread(self._store.put, key, result)
        return result

    async def aclose(self) -> None:
        self._store.close()
        await self._checker.aclose()


@cache
def _adapter() -> TypeAdapter[CheckResult]:
    from pydantic import TypeAdapter

    return TypeAdapter(CheckResult)


def packed(result: CheckResult) -> bytes:
    """As JSON, compressed, with a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(_adapter().dump_json(result))


def unpacked(body: bytes) -> CheckResult | None:
    """The result, None if the entry is damaged or of another format."""
    try:
        return _adapter().validate_json(zstandard.ZstdDecompressor().decompress(body, max_output_size=1 << 28))
    except (zstandard.ZstdError, ValueError, MemoryError):
        return None
