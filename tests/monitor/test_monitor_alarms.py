"""The change detection on one signal: what it finds, when, and what it lets pass."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from maxproof.monitor.alarms import TREND, baseline_of, detect, threshold, trend_threshold
from maxproof.monitor.settings import MonitorSettings
from maxproof.monitor.types import Alarm, Reading, Series, Signal, SignalInfo

TESTS = 34
"""As many as the monitor's signals make, about."""
DEFAULT = MonitorSettings()


def info(worse: str = "up", low: float | None = None, high: float | None = None) -> SignalInfo:
    return SignalInfo(Signal.VISIBLE_LENGTH, None, "", "", low, high, (), worse, "", "")  # type: ignore[arg-type]


def noise(seed: int, steps: int = 120) -> list[float]:
    rng = Random(seed)
    return [rng.gauss(100, 5) for _ in range(steps)]


def series(values: Sequence[float | None], count: int = 64) -> Series:
    return tuple(Reading(step, value, 0 if value is None else count) for step, value in enumerate(values))


def found(values: Sequence[float | None], worse: str = "up", settings: MonitorSettings = DEFAULT) -> tuple[Alarm, ...]:
    return detect(series(values), info(worse), settings, TESTS)


def shifted(seed: int, start: int, by: float) -> list[float]:
    return [value + (by if step >= start else 0) for step, value in enumerate(noise(seed))]


@pytest.mark.parametrize("seed", range(10))
def test_a_jump_is_found_within_twelve_steps_with_its_begin_and_size(seed: int) -> None:
    (alarm,) = found(list(shifted(seed, 60, 20.0)))  # four spreads
    assert alarm.direction == "up"
    assert 62 <= alarm.raised <= 72
    assert abs(alarm.began - 60) <= 3
    assert alarm.baseline == pytest.approx(100, abs=4)
    assert alarm.value == pytest.approx(120, abs=6)
    assert 2.5 < alarm.sigmas < 6.5


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_ramp_is_found_before_it_is_four_spreads_high(seed: int) -> None:
    ramp = [value + max(0, step - 40) * 0.5 for step, value in enumerate(noise(seed))]  # a spread in ten steps
    (alarm,) = found(list(ramp))
    assert 40 < alarm.raised <= 80
    assert 30 <= alarm.began < alarm.raised


def test_only_the_worse_direction_raises() -> None:
    down = list(shifted(0, 60, -20.0))
    assert found(down, "up") == ()
    assert [alarm.direction for alarm in found(down, "down")] == ["down"]
    assert [alarm.direction for alarm in found(down, "either")] == ["down"]


@given(seed=st.integers(0, 10**6), place=st.integers(20, 119), size=st.floats(-1e6, 1e6))
@settings(max_examples=150, deadline=None)
def test_one_outlier_raises_nothing(seed: int, place: int, size: float) -> None:
    values = noise(seed)
    if found(list(values), "either"):
        return  # one in hundreds
    values[place] += size
    assert found(list(values), "either") == ()


@given(place=st.integers(0, 119), size=st.floats(-1e9, 1e9))
def test_one_outlier_among_constant_readings_raises_nothing(place: int, size: float) -> None:
    values: list[float | None] = [3.0] * 120
    values[place] = size
    assert found(values, "either") == ()


@given(seed=st.integers(0, 500), shift=st.floats(-1e4, 1e4), scale=st.floats(0.01, 100), jump=st.floats(0, 40))
@settings(max_examples=100, deadline=None)
def test_it_depends_on_neither_the_zero_nor_the_unit(seed: int, shift: float, scale: float, jump: float) -> None:
    # no smallest change to speak of: that one has a unit
    tiny = MonitorSettings(smallest_change=1e-9)
    before = found(list(shifted(seed, 60, jump)), "either", tiny)
    after = found([scale * value + shift for value in shifted(seed, 60, jump)], "either", tiny)
    assert [(a.began, a.raised, a.direction) for a in before] == [(a.began, a.raised, a.direction) for a in after]
    assert [a.sigmas for a in before] == pytest.approx([a.sigmas for a in after], rel=1e-3)


