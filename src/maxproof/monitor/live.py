"""Feeding the monitor from a training loop, in any Python trainer.

    monitor = Monitor()
    for step in range(steps):
        ...
        monitor.observe({"problem": p, "step": step, "text": t, "train_reward": r} for p, t, r in rollouts)
        for alarm in monitor.new_alarms():
            print(alarm.signal, alarm.began, alarm.sigmas)
    report = monitor.report(complete=True)

A step is complete when a rollout of a later one arrives; only complete steps raise alarms. Apart from that the report
is the one of a file with the same rollouts. With `Monitor(trusted=stats_of([Path("runs/healthy")]))` another run is the
baseline.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from maxproof.monitor.assemble import check_trusted, report_of
from maxproof.monitor.features import add_features
from maxproof.monitor.fields import FieldMap, ready_map
from maxproof.monitor.follow import fields_of, take
from maxproof.monitor.phrases import load_phrases
from maxproof.monitor.read import Skipped, add_skipped, frame_of, read_batches, rollout_files
from maxproof.monitor.settings import MonitorSettings
from maxproof.monitor.stats import Stats
from maxproof.monitor.types import Alarm, Report
from maxproof.problems.errors import InputError

_log = logging.getLogger(__name__)


def stats_of(paths: Sequence[Path], map: Sequence[str] = (), phrases: Path | None = None) -> Stats:
    """The sums over rollout files and folders of a run, to be the `trusted` of a monitor.

    Args:
        map: how the fields are named, as of `--map`; empty: told by the first file.
        phrases: the same folder as the monitor has.

    Rows that can't be used are left out and logged. Raises InputError for paths that can't be read or hold no rollout.
    """
    stats, skipped = Stats(), dict[str, Skipped]()
    files = [path for path in rollout_files(paths) if path.stat().st_size]
    lists = load_phrases(phrases)
    for batch in read_batches(files, fields_of(files[0], map)) if files else ():
        take(batch, stats, skipped, lists)
    for reason, rows in skipped.items():
        _log.warning("baseline: %d rollouts skipped: %s, first at %s", rows.count, reason, rows.first)
    if stats.rollouts == 0:
        raise InputError("no rollout could be read", file=paths[0] if paths else None)
    return stats


class Monitor:
    """Not for use by several threads at once.

    Args:
        fields: how the rows' fields are named; None: as in `types.py`.
        phrases: a folder of phrase lists on top of the shipped ones.
        trusted: rollouts of a run that you trust, as `stats_of` sums them: its first steps are the baseline.

    Raises InputError for phrase lists that can't be used, and where `trusted` does not fill a baseline.
    """

    def __init__(
        self,
        settings: MonitorSettings | None = None,
        fields: FieldMap | None = None,
        *,
        source: str = "live",
        phrases: Path | None = None,
        trusted: Stats | None = None,
    ) -> None:
        self._settings = settings or MonitorSettings()
        self._fields = fields or ready_map("maxproof")
        self._source = source
        self._phrases = load_phrases(phrases)
        if trusted is not None:
            check_trusted(trusted, self._settings)
        self._trusted = trusted
        self._stats = Stats()
        self._skipped: dict[str, Skipped] = {}
        self._told: set[tuple[str, str, int]] = set()

    def observe(self, rollouts: Iterable[Mapping[str, Any]] | pl.DataFrame) -> None:
        """Adds rollouts, of one step or of several, in any order.

        A row that can't be used (no text, a score outside 0..1, ...) is counted in the report and left out; it raises
        nothing, so that monitoring never ends a training.
        """
        rows: Sequence[Mapping[str, Any]]
        rows = rollouts.to_dicts() if isinstance(rollouts, pl.DataFrame) else list(rollouts)
        if not rows:
            return
        batch = frame_of(rows, self._fields)
        add_skipped(self._skipped, batch.skipped)
        self._stats.add(add_features(batch.frame, self._phrases))

    def report(self, *, complete: bool = False) -> Report:
        """The report so far. `complete`: nothing more will come, so that the last step counts for alarms too."""
        report = report_of(self._stats, self._settings, self._source, growing=not complete, trusted=self._trusted)
        return replace(report, skipped={reason: rows.count for reason, rows in self._skipped.items()})

    def new_alarms(self, *, complete: bool = False) -> tuple[Alarm, ...]:
        """The alarms that no earlier call has returned."""
        fresh = []
        for alarm in self.report(complete=complete).alarms:
            identity = (alarm.signal.value, alarm.direction, alarm.raised)
            if identity not in self._told:
                self._told.add(identity)
                fresh.append(alarm)
        return tuple(fresh)
