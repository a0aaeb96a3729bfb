"""Linear equations: own solutions are right, wrong habits are not, and each rule allows one inference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_proofs import check_question, check_variety, points, verdicts

from maxproof.lab.linear import DOMAIN
from maxproof.lab.types import Question, StepVerdict

VALID, LEAP, FALSE, UNREADABLE = StepVerdict.VALID, StepVerdict.LEAP, StepVerdict.FALSE, StepVerdict.UNREADABLE


def asked(statement: str) -> Question:
    found = DOMAIN.read(statement)
    assert found is not None
    return found


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DOMAIN.techniques), st.integers(1, 4), st.integers(0, 10**6))
def test_generated_questions(technique: str, level: int, seed: int) -> None:
    check_question(DOMAIN, technique, level, seed)


@pytest.mark.parametrize("technique", DOMAIN.techniques)
def test_every_habit_comes_up_and_there_are_many_structures(technique: str) -> None:
    check_variety(DOMAIN, technique)


@pytest.mark.parametrize(
    ("statement", "claim", "verdict"),
    [
        ("Solve 3 x + 4 = 10.", "3 x = 6", VALID),
        ("Solve 3 x + 4 = 10.", "10 = 4 + 3 x", VALID),
        ("Solve 3 x + 4 = 10.", "6 = 3 x", VALID),
        ("Solve 3 x + 4 = 10.", "3 x + 4 - 4 = 10 - 4", VALID),
        ("Solve 3 x + 4 = 10.", "6 x + 8 = 20", VALID),
        ("Solve 3 x + 4 = 10.", "6 x = 12", LEAP),
        ("Solve 3 x + 4 = 10.", "x = 2", LEAP),
        ("Solve 3 x + 4 = 10.", "3 x = 14", FALSE),
        ("Solve 3 x + 4 = 10.", "3 * 2 + 4 = 10", VALID),
        ("Solve 3 x + 4 = 10.", "3 * 2 + 4 = 11", FALSE),
        ("Solve 3 x + 4 = 10.", "x^2 = 4", LEAP),
        ("Solve 3 x + 4 = 10.", "y = 2", UNREADABLE),
        ("Solve 3 x + 4 = 10.", "x >= 2", UNREADABLE),
        ("Solve 3 x + 4 = 10.", "The answer is 3", FALSE),
        ("Solve 3 x + 4 = 10.", "The answer is 2", LEAP),
        ("Solve 2 (x + 3) + 4 = 16 + x.", "2 x + 6 + 4 = 16 + x", VALID),
        ("Solve 2 (x + 3) + 4 = 16 + x.", "2 x + 10 = 16 + x", LEAP),
        ("Solve 2 (x + 3) + 4 = 16 + x.", "2 (x + 3) = 12 + x", VALID),
        ("Solve 2 (x + 3) = 16 + x.", "2 x = 10 + x", LEAP),
        ("Solve 2 (x + 3) = 16.", "x + 3 = 8", VALID),
        ("Solve 2 (x + 3) = 16.", "4 x + 12 = 32", LEAP),
        ("Solve 2 x + 3 x = 10 - 5.", "5 x = 10 - 5", VALID),
        ("Solve 2 x + 3 x = 10 - 5.", "5 x = 5", LEAP),
        ("Solve 3 x + 4 = x + 10.", "2 x = 6", LEAP),
        ("Solve x + y = 5 and x - y = 1.", "2 x = 6", VALID),
        ("Solve x + y = 5 and x - y = 1.", "2 y = 4", VALID),
        ("Solve x + y = 5 and x - y = 1.", "x = 3", LEAP),
        ("Solve x + y = 5 and 3 x - 2 y = 5.", "5 x = 15", LEAP),
        ("Solve y = 2 x + 1 and x + y = 7.", "x + 2 x + 1 = 7", VALID),
        ("Solve y = 2 x + 1 and x + y = 7.", "3 x + 1 = 7", LEAP),
        ("Solve y = 2 x + 1 and x + 3 y = 17.", "x + 3 (2 x + 1) = 17", VALID),
        ("Solve y = 2 x + 1 and x + 3 y = 17.", "x + 6 x + 3 = 17", LEAP),
        ("Solve y = 2 x + 1 and x + y = 7.", "x = 2 and y = 5", LEAP),
        ("Solve y = 2 x + 1 and x + y = 7.", "x = 2 and y = 6", FALSE),
        ("Solve y = 2 x + 1 and x + y = 7.", "The answer is x = 2", LEAP),
        ("Solve y = 2 x + 1 and x + y = 7.", "The answer is x = 5 and y = 2", FALSE),
    ],
)
def test_one_inference(statement: str, claim: str, verdict: StepVerdict) -> None:
    assert verdicts(asked(statement), claim) == [verdict]


def test_the_answer_is_needed_and_in_full() -> None:
    system = asked("Solve x + y = 5 and x - y = 1.")
    steps = ("2 x = 6.", "x = 3.", "2 y = 4.", "y = 2.")
    assert points(system, *steps) < 7
    assert points(system, *steps, "The answer is x = 3.") < 7
    assert points(system, *steps, "The answer is y = 2 and x = 3.") == 7
    assert points(system, *steps, "The answer is y = 2 and x = 3.", "The answer is y = 3 and x = 2.") == 2


@pytest.mark.parametrize(
    "statement",
    [
        "Solve x = x.",
        "Solve x = x + 1.",
        "Solve x^2 = 4.",
        "Solve x + y = 5.",
        "Solve x + y = 5 and 2 x + 2 y = 10.",
        "Solve x + y = 5 and 2 x + 2 y = 11.",
        "Solve 2 x = 4 and 3 y = 6.",
        "Solve 3 x + 4 = 10",
        "Solve 3 x + 4 >= 10.",
        "Solve 3 x + 4.",
        "Solve .",
        "Solve 3 (x (x + 1)) = 5.",
        "Solve 9999999 x = 1.",
        "Compute 3.",
        "",
    ],
)
def test_other_statements_are_not_read(statement: str) -> None:
    assert DOMAIN.read(statement) is None


def test_wrong_calls_are_refused() -> None:
    one = asked("Solve 3 x + 4 = 10.")
    with pytest.raises(ValueError, match="elimination"):
        one.solve("elimination")
    with pytest.raises(ValueError, match="sloth"):
        one.solve("isolation", frozenset({"sloth"}))


@given(st.text(alphabet="xy0123456789+-*/^()=. and", max_size=80))
def test_any_claim_is_judged(text: str) -> None:
    for statement in ("Solve 3 x + 4 = 10.", "Solve x + y = 5 and x - y = 1."):
        each = asked(statement)
        each.judge(each.start(), text)
    DOMAIN.read(f"Solve {text}.")
