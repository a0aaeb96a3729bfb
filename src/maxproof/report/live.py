"""What a person or a program sees while a search runs: a live view, plain lines, or one JSON object a line.

All three are observers of the engine: a context manager that is called with each event. None blocks: an event changes a
few counters under a lock, and a thread of the view's own redraws (four times a second) or writes a progress line (every
half minute), also while no event comes because all calls are slow. The text of a model is never shown here; reasons
have their control characters made visible. Everything goes to standard error, so that standard output is the result.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from maxproof.models.template import clip, visible
from maxproof.models.types import CallProgress
from maxproof.report.layout import one_line
from maxproof.report.summary import SYMBOLS, count, duration, match_tally, points_text
from maxproof.search.events import (
    CandidateAdded,
    CandidateLost,
    Event,
    MatchClosed,
    RoundClosed,
    RoundStarted,
    Stopped,
    Verified,
)
from maxproof.search.types import StopReason
from maxproof.verifier.types import MAX_POINTS, ScoreState

REFRESH_PER_SECOND = 4
PROGRESS_EVERY_S = 30.0
SHOWN_CANDIDATES = 8
SHOWN_LOSSES = 5
MAX_TROUBLE_CHARS = 300

Progress = Callable[[], CallProgress]

_MARKS = {
    ScoreState.PASSED: SYMBOLS["passed"],
    ScoreState.FAILED: SYMBOLS["failed"],
    ScoreState.NOT_SCORED: SYMBOLS["not_scored"],
}
_STOPS = {
    StopReason.PERFECT: "enough candidates passed",
    StopReason.ROUNDS: "all rounds done",
    StopReason.NO_PARENTS: "nothing left to refine",
    StopReason.NOT_RUN: "a call could not be run",
}


class View:
    """An observer of the engine between enter and exit; this one shows nothing."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends the view."""

    def __call__(self, event: Event) -> None:
        """Takes one event in."""

    def watch(self, progress: Progress) -> None:
        """From now on, `progress` tells how the calls stand; it is called from the view's own thread."""
        self._progress = progress

    def _elapsed(self) -> float:
        return time.monotonic() - self._started


def observer_for(*, as_json: bool = False, quiet: bool = False, stream: TextIO | None = None) -> View:
    """The view that fits: nothing when quiet, JSON when asked for, live on a terminal, plain lines elsewhere.

    `stream` defaults to standard error.
    """
    stream = stream if stream is not None else sys.stderr
    if quiet:
        return View()
    if as_json:
        return JsonLines(stream)
    console = Console(file=stream)
    return LiveView(console) if console.is_terminal else PlainLines(stream)


@dataclass(slots=True)
class Line:
    """What the view knows of one candidate."""

    id: int
    round: int
    origin: str
    points: float | None = None
    exact: bool = False
    samples: dict[int, ScoreState] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.exact and bool(self.samples) and all(s is ScoreState.PASSED for s in self.samples.values())


@dataclass(slots=True)
class Tally:
    """The state of a search as its events tell it."""

    lines: dict[int, Line] = field(default_factory=dict)
    round: int = 0
    lost: int = 0
    stage: str = ""

    def apply(self, event: Event) -> None:
        """Takes one event in; constant time."""
        match event:
            case CandidateAdded():
                self.lines[event.candidate] = Line(event.candidate, event.round, event.origin)
            case CandidateLost():
                self.lost += 1
            case Verified() if event.candidate in self.lines:
                line = self.lines[event.candidate]
                line.samples[event.sample] = event.state
                line.points, line.exact = event.fitness, event.exact
            case RoundStarted():
                self.round = event.number
            case Stopped():
                self.stage = f"rounds ended: {_STOPS[event.reason]}"
            case MatchClosed():
                self.stage = _match_line(event)
            case _:
                pass

    def best(self, number: int) -> list[Line]:
        """The best candidates so far: scored first, by points, exact before bounds, then by id."""
        known = (line for line in self.lines.values() if line.samples)
        return sorted(known, key=lambda x: (x.points is None, -(x.points or 0.0), not x.passed, not x.exact, x.id))[
            :number
        ]

    def status(self) -> str:
        """`round 2, 44 candidates, best 6 of 7, 1 passed`."""
        passed = sum(line.passed for line in self.lines.values())
        lost = f", {self.lost} lost" if self.lost else ""
        return f"round {self.round}, {count(len(self.lines), 'candidate')}{self.best_points()}, {passed} passed{lost}"

    def best_points(self) -> str:
        """`, best 6 of 7`, with ≤ for a bound; "" while nothing is scored."""
        first = next(iter(self.best(1)), None)
        return "" if first is None or first.points is None else f", best {_points(first)} of {MAX_POINTS}"


