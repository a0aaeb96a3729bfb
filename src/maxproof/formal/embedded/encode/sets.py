"""Equality, membership and size, as far as they can be written without sets, sequences and tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxproof.formal.embedded.core import (
    BOOL,
    REAL,
    Bool,
    Builtin,
    Construct,
    Int,
    Op,
    Quant,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction, disjunction, substitute
from maxproof.formal.embedded.encode.fold import (
    conditional,
    fold,
    iff,
    implies,
    interval,
    negation,
    size,
    summed,
    written,
)
from maxproof.formal.embedded.encode.quantifiers import quantifier
from maxproof.formal.embedded.encode.sorts import constraint, is_product, parts_of
from maxproof.formal.embedded.obligations.domains import base

if TYPE_CHECKING:
    from maxproof.formal.embedded.encode.simplify import Simplifier

MEMBERS = 200  # whole numbers that a filtered interval is counted over
WRITTEN = 40  # items of a display that are compared with each other
ITEM = 200  # nodes of a term whose membership is written out


def equal(left: Term, right: Term, simplify: Simplifier) -> Term:
    """`left == right`, the sides being simplified already."""
    if left == right:
        return Bool(True)
    sort = left.sort
    if sort == BOOL:
        return iff(left, right)
    if is_product(sort, simplify.core):
        pairs = zip(parts_of(left, simplify.core), parts_of(right, simplify.core), strict=True)
        return conjunction(equal(simplify.field(a), simplify.field(b), simplify) for a, b in pairs)
    if isinstance(left, Construct) and isinstance(right, Construct):
        if left.constructor != right.constructor:
            return Bool(False)
        return conjunction(equal(a, b, simplify) for a, b in zip(left.args, right.args, strict=True))
    named = isinstance(left, Var) or isinstance(right, Var)
    if isinstance(sort, SetOf) and (written(left) or written(right)) and (simplify.spell_sets or not named):
        # A set of nat and one of int may differ in a negative number.
        element = simplify.scope.fresh("e", sort.element if right.sort == sort else base(sort.element))
        same = iff(member(element, left, simplify), member(element, right, simplify))
        return quantifier(Quant("forall", (element,), Bool(True), same), simplify)
    return fold(Builtin(Op.EQ, (left, right), BOOL))


def member(item: Term, whole: Term, simplify: Simplifier) -> Term:
    """`item in whole`."""
    inside = Builtin(Op.IN, (item, whole), BOOL)
    if simplify.room <= 0 or size(item) > ITEM:
        return inside
    match whole:
        case Builtin(op=Op.SET | Op.SEQ, args=items):
            return disjunction(equal(item, other, simplify) for other in items)
        case SetComp(vars=(var,), range=bounds, term=Var(name=name)) if name == var.name:
            natural = simplify(constraint(item, var.sort, simplify.core))
            return conjunction([natural, simplify(simplify.put_in(bounds, {var.name: item}))])
        case SetComp():
            renamed = tuple(simplify.scope.fresh(v.name, v.sort) for v in whole.vars)
            mapping: dict[str, Term] = {v.name: r for v, r in zip(whole.vars, renamed, strict=True)}
            image = equal(substitute(whole.term, mapping), item, simplify)
            bounds = simplify(simplify.put_in(whole.range, mapping))
            return quantifier(Quant("exists", renamed, bounds, image), simplify)
        case Builtin(op=Op.UNION, args=(a, b)):
            return disjunction([member(item, a, simplify), member(item, b, simplify)])
        case Builtin(op=Op.INTERSECT, args=(a, b)):
            return conjunction([member(item, a, simplify), member(item, b, simplify)])
        case Builtin(op=Op.MINUS, args=(a, b)):
            return conjunction([member(item, a, simplify), negation(member(item, b, simplify))])
        case Builtin(op=Op.ITE, args=(condition, a, b)):
            yes, no = member(item, a, simplify), member(item, b, simplify)
            return conjunction([implies(condition, yes), implies(negation(condition), no)])
    return inside


def all_members(left: Term, right: Term, simplify: Simplifier, inside: bool) -> Term:
    """Every member of `left` is one of `right`; without `inside`, none is."""
    assert isinstance(left.sort, SetOf)
    element = simplify.scope.fresh("e", left.sort.element)
    there = member(element, right, simplify)
    claim = implies(member(element, left, simplify), there if inside else negation(there))
    return quantifier(Quant("forall", (element,), Bool(True), claim), simplify)


def cardinality(term: Builtin, whole: Term, simplify: Simplifier) -> Term:
    """`|whole|`: `term` itself where it can't be counted."""
    match whole:
        case Builtin(op=Op.SEQ, args=items):
            return Int(len(items))
        case Builtin(op=Op.SET, args=items) if len(items) <= WRITTEN:
            count: list[Term] = []
            for place, item in enumerate(items):
                known = disjunction(equal(item, other, simplify) for other in items[:place])
                count.append(conditional(known, Int(0), Int(1)))
            return summed(count)
        case SetComp(vars=(var,), range=bounds, term=Var(name=name)) if name == var.name and var.sort != REAL:
            found = interval(bounds, var)
            if found is not None and found[1] - found[0] <= MEMBERS and size(bounds) * MEMBERS < simplify.room:
                inside = [member(Int(value), whole, simplify) for value in range(*found)]
                return summed([conditional(part, Int(1), Int(0)) for part in inside])
    return term
