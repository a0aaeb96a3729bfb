"""Quantifiers made smaller: unused variables dropped, few whole numbers spelt out, variables that are given put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxproof.formal.embedded.core import BOOL, INT, NAT, REAL, Bool, Builtin, Int, Op, Quant, Term, Var
from maxproof.formal.embedded.core.walk import conjunction, disjunction, free_variables
from maxproof.formal.embedded.encode.fold import flat, implies, inhabited, interval, size, split_implication
from maxproof.formal.embedded.encode.sorts import constraint

if TYPE_CHECKING:
    from maxproof.formal.embedded.encode.simplify import Simplifier

VALUES = 64  # that a variable may be spelt out for
NODES = 6_000  # that spelling out may add at once


def quantifier(term: Quant, simplify: Simplifier) -> Term:
    """An equal term; the parts of `term` are simplified already."""
    term = _joined(term)
    whole = _claim(term.kind == "exists", term.range, term.body)
    if isinstance(whole, Bool):
        settled = whole.value is not (term.kind == "exists")
        if settled or all(v.sort in (INT, NAT, REAL, BOOL) for v in term.vars):
            return whole
    used = {v.name for v in free_variables(whole)}
    kept = tuple(v for v in term.vars if v.name in used or not inhabited(v.sort))
    if not kept:
        return whole
    if len(kept) < len(term.vars):
        term = Quant(term.kind, kept, term.range, term.body, at=term.at)
    if simplify.room <= 0:
        return term
    return _spelt_out(term, simplify) or _one_point(term, simplify) or term


def _joined(term: Quant) -> Quant:
    """`forall x :: P ==> forall y :: Q` and `exists x :: P && exists y :: Q` with one quantifier for both. Not where
    the inner one binds a name of the outer part again, which then means different variables."""
    if term.kind == "forall":
        premises, inner = split_implication(term.body)
    else:
        *premises, inner = flat(term.body) or [term.body]
    if not isinstance(inner, Quant) or inner.kind != term.kind:
        return term
    outside = conjunction([term.range, *premises])
    names = {v.name for v in free_variables(outside)} | {v.name for v in term.vars}
    if not names.isdisjoint(v.name for v in inner.vars):
        return term
    return Quant(term.kind, (*term.vars, *inner.vars), conjunction([outside, inner.range]), inner.body, at=term.at)


def _claim(existential: bool, bounds: Term, body: Term) -> Term:
    return conjunction([bounds, body]) if existential else implies(bounds, body)


def _conditions(term: Quant) -> list[Term]:
    """What limits the variables: values that don't meet it can't matter."""
    return flat(term.range) + (flat(term.body) if term.kind == "exists" else split_implication(term.body)[0])


def _spelt_out(term: Quant, simplify: Simplifier) -> Term | None:
    """One instance for each value of a whole variable that has few."""
    bounds = conjunction(_conditions(term))
    for var in term.vars:
        found = interval(bounds, var)
        if found is None or found[1] - found[0] > VALUES:
            continue
        added = size(term) * (found[1] - found[0])
        if added > min(simplify.room, NODES):
            continue
        simplify.spend(added)
        rest = tuple(v for v in term.vars if v.name != var.name)
        instances = [_without(term, rest, {var.name: Int(value)}, Bool(True), simplify) for value in range(*found)]
        return disjunction(instances) if term.kind == "exists" else conjunction(instances)
    return None


def _one_point(term: Quant, simplify: Simplifier) -> Term | None:
    """`exists x :: x == t && P` and `forall x :: x == t ==> P` are P of t."""
    for condition in _conditions(term):
        if not (isinstance(condition, Builtin) and condition.op in (Op.EQ, Op.IFF)):
            continue
        for name, value in (condition.args, condition.args[::-1]):
            own = next((v for v in term.vars if isinstance(name, Var) and v.name == name.name), None)
            if own is None or any(v.name == own.name for v in free_variables(value)):
                continue
            rest = tuple(v for v in term.vars if v.name != own.name)
            simplify.spend(size(term))
            return _without(term, rest, {own.name: value}, constraint(value, own.sort, simplify.core), simplify)
    return None


def _without(term: Quant, rest: tuple[Var, ...], mapping: dict[str, Term], guard: Term, simplify: Simplifier) -> Term:
    """The quantifier over `rest` alone, the other variables being what `mapping` says, where `guard` holds."""
    bounds = conjunction([guard, simplify.put_in(term.range, mapping)])
    body = simplify.put_in(term.body, mapping)
    if rest:
        return simplify(Quant(term.kind, rest, bounds, body, at=term.at))
    parts = (bounds, body)
    return simplify(conjunction(parts) if term.kind == "exists" else Builtin(Op.IMPLIES, parts, BOOL))
