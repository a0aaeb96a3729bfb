"""The end of elaboration: all types filled in, and every operation checked to exist on its type in Mathlib."""

from __future__ import annotations

from typing import Any, Final

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    PROP,
    RAT,
    REAL,
    Arith,
    Arrow,
    Cast,
    Compare,
    Constant,
    EquivType,
    Fold,
    Inverse,
    ListType,
    Meta,
    Negate,
    Number,
    Power,
    ProductType,
    Scalar,
    SetType,
    Term,
    Type,
    Var,
    ZMod,
)
from maxproof.formal.lean.unify import Unifier, coerces, is_number
from maxproof.formal.lean.walk import rebuild

_TYPES: Final = (Scalar, ZMod, Arrow, SetType, ListType, ProductType, EquivType, Meta)
_FIELDS: Final = (RAT, REAL, COMPLEX, NNREAL)
_ARGUMENTS: Final[dict[str, tuple[Type, ...]]] = {
    **{"abs": (INT, RAT, REAL), "norm": (REAL, COMPLEX), "Even": (NAT, INT), "Odd": (NAT, INT), "Dvd": (NAT, INT)},
    **{"max": (NAT, INT, RAT, REAL, NNREAL), "min": (NAT, INT, RAT, REAL, NNREAL), "Nat.ofDigits": (NAT, INT)},
    **{"Int.floor": (RAT, REAL), "Int.ceil": (RAT, REAL), "Int.fract": (RAT, REAL)},
    **{"Nat.floor": (RAT, REAL, NNREAL), "Nat.ceil": (RAT, REAL, NNREAL)},
}


def settle(term: Term, unifier: Unifier) -> Term:
    """`term` with all its types known and its coercions checked; coercions of a type to itself are dropped.

    Raises:
        NotTranslated: a type that nothing determines, or an operation that its type doesn't have.
    """

    def change(part: Any) -> Any:
        if isinstance(part, _TYPES):
            return unifier.resolve(part)
        part = rebuild(part, change)
        if _unknown(part.type):
            name = f"the type of `{part.name}`" if isinstance(part, Var) else "a type"
            raise NotTranslated(f"{name}, which nothing determines", part.at)
        if isinstance(part, Cast) and part.value.type == part.type:
            return part.value
        problem = _problem(part)
        if problem:
            raise NotTranslated(problem, part.at)
        return part

    return change(term)  # type: ignore[no-any-return]


def _unknown(type_: Type) -> bool:
    match type_:
        case Meta():
            return True
        case Arrow(a, b) | EquivType(a, b):
            return _unknown(a) or _unknown(b)
        case SetType(element, _) | ListType(element):
            return _unknown(element)
        case ProductType(items):
            return any(_unknown(i) for i in items)
    return False


def _problem(term: Term) -> str:
    """What is wrong with a term whose parts are right; "" if nothing is."""
    match term:
        case Number(value, type_):
            if not is_number(type_):
                return f"a numeral of type {type_}"
            if value.denominator != 1 and type_ not in _FIELDS:
                return f"a decimal of type {type_}"
            if type_ == PNAT and value == 0:
                return "0 of type ℕ+"
        case Cast(value, type_):
            if not coerces(value.type, type_):
                return f"a coercion from {value.type} to {type_}"
        case Arith(op, _, _, type_):
            if op == "%" and type_ not in (NAT, INT):
                return f"`%` on {type_}"
            if op in ("-", "/") and type_ == PNAT:
                return f"`{op}` on ℕ+"
            if not is_number(type_):
                return f"`{op}` on {type_}"
        case Negate(_, type_):
            if type_ in (NAT, NNREAL, PNAT):
                return f"`-` before something of type {type_}"
        case Inverse(_, type_):
            if type_ not in _FIELDS and not isinstance(type_, ZMod):
                return f"`⁻¹` on {type_}"
        case Power(_, exponent, type_):
            if not _power_exists(type_, exponent.type):
                return f"`^` with a base of type {type_} and an exponent of type {exponent.type}"
        case Compare(op, left, _):
            return _comparison_problem(op, left.type)
        case Fold(kind, _, _, body):
            if not is_number(body.type) or body.type == PNAT:
                return f"`{kind}` of terms of type {body.type}"
        case Constant(name, args):
            if name in _ARGUMENTS and args[0].type not in _ARGUMENTS[name]:
                return f"`{name}` on {args[0].type}"
            if name in ("List.sum", "List.prod") and term.type not in (NAT, INT):
                return f"`{name}` of items of type {term.type}"
    return ""


def _power_exists(base: Type, exponent: Type) -> bool:
    if exponent == NAT:
        return is_number(base)
    if exponent == INT:
        return base in _FIELDS
    return exponent == REAL and base in (REAL, NNREAL)


def _comparison_problem(op: str, type_: Type) -> str:
    if op in ("=", "≠"):
        return f"`{op}` between terms of type {type_}" if type_ == PROP or isinstance(type_, Arrow | EquivType) else ""
    if not is_number(type_) or type_ == COMPLEX or isinstance(type_, ZMod):
        return f"`{op}` between terms of type {type_}"
    return ""
