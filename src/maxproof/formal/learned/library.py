"""The learned library on disk: one SQLite file that any number of processes share; a kill loses nothing that was added.

    with LearnedLibrary(default_library()) as library:
        library.add(lemmas)
        offer = library.lemmas()

The file is data of unknown origin: what isn't a lemma that may be offered is passed over (see `read_lemma`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final

from maxproof.formal.learned.lemma import LearnedLemma, read_lemma
from maxproof.problems import InputError

MAX_LEMMAS: Final = 2_000
WAIT_SECONDS: Final = 30.0  # for another process's write

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS lemmas (key TEXT PRIMARY KEY, text TEXT NOT NULL, problem TEXT NOT NULL, "
    "method TEXT NOT NULL, checker TEXT NOT NULL) WITHOUT ROWID"
)


def default_library() -> Path:
    """`maxproof/learned.sqlite` in the user's data folder (XDG_DATA_HOME, else `~/.local/share`)."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "maxproof" / "learned.sqlite"


class LearnedLibrary:
    """An open library. Raises InputError, here and in its methods, when the file can't be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute(_TABLE)
            except BaseException:
                self._connection.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def __enter__(self) -> LearnedLibrary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def add(self, lemmas: Iterable[LearnedLemma]) -> None:
        """Keeps the lemmas whose statements are new, all or none; a full library takes no more."""
        rows = [(lemma.key, lemma.text, lemma.problem, lemma.method, lemma.checker) for lemma in lemmas]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                (count,) = self._connection.execute("SELECT COUNT(*) FROM lemmas").fetchone()
                free = max(0, MAX_LEMMAS - count)
                self._connection.executemany("INSERT OR IGNORE INTO lemmas VALUES (?, ?, ?, ?, ?)", rows[:free])
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def lemmas(self) -> tuple[LearnedLemma, ...]:
        """All that may be offered, by key: the order doesn't tell when they were learned."""
        query = "SELECT key, text, problem, method, checker FROM lemmas ORDER BY key LIMIT ?"
        try:
            rows = self._connection.execute(query, (MAX_LEMMAS,)).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        found = (read_lemma(*row) for row in rows if all(isinstance(value, str) for value in row))
        return tuple(lemma for lemma in found if lemma is not None)

    def _unusable(self, error: Exception) -> InputError:
        return InputError(f"can't be used: {error}", file=self._path, hint="move it away, or run without --learn")
