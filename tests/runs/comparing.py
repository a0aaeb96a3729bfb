"""When two runs are the same run: what their folders hold, without what the clock alone decides."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commands import maxproof

DERIVED = ("report.html", "result.json", "proof.md")
_TIMES = (r"started \d{4}-\d\d-\d\dT[\d:+]+", r"\b\d[\d.,]* (s|min|h)( \d+ (s|min))? of work")


def result(run: Path, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """`result.json` without the run's name and times, and without what is named: keys of it or of a usage row."""
    value: dict[str, Any] = json.loads((run / "result.json").read_text())
    for name in ("run", "elapsed_s", *without):
        value.pop(name, None)
    for row in (*value.get("usage", []), value.get("total", {})):
        for name in ("seconds", *without):
            row.pop(name, None)
    return value


def page(run: Path) -> str:
    """`report.html` without the run's name and times."""
    text = (run / "report.html").read_text()
    for pattern in _TIMES:
        text = re.sub(pattern, "TIME", text)
    return text.replace(run.name, "RUN")


def decisions(run: Path) -> dict[str, Any]:
    """What a search decides: parents of each round, stop, finalists, matches, winner."""
    value = result(run)
    rounds = [(opened["number"], opened["parents"], opened["perfect"]) for opened in value["rounds"]]
    return {name: value[name] for name in ("outcome", "stop", "finalists", "matches", "winner")} | {"rounds": rounds}


@contextmanager
def bare_copy(run: Path) -> Iterator[Path]:
    """A copy with nothing but the description and the journal, as it may be taken to another machine."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / run.name
        copy.mkdir()
        for file in (run / "run.json", *run.glob("journal.sqlite*")):
            if not file.name.endswith(".lock"):
                shutil.copy(file, copy / file.name)
        yield copy


def assert_same_files(one: Path, other: Path) -> None:
    """Byte for byte."""
    for name in DERIVED:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def assert_replays(run: Path) -> None:
    """A bare copy gives the same files."""
    with bare_copy(run) as copy:
        done = maxproof("report", copy)
        assert done.returncode == 0, done.stderr
        assert_same_files(copy, run)


def recorded(run: Path) -> int:
    """Calls in the journal, read from a copy: the run's own folder is not touched. 0 without a journal."""
    with bare_copy(run) as copy:
        if not (copy / "journal.sqlite").exists():
            return 0
        connection = sqlite3.connect(copy / "journal.sqlite")
        try:
            return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
        finally:
            connection.close()
