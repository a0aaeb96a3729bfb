"""The built-in operators on values."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from maxproof.formal.embedded.core import REAL, Op, Sort
from maxproof.formal.embedded.evaluate.domains import Code
from maxproof.formal.embedded.evaluate.values import Meter, OutOfBudget, Undefined, Value


def chain(op: Op, sort: Sort, codes: Sequence[Code], meter: Meter) -> Code:
    """ADD, MUL, CONCAT or UNION of two or more operands. `sort` is the result's."""
    first, rest = codes[0], list(codes[1:])
    combine = _COMBINE[op, sort == REAL](meter)
    if len(rest) == 1:
        (second,) = rest
        return lambda frame: combine(first(frame), second(frame))

    def run(frame: list[Any]) -> Value:
        total = first(frame)
        for code in rest:
            total = combine(total, code(frame))
        return total

    return run


def _product(meter: Meter) -> Callable[[int, int], int]:
    def times(x: int, y: int) -> int:
        bits = x.bit_length() + y.bit_length()
        if bits > 1024:
            meter.product_bits(bits)
        return x * y

    return times


def _real(combine: Callable[[Fraction, Fraction], Fraction]) -> Callable[[Meter], Callable[[Value, Value], Value]]:
    def with_meter(meter: Meter) -> Callable[[Fraction, Fraction], Fraction]:
        def run(x: Fraction, y: Fraction) -> Fraction:
            if x.denominator == 1 and y.denominator == 1:
                return meter.real(Fraction(combine(x.numerator, y.numerator)))  # type: ignore[arg-type]
            return meter.real(combine(x, y))

        return run

    return with_meter


def _joined(meter: Meter) -> Callable[[Any, Any], Any]:
    def run(x: tuple[Value, ...], y: tuple[Value, ...]) -> tuple[Value, ...]:
        meter.spend(len(x) + len(y))
        return x + y

    return run


def _union(meter: Meter) -> Callable[[Any, Any], Any]:
    def run(x: frozenset[Value], y: frozenset[Value]) -> frozenset[Value]:
        meter.spend(len(x) + len(y))
        return x | y

    return run


_COMBINE: Mapping[tuple[Op, bool], Callable[[Meter], Callable[[Value, Value], Value]]] = {
    (Op.ADD, False): lambda _: python.add,
    (Op.MUL, False): _product,
    (Op.ADD, True): _real(python.add),
    (Op.MUL, True): _real(python.mul),
    (Op.CONCAT, False): _joined,
    (Op.UNION, False): _union,
}


def operator(op: Op, sort: Sort, codes: Sequence[Code], meter: Meter) -> Code:
    """Any operator that evaluates all its operands. `sort` is the first operand's."""
    if op is Op.DIV and sort == REAL:
        return _two(codes, lambda x, y: _quotient(meter, x, y))
    if op is Op.SUB and sort == REAL:
        return _two(codes, _real(python.sub)(meter))
    if op in _TWO:
        return _two(codes, _TWO[op])
    if op in _ONE:
        (only,), apply = codes, _ONE[op]
        return lambda frame: apply(only(frame))
    many = _MANY[op]
    return lambda frame: many(meter, *[code(frame) for code in codes])


def _two(codes: Sequence[Code], apply: Callable[[Value, Value], Value]) -> Code:
    left, right = codes
    return lambda frame: apply(left(frame), right(frame))


def _quotient(meter: Meter, x: Fraction, y: Fraction) -> Fraction:
    if not y:
        raise Undefined("division by zero")
    return meter.real(x / y)


def _div(x: int, y: int) -> int:
    if not y:
        raise Undefined("division by zero")
    return x // y if y > 0 else -(x // -y)


def _mod(x: int, y: int) -> int:
    if not y:
        raise Undefined("division by zero")
    return x % abs(y)


def _whole(x: Fraction) -> int:
    if x.denominator != 1:
        raise Undefined("not a whole number")
    return x.numerator


def _at(items: tuple[Value, ...], index: int) -> Value:
    if not 0 <= index < len(items):
        raise Undefined("index out of range")
    return items[index]


def _slice(_: Meter, items: tuple[Value, ...], low: int, high: int) -> tuple[Value, ...]:
    if not 0 <= low <= high <= len(items):
        raise Undefined("slice out of range")
    return items[low:high]


def _updated(_: Meter, items: tuple[Value, ...], index: int, item: Value) -> tuple[Value, ...]:
    if not 0 <= index < len(items):
        raise Undefined("index out of range")
    return (*items[:index], item, *items[index + 1 :])


def _initialised(meter: Meter, length: int, function: Value) -> tuple[Value, ...]:
    if length < 0:
        raise Undefined("negative length")
    if length > meter.steps:
        raise OutOfBudget("sequence too long")
    items: list[Value] = []
    for index in range(length):
        meter.spend(1)
        items.append(function.apply((index,)))
    return tuple(items)


_ONE: Mapping[Op, Callable[[Value], Value]] = {
    Op.NEG: python.neg,
    Op.NOT: python.not_,
    Op.TO_REAL: Fraction,
    Op.TO_INT: _whole,
    Op.FLOOR: math.floor,
    Op.CARD: len,
}

_TWO: Mapping[Op, Callable[[Value, Value], Value]] = {
    Op.SUB: python.sub,
    Op.DIV: _div,
    Op.MOD: _mod,
    Op.LT: python.lt,
    Op.LE: python.le,
    Op.EQ: python.eq,
    Op.IFF: python.is_,
    Op.INTERSECT: python.and_,
    Op.MINUS: python.sub,
    Op.SUBSET: python.le,
    Op.PROPER_SUBSET: python.lt,
    Op.DISJOINT: lambda x, y: x.isdisjoint(y),
    Op.AT: _at,
    Op.PREFIX: lambda x, y: x == y[: len(x)],
}

_MANY: Mapping[Op, Callable[..., Value]] = {
    Op.SET: lambda meter, *items: frozenset(items),
    Op.SEQ: lambda meter, *items: items,
    Op.TUPLE: lambda meter, *items: items,
    Op.SEQ_INIT: _initialised,
    Op.SLICE: _slice,
    Op.SEQ_UPDATE: _updated,
}
