"""Pairing of predicted and golden errors."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.training.error_matching import (
    MAX_ERRORS,
    Sentences,
    assignment,
    f1_like,
    kind_of,
    localisation,
    match_errors,
    word_agreement,
)
from maxproof.verifier.types import LocatedError

PROOF = "Step 1: 3 x = 6.\nx = 3.\nSo 2 x = 3 + 3. Then x = 3.\nThe answer is 3."
PLACES = Sentences(PROOF)

weights = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.floats(0, 1, allow_nan=False), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


def error(location: str, description: str = "false") -> LocatedError:
    return LocatedError(location, description)


def best_by_trying(table: list[list[float]]) -> float:
    if len(table) > len(table[0]):
        table = [list(column) for column in zip(*table, strict=True)]
    return max(
        sum(table[row][column] for row, column in enumerate(columns))
        for columns in permutations(range(len(table[0])), len(table))
    )


@given(weights)
def test_assignment_is_the_best_there_is(table: list[list[float]]) -> None:
    pairs = assignment(table)
    assert len(pairs) == min(len(table), len(table[0]))
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert sum(table[row][column] for row, column in pairs) == pytest.approx(best_by_trying(table))


def test_assignment_beats_greedy() -> None:
    assert assignment([[0.9, 0.8], [0.8, 0.0]]) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("table", [[], [[]]])
def test_assignment_of_nothing(table: list[list[float]]) -> None:
    assert assignment(table) == []


@pytest.mark.parametrize(
    ("location", "sentences"),
    [
        ("3 x = 6", {0}),
        ('"3 x = 6."', {0}),
        ("Step 1", {0}),
        ("2 x = 3 + 3", {2}),
        ("x = 3.", {1}),  # in three sentences, and all of one
        ("x = 3. So 2 x = 3 + 3", {1, 2}),
        ("3 x = 6 ... The answer is 3", {0, 4}),
        ("sentence 2", {1}),
        ("line 2-3", {1, 2}),
        ("sentence 99", set()),
        ("x = 4", set()),
        ("the induction step", set()),
        ("", set()),
        ("13 x = 6", set()),
        ("answer: the is 3", {4}),
    ],
)
def test_a_location_is_placed(location: str, sentences: set[int]) -> None:
    assert PLACES.place(location) == sentences


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        ("3 x = 6", "Step 1: 3 x = 6.", 1.0),
        ("3 x = 6", "The answer is 3.", 0.0),
        ("x = 3. So 2 x = 3 + 3", "So 2 x = 3 + 3", 0.5),
        ("the whole proof", "The whole proof.", 1.0),
        ("the whole proof", "the induction step", 0.0),
        ("", "", 1.0),
        ("", "3 x = 6", 0.0),
    ],
)
def test_localisation(one: str, other: str, value: float) -> None:
    assert localisation(one, other, PLACES) == value
    assert localisation(other, one, PLACES) == value


@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=60))
def test_localisation_is_symmetric_and_bounded_on_any_text(proof: str, one: str, other: str) -> None:
    places = Sentences(proof)
    value = localisation(one, other, places)
    assert 0 <= value <= 1
    assert value == localisation(other, one, places)
    assert localisation(one, one, places) == 1


def test_errors_of_one_sentence_are_told_apart_by_their_words() -> None:
    golden = [error("3 x = 6", "the sign is lost"), error("3 x = 6", "the product is false")]
    predicted = [error("3 x = 6", "product false"), error("3 x = 6", "sign lost")]
    pairs = match_errors(predicted, golden, PLACES)
    assert [(pair.predicted, pair.golden) for pair in pairs] == [(0, 1), (1, 0)]


def test_pairs_that_agree_nowhere_are_left_out() -> None:
    pairs = match_errors([error("3 x = 6"), error("The answer is 3.")], [error("The answer is 3.")], PLACES)
    assert [(pair.predicted, pair.golden, pair.localisation) for pair in pairs] == [(1, 0, 1.0)]


def test_one_error_is_not_paired_twice() -> None:
    predicted = [error("3 x = 6")] * 5
    pairs = match_errors(predicted, [error("3 x = 6")], PLACES)
    assert len(pairs) == 1
    assert f1_like(1.0, len(predicted), 1) == pytest.approx(1 / 3)


def test_long_lists_are_cut_but_counted() -> None:
    many = [error("3 x = 6")] * (MAX_ERRORS + 40)
    assert len(match_errors(many, many, PLACES)) == MAX_ERRORS


@pytest.mark.parametrize(
    ("credit", "predicted", "golden", "value"), [(0, 0, 0, 1.0), (0, 0, 3, 0.0), (0, 2, 0, 0.0), (1, 1, 2, 2 / 3)]
)
def test_f1_like(credit: float, predicted: int, golden: int, value: float) -> None:
    assert f1_like(credit, predicted, golden) == pytest.approx(value)


@pytest.mark.parametrize(
    ("description", "kind"),
    [("3 * 5 is false: it is 15", "false"), ("this step is a leap", "gap"), ("not shown", "gap"), ("hm", "")],
)
def test_kind_of(description: str, kind: str) -> None:
    assert kind_of(description) == kind


def test_word_agreement() -> None:
    assert word_agreement("the sign is lost", "Sign lost.") == 1
    assert word_agreement("sign", "sum") == 0
    assert word_agreement("", "") == 1
