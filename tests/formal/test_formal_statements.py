"""Statements apart from proofs: vacuous, refuted and ill-formed ones, and the problem's own definitions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.embedded.checker import EmbeddedChecker
from maxproof.formal.load import problem_from_text
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.solution.check import check_solution
from maxproof.formal.statements import Examined, Statuses, examine, statement_statuses, status_of
from maxproof.formal.syntax.ast import BoolLiteral, Lemma, Position

LIMITS = Limits(resource=1_000_000, seconds=2.0, wall_seconds=30.0)

SOUND = "lemma sound(x: int) requires x > 2 ensures x > 1 {}"
VACUOUS = "lemma vacuous(x: int) requires x > 0 requires x < 0 ensures x == 17 {}"
FALSE = "lemma false_one(x: int) requires x > 2 ensures x > 3 {}"
PARTIAL = "lemma partial_one(x: int) ensures 6 / x < 7 {}"
UNRESOLVED = "lemma unresolved(x: int) ensures no_such_function(x) {}"
WRONG_CONTRACT = (
    "function one(n: int): int ensures one(n) == 1 { 0 }\nlemma wrong_contract(x: int) ensures one(x) == 7 {}"
)
WRONG_LEMMA = "lemma helper(n: int) ensures n > 0 { assert true; }\nlemma wrong_lemma(x: int) ensures x == x {}"
ENDLESS = "function up(n: int): int { up(n + 1) + 1 }\nlemma endless(x: int) ensures x == x {}"
COUNT = "function count(n: nat): nat { if n == 0 then 0 else count(n - 1) + 1 }"
RIGHT = f"{COUNT}\nlemma right(n: nat) ensures count(n) == n {{}}"


def problem(text: str) -> FormalProblem:
    return problem_from_text(text, Path("problem.dfy"))


def statuses(texts: Iterable[str], accepted: Mapping[str, list[str]] | None = None) -> Mapping[str, Status]:
    async def run() -> Mapping[str, Status]:
        checker = EmbeddedChecker(1)
        try:
            problems = [problem(text) for text in texts]
            return (await statement_statuses(problems, accepted or {}, [checker], LIMITS)).found
        finally:
            await checker.aclose()

    return asyncio.run(run())


class Scripted:
    """Answers as `reply` says, and counts what it was asked."""

    tool = Tool("scripted", "1", "none")

    def __init__(self, reply: Callable[[CheckTask], CheckResult]) -> None:
        self._reply = reply
        self.asked: list[str] = []

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        lemma = task.program[task.targets[0]]
        assert isinstance(lemma, Lemma)
        absurd = lemma.ensures[0].condition == BoolLiteral(False)
        self.asked.append(f"{lemma.name} {'false' if absurd else 'statement'}")
        return self._reply(task)

    async def aclose(self) -> None:
        return


def scripted(state: CheckState, *obligations: ObligationResult) -> Scripted:
    return Scripted(lambda _: CheckResult(state, Scripted.tool, obligations))


def test_only_statements_that_are_not_sound_are_named() -> None:
    accepted = {name: ["{}"] for name in ("sound", "vacuous", "right")}
    found = statuses([SOUND, VACUOUS, FALSE, PARTIAL, UNRESOLVED, RIGHT], accepted)
    assert found == {
        "vacuous": Status.VACUOUS,
        "false_one": Status.REFUTED,
        "partial_one": Status.ILL_FORMED,
        "unresolved": Status.ILL_FORMED,
    }


@pytest.mark.parametrize("text", [WRONG_CONTRACT, WRONG_LEMMA, ENDLESS])
def test_wrong_definitions_make_a_statement_ill_formed_and_prove_nothing(text: str) -> None:
    assert list(statuses([text]).values()) == [Status.ILL_FORMED]

    async def run() -> bool:
        checker = EmbeddedChecker(1)
        try:
            return (await check_solution(problem(text), "{}", checker, LIMITS)).accepted
        finally:
            await checker.aclose()

    assert not asyncio.run(run())


def test_right_definitions_are_no_obstacle() -> None:
    async def run() -> tuple[Examined, bool]:
        checker = EmbeddedChecker(1)
        try:
            accepted = (await check_solution(problem(RIGHT), "{}", checker, LIMITS)).accepted
            return await examine(problem(RIGHT), checker, LIMITS), accepted
        finally:
            await checker.aclose()

    examined, accepted = asyncio.run(run())
    assert examined.well_formed
    assert accepted
    assert status_of([examined]) is Status.OPEN


async def test_a_problem_is_asked_one_question_only() -> None:
    checker = scripted(CheckState.FAILED)
    await statement_statuses([problem(SOUND), problem(FALSE)], {"sound": ["{}", "{}"]}, [checker], LIMITS)
    assert sorted(checker.asked) == ["false_one statement", "sound false", "sound false"]


async def test_one_checker_that_derives_false_is_enough() -> None:
    silent, loud = scripted(CheckState.TIMEOUT), scripted(CheckState.PROVED)
    found = await statement_statuses([problem(SOUND)], {"sound": ["{}"]}, [silent, loud], LIMITS)
    assert found == Statuses({"sound": Status.VACUOUS})


@pytest.mark.parametrize(
    "state", [CheckState.TIMEOUT, CheckState.UNSUPPORTED, CheckState.TOOL_ERROR, CheckState.FAILED]
)
async def test_a_checker_without_an_answer_says_nothing(state: CheckState) -> None:
    found = await statement_statuses([problem(SOUND), problem(FALSE)], {"sound": ["{}"]}, [scripted(state)], LIMITS)
    failed = {"sound", "false_one"} if state is CheckState.TOOL_ERROR else set()
    assert found == Statuses({}, frozenset(failed))


async def test_an_unconfirmed_counterexample_refutes_nothing() -> None:
    claim = ObligationResult(
        ObligationKind.POSTCONDITION, ObligationState.REFUTED, Position(1, 1), "x > 3", "false_one"
    )
    assert not (await statement_statuses([problem(FALSE)], {}, [scripted(CheckState.FAILED, claim)], LIMITS)).found


SPLIT = """lemma split_sum(x: real, y: real)
  requires is_rational(x) && is_rational(y) && !is_rational(x + y)
  ensures x == 7.0
{}"""
HINTED = {
    "body": "{ rational_sum(x, y); }",
    "whole": """lemma split_sum(a: real, b: real)
  requires is_rational(a) && is_rational(b) && !is_rational(a + b)
  ensures a == 7.0
{ rational_sum(a, b); }""",
    "helper": """lemma step(a: real, b: real)
  requires is_rational(a) && is_rational(b) && !is_rational(a + b)
  ensures a > 6.0
{ rational_sum(a, b); }
lemma split_sum(x: real, y: real)
  requires is_rational(x) && is_rational(y) && !is_rational(x + y)
  ensures x == 7.0
{ step(x, y); rational_sum(x, y); }""",
    "helpers only": """lemma last(a: real, b: real)
  requires is_rational(a) && is_rational(b) && !is_rational(a + b)
  ensures a == 7.0
{ first(a, b); }
lemma first(a: real, b: real)
  requires is_rational(a) && is_rational(b) && !is_rational(a + b)
  ensures a == 7.0
{ rational_sum(a, b); }
lemma split_sum(x: real, y: real)
  requires is_rational(x) && is_rational(y) && !is_rational(x + y)
  ensures x == 7.0
{ last(x, y); }""",
}


@pytest.mark.parametrize("proof", HINTED.values(), ids=HINTED)
def test_a_contradiction_that_needs_the_proofs_hints_is_found(proof: str) -> None:
    async def accepted() -> bool:
        checker = EmbeddedChecker(1)
        try:
            return (await check_solution(problem(SPLIT), proof, checker, LIMITS)).accepted
        finally:
            await checker.aclose()

    assert asyncio.run(accepted())
    assert statuses([SPLIT], {"split_sum": [proof]}) == {"split_sum": Status.VACUOUS}


def test_a_recursive_proof_or_an_impossible_case_of_a_sound_statement_shows_no_contradiction() -> None:
    proof = """lemma never(n: nat) requires n > 5 && n < 3 ensures false {}
lemma right(n: nat) ensures count(n) == n { if n > 5 && n < 3 { never(n); } if n > 0 { right(n - 1); } }"""
    assert statuses([RIGHT], {"right": [proof, "{ if n > 0 { right(n - 1); } }"]}) == {}


async def test_a_failed_tool_is_no_obstacle_to_another_ones_answer() -> None:
    checkers = [scripted(CheckState.TOOL_ERROR), scripted(CheckState.PROVED)]
    found = await statement_statuses([problem(SOUND)], {"sound": ["{}"]}, checkers, LIMITS)
    assert found == Statuses({"sound": Status.VACUOUS})
