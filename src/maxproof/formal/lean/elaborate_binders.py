"""Terms that bind variables: quantifiers, functions, `∑` and `∏`, set builders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maxproof.formal.lean.elaborate_types import is_type
from maxproof.formal.lean.terms import Arrow, Comprehension, Connective, Fold, Lambda, Quantify, SetType, Term, Type
from maxproof.formal.lean.tree import BigOperator, BoundName, Function, Ident, Infix, Quantified, SetBuilder

if TYPE_CHECKING:
    from maxproof.formal.lean.elaborate import Elaborator


def _binder_type(e: Elaborator, binder: BoundName) -> Type:
    return e.type(binder.type) if binder.type is not None else e.unifier.fresh()


def quantified(e: Elaborator, syntax: Quantified, binders: Sequence[BoundName]) -> Term:
    if not binders:
        return e.prop(syntax.body)
    if syntax.kind == "∃!" and len(syntax.binders) > 1:
        e.refuse("`∃!` with several variables", syntax.at)
    binder, rest = binders[0], binders[1:]
    joined: Connective
    if binder.type is not None and not is_type(binder.type):
        fact = e.prop(binder.type)
        return Connective("→" if syntax.kind == "∀" else "∧", fact, quantified(e, syntax, rest), at=binder.at)
    var = e.variable(binder.name, _binder_type(e, binder), binder.at)
    with e.bound(var):
        if binder.bound is None:
            body = quantified(e, syntax, rest)
        else:
            bound = e.term(Infix(binder.relation, Ident(binder.name, binder.at), binder.bound, binder.at), None)
            op = "→" if syntax.kind == "∀" else "∧"
            joined = Connective(op, bound, quantified(e, syntax, rest), at=binder.at)  # type: ignore[arg-type]
            body = joined
    return Quantify(syntax.kind, var, body, at=syntax.at)


def function(e: Elaborator, syntax: Function, binders: Sequence[BoundName], expected: Type | None) -> Term:
    if not binders:
        return e.term(syntax.body, expected)
    wanted = e.unifier.resolve(expected) if expected is not None else None
    var = e.variable(binders[0].name, _binder_type(e, binders[0]), binders[0].at)
    if isinstance(wanted, Arrow) and not e.unifier.unify(var.type, wanted.domain):
        e.refuse(f"`{var.name}` of another type than {wanted.domain}", var.at)
    with e.bound(var):
        codomain = wanted.codomain if isinstance(wanted, Arrow) else None
        body = function(e, syntax, binders[1:], codomain)
        if codomain is not None:
            body = e.ensure(body, codomain)
    return Lambda(var, body, Arrow(var.type, body.type), at=syntax.at)


def big_operator(e: Elaborator, syntax: BigOperator, expected: Type | None) -> Term:
    if syntax.domain is None:
        e.refuse(f"`{syntax.kind}` over a whole type", syntax.at)
    domain = e.term(syntax.domain)
    type_ = e.unifier.resolve(domain.type)
    if not isinstance(type_, SetType) or not type_.finite:
        e.refuse(f"`{syntax.kind}` over something of type {type_}", syntax.at)
    var = e.variable(syntax.binder.name, type_.element, syntax.binder.at)
    with e.bound(var):
        if syntax.condition is not None:
            domain = Comprehension(var, domain, e.prop(syntax.condition), type_, at=syntax.at)
            var = e.variable(var.name, var.type, var.at)
    with e.bound(var):
        wanted = e.known(expected)
        body = e.term(syntax.body, wanted)
        if wanted is not None:
            body = e.ensure(body, wanted)
    return Fold(syntax.kind, var, domain, body, body.type, at=syntax.at)


def set_builder(e: Elaborator, syntax: SetBuilder, expected: Type | None) -> Term:
    type_ = e.unifier.resolve(expected) if expected is not None else None
    domain = e.term(syntax.domain, expected) if syntax.domain is not None else None
    finite = False
    if domain is not None:
        type_ = e.unifier.resolve(domain.type)
        if not isinstance(type_, SetType):
            e.refuse(f"a part of something of type {type_}", syntax.at)
        finite = type_.finite
    var = e.variable(syntax.binder.name, _binder_type(e, syntax.binder), syntax.binder.at)
    if isinstance(type_, SetType) and not e.unifier.unify(var.type, type_.element):
        e.refuse(f"`{var.name}` of another type than {type_.element}", var.at)
    with e.bound(var):
        body = e.prop(syntax.body)
    return Comprehension(var, domain, body, SetType(var.type, finite), at=syntax.at)
