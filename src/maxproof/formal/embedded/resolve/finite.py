"""Dafny's rule that a `set` comprehension must be finite: each variable needs a bound that its range shows."""

from __future__ import annotations

from collections.abc import Mapping

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    Builtin,
    CoreDatatype,
    DataOf,
    Int,
    Op,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.walk import free_variables


def unbounded(bound: tuple[Var, ...], limits: Term, datatypes: Mapping[str, CoreDatatype]) -> tuple[Var, ...]:
    """The variables for which no conjunct of `limits` gives finitely many values.

    A variable is bounded by its type (bool, a datatype or tuple of such), by membership in a finite set or a sequence,
    by equality, by being a subset of a finite set, or, for whole numbers, by comparisons from both sides (0 is below a
    nat). Its bounds may use variables that are bounded without it.
    """
    conjuncts = limits.args if isinstance(limits, Builtin) and limits.op is Op.AND else (limits,)
    loose = [var for var in bound if not _finite_sort(var.sort, datatypes, frozenset())]
    progress = True
    while progress:
        names = {var.name for var in loose}
        kept = [var for var in loose if not _bounded(var, conjuncts, names)]
        progress = len(kept) < len(loose)
        loose = kept
    return tuple(loose)


def _bounded(var: Var, conjuncts: tuple[Term, ...], loose: set[str]) -> bool:
    below = var.sort == NAT
    above = False
    for conjunct in map(_without_not, conjuncts):
        if not isinstance(conjunct, Builtin) or len(conjunct.args) != 2:
            continue
        left, right = conjunct.args
        if conjunct.op in (Op.LT, Op.LE):
            left, right = _unshifted(left, var), _unshifted(right, var)
        is_left, is_right = _is(left, var), _is(right, var)
        if is_left == is_right or any(free.name in loose for free in free_variables(right if is_left else left)):
            continue
        if conjunct.op is Op.EQ:
            return True
        other = right.sort
        if (
            is_left
            and conjunct.op is Op.IN
            and (isinstance(other, SeqOf) or (isinstance(other, SetOf) and other.finite))
        ):
            return True
        if is_left and conjunct.op in (Op.SUBSET, Op.PROPER_SUBSET) and isinstance(other, SetOf) and other.finite:
            return True
        if conjunct.op in (Op.LT, Op.LE) and var.sort in (INT, NAT):
            above = above or is_left
            below = below or is_right
    return above and below


def _without_not(term: Term) -> Term:
    """`!(a < b)` read as `b <= a`, `!(a <= b)` as `b < a`."""
    if isinstance(term, Builtin) and term.op is Op.NOT:
        inner = term.args[0]
        if isinstance(inner, Builtin) and inner.op in (Op.LT, Op.LE):
            return Builtin(Op.LE if inner.op is Op.LT else Op.LT, (inner.args[1], inner.args[0]), BOOL)
    return term


def _unshifted(term: Term, var: Var) -> Term:
    """`var` for `var + k`, `k + var` and `var - k` with a number k; other terms as they are."""
    if isinstance(term, Builtin) and term.op in (Op.ADD, Op.SUB):
        left, right = term.args
        if isinstance(right, Int) and _is(left, var):
            return left
        if term.op is Op.ADD and isinstance(left, Int) and _is(right, var):
            return right
    return term


def _is(term: Term, var: Var) -> bool:
    return isinstance(term, Var) and term.name == var.name


def _finite_sort(sort: Sort, datatypes: Mapping[str, CoreDatatype], inside: frozenset[str]) -> bool:
    match sort:
        case TupleOf():
            return all(_finite_sort(item, datatypes, inside) for item in sort.items)
        case DataOf(name=name):
            if name in inside:
                return False
            inner = inside | {name}
            parts = [field for constructor in datatypes[name].constructors for _, field in constructor.fields]
            return all(_finite_sort(part, datatypes, inner) for part in parts)
        case SetOf():
            return sort.finite and _finite_sort(sort.element, datatypes, inside)
    return sort == BOOL
