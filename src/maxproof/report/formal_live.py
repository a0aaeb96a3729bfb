"""Progress of a formal run: a bar for people, JSON lines for programs, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from maxproof.formal.folder import FormalFolder
from maxproof.formal.results import Attempt
from maxproof.models.template import visible

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_EVERY = 25  # attempts
LINE_SECONDS = 30.0


class Observer(Protocol):
    """What is told of a run while it goes on."""

    def __call__(self, attempt: Attempt) -> None:
        """An attempt was made."""

    def examined(self, done: int, total: int) -> None:
        """So many statements were examined, after all attempts."""


@contextmanager
def progress(folder: FormalFolder, done: int, *, as_json: bool, quiet: bool) -> Iterator[Observer]:
    """An observer of the run's attempts. All it writes goes to standard error.

    Args:
        done: attempts that the run has already.
    """
    expected = len(folder.problems) * len(folder.formal.methods) * folder.formal.repeats
    if quiet:
        yield _Nothing()
    elif as_json:
        yield _Events()
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield _Bar(bar, done, expected)
    else:
        yield _Lines(done, expected)


class _Nothing:
    def __call__(self, attempt: Attempt) -> None:
        return

    def examined(self, done: int, total: int) -> None:
        return


class _Events:
    """A JSON object a line."""

    def __call__(self, attempt: Attempt) -> None:
        told = {
            "event": "attempt",
            "problem": attempt.problem,
            "method": attempt.method,
            "seed": attempt.seed,
            "state": attempt.state,
            "seconds": round(attempt.seconds, 3),
        }
        print(json.dumps(told), file=sys.stderr, flush=True)

    def examined(self, done: int, total: int) -> None:
        print(json.dumps({"event": "examined", "done": done, "total": total}), file=sys.stderr, flush=True)


def _bar() -> Progress:
    # Of use on a terminal only, and slow to import.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Bar:
    """A progress bar with the count of accepted attempts and the last problem."""

    def __init__(self, bar: Progress, done: int, expected: int) -> None:
        self._bar = bar
        self._task = bar.add_task("proving", total=expected, completed=done)
        self._accepted = 0

    def __call__(self, attempt: Attempt) -> None:
        self._accepted += attempt.accepted
        told = f"{self._accepted} proved · {visible(attempt.problem)[:40]}"
        self._bar.update(self._task, advance=1, description=told)

    def examined(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total, description="statements examined")


class _Lines:
    """A line every so many attempts or seconds, for a log file."""

    def __init__(self, done: int, expected: int) -> None:
        self._expected = expected
        self._done = done
        self._accepted = 0
        self._told = time.monotonic()

    def __call__(self, attempt: Attempt) -> None:
        self._done += 1
        self._accepted += attempt.accepted
        late = time.monotonic() - self._told >= LINE_SECONDS
        if self._done % LINE_EVERY == 0 or self._done == self._expected or late:
            self._told = time.monotonic()
            line = f"{self._done} of {self._expected} attempts, {self._accepted} proved"
            print(line, file=sys.stderr, flush=True)

    def examined(self, done: int, total: int) -> None:
        if total > 1:
            print(f"{done} of {total} statements examined", file=sys.stderr, flush=True)
