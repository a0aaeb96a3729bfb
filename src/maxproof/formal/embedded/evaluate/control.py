"""Pieces of compiled terms whose operands are not all evaluated: connectives, searches, and what may be refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maxproof.formal.embedded.core import Sort
from maxproof.formal.embedded.evaluate.domains import Code, Domain
from maxproof.formal.embedded.evaluate.values import Meter, NotComputable, OutOfBudget, Undefined, Value, belongs


def refuse(reason: str) -> Code:
    def run(_: list[Any]) -> Value:
        raise NotComputable(reason)

    return run


def let(value: Code, slot: int, body: Code) -> Code:
    def run(frame: list[Any]) -> Value:
        frame[slot] = value(frame)
        return body(frame)

    return run


def connective(codes: Sequence[Code], stop: bool) -> Code:
    """AND (stop is False) or OR (True). One operand that is `stop` decides, even if one before it isn't computable."""

    def run(frame: list[Any]) -> bool:
        missing: NotComputable | None = None
        for code in codes:
            try:
                decided: bool = code(frame)
                if decided is stop:
                    return stop
            except (OutOfBudget, Undefined):
                raise
            except NotComputable as error:
                missing = missing or error
        if missing is not None:
            raise missing
        return not stop

    return run


def search(domain: Domain, holds: Code, size: int, meter: Meter, stop: bool) -> Code:
    """EXISTS (stop is True) or FORALL (False) over the candidates of `domain`."""

    def run(frame: list[Any]) -> bool:
        missing: NotComputable | None = None
        for _ in domain.assignments(frame):
            meter.spend(size)
            try:
                decided: bool = holds(frame)
                if decided is stop:
                    return stop
            except (OutOfBudget, Undefined):
                raise
            except NotComputable as error:
                missing = missing or error
        if missing is not None:
            raise missing
        return not stop

    return run


def described(item: Code, slot: int, condition: Code, sort: Sort) -> Code:
    """Whether the item, put in `slot`, is of `sort` and meets the condition."""

    def run(frame: list[Any]) -> bool:
        value = item(frame)
        frame[slot] = value
        return belongs(value, sort) and bool(condition(frame))

    return run


def field(inner: Code, places: Mapping[str, int]) -> Code:
    def run(frame: list[Any]) -> Value:
        value = inner(frame)
        place = places.get(value.constructor)
        if place is None:
            raise Undefined(f"{value.constructor} has no such field")
        return value.fields[place]

    return run


def power_remainder(base: Code, exponent: Code, modulus: Code, meter: Meter) -> Code:
    """`ipow(b, e) % m` without the power."""

    def run(frame: list[Any]) -> int:
        b, e, m = base(frame), exponent(frame), abs(modulus(frame))
        if m == 0:
            raise Undefined("division by zero")
        meter.product_bits(m.bit_length())
        meter.spend(e.bit_length())
        remainder: int = pow(b, max(e, 0), m)
        return remainder

    return run
