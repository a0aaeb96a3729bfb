"""False claims that a checker's own shortcuts could take for true: each must stay unproved."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")
import z3

from maxproof.formal.checkers.types import CheckState, CheckTask, Limits, ObligationState
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.ast import Datatype
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=1_000_000, seconds=3.0)


def task(text: str) -> CheckTask:
    declarations = parse_program(text).declarations
    return assemble(declarations, tuple(d.name for d in declarations if not isinstance(d, Datatype)))


def state(text: str) -> CheckState:
    return check_here(task(text), LIMITS).state


NOTHING_FOUND = (
    "function h(n: int): int decreases n { if n <= 0 then 0 else"
    " if exists x: int, y: int :: 0 <= x <= n && 0 <= y <= n && x + y + 0 * h(n - 1) == 2 * n then 0 else 1 } "
)


@pytest.mark.parametrize(
    "text",
    [
        # An equation under a condition that isn't known to hold.
        "lemma l(f: int -> int, g: int -> int) requires forall n: nat :: g(n) > 0 ==> f(n) == 3 ensures f(1) == 3 {}",
        # The missing value of f occurs where f is given to another function, and not linearly.
        "function sq(f: int -> int, n: int): int { f(n) * f(n) }"
        " lemma l(f: int -> int) requires forall n: nat :: 2 * f(n) == sq(f, n) ensures f(1) == 0 {}",
        "lemma l(f: int -> int) requires forall n: nat :: 2 * f(n) == iprod(n, n + 1, f) * iprod(n, n + 1, f)"
        " ensures f(1) == 0 {}",
        # Functions are not told apart by where they are written.
        "lemma l() ensures |{(x: int) => x, (x: int) => x + 0}| == 2 {}",
        "lemma l() { var s := [(x: int) => x + 0]; assert ((x: int) => x) !in s; }",
        "lemma l() ensures |{(n: nat) => n, (n: nat) => if n < 0 then 7 else n}| == 2 {}",
        "lemma l(k: int) ensures |{(n: nat) => n + k, (n: nat) => if n < 0 then 7 + k else n + k}| == 2 {}",
        # A set of natural numbers and a set with a negative one.
        "lemma l(s: set<nat>) requires |s| == 0 ensures s == {-1} {}",
        "lemma l(y: nat) ensures (set n: nat | n < y && n < 0) == (set x: int | -3 < x < 0 && y == y) {}",
        # Values of the base type that aren't of the variable's own type.
        "lemma l() ensures exists t: (nat, nat) :: t in {(-1, 2)} {}",
        "lemma l() ensures exists s: set<nat> :: s == {-1} {}",
        "lemma l() ensures exists s: seq<nat> :: s == [-1] {}",
        "lemma l() ensures (-1, 2) in (set t: (nat, nat) | t in {(-1, 2)}) {}",
        "lemma l() { var s: set<nat> :| s == {-1}; assert false; }",
        "lemma l(y: int) ensures exists s: set<nat> :: s == {y} {}",
        "lemma l(y: int) ensures exists s: seq<nat> :: s == [y] {}",
        "lemma l(y: int, z: int) ensures exists t: (nat, nat) :: t == (y, z) {}",
        "lemma l(g: int -> int) ensures exists f: int -> nat :: f == g {}",
        "lemma l(s: set<int>) requires forall t: set<nat> :: t == s ==> false ensures false {}",
        "lemma l(s: seq<int>) requires |s| > 0 ensures exists t: seq<nat> :: t == s {}",
        "lemma l(s: set<(nat, int)>, k: int) requires |s| == 0 && k < 0 ensures s == {(k, 1)} {}",
        # A variable with the name of a function without parameters.
        "lemma l(pi: real, x: real, y: real) requires rpow(x, y) > 5.0 && x < 0.0 ensures pi > 3.0 {}",
        "function c(): int ensures c() > 3 { var x :| x > 3; x } function d(): int { c() }"
        " lemma l(c: int) ensures d() == c {}",
        # A quantifier inside the function that its own range calls.
        NOTHING_FOUND + "lemma l() ensures h(1) == 1 || h(2) == 1 || h(3) == 1 {}",
    ],
)
def test_stays_unproved(text: str) -> None:
    assert state(text) is not CheckState.PROVED


def test_what_z3_refuses_leaves_its_obligation_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise z3.Z3Exception(message)

    monkeypatch.setattr("maxproof.formal.embedded.solve.solver.prepare", refuse)
    message = "Sort mismatch"
    result = check_here(task("lemma l(x: int, y: int) { assert 1 == 1; assert x * y == y * x; }"), LIMITS)
    assert [o.state for o in result.obligations] == [ObligationState.PROVED, ObligationState.UNKNOWN]
    message = "out of memory"
    with pytest.raises(MemoryError):
        check_here(task("lemma l(x: int, y: int) ensures x * y == y * x {}"), LIMITS)


@pytest.mark.parametrize(
    "text",
    [
        "lemma l(f: int -> int) requires f(0) == 1 && forall n: nat :: n < 9 ==> f(n + 1) == 2 * f(n)"
        " ensures f(5) == 32 {}",
        "lemma l(s: set<nat>) requires -2 in s ensures false {}",
        "lemma l() ensures exists t: (nat, nat) :: t in {(-1, 2), (1, 2)} {}",
        "lemma l() ensures (1, 2) in (set t: (nat, nat) | t in {(1, 2)}) {}",
        "lemma l(y: nat) ensures exists s: set<nat> :: s == {y} {}",
        "lemma l(s: set<nat>, t: set<int>) requires s == t ensures -3 !in t {}",
        "lemma l(s: set<nat>) requires s == {1, 2} ensures |s| == 2 && s == {2, 1} {}",
        NOTHING_FOUND + "lemma l() ensures h(1) == 0 && h(2) == 0 && h(3) == 0 {}",
    ],
)
def test_the_like_that_is_true_is_proved(text: str) -> None:
    assert state(text) is CheckState.PROVED
