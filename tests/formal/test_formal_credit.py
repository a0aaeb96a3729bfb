"""Partial credit: what rests on something unproved counts nothing, so that no trick gets a high fitness."""

from __future__ import annotations

import pytest
from formal_models import LIMITS, problem
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.embedded.checker import EmbeddedChecker
from maxproof.formal.population import points
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.credit import credit
from maxproof.formal.solution.types import SolutionVerdict
from maxproof.formal.syntax.ast import NOWHERE
from maxproof.formal.syntax.parse import parse_program

TOOL = Tool("fake", "1", "none")
PROGRAM = parse_program(
    "lemma goal() { first(); } lemma first() { second(); first(); } lemma second() {} lemma apart() {}"
)
NAMES = ("goal", "first", "second", "apart")
STATES = {"+": ObligationState.PROVED, "-": ObligationState.UNKNOWN, "x": ObligationState.REFUTED}


def share(**told: str) -> float:
    """The credit where each declaration has these obligations: + proved, - unknown, x refuted."""
    posed = [(name, STATES[mark]) for name, marks in told.items() for mark in marks]
    obligations = tuple(
        ObligationResult(ObligationKind.PRECONDITION, state, NOWHERE, "p", name) for name, state in posed
    )
    proved = sum(state is ObligationState.PROVED for _, state in posed)
    result = CheckResult(CheckState.FAILED, TOOL, obligations, proved=proved, total=len(obligations))
    return credit(result, PROGRAM.declarations, ("goal", ""))


def test_what_comes_after_a_gap_does_not_count() -> None:
    assert share(goal="++-+++") == 2 / 6
    assert share(goal="x+++++") == 0
    assert share(goal="++x") == 2 / 3  # the question may be hard; its steps are still steps
    assert share(goal="++++") == 1


def test_what_uses_a_gap_does_not_count() -> None:
    assert share(goal="++++", first="+-") == 1 / 6
    assert share(goal="++++", first="++", second="-", apart="+") == 1 / 8
    assert share(goal="+++-", first="++", second="+", apart="-") == 6 / 8
    assert share(goal="-", first="++", second="+", apart="+") == 4 / 5  # first calls itself, which is no gap


def test_nothing_of_a_helper_that_claims_what_is_false_counts() -> None:
    assert share(goal="++", first="++++++++++x") == 0


@given(st.dictionaries(st.sampled_from(NAMES), st.text("+-x", max_size=6)))
def test_credit_never_exceeds_the_share_of_proved_ones(told: dict[str, str]) -> None:
    posed = "".join(told.values())
    found = share(**told)
    assert 0 <= found <= posed.count("+") / max(1, len(posed))
    assert (found == 1) == (bool(posed) and set(posed) == {"+"})


def test_of_a_checker_that_tells_of_failures_only() -> None:
    def of(name: str) -> float:
        gap = ObligationResult(ObligationKind.POSTCONDITION, ObligationState.UNKNOWN, NOWHERE, "p", name)
        result = CheckResult(CheckState.FAILED, TOOL, (gap,), proved=3, total=4)
        return credit(result, PROGRAM.declarations, ("goal", ""))

    assert [of("goal"), of(""), of("second")] == [0.75, 0.75, 0]


async def verdict(text: str) -> SolutionVerdict:
    checker = EmbeddedChecker(1)
    try:
        return await check_solution(
            problem("lemma goal(x: int) requires x > 3 ensures x * x > 900 {}"), text, checker, LIMITS
        )
    finally:
        await checker.aclose()


PADDING = " ".join(f"assert x > 3 - {n};" for n in range(1, 20))


@pytest.mark.parametrize(
    "text",
    [
        "{ Bad(); } lemma Bad() ensures false {}",
        f"{{ Bad(); {PADDING} }} lemma Bad() ensures false {{}}",
        f"{{ Bad(x); }} lemma Bad(x: int) requires x > 3 ensures false {{ {PADDING} }}",
        "{ Mid(); } lemma Mid() ensures false { Bad(); } lemma Bad() ensures false {}",
        f"lemma goal(x: int) requires x > 3 ensures x * x > 900 {{ Bad(); {PADDING} }} lemma Bad() ensures false {{}}",
        f"{{ assert false; {PADDING} }}",
        "{ " + "assert x > 2; " * 20 + "assert x > 30; }",
    ],
)
async def test_tricks_get_hardly_a_point(text: str) -> None:
    found = await verdict(text)
    assert not found.accepted
    assert found.proved / found.total >= 0.5  # what the share of proved obligations would have given
    assert points(found) <= 2


async def test_a_finding_names_its_helper() -> None:
    found = await verdict("{ NoWay_1(); assert x > 40; } lemma NoWay_1() ensures false {}")
    assert [one.message.partition(": ")[0] for one in found.findings] == [
        "postcondition of helper lemma NoWay_1 is false"
    ]
    function = await verdict("{ } function f(x: int): int ensures f(x) > x { x }")
    assert "postcondition of helper function f is false" in [
        one.message.partition(": ")[0] for one in function.findings
    ]
