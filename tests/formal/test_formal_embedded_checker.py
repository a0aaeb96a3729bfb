"""The embedded checker from program text to result."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest

pytest.importorskip("z3")
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationState,
)
from maxproof.formal.embedded.checker import EmbeddedChecker, check_here, embedded_tool
from maxproof.formal.embedded.evaluate.evaluator import Evaluator
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.ast import Datatype
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=2_000_000, seconds=5.0)


def task(text: str, *targets: str) -> CheckTask:
    declarations = parse_program(text).declarations
    names = tuple(d.name for d in declarations if not isinstance(d, Datatype))
    return assemble(declarations, targets or names)


def check(text: str, *targets: str) -> CheckResult:
    return check_here(task(text, *targets), LIMITS)


@pytest.mark.parametrize(
    "text",
    [
        "lemma l(x: real, y: real) requires x + y == 3.0 && x - y == 1.0 ensures x == 2.0 {}",
        "lemma l() ensures ipow(7, 2003) % 10 == 3 {}",
        "lemma l() ensures |set n: int | 1 <= n <= 500 && prime(n)| == 95 {}",
        "lemma l(x: int, y: int) requires x * x + y * y == 25 && 0 < x < y ensures x == 3 && y == 4 {}",
        "lemma l(s: set<int>) requires forall x: int :: x in s <==> 0 <= x < 10 && x % 3 == 0 ensures |s| == 4 {}",
        "lemma l(f: int -> int) requires forall x: int :: f(x) == 3 * x + 1 ensures f(f(2)) == 22 {}",
        "lemma l(n: nat) ensures isum(0, n + 1, (k: int) => k) * 2 == n * (n + 1) { if n > 0 { l(n - 1); } }",
        "lemma l(n: nat) ensures ipow(2, n) > n {}",  # automatic induction
        "lemma l(a: int, b: int) requires a == b ensures a * a == b * b"
        " { calc { a * a; == { assert a == b; } a * b; == b * b; } }",
        "lemma l(n: int) ensures n * n % 4 == 0 || n * n % 4 == 1"
        " { if { case n % 2 == 0 => var k := n / 2; assert n * n == 4 * (k * k);"
        " case n % 2 == 1 => var k := n / 2; assert n == 2 * k + 1; assert n * n == 4 * (k * k + k) + 1; } }",
        "lemma l(n: nat) requires exists k: nat :: n == 2 * k ensures n % 2 == 0 { var k: nat :| n == 2 * k; }",
        "lemma l(a: real, b: real) requires a + b == 1.0 ensures a * b <= 0.25 { assert (a - b) * (a - b) >= 0.0; }",
        "lemma l(x: int) ensures x % 3 == 0 ==> x * x % 9 == 0"
        " { forall y: int | y % 3 == 0 ensures y * y % 9 == 0 { var k := y / 3; assert y * y == 9 * (k * k); } }",
        "datatype tree = Leaf | Node(l: tree, r: tree)"
        " function size(t: tree): nat { match t case Leaf => 1 case Node(l, r) => size(l) + size(r) }"
        " lemma l(t: tree) ensures size(t) >= 1 { match t case Leaf => case Node(a, b) => l(a); l(b); }",
        "lemma l(x: int) { var y := m(x); assert y > x; }"
        " lemma m(x: int) returns (y: int) ensures y > x { y := x + 1; }",
        "lemma l(z: complex, w: complex) ensures cmul(z, w) == cmul(w, z) {}",
        "function fib(n: nat): nat { if n < 2 then n else fib(n - 1) + fib(n - 2) }"
        " lemma l() ensures fib(20) == 6765 {}",
    ],
)
def test_proved(text: str) -> None:
    result = check(text)
    assert result.state is CheckState.PROVED, result.reason
    assert result.proved == result.total == len(result.obligations)
    assert result.tool == embedded_tool()
    assert result.reason == ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lemma l(x: int, y: int) requires x > y ensures x * x > y * y {}", ObligationKind.POSTCONDITION),
        ("lemma l(x: int) requires x / 0 == 1 ensures true {}", ObligationKind.DIVISOR),
        ("lemma l(x: int, y: int) ensures x / y * y + x % y == x {}", ObligationKind.DIVISOR),
        ("lemma l(x: real) ensures (x as int) as real == x {}", ObligationKind.INTEGRAL),
        ("lemma l(s: seq<int>) ensures s[0] == s[0] {}", ObligationKind.INDEX),
        ("lemma l(n: nat) { var m: nat := n - 1; }", ObligationKind.NATURAL),
        ("lemma l(x: int) { assert x > 0; }", ObligationKind.ASSERTION),
        ("lemma l(x: int) { calc { x; == x + 1; } }", ObligationKind.CALC_STEP),
        ("lemma l(x: int) { if { case x > 0 => case x < 0 => } }", ObligationKind.CASES),
        ("lemma l(x: int) { forall y: int ensures y > x { } }", ObligationKind.FORALL_ENSURES),
        ("lemma l() { var x: int :| x < 0 && x > 0; }", ObligationKind.EXISTENCE),
        ("lemma l(n: nat) ensures false { l(n); }", ObligationKind.TERMINATION),
        ("lemma l(y: int) { m(0); } lemma m(x: int) requires x > 0 {}", ObligationKind.PRECONDITION),
        (
            "datatype tree = Leaf | Node(l: tree, r: tree) lemma l(t: tree) ensures t.l == t.l {}",
            ObligationKind.CONSTRUCTOR,
        ),
        ("function h(n: int): int { h(n) + 1 } lemma l() ensures false { assert h(0) == 0; }", None),
        ("function h(n: int): int ensures h(n) > n { n } lemma l() ensures false {}", None),
        ("lemma l(n: nat) ensures false { m(n); } lemma m(n: nat) ensures false { l(n); }", None),
        ("lemma l() ensures log(-1.0) == 1.0 {}", None),
        ("lemma l() { var x := log(-1.0); var y := log(0.0); var z := logb(0.0, 2.0); assert false; }", None),
        ("lemma l(x: real) ensures sqrt(x) * sqrt(x) == x {}", None),
        ("lemma l(x: int) ensures idiv(x, 0) == 1 {}", None),
        ("lemma l(n: nat) ensures isum(0, n, (k: int) => k) == n * n {}", None),
    ],
)
def test_not_proved(text: str, kind: ObligationKind | None) -> None:
    result = check(text)
    assert result.state is CheckState.FAILED
    missing = [o for o in result.obligations if o.state is not ObligationState.PROVED]
    assert result.proved == len(result.obligations) - len(missing)
    assert result.reason
    if kind is not None:
        assert missing[0].kind is kind


def test_counterexamples_have_values_and_are_confirmed() -> None:
    result = check("lemma l(x: real) requires 2.0 * x + 3.0 == 7.0 ensures x == 3.0 {}")
    (obligation,) = result.obligations
    assert obligation.state is ObligationState.REFUTED
    assert obligation.confirmed
    assert dict(obligation.counterexample) == {"x": "2.0"}
    assert result.reason == "l: postcondition is false: x == 3.0"


def test_only_targets_are_checked() -> None:
    text = "lemma wrong(x: int) ensures x > 0 {} lemma l(x: int) ensures x > 0 { wrong(x); }"
    assert check(text, "l").state is CheckState.PROVED
    assert check(text).state is CheckState.FAILED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lemma l(x: int) ensures nothing(x) {}", "nothing"),
        ("lemma l(x: int) ensures x + 1.0 > 0.0 {}", ""),
        ("lemma l(x: int) ensures x > 0 { m(x); }", "m"),
        ("lemma {:axiom} l(x: int) ensures x > 0", "no body"),
    ],
)
def test_ill_formed(text: str, message: str) -> None:
    result = check(text)
    assert result.state is CheckState.ILL_FORMED
    assert message in result.diagnostics[0].message
    assert result.reason == result.diagnostics[0].message


def test_a_target_that_is_not_there() -> None:
    result = check_here(CheckTask(parse_program("lemma l() {}"), ("m",)), LIMITS)
    assert result.state is CheckState.ILL_FORMED
    assert result.reason == "m is not declared"


def test_what_is_outside_the_subset_is_named() -> None:
    result = check("lemma l(f: int --> int) ensures f(0) == f(0) {}")
    assert result.state is CheckState.UNSUPPORTED
    assert result.reason.startswith("not supported: ")


def test_a_function_of_the_submission_is_not_the_preludes() -> None:
    """Its name alone must not make it computed as the prelude's."""
    program = parse_program("function gcd(a: int, b: int): nat { 7 } lemma l() ensures gcd(4, 6) == 2 {}")
    assert check_here(CheckTask(program, ("l",)), LIMITS).state is CheckState.FAILED
    program = parse_program("function gcd(a: int, b: int): nat { 7 } lemma l() ensures gcd(4, 6) == 7 {}")
    assert check_here(CheckTask(program, ("l",)), LIMITS).state is CheckState.PROVED


