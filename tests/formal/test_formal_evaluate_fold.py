"""Folding keeps meaning, and makes explicit what is finite."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    Bool,
    Builtin,
    CoreProgram,
    Int,
    Op,
    Quant,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.evaluate.evaluator import Budget, NotComputable, Undefined, evaluate
from maxproof.formal.embedded.evaluate.fold import fold
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Program
from maxproof.formal.syntax.parse import parse_program


def parsed(sort: str, text: str) -> tuple[Term, CoreProgram]:
    own = parse_program(
        f"function probe(a: int, r: real, f: int -> int, s: set<int>): {sort} {{ {text} }}"
    ).declarations
    core = resolve(Program(prelude().definitions.declarations + own))
    body = core.functions["probe"].body
    assert body is not None
    return body, core


@pytest.mark.parametrize(
    ("sort", "text", "expected"),
    [
        ("int", "a + ipow(2, 10)", "a + 1024"),
        ("int", "isum(0, 3, (k: int) => k * a)", "0 * a + 1 * a + 2 * a"),
        ("int", "isum(2, 2, f)", "0"),
        ("int", "iprod(1, 3, f)", "f(1) * f(2)"),
        ("real", "rsum(0, 2, (k: int) => r / (k as real + 1.0))", "r / 1.0 + r / 2.0"),
        ("int", "set_isum(divisors(4), f)", "f(1) + f(2) + f(4)"),
        ("bool", "forall k: int :: 0 <= k < 3 ==> f(k) > k", "0 < f(0) && 1 < f(1) && 2 < f(2)"),
        ("bool", "exists k: int :: 0 <= k < 2 && f(k) == a", "f(0) == a || f(1) == a"),
        (
            "bool",
            "forall i: int, j: int :: 0 <= i < j < 3 ==> f(i) < f(j)",
            "f(0) < f(1) && f(0) < f(2) && f(1) < f(2)",
        ),
        ("bool", "forall i: int :: 0 <= i < 3 ==> forall j: int :: 0 <= j < i ==> f(i) != j", None),
        ("bool", "a in divisors(4)", "a == 1 || a == 2 || a == 4"),
        ("bool", "a in (set k: int | 0 <= k < 100 && f(k) == 1)", "0 <= a && a < 100 && f(a) == 1"),
        ("bool", "a in (iset k: nat | k % 2 == 1)", "0 <= a && a % 2 == 1"),
        ("bool", "a in s + {1}", "a in s || a == 1"),
        ("bool", "a in s - {1}", "a in s && a != 1"),
        ("bool", "1 < 2 && a > 0", "0 < a"),
        ("bool", "a > 0 && 2 < 1", "false"),
        ("bool", "2 < 1 ==> 1 / 0 == a", "true"),
        ("int", "if ipow(2, 3) == 8 then a else 1 / 0", "a"),
        ("int", "(var x := 3; x + a)", "3 + a"),
        ("int", "((k: int) => k * a)(2)", "2 * a"),
        ("real", "Complex(r, 1.0).re", "r"),
        ("int", "(a, 7).0", "a"),
        ("bool", "a == 1 / 0", "a == 1 / 0"),
        ("bool", "r == sqrt(2.0) + sqrt(4.0)", "r == sqrt(2.0) + 2.0"),
        ("int", "(ipow(9, ipow(9, 9)) % 10) + a", "9 + a"),
        ("bool", "a == ipow(2, 100000)", "a == ipow(2, 100000)"),
        ("bool", "forall k: int :: f(k) > 0", "forall k: int :: 0 < f(k)"),
    ],
)
def test_folded(sort: str, text: str, expected: str | None) -> None:
    term, core = parsed(sort, text)
    folded = show(fold(term, core))
    if expected is None:
        assert "forall" not in folded
    else:
        assert folded == expected


def test_sets_in_sums_that_are_not_literal_stay() -> None:
    term, core = parsed("int", "set_isum({a, 1}, f)")
    assert fold(term, core) == term  # a may be 1


def test_triggers_are_left_alone() -> None:
    term, core = parsed("bool", "forall k: int {:trigger f(k + 0 * 5)} :: f(k) > 0")
    folded = fold(term, core)
    assert isinstance(folded, Quant)
    assert isinstance(term, Quant)
    assert folded.triggers == term.triggers


def test_a_large_program_of_quantifiers_ends() -> None:
    text = "a > 0"
    for name in "ijklmnop":
        text = f"forall {name}: int :: 0 <= {name} < 30 ==> {text}"
    term, core = parsed("bool", text)
    fold(term, core, Budget(steps=50_000))


X, Y, A = Var("x", INT), Var("y", INT), Var("a", INT)
EMPTY = CoreProgram({}, {}, {})


def _int(op: Op, left: Term, right: Term) -> Term:
    return Builtin(op, (left, right), INT)


def _bool(op: Op, left: Term, right: Term) -> Term:
    return Builtin(op, (left, right), BOOL)


def _bounded(var: Var, low: int, high: int) -> Term:
    return Builtin(Op.AND, (_bool(Op.LE, Int(low), var), _bool(Op.LT, var, Int(high))), BOOL)


NUMBERS = st.recursive(
    st.sampled_from([X, Y, A]) | st.integers(-4, 5).map(Int),
    lambda inner: st.builds(_int, st.sampled_from([Op.ADD, Op.SUB, Op.MUL, Op.MOD, Op.DIV]), inner, inner),
    max_leaves=5,
)
CLAIMS = st.recursive(
    st.builds(_bool, st.sampled_from([Op.LE, Op.LT, Op.EQ]), NUMBERS, NUMBERS) | st.booleans().map(Bool),
    lambda inner: (
        st.builds(
            lambda op, left, right: Builtin(op, (left, right), BOOL),
            st.sampled_from([Op.AND, Op.OR, Op.IMPLIES, Op.IFF]),
            inner,
            inner,
        )
        | inner.map(lambda term: Builtin(Op.NOT, (term,), BOOL))
        | st.builds(
            lambda kind, var, low, size, body: Quant(kind, (var,), _bounded(var, low, low + size), body),
            st.sampled_from(["forall", "exists"]),
            st.sampled_from([X, Y]),
            st.integers(-3, 3),
            st.integers(0, 4),
            inner,
        )
        | st.builds(
            lambda item, low, body: Builtin(
                Op.IN,
                (item, SetComp((X,), Builtin(Op.AND, (_bounded(X, low, low + 3), body), BOOL), X, SetOf(INT))),
                BOOL,
            ),
            NUMBERS,
            st.integers(-3, 3),
            inner,
        )
    ),
    max_leaves=8,
)


@given(CLAIMS, st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
@settings(max_examples=400, deadline=None)
def test_folding_keeps_the_value(claim: Term, x: int, y: int, a: int) -> None:
    env: dict[str, Any] = {"x": x, "y": y, "a": a}
    try:
        before = evaluate(claim, EMPTY, env)
    except NotComputable:  # undefined somewhere: no meaning to keep
        return
    folded = fold(claim, EMPTY)
    try:
        assert evaluate(folded, EMPTY, env) is before
    except Undefined:  # at a value that ranges had ruled out before it was asked
        return
    except NotComputable:
        pytest.fail(f"{show(claim)} lost its value in {show(folded)}")
