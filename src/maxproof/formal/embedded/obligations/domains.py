"""Which values a type has beyond its base type: nat inside int, and what follows for sets, sequences and functions."""

from __future__ import annotations

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    Basic,
    Bool,
    Builtin,
    Field,
    FunctionOf,
    Int,
    Invoke,
    Lambda,
    Op,
    Quant,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction
from maxproof.formal.embedded.errors import Unsupported

_ARITHMETIC = {Op.NEG, Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD, Op.TO_INT, Op.FLOOR}


def base(sort: Sort) -> Sort:
    """`sort` with int for nat throughout."""
    match sort:
        case Basic(name="nat"):
            return INT
        case SetOf(element=element, finite=finite):
            return SetOf(base(element), finite)
        case SeqOf(element=element):
            return SeqOf(base(element))
        case TupleOf(items=items):
            return TupleOf(tuple(map(base, items)))
        case FunctionOf(params=params, result=result, total=total):
            return FunctionOf(tuple(map(base, params)), base(result), total)
    return sort


def within(have: Sort, want: Sort) -> bool:
    """Every value of `have` is one of `want`; the two have one base type."""
    match have, want:
        case Basic(), Basic():
            return have == want or (have, want) == (NAT, INT)
        case SetOf(element=given), SetOf(element=wanted):
            return within(given, wanted)
        case SeqOf(element=given), SeqOf(element=wanted):
            return within(given, wanted)
        case TupleOf(), TupleOf():
            return all(map(within, have.items, want.items))
        case FunctionOf(), FunctionOf():
            return (
                within(have.result, want.result)
                and all(map(within, want.params, have.params))
                and (have.total or not want.total)
            )
    return True


def known_sort(term: Term) -> Sort:
    """The type that `term` surely has. Arithmetic gives int, whatever it is used as."""
    if isinstance(term, Int):
        return NAT if term.value >= 0 else INT
    if isinstance(term, Builtin) and term.op in _ARITHMETIC:
        return base(term.sort)
    if isinstance(term, Lambda) and isinstance(term.sort, FunctionOf):
        params = tuple(param.sort for param in term.params)
        return FunctionOf(params, term.sort.result, term.requires == Bool(True))
    return term.sort


def domain(var: Var) -> Term:
    """What holds of every value of the variable's type. Nothing is said where a partial function is part of it: its
    values outside of its precondition may be anything."""
    return Bool(True) if _has_partial(var.sort) else membership(var, base(var.sort), var.sort)


def _has_partial(sort: Sort) -> bool:
    match sort:
        case SetOf(element=element) | SeqOf(element=element):
            return _has_partial(element)
        case TupleOf(items=items):
            return any(map(_has_partial, items))
        case FunctionOf(params=params, result=result, total=total):
            return not total or any(map(_has_partial, params)) or _has_partial(result)
    return False


def membership(term: Term, have: Sort, want: Sort, depth: int = 0) -> Term:
    """`term`, known to be of type `have`, is of type `want`. `Bool(True)` where that is plain.

    Raises Unsupported for a function that would have to take more arguments than its type says.
    """
    if within(have, want):
        return Bool(True)
    at = term.at
    match have, want:
        case Basic(), Basic():
            return Builtin(Op.LE, (Int(0), term), BOOL, at=at)
        case SetOf(), SetOf():
            item = Var(f"x@{depth}", have.element)
            inside = Builtin(Op.IN, (item, term), BOOL, at=at)
            return Quant("forall", (item,), inside, membership(item, have.element, want.element, depth + 1), at=at)
        case SeqOf(), SeqOf():
            index = Var(f"i@{depth}", INT)
            size = Builtin(Op.CARD, (term,), NAT, at=at)
            bounds = (Builtin(Op.LE, (Int(0), index), BOOL), Builtin(Op.LT, (index, size), BOOL))
            element = Builtin(Op.AT, (term, index), have.element, at=at)
            inner = membership(element, have.element, want.element, depth + 1)
            return Quant("forall", (index,), Builtin(Op.AND, bounds, BOOL), inner, at=at)
        case TupleOf(), TupleOf():
            parts = [Field(term, str(i), item, at=at) for i, item in enumerate(have.items)]
            return conjunction(
                membership(part, part.sort, item, depth) for part, item in zip(parts, want.items, strict=True)
            )
        case FunctionOf(), FunctionOf():
            if not all(map(within, want.params, have.params)):
                raise Unsupported("a function of nat where a function of int is expected", at)
            if want.total and not have.total:
                raise Unsupported("a partial function where a total one is expected", at)
            args = tuple(Var(f"x{i}@{depth}", sort) for i, sort in enumerate(want.params))
            value = Invoke(term, args, have.result, at=at)
            return Quant("forall", args, Bool(True), membership(value, have.result, want.result, depth + 1), at=at)
    return Bool(True)


def comparable(sort: Sort) -> bool:
    """Whether two values of the type are equal exactly when the solver's values are: not so for a function that is
    only defined on a part of its base type's values."""
    match sort:
        case SetOf(element=element) | SeqOf(element=element):
            return comparable(element)
        case TupleOf(items=items):
            return all(map(comparable, items))
        case FunctionOf(params=params, result=result, total=total):
            return total and all(base(p) == p and comparable(p) for p in params) and comparable(result)
    return True
