"""Small declarations whose verdict is known: asked of our obligations and Z3, and of the real Dafny 2.3 where it is
installed. `@` is the declaration's own name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from formal_dafny import needs_dafny

pytest.importorskip("z3")

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import CoreProgram
from maxproof.formal.embedded.obligations import obligations
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.embedded.solve.solver import solve
from maxproof.formal.syntax.parse import parse_program

COMMON = """
function g(n: nat): nat { n }
function up(x: int): int { if x > 0 then up(x - 1) + 1 else 0 }
function sum(n: int, f: int -> int): int { if n <= 0 then 0 else sum(n - 1, f) + f(n) }
predicate P(x: int)
lemma LP(x: int) ensures P(x)
lemma Lpos(x: int) ensures x >= 0
lemma Pick(x: int) returns (r: nat) requires x >= 0 ensures r > x
datatype Shape = Dot(a: int) | Line(b: int)
"""

ACCEPTED = """
lemma @(x: int) requires x > 0 { assert (if x > 0 then g(x) else 1) == x; }
lemma @(x: int) ensures forall y: int :: y > 0 ==> g(y) == y { }
lemma @(s: seq<int>, i: int) requires 0 <= i < |s| ensures s[i..] == s[i..|s|] { }
lemma @(x: int, y: int) ensures y != 0 ==> x / y == x / y { }
lemma @(x: int, y: int) ensures y == 0 || x / y == x / y { }
lemma @(x: int, y: int) ensures x / y == x / y <== y != 0 { }
lemma @(x: int) returns (n: nat) requires x >= 0 ensures n == x { n := x; }
lemma @(d: Shape) ensures d.Dot? ==> d.a == d.a { }
function @(d: Shape): int { match d case Dot(x) => x case Line(y) => y }
lemma @() { var h := (x: int) requires x > 0 => g(x); assert h(1) == 1; }
lemma @(s: seq<int>) requires forall i :: 0 <= i < |s| ==> s[i] > 0 { var t: seq<nat> := s; }
lemma @(s: set<int>) requires forall i :: i in s ==> i > 0 { var t: set<nat> := s; }
lemma @(x: int) requires x > 3 ensures var y: nat := x; y > 0 { }
lemma @(x: real, y: real) requires y > 0.0 { assert x / y * y == x; }
lemma @(x: int) { assert x >= 0 && g(x) >= 0 by { Lpos(x); } }
lemma @(x: int) { calc { 0 <= x; ==> { Lpos(x); } g(x) >= 0; } }
lemma @(x: int) { calc { g(x) >= 0; <== { Lpos(x); } x >= 0; } }
lemma @(x: int) { calc { x; == { Lpos(x); } g(x); == g(x) + 0; } }
lemma @(x: int) { calc ==> { P(x) && x > 3; P(x); { assert P(x); } true; } }
lemma @(x: int) { calc <== { true; { assert P(x); } P(x); } }
lemma @(x: int) { calc <= { x; x + 1; x + 2; } assert x <= x + 2; }
lemma @() { forall x: int { LP(x); } assert P(3); }
lemma @() { forall x: int | x > 0 ensures x == x { assert g(x) >= 0; } }
lemma @() { forall x: int | x > 0 ensures g(x) >= 0 { } assert g(3) >= 0; }
lemma @(x: int) requires x >= 0 requires g(x) >= 0 { }
lemma @(x: int) ensures x >= 0 ensures g(x) >= 0 { Lpos(x); }
lemma @(x: int) { if y :| y > x && P(y) { assert P(y); } else { LP(x + 1); assert false; } }
lemma @(x: int) { if x > 0 { return; } assert x <= 0; }
lemma @(x: int) { var y := 0; if x > 0 { y := x; } else { y := -x; } assert y >= 0; assert y == x || y == -x; }
lemma @(x: int) { var y := 0; if { case x >= 0 => y := 1; case x <= 0 => y := 2; } assert x > 0 ==> y == 1; }
lemma @(x: int) returns (r: int) ensures r > x { if x > 0 { return 2 * x; } r := 1; }
lemma @(x: int) requires x >= 0 { var r := Pick(x); assert r > x; var q: nat := Pick(x + 1); }
lemma @(x: int) { var y := (LP(x); x); assert P(x); }
lemma @(x: int) ensures x > 0 ==> (Lpos(x); g(x) >= 0) { }
lemma @(x: int) { var y := (if x > 0 then (LP(x); x) else 3); assert x > 0 ==> P(x); }
lemma @() { var x :| x == 7; }
lemma @(s: set<int>) requires s != {} { var x :| x in s; }
lemma @(n: int) { if n > 0 { @(n - 1); } }
lemma @(x: real) { if x > 0.0 { @(x - 1.0); } }
lemma @(x: int, n: int) { if x > 0 { @(x - 1, n + 1); } else if n > 0 { @(x, n - 1); } }
lemma @(s: seq<int>) { if |s| > 0 { @(s[1..]); } }
lemma @(s: set<int>) { if x :| x in s { @(s - {x}); } }
lemma @(f: int -> int, n: nat) { if n > 0 { @((x: int) => f(x) + 1, n - 1); } }
lemma @(x: bool) { if x { @(false); } }
function @(x: int): int { if x > 0 then @(x - 2) else 0 }
function @(x: int): int ensures @(x) >= 0 { if x > 0 then @(x - 1) + 1 else 0 }
function @(n: nat): nat { if n == 0 then 1 else n * @(n - 1) }
lemma @(n: nat) ensures up(n) == n { }
lemma @(n: int) requires n >= 0 ensures up(n) == n { }
lemma @() ensures forall n: nat :: up(n) == n { }
lemma @() { assert forall n: int :: n >= 0 ==> up(n) == n; }
lemma @(n: nat) ensures up(n + 0) == n { }
lemma {:induction false} @(n: nat) ensures up(n) == n { if n > 0 { @(n - 1); } }
lemma @(n: nat, m: int) ensures sum(n, (x: int) => m) == n * m { }
function @(n: nat): nat ensures n > 0 ==> @(n - 1) <= @(n) { if n == 0 then 0 else @(n - 1) + 1 }
function @(n: nat): nat ensures @(n) == n { if n == 0 then 0 else @(n - 1) + 1 }
function @(n: int): int requires n >= 0 ensures @(n) == n { if n == 0 then 0 else @(n - 1) + 1 }
lemma @(a: int, b: int) requires a * b > 0 ensures a > 0 ==> b > 0 { if a > 0 { if b <= 0 { assert a * b <= 0; } } }
lemma @(s: set<int>) requires forall x :: x in s ==> x > 0 { forall x | x in s ensures x >= 1 { } }
lemma @(s: seq<int>) requires forall i, j :: 0 <= i < j < |s| ==> s[i] <= s[j] { assert |s| > 1 ==> s[0] <= s[1]; }
lemma @(x: int) requires exists k: int :: x == 2 * k { var k :| x == 2 * k; assert x % 2 == 0; }
lemma @(x: int) requires x % 2 == 0 ensures exists k: int :: x == 2 * k { assert x == 2 * (x / 2); }
lemma @(n: nat, m: nat) ensures up(n + m) == up(n) + up(m) { }
lemma @(x: int) { assert (forall y: int :: y > x ==> P(y)) by { forall y: int | y > x { LP(y); } } }
lemma @(x: int) { calc <==> { P(x); { LP(x); } true; } assert P(x); }
lemma @(x: int, y: int) { calc { x * y; y * x; } calc { x + y; <= x + y + 1; < x + y + 2; } assert x + y < x + y + 2; }
lemma @(x: int, y: int) { calc { x; != x + 1; == 1 + x; } assert x != 1 + x; }
lemma @(x: int) returns (y: nat) requires x >= -5 ensures y >= x { y := if x >= 0 then x else 0; if y == 3 { y := 4; } }
lemma @(g: nat -> nat) { assert g(3) >= 0; var h := (x: int) requires x >= 0 => g(x); assert h(2) == g(2); }
lemma @() { assert exists f: int -> int :: f(0) == 1 by { var f := (x: int) => 1; assert f(0) == 1; } }
lemma @(s: set<nat>) { assert forall x :: x in s ==> x >= 0; assert |s| >= 0; }
lemma @(x: real) ensures x.Floor as real <= x < x.Floor as real + 1.0 { }
lemma @(x: real) requires x == x.Floor as real ensures x as int == x.Floor { }
lemma @(a: nat, b: nat) requires a >= b { var c: nat := a - b; assert a - b + b == a; }
""".strip().splitlines()

REJECTED = """
lemma @(s: set<int>) { var t: set<nat> := s; }
lemma @(f: int -> int) { var t: int -> nat := f; }
lemma @(x: int) { var y: nat :| y < x; }
lemma @(x: int) { assert g(x) == x; }
lemma @(s: seq<int>, i: int) ensures s[i] == s[i] { }
lemma @(x: real) ensures x as int == 0 { }
lemma @(x: int, y: int) ensures x / y == x / y || y == 0 { }
lemma @(s: seq<int>) { var t: seq<nat> := s; }
lemma @(x: int) { var y: nat; y := x; }
lemma @(x: int) returns (n: nat) { n := x; }
lemma @(x: int) returns (n: nat) { return x; }
lemma @(x: int) requires x >= 0 { var k := Pick(x - 1); }
lemma @(d: Shape) ensures d.a == d.a { }
lemma @() { var h := (x: int) => g(x); }
lemma @() { var h := (x: int) requires x > 0 => g(x); assert h(0) == 1; }
lemma @(x: int) { assert g(x) >= 0 by { Lpos(x); } }
lemma @(x: int) { calc { x >= 0; <== { Lpos(x); } g(x) >= 0; } }
lemma @(x: int) { calc { x >= 0; <== { Lpos(x); } g(x) >= 0; <== g(x) >= 0 && true; } }
lemma @(x: int) { calc ==> { P(x) && x > 3; x > 3; { assert P(x); } P(x); } }
lemma @(x: int) { calc { x * x; == { assert P(x) by { LP(x); } } x * x; } assert P(x); }
lemma @() { forall x: int { LP(x); assert P(x); } assert P(3); }
lemma @() { forall x: int { assert P(x) by { LP(x); } } assert P(3); }
lemma @() { forall x: int | g(x) > 0 ensures true { } }
lemma @() { forall x: int ensures x > 0 { } }
lemma @(x: int) requires P(x) { assert x >= 0; }
lemma @(x: int) ensures P(x) ensures g(x) >= 0 { LP(x); Lpos(x); }
lemma @(x: int) requires g(x) >= 0 requires x >= 0 { }
lemma @(x: int) { if { case g(x) == 0 => case true => } }
lemma @(x: int) { if { case x > 0 => case x < 0 => } }
lemma @(x: int) { var y := 0; if { case x >= 0 => y := 1; case x <= 0 => y := 2; } assert x == 0 ==> y == 1; }
lemma @(x: int) returns (r: int) ensures r > x { if x > 0 { return x; } r := 1; }
lemma @(x: int) { var y: int := x; var q: nat := y; }
lemma @(x: int) ensures P(x) && (LP(x); P(x)) { }
lemma @(s: set<int>) { var x :| x in s; }
lemma @(b: int) { var x: int :| 3 * x == b; }
lemma @(s: seq<int>) { assert (set i | 0 <= i <= |s| && s[i] > 0) == {}; }
lemma @(n: int) { if n != 0 { @(n - 1); } }
lemma @(x: real) { if x > 0.0 { @(x - 0.5); } }
lemma @(n: nat, m: nat) decreases n, m { @(n, 3); }
lemma @(f: int -> int) { @(f); }
lemma @() ensures false { @(); }
lemma @(n: nat) ensures false { @(n); }
lemma @(n: nat) ensures P(n) { if n > 0 { @(n - 1); } }
function @(x: int): int { if x != 0 then @(x - 1) else 0 }
function @(x: int): nat { if x > 0 then @(x - 1) - 1 else 0 }
function @(x: int): nat { -1 }
function @(x: int): int ensures @(x) > x { x }
function @(x: int): int ensures @(x) >= @(x + 1) { if x > 0 then 3 else 0 }
function @(n: int): int { if n <= 0 then 0 else sum(n - 1, (x: int) => @(x)) }
function @(n: int): int { if n <= 0 then 0 else sum(n - 1, ((x: int) requires x < n => @(x))) }
lemma {:induction false} @(n: nat) ensures up(n) == n { }
lemma @(n: nat) returns (r: int) ensures up(n) == n { r := 0; }
function @(n: int): int requires n >= 0 { if n == 0 then 0 else @(n - 2) + 1 }
lemma @(x: int) { var f := (n: nat) => n + 1; assert f(3) == 4; assert f(x) == x + 1; }
lemma @(t: (nat, int)) { assert t.0 >= 0; assert t.1 >= 0; }
lemma @(a: nat, b: nat) { var c: nat := a - b; }
""".strip().splitlines()

# Where we and Dafny 2.3 differ, for good reason: (declaration, we accept it).
DIFFERENT = [
    # 2.3 never asks whether the ensures clauses of a forall statement have a meaning.
    ("lemma @() { forall x: int ensures 10 / x == 10 / x { } }", False),
    ("lemma @() { forall x: int ensures g(x) >= 0 { Lpos(x); } }", False),
    # 2.3 takes a union with a set<int> for a set<nat>.
    ("lemma @(s: set<nat>, t: set<int>) { var u: set<nat> := s + t; }", False),
    # It swaps a longer sequence for a shorter one, which 2.3's measure of sequences doesn't see.
    ("lemma @(s: seq<int>, t: seq<int>) { if |s| > |t| { @(t, s); } }", True),
    # True, but without a term that 2.3 could instantiate.
    ("lemma @(x: int) ensures exists n: nat :: n > x { }", True),
    ("lemma @() { assert exists x: int :: x == 2 && x * x == 4; }", True),
]

LIMITS = Limits(resource=3_000_000, seconds=5.0)


def lines() -> list[str]:
    written = [*ACCEPTED, *REJECTED, *(source for source, _ in DIFFERENT)]
    return [source.replace("@", f"D{number}") for number, source in enumerate(written)]


@pytest.fixture(scope="module")
def core() -> CoreProgram:
    program = parse_program(COMMON + "\n".join(lines()))
    return resolve(program, [d.name for d in program.declarations])


def accepted(core: CoreProgram, name: str) -> bool:
    found = obligations(core, name)
    return all(solve(core, obligation, LIMITS).state is ObligationState.PROVED for obligation in found)


def expected() -> list[bool]:
    return [True] * len(ACCEPTED) + [False] * len(REJECTED)


@pytest.mark.parametrize("number", range(len(ACCEPTED)), ids=lambda n: ACCEPTED[n])
def test_what_holds_is_proved(core: CoreProgram, number: int) -> None:
    assert accepted(core, f"D{number}")


@pytest.mark.parametrize("number", range(len(REJECTED)), ids=lambda n: REJECTED[n])
def test_what_is_wrong_or_ill_formed_is_not(core: CoreProgram, number: int) -> None:
    assert not accepted(core, f"D{len(ACCEPTED) + number}")


@pytest.mark.parametrize("number", range(len(DIFFERENT)), ids=lambda n: DIFFERENT[n][0])
def test_known_differences_stay_as_they_are(core: CoreProgram, number: int) -> None:
    assert accepted(core, f"D{len(ACCEPTED) + len(REJECTED) + number}") is DIFFERENT[number][1]


@needs_dafny
def test_dafny_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "declarations.dfy"
    file.write_text(COMMON + "\n".join(lines()))
    run = subprocess.run(
        ["dafny", "/compile:0", "/timeLimit:20", str(file)], capture_output=True, text=True, timeout=280, check=False
    )
    assert "Dafny program verifier finished" in run.stdout, run.stdout[-500:]
    failed = {int(line) for line in re.findall(r"declarations\.dfy\((\d+),\d+\): Error", run.stdout)}
    first = COMMON.count("\n") + 1
    verdicts = [first + number not in failed for number in range(len(lines()))]
    wanted = [*expected(), *(not ours for _, ours in DIFFERENT)]
    assert [line for line, a, b in zip(lines(), verdicts, wanted, strict=True) if a != b] == []