@given(seed=st.integers(0, 500), jump=st.floats(-40, 40), cut=st.integers(1, 120))
@settings(max_examples=60, deadline=None)
def test_later_readings_never_change_an_alarm(seed: int, jump: float, cut: int) -> None:
    values = shifted(seed, 60, jump)
    whole = found(list(values), "either")
    assert found(list(values[:cut]), "either") == tuple(alarm for alarm in whole if alarm.raised < cut)


def test_a_change_is_told_once_and_the_next_one_again() -> None:
    values = noise(3, 200)
    for step in (*range(50, 80), *range(130, 160)):
        values[step] += 25
    first, second = found(list(values))
    assert abs(first.began - 50) <= 1
    assert abs(second.began - 130) <= 1


def test_a_constant_signal_is_divided_by_no_zero_and_dust_is_no_change() -> None:
    flat = [0.5] * 20
    dust = [0.5 + 1e-9 * step for step in range(100)]
    assert found(flat + dust) == ()
    assert detect(series([0.0] * 20 + [1e-12] * 100), info(low=0.0), DEFAULT, TESTS) == ()
    (alarm,) = detect(series([0.0] * 20 + [0.3] * 20), info(low=0.0, high=1.0), DEFAULT, TESTS)
    assert (alarm.began, alarm.baseline) == (20, 0.0)
    assert alarm.value == pytest.approx(0.3)


def test_a_change_smaller_than_asked_for_raises_nothing() -> None:
    values = [100.0 + (step % 2) * 0.1 for step in range(20)] + [101.0] * 100
    assert found(values) == ()
    assert len(found(values, settings=MonitorSettings(smallest_change=0.005))) == 1


def test_missing_readings_are_left_out() -> None:
    values = list(shifted(1, 60, 20.0))
    holes = [None if step % 2 else value for step, value in enumerate(values)]
    (alarm,) = found(holes)
    assert abs(alarm.began - 60) <= 4
    assert found([None] * 50) == ()


def test_a_step_with_few_rollouts_counts_for_less() -> None:
    readings = [Reading(step, 0.3 + 0.05 * (-1) ** step, 100, 0.05) for step in range(20)]
    many = [Reading(20 + step, 0.5, 100, 0.05) for step in range(8)]
    few = [Reading(20 + step, 0.5, 4, 0.25) for step in range(8)]
    share = info(low=0.0, high=1.0)
    assert len(detect((*readings, *many), share, DEFAULT, TESTS)) == 1
    assert detect((*readings, *few), share, DEFAULT, TESTS) == ()


def test_a_baseline_that_moves_is_told_when_it_is_full() -> None:
    values = [value + 3 * step for step, value in enumerate(noise(0, 60))]
    (alarm,) = found(list(values))
    assert (alarm.began, alarm.raised) == (0, 19)
    assert alarm.detail.startswith(TREND)
    assert alarm.baseline < alarm.value
    assert found([-value for value in values]) == ()


def test_the_baseline_can_be_given_as_steps() -> None:
    values = list(shifted(2, 60, 20.0))
    assert found(values, settings=MonitorSettings(baseline_steps=(70, 100))) == ()
    (alarm,) = found(values, settings=MonitorSettings(baseline_steps=(10, 40)))
    assert abs(alarm.began - 60) <= 2
    base = baseline_of(series(list(values)), info(), MonitorSettings(baseline_steps=(10, 40)))
    assert base is not None
    assert (base.first, base.last, base.readings) == (10, 40, 31)
    assert baseline_of(series(list(values[:35])), info(), MonitorSettings(baseline_steps=(10, 40))) is None


def test_too_small_a_baseline_is_refused() -> None:
    with pytest.raises(ValidationError):
        MonitorSettings(baseline=9)
    with pytest.raises(ValidationError, match="at least 10 steps"):
        MonitorSettings(baseline_steps=(5, 13))


def test_thresholds_move_the_right_way() -> None:
    assert threshold(10, 200, 0.002) > threshold(20, 200, 0.002) > threshold(100, 200, 0.002)
    assert threshold(20, 1000, 0.002) > threshold(20, 200, 0.002) > threshold(20, 50, 0.002)
    assert threshold(20, 200, 0.001) > threshold(20, 200, 0.0015) > threshold(20, 200, 0.002)
    assert threshold(25, 150, 0.002) == threshold(20, 200, 0.002)
    assert trend_threshold(10, 0.001) > trend_threshold(50, 0.001) > 3
