"""Audits: what is vacuous, refuted, ill-formed or open, and that each answer comes from a checker's own words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

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
from maxproof.formal.lean.audit import Audit, audit, summary
from maxproof.formal.lean.commands import read_theorems
from maxproof.formal.lean.elaborate import elaborate
from maxproof.formal.lean.translate import translate
from maxproof.formal.lean.tree import Theorem
from maxproof.formal.results import Status
from maxproof.formal.syntax.ast import NOWHERE, BoolLiteral, Lemma

LIMITS = Limits(resource=1_000_000, seconds=2.0, wall_seconds=20.0)


class Scripted:
    """Answers as `reply` says, given whether the question is for `false`."""

    tool = Tool("scripted", "1", "none")

    def __init__(self, reply: Callable[[bool], CheckResult]) -> None:
        self._reply = reply

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        lemma = task.program[task.targets[0]]
        assert isinstance(lemma, Lemma)
        return self._reply(lemma.ensures[0].condition == BoolLiteral(False))

    async def aclose(self) -> None:
        return


def result(state: CheckState, *obligations: ObligationResult) -> CheckResult:
    return CheckResult(state, Scripted.tool, obligations)


def failed(kind: ObligationKind, state: ObligationState, confirmed: bool = False) -> ObligationResult:
    values = {"x": "1.0"} if state is ObligationState.REFUTED else {}
    return ObligationResult(kind, state, NOWHERE, "", counterexample=values, confirmed=confirmed)


def audited(text: str, reply: Callable[[bool], CheckResult] | None = None) -> Audit:
    async def run() -> Audit:
        (theorem,) = read_theorems(text)
        assert isinstance(theorem, Theorem)
        checker = EmbeddedChecker(1) if reply is None else Scripted(reply)
        try:
            return await audit(translate(text), elaborate(theorem), [checker], LIMITS)
        finally:
            await checker.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "status", "satisfiable"),
    [
        ("theorem t (x : ℝ) (h : x = 2) : x ^ 2 = 4", Status.OPEN, True),
        ("theorem t (x : ℝ) (h : x < 1) (h' : 1 < x) : x ^ 2 = 4", Status.VACUOUS, False),
        # subtraction of naturals makes the hypotheses contradict each other
        ("theorem t (n : ℕ) (h : n - 5 = 3) (h' : n < 7) : n = 8", Status.VACUOUS, False),
        ("theorem t (n : ℕ) (h : n < 5) : n < 4", Status.REFUTED, True),
        ("theorem t : (1 : ℝ) / 2 = 1 / 3", Status.REFUTED, True),
    ],
)
def test_status(text: str, status: Status, satisfiable: bool) -> None:
    report = audited(text)
    assert (report.status, report.satisfiable, report.differences) == (status, satisfiable, ())
    assert report.examined[0].resolves
    assert report.examined[0].well_formed
    assert report.compared > 0


def test_a_counterexample_is_reported_with_its_values() -> None:
    (examined,) = audited("theorem t (n : ℕ) (h : n < 5) : n < 4").examined
    assert examined.counterexample == {"n": "4"}


TEXT = "theorem t (x : ℝ) (h : 0 < x) : x = 1"
UNKNOWN = failed(ObligationKind.POSTCONDITION, ObligationState.UNKNOWN)
REFUTED = failed(ObligationKind.POSTCONDITION, ObligationState.REFUTED)
CONFIRMED = failed(ObligationKind.POSTCONDITION, ObligationState.REFUTED, confirmed=True)
ZERO_DIVISOR = failed(ObligationKind.DIVISOR, ObligationState.REFUTED, confirmed=True)
MAYBE_DIVISOR = failed(ObligationKind.DIVISOR, ObligationState.UNKNOWN)


@pytest.mark.parametrize(
    ("statement", "absurd", "status", "satisfiable", "resolves", "well_formed"),
    [
        (result(CheckState.FAILED, UNKNOWN), result(CheckState.FAILED, UNKNOWN), "open", None, True, True),
        (result(CheckState.PROVED), result(CheckState.FAILED, CONFIRMED), "open", True, True, True),
        # a counterexample that wasn't confirmed may owe to what the solver doesn't know
        (result(CheckState.FAILED, REFUTED), result(CheckState.FAILED, REFUTED), "open", None, True, True),
        (result(CheckState.FAILED, CONFIRMED), result(CheckState.FAILED, CONFIRMED), "refuted", True, True, True),
        (result(CheckState.PROVED), result(CheckState.PROVED), "vacuous", False, True, True),
        (result(CheckState.ILL_FORMED), result(CheckState.ILL_FORMED), "ill_formed", None, False, None),
        (result(CheckState.FAILED, ZERO_DIVISOR), result(CheckState.FAILED), "ill_formed", None, True, False),
        (result(CheckState.FAILED, MAYBE_DIVISOR), result(CheckState.FAILED), "open", None, True, None),
        (result(CheckState.UNSUPPORTED), result(CheckState.UNSUPPORTED), "open", None, None, None),
        (result(CheckState.TOOL_ERROR), result(CheckState.TOOL_ERROR), "open", None, None, None),
        (result(CheckState.TIMEOUT), result(CheckState.TIMEOUT), "open", None, None, None),
    ],
)
def test_what_a_checker_says_decides(
    statement: CheckResult,
    absurd: CheckResult,
    status: str,
    satisfiable: bool | None,
    resolves: bool | None,
    well_formed: bool | None,
) -> None:
    report = audited(TEXT, lambda false_asked: absurd if false_asked else statement)
    (examined,) = report.examined
    assert (report.status, report.satisfiable) == (status, satisfiable)
    assert (examined.resolves, examined.well_formed) == (resolves, well_formed)


def test_a_report_is_json_and_sets_are_summed_up() -> None:
    report = audited(TEXT, lambda _: result(CheckState.FAILED, CONFIRMED))
    assert json.loads(json.dumps(report.as_record()))["status"] == "refuted"
    assert summary([report, report]) == {
        "statements": 2,
        "vacuous": 0,
        "refuted": 2,
        "ill_formed": 0,
        "open": 0,
        "satisfiable": 2,
        "compared": 2,
        "readings_differ": 0,
    }