def test_the_same_check_gives_the_same_result() -> None:
    text = "lemma l(x: int, y: int, z: int) requires x * y == z && z > 7 ensures x * x * y > 5 || y < x {}"
    first, second = check(text), check(text)
    assert first == second


def test_a_check_that_has_spent_much_gives_the_rest_little() -> None:
    hard = "assert x * x * x + y * y * y + z * z * z != 114 + 0 * {n};"
    body = " ".join(hard.replace("{n}", str(n)) for n in range(12))
    text = f"lemma l(x: int, y: int, z: int) {{ {body} assert x == x; }}"
    result = check_here(task(text), Limits(resource=200_000, seconds=20.0))
    assert result.state in (CheckState.FAILED, CheckState.TIMEOUT)
    assert result.total == 13
    assert result.obligations[-1].state is ObligationState.PROVED


@pytest.fixture
async def checker() -> AsyncIterator[EmbeddedChecker]:
    checker = EmbeddedChecker(1)
    try:
        yield checker
    finally:
        await checker.aclose()


async def test_in_a_worker_it_is_the_same(checker: EmbeddedChecker) -> None:
    for text in (
        "lemma l(x: int) requires x > 1 ensures x > 0 {}",
        "lemma l(x: int) ensures x > 0 {}",
        "lemma l(x: int) ensures y > 0 {}",
        "lemma l(x: int) requires x > 1" + " && x > 1" * 150 + " ensures x > 0 {}",
    ):
        there, here = await checker.check(task(text), LIMITS), check(text)
        assert (there.state, there.obligations, there.diagnostics) == (here.state, here.obligations, here.diagnostics)
        assert there.seconds > 0