class LiveView(View):
    """The live view of a terminal."""

    def __init__(self, console: Console | None = None, progress: Progress | None = None) -> None:
        super().__init__(progress)
        self._tally = Tally()
        self._lock = threading.Lock()
        self._live = Live(
            console=console or Console(stderr=True),
            get_renderable=self.renderable,
            refresh_per_second=REFRESH_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._tally.apply(event)

    def renderable(self) -> Group:
        """The picture of this moment."""
        calls = self._progress() if self._progress is not None else None
        with self._lock:
            status, stage = self._tally.status(), self._tally.stage
            best = self._tally.best(SHOWN_CANDIDATES)
            table = Table(box=None, pad_edge=False, header_style="dim")
            for name in ("candidate", "round", "origin", "points", "samples"):
                table.add_column(name, justify="right" if name in ("candidate", "round", "points") else "left")
            for line in best:
                style = "bold green" if line.passed else ""
                marks = " ".join(_MARKS[state] for _, state in sorted(line.samples.items()))
                cells = (str(line.id), str(line.round), line.origin, _points(line), marks)
                table.add_row(*(Text(c, style) for c in cells))
        lines: list[Text | Table] = [Text(f"{duration(self._elapsed())}  {status}", "bold")]
        if calls is not None:
            lines.append(Text(_calls_line(calls)))
            if calls.trouble:
                lines.append(Text(_trouble(calls), "red", no_wrap=True, overflow="ellipsis"))
            if calls.budget_left is not None:
                lines.append(_bar(calls.budget_left))
        if stage:
            lines.append(Text(stage))
        return Group(*lines, *([table] if best else []))


class _LineView(View, ABC):
    """Writes lines to a stream: some for events, and one at an interval from a thread of its own."""

    def __init__(self, stream: TextIO, progress: Progress | None = None, interval_s: float = PROGRESS_EVERY_S) -> None:
        super().__init__(progress)
        self._stream, self._interval_s = stream, interval_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def __call__(self, event: Event) -> None:
        with self._lock:
            for line in self._lines(event):
                self._write(line)

    def _run(self) -> None:
        while not self._over.wait(self._interval_s):
            with self._lock:
                if self._progress is not None:
                    self._write(self._progress_line(self._progress()))

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()

    @abstractmethod
    def _lines(self, event: Event) -> list[str]: ...

    @abstractmethod
    def _progress_line(self, calls: CallProgress) -> str: ...


class PlainLines(_LineView):
    """A line for each event that matters, and a progress line now and then."""

    def __init__(self, stream: TextIO, progress: Progress | None = None, interval_s: float = PROGRESS_EVERY_S) -> None:
        super().__init__(stream, progress, interval_s)
        self._tally = Tally()
        self._passed: set[int] = set()

    def _progress_line(self, calls: CallProgress) -> str:
        trouble = f"; {_trouble(calls)}" if calls.trouble else ""
        return self._stamped(f"{self._tally.status()}; {_calls_line(calls)}{trouble}")

    def _stamped(self, line: str) -> str:
        return f"[{duration(self._elapsed())}] {visible(clip(line, 500))}"

    def _lines(self, event: Event) -> list[str]:
        self._tally.apply(event)
        return [self._stamped(line) for line in self._telling(event)]

    def _telling(self, event: Event) -> list[str]:
        match event:
            case RoundStarted() if event.parents:
                return [f"round {event.number}: parents {', '.join(map(str, event.parents))}"]
            case RoundClosed():
                r = event.round
                return [
                    f"round {r.number} closed: {count(len(self._tally.lines), 'candidate')}"
                    f"{self._tally.best_points()}, {len(r.perfect)} passed"
                ]
            case CandidateLost() if self._tally.lost <= SHOWN_LOSSES:
                more = "; further ones are only counted" if self._tally.lost == SHOWN_LOSSES else ""
                reason = " ".join(event.reason[:300].split("\n"))
                return [f"candidate {event.candidate} was not made: {reason}{more}"]
            case Verified() if event.candidate in self._tally.lines:
                if self._tally.lines[event.candidate].passed and event.candidate not in self._passed:
                    self._passed.add(event.candidate)
                    return [f"candidate {event.candidate} passed all its verifications"]
                return []
            case Stopped():
                return [f"rounds ended: {_STOPS[event.reason]}"]
            case MatchClosed():
                return [_match_line(event)]
            case _:
                return []


class JsonLines(_LineView):
    """Every event as one JSON object a line, and a `progress` object now and then.

    `event` is the event's name in snake case, `elapsed_s` the seconds since the start; the other keys are the event's
    fields. Nothing outside printable ASCII is written.
    """

    def _lines(self, event: Event) -> list[str]:
        return [self._object(_snake(type(event).__name__), asdict(event))]

    def _progress_line(self, calls: CallProgress) -> str:
        return self._object("progress", asdict(calls))

    def _object(self, name: str, fields: dict[str, object]) -> str:
        line = json.dumps({"event": name, "elapsed_s": round(self._elapsed(), 3), **fields})
        return line.replace("\x7f", "\\u007f")


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _points(line: Line) -> str:
    if line.points is None:
        return "?"
    return points_text(line.points) if line.exact else f"≤ {points_text(line.points)}"


def _match_line(event: MatchClosed) -> str:
    match = event.match
    loser = match.left if match.winner == match.right else match.right
    return f"match {match.number}: {match.winner} over {loser} ({match_tally(match)})"


def _calls_line(calls: CallProgress) -> str:
    parts = [f"{count(calls.in_flight, 'call')} in flight"]
    if calls.waiting:
        parts.append(f"{count(calls.waiting, 'call')} waiting (retrying or queued)")
    parts.append(f"{calls.finished:,} finished")
    if calls.replayed:
        parts.append(f"{calls.replayed:,} from the journal")
    if calls.failed:
        parts.append(f"{calls.failed:,} failed")
    parts.append(count(calls.total_tokens, "token"))
    if calls.cost is not None:
        parts.append(f"cost {calls.cost:,.4f}")
    if calls.budget_left is not None:
        parts.append(f"{calls.budget_left:.0%} of the budget left")
    return ", ".join(parts)


def _trouble(calls: CallProgress) -> str:
    return f"no call succeeds: {one_line(clip(calls.trouble, MAX_TROUBLE_CHARS))}"


def _bar(left: float) -> Text:
    full = round(min(max(left, 0.0), 1.0) * 30)
    return Text("budget ").append("█" * full, "green" if left > 0.2 else "red").append("░" * (30 - full), "dim")
