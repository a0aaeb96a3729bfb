"""Progress of a formal run: a bar for people, JSON lines for programs, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from maxproof.formal.folder import FormalFolder
from maxproof.formal.results import Attempt
from maxproof.models.template import visible

Observe = Callable[[Attempt], None]

LINE_EVERY = 25


@contextmanager
def progress(folder: FormalFolder, *, as_json: bool, quiet: bool) -> Iterator[Observe]:
    """An observer of the run's attempts. All it writes goes to standard error."""
    expected = len(folder.problems) * len(folder.formal.methods) * folder.formal.repeats
    if as_json and not quiet:
        yield _tell_json
    elif quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield _Bar(bar, expected)
    else:
        yield _Lines(expected)


def _tell_json(attempt: Attempt) -> None:
    told = {
        "event": "attempt",
        "problem": attempt.problem,
        "method": attempt.method,
        "seed": attempt.seed,
        "state": attempt.state,
        "seconds": round(attempt.seconds, 3),
    }
    print(json.dumps(told), file=sys.stderr, flush=True)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Bar:
    """A progress bar with the count of accepted attempts and the last problem."""

    def __init__(self, bar: Progress, expected: int) -> None:
        self._bar = bar
        self._task = bar.add_task("proving", total=expected)
        self._accepted = 0

    def __call__(self, attempt: Attempt) -> None:
        self._accepted += attempt.accepted
        name = Text(visible(attempt.problem)[:40]).plain
        self._bar.update(self._task, advance=1, description=f"{self._accepted} proved · {name}")


class _Lines:
    """A line every so many attempts, for a log file."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._done = self._accepted = 0

    def __call__(self, attempt: Attempt) -> None:
        self._done += 1
        self._accepted += attempt.accepted
        if self._done % LINE_EVERY == 0 or self._done == self._expected:
            line = f"{self._done} of {self._expected} attempts, {self._accepted} proved"
            print(line, file=sys.stderr, flush=True)
