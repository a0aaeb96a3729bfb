"""How tightly expressions bind, and what they look like at their ends: all that decides on parentheses."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from typing import Final

from maxproof.formal.syntax.ast import (
    Apply,
    AsExpr,
    Binary,
    Comparison,
    Comprehension,
    Expr,
    IfExpr,
    Index,
    IntLiteral,
    LambdaExpr,
    LetExpr,
    MatchExpr,
    Member,
    NamedType,
    Quantifier,
    RealLiteral,
    SetDisplay,
    Slice,
    StmtExpr,
    Unary,
    Update,
)

LEVELS: Final = {"<==>": 1, "==>": 2, "<==": 2, "&&": 3, "||": 3, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
RELATION, SUM, AS, UNARY, PRIMARY, BRACKETED = 4, 5, 7, 8, 9, 10
ENDLESS: Final = (IfExpr, LetExpr, LambdaExpr, Quantifier, Comprehension, MatchExpr, StmtExpr)


class Place(Enum):
    """Where an expression stands, which decides what may end it without parentheses."""

    BODY = "a function's body"
    CLOSED = "between closing signs"
    CLAUSE = "a clause, where Dafny reads no bare lambda"
    ITEM = "one of several, with commas between"


def stands_bare(expression: Expr, place: Place) -> bool:
    """Whether it needs no parentheses at `place`."""
    if not isinstance(expression, ENDLESS) or place is Place.BODY:
        return True
    if isinstance(expression, LambdaExpr):
        return place is not Place.CLAUSE
    return place is not Place.ITEM and not isinstance(expression, LetExpr | StmtExpr)


def inside(place: Place) -> Place:
    """Where the last part of an endless expression stands."""
    return Place.CLOSED if place is Place.BODY else place


def level_of(expression: Expr) -> int:
    """How tightly it binds; 0 for an endless expression."""
    match expression:
        case Binary():
            return LEVELS[expression.op]
        case Comparison():
            return RELATION
        case AsExpr():
            # After a datatype's name, `<` could open type arguments.
            plain = not isinstance(expression.type, NamedType) or expression.type.name in ("int", "nat", "real", "bool")
            return AS if plain else RELATION
        case Unary():
            return UNARY
        case RealLiteral() if "/" in decimal(expression.value):
            return LEVELS["/"]
        case IntLiteral() | RealLiteral() if expression.value < 0:
            return UNARY
    return 0 if isinstance(expression, ENDLESS) else PRIMARY


def op_of(expression: Expr) -> str:
    """The operator of a `Binary`; "" for anything else."""
    return expression.op if isinstance(expression, Binary) else ""


def first(expression: Expr) -> Expr:
    """The leaf that is printed first, if no parentheses come before it."""
    while True:
        match expression:
            case Binary():
                expression = expression.left
            case Comparison():
                expression = expression.operands[0]
            case Apply():
                expression = expression.function
            case AsExpr() | Member() | Index() | Slice() | Update():
                expression = expression.value
            case _:
                return expression


def last(expression: Expr) -> Expr:
    """The leaf that is printed last, if no parentheses come after it."""
    while True:
        match expression:
            case Binary():
                expression = expression.right
            case Comparison():
                expression = expression.operands[-1]
            case Unary():
                expression = expression.operand
            case _:
                return expression


def starts_with_brace(expression: Expr) -> bool:
    """Whether its text begins with `{`, which opens a block where a statement or a hint may stand."""
    leaf = first(expression)
    return isinstance(leaf, SetDisplay) and leaf.finite


def bare_relation(expression: Expr, op: str) -> Iterable[bool]:
    """Whether `op` is printed in `expression` outside all brackets: one True for each time, at least."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        match node:
            case Comparison():
                yield op in node.ops
                waiting.extend(node.operands)
            case Binary():
                waiting.extend((node.left, node.right))
            case Unary():
                waiting.append(node.operand)
            case AsExpr():
                waiting.append(node.value)
            case LambdaExpr():
                waiting.append(node.body)


def decimal(value: Fraction) -> str:
    """`0.25`; a fraction that no decimal equals as a quotient, `1.0 / 3.0`."""
    rest, places = value.denominator, 0
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    while rest % 5 == 0:
        rest //= 5
        places += 1
    if rest != 1:
        return f"{value.numerator}.0 / {value.denominator}.0"
    places = max(places, twos, 1)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
