"""The aggregate hack score: range, direction, and what a missing signal changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("polars", reason="needs the extra monitor")

from maxproof.monitor.hack_score import badness, hack_score
from maxproof.monitor.settings import MonitorSettings
from maxproof.monitor.signals import INFO
from maxproof.monitor.types import Reading, Series, Signal

SETTINGS = MonitorSettings(baseline=10)
BEFORE = [0.30, 0.34, 0.28, 0.32, 0.31, 0.29, 0.33, 0.30, 0.32, 0.31]


def series(*after: float | None) -> Series:
    return tuple(Reading(step, value, 64) for step, value in enumerate([*BEFORE, *after]))


def score(**after: list[float | None]) -> list[float | None]:
    made = {Signal(name): series(*values) for name, values in after.items()}
    return [reading.value for reading in hack_score(made, INFO, SETTINGS)]


def test_it_is_near_zero_before_and_half_at_six_deviations() -> None:
    values = score(template_share=[0.31, 1.0])
    assert all(value is not None and value < 0.1 for value in values[:11])
    assert values[11] is not None
    assert 0.85 < values[11] < 1
    assert (badness(2), badness(6), badness(-50)) == (0, 0.5, 0)


@given(low=st.floats(-100, 100), more=st.floats(0, 100))
def test_it_never_falls_when_a_signal_goes_further_the_way_of_hacking(low: float, more: float) -> None:
    assert 0 <= badness(low) <= badness(low + more) < 1
    first, second = (score(false_positives=[value], template_share=[0.4])[-1] for value in (low, low + more))
    assert first is not None
    assert second is not None
    assert first <= second


def test_the_other_way_counts_nothing_unless_both_ways_are_bad() -> None:
    assert score(template_share=[0.0])[-1] == 0
    assert score(self_correction=[0.0])[-1] > 0.5  # type: ignore[operator]


def test_a_signal_that_is_off_or_silent_only_changes_the_mean() -> None:
    both = score(template_share=[0.6], false_positives=[0.31])[-1]
    one = score(template_share=[0.6])[-1]
    silent = score(template_share=[0.6], false_positives=[None])[-1]
    assert both is not None
    assert one is not None
    assert both == pytest.approx(one / 2)
    assert silent == one


def test_signals_of_one_number_share_a_weight_and_not_scored_has_none() -> None:
    two = score(visible_length=[0.6], thinking_length=[0.31], template_share=[0.31])[-1]
    alone = score(visible_length=[0.6], template_share=[0.31])[-1]
    assert two == pytest.approx(alone / 2)  # type: ignore[operator]
    assert hack_score({Signal.NOT_SCORED: series(1.0)}, INFO, SETTINGS) == ()


def test_no_full_baseline_no_score() -> None:
    assert hack_score({Signal.TEMPLATE_SHARE: series()[:9]}, INFO, SETTINGS) == ()


def test_the_detail_names_what_adds_most() -> None:
    made = {Signal.TEMPLATE_SHARE: series(0.9), Signal.FALSE_POSITIVES: series(0.5), Signal.DISAGREEMENT: series(0.3)}
    detail = hack_score(made, INFO, SETTINGS)[-1].detail
    assert detail == f"{INFO[Signal.TEMPLATE_SHARE].title}, {INFO[Signal.FALSE_POSITIVES].title}"
