"""What `maxproof monitor` does: reads or follows rollouts, then tells, writes and exports the report."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

from maxproof.cli.errors import ExitCode, needs_extra
from maxproof.cli.monitor_watch import counting, follow_view
from maxproof.models.template import visible
from maxproof.monitor.settings import MonitorSettings
from maxproof.problems import InputError
from maxproof.report.layout import terminal_width

if TYPE_CHECKING:
    from maxproof.monitor.exporters import Exporter
    from maxproof.monitor.read import Batch, Skipped
    from maxproof.monitor.stats import Stats
    from maxproof.monitor.types import Report

PAGE = "monitor.html"
POLL_S = 0.5
DEMO_STEPS, DEMO_CHANGE = 60, (30, 50)
SHOWN_SKIPS = 5


@dataclass(frozen=True, slots=True)
class MonitorWork:
    """What the command line asks for; see `cli/monitor.py`."""

    rollouts: tuple[Path, ...]
    map: tuple[str, ...]
    demo: str | None
    settings: MonitorSettings
    phrases: Path | None
    baseline_from: Path | None
    out: Path | None
    exports: tuple[str, ...]
    as_json: bool
    quiet: bool
    follow: bool
    until_idle: float | None


def monitor_settings(baseline: int | None, assignments: Sequence[str]) -> MonitorSettings:
    """The settings of the alarms from `--baseline` and `--set`. Raises InputError."""
    from pydantic import ValidationError

    values: dict[str, object] = {}
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign:
            raise InputError(f"expected KEY=VALUE, got {assignment!r}", field="--set")
        values[key] = tuple(value.split("..")) if key == "baseline_steps" else value
    if baseline is not None:
        values["baseline"] = baseline
    try:
        return MonitorSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"][:1])
        known = f"known: {', '.join(MonitorSettings.model_fields)}" if first["type"] == "extra_forbidden" else None
        field = "--baseline" if name == "baseline" and baseline is not None else f"--set {name}".rstrip()
        said = "unknown setting" if known else first["msg"].removeprefix("Value error, ").lower()
        raise InputError(said, field=field, hint=known) from None


def run_monitor(work: MonitorWork) -> ExitCode:
    """Does it all. Raises InputError."""
    _check(work)
    with needs_extra("monitor", "maxproof monitor"):
        import numpy  # noqa: F401  a missing one is told here, not in the middle
        import polars  # noqa: F401
    from maxproof.monitor.summary import state

    with ExitStack() as stack:
        exporters = [stack.enter_context(_exporter(target)) for target in work.exports]
        report = _follow(work, exporters) if work.follow else _read(work)
        for exporter in exporters:
            exporter.write(report, last=True)
    _tell(report, work)
    return {"alarm": ExitCode.NOT_PASSED, "quiet": ExitCode.PASSED, "unknown": ExitCode.NOT_SCORED}[state(report)]


def _check(work: MonitorWork) -> None:
    if bool(work.rollouts) == (work.demo is not None):
        raise InputError("expected ROLLOUTS, or --demo and none", hint="try: maxproof monitor --demo drift")
    if work.follow and work.demo:
        raise InputError("made rollouts do not grow", field="--demo", hint="leave out --follow")
    if work.map and work.demo:
        raise InputError("made rollouts have our own field names", field="--map", hint="leave it out")
    if work.until_idle is not None and not work.follow:
        raise InputError("only with --follow", field="--until-idle")
    if work.out is not None and not work.out.is_dir() and work.out.suffix:
        if work.out.suffix not in (".html", ".htm"):  # a rollout file is soon named by mistake
            raise InputError("expected a name that ends in .html, or a folder", file=work.out, field="--out")
        if not work.out.parent.is_dir():
            raise InputError("no such folder", file=work.out.parent, field="--out")


def _exporter(target: str) -> Exporter:
    from maxproof.monitor.exporters import open_exporter

    kind = target.partition("=")[0]
    with needs_extra(kind, f"--export {kind}"):
        try:
            return open_exporter(target)
        except OSError as error:
            raise InputError(f"can't be written: {error.strerror}: {target!r}", field="--export") from error


def _read(work: MonitorWork) -> Report:
    """Everything once."""
    trusted = _trusted(work)
    stats, skipped = _sums(None if work.demo is not None else work.rollouts, work, "ROLLOUTS")
    return _report(stats, skipped, trusted, work)


def _sums(paths: Sequence[Path] | None, work: MonitorWork, field: str) -> tuple[Stats, Mapping[str, Skipped]]:
    """The sums over files and folders, None: over the made rollouts, and what was skipped, which is told."""
    from maxproof.monitor.follow import fields_of, take
    from maxproof.monitor.phrases import load_phrases
    from maxproof.monitor.read import Skipped, read_batches, rollout_files
    from maxproof.monitor.stats import Stats

    phrases = load_phrases(work.phrases)
    stats, skipped = Stats(), dict[str, Skipped]()
    if paths is None:
        batches = _demo(work.demo or "drift")
    else:
        files = rollout_files(paths)
        batches = read_batches(files, fields_of(_first_filled(files), work.map))
    with counting(quiet=work.quiet or work.as_json) as count:
        for batch in batches:
            take(batch, stats, skipped, phrases)
            count(stats.rollouts)
    _tell_skipped(skipped, work)
    if stats.rollouts == 0:
        reason, first = next(((r, s.first) for r, s in skipped.items()), ("they are empty", ""))
        raise InputError(
            f"no rollout could be read: {reason}", field=field, hint=f"first at {first}" if first else None
        )
    return stats, skipped


def _trusted(work: MonitorWork) -> Stats | None:
    """The sums over the rollouts of `--baseline-from`. Raises InputError where they don't fill a baseline."""
    if work.baseline_from is None:
        return None
    from maxproof.monitor.assemble import check_trusted

    stats, _ = _sums([work.baseline_from], work, "--baseline-from")
    check_trusted(stats, work.settings, field="--baseline-from", file=work.baseline_from)
    return stats


