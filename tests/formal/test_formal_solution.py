"""The solution check without a real checker: what is asked of it, and what is made of its answers."""

from pathlib import Path

import pytest
from formal_syntax_strategies import statements
from hypothesis import HealthCheck, assume, given, settings

from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    Diagnostic,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.load import problem_from_text
from maxproof.formal.solution.audit import audit_tokens
from maxproof.formal.solution.check import check_solution, solution_task
from maxproof.formal.solution.extract import dafny_text
from maxproof.formal.solution.feedback import messages_for_model
from maxproof.formal.solution.types import Finding, SolutionState, SolutionVerdict
from maxproof.formal.solution.wrap import PROBLEM_LINES, Wrapped, wrap
from maxproof.formal.syntax.ast import NOWHERE, Assume, Attribute, Position
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.parse import parse_statements
from maxproof.formal.syntax.printer import print_declaration, print_program, print_statements
from maxproof.formal.syntax.tokens import tokenize
from maxproof.formal.syntax.walk import descendants
from maxproof.problems import InputError

PROBLEM = problem_from_text(
    "function twice(x: int): int { x + x }\n"
    "lemma {:verify false} P(x: int, y: nat) requires even(x) ensures twice(x) > y\n{}",
    Path("p.dfy"),
)
TOOL = Tool("fake", "1", "none")


class FakeChecker:
    """Answers what it was given and keeps the tasks."""

    def __init__(self, result: CheckResult):
        self.result = result
        self.tasks = []

    @property
    def tool(self):
        return TOOL

    async def check(self, task, limits):
        self.tasks.append(task)
        return self.result

    async def aclose(self):
        pass


async def judged(text, result):
    checker = FakeChecker(result)
    return await check_solution(PROBLEM, text, checker, Limits()), checker


def proved(count=3):
    return CheckResult(CheckState.PROVED, TOOL, proved=count, total=count)


def failed(*obligations, state=CheckState.FAILED):
    return CheckResult(state, TOOL, obligations, proved=1, total=1 + len(obligations))


def unproved(at, lemma, kind=ObligationKind.POSTCONDITION, state=ObligationState.UNKNOWN, **more):
    return ObligationResult(kind, state, at, "x > 0", lemma, **more)


def printed(task, name):
    return print_declaration(task.program[name], Dialect.DAFNY_2_3)


async def test_our_copy_calls_what_was_submitted():
    text = "lemma P(a: int, b: nat) ensures twice(a) >= b { P(a, b); helper(); } lemma helper() { P(1, 2); }"
    verdict, checker = await judged(text, proved())
    assert verdict.accepted
    assert (verdict.proved, verdict.total) == (3, 3)
    (task,) = checker.tasks
    assert set(task.targets) == {"twice", "P", "submitted_P", "helper"}
    assert printed(task, "P") == (
        "lemma {:induction false} P(x: int, y: nat)\n  requires even(x)\n  ensures twice(x) > y\n"
        "{\n  submitted_P(x, y);\n}\n"
    )
    assert "submitted_P(a, b);" in printed(task, "submitted_P")
    assert "submitted_P(1, 2);" in printed(task, "helper")
    assert "even" in {declaration.name for declaration in task.program.declarations}


async def test_a_body_becomes_our_copy_s():
    verdict, checker = await judged("{ assert even(x); helper(); } lemma helper() {}", proved())
    assert verdict.accepted
    (task,) = checker.tasks
    assert set(task.targets) == {"twice", "P", "helper"}
    assert printed(task, "P") == (
        "lemma P(x: int, y: nat)\n  requires even(x)\n  ensures twice(x) > y\n{\n  assert even(x);\n  helper();\n}\n"
    )


def test_the_fresh_name_is_nobody_s():
    text = "lemma submitted_P() {} lemma P(x: int, y: nat) { var submitted_P' := 1; }"
    wrapped = wrap(PROBLEM, text)
    assert isinstance(wrapped, Wrapped)
    assert wrapped.submitted == "submitted_P''"


def test_results_are_handed_on():
    problem = problem_from_text("lemma P(x: int) returns (r: int) ensures r > x {}", Path("p.dfy"))
    task = solution_task(problem, "lemma P(x: int) returns (s: int) ensures s == x + 1 { s := x + 1; }")
    assert "r := submitted_P(x);" in printed(task, "P")


def test_attributes_that_no_checker_needs_are_dropped():
    task = solution_task(
        PROBLEM, "@Induction(x) @TimeLimit(99) lemma {:rlimit 1} P(x: int, y: nat) { assert {:split_here} true; }"
    )
    text = print_program(task.program, Dialect.DAFNY_4).text
    assert "lemma {:induction x} submitted_P" in text
    assert not {"rlimit", "imelimit", "split_here", "verify"} & set(text.lower().replace("{:", " ").split())


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(statements())
def test_nothing_of_a_submission_but_attributes_is_changed(statement):
    assume(not any(isinstance(node, Attribute | Assume) for node in (statement, *descendants(statement))))
    wrapped = wrap(PROBLEM, "{\n" + print_statements([statement]) + "}")
    assert isinstance(wrapped, Wrapped)
    assert wrapped.declarations[-1].body == (statement,)


def test_steps_of_a_calculation_stay():
    wrapped = wrap(PROBLEM, "calc ==> { true; false; }")
    assert wrapped.declarations[-1].body == parse_statements("calc ==> { true; false; }")


