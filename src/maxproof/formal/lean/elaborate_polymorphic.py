"""Mathlib's functions that work for many types: one rule each for their arguments' types, and for `e.field`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from maxproof.formal.lean.constants import MONOMORPHIC
from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PROP,
    RAT,
    REAL,
    Arrow,
    Cast,
    Component,
    Comprehension,
    Connective,
    Constant,
    Display,
    EquivType,
    Fold,
    Image,
    Interval,
    Lambda,
    ListType,
    Meta,
    Preimage,
    ProductType,
    SetType,
    Term,
    ToFinset,
    Truth,
    Type,
)
from maxproof.formal.lean.tree import Application, Ident, Syntax
from maxproof.formal.lean.walk import substitute
from maxproof.formal.syntax.ast import Position

if TYPE_CHECKING:
    from maxproof.formal.lean.elaborate import Elaborator

MAX_PAIRWISE: Final = 10
# Where the type parameter is also the result's, an expected type reaches the argument.
_SAME_TYPE: Final = {"abs": 1, "max": 2, "min": 2}
_FIXED_RESULT: Final[dict[str, Type | None]] = {
    **{"Int.floor": INT, "Int.ceil": INT, "Nat.floor": NAT, "Nat.ceil": NAT, "norm": REAL},
    **{"Even": PROP, "Odd": PROP, "Int.fract": None},
}
_ON_FUNCTIONS: Final = (
    *("Function.Injective", "Function.Surjective", "StrictMono", "StrictAnti", "Monotone", "Antitone"),
)
_NAMESPACES: Final[dict[Type, str]] = {
    NAT: "Nat",
    INT: "Int",
    RAT: "Rat",
    REAL: "Real",
    COMPLEX: "Complex",
    NNREAL: "NNReal",
}
_INTERVALS: Final = {"Icc": (True, True), "Ico": (True, False), "Ioc": (False, True), "Ioo": (False, False)}
_RAYS: Final = {"Ici": (True, True), "Ioi": (True, False), "Iic": (False, True), "Iio": (False, False)}


def constant(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    """`name args`, for a name of `constants.POLYMORPHIC`."""
    rule, arity = _rule(name)
    if len(args) < arity:
        if name == "id" and not args:
            return _identity(e, expected, at)
        e.refuse(f"`{name}` without all its arguments", at)
    return e.apply(rule(e, name, args[:arity], expected if len(args) == arity else None, at), args[arity:])


_Rule = Callable[["Elaborator", str, Sequence[Syntax], "Type | None", Position], Term]


def _rule(name: str) -> tuple[_Rule, int]:
    space, _, short = name.rpartition(".")
    if name in _SAME_TYPE:
        return _same_type, _SAME_TYPE[name]
    if name in _FIXED_RESULT:
        return _fixed_result, 1
    if name in _ON_FUNCTIONS:
        return _on_function, 1
    if space in ("Finset", "Set") and short in _INTERVALS:
        return _interval, 2
    if space == "Set" and short in _RAYS:
        return _ray, 1
    return _RULES.get(name, (_refused, 0))


def _refused(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    e.refuse(f"`{name}` here", at)


def _same_type(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    wanted = e.known(expected)
    first = e.term(args[0], wanted)
    if wanted is not None:
        first = e.ensure(first, wanted)
    rest = [e.ensure(e.term(a, first.type), first.type) for a in args[1:]]
    return Constant(name, (first, *rest), first.type, at=at)


def _fixed_result(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    arg = e.term(args[0], expected if name == "Int.fract" else None)
    return Constant(name, (arg,), _FIXED_RESULT[name] or arg.type, at=at)


def _on_function(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    function = e.term(args[0])
    if not isinstance(e.unifier.resolve(function.type), Arrow):
        e.refuse(f"`{name}` of something that is no function", at)
    return Constant(name, (function,), PROP, at=at)


def _identity(e: Elaborator, expected: Type | None, at: Position) -> Term:
    type_ = e.unifier.resolve(expected) if expected is not None else None
    var = e.fresh_variable(type_.domain if isinstance(type_, Arrow) else e.unifier.fresh(), at)
    return Lambda(var, var, Arrow(var.type, var.type), at=at)


def _identity_of(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return e.term(args[0], expected)


def _cast(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    source = NAT if name == "Nat.cast" else INT
    target = expected if expected is not None else e.unifier.fresh()
    return Cast(e.ensure(e.term(args[0], source), source), target, at=at)


def _interval(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    low, high = _pair(e, args)
    space, short = name.split(".")
    closed_low, closed_high = _INTERVALS[short]
    type_ = SetType(low.type, space == "Finset")
    return Interval(low, high, not closed_low, not closed_high, type_, at=at)


def _ray(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    upward, closed = _RAYS[name.split(".")[1]]
    end = e.term(args[0])
    low, high = (end, None) if upward else (None, end)
    return Interval(low, high, not closed, not closed, SetType(end.type, finite=False), at=at)


def _pair(e: Elaborator, args: Sequence[Syntax]) -> tuple[Term, Term]:
    first = e.term(args[0])
    return first, e.ensure(e.term(args[1], first.type), first.type)


def _finset(e: Elaborator, syntax: Syntax) -> tuple[Term, SetType]:
    return _as_set(e, e.term(syntax), syntax.at, finite=True)


def _as_set(e: Elaborator, term: Term, at: Position, *, finite: bool | None = None) -> tuple[Term, SetType]:
    type_ = e.unifier.resolve(term.type)
    if not isinstance(type_, SetType) or (finite is not None and type_.finite != finite):
        e.refuse(f"something of type {type_} where a set was expected", at)
    return term, type_


def _fold(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    domain, type_ = _finset(e, args[0])
    return _fold_over(e, name, domain, type_, args[1], expected, at)


def _fold_over(
    e: Elaborator, name: str, domain: Term, type_: SetType, function: Syntax, expected: Type | None, at: Position
) -> Term:
    wanted = e.known(expected)
    arrow = Arrow(type_.element, wanted if wanted is not None else e.unifier.fresh())
    term = e.ensure(e.term(function, arrow), arrow)
    kind = "∑" if name.endswith("sum") else "∏"
    if isinstance(term, Lambda):
        return Fold(kind, term.var, domain, term.body, term.body.type, at=at)  # type: ignore[arg-type]
    var = e.fresh_variable(type_.element, at)
    body = e.invoke(term, var, at)
    return Fold(kind, var, domain, body, body.type, at=at)  # type: ignore[arg-type]


def _card(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return Constant("Finset.card", (_finset(e, args[0])[0],), NAT, at=at)


def _filter(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    domain, type_ = _finset(e, args[1])
    return _filter_over(e, domain, type_, args[0], at)


def _filter_over(e: Elaborator, domain: Term, type_: SetType, predicate: Syntax, at: Position) -> Term:
    arrow = Arrow(type_.element, PROP)
    term = e.ensure(e.term(predicate, arrow), arrow)
    if isinstance(term, Lambda):
        return Comprehension(term.var, domain, term.body, type_, at=at)
    var = e.fresh_variable(type_.element, at)
    return Comprehension(var, domain, e.invoke(term, var, at), type_, at=at)


def _extreme(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    collection, type_ = _as_set(e, e.term(args[0]), at)
    return Constant(name, (collection, e.ensure(e.term(args[1], type_.element), type_.element)), PROP, at=at)


def _nonempty(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return Constant("Nonempty", (_as_set(e, e.term(args[0]), at)[0],), PROP, at=at)


def _to_finset(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return _finite_part(e, e.term(args[0]), at)


def _finite_part(e: Elaborator, term: Term, at: Position) -> Term:
    value, type_ = _as_set(e, term, at, finite=False)
    return ToFinset(value, SetType(type_.element, finite=True), at=at)


def _range(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    function = e.term(args[0])
    type_ = e.unifier.resolve(function.type)
    if not isinstance(type_, Arrow):
        e.refuse("`Set.range` of something that is no function", at)
    return Image(function, None, SetType(type_.codomain, finite=False), at=at)


def image(e: Elaborator, op: str, left: Syntax, right: Syntax, at: Position) -> Term:
    """`f ⁻¹' s` or `f '' s`."""
    function = e.term(left)
    type_ = e.unifier.resolve(function.type)
    if not isinstance(type_, Arrow):
        e.refuse(f"`{op}` of something that is no function", at)
    source, target = SetType(type_.domain, finite=False), SetType(type_.codomain, finite=False)
    if op == "''":
        return Image(function, e.ensure(e.term(right, source), source), target, at=at)
    return Preimage(function, e.ensure(e.term(right, target), target), source, at=at)


def _of_digits(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    digits = ListType(NAT)
    base = e.term(args[0], e.known(expected))
    return Constant(name, (base, e.ensure(e.term(args[1], digits), digits)), base.type, at=at)


def _tends_to(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    sequence = e.term(args[0])
    type_ = e.unifier.resolve(sequence.type)
    match args[1], args[2]:
        case Ident("Filter.atTop" | "atTop" as top), Application(Ident("𝓝" | "nhds"), (limit,)):
            if top == "atTop" and "Filter" not in e.opened:
                e.refuse("the name `atTop`", args[1].at)
            if isinstance(type_, Arrow) and type_.domain == NAT and type_.codomain in (REAL, NNREAL):
                value = e.ensure(e.term(limit, type_.codomain), type_.codomain)
                return Constant(name, (sequence, value), PROP, at=at)
    e.refuse("a limit that is not of a real sequence at infinity", at)


def _pairwise(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return _pairwise_in(e, args[0], e.term(args[1]), at)


def _pairwise_in(e: Elaborator, relation: Syntax, items: Term, at: Position) -> Term:
    """The relation between each item of a list literal and every later one, written out."""
    if not isinstance(items, Display) or len(items.items) > MAX_PAIRWISE:
        e.refuse(f"`List.Pairwise` of a list that is no literal of at most {MAX_PAIRWISE} items", at)
    type_ = e.unifier.resolve(items.type)
    assert isinstance(type_, ListType)
    arrow = Arrow(type_.element, Arrow(type_.element, PROP))
    term = e.ensure(e.term(relation, arrow), arrow)
    if not (isinstance(term, Lambda) and isinstance(term.body, Lambda)):
        e.refuse("`List.Pairwise` with a relation of this form", at)
    outer, inner, body = term.var.index, term.body.var.index, term.body.body
    facts = [substitute(body, {outer: a, inner: b}) for a, b in combinations(items.items, 2)]
    joined: Term = facts[-1] if facts else Truth(True, at=at)
    for fact in reversed(facts[:-1]):
        joined = Connective("∧", fact, joined, at=at)
    return joined


def _of_list(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    return _list_fold(e, name, e.term(args[0]), at)


def _list_fold(e: Elaborator, name: str, term: Term, at: Position) -> Term:
    type_ = e.unifier.resolve(term.type)
    if not isinstance(type_, ListType):
        e.refuse(f"`{name}` of something that is no list", at)
    return Constant(name, (term,), NAT if name == "List.length" else type_.element, at=at)


def _universe(e: Elaborator, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    type_ = e.unifier.resolve(expected) if expected is not None else None
    if not isinstance(type_, SetType) or type_.finite:
        e.refuse("`Set.univ` of a type that nothing fixes", at)
    return Interval(None, None, False, False, type_, at=at)


_RULES: Final[dict[str, tuple[_Rule, int]]] = {
    **{"id": (_identity_of, 1), "Nat.cast": (_cast, 1), "Int.cast": (_cast, 1)},
    **{"Finset.sum": (_fold, 2), "Finset.prod": (_fold, 2), "Finset.card": (_card, 1), "Finset.filter": (_filter, 2)},
    **{"IsLeast": (_extreme, 2), "IsGreatest": (_extreme, 2), "Set.range": (_range, 1), "Set.univ": (_universe, 0)},
    **{"Set.Nonempty": (_nonempty, 1), "Finset.Nonempty": (_nonempty, 1), "Set.toFinset": (_to_finset, 1)},
    **{"Nat.ofDigits": (_of_digits, 2), "Filter.Tendsto": (_tends_to, 3), "List.Pairwise": (_pairwise, 2)},
    **{f"List.{name}": (_of_list, 1) for name in ("sum", "prod", "length")},
}


# Fields


def equivalence(e: Elaborator, term: Term, index: int, at: Position) -> Term:
    """The function (0) or the inverse (1) of an equivalence."""
    type_ = e.unifier.resolve(term.type)
    assert isinstance(type_, EquivType)
    ends = (type_.domain, type_.codomain) if index == 0 else (type_.codomain, type_.domain)
    return Component(term, index, Arrow(*ends), at=at)


def field(e: Elaborator, term: Term, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
    """`term.name args`."""
    type_ = e.unifier.resolve(term.type)
    match type_, name:
        case Meta(), _:
            e.refuse(f"`.{name}` of something whose type isn't known there", at)
        case EquivType(), "1" | "toFun" | "2" | "invFun" | "symm":
            return e.apply(equivalence(e, term, 0 if name in ("1", "toFun") else 1, at), args)
        case ProductType(items), "1" | "fst":
            return e.apply(Component(term, 0, items[0], at=at), args)
        case ProductType(items), "2" | "snd" if len(items) == 2:
            return e.apply(Component(term, 1, items[1], at=at), args)
        case SetType(finite=True), "card" if not args:
            return Constant("Finset.card", (term,), NAT, at=at)
        case SetType(finite=True), "sum" | "prod" if len(args) == 1:
            return _fold_over(e, name, term, type_, args[0], expected, at)
        case SetType(finite=True), "filter" if len(args) == 1:
            return _filter_over(e, term, type_, args[0], at)
        case SetType(), "Nonempty" if not args:
            return Constant("Nonempty", (term,), PROP, at=at)
        case SetType(finite=False), "toFinset" if not args:
            return _finite_part(e, term, at)
        case ListType(), "sum" | "prod" | "length" if not args:
            return _list_fold(e, f"List.{name}", term, at)
        case ListType(), "Pairwise" if len(args) == 1:
            return _pairwise_in(e, args[0], term, at)
    full = f"{_NAMESPACES.get(type_, '')}.{name}"
    signature = MONOMORPHIC.get(full)
    if signature is None or type_ not in signature.params:
        e.refuse(f"`.{name}` of something of type {type_}", at)
    return _receiver(e, full, term, type_, args, at)


def _receiver(e: Elaborator, name: str, term: Term, type_: Type, args: Sequence[Syntax], at: Position) -> Term:
    """`name` with `term` as its first explicit argument of type `type_`, the others in order."""
    signature = MONOMORPHIC[name]
    if len(args) < len(signature.params) - 1:
        e.refuse(f"`{name}` without all its arguments", at)
    place = signature.params.index(type_)
    queue = list(args)
    values = [
        term if index == place else e.ensure(e.term(queue.pop(0), param), param)
        for index, param in enumerate(signature.params)
    ]
    return e.apply(Constant(name, tuple(values), signature.result, at=at), queue)


__all__ = ["constant", "equivalence", "field", "image"]
