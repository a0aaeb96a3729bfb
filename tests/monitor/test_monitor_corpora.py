"""Whole corpora through the whole monitor: a drift fires every signal, a stationary corpus none, in whatever order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

pl = pytest.importorskip("polars", reason="needs the extra monitor")

from maxproof.monitor.assemble import report_of  # noqa: E402
from maxproof.monitor.corpora import HACKED, HEALTHY, between, drifting, stationary  # noqa: E402
from maxproof.monitor.features import add_features  # noqa: E402
from maxproof.monitor.fields import ready_map  # noqa: E402
from maxproof.monitor.live import Monitor, stats_of  # noqa: E402
from maxproof.monitor.phrases import load_phrases  # noqa: E402
from maxproof.monitor.read import frame_of, read_batches  # noqa: E402
from maxproof.monitor.settings import MonitorSettings  # noqa: E402
from maxproof.monitor.stats import Stats  # noqa: E402
from maxproof.monitor.types import Alarm, Report, Signal  # noqa: E402
from maxproof.problems import InputError  # noqa: E402

START, END, STEPS = 30, 70, 100
BEFORE, AFTER = (replace(style, visible=style.visible / 4, thinking=style.thinking / 2) for style in (HEALTHY, HACKED))
"""A quarter of the text: the same drift for a quarter of the time."""
WITHIN = {
    Signal.TRAIN_EVAL_GAP: 15,
    Signal.BIMODALITY: 70,
    Signal.VISIBLE_LENGTH: 8,
    Signal.THINKING_LENGTH: 15,
    Signal.PROOF_GAP: 45,
    Signal.TEMPLATE_SHARE: 18,
    Signal.OPENER_SHIFT: 20,
    Signal.OPENER_TOP_SHARE: 22,
    Signal.SELF_CORRECTION: 22,
    Signal.HAND_WAVING: 15,
    Signal.HACK_SCORE: 10,
    Signal.FALSE_POSITIVES: 60,
    Signal.DISAGREEMENT: 38,
    Signal.NOT_SCORED: 45,
}
"""Steps from the begin of a drift that takes 40, 128 rollouts a step, to the alarm."""
DOWN = (Signal.THINKING_LENGTH, Signal.SELF_CORRECTION)


def drift(seed: int, steps: int = STEPS) -> list[Mapping[str, Any]]:
    return list(drifting(steps, seed, start=START, end=END, before=BEFORE, after=AFTER))


def report(rows: Sequence[Mapping[str, Any]], settings: MonitorSettings | None = None) -> Report:
    monitor = Monitor(settings)
    monitor.observe(rows)
    return monitor.report(complete=True)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_the_reported_drift_fires_every_signal_in_time(seed: int) -> None:
    found = report(drift(seed))
    assert found.off == {}
    raised = {alarm.signal: alarm for alarm in found.alarms}
    assert set(raised) == set(Signal) == set(WITHIN)
    for signal, alarm in raised.items():
        assert START < alarm.raised <= START + WITHIN[signal], alarm
        # A slow drift is told from noise only after a while; the estimate lies between its begin and the alarm.
        assert START - 5 <= alarm.began < alarm.raised, alarm
        assert alarm.direction == ("down" if signal in DOWN else "up")
        assert 1 <= len(alarm.examples) <= 3
        assert all(alarm.began <= example.step <= alarm.raised for example in alarm.examples)
    assert raised[Signal.VISIBLE_LENGTH].began <= START + 5
    shifted = raised[Signal.OPENER_SHIFT]
    assert "we are given" in shifted.detail
    assert all(example.text.startswith("We are given") for example in shifted.examples)
    assert found.baseline == (0, 19)


@pytest.mark.parametrize("seed", range(3))
def test_a_stationary_corpus_stays_quiet(seed: int) -> None:
    tiny = replace(HEALTHY, visible=300, thinking=200)
    assert report(list(stationary(80, seed, style=tiny, groups=8, samples=4))).alarms == ()


@pytest.mark.slow
def test_stationary_corpora_raise_alarms_at_most_at_the_stated_rate() -> None:
    tiny = replace(HEALTHY, visible=300, thinking=200)
    false = sum(bool(report(list(stationary(220, seed, style=tiny, groups=8, samples=4))).alarms) for seed in range(40))
    assert false <= 5  # more than 5 of 40 at 5 % happens once in seventy


def test_the_corpora_are_what_they_are_said_to_be() -> None:
    for style in (HEALTHY, HACKED, between(HEALTHY, HACKED, 0.5)):
        rows = list(stationary(12, 5, style=style))
        both = [row for row in rows if row["train_reward"] is not None]
        false = sum(row["train_reward"] >= 0.7 and row["oracle"] <= 0.3 for row in both)
        texts = [row["text"] for row in rows]
        assert false / len(both) == pytest.approx(style.false_positives, abs=0.02)
        assert sum(map(len, texts)) / len(texts) == pytest.approx(style.visible, rel=0.05)
        assert sum(text.startswith("We are given") for text in texts) / len(texts) == pytest.approx(
            style.we_are_given, abs=0.04
        )
        assert sum(text.startswith("To ") for text in texts) / len(texts) == pytest.approx(style.to_prove, abs=0.04)
        assert sum("###" in text for text in texts) / len(texts) == pytest.approx(style.template, abs=0.04)
        assert 1 - len(both) / len(rows) == pytest.approx(style.not_scored, abs=0.02)
    assert list(stationary(2, 5)) == list(stationary(2, 5)) != list(stationary(2, 6))
    assert any("显然" in row["text"] for row in stationary(4, 0))


@pytest.mark.parametrize(
    ("column", "gone"),
    [
        ("oracle", {Signal.TRAIN_EVAL_GAP, Signal.FALSE_POSITIVES}),
        ("thinking", {Signal.THINKING_LENGTH, Signal.SELF_CORRECTION}),
        ("judges", {Signal.DISAGREEMENT}),
        ("is_proof", {Signal.PROOF_GAP}),
        (
            "train_reward",
            {
                Signal.TRAIN_EVAL_GAP,
                Signal.FALSE_POSITIVES,
                Signal.BIMODALITY,
                Signal.PROOF_GAP,
                Signal.NOT_SCORED,
            },
        ),
    ],
)
def test_a_missing_column_switches_off_only_what_needs_it(column: str, gone: set[Signal]) -> None:
    rows = list(stationary(25, 1, style=replace(HEALTHY, visible=200, thinking=100), groups=4, samples=4))
    without = [{name: value for name, value in row.items() if name != column} for row in rows]
    found = report(without)
    assert set(found.off) == gone
    assert set(found.series) == set(Signal) - gone
    whole = report(rows)
    for signal in set(found.series) - {Signal.HACK_SCORE}:
        assert [r.step for r in found.series[signal]] == [r.step for r in whole.series[signal]]
        assert [r.value for r in found.series[signal]] == pytest.approx([r.value for r in whole.series[signal]])
    assert (found.false_positives is None) == (Signal.FALSE_POSITIVES in gone)
    assert (found.not_scored is None) == (Signal.NOT_SCORED in gone)


def test_a_file_a_live_trainer_and_shuffled_rows_give_one_report(tmp_path: Path) -> None:
    rows = drift(3, 45)
    path = tmp_path / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stats, phrases = Stats(), load_phrases()
    for batch in read_batches([path], ready_map("maxproof")):
        stats.add(add_features(batch.frame, phrases))
    from_file = report_of(stats, MonitorSettings(), "live")

    live = Monitor()
    told: list[Alarm] = []
    for step in range(45):
        live.observe([row for row in rows if row["step"] == step])
        told += live.new_alarms()
    told += live.new_alarms(complete=True)
    shuffled = list(rows)
    Random(0).shuffle(shuffled)
    mixed = report(shuffled)
    assert len(from_file.alarms) > 3
    for other in (live.report(complete=True), mixed):
        assert _rounded(other) == _rounded(from_file)
        assert [alarm.examples for alarm in other.alarms] == [alarm.examples for alarm in from_file.alarms]
    assert sorted((a.raised, a.signal) for a in told) == [(a.raised, a.signal) for a in from_file.alarms]


def _rounded(found: Report) -> Any:
    """Sums of floats depend on their order in the last digits."""
    series = {
        signal: [(reading.step, None if reading.value is None else round(reading.value, 9)) for reading in readings]
        for signal, readings in found.series.items()
    }
    alarms = [(alarm.signal, alarm.direction, alarm.began, alarm.raised) for alarm in found.alarms]
    return series, alarms, found.off, found.false_positives, found.not_scored, found.baseline, found.rollouts


def test_an_unfinished_step_has_readings_and_raises_nothing() -> None:
    monitor = Monitor()
    rows = drift(4, 45)
    whole = report(rows)
    last = whole.alarms[-1].raised
    monitor.observe(row for row in rows if row["step"] <= last)
    growing = monitor.report()
    assert growing.unfinished == last
    assert all(alarm.raised < last for alarm in growing.alarms)
    assert growing.series[Signal.VISIBLE_LENGTH][-1].step == last
    assert any(alarm.raised == last for alarm in monitor.report(complete=True).alarms)


def test_hacking_from_the_first_step_is_found_against_a_run_that_is_trusted() -> None:
    small = {name: replace(style, visible=300, thinking=200) for name, style in (("ok", HEALTHY), ("bad", HACKED))}
    trusted = _sums(list(stationary(30, 1, style=small["ok"], groups=8, samples=4)))
    hacked = [{**row, "step": row["step"] + 7} for row in stationary(20, 2, style=small["bad"], groups=8, samples=4)]
    own = report_of(_sums(hacked), MonitorSettings(), "")
    assert own.alarms == ()
    assert own.own_from is None
    found = report_of(_sums(hacked), MonitorSettings(), "", trusted=trusted)
    assert (found.rollouts, found.steps, found.own_from, found.baseline) == (640, 20, 7, (-13, 6))
    assert found.false_positives == own.false_positives
    assert found.not_scored == own.not_scored
    raised = {alarm.signal: alarm for alarm in found.alarms}
    # visible lengths are alike here, and what is rare needs more rollouts
    assert set(raised) >= {Signal.TEMPLATE_SHARE, Signal.OPENER_SHIFT, Signal.HAND_WAVING, Signal.HACK_SCORE}
    assert all(7 <= alarm.began < alarm.raised <= 15 for alarm in raised.values() if alarm.signal in list(raised)[:4])
    assert all(example.step >= 7 for alarm in found.alarms for example in alarm.examples)
    assert "we are given" in raised[Signal.OPENER_SHIFT].detail
    assert [reading.step for reading in found.series[Signal.HACK_SCORE]] == list(range(-13, 27))


def test_a_live_trainer_can_have_the_baseline_of_a_trusted_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = list(stationary(25, 1, groups=2, samples=2))
    path = tmp_path / "healthy" / "rollouts.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{}\n", encoding="utf-8")
    trusted = stats_of([path.parent])
    assert (trusted.rollouts, len(trusted.steps)) == (100, 25)
    assert "1 rollouts skipped" in caplog.text
    assert f"{path}:101" in caplog.text
    hacked = [{**row, "text": "We are given more. " * 400} for row in stationary(15, 2, groups=2, samples=2)]
    live, alone = Monitor(trusted=trusted), Monitor()
    told: list[Alarm] = []
    for step in range(15):
        told += live.new_alarms()
        for monitor in (live, alone):
            monitor.observe([row for row in hacked if row["step"] == step])
    whole = live.report(complete=True)
    assert (whole.own_from, whole.baseline, whole.rollouts) == (0, (-20, -1), 60)
    assert Signal.VISIBLE_LENGTH in {alarm.signal for alarm in told}
    assert alone.report(complete=True).alarms == ()
    expected = report_of(_sums(hacked), MonitorSettings(), "live", trusted=_sums(rows))
    assert _rounded(whole) == _rounded(expected)


def test_a_trusted_run_that_fills_no_baseline_is_refused(tmp_path: Path) -> None:
    short = _sums(list(stationary(12, 1, groups=1, samples=1)))
    with pytest.raises(InputError, match=r"trusted: a baseline of 20 steps is not full, there are 12 \(--baseline 12"):
        Monitor(trusted=short)
    Monitor(MonitorSettings(baseline=12), trusted=short)
    empty = tmp_path / "rollouts.jsonl"
    empty.touch()
    with pytest.raises(InputError, match="no rollout"):
        stats_of([empty])


def test_what_the_trusted_run_lacks_is_off_and_said_so() -> None:
    rows = list(stationary(20, 3, style=replace(HEALTHY, visible=200, thinking=100), groups=4, samples=4))
    bare = _sums([{name: value for name, value in row.items() if name != "oracle"} for row in rows])
    found = report_of(_sums(rows), MonitorSettings(), "", trusted=bare)
    assert set(found.off) == {Signal.TRAIN_EVAL_GAP, Signal.FALSE_POSITIVES}
    assert "fewer than 10 steps" in found.off[Signal.FALSE_POSITIVES]
    assert not set(found.off) & set(found.series)
    assert found.false_positives is not None  # a rate over everything needs no baseline
    assert report_of(Stats(), MonitorSettings(), "", trusted=bare).series == {}


def _sums(rows: Sequence[Mapping[str, Any]]) -> Stats:
    stats = Stats()
    stats.add(add_features(frame_of(rows, ready_map("maxproof")).frame, load_phrases()))
    return stats


def test_nothing_and_little_are_no_crash() -> None:
    empty = Monitor().report(complete=True)
    assert (empty.rollouts, empty.series, empty.alarms, empty.baseline) == (0, {}, (), None)
    one = report([{"problem": "p", "step": 0, "text": "x"}])
    assert one.baseline is None
    assert Signal.HACK_SCORE in one.off


def test_rows_that_cannot_be_used_are_counted() -> None:
    monitor = Monitor()
    monitor.observe([{"problem": "p", "step": 0, "text": "x"}, {"problem": "p", "step": 0}])
    monitor.observe([{"problem": "p", "step": 0, "text": "x", "train_reward": 7}])
    found = monitor.report()
    assert found.rollouts == 1
    assert sum(found.skipped.values()) == 2
    monitor.observe(pl.DataFrame({"problem": ["p"], "step": [1], "text": ["y"]}))
    assert monitor.report().rollouts == 2


@pytest.mark.parametrize("model", ["gpt-5", "gemini-2.5-pro"])
def test_real_transcripts_of_one_model_raise_nothing(model: str) -> None:
    """A log has no training steps, and its order is that of the problems: rollout i is given to step i mod 16, so that
    every step has a part of each problem. The reward is the yes or no drawn from the report on the proof."""
    path = Path(__file__).parents[3] / "shared" / "data" / "imo2025-transcripts.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared/data")
    rows: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["model"] != model:
            continue
        if entry["kind"] == "proof":
            rows.append({"problem": entry["problem"], "step": len(rows) % 16, "text": entry["text"]})
        elif entry["kind"] == "yes_no" and rows:
            rows[-1]["train_reward"] = float(entry["text"].strip().lower().startswith("yes"))
    found = report(rows, MonitorSettings(baseline=10))
    assert len(rows) > 40
    assert found.rollouts == len(rows)
    assert found.skipped == {}
    assert found.alarms == ()
    assert Signal.TEMPLATE_SHARE in found.series
