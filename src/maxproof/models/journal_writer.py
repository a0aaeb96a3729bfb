"""The writing half of the journal: one thread, one connection, one transaction for all that is ready together."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import filelock
import zstandard

from maxproof.models.journal_bodies import Exchange, pack_reply, split_request
from maxproof.models.journal_rows import FAILED, CallRecord, StoredExchange, insert_statement, row_of
from maxproof.models.journal_schema import lock_path
from maxproof.problems import InputError

VOIDED = "voided"
"""The kind of the events that count failed calls by role which this session asks again."""

_ZSTD_LEVEL = 3
# Seconds between the starts of two commits: most of a commit's cost is its own, not its rows'. A call that finishes
# alone never waits.
_COMMIT_EVERY_S = 0.015


class JournalWriter:
    """Owns the lock and the writing connection. Changes are given by `submit` and run on the writer thread.

    Attributes:
        session: the id of this process's session.
        session_begun: it has recorded something. Its start is the time at which the journal was opened.
    """

    def __init__(self, path: Path, lock: filelock.BaseFileLock, clock: Callable[[], float]) -> None:
        self._path = path
        self._lock = lock
        self._clock = clock
        self._started = clock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        self.session: int = self._connection.execute("SELECT ifnull(max(id), 0) + 1 FROM sessions").fetchone()[0]
        self.session_begun = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self._zip = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)
        self._last_exchange: Exchange | None = None
        self._last_stored: StoredExchange | None = None
        self._pending: list[tuple[Callable[[JournalWriter], None], asyncio.Future[None]]] = []
        self._busy = False
        self._last_commit = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._broken: InputError | None = None

    def reopen_failures(self) -> None:
        """Makes every recorded failure provisional. Called before the first `submit`. Raises InputError."""
        try:
            self._connection.execute("UPDATE calls SET provisional = 1 WHERE state = ?", (FAILED,))
        except sqlite3.Error as error:
            raise InputError(f"cannot write the call journal: {error}", file=self._path) from error

    async def submit(self, change: Callable[[JournalWriter], None]) -> None:
        """Returns when `change` is durable. Raises InputError if the disk is full or fails, then and ever after."""
        if self._broken is not None:
            raise self._broken
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._pending.append((change, done))
        if not self._busy:
            self._busy = True
            self._schedule_batch(loop)
        await done

    def _schedule_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        when = max(loop.time(), self._last_commit + _COMMIT_EVERY_S)
        self._timer = loop.call_at(when, self._start_batch, loop)

    def _start_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._last_commit = loop.time()
        batch, self._pending = self._pending, []
        future = self._thread.submit(self._commit, [change for change, _ in batch])

        def finished(future: Future[None]) -> None:
            # A closed loop has nobody left to tell; the rows are written all the same.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._end_batch, loop, [done for _, done in batch], future)

        future.add_done_callback(finished)

    def _end_batch(
        self, loop: asyncio.AbstractEventLoop, waiting: list[asyncio.Future[None]], future: Future[None]
    ) -> None:
        error = future.exception()
        for done in waiting:
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)
        if self._pending:
            self._schedule_batch(loop)
        else:
            self._busy = False

    def _commit(self, changes: list[Callable[[JournalWriter], None]]) -> None:
        if self._broken is not None:
            raise self._broken
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._begin_session()
            for change in changes:
                change(self)
            self._connection.execute("UPDATE sessions SET last = ? WHERE id = ?", (self._clock(), self.session))
            self._connection.execute("COMMIT")
            self.session_begun = True
        except BaseException as error:
            self._last_exchange = None
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
                self._broken = InputError(
                    f"cannot write the call journal: {error}; what was recorded before is safe",
                    file=self._path,
                    hint="make room, then resume the run",
                )
                raise self._broken from error
            raise

    def _begin_session(self) -> None:
        if self.session_begun:
            return
        # What is asked again was paid for all the same: it leaves its number behind.
        voided = self._connection.execute("SELECT role, count(*) FROM calls WHERE provisional GROUP BY role").fetchall()
        self._connection.execute("DELETE FROM calls WHERE provisional")
        self._connection.execute(
            "INSERT INTO sessions (id, started, last) VALUES (?, ?, ?)", (self.session, self._started, self._started)
        )
        for role, count in voided:
            self.insert_event(VOIDED, f"{count} {role}")

    def insert_call(self, record: CallRecord) -> None:
        exchange = record.exchange
        if exchange is not None and exchange is not self._last_exchange:
            self._last_stored = self._insert_exchange(exchange)
            self._last_exchange = exchange
        row = row_of(record, self.session, self._last_stored if exchange is not None else None)
        self._connection.execute(insert_statement(tuple(row)), row)

    def _insert_exchange(self, exchange: Exchange) -> StoredExchange:
        head, messages, tail = split_request(exchange.request_body)
        frame, spans = pack_reply(exchange.answers, exchange.response_body)
        reply = self._connection.execute(
            "INSERT INTO replies (response_start, body) VALUES (?, ?)",
            (len(frame) - len(exchange.response_body), self._zip.compress(frame)),
        ).lastrowid
        return StoredExchange(head, self._insert_prompt(messages), tail, int(reply or 0), spans)

    def insert_event(self, kind: str, text: str) -> None:
        self._connection.execute(
            "INSERT INTO events (session, at, kind, text) VALUES (?, ?, ?, ?)",
            (self.session, self._clock(), kind, text),
        )

    def confirm(self, keys: Sequence[bytes]) -> None:
        self._connection.executemany("UPDATE calls SET provisional = 0 WHERE key = ?", [(key,) for key in keys])

    def set_outcome(self, outcome: str) -> None:
        self._connection.execute("UPDATE sessions SET outcome = ? WHERE id = ?", (outcome, self.session))

    def _insert_prompt(self, messages: bytes) -> int:
        digest = hashlib.sha256(messages).digest()
        found = self._connection.execute("SELECT id FROM prompts WHERE digest = ?", (digest,)).fetchone()
        if found is not None:
            return int(found[0])
        cursor = self._connection.execute(
            "INSERT INTO prompts (digest, body) VALUES (?, ?)", (digest, self._zip.compress(messages))
        )
        return int(cursor.lastrowid or 0)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._thread.shutdown(wait=True)
        try:
            if self._pending:  # rows of calls whose wait was cancelled before their commit: they are paid for
                self._commit([change for change, _ in self._pending])
        finally:
            self._connection.close()
            self._lock.release()


def take_lock(path: Path) -> filelock.BaseFileLock:
    """The right to write the run whose main file is `path`. Raises InputError, naming the holder, if it is taken."""
    place = lock_path(path)
    try:
        holder = place.read_text(encoding="ascii", errors="replace").strip() if place.exists() else ""
        lock = filelock.FileLock(place)
        lock.acquire(timeout=0.5, poll_interval=0.05)
        place.write_text(f"{os.getpid()}\n", encoding="ascii")
    except filelock.Timeout:
        who = f"process {holder}" if holder.isdigit() else "another process"
        raise InputError(
            f"{who} is writing this run", file=path, hint="wait for it or stop it; two can't write one run"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be locked: {error.strerror}", file=place) from error
    return lock
