"""What each construct asks, checked by hand: hypotheses and goal of every obligation, in program order."""

from __future__ import annotations

import pytest

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import CoreProgram, Obligation
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations import NoBody, obligations
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax.parse import parse_program

COMMON = """
function half(n: nat): nat { n / 2 }
function inv(x: real): real requires x != 0.0 { 1.0 / x }
function up(n: int): int decreases n { if n <= 0 then 0 else up(n - 1) + 1 }
predicate P(x: int) { x == x }
lemma Helper(x: int) requires x > 0 ensures P(x)
lemma Pick(x: int) returns (r: nat) ensures r > x
datatype Shape = Dot | Line(length: int)
"""


def resolved(source: str) -> CoreProgram:
    program = parse_program(COMMON + source)
    return resolve(program, [d.name for d in program.declarations])


def posed(source: str, target: str = "L") -> tuple[Obligation, ...]:
    return obligations(resolved(source), target)


def asked(source: str, target: str = "L") -> list[str]:
    return [
        f"{ObligationKind(o.kind).name}: {', '.join(map(show, o.hypotheses))} |- {show(o.goal)}"
        for o in posed(source, target)
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Terms
        ("lemma L(x: int, y: int) { var z := x / y; }", ["DIVISOR:  |- y != 0"]),
        ("lemma L(x: real, y: real) { var z := x / y; }", ["DIVISOR:  |- y != 0.0"]),
        ("lemma L(x: int) { var z := x % 2; }", []),
        ("lemma L(x: int) { var z := half(x); }", ["NATURAL:  |- 0 <= x"]),
        ("lemma L(n: nat) { var z := half(n + 1); }", ["NATURAL: 0 <= n |- 0 <= n + 1"]),
        ("lemma L(n: nat) { var z := half(half(n)); }", []),
        ("lemma L(x: real) { var z := inv(x); }", ["PRECONDITION:  |- x != 0.0"]),
        ("lemma L(x: real) { var z := x as int; }", ["INTEGRAL:  |- x.Floor as real == x"]),
        ("lemma L(s: seq<int>, i: int) { var z := s[i]; }", ["INDEX:  |- 0 <= i", "INDEX:  |- i < |s|"]),
        ("lemma L(s: seq<int>, i: nat) { var z := s[i]; }", ["INDEX: 0 <= i |- i < |s|"]),
        (
            "lemma L(s: seq<int>, i: int, j: int) { var z := s[i..j]; }",
            ["INDEX:  |- 0 <= i", "INDEX:  |- i <= j", "INDEX:  |- j <= |s|"],
        ),
        (
            "lemma L(n: int) { var z := seq(n, (i: int) requires i < 9 => i); }",
            ["LENGTH:  |- 0 <= n", "PRECONDITION: 0 <= i@, i@ < n |- i@ < 9"],
        ),
        ("lemma L(d: Shape) { var z := d.length; }", ["CONSTRUCTOR:  |- d.Line?"]),
        ("lemma L(x: int) { var z: nat := x; }", ["NATURAL:  |- 0 <= x"]),
        ("lemma L(s: set<int>) { var z: set<nat> := s; }", ["NATURAL:  |- forall x@0: int | x@0 in s :: 0 <= x@0"]),
        ("lemma L(f: int -> int) { var z: int -> nat := f; }", ["NATURAL:  |- forall x0@0: int :: 0 <= f(x0@0)"]),
        # What an operand may rely on
        ("lemma L(x: int, y: int) { var z := y != 0 && x / y == 1; }", ["DIVISOR: y != 0 |- y != 0"]),
        ("lemma L(x: int, y: int) { var z := y == 0 || x / y == 1; }", ["DIVISOR: y != 0 |- y != 0"]),
        ("lemma L(x: int, y: int) { var z := y > 0 ==> x / y == 1; }", ["DIVISOR: 0 < y |- y != 0"]),
        ("lemma L(x: int, y: int) { var z := x / y == 1 && y != 0; }", ["DIVISOR:  |- y != 0"]),
        (
            "lemma L(x: int, y: int) { var z := if y == 0 then x / y else y / x; }",
            ["DIVISOR: y == 0 |- y != 0", "DIVISOR: y != 0 |- x != 0"],
        ),
        ("lemma L(x: int) { var z := var y := x + 1; x / y; }", ["DIVISOR: y == x + 1 |- y != 0"]),
        (
            "lemma L(x: int) { var z := forall k: nat | k < x :: x / k == 1; }",
            ["DIVISOR: 0 <= k, k < x |- k != 0"],
        ),
        (
            "lemma L(x: int) { var z := set k: int | 0 < k < x && x / k == 1 :: half(k); }",
            ["DIVISOR: 0 < k, k < x |- k != 0", "NATURAL: 0 < k && k < x && x / k == 1 |- 0 <= k"],
        ),
        ("lemma L(x: int) { var z := (k: int) requires k > x => x / k; }", ["DIVISOR: x < k |- k != 0"]),
        (
            "lemma L(x: int) { var z := var k: int :| k > x; 1 / k; }",
            ["EXISTENCE:  |- exists k: int :: x < k", "DIVISOR: x < k |- k != 0"],
        ),
        # Statements
        ("lemma L(x: int) { assert x > 0; assert x > 1; }", ["ASSERTION:  |- 0 < x", "ASSERTION: 0 < x |- 1 < x"]),
        (
            "lemma L(x: int) { assert P(x) by { assert x == x; Helper(x); } assert x > 0; }",
            [
                "ASSERTION:  |- x == x",
                "PRECONDITION: x == x |- 0 < x",
                "ASSERTION: x == x, P(x) |- P(x)",
                "ASSERTION: P(x) |- 0 < x",
            ],
        ),
        (
            "lemma L(x: int) { assert x > 0 && P(x) && x > 1; }",
            ["ASSERTION:  |- 0 < x", "ASSERTION: 0 < x |- P(x)", "ASSERTION: 0 < x, P(x) |- 1 < x"],
        ),
        (
            "lemma L(x: int) { assert x > 0 <==> P(x); }",
            ["ASSERTION: 0 < x |- P(x)", "ASSERTION: P(x) |- 0 < x"],
        ),
        (
            "lemma L(x: int) { assert forall k: nat | k > x :: k > 1 ==> P(k); }",
            ["ASSERTION: 0 <= k, x < k, 1 < k |- P(k)"],
        ),
        (
            "lemma L(x: int) { calc { x; == { assert P(x); } x + 0; == 1 * x; } assert P(x); }",
            [
                "ASSERTION:  |- P(x)",
                "CALC_STEP: P(x) |- x == x + 0",
                "CALC_STEP:  |- x + 0 == 1 * x",
                "ASSERTION: x == 1 * x |- P(x)",
            ],
        ),
        (
            "lemma L(x: int) { calc { x > 1; ==> x > 0; ==> { Helper(x); } P(x); } }",
            [
                "CALC_STEP: 1 < x |- 0 < x",
                "PRECONDITION: 0 < x |- 0 < x",
                "CALC_STEP: 0 < x, P(x) |- P(x)",
            ],
        ),
        (
            "lemma L(x: int) { calc { 1; == { assert x > 0; } 1 / x; == 1 / x + 0; } }",
            [
                "ASSERTION:  |- 0 < x",
                "DIVISOR: 0 < x |- x != 0",
                "CALC_STEP: 0 < x |- 1 == 1 / x",
                "DIVISOR: x != 0 |- x != 0",
                "CALC_STEP: x != 0 |- 1 / x == 1 / x + 0",
            ],
        ),
        (
            "lemma L(x: int) { forall k: int | k > x ensures P(k) { assert x > 0; Helper(k); } assert P(9); }",
            [
                "ASSERTION: x < k |- 0 < x",
                "PRECONDITION: x < k, 0 < x |- 0 < k",
                "FORALL_ENSURES: x < k, 0 < x, P(k) |- P(k)",
                "ASSERTION: forall k: int | x < k :: P(k) |- P(9)",
            ],
        ),
        (
            "lemma L(x: int) { forall k: int | k > x { Helper(k); } assert P(9); }",
            ["PRECONDITION: x < k |- 0 < k", "ASSERTION: forall k: int | x < k :: P(k) |- P(9)"],
        ),
        (
            "lemma L(x: int) { if x > 0 { Helper(x); } else { assert x > 1; } assert P(x); }",
            [
                "PRECONDITION: 0 < x |- 0 < x",
                "ASSERTION: !(0 < x) |- 1 < x",
                "ASSERTION: 0 < x ==> P(x), !(0 < x) ==> 1 < x |- P(x)",
            ],
        ),
        (
            "lemma L(x: int) { if x > 0 { return; } assert P(x); }",
            ["ASSERTION: !(0 < x) |- P(x)"],
        ),
        (
            "lemma L(x: int) { if case x > 0 => assert x > 1; case x < 9 => assert x > 2; }",
            ["ASSERTION: 0 < x |- 1 < x", "ASSERTION: x < 9 |- 2 < x", "CASES:  |- 0 < x || x < 9"],
        ),
        (
            "lemma L(x: int) { if k: int :| k > x { assert P(k); } assert x > 0; }",
            ["ASSERTION: x < k |- P(k)", "ASSERTION: (exists k: int :: x < k) ==> x < k && P(k) |- 0 < x"],
        ),
        (
            "lemma L(d: Shape) { match d case Dot => case Line(n) => assert n > 0; }",
            ["CONSTRUCTOR: !d.Dot? |- d.Line?", "ASSERTION: !d.Dot?, n == d.length |- 0 < n"],
        ),
        (
            "lemma L(x: int) { var y: nat :| y > x; assert y > 0; }",
            ["EXISTENCE:  |- exists y: nat :: x < y", "ASSERTION: 0 <= y, x < y |- 0 < y"],
        ),
        (
            "lemma L(x: int) { var y := Pick(x); assert y > 0; }",
            ["ASSERTION: 0 <= y, x < y |- 0 < y"],
        ),
        (
            "lemma L(x: int) { var y := (Helper(x); 3); assert P(x); }",
            ["PRECONDITION:  |- 0 < x", "ASSERTION: P(x), y == 3 |- P(x)"],
        ),
        (
            "lemma L(x: int) { assert x > 0 ==> (Helper(x); P(x)); }",
            ["PRECONDITION: 0 < x |- 0 < x", "ASSERTION: 0 < x ==> P(x), 0 < x |- P(x)"],
        ),
        # Clauses
        (
            "lemma L(x: int) requires x > 1 ensures P(x) { Helper(x); }",
            ["PRECONDITION: 1 < x |- 0 < x", "POSTCONDITION: 1 < x, P(x) |- P(x)"],
        ),
        (
            "lemma L(x: int, y: int) requires x / y == 1 requires y > x ensures x > 0 ensures y > 0 { }",
            [
                "DIVISOR:  |- y != 0",
                "POSTCONDITION: x / y == 1, x < y |- 0 < x",
                "POSTCONDITION: x / y == 1, x < y, 0 < x |- 0 < y",
            ],
        ),
        (
            "lemma L(x: int) returns (r: nat) ensures r > x { if x > 0 { return x; } r := 3; }",
            [
                "NATURAL: 0 < x |- 0 <= x",
                "POSTCONDITION: 0 < x |- x < x",
                "POSTCONDITION: !(0 < x), 0 <= r#1, r#1 == 3 |- x < r#1",
            ],
        ),
    ],
)
def test_each_construct_asks_what_dafny_asks(source: str, expected: list[str]) -> None:
    assert asked(source) == expected


