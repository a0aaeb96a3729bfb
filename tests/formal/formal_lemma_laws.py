"""Laws that hold for all values, as trees, and what is done with trees.

A law is written as a Python expression: `imp`, `let`, `fun`, `forall`, `exists`, `comprehension` bind or connect; other
calls are operators or functions of `formal_lemmas`.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import cache
from typing import Any

from formal_lemmas import FUNCTIONS, Tree

# a, b, c, d: int; n: nat; x, y: real; p, q: bool; s, t: set<int>; u, v: seq<int>; w: (int, int); f: int -> int.
LAWS = """
(a + b) * c == a * c + b * c
a * a >= 0
a * a + b * b >= 2 * a * b
a % 3 < 3
a % -5 >= 0
a / 4 * 4 + a % 4 == a
imp(b != 0, a / b * b + a % b == a)
imp(b > 0, a / b <= a or a < 0)
imp(a % 2 == b % 2, (a + b) % 2 == 0)
a * (a + 1) % 2 == 0
a * a % 4 == 0 or a * a % 8 == 1
imp(a % 3 == 1, a * a % 3 == 1)
imp(a * b == 6 and a > b and b > 0, a == 6 or a == 3)
imp(a * a == 49, a == 7 or a == -7)
imp(0 <= a and a < 10 and a % 5 == 3, a == 3 or a == 8)
imp(a < b, a + 1 <= b)
n >= 0 and n * n >= n
n % 7 <= n
(a if a > b else b) >= a
let(d, a * 2, d % 2 == 0)
let(a, a + 1, a * a >= 0)
imp(p and (p <= q), q)
not (p and q) == (not p or not q)
imp(p, q or p)
x * x >= 0.0
imp(x > 0.0 and y > 0.0, x * y > 0.0)
imp(x + y == 3.0 and x - y == 1.0, x == 2.0)
imp(y != 0.0, x / y * y == x)
x * y <= (x * x + y * y) / 2.0
floor(x) <= a or real(floor(x)) > real(a)
real(floor(x)) <= x
x < real(floor(x)) + 1.0
floor(real(a)) == a
floor(-x) == -ceil(x)
integer(real(a) * 2.0) == 2 * a
real(a) + real(b) == real(a + b)
imp(a < b, real(a) < real(b))
rabs(x) >= x and rabs(x) >= -x
rdiv(x, 0.0) == 0.0
pow(x, 2) == x * x
imp(x >= 0.0, sqrt(x) * sqrt(x) == x)
sqrt(4.0) == 2.0
is_rational(x) or x > 0.0
a in s + {a}
imp(a in s and a in t, a in s * t)
s * t <= s and s <= s + t
s - t <= s
disjoint(s - t, t)
card(s) >= 0 and card({a, b}) <= 2
card({a, b}) == (1 if a == b else 2)
imp(s <= t and t <= s, s == t)
(s + t) * s == s
imp(a in s, s != {0} - {0})
card(comprehension(k, 0, 5, k % 2 == 0)) == 3
comprehension(k, 0, 4, k > 1) == {2, 3}
imp(a in comprehension(k, 0, 9, k % 4 == 1), a % 4 == 1)
card(u + v) == card(u) + card(v)
imp(card(u) > 0, (u + v)[0] == u[0])
(u + v)[0:card(u)] == u
imp(card(u) > 2, u[1:][1] == u[2])
imp(0 <= a and a < card(u), update(u, a, b)[a] == b)
imp(card(u) == 2, u == [u[0], u[1]])
imp(a in u, card(u) > 0)
[a, b][1] == b
tuple(a, b) == tuple(a, b)
first(w) + second(w) == second(w) + first(w)
imp(w == tuple(a, b), first(w) == a)
f(a) == f(a + 0)
imp(forall(k, int, f(k) == 2 * k + 1), f(f(a)) == 4 * a + 3)
imp(forall(k, int, f(k) > k), f(f(a)) > a)
imp(forall(k, nat, f(k) == k), f(n) == n)
apply(fun(k, k * k), a) >= 0
apply(fun(k, k + b), a) == a + b
forall(k, int, 0, 5, k * k < 17)
exists(k, int, 0, 5, k * k == 9)
exists(k, int, k > a)
exists(k, int, k * 2 == a or k * 2 == a + 1)
forall(k, int, exists(m, int, m > k and m > a))
forall(k, int, imp(k > a, k >= a + 1))
forall(k, nat, k + 1 > 0)
not exists(k, int, k > a and k < a + 1)
imp(forall(k, int, imp(k in s, k > 0)), 0 not_in s)
imp(exists(k, int, k in s and k > 3), s != {0} - {0})
forall(k, real, k * k + 1.0 > 0.0)
iabs(a) >= a and iabs(a) == iabs(-a)
imin(a, b) + imax(a, b) == a + b
idiv(a, 0) == 0 and imod(a, 0) == a
imp(b != 0, idiv(a, b) == a / b)
monus(a, b) >= a - b
imp(b <= a, monus(a, b) == a - b)
ipow(a, 2) == a * a
ipow(2, 5) == 32
ipow(a, -1) == 1 and ipow(0, 0) == 1
imp(n > 0, ipow(a, n) == a * ipow(a, n - 1))
even(a) or odd(a)
even(a) == (not odd(a))
imp(even(a) and odd(b), odd(a + b))
divides(a, a * b)
imp(divides(2, a), even(a))
divides(0, 0) and not divides(0, 5)
gcd(12, 18) == 6 and gcd(0, 0) == 0
gcd(a, 0) == iabs(a)
lcm(4, 6) == 12 and lcm(0, 3) == 0
prime(7) and not prime(1) and not prime(9)
imp(prime(n), n >= 2)
factorial(4) == 24 and factorial(-2) == 1
factorial(n) > 0
choose(5, 2) == 10 and choose(2, 5) == 0
divisors(6) == {1, 2, 3, 6}
imp(a in divisors(12), 12 % a == 0)
card(divisors(16)) == 5
digits(10, 120) == [0, 2, 1]
digits(2, -3) == digits(2, 0)
seq_isum([a, b]) == a + b
isum(0, 3, f) == f(0) + f(1) + f(2)
isum(2, 1, f) == 0 and iprod(3, 3, f) == 1
isum(0, n, fun(k, 1)) == n
iprod(1, 4, fun(k, k)) == 6
set_isum({1, 2, 2}, fun(k, k)) == 3
imp(a != b, set_isum({a, b}, f) == f(a) + f(b))
up(4) == 10 and up(-3) == 0
imp(n > 0, up(n) == n + up(n - 1))
2 * up(n) == n * (n + 1)
fib(10) == 55
fib(n + 2) == fib(n + 1) + fib(n)
fib(n) <= fib(n + 1)
"""
SORTS = {
    **dict.fromkeys("abcd", "int"),
    "n": "nat",
    **dict.fromkeys("xy", "real"),
    **dict.fromkeys("pq", "bool"),
    **dict.fromkeys("st", "set<int>"),
    **dict.fromkeys("uv", "seq<int>"),
    "w": "(int, int)",
    "f": "int -> int",
}
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"}
COMPARED = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "!in",
}


@cache
def laws() -> tuple[Tree, ...]:
    lines = LAWS.strip().replace("not_in", "not in").splitlines()
    return tuple(_tree(ast.parse(line, mode="eval").body) for line in lines)


def _tree(e: ast.expr) -> Tree:
    match e:
        case ast.Constant(value=v):
            return ("lit", Fraction(str(v)) if isinstance(v, float) else v)
        case ast.Name(id=name):
            return ("var", name)
        case ast.BinOp(left=x, op=op, right=y):
            return (ARITHMETIC[type(op)], _tree(x), _tree(y))
        case ast.UnaryOp(op=op, operand=x):
            return ("!" if isinstance(op, ast.Not) else "neg", _tree(x))
        case ast.BoolOp(op=op, values=parts):
            whole = _tree(parts[0])
            for other in parts[1:]:
                whole = ("&&" if isinstance(op, ast.And) else "||", whole, _tree(other))
            return whole
        case ast.Compare(left=x, ops=[op], comparators=[y]):
            left, right = _tree(x), _tree(y)
            if left[0] in ("!", "&&", "||") or left == ("var", "p"):
                return ("<==>" if isinstance(op, ast.Eq) else "==>", left, right)
            return (COMPARED[type(op)], left, right)
        case ast.IfExp(test=p, body=x, orelse=y):
            return ("ite", _tree(p), _tree(x), _tree(y))
        case ast.Set(elts=items):
            return ("set", *map(_tree, items))
        case ast.List(elts=items):
            return ("seq", *map(_tree, items))
        case ast.Subscript(value=s, slice=ast.Slice(lower=low, upper=high)):
            whole = _tree(s)
            return ("slice", whole, _tree(low) if low else ("lit", 0), _tree(high) if high else ("card", whole))
        case ast.Subscript(value=s, slice=i):
            return ("at", _tree(s), _tree(i))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args)
    raise ValueError(ast.dump(e))


def _call(name: str, args: list[ast.expr]) -> Tree:
    match name, args:
        case "imp", [p, q]:
            return ("==>", _tree(p), _tree(q))
        case "let", [ast.Name(id=v), x, body]:
            return ("let", v, _tree(x), _tree(body))
        case "fun", [ast.Name(id=v), body]:
            return ("lambda", v, _tree(body))
        case "comprehension", [ast.Name(id=v), low, high, body]:
            return ("comprehension", v, _tree(low), _tree(high), _tree(body))
        case (("forall" | "exists"), [ast.Name(id=v), ast.Name(id=sort), *limits, body]):
            return (name, v, sort, tuple(map(_tree, limits)) or None, _tree(body))
        case "f", [x]:
            return ("apply", ("var", "f"), _tree(x))
        case "disjoint", [x, y]:
            return ("!!", _tree(x), _tree(y))
    parts = tuple(map(_tree, args))
    return ("call", name, *parts) if name in FUNCTIONS else (name, *parts)


# --- Trees -----------------------------------------------------------------------------------------------------------


def positions(tree: Any, place: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    found = [place] if isinstance(tree, tuple) and tree and isinstance(tree[0], str) else []
    if isinstance(tree, tuple):
        for i, part in enumerate(tree):
            found += positions(part, (*place, i))
    return found


def at(tree: Any, place: tuple[int, ...]) -> Any:
    for i in place:
        tree = tree[i]
    return tree


def put(tree: Any, place: tuple[int, ...], new: Tree) -> Any:
    if not place:
        return new
    return (*tree[: place[0]], put(tree[place[0]], place[1:], new), *tree[place[0] + 1 :])


def free(tree: Any) -> set[str]:
    """Variables that `tree` uses and doesn't bind."""
    match tree:
        case ("var", name):
            return {name}
        case ("lit", _):
            return set()
        case ("let", name, x, body):
            return free(x) | (free(body) - {name})
        case ("lambda", name, body):
            return free(body) - {name}
        case (("forall" | "exists"), name, _, limits, body):
            return free(limits) | (free(body) - {name})
        case ("comprehension", name, low, high, body):
            return free(low) | free(high) | (free(body) - {name})
        case tuple():
            return set().union(*map(free, tree))
    return set()


def renamed(tree: Any, names: dict[str, str]) -> Any:
    match tree:
        case ("var", name):
            return ("var", names.get(name, name))
        case ("lit", _):
            return tree
        case (("let" | "lambda" | "forall" | "exists" | "comprehension") as op, name, *rest):
            inner = {old: new for old, new in names.items() if old != name and new != name}
            return (op, name, *(renamed(part, inner) for part in rest))
        case tuple():
            return tuple(renamed(part, names) for part in tree)
    return tree
