"""A report as plain dicts and lists, for `--json`.

The form is stable: a field may be added, none changes its meaning or goes away under the same `version`.

    version         1
    source          what was read
    state           alarm | quiet | unknown (no full baseline window, or nothing measured)
    headline        the outcome in one sentence
    rollouts, steps how many were read
    skipped         {reason: lines that could not be used}
    baseline        [first step, last step] or null
    own_from        the first step of what was read, where earlier ones are of the run of --baseline-from; else null
    unfinished      the step that may still grow, or null
    alarms          [{signal, direction, began, raised, baseline, value, sigmas, detail, examples}]
                    examples: [{problem, step, group, sample, text, train_reward, oracle, value}], at most three
    false_positives {successes, total, value, low, high} over everything, 95 % interval; null without both scores
    not_scored      the same for rollouts without a train reward; null without that column
    signals         {name: {number, title, unit, low, high, needs, worse, formula, source, baseline, readings}}
                    baseline: {mean, std, steps} or null; readings: [{step, value, count, error, detail}]
    off             {name: why}

null is always "not measured", never zero. Texts are those of the rollouts, clipped and otherwise as they were:
`json.dumps` escapes what a terminal must not see.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from maxproof.monitor.signals import INFO
from maxproof.monitor.summary import baseline_window, headline, state
from maxproof.monitor.types import Alarm, Report, Signal
from maxproof.statistics import Rate

VERSION = 1


def to_json(report: Report) -> dict[str, Any]:
    """The report in the form above."""
    return {
        "version": VERSION,
        "source": report.source,
        "state": state(report),
        "headline": headline(report),
        "rollouts": report.rollouts,
        "steps": report.steps,
        "skipped": dict(sorted(report.skipped.items())),
        "baseline": None if report.baseline is None else list(report.baseline),
        "own_from": report.own_from,
        "unfinished": report.unfinished,
        "alarms": [_alarm(alarm) for alarm in report.alarms],
        "false_positives": _rate(report.false_positives),
        "not_scored": _rate(report.not_scored),
        "signals": {signal.value: _signal(report, signal) for signal in Signal if signal in report.series},
        "off": {signal.value: report.off[signal] for signal in Signal if signal in report.off},
    }


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {**asdict(alarm), "signal": alarm.signal.value, "examples": [asdict(example) for example in alarm.examples]}


def _rate(rate: Rate | None) -> dict[str, Any] | None:
    if rate is None:
        return None
    return {**asdict(rate), "value": rate.value if rate.total else None}


def _signal(report: Report, signal: Signal) -> dict[str, Any]:
    info = {name: value for name, value in asdict(INFO[signal]).items() if name != "signal"}
    window = baseline_window(report, signal)
    return {
        **info,
        "needs": list(INFO[signal].needs),
        "baseline": None if window is None else asdict(window),
        "readings": [asdict(reading) for reading in report.series[signal]],
    }