def test_results_of_arms_meet_in_one_variable() -> None:
    source = "lemma L(x: int) { var y := 0; if { case x >= 0 => y := 1; case x <= 0 => y := 2; } assert y == 1; }"
    [assertion, cases] = sorted(posed(source), key=lambda o: o.kind)
    assert cases.kind == ObligationKind.CASES
    # Either arm may run where both guards hold, so the two values must not be asserted together.
    assert show(assertion.hypotheses[-1]).count("||") == 1
    assert "==>" not in show(assertion.hypotheses[-1])


# Termination and induction


@pytest.mark.parametrize(
    ("source", "goal"),
    [
        ("lemma L(n: nat) { if n > 0 { L(n - 1); } }", "n - 1 < n"),
        ("lemma L(n: int) { if n > 0 { L(n - 1); } }", "0 <= n && n - 1 < n"),
        ("lemma L(n: int, m: int) decreases m { L(n, m - 1); }", "0 <= m && m - 1 < m"),
        ("lemma L(n: nat, m: nat) { L(n, m); }", "false"),
        ("lemma L(n: nat, m: nat) { L(m, n); }", "m < n || (m == n && n < m)"),
        ("lemma L(x: real) { L(x - 1.0); }", "0.0 <= x && x - 1.0 + 1.0 <= x"),
        ("lemma L(b: bool) { L(false); }", "!false && b"),
        ("lemma L(s: set<int>) { L(s - {0}); }", "s - {0} < s"),
        ("lemma L(s: seq<int>, n: nat) { L(s, 0); }", "0 < n"),
        ("lemma L(f: int -> int) { L(f); }", "false"),
        ("lemma L() { L(); }", "false"),
        ("lemma L(n: nat) { M(n, n); } lemma M(n: nat, m: nat) { L(n); }", None),
        ("lemma M(n: nat) { L(n, n); } lemma L(n: nat, m: nat) { M(n); }", "false"),
        ("lemma M(n: nat) { L(n as real); } lemma L(x: real) { M(0); }", "false"),
        (
            "datatype List = Nil | Cons(head: int, tail: List) lemma L(l: List, k: List) { L(k, l); }",
            "(l.Cons? && k == l.tail) || (k == l && k.Cons? && l == k.tail)",
        ),
    ],
)
def test_recursive_calls_must_decrease(source: str, goal: str | None) -> None:
    found = [o for o in posed(source) if o.kind == ObligationKind.TERMINATION]
    # None: nothing to ask, the callee's measure is the same with a component more.
    assert [show(o.goal) for o in found] == ([] if goal is None else [goal])


