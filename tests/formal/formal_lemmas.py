"""Dafny expressions with a meaning of their own: trees that print as Dafny and run in Python.

Nothing here uses the checkers or their evaluator.

Trees are tuples, `(operator, *parts)`. A truth value may be unknown (an unbounded quantifier that no tried value
decides): then `Unknown` is raised, and what follows says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Tree = tuple[Any, ...]
Env = dict[str, Any]

TRIED = {"int": range(-4, 6), "nat": range(7), "bool": (False, True)}
TRIED_REALS = [Fraction(n, 2) for n in (-5, -2, -1, 0, 1, 2, 3, 8)]
RELATIONS = ("==", "!=", "<", "<=", ">", ">=")


class Undefined(Exception):
    """An operation outside its domain."""


class Unknown(Exception):
    """What was tried doesn't decide it."""


class Fault(Exception):
    """A claim that is false, or a call that doesn't get smaller."""


# --- Values ----------------------------------------------------------------------------------------------------------


def quotient(x: Any, y: Any) -> Any:
    if y == 0:
        raise Undefined("division by zero")
    if isinstance(x, Fraction):
        return x / y
    return x // y if y > 0 else -(x // -y)


def remainder(x: int, y: int) -> int:
    return x - quotient(x, y) * y


def whole(x: Fraction) -> int:
    if x.denominator != 1:
        raise Undefined("not a whole number")
    return x.numerator


def item(s: tuple[Any, ...], i: int) -> Any:
    if not 0 <= i < len(s):
        raise Undefined("index out of range")
    return s[i]


def part(s: tuple[Any, ...], low: int, high: int) -> tuple[Any, ...]:
    if not 0 <= low <= high <= len(s):
        raise Undefined("slice out of range")
    return s[low:high]


def updated(s: tuple[Any, ...], i: int, x: Any) -> tuple[Any, ...]:
    item(s, i)
    return (*s[:i], x, *s[i + 1 :])


def power(b: Any, e: int) -> Any:
    if e > 64:
        raise Unknown
    return b ** max(e, 0)


def root(x: Fraction) -> Fraction:
    if x <= 0:
        return Fraction(0)
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top != x.numerator or bottom * bottom != x.denominator:
        raise Unknown
    return Fraction(top, bottom)


def digits(b: int, n: int) -> tuple[int, ...]:
    if n <= 0:
        return ()
    if b <= 0:
        return (n,)
    return (1,) * n if b == 1 else (n % b, *digits(b, n // b))


def ranged(low: int, high: int) -> range:
    if high - low > 60:
        raise Unknown
    return range(low, high)


def fib(n: int) -> int:
    if n < 0:
        raise Undefined("a natural number is expected")
    a, b = 0, 1
    for _ in range(min(n, 90)):
        a, b = b, a + b
    return a


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": lambda x, y: x | y if isinstance(x, frozenset) else x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x & y if isinstance(x, frozenset) else x * y,
    "/": quotient,
    "%": remainder,
    "neg": lambda x: -x,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "in": lambda x, y: x in y,
    "!in": lambda x, y: x not in y,
    "card": len,
    "set": lambda *items: frozenset(items),
    "seq": lambda *items: items,
    "tuple": lambda *items: items,
    "first": lambda t: t[0],
    "second": lambda t: t[1],
    "at": item,
    "slice": part,
    "update": updated,
    "real": Fraction,
    "integer": whole,
    "Floor": math.floor,
    "apply": lambda f, x: f(x),
    "!!": lambda x, y: not x & y,
}
# The prelude's functions, and two that programs declare themselves.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "iabs": abs,
    "imin": min,
    "imax": max,
    "idiv": lambda x, y: 0 if y == 0 else quotient(x, y),
    "imod": lambda x, y: x if y == 0 else remainder(x, y),
    "monus": lambda x, y: max(x - y, 0),
    "ipow": power,
    "even": lambda x: x % 2 == 0,
    "odd": lambda x: x % 2 == 1,
    "divides": lambda d, n: n == 0 if d == 0 else n % d == 0,
    "gcd": math.gcd,
    "lcm": math.lcm,
    "prime": lambda n: n > 1 and all(n % d for d in ranged(2, n)),
    "factorial": lambda n: math.factorial(max(n, 0)) if n < 30 else _unknown(),
    "choose": lambda n, k: 0 if k < 0 or n < k else math.comb(n, k),
    "divisors": lambda n: frozenset(d for d in ranged(1, n + 1) if n % d == 0),
    "digits": digits,
    "seq_isum": sum,
    "isum": lambda low, high, f: sum(map(f, ranged(low, high))),
    "iprod": lambda low, high, f: math.prod(map(f, ranged(low, high))),
    "set_isum": lambda s, f: sum(map(f, s)),
    "rabs": abs,
    "rmax": max,
    "rdiv": lambda x, y: Fraction(0) if y == 0 else x / y,
    "pow": power,
    "sqrt": root,
    "floor": math.floor,
    "ceil": math.ceil,
    "is_rational": lambda x: True,
    "up": lambda n: max(n, 0) * (max(n, 0) + 1) // 2,
    "fib": fib,
}
DECLARED = """function up(n: int): int { if n <= 0 then 0 else n + up(n - 1) }
function fib(n: nat): nat { if n < 2 then n else fib(n - 1) + fib(n - 2) }
"""


