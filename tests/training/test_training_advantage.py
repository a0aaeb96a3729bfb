"""Group advantages: the laws of the formula, the strict filter, and what masking means."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maxproof.problems import InputError
from maxproof.training.advantage import Dropped, group_advantages, mean_and_std

EPS = 1e-6
rewards = st.lists(st.floats(0, 1), min_size=2, max_size=16)


def test_population_std_by_hand() -> None:
    group = group_advantages([0.0, 1.0, 1.0, 0.0], std_threshold=0.05, epsilon=EPS)
    assert group.mean == 0.5
    assert group.std == 0.5  # the sample std would be 0.577
    assert group.advantages == pytest.approx((-1, 1, 1, -1), abs=1e-5)


@given(rewards)
def test_zero_mean_and_unit_population_std(values: list[float]) -> None:
    group = group_advantages(values, std_threshold=0.05, epsilon=EPS)
    assume(group.dropped is None)
    found = [value for value in group.advantages if value is not None]
    mean, std = mean_and_std(found)
    assert abs(mean) < 1e-9
    assert group.std is not None
    assert std == pytest.approx(group.std / (group.std + EPS), rel=1e-9)


@given(rewards, st.floats(-3, 3), st.floats(0.5, 7))
def test_invariant_to_shift_and_scale(values: list[float], shift: float, scale: float) -> None:
    base = group_advantages(values, std_threshold=0.05, epsilon=EPS)
    assume(base.dropped is None and base.std is not None and base.std > 0.06)
    moved = group_advantages([shift + scale * v for v in values], std_threshold=0.05 * scale, epsilon=EPS)
    assert moved.dropped is None
    assert moved.advantages == pytest.approx(base.advantages, abs=1e-4)


def test_the_threshold_is_strict() -> None:
    assert group_advantages([0.0, 0.5], std_threshold=0.25, epsilon=EPS).dropped is Dropped.NO_SPREAD
    below = math.nextafter(0.25, 0)
    assert group_advantages([0.0, 0.5], std_threshold=below, epsilon=EPS).dropped is None


@given(st.floats(0, 1), st.integers(2, 16))
def test_equal_rewards_are_dropped_at_threshold_zero(value: float, size: int) -> None:
    group = group_advantages([value] * size, std_threshold=0.0, epsilon=EPS)
    assert group.dropped is Dropped.NO_SPREAD
    assert group.advantages == (None,) * size


@given(rewards, st.data())
def test_not_scored_members_change_nothing_for_the_others(values: list[float], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(values)), max_size=4))
    with_holes: list[float | None] = list(values)
    for place in places:
        with_holes.insert(place, None)
    plain = group_advantages(values, std_threshold=0.05, epsilon=EPS)
    masked = group_advantages(with_holes, std_threshold=0.05, epsilon=EPS)
    assert (masked.mean, masked.std, masked.dropped) == (plain.mean, plain.std, plain.dropped)
    scored = tuple(a for a, reward in zip(masked.advantages, with_holes, strict=True) if reward is not None)
    assert scored == plain.advantages
    assert all(a is None for a, reward in zip(masked.advantages, with_holes, strict=True) if reward is None)


@pytest.mark.parametrize("values", [[None, None], [1.0, None, None]])
def test_fewer_than_two_scored_are_dropped_with_that_reason(values: list[float | None]) -> None:
    assert group_advantages(values, std_threshold=0.0, epsilon=EPS).dropped is Dropped.TOO_FEW_SCORED


@pytest.mark.parametrize("values", [[], [1.0], [None]])
def test_a_group_of_one_is_refused(values: list[float | None]) -> None:
    with pytest.raises(InputError, match="no spread"):
        group_advantages(values, std_threshold=0.0, epsilon=EPS)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_reward_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="finite"):
        group_advantages([0.0, bad], std_threshold=0.0, epsilon=EPS)
