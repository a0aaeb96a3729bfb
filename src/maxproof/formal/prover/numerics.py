"""Floating-point values of real terms: to choose among guesses, never to prove anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from maxproof.formal.embedded.core import Bool, Builtin, Call, Int, Op, Real, Term, Var

_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": lambda x: math.sqrt(x) if x > 0 else 0.0,
    "rabs": abs,
    "iabs": abs,
    "rmin": min,
    "rmax": max,
    "imin": min,
    "imax": max,
    "rdiv": lambda x, y: x / y if y else 0.0,
    "pow": lambda x, n: x**n if n > 0 else 1.0,
    "ipow": lambda x, n: x**n if n > 0 else 1.0,
    "exp": math.exp,
    "log": lambda x: math.log(abs(x)) if x else 0.0,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "floor": math.floor,
    "ceil": math.ceil,
    "pi": lambda: math.pi,
}
_TOLERANCE = 1e-7


def approximate(term: Term, given: Mapping[str, float]) -> float | bool | None:
    """The value of a number or condition at the variables' values; None where it isn't known or overflows."""
    try:
        return _value(term, given)
    except (ArithmeticError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _value(term: Term, given: Mapping[str, float]) -> float | bool:
    match term:
        case Var(name=name):
            return given[name]
        case Int(value=value) | Real(value=value):
            return float(value)
        case Bool(value=value):
            return value
        case Call(name=name, args=args):
            return _FUNCTIONS[name](*(_value(arg, given) for arg in args))
        case Builtin(op=Op.ITE, args=(condition, then, other)):
            return _value(then if _value(condition, given) else other, given)
        case Builtin(op=op, args=args):
            return _OPERATORS[op](*(_value(arg, given) for arg in args))
    raise LookupError(term)


_OPERATORS: Mapping[Op, Callable[..., float | bool]] = {
    Op.NEG: lambda x: -x,
    Op.ADD: lambda x, y: x + y,
    Op.SUB: lambda x, y: x - y,
    Op.MUL: lambda x, y: x * y,
    Op.DIV: lambda x, y: x / y,
    Op.TO_REAL: float,
    Op.FLOOR: math.floor,
    Op.LT: lambda x, y: x < y - _TOLERANCE,
    Op.LE: lambda x, y: x <= y + _TOLERANCE,
    Op.EQ: lambda x, y: abs(x - y) <= _TOLERANCE * (1 + abs(x)),
    Op.NOT: lambda x: not x,
    Op.AND: lambda *parts: all(parts),
    Op.OR: lambda *parts: any(parts),
    Op.IMPLIES: lambda x, y: y or not x,
    Op.IFF: lambda x, y: x == y,
}