def test_calls_everywhere_must_decrease() -> None:
    body = """
      assert true by { L(1); }
      forall k: nat ensures true { L(2); }
      calc { 1; == { L(3); } 1; }
      if n > 0 { L(4); }
      assert (L(5); true);
      var z := var q := (L(6); 1); q;
    """
    found = [o for o in posed(f"lemma L(n: nat) {{ {body} }}") if o.kind == ObligationKind.TERMINATION]
    assert [show(o.goal) for o in found] == [f"{i} < n" for i in range(1, 7)]


@pytest.mark.parametrize(
    ("source", "hypotheses"),
    [
        ("lemma L(n: nat) ensures up(n) == n { }", ["0 <= n", "forall n#ih: nat | n#ih < n :: up(n#ih) == n#ih"]),
        (
            "lemma L(n: int, k: int) requires n > k ensures up(n + 0) == n { }",
            ["k < n", "forall n#ih: int | k < n#ih && 0 <= n#ih && n#ih < n :: "],
        ),
        ("lemma {:induction false} L(n: nat) ensures up(n) == n { }", ["0 <= n"]),
        ("lemma L(n: nat) returns (r: int) ensures up(n) == n { r := 0; }", ["0 <= n", "r#1 == 0"]),
        ("lemma L(n: nat) ensures up(|[n]|) == n { }", ["0 <= n"]),
        ("lemma L(n: nat) ensures half(n) == n { }", ["0 <= n"]),
        (
            "lemma L(n: nat, k: nat) ensures up(if k > 0 then 1 else n) == n { }",
            ["0 <= n", "0 <= k", "forall n#ih: nat | n#ih < n :: "],
        ),
        (
            "lemma {:induction k} L(n: nat, k: nat) ensures P(n + k) { }",
            ["0 <= n", "0 <= k", "forall k#ih: nat | k#ih < k :: P(n + k#ih)"],
        ),
        ("lemma L() ensures forall n: nat :: up(n) == n { }", ["0 <= n", "forall n#ih: nat | n#ih < n :: up(n#ih)"]),
        ("lemma L(k: int) ensures forall n: nat :: half(n) == n { }", ["0 <= n"]),
    ],
)
def test_induction_where_dafny_applies_it(source: str, hypotheses: list[str]) -> None:
    shown = [show(h) for h in posed(source)[-1].hypotheses]
    assert len(shown) == len(hypotheses)
    assert all(found.startswith(start) for found, start in zip(shown, hypotheses, strict=True))


