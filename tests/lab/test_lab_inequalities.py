"""Inequalities: own proofs are right, wrong habits are not, truth is exact, and each rule allows one inference."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_proofs import check_question, check_variety, points, verdicts

from maxproof.lab.forms import polynomial_of, read_form
from maxproof.lab.inequalities import DOMAIN
from maxproof.lab.inequality_rules import is_nonnegative
from maxproof.lab.polynomials import Polynomial
from maxproof.lab.types import Question, StepVerdict

VALID, LEAP, FALSE, UNREADABLE = StepVerdict.VALID, StepVerdict.LEAP, StepVerdict.FALSE, StepVerdict.UNREADABLE


def asked(statement: str) -> Question:
    found = DOMAIN.read(statement)
    assert found is not None
    return found


def polynomial(text: str) -> Polynomial:
    form = read_form(text)
    assert form is not None
    found = polynomial_of(form)
    assert found is not None
    return found


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DOMAIN.techniques), st.integers(1, 4), st.integers(0, 10**6))
def test_generated_questions(technique: str, level: int, seed: int) -> None:
    check_question(DOMAIN, technique, level, seed)


@pytest.mark.parametrize("technique", DOMAIN.techniques)
def test_every_habit_comes_up_and_there_are_many_structures(technique: str) -> None:
    check_variety(DOMAIN, technique)


ONE = "Show that x^2 - 6 x + 10 >= 0."
TWO = "Show that x^2 + y^2 - 4 x + 6 y + 14 >= 1."


@pytest.mark.parametrize(
    ("statement", "claims", "verdict"),
    [
        (ONE, ["x^2 - 6 x + 10 = (x - 3)^2 + 1"], VALID),
        (ONE, ["x^2 - 6 x + 10 = (x - 3)^2 + 2"], FALSE),
        (ONE, ["2 x^2 - 12 x + 20 = 2 (x - 3)^2 + 2"], LEAP),
        (ONE, ["x^2 - 6 x = (x - 3)^2 - 9", "2 x^2 - 12 x + 20 = 2 (x - 3)^2 + 2"], VALID),
        (ONE, ["(x - 3)^2 >= 0"], VALID),
        (ONE, ["0 <= (x - 3)^2"], VALID),
        (ONE, ["2 (x - 3)^2 >= 0"], LEAP),
        (ONE, ["(x - 3)^2 >= 0", "2 (x - 3)^2 >= 0"], VALID),
        (ONE, ["(x - 3)^2 >= 0", "-2 (x - 3)^2 >= 0"], FALSE),
        (ONE, ["(x - 3)^2 >= 0", "-2 (x - 3)^2 <= 0"], LEAP),
        (ONE, ["(x - 3)^2 >= 0", "(x - 3)^2 + 1 >= 1"], VALID),
        (ONE, ["(x - 3)^2 >= 0", "(x - 3)^2 + 1 >= 0"], LEAP),
        (ONE, ["(x - 3)^2 >= 0", "x^2 - 6 x + 9 >= 0"], VALID),
        (ONE, ["(x - 3)^2 >= 0", "x^2 + 9 >= 6 x"], LEAP),
        (ONE, ["(x - 3)^2 + 1 >= 1"], LEAP),
        (ONE, ["x - 3 >= 0"], FALSE),
        (ONE, ["x^2 >= -1"], LEAP),
        (ONE, ["x^4 >= 0"], UNREADABLE),
        (ONE, ["y^2 >= 0"], UNREADABLE),
        (ONE, ["x^2 > 0"], UNREADABLE),
        (ONE, ["x^2 - 6 x + 10 >= 0"], LEAP),
        (TWO, ["x^2 + y^2 - 4 x + 6 y + 14 = (x - 2)^2 + (y + 3)^2 + 1"], LEAP),
        (TWO, ["x^2 >= 0", "y^2 >= 0", "x^2 + y^2 >= 0"], VALID),
        (TWO, ["x^2 >= 0", "y^2 >= 0", "x^2 + 2 y^2 >= 0"], LEAP),
        (TWO, ["x^2 + y^2 >= 2 x y"], LEAP),
        (TWO, ["x^2 + y^2 >= 3 x y"], FALSE),
    ],
)
def test_one_inference(statement: str, claims: list[str], verdict: StepVerdict) -> None:
    found = verdicts(asked(statement), *claims)
    assert found[-1] == verdict
    assert set(found[:-1]) <= {VALID}


def test_the_goal_alone_is_worth_little() -> None:
    assert points(asked(ONE), "x^2 - 6 x + 10 >= 0.") == 1
    assert points(asked(ONE), "We are given that x^2 - 6 x + 10 >= 0.") == 1
    assert points(asked(ONE), "x^2 - 6 x + 10 >= 1.") == 0


QUADRATICS = st.tuples(*[st.integers(-4, 4)] * 6)


@given(QUADRATICS)
def test_truth_agrees_with_values(numbers: tuple[int, ...]) -> None:
    a, b, c, d, e, f = numbers
    found = polynomial(f"{a} x^2 + {b} x * y + {c} y^2 + {d} x + {e} y + {f}")
    # A quadratic that is negative somewhere is negative at the least value on its own critical line, or far out.
    steps = [Fraction(n, 2) for n in range(-8, 9)] + [Fraction(1000), Fraction(-1000)]
    lowest = min(found.at({"x": x, "y": y}) for x in steps for y in steps)
    assert not is_nonnegative(found) or lowest >= 0


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 3), max_size=3), st.integers(0, 3))
def test_sums_of_squares_are_nonnegative(squares: list[tuple[int, int, int]], least: int) -> None:
    total = polynomial(str(least))
    for a, b, c in squares:
        root = polynomial(f"{a} x + {b} y + {c}")
        total = total + root * root
    assert is_nonnegative(total)


@pytest.mark.parametrize(
    "text", ["x", "-1", "-x^2", "x y", "x^2 + 2 x", "x^2 - 3 x y + 2 y^2", "x^2 + y", "x^2 + y^2 - 1"]
)
def test_negative_somewhere(text: str) -> None:
    assert not is_nonnegative(polynomial(text))


@pytest.mark.parametrize(
    "statement",
    [
        "Show that x^2 - 6 x + 10 >= 2.",
        "Show that x^2 - 6 x + 10 = 2.",
        "Show that x >= x.",
        "Show that x^4 >= 0.",
        "Show that x^2 + y^2 + k^2 >= 0.",
        "Show that 1 >= 0.",
        "Show that (x^2 + 1)^2 >= 0.",
        "Show that x^2 >= 0",
        "Show that .",
    ],
)
def test_other_statements_are_not_read(statement: str) -> None:
    assert DOMAIN.read(statement) is None


@given(st.text(alphabet="xy0123456789+-*/^()=<>. ", max_size=80))
def test_any_claim_is_judged(text: str) -> None:
    for statement in (ONE, TWO):
        each = asked(statement)
        each.judge(each.start(), text)
    DOMAIN.read(f"Show that {text}.")
