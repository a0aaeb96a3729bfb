"""Modular arithmetic: what is one inference, what is a leap, what is false; and that habits are always found out."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_proofs import judged

from maxproof.lab.generate import split_of
from maxproof.lab.modular import DOMAIN
from maxproof.lab.oracle import grade
from maxproof.lab.types import Question, StepVerdict

VALID, LEAP, FALSE = StepVerdict.VALID, StepVerdict.LEAP, StepVerdict.FALSE

seeds = st.integers(0, 10**6)
techniques = st.sampled_from(DOMAIN.techniques)
levels = st.sampled_from((1, 2, 3, 4))


def question(statement: str) -> Question:
    found = DOMAIN.read(statement)
    assert found is not None
    return found


def verdicts(statement: str, *claims: str) -> list[StepVerdict | None]:
    return [None if judgement is None else judgement.verdict for judgement in judged(question(statement), claims)]


REDUCTION = "Compute (3 * 5 + 4) * 2 modulo 7."
GCD = "Find the greatest common divisor of 48 and 18."
INVERSE = "Find the inverse of 5 modulo 17."


@pytest.mark.parametrize(
    ("statement", "claims"),
    [
        (REDUCTION, ("3 * 5 = 1 (mod 7).", "1 + 4 = 5 (mod 7).", "5 * 2 = 3 (mod 7).", "The answer is 3.")),
        (GCD, ("48 = 2 * 18 + 12.", "18 = 1 * 12 + 6.", "12 = 2 * 6 + 0.", "The answer is 6.")),
        (
            INVERSE,
            (
                "17 = 3 * 5 + 2.",
                "5 = 2 * 2 + 1.",
                "1 = 5 - 2 * 2.",
                "1 = 7 * 5 - 2 * 17.",
                "The answer is 7.",
            ),
        ),
    ],
)
def test_canonical_proofs(statement: str, claims: tuple[str, ...]) -> None:
    asked = question(statement)
    assert asked.solve(asked.techniques[0]) == claims
    assert grade(asked, "\n".join(claims)).points == 7


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (["3 * 5 = 15 (mod 7)", "15 = 1 (mod 7)", "1 + 4 = 5 (mod 7)"], [VALID, VALID, VALID]),
        (["3 * 5 = 15", "15 + 4 = 19"], [VALID, VALID]),
        (["3 * 5 = 1"], [FALSE]),
        (["3 * 5 = 2 (mod 7)"], [FALSE]),
        (["3 * 5 = 2 (mod 7)", "2 + 4 = 6 (mod 7)"], [FALSE, LEAP]),
        (["3 * 5 + 4 = 5 (mod 7)", "5 * 2 = 3 (mod 7)"], [LEAP, VALID]),
        (["1 + 4 = 5 (mod 7)", "5 * 2 = 3 (mod 7)"], [LEAP, VALID]),
        (["2 + 2 = 4 (mod 7)"], [LEAP]),
        (["3 * 5 = 7 (mod 8)", "7 + 4 = 4 (mod 7)"], [LEAP, LEAP]),
        (["3 = 10 (mod 7)"], [LEAP]),
        (["(3 * 5 + 4) * 2 = (1 + 4) * 2 (mod 7)", "1 + 4 = 5 (mod 7)"], [VALID, VALID]),
        (["3 * 5 = 1 (mod 7)", "3 * 5 = 1 (mod 7)"], [VALID, VALID]),
        (["The answer is 3"], [LEAP]),
        (["The answer is 10"], [FALSE]),
        (["The answer is 4"], [FALSE]),
        (["(3 * 5) / 5 = 3 (mod 7)"], [None]),
        (["3 * 5 = 1 (mod 0)"], [None]),
        (["3 * 5 = 15 = 1 (mod 7)"], [None]),
    ],
)
def test_reduction_claims(claims: list[str], expected: list[StepVerdict | None]) -> None:
    assert verdicts(REDUCTION, *claims) == expected


def test_the_answer_of_a_reduction_may_do_the_last_operation() -> None:
    assert verdicts(REDUCTION, "3 * 5 = 1 (mod 7)", "1 + 4 = 5 (mod 7)", "The answer is 3")[-1] is VALID
    assert verdicts(REDUCTION, "3 * 5 = 1 (mod 7)", "The answer is 3")[-1] is LEAP


def test_a_repeated_operation_is_done_everywhere_at_once_and_again_when_it_comes_up_again() -> None:
    asked = question("Compute 9 + 9 * (9 * 3) modulo 12.")
    assert asked.solve("reduction") == (
        "9 * 3 = 3 (mod 12).",
        "9 * 3 = 3 (mod 12).",
        "9 + 3 = 0 (mod 12).",
        "The answer is 0.",
    )
    assert grade(asked, "\n".join(asked.solve("reduction"))).points == 7


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (["48 = 2 * 18 + 12", "18 = 1 * 12 + 6", "12 = 2 * 6", "The answer is 6"], [VALID] * 4),
        (["48 = 2 * 18 + 13"], [FALSE]),
        (["48 = 1 * 18 + 30"], [LEAP]),
        (["18 = 1 * 12 + 6", "12 = 2 * 6 + 0", "The answer is 6"], [LEAP, VALID, VALID]),
        (["48 = 8 * 6 + 0", "The answer is 6"], [LEAP, LEAP]),
        (["48 = 2 * 18 + 12", "48 = 2 * 18 + 12"], [VALID, VALID]),
        (["48 = 2 * 18 + 12", "The answer is 6"], [VALID, LEAP]),
        (["The answer is 12"], [FALSE]),
        (["6 divides 48"], [None]),
        (["48 = 48 / 0"], [FALSE]),
    ],
)
def test_euclid_claims(claims: list[str], expected: list[StepVerdict | None]) -> None:
    assert verdicts(GCD, *claims) == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (["17 = 3 * 5 + 2", "2 = 17 - 3 * 5"], [VALID, VALID]),
        (["1 = 5 - 2 * 2"], [LEAP]),
        (["5 = 2 * 2 + 1", "1 = 5 - 2 * 2", "1 = 7 * 5 - 2 * 17", "The answer is 7"], [LEAP, VALID, LEAP, VALID]),
        (["1 = 7 * 5 - 2 * 17", "The answer is 7"], [LEAP, VALID]),
        (["1 = 5 + 2 * 2"], [FALSE]),
        (["17 = 3 * 5 + 2", "5 = 2 * 2 + 1", "1 = 5 - 2 * 2", "The answer is 7"], [VALID, VALID, VALID, LEAP]),
        (["5 * 7 = 1 (mod 17)", "The answer is 7"], [VALID, VALID]),
        (["5 * 24 = 1 (mod 17)", "The answer is 7"], [LEAP, LEAP]),
        (["5 * 8 = 1 (mod 17)"], [FALSE]),
        (["The answer is 24"], [FALSE]),
        (["The answer is 7"], [LEAP]),
    ],
)
def test_bezout_claims(claims: list[str], expected: list[StepVerdict | None]) -> None:
    assert verdicts(INVERSE, *claims) == expected


@pytest.mark.parametrize(
    ("statement", "habit", "claims"),
    [
        (REDUCTION, "product_plus_one", ("3 * 5 = 2 (mod 7).", "2 + 4 = 6 (mod 7).", "6 * 2 = 6 (mod 7).")),
        ("Compute 3 - 5 modulo 7.", "difference_reversed", ("3 - 5 = 2 (mod 7).", "The answer is 2.")),
        ("Compute 3 + 5 modulo 7.", "wrap_plus_one", ("3 + 5 = 2 (mod 7).", "The answer is 2.")),
        (GCD, "remainder_plus_one", ("48 = 2 * 18 + 13.", "18 = 1 * 13 + 6.", "13 = 2 * 6 + 2.")),
        (GCD, "remainder_complement", ("48 = 2 * 18 + 6.", "18 = 3 * 6 + 0.", "The answer is 6.")),
        (
            GCD,
            "answer_from_dividend",
            ("48 = 2 * 18 + 12.", "18 = 1 * 12 + 6.", "12 = 2 * 6 + 0.", "The answer is 12."),
        ),
        (INVERSE, "sign_lost", ("17 = 3 * 5 + 2.", "5 = 2 * 2 + 1.", "1 = 5 + 2 * 2.", "1 = 2 * 17 + 7 * 5.")),
    ],
)
def test_habits_are_carried_on(statement: str, habit: str, claims: tuple[str, ...]) -> None:
    asked = question(statement)
    assert asked.solve(asked.techniques[0], frozenset({habit}))[: len(claims)] == claims


@settings(max_examples=150, deadline=None)
@given(techniques, levels, seeds)
def test_solutions_are_valid_throughout(technique: str, level: int, seed: int) -> None:
    asked = DOMAIN.generate(Random(seed), technique, level)
    assert asked.level == level
    assert asked.techniques[0] == technique
    assert DOMAIN.read(asked.statement) == asked
    claims = asked.solve(technique)
    found = judged(asked, claims)
    assert all(judgement is not None and judgement.verdict is VALID for judgement in found)
    assert [bool(judgement and judgement.goal) for judgement in found] == [False] * (len(claims) - 1) + [True]
    assert grade(asked, "\n".join(claims)).points == 7


@settings(max_examples=200, deadline=None)
@given(techniques, levels, seeds, st.data())
def test_habits_that_change_the_claims_are_found_out(
    technique: str, level: int, seed: int, data: st.DataObject
) -> None:
    asked = DOMAIN.generate(Random(seed), technique, level)
    habits = data.draw(st.frozensets(st.sampled_from(asked.habits(technique)), min_size=1))
    right, wrong = asked.solve(technique), asked.solve(technique, habits)
    if wrong != right:
        assert any(judgement is None or judgement.verdict is not VALID for judgement in judged(asked, wrong))
        assert grade(asked, "\n".join(wrong)).points <= 2


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
    claims = asked.solve(technique)
    # The last operation of a reduction may be done by the answer.
    most = len(claims) - (3 if technique == "reduction" else 2)
    index = data.draw(st.integers(0, most))
    if claims[index] in claims[:index] + claims[index + 1 :]:
        return
    rest = claims[:index] + claims[index + 1 :]
    assert any(judgement is not None and judgement.verdict is LEAP for judgement in judged(asked, rest))
    assert grade(asked, "\n".join(rest)).points < 7


ALPHABET = st.text(st.sampled_from("0123456789 ()+-*/=.^k"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(techniques, seeds, st.one_of(st.text(max_size=80), ALPHABET, ALPHABET.map(lambda text: text + " (mod 7).")))
def test_any_text_is_judged(technique: str, seed: int, text: str) -> None:
    asked = DOMAIN.generate(Random(seed), technique, 2)
    asked.judge(asked.start(), text)
    DOMAIN.read(text)
    DOMAIN.read(f"Compute {text} modulo 7.")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "3" * 100_000 + " = 1 (mod 7).",
        "9 ^ 9 ^ 9 ^ 9 = 1 (mod 7).",
        " * ".join(["999999"] * 40_000) + " = 1 (mod 7).",
        "1 = " + "-" * 50_000 + "1",
        "The answer is " + "9" * 100_000,
        "3 * 5 = 1 (mod " + "9" * 50_000 + ")",
        "٣ * ٥ = ١ (mod ٧).",
    ],
)
def test_hostile_texts_are_refused(text: str) -> None:
    for statement in (REDUCTION, GCD, INVERSE):
        asked = question(statement)
        judgement = asked.judge(asked.start(), text)
        assert judgement is None or judgement.verdict is not VALID
    assert DOMAIN.read(text) is None


@pytest.mark.parametrize(
    "statement",
    [
        "Compute 3 modulo 7.",
        "Compute 3 / 2 + 1 modulo 7.",
        "Compute 3 * 5 modulo 0.",
        "Compute x * 5 modulo 7.",
        "Find the greatest common divisor of 18 and 48.",
        "Find the greatest common divisor of 18 and 0.",
        "Find the inverse of 4 modulo 6.",
        "Find the inverse of 8 modulo 7.",
        "Solve 3 x = 6.",
        "",
    ],
)
def test_statements_that_ask_nothing_here(statement: str) -> None:
    assert DOMAIN.read(statement) is None


def test_unknown_names_are_refused() -> None:
    asked = question(GCD)
    with pytest.raises(ValueError, match="bezout"):
        asked.solve("bezout")
    with pytest.raises(ValueError, match="sign_lost"):
        asked.solve("euclid", frozenset({"sign_lost"}))
    with pytest.raises(ValueError, match="5"):
        DOMAIN.generate(Random(0), "euclid", 5)


@pytest.mark.parametrize("technique", DOMAIN.techniques)
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_structures_are_many_and_in_every_split(technique: str, level: int) -> None:
    asked = [DOMAIN.generate(Random(seed), technique, level) for seed in range(250)]
    keys: dict[str, set[str]] = {}
    for one in asked:
        keys.setdefault(split_of(one), set()).add(one.structure)
    assert set(keys) == {"train", "validation", "test"}
    assert sum(map(len, keys.values())) >= 15