# Functions


def test_a_function_meets_its_type_and_postconditions_on_each_way() -> None:
    source = "function f(x: int): nat ensures f(x) >= x { if x < 0 then -x else var y := x + 1; y }"
    assert asked(source, "f") == [
        "NATURAL: x < 0 |- 0 <= -x",
        "POSTCONDITION: x < 0, 0 <= result, result == -x, f(x) == -x |- x <= result",
        "NATURAL: !(x < 0), y == x + 1 |- 0 <= y",
        "POSTCONDITION: !(x < 0), y == x + 1, 0 <= result, result == y, f(x) == y |- x <= result",
    ]


def test_a_recursive_call_gives_its_promises_after_it_decreases() -> None:
    source = "function f(n: nat): nat ensures f(n) >= n { if n == 0 then 0 else f(n - 1) + 1 }"
    found = asked(source, "f")
    assert "TERMINATION: 0 <= n, n != 0 |- n - 1 < n" in found
    last = [f for f in found if f.startswith("POSTCONDITION")][-1]
    assert "n - 1 <= f(n - 1)" in last
    first = next(f for f in found if f.startswith("TERMINATION"))
    assert "<= f(n - 1)" not in first


def test_recursion_in_a_lambda_is_for_all_its_arguments() -> None:
    source = """
    function total(n: int, f: int -> int): int { if n <= 0 then 0 else total(n - 1, f) + f(n) }
    function f(n: nat): int { if n == 0 then 1 else total(n, (k: int) => f(0)) }
    function g(n: nat): int { if n == 0 then 1 else total(n, (k: int) => if k < 0 then 1 else g(k)) }
    """
    assert [f for f in asked(source, "f") if "TERM" in f] == ["TERMINATION: 0 <= n, n != 0 |- 0 < n"]
    assert [f for f in asked(source, "g") if "TERM" in f] == ["TERMINATION: 0 <= n, n != 0, !(k < 0) |- k < n"]


