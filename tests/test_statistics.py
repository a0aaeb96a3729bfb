"""Rates and pass@k against known values and brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.statistics import mean_pass_at_k, pass_at_k, student, wilson


def test_wilson_against_a_published_value() -> None:
    # Newcombe, Stat. Med. 17 (1998), table I: 81 of 263 and 15 of 148.
    rate = wilson(81, 263)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.2553, 0.3662)
    rate = wilson(15, 148)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.0624, 0.1605)


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == 1
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_estimate(counts: tuple[int, int]) -> None:
    rate = wilson(*counts)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_success(case: tuple[int, int, int]) -> None:
    attempts, successes, k = case
    draws = list(combinations([index < successes for index in range(attempts)], k))
    assert pass_at_k(attempts, successes, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


def test_pass_at_k_refuses_more_draws_than_attempts() -> None:
    with pytest.raises(ValueError, match="pass@5"):
        pass_at_k(4, 1, 5)


def test_mean_pass_at_k() -> None:
    mean = mean_pass_at_k([(4, 4), (4, 0), (4, 2), (4, 2)], 1)
    assert mean.value == pytest.approx(0.5)
    assert 0 < mean.low < 0.5 < mean.high < 1
    # Where all problems agree their spread says nothing: the interval is that of so many problems.
    assert mean_pass_at_k([(4, 0)] * 10, 2).high == wilson(0, 10).high > 0.2
    assert mean_pass_at_k([(4, 4)] * 10, 2).low == wilson(10, 10).low < 0.8
    with pytest.raises(ValueError, match="no problems"):
        mean_pass_at_k([], 1)


def test_quantiles_of_student() -> None:
    known = {1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042, 1000: 1.962}
    for freedom, value in known.items():
        assert student(freedom) == pytest.approx(value, rel=1e-2)
