"""The journal's file: its tables, and how a file is checked before anything may touch it.

A journal is an SQLite database in WAL mode with our application id; `user_version` is the format's version. It is
made complete under another name and then renamed, so a file of the right name always has its header and tables.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from maxproof.problems import InputError

APPLICATION_ID = 0x4D785066
FORMAT_VERSION = 1

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE prompts (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,      -- SHA-256
    body BLOB NOT NULL                -- zstd: the messages of a request body
);
CREATE TABLE replies (
    id INTEGER PRIMARY KEY,
    response_start INTEGER NOT NULL,  -- where the raw response begins, in bytes
    body BLOB NOT NULL                -- zstd: texts and reasonings, then the raw response (see journal_bodies)
);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    started REAL NOT NULL,            -- unix seconds
    last REAL NOT NULL,               -- the last time anything was recorded
    outcome TEXT NOT NULL DEFAULT ''  -- '' while running and after a kill
);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, task TEXT NOT NULL, candidate INTEGER NOT NULL, sample INTEGER NOT NULL,
    judge TEXT NOT NULL, attempt INTEGER NOT NULL,
    template TEXT NOT NULL, inputs TEXT NOT NULL,
    endpoint TEXT NOT NULL, base_url TEXT NOT NULL, model TEXT NOT NULL,
    temperature REAL NOT NULL, top_p REAL NOT NULL, max_tokens INTEGER NOT NULL,
    sampler TEXT NOT NULL,            -- digest of endpoint, model, sampling and the run's seed
    seed INTEGER,                     -- as sent; NULL if none was
    state TEXT NOT NULL,              -- complete, truncated, empty, refused or failed
    provisional INTEGER NOT NULL,     -- 1: a failure that a resumed run asks again
    failure TEXT NOT NULL, message TEXT NOT NULL,
    reported_model TEXT NOT NULL, finish_reason TEXT NOT NULL, unclosed_thinking INTEGER NOT NULL,
    reply INTEGER REFERENCES replies(id),  -- NULL for a failed call
    text_start INTEGER, text_bytes INTEGER, reasoning_bytes INTEGER,
    head BLOB, prompt INTEGER REFERENCES prompts(id), tail BLOB,  -- the request body: head, prompt, tail
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL,
    cost REAL,                        -- NULL: the endpoint has no prices
    latency REAL NOT NULL, attempts INTEGER NOT NULL, adaptations TEXT NOT NULL,
    started REAL NOT NULL, finished REAL NOT NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions(id),
    at REAL NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
);
"""


def create_file(path: Path, meta: Mapping[str, str]) -> None:
    """Makes an empty journal. Raises InputError if the file exists or the folder can't be written."""
    if path.exists():
        raise InputError("there is a call journal already", file=path, hint="resume that run or choose another folder")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        connection = sqlite3.connect(partial, isolation_level=None)
        try:
            connection.executescript(
                f"PRAGMA page_size = 8192; PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {FORMAT_VERSION}; PRAGMA synchronous = FULL; BEGIN; {_SCHEMA} COMMIT;"
            )
            connection.executemany("INSERT INTO meta VALUES (?, ?)", sorted(meta.items()))
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        os.replace(partial, path)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot create the call journal: {error}", file=path) from error


def check_header(path: Path) -> None:
    """Raises InputError unless the file starts as a journal of this format does and is as long as it says.

    Reads the file's first bytes only: nothing is opened by SQLite and nothing is changed.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(100)
        size = path.stat().st_size
    except FileNotFoundError:
        raise InputError("no call journal here", file=path, hint="is this a run folder?") from None
    except OSError as error:
        raise InputError(f"cannot read the call journal: {error.strerror}", file=path) from error
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise InputError("not a call journal: the file is foreign or was cut short; it was left as it is", file=path)
    page_size, pages, version, application = struct.unpack(">16xH10xI28xI4xI", header[:72])
    expected = pages * (65536 if page_size == 1 else page_size)
    if application != APPLICATION_ID:
        raise InputError("not a call journal: an SQLite file of another program; it was left as it is", file=path)
    if version > FORMAT_VERSION:
        raise InputError(
            f"the call journal has format {version}, this maxproof reads up to {FORMAT_VERSION}; it was left as it is",
            file=path,
            hint="upgrade maxproof",
        )
    # With a write-ahead log beside it the file may lag behind: the integrity check decides then.
    if not has_wal(path) and size < expected:
        raise InputError(
            f"the call journal is damaged: {size} bytes where its header says {expected}; it was left as it is",
            file=path,
            hint="restore the file from a copy",
        )


def check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Raises InputError if SQLite finds the file damaged. `connection` must be read-only."""
    try:
        problems = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
        if problems == ["ok"]:
            connection.execute("SELECT key, reply FROM calls LIMIT 1").fetchall()
            return
        reason = problems[0]
    except sqlite3.DatabaseError as error:
        reason = str(error)
    raise InputError(
        f"the call journal is damaged: {' '.join(reason.split())}; it was left as it is",
        file=path,
        hint="restore the file from a copy",
    )


def has_wal(path: Path) -> bool:
    """Whether a write-ahead log with content lies beside the file: a writer is at work, or was killed."""
    wal = path.with_name(path.name + "-wal")
    try:
        return wal.stat().st_size > 0
    except OSError:
        return False


def open_read_only(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """A read-only connection. `immutable`: makes no file beside the journal; only without a write-ahead log."""
    flags = "mode=ro&immutable=1" if immutable else "mode=ro"
    return sqlite3.connect(f"file:{quote(os.fsencode(path.resolve()))}?{flags}", uri=True, isolation_level=None)


def open_for_replay(path: Path) -> tuple[sqlite3.Connection, tempfile.TemporaryDirectory[str] | None]:
    """A read-only view that changes nothing in the folder, and the temporary folder it needs, if any.

    After a clean end the file is whole by itself. With a live writer its log and shared memory are used as they are.
    What a killed writer left is copied away and recovered there: recovery makes a file beside the journal.
    """
    if not has_wal(path):
        return open_read_only(path, immutable=True), None
    if _writer_lives(path):
        return open_read_only(path), None
    folder = tempfile.TemporaryDirectory(prefix="maxproof-journal-")
    copy = Path(folder.name) / "journal"
    try:
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    except OSError as error:
        folder.cleanup()
        raise InputError(f"cannot copy the call journal to read it: {error}", file=path) from error
    return open_read_only(copy), folder


def lock_path(path: Path) -> Path:
    """The lock file that a writer holds; its content is the writer's process id."""
    return path.with_name(path.name + ".lock")


def _writer_lives(path: Path) -> bool:
    try:
        descriptor = os.open(lock_path(path), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
