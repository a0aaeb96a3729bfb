"""Sums and products: what is one inference in each technique, and that no wrong proof passes."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_proofs import judged

from maxproof.lab.expressions import Node, parse
from maxproof.lab.generate import split_of
from maxproof.lab.oracle import grade
from maxproof.lab.sums import DOMAIN, Series
from maxproof.lab.telescoping import identical, neighbours
from maxproof.lab.types import StepVerdict

VALID, LEAP, FALSE = StepVerdict.VALID, StepVerdict.LEAP, StepVerdict.FALSE

seeds = st.integers(0, 10**6)
techniques = st.sampled_from(DOMAIN.techniques)
levels = st.sampled_from((1, 2, 3, 4))


def question(statement: str) -> Series:
    found = DOMAIN.read(statement)
    assert found is not None
    return found


def verdicts(statement: str, *claims: str) -> list[StepVerdict | None]:
    return [None if judgement is None else judgement.verdict for judgement in judged(question(statement), claims)]


LINEAR = "Compute the sum of 2 k + 1 for k from 1 to 4."
FALLING = "Compute the sum of 5 - 4 k for k from 1 to 3."
SPLIT = "Compute the sum of 1 / (k (k + 1)) for k from 1 to 5."
WIDE = "Compute the sum of 2 / (k (k + 2)) for k from 1 to 5."
SQUARES = "Compute the sum of (k + 1)^2 - k^2 for k from 1 to 4."
PRODUCT = "Compute the product of (k + 2) / k for k from 2 to 5."
RATIO = "Compute the product of 1 - 1 / k for k from 2 to 8."


@pytest.mark.parametrize(
    ("statement", "technique", "claims"),
    [
        (LINEAR, "accumulation", "The terms are 3, 5, 7, 9. 3 + 5 = 8. 8 + 7 = 15. 15 + 9 = 24. The answer is 24."),
        (
            LINEAR,
            "pairing",
            "There are 4 terms. The first term is 3. The last term is 9. 3 + 9 = 12. 4 * 12 / 2 = 24. "
            "The answer is 24.",
        ),
        (FALLING, "accumulation", "The terms are 1, -3, -7. 1 - 3 = -2. -2 - 7 = -9. The answer is -9."),
        (
            SPLIT,
            "telescoping",
            "1 / (k (k + 1)) = 1 / k - 1 / (k + 1). The sum is 1 - 1/6. 1 - 1/6 = 5/6. The answer is 5/6.",
        ),
        (SQUARES, "telescoping", "The sum is 25 - 1. 25 - 1 = 24. The answer is 24."),
        (PRODUCT, "telescoping", "The product is 6 * 7 / (2 * 3). 6 * 7 = 42. 2 * 3 = 6. The answer is 7."),
        (RATIO, "telescoping", "1 - 1 / k = (k - 1) / k. The product is 1/8. The answer is 1/8."),
    ],
)
def test_canonical_proofs(statement: str, technique: str, claims: str) -> None:
    asked = question(statement)
    assert asked.solve(technique) == tuple(re.split(r"(?<=\.) ", claims))
    assert grade(asked, "\n".join(asked.solve(technique))).points == 7


@pytest.mark.parametrize(
    ("statement", "claims", "expected"),
    [
        (LINEAR, ["3 + 5 = 8"], [LEAP]),
        (LINEAR, ["The terms are 3, 5, 7, 9", "8 + 7 = 15"], [VALID, LEAP]),
        (LINEAR, ["The terms are 3, 5, 7 and 9", "3 + 5 + 7 = 15", "15 + 9 = 24"], [VALID, LEAP, VALID]),
        (LINEAR, ["The terms are 3, 5, 7, 9", "3 + 5 = 8", "3 + 5 = 8"], [VALID, VALID, VALID]),
        (LINEAR, ["The terms are 3, 5, 7, 9", "3 + 7 = 10"], [VALID, LEAP]),
        (LINEAR, ["The terms are 3, 5, 7"], [FALSE]),
        (LINEAR, ["The terms are 3, 5, 7, 10"], [FALSE]),
        (LINEAR, ["There are 3 terms"], [FALSE]),
        (LINEAR, ["The last term is 7"], [FALSE]),
        (LINEAR, ["3 + 9 = 12"], [LEAP]),
        (LINEAR, ["The terms are 3, 5, 7, 9", "3 + 9 = 12", "4 * 12 / 2 = 24"], [VALID, VALID, LEAP]),
        (LINEAR, ["4 * 12 = 48"], [LEAP]),
        (LINEAR, ["3 * 12 / 2 = 18"], [LEAP]),
        (LINEAR, ["4 * 12 / 2 = 24", "The answer is 24"], [LEAP, VALID]),
        (LINEAR, ["2 k + 1 = (k + 1)^2 - k^2", "The sum is 25 - 1", "The answer is 24"], [VALID, VALID, LEAP]),
        (LINEAR, ["The answer is 24"], [LEAP]),
        (LINEAR, ["The answer is 25"], [FALSE]),
        (FALLING, ["The terms are 1, -3, -7", "1 + -3 = -2"], [VALID, VALID]),
        (SPLIT, ["The sum is 1 - 1/6", "1 - 1/6 = 5/6", "The answer is 5/6"], [LEAP, VALID, VALID]),
        (SPLIT, ["1 / (k (k + 1)) = 1 / k + 1 / (k + 1)"], [FALSE]),
        (SPLIT, ["1 / (k (k + 1)) = 1 / (k^2 + k)"], [LEAP]),
        (SPLIT, ["1 / (k (k + 1)) = 1 / k - 1 / (k + 1)", "The sum is 1 - 1/5"], [VALID, FALSE]),
        (SPLIT, ["1 / (k (k + 1)) = 1 / k - 1 / (k + 1)", "The sum is 1/2 + 1/3"], [VALID, LEAP]),
        (SPLIT, ["1 / (k (k + 1)) = 1 / k - 1 / (k + 1)", "The sum is -1/6 + 1"], [VALID, VALID]),
        (SPLIT, ["1 / k = 1 / k + 0"], [LEAP]),
        (SPLIT, ["1 / x = 1 / x"], [None]),
        (WIDE, ["2 / (k (k + 2)) = 1 / k - 1 / (k + 2)", "The sum is 1 - 1/7"], [VALID, FALSE]),
        (SQUARES, ["The sum is 25 - 1", "The sum is 25 - 1"], [VALID, VALID]),
        (SQUARES, ["The sum is 25 - 1", "25 - 1 = 24", "The sum is 25 - 1", "25 - 1 = 24"], [VALID] * 4),
        (SQUARES, ["The product is 25 - 1"], [FALSE]),
        (PRODUCT, ["The product is 6 * 7 / 6", "The answer is 7"], [LEAP, LEAP]),
        (PRODUCT, ["The product is 7 * 6 / (3 * 2)", "6 * 7 = 42"], [VALID, LEAP]),
        (PRODUCT, ["The product is 7", "The answer is 7"], [LEAP, VALID]),
        (PRODUCT, ["3 * 5 = 15"], [LEAP]),
        (PRODUCT, ["1 / 0 = 1"], [None]),
    ],
)
def test_claims(statement: str, claims: list[str], expected: list[StepVerdict | None]) -> None:
    assert verdicts(statement, *claims) == expected


def test_a_repetition_is_no_progress() -> None:
    asked = question(SQUARES)
    claims = ("The sum is 25 - 1.", "25 - 1 = 24.", "The sum is 25 - 1.", "25 - 1 = 24.")
    states = [judgement.state for judgement in judged(asked, claims) if judgement is not None]
    assert states[1] == states[2] == states[3] != states[0]


@pytest.mark.parametrize(
    ("statement", "technique", "habit", "claim"),
    [
        (LINEAR, "accumulation", "last_term_forgotten", "The terms are 3, 5, 7."),
        (LINEAR, "accumulation", "addition_plus_one", "9 + 7 = 17."),
        (FALLING, "accumulation", "minus_read_as_plus", "The terms are 9, 13, 17."),
        (LINEAR, "pairing", "count_without_one", "3 * 12 / 2 = 18."),
        (LINEAR, "pairing", "half_forgotten", "4 * 12 = 48."),
        (LINEAR, "pairing", "last_term_early", "The last term is 7."),
        (SPLIT, "telescoping", "end_one_early", "The sum is 1 - 1/5."),
        (SPLIT, "telescoping", "ends_swapped", "The sum is 1/6 - 1."),
        (PRODUCT, "telescoping", "gap_taken_for_one", "The product is 7/2."),
    ],
)
def test_habits_are_carried_on(statement: str, technique: str, habit: str, claim: str) -> None:
    assert claim in question(statement).solve(technique, frozenset({habit}))


@settings(max_examples=150, deadline=None)
@given(techniques, levels, seeds)
def test_solutions_are_valid_throughout(technique: str, level: int, seed: int) -> None:
    asked = DOMAIN.generate(Random(seed), technique, level)
    assert asked.level == level
    assert asked.techniques[0] == technique
    assert DOMAIN.read(asked.statement) == asked
    for way in asked.techniques:
        claims = asked.solve(way)
        found = judged(asked, claims)
        assert all(judgement is not None and judgement.verdict is VALID for judgement in found)
        assert [bool(judgement and judgement.goal) for judgement in found] == [False] * (len(claims) - 1) + [True]
        assert grade(asked, "\n".join(claims)).points == 7
        assert all(abs(int(number)) <= 199 for claim in claims for number in re.findall("[0-9]+", claim))


@settings(max_examples=200, deadline=None)
@given(techniques, levels, seeds, st.data())
def test_habits_that_change_the_claims_are_found_out(
    technique: str, level: int, seed: int, data: st.DataObject
) -> None:
    asked = DOMAIN.generate(Random(seed), technique, level)
    way = data.draw(st.sampled_from(asked.techniques))
    habits = data.draw(st.frozensets(st.sampled_from(asked.habits(way)), min_size=1))
    right, wrong = asked.solve(way), asked.solve(way, habits)
    if wrong != right:
        assert any(judgement is None or judgement.verdict is not VALID for judgement in judged(asked, wrong))
        assert grade(asked, "\n".join(wrong)).points < 7


@pytest.mark.parametrize("technique", DOMAIN.techniques)
def test_every_habit_comes_up(technique: str) -> None:
    asked = [DOMAIN.generate(Random(seed), technique, 3) for seed in range(60)]
    for habit in asked[0].habits(technique):
        changed = sum(one.solve(technique) != one.solve(technique, frozenset({habit})) for one in asked)
        assert changed >= 15, habit


@settings(max_examples=200, deadline=None)
@given(techniques, levels, seeds, st.data())
def test_a_dropped_claim_leaves_a_gap(technique: str, level: int, seed: int, data: st.DataObject) -> None:
    asked = DOMAIN.generate(Random(seed), technique, level)
    way = data.draw(st.sampled_from(asked.techniques))
    claims = asked.solve(way)
    index = data.draw(st.integers(0, len(claims) - 2))
    rest = claims[:index] + claims[index + 1 :]
    assert any(judgement is not None and judgement.verdict is LEAP for judgement in judged(asked, rest))
    assert grade(asked, "\n".join(rest)).points < 7


ALPHABET = st.text(st.sampled_from("0123456789 ()+-*/=.^k,"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from((LINEAR, SPLIT, SQUARES, PRODUCT)),
    st.one_of(st.text(max_size=80), ALPHABET, ALPHABET.map("The sum is {}.".format)),
)
def test_any_text_is_judged(statement: str, text: str) -> None:
    asked = question(statement)
    asked.judge(asked.start(), text)
    DOMAIN.read(text)
    read = DOMAIN.read(f"Compute the sum of {text} for k from 1 to 5.")
    if read is not None:
        for way in read.techniques:
            found = judged(read, read.solve(way))
            assert all(judgement is not None and judgement.verdict is VALID for judgement in found)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "The terms are " + "3, " * 50_000 + "3",
        "The sum is " + "9" * 100_000,
        "k^9^9^9 = k",
        "k^24^24 = k",
        "2 k + 1 = " + " * ".join(["(k + 1)^24"] * 20),
        "There are " + "4" * 10_000 + " terms",
    ],
)
def test_hostile_texts_are_refused(text: str) -> None:
    asked = question(LINEAR)
    assert asked.judge(asked.start(), text) is None
    assert DOMAIN.read(text) is None


@pytest.mark.parametrize(
    "statement",
    [
        "Compute the sum of 2 k + 1 for k from 4 to 1.",
        "Compute the sum of 2 k + 1 for k from 1 to 999.",
        "Compute the sum of 2 n + 1 for k from 1 to 4.",
        "Compute the sum of 7 for k from 1 to 4.",
        "Compute the sum of 1 / k for k from 0 to 4.",
        "Compute the product of k + 1 for k from 1 to 4.",
        "Compute the sum of k^24 k^24 k^24 for k from 900 to 920.",
    ],
)
def test_statements_that_ask_nothing_here(statement: str) -> None:
    assert DOMAIN.read(statement) is None


def test_splits_and_identities_are_decided_exactly() -> None:
    def node(text: str) -> Node:
        found = parse(text)
        assert found is not None
        return found

    assert identical(node("(k + 1)^2 - k^2"), node("2 k + 1")) is True
    assert identical(node("k / k"), node("1")) is True
    assert identical(node("k^2"), node("k^2 + 1/1000000")) is False
    assert identical(node("x"), node("x")) is None
    split = neighbours(node("1 / k - 1 / (k + 3)"), False)
    assert split is not None
    assert (split.gap, split.forwards) == (3, True)
    split = neighbours(node("(k + 1) / k"), True)
    assert split is not None
    assert (split.gap, split.forwards) == (1, False)
    assert neighbours(node("1 / k - 1 / (k^2 + 1)"), False) is None


@pytest.mark.parametrize("technique", DOMAIN.techniques)
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_structures_are_many_and_in_every_split(technique: str, level: int) -> None:
    asked = [DOMAIN.generate(Random(seed), technique, level) for seed in range(250)]
    keys: dict[str, set[str]] = {}
    for one in asked:
        keys.setdefault(split_of(one), set()).add(one.structure)
    assert set(keys) == {"train", "validation", "test"}
    assert sum(map(len, keys.values())) >= 25
