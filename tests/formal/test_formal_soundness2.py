"""False claims around names, values that are functions, recursion and choice: each must stay unproved."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3")

from maxproof.formal.checkers.types import CheckState, Limits
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.load import problem_from_text
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.solution.check import judge, solution_task
from maxproof.formal.solution.wrap import Wrapped, wrap
from maxproof.formal.syntax.ast import Datatype
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=200_000, seconds=2.0)
TWO_RESULTS = "lemma m() returns (a: int, b: int) ensures a == 1 && b == 2 { a, b := 1, 2; } "
FOUND = "predicate P(f: int -> bool, n: int) { exists k: int :: f(k) && k > n } "


@pytest.mark.parametrize(
    "text",
    [
        # A postcondition's own call, under a variable with the parameter's name.
        "function f(n: int): int ensures forall n: int :: f(n) == 3 { 3 } lemma l() ensures f(5) == 4 {}",
        # Choices of equal predicates, and of one with several values.
        "function c(): int { var x :| x in {1, 2}; x } lemma l() ensures c() == 1 {}",
        "function c(n: int): int { var x :| x > n; x } lemma l() ensures c(1) == c(2) {}",
        "lemma l(f: int -> int) requires forall x: int :: f(x) == (var y :| y > x; y) ensures f(0) == 1 {}",
        "function f(s: set<int>): int { if s == {} then 0 else var x :| x in s; 10 * f(s - {x}) + x }"
        " lemma l() ensures f({1, 2}) == 21 {}",
        # Functions collected while what they capture goes on changing.
        "lemma l() ensures forall t: (int -> int, int) ::"
        " t in (set k: int | 0 <= k < 3 :: ((x: int) => x + k, k)) ==> t.0(0) == 2 {}",
        "function mk(k: int): int -> int { (x: int) => x + k }"
        " lemma l() ensures forall b: int -> int :: b in {mk(1), mk(2)} ==> b(0) == 2 {}",
        "lemma l(y: int) { var z := y; var f := (x: int) => z; z := z + 1; assert f(0) == z; }",
        # What is put in holds a variable that is bound there.
        FOUND + "lemma l(k: int) requires P((j: int) => j == k, 3) ensures k > 4 {}",
        "function S(n: int, m: int): set<int> { set k: int | n <= k < m && k != n }"
        " lemma l(k: int) ensures S(k, k + 3) == {k, k + 1, k + 2} {}",
        "lemma l(x: int, f: int -> int) requires f == ((k: int) => x) ensures forall x: int :: f(x) == x {}",
        "lemma l(a: int, s: iset<int>, x: int) requires s == (iset a: int | a > x)"
        " ensures forall x: int :: x + 1 in s {}",
        "lemma l(k: int) ensures isum(0, 3, (j: int) => k) == isum(0, 3, (k: int) => k) {}",
        # Differences of natural numbers as bounds.
        "lemma l(a: nat, b: nat) ensures forall x: int :: a - b <= x <= 5 ==> x >= 0 {}",
        "lemma l(s: seq<int>, t: set<int>) ensures forall x: int :: |s| - |t| <= x <= 2 ==> x >= 0 {}",
        "lemma l(a: nat, b: nat) ensures (set x: int | a - b <= x <= 2) <= {0, 1, 2} {}",
        # A joined value is of the wider type.
        "lemma l(f: int -> nat, g: int -> int, p: bool) { var h := if p then f else g; assert h(0) >= 0; }",
        "lemma l(n: nat, m: int, p: bool) ensures (if p then (n, n) else (m, m)).0 >= 0 {}",
        # A function given to itself, as a value or inside one.
        "function h(n: int, g: int -> int): int { g(n) } function k(n: int): int { h(n, k) + 1 }"
        " lemma l() ensures false {}",
        "datatype B = B(f: int -> int) function k(n: int): B { B((m: int) => k(n).f(m) + 1) }"
        " lemma l() ensures k(0).f(0) == k(0).f(0) + 1 {}",
        "datatype A = A(f: B -> bool) | Z datatype B = B(a: A) lemma l() ensures false {}",
        # Sets and measures that depend on themselves.
        "function f(x: nat): set<nat> { set y: nat | y <= x && y !in f(y) }"
        " lemma l() ensures false { assert 2 in f(2) <==> 2 !in f(2); }",
        "function f(n: nat): int decreases n, 1 { g(n) } function g(n: nat): int decreases n { f(n) }",
        "function h(n: nat): int ensures h(n) == 1 && h(n) == 2 { if n > 0 then (k(n - 1); 1) else 1 }"
        " lemma k(n: nat) ensures h(n) == 2 {}",
        "lemma l(t: (int, int)) ensures false decreases t { l((t.0 - 1, t.1)); }",
        "lemma l(b: bool, n: nat) ensures false decreases b, n { if b { l(false, n + 1); } else { l(b, n); } }",
        "datatype T = L | N(l: T, r: T)"
        " lemma l(t: T, u: T) ensures false decreases t, u { match t case L => case N(a, b) => l(a, N(u, u)); }",
        "lemma {:induction f, s} l(s: set<int>, f: int -> int) ensures set_isum(s, f) >= 0 {}",
        # One variable for two results.
        TWO_RESULTS + "lemma l() ensures false { var r := 0; r, r := m(); }",
        "lemma l() returns (r: int) ensures false { r, r := 1, 2; }",
        # Names that the solver's side or the grammar could take for its own.
        "lemma l(value: int, element: int, and: int, div: int) ensures element == value || and == div {}",
        "function f(x: int): int { 0 } lemma l(f: int -> int) ensures isum(0, 2, f) == 0 {}",
        "function f(x: int): int { 0 } lemma l(f: int -> int) ensures f(0) == 0 {}",
    ],
)
def test_stays_unproved(text: str) -> None:
    declarations = parse_program(text).declarations
    targets = tuple(d.name for d in declarations if not isinstance(d, Datatype))
    assert check_here(assemble(declarations, targets), LIMITS).state is not CheckState.PROVED


@pytest.mark.parametrize(
    ("problem", "submission"),
    [
        # The submitted lemma is another one: other types, another order, other results.
        ("lemma W(x: int, y: int) requires x > y ensures x > y + 1 {}", "lemma W(y: int, x: int) requires x > y {}"),
        ("lemma W(f: int -> int) ensures f(0) >= 0 {}", "lemma W(f: int -> nat) ensures f(0) >= 0 {}"),
        ("lemma W(f: int -> int) ensures f(-1) == 0 {}", "lemma W(f: nat -> int) ensures true {}"),
        (
            "lemma W() returns (a: int, b: int) ensures a < b && a == 1 {}",
            "lemma W() returns (b: int, a: int) ensures a < b && a == 1 { a := 1; b := 2; }",
        ),
        (
            "lemma W(x: int) returns (r: nat) ensures r >= x {}",
            "lemma W(x: int) returns (r: int) ensures r >= x { r := x; }",
        ),
        # Names of the problem's variables declared as functions or constructors.
        (
            "lemma W(f: int -> int) ensures f(0) == 0 {}",
            "function f(x: int): int { 0 } lemma W(g: int -> int) ensures f(0) == 0 {}",
        ),
        (
            "lemma W() ensures forall g: int -> int :: g(0) == 0 {}",
            "function g(x: int): int { 0 } lemma W() ensures forall h: int -> int :: g(0) == 0 {}",
        ),
        (
            "function D(k: int -> int): int { k(3) } lemma W(q: int -> int) ensures D(q) == 0 {}",
            "function k(x: int): int { 0 } function q(x: int): int { 0 }"
            " lemma W(z: int -> int) ensures D(z) == D(z) {}",
        ),
        ("lemma W(x: int, y: int) ensures x == y {}", "datatype T = x | y lemma W(x: int, y: int) ensures x == y {}"),
        # The wrapper's own name.
        (
            "lemma W() ensures false {}",
            "lemma submitted_W() ensures false { submitted_W(); } lemma W() ensures false { submitted_W(); }",
        ),
        ("lemma W() ensures false {}", "lemma W() ensures false { submitted_W(); }"),
        # A definition of the problem with a false promise.
        ("function D(k: int): int ensures D(k) == 5 { 4 } lemma W() ensures D(1) == 5 {}", "{}"),
    ],
)
def test_is_not_accepted(problem: str, submission: str) -> None:
    posed = problem_from_text(problem, Path("p.dfy"))
    wrapped = wrap(posed, submission)
    assert isinstance(wrapped, Wrapped)
    assert not judge(wrapped, check_here(solution_task(posed, submission), LIMITS)).accepted


def test_the_like_that_is_true_is_accepted() -> None:
    posed = problem_from_text("lemma W(x: int, y: int) requires x > y ensures 2 * x > 2 * y {}", Path("p.dfy"))
    submission = "datatype T = x | y lemma W(y: int, x: int) requires y > x ensures 2 * y > 2 * x {}"
    wrapped = wrap(posed, submission)
    assert isinstance(wrapped, Wrapped)
    assert judge(wrapped, check_here(solution_task(posed, submission), LIMITS)).accepted