def _first_filled(files: Sequence[Path]) -> Path:
    return next((path for path in files if path.stat().st_size), files[0])


def _report(
    stats: Stats, skipped: Mapping[str, Skipped], trusted: Stats | None, work: MonitorWork, *, growing: bool = False
) -> Report:
    from maxproof.monitor.assemble import report_of

    source = f"made rollouts: {work.demo}" if work.demo else ", ".join(map(str, work.rollouts))
    if work.baseline_from is not None:
        source += f", baseline from {work.baseline_from}"
    counts = {reason: rows.count for reason, rows in skipped.items()}
    return replace(report_of(stats, work.settings, source, growing=growing, trusted=trusted), skipped=counts)


def _demo(kind: str) -> Iterator[Batch]:
    """Made rollouts, a batch for each step."""
    from itertools import groupby

    from maxproof.monitor.corpora import drifting, stationary
    from maxproof.monitor.fields import MAPS
    from maxproof.monitor.read import frame_of

    start, end = DEMO_CHANGE
    if kind == "drift":
        rows = drifting(DEMO_STEPS, 0, start=start, end=end, groups=8, samples=4)
    else:
        rows = stationary(DEMO_STEPS, 0, groups=8, samples=4)
    for _, step in groupby(rows, key=lambda row: row["step"]):
        yield frame_of(list(step), MAPS["maxproof"])


def _tell(report: Report, work: MonitorWork) -> None:
    """Writes the page, and the report to standard output."""
    page = None
    if work.out is not None:
        page = _write_page(report, work.out)
    if work.as_json:
        from maxproof.monitor.json_form import to_json

        typer.echo(json.dumps(to_json(report), indent=2, allow_nan=False))
        return
    from rich.console import Console

    from maxproof.monitor.terminal import render

    width = terminal_width()
    Console(width=width, highlight=False).print(render(report, width))
    if page is not None:
        typer.echo(f"Dashboard: {page}")


def _write_page(report: Report, out: Path) -> Path:
    from maxproof.monitor.dashboard import to_dashboard
    from maxproof.search.run_folder import write_atomically

    page = out / PAGE if out.is_dir() or not out.suffix else out
    page.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(page, to_dashboard(report))
    return page


def _follow(work: MonitorWork, exporters: Sequence[Exporter]) -> Report:
    """Until Ctrl-C, SIGTERM, or nothing new for `until_idle` seconds. The report then takes all steps as complete."""
    from maxproof.monitor.follow import Follower
    from maxproof.monitor.phrases import load_phrases

    trusted = _trusted(work)
    with follow_view(as_json=work.as_json, quiet=work.quiet) as view, _stoppable() as stopped:
        follower = Follower(work.rollouts, work.map, load_phrases(work.phrases), view.note, stopped.is_set)
        known: set[tuple[str, str, int]] = set()
        idle_since = time.monotonic()
        while not stopped.is_set():
            begun = time.monotonic()
            if follower.look():
                report = _report(follower.stats, follower.skipped, trusted, work, growing=True)
                view.show(report)
                for alarm in report.alarms:
                    identity = (alarm.signal.value, alarm.direction, alarm.raised)
                    if identity not in known:
                        known.add(identity)
                        view.alarm(alarm)
                for exporter in exporters:
                    exporter.write(report, last=False)
                if work.out is not None:
                    _write_page(report, work.out)
                idle_since = time.monotonic()
            elif work.until_idle is not None and time.monotonic() - idle_since >= work.until_idle:
                break
            # A long run's report takes a while: most of the time is left to others.
            stopped.wait(max(POLL_S, 4 * (time.monotonic() - begun)))
    _tell_skipped(follower.skipped, work)
    return _report(follower.stats, follower.skipped, trusted, work)


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM set the event: the batch at work ends first. A second one ends at once."""
    event = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_skipped(skipped: Mapping[str, Skipped], work: MonitorWork) -> None:
    """Where the first line of each reason is; the report has only the counts."""
    if work.as_json:
        for reason, rows in skipped.items():
            event = {"event": "skipped", "reason": reason, "count": rows.count, "first": rows.first}
            print(json.dumps(event), file=sys.stderr)
    elif not work.quiet:
        for reason, rows in list(skipped.items())[:SHOWN_SKIPS]:
            lines = "1 line" if rows.count == 1 else f"{rows.count:,} lines, the first"
            print(visible(f"maxproof: warning: {rows.first}: skipped {lines}: {reason}"), file=sys.stderr)
