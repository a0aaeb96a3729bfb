"""Core terms print as Dafny that reads back to the same term."""

import pytest

from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax.parse import parse_program

CONTEXT = """
datatype List = Nil | Cons(head: int, tail: List)
function f(n: int): int
lemma fact(n: int)
"""


def conclusion(text: str):
    params = (
        "x: int, y: int, n: nat, p: bool, q: bool, r: bool, a: real, s: set<int>, t: set<int>, u: iset<int>, "
        "w: seq<int>, z: seq<int>, l: List, g: int -> int, h: (int, real) --> bool, pair: (int, real)"
    )
    program = resolve(parse_program(f"{CONTEXT} lemma statement({params}) ensures {text}"))
    return program.lemmas["statement"].ensures[0]


@pytest.mark.parametrize(
    "text",
    [
        "x + y - (x - y) - 1 <= x * (y + 2) / 3 % 5",
        "-x * -(y + 1) == -(x * y)",
        "x - (y - x) == x * (y * x) + (x + y)",
        "p ==> q ==> r",
        "(p ==> q) ==> r",
        "(p <==> q) <==> r",
        "(p && q) || (r && !p) || x != y",
        "!(p && q)",
        "!(x < y)",
        "x !in s && x in u && x in w",
        "s <= t && s < t && s !! t",
        "s + t * s - (t - s) == {x, y} + {}",
        "u == iset{x} + u",
        "w + [x, y] == z[1..2] + z[0..x] && w <= z",
        "w[x := y][0] == |w| + |s|",
        "(if p then x else y) + 1 == if q then x else y",
        "forall k: int, m: nat | k in s :: k < m ==> exists j: real :: j == k as real",
        "(forall k: int :: f(k) == k) ==> g(x) == f(x)",
        "(set k: int | 0 <= k < x) == set m: int | m in s :: m * m",
        "(iset k: int | x < k) == u",
        "((k: int) => k + 1)(x) == g(y)",
        "h == ((k: int, m: real) requires k > 0 => m > 0.5)",
        "(var k := x + 1; k * k) > 0 && (var j: int :| j > x; j) > x",
        "(a + 1.25).Floor == a.Floor && (x as real) / a == -0.5 && (a * 2.0) as int == x",
        "l.Cons? && l.head == x && l.tail == Nil && Cons(x, l) != l",
        "pair.0 == x && pair == (x, a) && (x, y).1 == y",
        "seq(n, (k: int) => k) == w",
        "(assert x == x; fact(y); x) == y",
        "f == g",
    ],
)
def test_printed_terms_read_back_to_themselves(text):
    term = conclusion(text)
    assert conclusion(show(term)) == term


def test_numbers_are_exact():
    assert show(conclusion("a == 0.1")) == "a == 0.1"
    assert show(conclusion("a == 12.0")) == "a == 12.0"
    assert show(conclusion("a == 0.0625")) == "a == 0.0625"


def test_shadowed_variables_show_their_number():
    assert show(conclusion("forall x: int :: x >= y")) == "forall x#1: int :: y <= x#1"


def test_function_sorts_show_their_arrows():
    signature = resolve(parse_program("function k(f: (int -> real) -> int, g: (int, nat) --> bool): seq<iset<int>>"))
    params = signature.functions["k"].params
    assert [show_sort(param.sort) for param in params] == ["(int -> real) -> int", "(int, nat) --> bool"]
    assert show_sort(signature.functions["k"].result.sort) == "seq<iset<int>>"
