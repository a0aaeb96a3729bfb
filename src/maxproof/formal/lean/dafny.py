"""Short ways to build Dafny expressions, and what is known of those built from literals alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal

from maxproof.formal.syntax.ast import (
    Apply,
    AsExpr,
    Binary,
    BoolLiteral,
    Comparison,
    Expr,
    IntLiteral,
    Name,
    NamedType,
    RealLiteral,
    Unary,
)

INT: Final = NamedType("int")
NAT: Final = NamedType("nat")
REAL: Final = NamedType("real")
COMPLEX: Final = NamedType("complex")
BOOL: Final = NamedType("bool")
ZERO: Final = IntLiteral(0)
REAL_ZERO: Final = RealLiteral(Fraction(0))
REAL_ONE: Final = RealLiteral(Fraction(1))


def call(name: str, *args: Expr) -> Expr:
    return Apply(Name(name), args)


def apply(function: Expr, args: Sequence[Expr]) -> Expr:
    return Apply(function, tuple(args))


def compare(left: Expr, op: Literal["==", "!=", "<", "<=", ">", ">=", "in", "!in"], right: Expr) -> Expr:
    return Comparison((left, right), (op,))


def binary(op: Literal["<==>", "==>", "&&", "||", "+", "-", "*", "/", "%"], left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right)


def every(facts: Sequence[Expr]) -> Expr:
    """Their conjunction; `true` for none."""
    return joined(facts, "&&") if facts else BoolLiteral(True)


def joined(parts: Sequence[Expr], op: str) -> Expr:
    """`p && q && ...` (or `||`), one part at least."""
    result = parts[0]
    for part in parts[1:]:
        result = Binary(op, result, part)  # type: ignore[arg-type]
    return result


def negated(value: Expr) -> Expr:
    return Unary("-", value)


def product(factor: Expr, count: int, times: str | None = None) -> Expr:
    """`factor` multiplied with itself, count >= 1; by the function `times` where `*` doesn't apply."""
    result = factor
    for _ in range(count - 1):
        result = Binary("*", result, factor) if times is None else call(times, result, factor)
    return result


def as_real(value: Expr) -> Expr:
    """A whole number as a real; a literal becomes a real literal."""
    match value:
        case IntLiteral(number):
            return RealLiteral(Fraction(number))
        case Unary("-", IntLiteral(number)):
            return Unary("-", RealLiteral(Fraction(number)))
    return AsExpr(value, REAL)


def constant(value: Expr) -> Fraction | None:
    """The exact value of an expression of literals, `+`, `-` and `*`; None for any other."""
    match value:
        case IntLiteral(number):
            return Fraction(number)
        case RealLiteral(number):
            return number
        case Unary("-", operand):
            inner = constant(operand)
            return None if inner is None else -inner
        case AsExpr(operand, _):
            return constant(operand)
        case Binary("+" | "-" | "*" as op, left, right):
            first, second = constant(left), constant(right)
            if first is None or second is None:
                return None
            return first + second if op == "+" else first - second if op == "-" else first * second
    return None