async def test_the_wall_ends_a_check(checker: EmbeddedChecker) -> None:
    text = "lemma l(x: int, y: int, z: int) ensures x * x * x + y * y * y + z * z * z != 114 {}"
    limits = Limits(resource=None, seconds=1000.0, wall_seconds=1.0)
    result = await checker.check(task(text), limits)
    assert result.state is CheckState.TIMEOUT
    assert "wall" in result.reason
    assert (await checker.check(task("lemma l() ensures 1 < 2 {}"), LIMITS)).state is CheckState.PROVED


async def test_too_little_memory_ends_a_check(checker: EmbeddedChecker) -> None:
    text = "lemma l() ensures |set n: int | 0 <= n < 900000| == 900000 {}"
    result = await checker.check(task(text), Limits(memory_mb=330))
    assert result.state is CheckState.TIMEOUT
    assert result.reason == "memory limit of 330 MB"
    assert (await checker.check(task("lemma l() ensures 1 < 2 {}"), LIMITS)).state is CheckState.PROVED


ATOMS = ["x", "y", "n", "2", "3", "x+y", "x*y", "n*n", "x-n", "x%3", "n/2", "x*x", "ipow(x,2)", "iabs(y)"]
CLAIMS = st.builds(
    lambda a, op, b: f"{a} {op} {b}",
    st.sampled_from(ATOMS),
    st.sampled_from(["<", "<=", "==", "!="]),
    st.sampled_from(ATOMS),
)
FORMULAS = st.recursive(
    CLAIMS,
    lambda inner: (
        st.builds(lambda a, op, b: f"({a}) {op} ({b})", inner, st.sampled_from(["&&", "||", "==>", "<==>"]), inner)
        | inner.map(lambda a: f"!({a})")
        | inner.map(lambda a: f"(exists x: int :: -2 <= x <= 2 && ({a}))")
        | inner.map(lambda a: f"(forall y: int :: 0 <= y < 3 ==> ({a}))")
    ),
    max_leaves=3,
)


@given(st.lists(FORMULAS, max_size=2), FORMULAS)
@settings(max_examples=60, deadline=None)
def test_nothing_that_is_proved_is_false(requires: list[str], ensures: str) -> None:
    clauses = " ".join(f"requires {claim}" for claim in requires)
    asked = task(f"lemma l(x: int, y: int, n: nat) {clauses} ensures {ensures} {{}}")
    if check_here(asked, Limits(resource=300_000, seconds=2.0)).state is not CheckState.PROVED:
        return
    core = resolve(asked.program)
    evaluator = Evaluator(core)
    lemma = core.lemmas["l"]
    given_, (claim,) = [[evaluator.expression(c, "xyn") for c in cs] for cs in (lemma.requires, lemma.ensures)]
    for values in itertools.product(range(-5, 6), range(-5, 6), range(6)):
        if all(one.value(values) for one in given_):
            assert claim.value(values), values
