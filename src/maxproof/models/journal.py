"""The call journal: every finished call is one durable row before its answer is used.

Rows that are ready together, or while the previous commit runs, share one transaction on one writer thread;
`record` returns after the commit. Texts are compressed, and read only when asked for. A writer holds a lock file for
its life. A session begins with its first row: a run that only reads what is recorded leaves no trace.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import filelock
import zstandard

from maxproof.models.journal_rows import (
    SELECT_RESULT,
    CallRecord,
    StoredCall,
    stored_call,
)
from maxproof.models.journal_schema import (
    check_header,
    check_integrity,
    create_file,
    has_wal,
    open_for_replay,
    open_read_only,
)
from maxproof.models.journal_writer import VOIDED, JournalWriter, take_lock
from maxproof.problems import InputError

_PAGE_ROWS = 10_000
"""Rows that are read at once: a journal may have millions."""


@dataclass(frozen=True, slots=True)
class SessionTimes:
    """One session of a run, unix seconds. `outcome` is "" while it runs and after a kill."""

    id: int
    started: float
    last: float
    outcome: str


class Journal:
    """The calls of one run. Made by `create`, `resume` (one process at a time) or `replay` (read-only, any number)."""

    def __init__(
        self,
        path: Path,
        reader: sqlite3.Connection,
        writer: JournalWriter | None,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.path = path
        self._reader = reader
        self._reader.row_factory = sqlite3.Row
        self._writer = writer
        self._folder = folder
        self._unzip = zstandard.ZstdDecompressor()
        self._last_reply = (0, b"")

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str], *, clock: Callable[[], float] = time.time) -> Journal:
        """A new journal, open for writing. `meta` is kept as it is, for instance the problem's digest.

        Raises InputError if there is one already or the folder can't be written.
        """
        lock = take_lock(path)
        try:
            create_file(path, meta)
        except InputError:
            lock.release()
            raise
        return cls._open(path, lock, clock)

    @classmethod
    def resume(cls, path: Path, *, failed_again: bool = False, clock: Callable[[], float] = time.time) -> Journal:
        """An existing journal, open for writing.

        `failed_again`: no failure of an earlier session is final, so each failed call that is wanted is asked again:
        for work whose calls don't depend on each other.

        Raises InputError, with the file untouched, if another process writes it, or if it is missing, foreign,
        damaged or of a newer format.
        """
        check_header(path)
        journal = cls._open(path, take_lock(path), clock)
        if failed_again and journal._writer is not None:
            try:
                journal._writer.reopen_failures()
            except BaseException:
                journal.close()
                raise
        return journal

    @classmethod
    def _open(cls, path: Path, lock: filelock.BaseFileLock, clock: Callable[[], float]) -> Journal:
        try:
            check = open_read_only(path, immutable=not has_wal(path))
            try:
                check_integrity(check, path)
            finally:
                check.close()
            return cls(path, open_read_only(path), JournalWriter(path, lock, clock))
        except sqlite3.Error as error:
            lock.release()
            raise InputError(f"cannot open the call journal: {error}", file=path) from error
        except BaseException:
            lock.release()
            raise

    @classmethod
    def replay(cls, path: Path) -> Journal:
        """An existing journal, read-only; nothing in its folder changes. Raises InputError as `resume` does."""
        check_header(path)
        reader, folder = open_for_replay(path)
        try:
            check_integrity(reader, path)
        except InputError:
            reader.close()
            if folder is not None:
                folder.cleanup()
            raise
        return cls(path, reader, None, folder)

    @property
    def writable(self) -> bool:
        return self._writer is not None

    @property
    def session(self) -> int | None:
        """The id that this process's rows have; None for a replay."""
        return self._writer.session if self._writer is not None else None

    @property
    def session_begun(self) -> bool:
        """Whether this process has recorded anything."""
        return self._writer is not None and self._writer.session_begun

    def find(self, key: bytes) -> StoredCall | None:
        """The recorded result of a call. A provisional failure of an earlier session is not found when resuming."""
        rows = self._query(f"{SELECT_RESULT} WHERE key = ? AND (NOT provisional OR session >= ?)", key, self._visible)
        return stored_call(rows[0], self._read_reply) if rows else None

    def bodies(self, key: bytes) -> tuple[bytes, bytes] | None:
        """The raw request and response of a recorded call, byte for byte; empty for a failed call."""
        rows = self._query(
            "SELECT head, prompt, tail, reply, response_start FROM calls LEFT JOIN replies ON replies.id = reply "
            "WHERE key = ?",
            key,
        )
        if not rows:
            return None
        row = rows[0]
        if row["reply"] is None:
            return b"", b""
        (prompt,) = self._query("SELECT body FROM prompts WHERE id = ?", row["prompt"])
        request: bytes = row["head"] + self._unzipped(prompt["body"]) + row["tail"]
        return request, self._read_reply(row["reply"])[row["response_start"] :]

    def calls(self, columns: str) -> Iterator[sqlite3.Row]:
        """The given columns of every call that `find` can find, in the order of their keys, a page at a time."""
        last = b""
        while page := self._query(
            f"SELECT {columns}, key AS page_key FROM calls WHERE (NOT provisional OR session >= ?) AND key > ? "
            f"ORDER BY key LIMIT {_PAGE_ROWS}",
            self._visible,
            last,
        ):
            yield from page
            last = page[-1]["page_key"]

    def sessions(self) -> tuple[SessionTimes, ...]:
        """In order."""
        return tuple(
            SessionTimes(*row) for row in self._query("SELECT id, started, last, outcome FROM sessions ORDER BY id")
        )

    def events(self, kind: str) -> tuple[tuple[int, str], ...]:
        """(session, text) of each event of that kind, in order."""
        rows = self._query("SELECT session, text FROM events WHERE kind = ? ORDER BY id", kind)
        return tuple((row["session"], row["text"]) for row in rows)

    def voided(self) -> dict[str, int]:
        """By role, how many failed calls can't be found any more since a resumed run asks them again."""
        counts: Counter[str] = Counter()
        for _, text in self.events(VOIDED):
            count, _, role = text.partition(" ")
            counts[role] += int(count)
        for row in self._query(
            "SELECT role, count(*) AS count FROM calls WHERE provisional AND session < ? GROUP BY role", self._visible
        ):
            counts[row["role"]] += row["count"]
        return dict(counts)

    def meta(self, name: str) -> str:
        """The value that `create` was given; empty if there is none."""
        rows = self._query("SELECT value FROM meta WHERE name = ?", name)
        return str(rows[0][0]) if rows else ""

    async def record(
        self,
        records: Sequence[CallRecord] = (),
        *,
        confirm: Sequence[bytes] = (),
        events: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Writes calls, makes the provisional failures of the keys in `confirm` final, and adds (kind, text) events.

        All of it or nothing is durable when this returns. A cancelled wait does not take it back. Raises InputError if
        the disk is full or fails; what was recorded before stays.
        """

        def write(writer: JournalWriter) -> None:
            for record in records:
                writer.insert_call(record)
            writer.confirm(confirm)
            for kind, text in events:
                writer.insert_event(kind, text)

        await self._write(write)

    async def end_session(self, outcome: str) -> None:
        """Records how this session ended; nothing if it recorded nothing. Raises as `record`."""
        if self.session_begun:
            await self._write(lambda writer: writer.set_outcome(outcome))

    def close(self) -> None:
        """Waits for what is being written, then lets go of the file and its lock."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _write(self, change: Callable[[JournalWriter], None]) -> None:
        if self._writer is None:
            raise ValueError("this journal is open for replay only")
        await self._writer.submit(change)

    @property
    def _visible(self) -> int:
        """The first session whose provisional failures count: ours when writing; all when replaying."""
        return self._writer.session if self._writer is not None else 0

    def _read_reply(self, number: int) -> bytes:
        # Samples of one request are read one after the other and share a reply.
        if self._last_reply[0] != number:
            (row,) = self._query("SELECT body FROM replies WHERE id = ?", number)
            self._last_reply = (number, self._unzipped(row["body"]))
        return self._last_reply[1]

    def _unzipped(self, body: bytes) -> bytes:
        try:
            return self._unzip.decompress(body)
        except zstandard.ZstdError as error:
            raise InputError(f"the call journal is damaged: {error}", file=self.path) from error

    def _query(self, statement: str, *values: object) -> list[sqlite3.Row]:
        # fetchall: a statement left half-read would hold a read lock and keep the log from being reused.
        try:
            return self._reader.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise InputError(f"cannot read the call journal: {error}", file=self.path) from error
