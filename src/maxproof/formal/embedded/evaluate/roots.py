"""Comparisons and floors of rational multiples of square roots, decided exactly though the roots are irrational.

x -> x * |x| grows strictly and respects products, so that a term is compared by its signed square, which is rational
where the term is a product or quotient of rational numbers and square roots.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from maxproof.formal.embedded.core import REAL, Builtin, Call, Op, Term
from maxproof.formal.embedded.evaluate.domains import Code
from maxproof.formal.embedded.evaluate.values import Meter, Undefined

COMPARISONS: Mapping[Op, Callable[[Fraction, Fraction], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
}


def has_root(term: Term, native: Callable[[str], bool]) -> bool:
    """Whether `term` is a square root, or a product or quotient with one."""
    match term:
        case Call(name="sqrt"):
            return native("sqrt")
        case Builtin(op=Op.MUL | Op.DIV | Op.NEG, args=args) if term.sort == REAL:
            return any(has_root(arg, native) for arg in args)
        case Call(name="rdiv", args=args) if native("rdiv"):
            return any(has_root(arg, native) for arg in args)
    return False


def signed_square(term: Term, compiled: Callable[[Term], Code], native: Callable[[str], bool], meter: Meter) -> Code:
    """The code of `term * |term|`."""
    if not has_root(term, native):
        code = compiled(term)
        return lambda frame: _signed(code(frame), meter)
    match term:
        case Builtin(op=Op.NEG, args=(inner,)):
            part = signed_square(inner, compiled, native, meter)
            return lambda frame: -part(frame)
        case Builtin(op=Op.MUL, args=(left, right)):
            first, second = (signed_square(side, compiled, native, meter) for side in (left, right))
            return lambda frame: meter.real(first(frame) * second(frame))
        case Builtin(args=(left, right)):
            first, second = (signed_square(side, compiled, native, meter) for side in (left, right))
            return lambda frame: _quotient(first(frame), second(frame), meter, total=False)
        case Call(name="rdiv", args=(left, right)):
            first, second = (signed_square(side, compiled, native, meter) for side in (left, right))
            return lambda frame: _quotient(first(frame), second(frame), meter, total=True)
        case Call(args=(inner,)):
            code = compiled(inner)
            return lambda frame: max(code(frame), Fraction(0))
    raise AssertionError(term)


def _signed(value: Fraction, meter: Meter) -> Fraction:
    return meter.real(value * abs(value))


def _quotient(left: Fraction, right: Fraction, meter: Meter, total: bool) -> Fraction:
    if right:
        return meter.real(left / right)
    if total:
        return Fraction(0)
    raise Undefined("division by zero")


def comparison(op: Op, left: Code, right: Code) -> Code:
    """LT, LE or EQ of two terms by their signed squares."""
    holds = COMPARISONS[op]

    def run(frame: list[Any]) -> bool:
        return holds(left(frame), right(frame))

    return run


def floor_of_root(square: Fraction) -> int:
    """The floor of the number with that signed square."""
    if square >= 0:
        return math.isqrt(math.floor(square))
    return -(math.isqrt(math.ceil(-square) - 1) + 1)
