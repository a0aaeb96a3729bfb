"""Readings and alarms for TensorBoard, and for trackers with the interface of wandb (wandb itself, trackio).

Scalars are `monitor/SIGNAL` at the rollouts' own step, and `monitor/alarms`, how many were raised up to that step. A
step without a value has no scalar. An alarm is a text (TensorBoard) or an alert (trackers).

A step is written once, when it is complete: after the baseline window is full (some signals have no value before) and a
later step has begun, or at the end. Trackers take steps in rising order only, so rollouts of an older step that come
later are not exported. Texts of rollouts are never exported.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any, Protocol, Self

from maxproof.monitor.summary import alarm_line
from maxproof.monitor.types import Alarm, Report, Signal
from maxproof.problems.errors import InputError, nearest

PREFIX = "monitor"
_OPTIONS: Mapping[str, Mapping[str, object]] = {
    "trackio": {"embed": False, "auto_log_cpu": False, "auto_log_gpu": False},
    "wandb": {},
}
"""More for `init` of each tracker; trackio would log the load of the machine too."""


class Sink(Protocol):
    """Where scalars and alarms go."""

    def scalars(self, step: int, values: Mapping[str, float]) -> None: ...

    def alarm(self, alarm: Alarm, line: str) -> None: ...

    def close(self) -> None: ...


class Exporter:
    """Writes what is new in each report to a sink. Closes it at exit, also after an error."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._written = -1
        self._alarms: set[tuple[Signal, int]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._sink.close()

    def write(self, report: Report, *, last: bool) -> None:
        """Writes the complete steps that are not written yet; all of them with `last`."""
        if report.baseline is None and not last:
            return
        rows = scalar_rows(report)
        for step in sorted(rows):
            if step > self._written and (last or report.unfinished is None or step < report.unfinished):
                self._sink.scalars(step, rows[step])
                self._written = step
                self._tell(report.alarms)

    def _tell(self, alarms: Sequence[Alarm]) -> None:
        """An alarm goes out right after the step that raised it."""
        for alarm in alarms:
            known = (alarm.signal, alarm.raised)
            if alarm.raised <= self._written and known not in self._alarms:
                self._alarms.add(known)
                self._sink.alarm(alarm, alarm_line(alarm))


def scalar_rows(report: Report) -> dict[int, dict[str, float]]:
    """Step -> name -> value, for all steps with a reading; a reading without a value has no entry."""
    rows: dict[int, dict[str, float]] = {}
    for signal, series in report.series.items():
        for reading in series:
            if report.own_from is not None and reading.step < report.own_from:
                continue
            row = rows.setdefault(reading.step, {})
            if reading.value is not None:
                row[f"{PREFIX}/{signal.value}"] = reading.value
    for step, row in rows.items():
        row[f"{PREFIX}/alarms"] = float(sum(alarm.raised <= step for alarm in report.alarms))
    return rows


def open_exporter(target: str) -> Exporter:
    """The exporter of `tensorboard=FOLDER`, `trackio=PROJECT` or `wandb=PROJECT`; a tracker also takes `PROJECT/RUN`.

    Raises InputError for anything else, and ImportError where the package is missing.
    """
    kind, sign, place = target.partition("=")
    if kind not in SINKS:
        hint = nearest(kind, SINKS) or f"known: {', '.join(SINKS)}"
        raise InputError(f"unknown exporter {kind!r}", field="--export", hint=hint)
    if not sign or not place:
        raise InputError(f"no place in {target!r}", field="--export", hint=f"e.g. {EXAMPLES[kind]}")
    return Exporter(SINKS[kind](place))


class TensorBoardSink:
    """A new event file in `folder`. Needs the package tensorboard, neither torch nor TensorFlow."""

    def __init__(self, folder: str) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.scalar.summary_v2 import scalar_pb
        from tensorboard.plugins.text.summary_v2 import text_pb
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._scalar, self._text = Event, scalar_pb, text_pb
        self._writer = EventFileWriter(folder)

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """One event for each value."""
        for name, value in values.items():
            self._add(step, self._scalar(name, value))

    def alarm(self, alarm: Alarm, line: str) -> None:
        """A text at the step that raised it."""
        self._add(alarm.raised, self._text(f"{PREFIX}/alarm/{alarm.signal.value}", line))

    def close(self) -> None:
        """Writes what is buffered."""
        self._writer.close()

    def _add(self, step: int, summary: object) -> None:
        self._writer.add_event(self._event(wall_time=time.time(), step=step, summary=summary))
        self._writer.flush()


class TrackerSink:
    """A run of a tracker with wandb's interface. `place`: the project, or PROJECT/RUN."""

    def __init__(self, module: str, place: str) -> None:
        project, _, name = place.partition("/")
        # Standard output is for the report; trackers greet there.
        with redirect_stdout(sys.stderr):
            self._tracker: Any = importlib.import_module(module)
            self._run: Any = self._tracker.init(project=project, **({"name": name} if name else {}), **_OPTIONS[module])

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """One row."""
        with redirect_stdout(sys.stderr):
            self._run.log(dict(values), step=step)

    def alarm(self, alarm: Alarm, line: str) -> None:
        """An alert."""
        with redirect_stdout(sys.stderr):
            self._run.alert(title=f"{PREFIX}: {alarm.signal.value} {alarm.direction}", text=line)

    def close(self) -> None:
        """Ends the run."""
        with redirect_stdout(sys.stderr):
            self._tracker.finish()


SINKS: Mapping[str, Callable[[str], Sink]] = {
    "tensorboard": TensorBoardSink,
    "trackio": lambda place: TrackerSink("trackio", place),
    "wandb": lambda place: TrackerSink("wandb", place),
}
EXAMPLES: Mapping[str, str] = {
    "tensorboard": "tensorboard=runs/tb",
    "trackio": "trackio=my-project",
    "wandb": "wandb=my-project/run-1",
}