# Refusals


@pytest.mark.parametrize(
    "source",
    [
        "lemma L(f: int --> int) ensures f(0) == f(0) { }",
        "lemma L(f: nat -> int) { var g: int -> int := f; }",
        "lemma L(f: nat -> int, g: nat -> int) ensures f == g { }",
        "datatype Box = Box(n: nat) lemma L(b: Box) { }",
        "lemma L(s: iset<int>) decreases s { L(s + s); }",
    ],
)
def test_what_cannot_be_stated_is_refused(source: str) -> None:
    with pytest.raises(Unsupported):
        posed(source)


def test_a_recursive_function_is_no_value_of_itself() -> None:
    source = """
    function total(n: int, f: int -> int): int { if n <= 0 then 0 else total(n - 1, f) + f(n) }
    function f(n: int): int { if n <= 0 then 1 else total(n, f) }
    """
    with pytest.raises(Unsupported, match="inside its own recursion"):
        posed(source, "f")


def test_no_body_no_proof() -> None:
    with pytest.raises(NoBody, match="Helper has no body"):
        posed("", "Helper")


def test_a_trusted_declaration_may_not_depend_on_what_is_checked() -> None:
    program = parse_program("lemma L(n: nat) { M(n); } lemma M(n: nat) { L(n); }")
    with pytest.raises(Unsupported, match="depends on"):
        obligations(resolve(program, ["L"]), "L")


def test_places_and_texts_are_the_users() -> None:
    source = "lemma L(x: int)\n  ensures x > 0\n{\n  Helper(x - 1);\n}"
    precondition, postcondition = posed(source)
    line = COMMON.count("\n") + 1
    assert (precondition.at.line, precondition.text) == (line + 3, "0 < x - 1")
    assert precondition.related is not None
    assert precondition.related.line == 6
    assert postcondition.related is not None
    assert postcondition.related.line == line + 1
    assert postcondition.lemma == "L"


def test_long_bodies_stay_linear_and_end_in_a_refusal() -> None:
    arms = "".join(f"if x == {i} {{ assert P({i}); }} " for i in range(200))
    found = posed(f"lemma L(x: int) {{ {arms} assert P(x); }}")
    assert len(found) == 201
    assert len(found[-1].hypotheses) == 200
    with pytest.raises(Unsupported, match="this size"):
        posed("lemma L(x: int) { " + "assert P(x);" * 4000 + " }")