def _unknown() -> Any:
    raise Unknown


def value(e: Tree, env: Env) -> Any:
    """Raises Undefined and Unknown."""
    match e:
        case ("lit", v):
            return v
        case ("var", name):
            return env[name]
        case ("!", p):
            return not value(p, env)
        case ("&&", p, q):
            return _junction(p, q, env, stop=False)
        case ("||", p, q):
            return _junction(p, q, env, stop=True)
        case ("==>", p, q):
            return _junction(("!", p), q, env, stop=True)
        case ("<==>", p, q):
            return value(p, env) == value(q, env)
        case ("ite", p, x, y):
            return value(x, env) if value(p, env) else value(y, env)
        case ("let", name, x, body):
            return value(body, {**env, name: value(x, env)})
        case ("lambda", name, body):
            return lambda x: value(body, {**env, name: x})
        case (("forall" | "exists") as kind, name, sort, limits, body):
            return _quantified(kind == "exists", name, sort, limits, body, env)
        case ("comprehension", name, low, high, body):
            found = ranged(value(low, env), value(high, env))
            return frozenset(k for k in found if value(body, {**env, name: k}))
        case ("call", name, *args):
            return FUNCTIONS[name](*[value(arg, env) for arg in args])
    return OPERATORS[e[0]](*[value(arg, env) for arg in e[1:]])


def truth(e: Tree, env: Env) -> bool | None:
    try:
        return bool(value(e, env))
    except Unknown:
        return None


def _junction(p: Tree, q: Tree, env: Env, stop: bool) -> bool:
    left = truth(p, env)
    if left is stop:
        return stop
    try:
        right = truth(q, env)
    except Undefined:
        if left is None:
            raise Unknown from None
        raise
    if right is stop:
        return stop
    if left is None or right is None:
        raise Unknown
    return not stop


def _quantified(exists: bool, name: str, sort: str, limits: Tree | None, body: Tree, env: Env) -> bool:
    if limits is None:
        tried: Any = TRIED_REALS if sort == "real" else TRIED[sort]
    else:
        tried = ranged(value(limits[0], env), value(limits[1], env))
        tried = [k for k in tried if sort != "nat" or k >= 0]
    complete = limits is not None or sort == "bool"
    for k in tried:
        one = truth(body, {**env, name: k})
        if one is exists:
            return exists
        complete = complete and one is not None
    if not complete:
        raise Unknown
    return not exists


# --- Text ------------------------------------------------------------------------------------------------------------


def literal(v: Any) -> str:
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, Fraction):
        text = f"{abs(v.numerator)}.0" if v.denominator == 1 else f"({abs(v.numerator)}.0 / {v.denominator}.0)"
        return f"(-{text})" if v < 0 else text
    return f"({v})" if v < 0 else str(v)


def text(e: Tree) -> str:
    """As a Dafny expression, with all parentheses."""
    match e:
        case ("lit", v):
            return literal(v)
        case ("var", name):
            return name
        case (("!" | "neg") as op, x):
            return f"({'!' if op == '!' else '-'}{text(x)})"
        case ("ite", p, x, y):
            return f"(if {text(p)} then {text(x)} else {text(y)})"
        case ("let", name, x, body):
            return f"(var {name} := {text(x)}; {text(body)})"
        case ("lambda", name, body):
            return f"(({name}: int) => {text(body)})"
        case (("forall" | "exists") as kind, name, sort, None, body):
            return f"({kind} {name}: {sort} :: {text(body)})"
        case (("forall" | "exists") as kind, name, sort, (low, high), body):
            link = "==>" if kind == "forall" else "&&"
            return f"({kind} {name}: {sort} :: {text(low)} <= {name} < {text(high)} {link} {text(body)})"
        case ("comprehension", name, low, high, body):
            return f"(set {name}: int | {text(low)} <= {name} < {text(high)} && {text(body)})"
        case ("call", name, *args):
            return f"{name}({', '.join(map(text, args))})"
        case ("card", x):
            return f"|{text(x)}|"
        case (("set" | "seq" | "tuple") as op, *items):
            left, right = {"set": "{}", "seq": "[]", "tuple": "()"}[op]
            return left + ", ".join(map(text, items)) + right
        case (("first" | "second") as op, x):
            return f"{text(x)}.{'0' if op == 'first' else '1'}"
        case ("at", s, i):
            return f"{text(s)}[{text(i)}]"
        case ("slice", s, low, high):
            return f"{text(s)}[{text(low)}..{text(high)}]"
        case ("update", s, i, x):
            return f"{text(s)}[{text(i)} := {text(x)}]"
        case ("real", x):
            return f"({text(x)} as real)"
        case ("integer", x):
            return f"({text(x)} as int)"
        case ("Floor", x):
            return f"({text(x)}).Floor"
        case ("apply", f, x):
            return f"{text(f)}({text(x)})"
    return f"({text(e[1])} {e[0]} {text(e[2])})"
