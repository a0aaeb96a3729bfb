"""Sets and sequences in Z3's language: sets are arrays to Bool, sequences Z3's own.

A finite set is an array like any other. That a set is finite is a predicate of its own, assumed of every term of a
finite set's type, so that a hypothesis on all finite sets says nothing of infinite ones. Its size is an uninterpreted
function with facts about the sets at hand: empty, one element more, inclusion. They hold for infinite arrays too if
only elements of a large enough finite part are counted, so nothing contradicts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import z3

from maxproof.formal.embedded.core import Builtin, Op, SeqOf, SetOf, Term, Var
from maxproof.formal.embedded.core.walk import free_variables
from maxproof.formal.embedded.encode.sorts import FINITE
from maxproof.formal.embedded.errors import Unsupported

if TYPE_CHECKING:
    from maxproof.formal.embedded.encode.terms import Encoder

Expr = Any  # z3.ExprRef
COMPARED = 12  # sets of known size that a new one is compared with


def collection(encoder: Encoder, term: Builtin, args: list[Expr], scope: Mapping[str, Expr]) -> Expr:
    """An operator on sets or sequences; `args` are its operands."""
    if term.op is Op.SEQ_INIT:
        raise Unsupported("a sequence of symbolic length", term.at)
    whole = term.args[1] if term.op is Op.IN else term.args[0]
    return _sequence(encoder, term, args) if isinstance(whole.sort, SeqOf) else _set(encoder, term, args, scope)


def _set(encoder: Encoder, term: Builtin, args: list[Expr], scope: Mapping[str, Expr]) -> Expr:
    a = args[0]
    match term.op:
        case Op.IN:
            return z3.Select(args[1], a)
        case Op.UNION:
            return finite_result(encoder, z3.SetUnion(*args), term, scope)
        case Op.INTERSECT:
            return finite_result(encoder, z3.SetIntersect(*args), term, scope)
        case Op.MINUS:
            return finite_result(encoder, z3.SetDifference(*args), term, scope)
        case Op.SUBSET:
            return z3.IsSubset(*args)
        case Op.PROPER_SUBSET:
            return z3.And(z3.IsSubset(*args), args[0] != args[1])
        case Op.DISJOINT:
            return z3.SetIntersect(*args) == z3.K(a.sort().domain(), z3.BoolVal(False, encoder.context))
        case Op.CARD:
            return _card(encoder, term, a, scope)
    raise Unsupported(f"operator {term.op}", term.at)


def display(encoder: Encoder, term: Builtin, scope: Mapping[str, Expr]) -> Expr:
    """A set or sequence by its items."""
    assert isinstance(term.sort, SetOf | SeqOf)
    items = [encoder(arg, scope) for arg in term.args]
    if isinstance(term.sort, SeqOf):
        if not items:
            return z3.Empty(encoder.sort(term.sort))
        units = [z3.Unit(item) for item in items]
        return units[0] if len(units) == 1 else z3.Concat(*units)
    made = z3.K(encoder.sort(term.sort.element), z3.BoolVal(False, encoder.context))
    for item in items:
        made = z3.Store(made, item, z3.BoolVal(True, encoder.context))
    return finite_result(encoder, made, term, scope)


def _sequence(encoder: Encoder, term: Builtin, args: list[Expr]) -> Expr:
    a = args[0]
    zero, one = z3.IntVal(0, encoder.context), z3.IntVal(1, encoder.context)
    match term.op:
        case Op.IN:
            return z3.Contains(args[1], z3.Unit(a))
        case Op.CARD:
            return z3.Length(a)
        case Op.CONCAT:
            return z3.Concat(*args)
        case Op.AT:
            return a[args[1]]
        case Op.SLICE:
            return z3.SubSeq(a, args[1], args[2] - args[1])
        case Op.SEQ_UPDATE:
            head = z3.SubSeq(a, zero, args[1])
            tail = z3.SubSeq(a, args[1] + one, z3.Length(a) - args[1] - one)
            return z3.Concat(head, z3.Unit(args[2]), tail)
        case Op.PREFIX:
            return z3.PrefixOf(*args)
    raise Unsupported(f"operator {term.op}", term.at)


def finite_result(encoder: Encoder, made: Expr, term: Builtin, scope: Mapping[str, Expr]) -> Expr:
    """`made`, known to be finite if the type says so."""
    if isinstance(term.sort, SetOf) and term.sort.finite and not mentions(term, scope):
        is_finite(encoder, made, term.sort)
    return made


def is_finite(encoder: Encoder, made: Expr, sort: SetOf) -> None:
    """Adds that `made` is finite."""
    if made.get_id() not in encoder.finite:
        encoder.finite.add(made.get_id())
        encoder.facts.append(encoder.declared(FINITE, encoder.sort(sort), z3.BoolSort(encoder.context))(made))


def _card(encoder: Encoder, term: Builtin, whole: Expr, scope: Mapping[str, Expr]) -> Expr:
    sort = term.args[0].sort
    encoder.opaque = True
    count = encoder.declared("card#", encoder.sort(sort), z3.IntSort(encoder.context))
    known = encoder.cards.get(sort)
    if known is None:
        known = encoder.cards[sort] = []
        (any_set,), _ = encoder.bind((Var("s", sort),), {})
        encoder.facts.append(z3.ForAll([any_set], count(any_set) >= 0, patterns=[count(any_set)]))
    if not mentions(term, scope) and all(not whole.eq(other) for other in known):
        known.append(whole)
        _card_facts(encoder, count, whole, known)
    return count(whole)


def _card_facts(encoder: Encoder, count: Any, whole: Expr, known: list[Expr]) -> None:
    empty = z3.K(whole.sort().domain(), z3.BoolVal(False, encoder.context))
    encoder.facts.append((count(whole) == 0) == (whole == empty))
    encoder.facts.append(count(whole) >= 0)
    inner = whole
    while z3.is_store(inner):
        base, item = inner.arg(0), inner.arg(1)
        grown = z3.If(z3.Select(base, item), count(base), count(base) + 1)
        encoder.facts.append(count(inner) == grown)
        inner = base
    if z3.is_K(inner) and z3.is_false(inner.arg(0)):
        encoder.facts.append(count(inner) == 0)
    for other in known[:-1][:COMPARED]:
        for small, large in ((whole, other), (other, whole)):
            inside = z3.IsSubset(small, large)
            encoder.facts.append(z3.Implies(inside, count(small) <= count(large)))
            encoder.facts.append(z3.Implies(z3.And(inside, count(small) == count(large)), small == large))


def mentions(term: Term, scope: Mapping[str, Expr]) -> bool:
    """`term` depends on a bound variable."""
    return bool(scope) and any(v.name in scope for v in free_variables(term))
