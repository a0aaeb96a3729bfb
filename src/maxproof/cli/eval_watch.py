"""What a person sees while an evaluation or a study runs: a live line on a terminal, else a plain one now and then."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from maxproof.evaluation.dataset.runner import EvalProgress
from maxproof.models.template import clip, visible
from maxproof.models.types import CallProgress

PLAIN_EVERY_S = 30.0
MAX_TROUBLE_CHARS = 300
_PER_SECOND = 4


class View:
    """Shows nothing; a context manager around the run."""

    def __init__(self) -> None:
        self._progress: Callable[[], Any] | None = None
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends the view."""

    def watch(self, progress: Callable[[], Any]) -> None:
        """From now on, `progress` tells how things stand; it is called from the view's own thread.

        What it returns is a dataclass with `done` of `units`, of which the view's lines tell more.
        """
        self._progress = progress


Lines = Callable[[Any], list[str]]


def view_for(*, as_json: bool, quiet: bool, stream: TextIO | None = None, lines: Lines | None = None) -> View:
    """The view that fits. `stream` defaults to standard error, `lines` to those of an evaluation."""
    lines = lines if lines is not None else progress_lines
    stream = stream if stream is not None else sys.stderr
    if quiet:
        return View()
    console = Console(file=stream)
    if console.is_terminal and not as_json:
        return _LiveView(console, lines)
    return _Lines(stream, lines, as_json=as_json)


class _LiveView(View):
    def __init__(self, console: Console, lines: Lines) -> None:
        super().__init__()
        self._lines = lines
        self._bar = Progress(TextColumn("runs"), BarColumn(), MofNCompleteColumn(), console=console)
        self._task = self._bar.add_task("runs", total=None)
        self._live = Live(console=console, get_renderable=self._renderable, refresh_per_second=_PER_SECOND)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def _renderable(self) -> Group:
        if self._progress is None:
            return Group(Text("reading what is recorded"))
        now = self._progress()
        self._bar.update(self._task, completed=now.done, total=now.units)
        return Group(self._bar, *(Text(line) for line in self._lines(now)))


class _Lines(View):
    """A line at an interval, from a thread of its own; with `as_json` one object a line."""

    def __init__(self, stream: TextIO, lines: Lines, *, as_json: bool, interval_s: float = PLAIN_EVERY_S) -> None:
        super().__init__()
        self._lines = lines
        self._stream, self._json, self._interval_s = stream, as_json, interval_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._interval_s):
            if self._progress is None:
                continue
            now, elapsed = self._progress(), round(time.monotonic() - self._started, 1)
            if self._json:
                line = json.dumps({"event": "progress", "elapsed_s": elapsed, **asdict(now)})
            else:
                line = f"[{elapsed:.0f} s] " + "; ".join(self._lines(now))
            self._stream.write(line + "\n")
            self._stream.flush()


def progress_lines(now: EvalProgress) -> list[str]:
    """Runs, then the calls of the search, then those of the oracle."""
    lines = [f"{now.done} of {now.units} runs done, {now.searching} at work, {now.grading} being graded"]
    for name, calls in (("search", now.search), ("oracle", now.oracle)):
        if calls is not None:
            lines.append(f"{name}: {calls_text(calls)}")
    return lines


def calls_text(calls: CallProgress) -> str:
    """How calls stand, in one line."""
    parts = [f"{calls.in_flight} in flight", f"{calls.waiting} waiting", f"{calls.finished:,} finished"]
    if calls.failed:
        parts.append(f"{calls.failed:,} failed")
    parts.append(f"{calls.total_tokens:,} tokens")
    if calls.cost is not None:
        parts.append(f"cost {calls.cost:,.4f}")
    if calls.budget_left is not None:
        parts.append(f"{calls.budget_left:.0%} of the budget left")
    if calls.trouble:
        parts.append("no call succeeds: " + visible(clip(calls.trouble, MAX_TROUBLE_CHARS)).replace("\n", " "))
    return ", ".join(parts)
