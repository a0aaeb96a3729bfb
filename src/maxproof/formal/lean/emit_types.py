"""Dafny types of Lean variables, and the guards that say what a Dafny type doesn't.

A guard stands wherever a variable is bound: `is_rational(x)` for ℚ, `x >= 0.0` for ℝ≥0, `n >= 1` for ℕ+; for a
function or a set it speaks of all its values or elements.
"""

from __future__ import annotations

from collections.abc import Callable

from maxproof.formal.lean import dafny
from maxproof.formal.lean.dafny import binary, call, compare
from maxproof.formal.lean.emit_numbers import kind
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import (
    NAT,
    NNREAL,
    PNAT,
    PROP,
    RAT,
    Arrow,
    EquivType,
    ListType,
    SetType,
    Type,
    Var,
    ZMod,
)
from maxproof.formal.lean.unify import is_number
from maxproof.formal.syntax.ast import Binder, Expr, FunctionType, IntLiteral, Name, NamedType, Quantifier
from maxproof.formal.syntax.ast import Type as DafnyType


def value_type(type_: Type) -> NamedType:
    """The type of a number's value where any value may stand: in a set, as an argument, bound by a lambda."""
    return {"int": dafny.INT, "real": dafny.REAL, "complex": dafny.COMPLEX}[kind(type_)]


def type_of(type_: Type, var: Var) -> DafnyType:
    """The Dafny type of a variable of a Lean type; an equivalence has the type of its function.

    Raises:
        NotTranslated: a type that variables can't have.
    """
    match type_:
        case EquivType(domain, codomain):
            return _function_type(Arrow(domain, codomain), var)
        case Arrow():
            return _function_type(type_, var)
        case SetType(element, finite) if is_number(element) and not isinstance(element, ZMod):
            return NamedType("set" if finite else "iset", (value_type(element),))
        case ListType(element) if is_number(element) and not isinstance(element, ZMod):
            return NamedType("seq", (value_type(element),))
    if type_ in (NAT, PNAT):
        return dafny.NAT
    if type_ == PROP:
        return dafny.BOOL
    if is_number(type_):
        return value_type(type_)
    raise NotTranslated(f"a variable of type {type_}", var.at)


def _function_type(type_: Type, var: Var) -> FunctionType:
    domains, codomain = _uncurried(type_)
    if not (codomain == PROP or is_number(codomain)) or not all(map(is_number, domains)):
        raise NotTranslated(f"a function of type {type_}", var.at)
    if any(isinstance(t, ZMod) for t in (*domains, codomain)):
        raise NotTranslated("a function on or into ZMod", var.at)
    result = dafny.BOOL if codomain == PROP else dafny.NAT if codomain in (NAT, PNAT) else value_type(codomain)
    return FunctionType(tuple(map(value_type, domains)), result)


def guards(type_: Type, value: Expr, apart: Callable[[str], str]) -> list[Expr]:
    """What holds of every value of a Lean type, beyond what its Dafny type says.

    Args:
        apart: makes a name for a bound variable.
    """
    match type_:
        case SetType(element) | ListType(element):
            return _element_guards(element, value, apart)
        case Arrow():
            return _function_guards(type_, value, apart)
        case EquivType():
            return []
    return _number_guards(type_, value)


def _number_guards(type_: Type, value: Expr) -> list[Expr]:
    if type_ == RAT:
        return [call("is_rational", value)]
    if type_ == NNREAL:
        return [compare(value, ">=", dafny.REAL_ZERO)]
    if type_ == PNAT:
        return [compare(value, ">=", IntLiteral(1))]
    return []


def _element_guards(element: Type, collection: Expr, apart: Callable[[str], str]) -> list[Expr]:
    name = Name(apart("x"))
    natural = [compare(name, ">=", dafny.ZERO)] if element == NAT else []
    inside = [*natural, *_number_guards(element, name)]
    if not inside:
        return []
    body = binary("==>", compare(name, "in", collection), dafny.every(inside))
    return [Quantifier("forall", (Binder(name.name, value_type(element)),), body)]


def _function_guards(type_: Arrow, function: Expr, apart: Callable[[str], str]) -> list[Expr]:
    domains, codomain = _uncurried(type_)
    names = [apart(f"x{i + 1}" if len(domains) > 1 else "x") for i in range(len(domains))]
    args = [Name(n) for n in names]
    facts = _number_guards(codomain, dafny.apply(function, args))
    if not facts:
        return []
    binders = tuple(
        Binder(n, dafny.NAT if t in (NAT, PNAT) else value_type(t)) for n, t in zip(names, domains, strict=True)
    )
    given = [g for t, a in zip(domains, args, strict=True) for g in _number_guards(t, a)]
    return [Quantifier("forall", binders, dafny.every(facts), dafny.every(given) if given else None)]


def _uncurried(type_: Type) -> tuple[list[Type], Type]:
    domains: list[Type] = []
    while isinstance(type_, Arrow):
        domains.append(type_.domain)
        type_ = type_.codomain
    return domains, type_
