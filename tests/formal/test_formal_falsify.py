"""Counterexamples and models by exact evaluation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.embedded.core import CoreProgram, Obligation
from maxproof.formal.embedded.evaluate.evaluator import Budget
from maxproof.formal.embedded.falsify.search import (
    confirm,
    counter_conditions,
    decide,
    falsify,
    find_model,
    value_texts,
)
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import NOWHERE, Program
from maxproof.formal.syntax.parse import parse_program


def question(params: str, requires: str, ensures: str) -> tuple[Obligation, CoreProgram]:
    text = f"lemma probe({params}) requires {requires} ensures {ensures} {{}}"
    core = resolve(Program(prelude().definitions.declarations + parse_program(text).declarations))
    lemma = core.lemmas["probe"]
    return Obligation("assertion", NOWHERE, lemma.params, lemma.requires, lemma.ensures[0], ensures, "probe"), core


@pytest.mark.parametrize(
    ("params", "requires", "ensures", "expected"),
    [
        ("x: int, y: int", "x > y", "x * x > y * y", None),
        ("x: real", "2.0 * x + 3.0 == 7.0", "x == 3.0", {"x": "2.0"}),
        ("x: real, y: real", "x + y == 3.0 && x - y == 1.0", "x == y", {"x": "2.0", "y": "1.0"}),
        ("n: int", "n % 7 == 3 && n > 100", "n == 105", None),
        ("p: bool, q: bool", "p ==> q", "q ==> p", {"p": "false", "q": "true"}),
        ("s: set<int>", "1 in s", "|s| > 1", {"s": "{1}"}),
        ("z: complex", "cnormsq(z) == 1.0", "z == Complex(1.0, 0.0)", None),
        ("f: int -> int", "f(2) == 5", "f(3) == 5", None),
        ("t: (int, int)", "t.0 < t.1", "t.0 < 0", None),
        ("n: nat", "prime(n) && n > 2", "n % 4 == 1", {"n": "3"}),
        ("a: int, b: int", "a * b == 221 && 1 < a < b", "a == 17", {"a": "13", "b": "17"}),
        ("s: seq<int>", "|s| == 1", "s[0] == 0", {"s": "[1]"}),
    ],
)
def test_counterexamples_are_found_and_confirmed(
    params: str, requires: str, ensures: str, expected: dict[str, str] | None
) -> None:
    obligation, core = question(params, requires, ensures)
    values = falsify(obligation, core)
    assert values is not None
    assert confirm(counter_conditions(obligation), values, core)
    if expected is not None:
        assert value_texts(values) == expected


@pytest.mark.parametrize(
    ("params", "requires", "ensures"),
    [
        ("x: int", "0 <= x < 500 && x % 12 == 5", "x * x % 12 == 1"),
        ("x: int, y: int", "x * x + y * y == 25 && 0 < x < y", "x == 3 && y == 4"),
        ("a: nat, b: nat", "a + b == 20", "a * b <= 100"),
        ("x: real", "x in {1.0, 2.0, 3.0}", "x * x <= 9.0"),
        ("x: int", "x * x == 2", "false"),
        ("n: int", "n in divisors(60)", "60 % n == 0"),
        ("p: bool, q: bool", "p", "p || q"),
        ("s: set<int>", "s == divisors(12)", "|s| == 6"),
        ("f: int -> int, n: int", "0 < n < 5 && forall k: int :: f(k) == k * k + n", "f(f(n)) > f(n)"),
        (
            "s: set<int>",
            "(forall x: int :: x in s ==> 0 <= x) && forall n: nat :: n in s <==> divides(n, 36)",
            "set_isum(s, (k: int) => k) == 91",
        ),
        ("s: set<int>", "forall x: int :: x in s <==> 0 <= x < 10 && x % 3 == 0", "|s| == 4"),
    ],
)
def test_finite_questions_are_decided(params: str, requires: str, ensures: str) -> None:
    obligation, core = question(params, requires, ensures)
    settled = decide(obligation, core)
    assert settled.values is None
    assert settled.complete


@pytest.mark.parametrize(
    ("params", "requires", "ensures"),
    [
        ("x: int", "x > 0", "x * (x + 1) % 2 == 0"),
        ("x: real", "0.0 <= x <= 1.0", "x * x <= x"),
        ("x: int", "0 <= x < 5", "exp(x as real) > 0.5"),
        ("x: int", "0 <= x < 1000000000000", "x * (x + 1) % 2 == 0"),
        ("f: int -> int", "f(0) == 1 && f(1) > 0", "f(1) + f(0) > 1"),
        ("s: set<int>", "forall n: nat :: n in s <==> divides(n, 36)", "set_isum(s, (k: int) => k) == 91"),
    ],
)
def test_what_is_not_finite_or_computable_is_left_open(params: str, requires: str, ensures: str) -> None:
    obligation, core = question(params, requires, ensures)
    settled = decide(obligation, core)
    assert settled.values is None
    assert not settled.complete
    assert falsify(obligation, core) is None


def test_models_of_hypotheses() -> None:
    obligation, core = question("x: int, y: nat", "x * y == 12 && x < y && x > 1", "true")
    values = find_model(obligation.hypotheses, obligation.vars, core)
    assert values is not None
    assert confirm(obligation.hypotheses, values, core)
    obligation, core = question("x: int", "x > 3 && x < 4", "true")
    assert find_model(obligation.hypotheses, obligation.vars, core) is None


def test_a_variable_that_nothing_mentions_has_a_value() -> None:
    obligation, core = question("x: int, y: real", "x > 0", "x > 1")
    assert falsify(obligation, core) == {"x": 1, "y": 0}


def test_the_search_ends_with_its_budget() -> None:
    params = ", ".join(f"x{i}: int" for i in range(12))
    total = " + ".join(f"x{i} * x{i} * x{i}" for i in range(12))
    obligation, core = question(params, "true", f"{total} != 1000003")
    assert falsify(obligation, core, Budget(steps=20_000)) is None


@given(
    st.integers(-20, 20), st.integers(0, 30), st.integers(2, 6), st.integers(0, 5), st.integers(2, 6), st.integers(0, 5)
)
@settings(max_examples=60, deadline=None)
def test_decide_is_right_about_residues(low: int, size: int, m: int, r: int, k: int, q: int) -> None:
    obligation, core = question("x: int", f"{low} <= x < {low + size} && x % {m} == {r}", f"x % {k} == {q}")
    settled = decide(obligation, core)
    wrong = [x for x in range(low, low + size) if x % m == r and x % k != q]
    assert (settled.values is not None) == bool(wrong)
    assert settled.values is not None or settled.complete


RECURRENCES = [
    ("f: int -> int", "f(0) == 1 && forall n: nat :: f(n + 1) == 2 * f(n)", "f(100) == ipow(2, 100)"),
    ("f: int -> int", "f(19) == 94 && forall x: int :: f(x) + f(x - 1) == x * x", "f(94) % 1000 == 561"),
    ("f: int -> int", "f(10) == 0 && forall n: int :: f(n) == f(n - 1) + 3", "f(-5) == -45 && f(20) == 30"),
    (
        "t: int -> real",
        "t(1) == 20.0 && t(2) == 21.0 && forall n: nat :: n >= 3 ==>"
        " t(n) == rdiv(5.0 * t(n - 1) + 1.0, 25.0 * t(n - 2))",
        "rat_num(t(2020)) + rat_den(t(2020)) == 626",
    ),
    (
        "a: int -> int, b: int -> int",
        "a(0) == 1 && b(0) == 0 && forall n: nat :: a(n + 1) == a(n) + b(n) && b(n + 1) == a(n)",
        "a(30) == 1346269",
    ),
    ("f: int -> int", "f(0) == 0 && forall n: nat :: f(2 * n + 1) == f(n) + 1 && f(2 * n + 2) == f(n)", "f(255) == 8"),
    (
        "f: int -> int, c: int",
        "2 <= c <= 3 && f(0) == c && forall n: nat :: f(n + 1) == c * f(n)",
        "f(3) == ipow(c, 4)",
    ),
    ("f: int -> int", "f(0) == 1 && forall n: nat :: f(n + 1) == isum(0, n + 1, f)", "f(10) == 512"),
]


@pytest.mark.parametrize(("params", "requires", "ensures"), RECURRENCES)
def test_values_that_follow_from_recurrences(params: str, requires: str, ensures: str) -> None:
    obligation, core = question(params, requires, ensures)
    assert decide(obligation, core).complete
    obligation, core = question(params, requires, f"!({ensures})")
    assert not decide(obligation, core).complete


@pytest.mark.parametrize(
    ("params", "requires", "ensures"),
    [
        ("f: int -> int", "f(0) == 1 && forall n: nat :: f(n + 1) == 2 * f(n)", "f(-1) == 0"),
        ("f: int -> int", "forall n: nat :: f(n + 1) == 2 * f(n)", "f(1) != 1"),
        ("f: int -> int", "f(0) == 1 && forall n: nat :: f(n) * f(n + 1) == f(n)", "f(0) == 2"),
        ("f: int -> int", "f(1) == 1 && forall n: nat :: n > 3 ==> f(n + 1) == f(n)", "f(9) == 1"),
        ("f: int -> int", "f(0) == 0 && forall n: nat :: f(n + 1) * f(n + 1) == 4", "f(1) == 2"),
        ("f: int -> int", "f(0) == 0 && forall n: nat :: f(n + 1) * f(n) == 0", "f(1) == 0"),
        ("f: int -> int", "f(0) == 0 && forall n: nat :: f(f(n)) == n", "f(1) == 0"),
        ("f: int -> int", "f(0) == 1 && forall n: nat :: f(n + 1) == f(n) || f(n + 1) == 0", "f(5) == 1"),
    ],
)
def test_what_recurrences_leave_open(params: str, requires: str, ensures: str) -> None:
    obligation, core = question(params, requires, ensures)
    assert not decide(obligation, core).complete
