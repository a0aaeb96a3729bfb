"""Exact evaluation of core terms, and its natives against the prelude's definitions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.embedded.core import CoreProgram, Term
from maxproof.formal.embedded.evaluate.evaluator import (
    Budget,
    Evaluator,
    NotComputable,
    OutOfBudget,
    Undefined,
    evaluate,
)
from maxproof.formal.embedded.evaluate.natives import NATIVES
from maxproof.formal.embedded.evaluate.roots import floor_of_root
from maxproof.formal.embedded.evaluate.values import Data, table, value_term, value_text
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Program
from maxproof.formal.syntax.parse import parse_program

PRELUDE = resolve(prelude().definitions)


def parsed(sort: str, text: str, params: str = "", more: str = "") -> tuple[Term, CoreProgram]:
    own = parse_program(f"{more}\nfunction probe({params}): {sort} {{ {text} }}").declarations
    core = resolve(Program(prelude().definitions.declarations + own))
    body = core.functions["probe"].body
    assert body is not None
    return body, core


def value(sort: str, text: str, params: str = "", more: str = "", **env: Any) -> Any:
    term, core = parsed(sort, text, params, more)
    return evaluate(term, core, env)


@pytest.mark.parametrize(
    ("sort", "text", "expected"),
    [
        ("int", "7 / -2", -3),
        ("int", "-7 / 2", -4),
        ("int", "-7 / -2", 4),
        ("int", "7 % -2", 1),
        ("int", "-7 % 2", 1),
        ("real", "1.0 / 3.0 + 0.5", Fraction(5, 6)),
        ("int", "(-3.5).Floor", -4),
        ("int", "4.0 as int", 4),
        ("bool", "1 < 2 <= 2 && !(3 < 3)", True),
        ("bool", "false ==> 1 / 0 == 1", True),
        ("bool", "true || 1 / 0 == 1", True),
        ("int", "if 1 < 2 then 5 else 1 / 0", 5),
        ("bool", "{1, 2} <= {2, 1, 3} && {1} < {1, 2} && {1} !! {2}", True),
        ("set<int>", "({1, 2} + {3} - {2}) * {1, 3, 4}", frozenset({1, 3})),
        ("int", "|{1, 1, 2}|", 2),
        ("seq<int>", "([1, 2, 3] + [4])[1..3]", (2, 3)),
        ("seq<int>", "[1, 2, 3][1 := 9]", (1, 9, 3)),
        ("seq<int>", "seq(4, (i: int) => i * i)", (0, 1, 4, 9)),
        ("bool", "[1] <= [1, 2] && 2 in [1, 2] && 3 !in [1, 2]", True),
        ("(int, bool)", "(3, true)", (3, True)),
        ("int", "(3, 4).1", 4),
        ("real", "Complex(1.0, 2.0).im", Fraction(2)),
        ("int", "var x := 3; var y := x + 1; x * y", 12),
        ("bool", "forall n: nat | n < 50 :: n * n % 4 < 2", True),
        ("bool", "forall n: int :: 3 <= n < 20 && n % 2 == 0 ==> n != 7", True),
        ("bool", "exists x: int, y: int :: x > 0 && y > 0 && x * x + y * y == 25", True),
        ("bool", "exists x: int :: x * x == 26", False),
        ("bool", "exists p: bool :: !p", True),
        ("set<int>", "set n: int | 0 <= n < 10 && n % 3 == 0 :: n + 1", frozenset({1, 4, 7, 10})),
        ("iset<int>", "iset n: nat | n * n < 20", frozenset(range(5))),
        ("iset<int>", "iset d: int | divides(d, 6) && d > 0", frozenset({1, 2, 3, 6})),
        ("iset<(int, int)>", "iset a: nat, b: nat | a + 2 * b == 4 :: (a, b)", frozenset({(4, 0), (2, 1), (0, 2)})),
        ("bool", "7 in (iset n: int | n % 2 == 1)", True),
        ("bool", "-7 in (iset n: nat | n % 2 == 1)", False),
        ("int", "ipow(7, 3)", 343),
        ("int", "ipow(7, 1000000000000) % 10", 1),
        ("int", "isum(1, 101, (k: int) => k)", 5050),
        ("int", "factorial(10)", 3628800),
        ("bool", "prime(97) && !prime(91) && !prime(1) && !prime(-7)", True),
        ("set<int>", "divisors(12)", frozenset({1, 2, 3, 4, 6, 12})),
        ("seq<int>", "digits(10, 1205)", (5, 0, 2, 1)),
        ("int", "set_isum(divisors(28), (d: int) => d)", 56),
        ("real", "rset_rprod({0.5, 4.0}, (x: real) => x)", Fraction(2)),
        ("real", "sqrt(2.25)", Fraction(3, 2)),
        ("real", "sqrt(-4.0)", Fraction(0)),
        ("real", "rpow(27.0, 2.0 / 3.0)", Fraction(9)),
        ("real", "rpow(-2.0, 3.0)", Fraction(-8)),
        ("real", "rpow(0.0, 0.0)", Fraction(1)),
        ("real", "logb(8.0, 0.25)", Fraction(-2, 3)),
        ("real", "logb(1.0, 5.0)", Fraction(0)),
        ("bool", "sqrt(2.0) < 1.5 && 1.4 < sqrt(2.0) && sqrt(2.0) != 1.41", True),
        ("bool", "-sqrt(5.0) <= -2.0 && 2.0 * sqrt(3.0) == sqrt(12.0) && 1.0 / sqrt(2.0) == sqrt(2.0) / 2.0", True),
        ("bool", "sqrt(-1.0) == 0.0 && rdiv(1.0, sqrt(-1.0)) < 1.0 && sqrt(3.0) > sqrt(2.0)", True),
        ("bool", "(-sqrt(2.0)) * (-sqrt(2.0)) == 2.0", True),
        ("int", "isum(1, 17, (k: int) => floor(sqrt(k as real)))", 38),
        ("int", "100 * sqrt(10.0).Floor + 10 * ceil(sqrt(10.0)) - floor(-sqrt(10.0)) + ceil(-sqrt(9.0))", 341),
        ("set<int>", "set n: nat | n < 100 && 2.0 < sqrt(n as real) < 3.5", frozenset(range(5, 13))),
        ("iset<int>", "iset n: nat | sqrt(n as real) < 2.0", frozenset(range(4))),
        ("int", "rat_num(-6.0 / 4.0) * 10 + rat_den(-6.0 / 4.0)", -28),
        ("complex", "cpow(Complex(0.0, 1.0), 3)", Data("Complex", (Fraction(0), Fraction(-1)))),
        ("real", "cabs(Complex(3.0, -4.0))", Fraction(5)),
    ],
)
def test_value(sort: str, text: str, expected: Any) -> None:
    found = value(sort, text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        ("int", "1 / 0"),
        ("real", "1.0 / 0.0"),
        ("int", "1 % (2 - 2)"),
        ("int", "[1, 2][2]"),
        ("int", "2.5 as int"),
        ("bool", "1 / 0 == 1 && false"),
        ("int", "var x: int :| x < 0 && x > 0; x"),
        ("seq<int>", "[1][1..3]"),
    ],
)
def test_undefined(sort: str, text: str) -> None:
    with pytest.raises(Undefined):
        value(sort, text)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        ("real", "sqrt(2.0)"),
        ("real", "pi()"),
        ("real", "log(2.0)"),
        ("real", "exp(1.0)"),
        ("real", "rpow(2.0, 0.5)"),
        ("bool", "forall n: int :: n < 5 ==> n < 6"),
        ("bool", "forall x: real :: 0.0 <= x <= 1.0 ==> x < 2.0"),
        ("int", "var x: int :| 0 <= x < 2; x"),
        ("bool", "((k: int) => k) == ((k: int) => k)"),
        ("int", "if exists n: nat :: n > 5 && prime(n) then 1 else 0"),
    ],
)
def test_not_computable(sort: str, text: str) -> None:
    with pytest.raises(NotComputable):
        value(sort, text)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        ("int", "ipow(9, ipow(9, 9))"),
        ("int", "factorial(1000000)"),
        ("int", "choose(ipow(10, 9), ipow(10, 8))"),
        ("int", "isum(0, ipow(10, 15), (k: int) => k)"),
        ("bool", "forall n: int :: 0 <= n < ipow(10, 15) ==> n >= 0"),
        ("set<int>", "set n: int | 0 <= n < ipow(10, 12)"),
        ("seq<int>", "seq(ipow(10, 12), (i: int) => i)"),
        ("bool", "prime(ipow(2, 127) - 1)"),
        ("seq<int>", "digits(1, ipow(10, 12))"),
        ("real", "zpow(1.5, ipow(10, 9))"),
        ("bool", "forall a: int, b: int, c: int :: 0 <= a < 999 && 0 <= b < 999 && 0 <= c < 999 ==> a + b + c >= 0"),
    ],
)
def test_hostile_sizes_are_refused(sort: str, text: str) -> None:
    with pytest.raises(OutOfBudget):
        value(sort, text)


def test_one_decisive_operand_decides_though_another_has_no_value() -> None:
    assert value("bool", "sqrt(2.0) > 1.0 && 1 > 2") is False
    assert value("bool", "sqrt(2.0) > 1.0 || 1 < 2") is True
    assert value("bool", "forall n: int :: 0 <= n < 3 ==> n != 2 && sqrt(2.0) > 1.0") is False


def test_free_variables_and_tables() -> None:
    assert value("int", "x * x + f(x)", "x: int, f: int -> int", x=3, f=table({(3,): 5}, 0)) == 14
    with pytest.raises(NotComputable):
        value("int", "x", "x: int")


def test_declared_functions_are_run_by_their_bodies() -> None:
    fib = "function fib(n: nat): nat { if n < 2 then n else fib(n - 1) + fib(n - 2) }"
    assert value("nat", "fib(80)", more=fib) == 23416728348467685
    with pytest.raises(OutOfBudget):
        value("nat", "fib(100000)", more=fib)
    with pytest.raises(OutOfBudget):
        value("int", "loop(1)", more="function loop(n: int): int { loop(n) }")
    with pytest.raises(Undefined):
        value("int", "half(3)", more="function half(n: int): int requires n % 2 == 0 { n / 2 }")


def test_a_lambda_keeps_the_values_it_was_made_with() -> None:
    adder = "function apply_to(f: int -> int, x: int): int { f(x) }"
    assert (
        value("int", "isum(0, 3, (i: int) => isum(0, 3, (j: int) => apply_to((k: int) => i * k, j)))", more=adder) == 9
    )


def test_a_function_with_a_native_name_is_not_taken_for_the_preludes() -> None:
    own = parse_program("function gcd(a: int, b: int): int { 7 }\nfunction probe(): int { gcd(2, 4) }")
    core = resolve(own)
    body = core.functions["probe"].body
    assert body is not None
    assert not Evaluator(core).native("gcd")
    assert evaluate(body, core) == 7


def test_every_native_is_a_function_of_the_prelude() -> None:
    evaluator = Evaluator(PRELUDE)
    assert [name for name in NATIVES if not evaluator.native(name)] == []


def test_budget_is_for_each_evaluation() -> None:
    term, core = parsed("int", "isum(0, 100, (k: int) => k)")
    expression = Evaluator(core).expression(term, ())
    for _ in range(3):
        assert expression.value((), Budget(steps=2000)) == 4950
    with pytest.raises(OutOfBudget):
        expression.value((), Budget(steps=50))


INTS = st.integers(-6, 9)
REALS = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 4))
COMPLEX = st.builds(lambda a, b: Data("Complex", (a, b)), REALS, REALS)
SEQS = st.lists(st.integers(0, 9), max_size=4).map(tuple)
BY_SORT = {"int": INTS, "nat": st.integers(0, 9), "real": REALS, "complex": COMPLEX, "seq<int>": SEQS}
DEFINED = {  # natives whose definitions evaluation can run
    **dict.fromkeys(("iabs", "even", "odd", "prime", "factorial", "divisors"), ("int",)),
    **dict.fromkeys(("imin", "imax", "idiv", "imod", "monus", "ipow", "divides"), ("int", "int")),
    **dict.fromkeys(("gcd", "lcm", "coprime", "choose", "digits"), ("int", "int")),
    "of_digits": ("int", "seq<int>"),
    "seq_isum": ("seq<int>",),
    **dict.fromkeys(("rabs", "floor", "ceil"), ("real",)),
    **dict.fromkeys(("rmin", "rmax", "rdiv"), ("real", "real")),
    **dict.fromkeys(("pow", "zpow"), ("real", "int")),
    **dict.fromkeys(("cadd", "csub", "cmul"), ("complex", "complex")),
    "cnormsq": ("complex",),
    "cpow": ("complex", "int"),
}


@pytest.mark.parametrize("name", sorted(DEFINED))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_native_is_the_definition(name: str, data: st.DataObject) -> None:
    native, defined = Evaluator(PRELUDE), Evaluator(PRELUDE, native=False)
    args = tuple(data.draw(BY_SORT[sort]) for sort in DEFINED[name])
    native.start(Budget())
    defined.start(Budget())
    assert native.call(name)(args) == defined.call(name)(args)


@pytest.mark.parametrize(
    ("name", "sort", "term"),
    [
        ("isum", "int", "k * k - 3"),
        ("iprod", "int", "k * k - 3"),
        ("rsum", "real", "(k as real) / 2.0"),
        ("rprod", "real", "(k as real) / 2.0"),
        ("csum", "complex", "Complex(k as real, 1.0)"),
    ],
)
@given(low=INTS, high=INTS)
@settings(max_examples=25, deadline=None)
def test_native_sums_are_the_definition(name: str, sort: str, term: str, low: int, high: int) -> None:
    body, core = parsed(sort, f"{name}(lo, hi, (k: int) => {term})", "lo: int, hi: int")
    results = [
        Evaluator(core, native=native).expression(body, ("lo", "hi")).value((low, high)) for native in (True, False)
    ]
    assert results[0] == results[1]


@given(st.sets(INTS, max_size=1))
def test_native_sums_over_sets_are_the_definition_where_it_has_one_order(items: set[int]) -> None:
    body, core = parsed("int", "set_isum(s, (k: int) => k * k) + set_iprod(s, (k: int) => k - 2)", "s: set<int>")
    results = [
        Evaluator(core, native=native).expression(body, ("s",)).value((frozenset(items),)) for native in (True, False)
    ]
    assert results[0] == results[1]


@given(st.fractions(max_denominator=50), st.fractions(max_denominator=50), INTS.filter(bool))
def test_roots_and_logarithms_invert_powers(x: Fraction, base: Fraction, exponent: int) -> None:
    x, base = abs(x), abs(base)
    meter = Evaluator(PRELUDE).meter
    assert NATIVES["sqrt"](meter, x * x) == x
    if base not in (0, 1):
        assert NATIVES["logb"](meter, base, base**exponent) == exponent
    if x:
        assert NATIVES["rpow"](meter, x ** abs(exponent), Fraction(1, exponent)) == (x if exponent > 0 else 1 / x)


@given(st.fractions(-30, 30, max_denominator=6))
def test_floor_of_a_root(square: Fraction) -> None:
    floor = floor_of_root(square)
    assert floor * abs(floor) <= square < (floor + 1) * abs(floor + 1)


@given(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.integers(-6, 12),
    st.integers(1, 3),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_roots_are_compared_exactly(op: str, bound: int, factor: int, negative: bool) -> None:
    sign = "-" if negative else ""
    found = value(
        "set<int>", f"set n: int | -3 <= n <= 40 && {sign}({factor}.0 * sqrt(n as real)) {op} {bound}.0 / 2.0"
    )

    def compared(n: int) -> int:
        """The sign of the left side minus the right one, from their squares."""
        left, right = (-1 if negative else 1) * 4 * factor**2 * max(n, 0), bound * abs(bound)
        return (left > right) - (left < right)

    holds = {"<": [-1], "<=": [-1, 0], ">": [1], ">=": [0, 1], "==": [0], "!=": [-1, 1]}[op]
    assert found == {n for n in range(-3, 41) if compared(n) in holds}


def test_values_are_told_as_dafny() -> None:
    assert value_text(Fraction(-5, 4)) == "-1.25"
    assert value_text(Fraction(1, 3)) == "(1.0 / 3.0)"
    assert value_text(frozenset({Fraction(2), Fraction(1)})) == "{1.0, 2.0}"
    assert value_text(Data("Complex", (Fraction(0), Fraction(1)))) == "Complex(0.0, 1.0)"
    assert value_text(table({(1,): 5}, 0)) == "(x0) => if x0 == 1 then 5 else 0"
    term, core = parsed("set<(int, real)>", "{(2, 0.5), (1, 3.0)}")
    found = evaluate(term, core)
    assert evaluate(value_term(found, term.sort, core), core) == found
