"""What `maxproof monitor` shows on standard error while it reads or follows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from maxproof.models.template import visible

if TYPE_CHECKING:
    from rich.live import Live

    from maxproof.monitor.types import Alarm, Report


class FollowView:
    """Shows nothing: the view of `--quiet`."""

    def show(self, report: Report) -> None:
        """The report as it is now."""

    def alarm(self, alarm: Alarm) -> None:
        """An alarm that was not there before."""

    def note(self, text: str) -> None:
        """What happened to a file."""


class Lines(FollowView):
    """A line for each new alarm and each note."""

    def alarm(self, alarm: Alarm) -> None:
        from maxproof.monitor.summary import alarm_line

        self.note(f"alarm: {alarm_line(alarm)}")

    def note(self, text: str) -> None:
        print(visible(text), file=sys.stderr, flush=True)


class JsonLines(FollowView):
    """The same as JSON lines: `{"event": "alarm", ...}` with the alarm's fields, `{"event": "note", "text": ...}`."""

    def alarm(self, alarm: Alarm) -> None:
        print(json.dumps({"event": "alarm", **asdict(alarm)}), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        print(json.dumps({"event": "note", "text": text}), file=sys.stderr, flush=True)


class LiveView(FollowView):
    """The report's picture, without examples for want of room, drawn again when it changes; notes stay above it."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, report: Report) -> None:
        from maxproof.monitor.terminal import render

        self._live.update(render(report, self._live.console.width, examples=False), refresh=True)

    def note(self, text: str) -> None:
        from rich.text import Text

        self._live.console.print(Text(visible(text), "yellow"))


@contextmanager
def follow_view(*, as_json: bool, quiet: bool) -> Iterator[FollowView]:
    """The view that fits: JSON lines when asked for, nothing when quiet, live on a terminal, lines elsewhere."""
    if as_json:
        yield JsonLines()
    elif quiet:
        yield FollowView()
    elif not sys.stderr.isatty():
        yield Lines()
    else:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        # Transient: the last report follows on standard output.
        console = Console(stderr=True, highlight=False)
        waiting = Text("waiting for rollouts; Ctrl-C ends")
        with Live(waiting, console=console, auto_refresh=False, transient=True, vertical_overflow="ellipsis") as live:
            yield LiveView(live)


@contextmanager
def counting(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Takes how many rollouts are read; shows it where standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda rollouts: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield lambda rollouts: status.update(f"{rollouts:,} rollouts read")