async def test_failures_in_the_submission_are_told_in_its_lines():
    text = "```dafny\n{\n  assert even(x);\n}\n```"
    result = failed(
        unproved(
            Position(3, 3), "P", ObligationKind.ASSERTION, ObligationState.REFUTED, counterexample={"x": "3", "y": "0"}
        )
    )
    verdict, _ = await judged(text, result)
    assert verdict.state is SolutionState.UNPROVED
    (finding,) = verdict.findings
    assert finding.at == Position(3, 3)
    assert finding.message == "assertion is false: x > 0"
    assert "line 3, column 3: assertion is false: x > 0 (fails for x = 3, y = 0)" in messages_for_model(verdict)
    assert "1 of 2 obligations" in messages_for_model(verdict)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (ObligationKind.PRECONDITION, "requires more than the problem gives"),
        (ObligationKind.POSTCONDITION, "doesn't imply the problem's conclusion"),
        (ObligationKind.NATURAL, "narrower than the problem's"),
        (ObligationKind.DIVISOR, "the problem's own statement"),
    ],
)
async def test_failures_of_our_copy_are_about_the_statement(kind, words):
    result = failed(unproved(Position(1, 5), "submitted_P"), unproved(Position(PROBLEM_LINES + 2, 1), "P", kind))
    verdict, _ = await judged("lemma P(x: int, y: nat) {}", result)
    assert verdict.state is SolutionState.STATEMENT
    assert verdict.findings[0].at == NOWHERE
    assert words in verdict.findings[0].message
    assert verdict.findings[1].at == Position(1, 5)


async def test_the_problem_s_conclusion_has_no_place_in_a_body():
    verdict, _ = await judged("{ }", failed(unproved(Position(PROBLEM_LINES + 2, 1), "P")))
    assert verdict.state is SolutionState.UNPROVED
    assert verdict.findings[0].at == NOWHERE


async def test_types_that_don_t_fit_are_about_the_statement():
    at = Position(PROBLEM_LINES + 2, 3)
    result = CheckResult(CheckState.ILL_FORMED, TOOL, diagnostics=(Diagnostic("expected real, found int", at),))
    verdict, _ = await judged("lemma P(x: real, y: nat) {}", result)
    assert verdict.state is SolutionState.STATEMENT
    assert "don't fit" in verdict.reason


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (CheckState.ILL_FORMED, SolutionState.MALFORMED),
        (CheckState.UNSUPPORTED, SolutionState.UNSUPPORTED),
        (CheckState.TIMEOUT, SolutionState.TIMEOUT),
        (CheckState.TOOL_ERROR, SolutionState.TOOL_ERROR),
        (CheckState.FAILED, SolutionState.UNPROVED),
    ],
)
async def test_a_checker_s_other_answers_accept_nothing(state, expected):
    verdict, _ = await judged("{}", CheckResult(state, TOOL, reason="because"))
    assert verdict.state is expected
    assert verdict.reason == "because"
    assert verdict.proved == 0


async def test_a_checker_that_contradicts_itself_accepts_nothing():
    verdict, _ = await judged("{}", failed(unproved(Position(1, 1), "P"), state=CheckState.PROVED))
    assert verdict.state is SolutionState.UNPROVED


async def test_what_is_refused_reaches_no_checker():
    for text in ("assume false;", "", "lemma Q() {}", "lemma P() {}", "x" * 300_000, "(" * 9000):
        verdict, checker = await judged(text, proved())
        assert not verdict.accepted
        assert (verdict.proved, verdict.total) == (0, 1)
        assert checker.tasks == []
        with pytest.raises(InputError):
            solution_task(PROBLEM, text)


def test_the_audit_reads_words_not_letters():
    harmless = '// assume\n/* {:axiom} */ var assumed := 1; assert {:error "assume {:axiom}"} x.print_ > 0;'
    assert audit_tokens(tokenize(harmless)) == ()
    found = audit_tokens(tokenize("assert {: \n axiom} x; decreases\n*"))
    assert [finding.construct for finding in found] == ["{:axiom}", "decreases *"]
    assert [finding.at for finding in found] == [Position(1, 8), Position(2, 12)]


def test_unknown_attributes_are_refused_by_name():
    (finding,) = audit_tokens(tokenize("lemma {:resolve_nothing} L() {}"))
    assert "{:resolve_nothing}" in finding.message
    assert "{:induction}" in finding.message


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("assert a;", [1]),
        ("```\nassert a;\n```", [2]),
        ("one\n```dafny\na\n```\ntwo\n~~~~\nb\n~~~~\n", [7]),
        ("```\nlemma P() {}\n```\n```\nlemma Q() {}\n```", [2]),
        ("```\nlemma P() {}", [2]),
        ("````\n```\n````", [2]),
    ],
)
def test_dafny_in_markdown_keeps_its_lines(text, kept):
    lines = dafny_text(text, "P").split("\n")
    assert [number for number, line in enumerate(lines, 1) if line] == kept


def test_feedback_is_bounded():
    findings = tuple(Finding(SolutionState.UNPROVED, "", f"number {n}", Position(n, 1)) for n in range(1, 40))
    text = messages_for_model(SolutionVerdict(SolutionState.UNPROVED, findings, proved=2, total=41))
    assert text.count("\n") == 11
    assert text.endswith("- and 29 more")
    assert messages_for_model(SolutionVerdict(SolutionState.ACCEPTED)) == "The proof is accepted."


async def test_a_gap_in_the_problems_own_definitions_is_not_blamed_on_the_answer():
    place = Position(PROBLEM_LINES + 1, 31)
    gap = ObligationResult(ObligationKind.POSTCONDITION, ObligationState.UNKNOWN, place, "result == 1", "twice")
    result = CheckResult(CheckState.FAILED, TOOL, (gap,), proved=2, total=3)
    for text in ("{}", "lemma P(x: int, y: nat) requires even(x) ensures twice(x) > y {}"):
        verdict, _ = await judged(text, result)
        assert verdict.state is SolutionState.UNPROVED
        expected = "the problem's own definition 'twice': postcondition could not be proved: result == 1"
        assert verdict.findings[0].line == expected
