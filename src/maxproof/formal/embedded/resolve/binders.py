"""Expressions that bind variables: let, such-that, lambdas, quantifiers, set comprehensions."""

from __future__ import annotations

from maxproof.formal.embedded.core import (
    BOOL,
    Choose,
    FunctionOf,
    Lambda,
    Let,
    Quant,
    SetComp,
    SetOf,
    Term,
)
from maxproof.formal.embedded.core.walk import conjunction
from maxproof.formal.embedded.resolve.finite import unbounded
from maxproof.formal.embedded.resolve.infer import condition, count, define, infer, place, take_sort
from maxproof.formal.embedded.resolve.operators import (
    TRUE,
)
from maxproof.formal.embedded.resolve.scope import Case, Env, Typed, Unit, Version
from maxproof.formal.embedded.resolve.types import (
    Type,
    function_of,
    head,
    set_of,
)
from maxproof.formal.syntax import ast


def _let(unit: Unit, env: Env, expr: ast.LetExpr, hint: Type | None) -> Typed:
    if expr.such_that:
        inner, versions = unit.bind(env, expr.binders, "bound")
        predicate = condition(unit, inner, expr.values[0], "what follows :|")
        body = infer(unit, inner, expr.body, hint)

        def choose() -> Term:
            bound = tuple([version.var(expr.at) for version in versions])
            return Choose(bound, predicate.build(), body.build(), at=expr.at)

        return Typed(body.type, choose)
    if len(expr.binders) != len(expr.values):
        expected = count(len(expr.binders), "value")
        return unit.mistake(f"{expected} expected on the right of :=, got {len(expr.values)}", expr.at)
    inner, versions = unit.bind(env, expr.binders, "local")
    values = [define(unit, env, version.variable, value) for version, value in zip(versions, expr.values, strict=True)]
    body = infer(unit, inner, expr.body, hint)

    def build() -> Term:
        built = [value.build() for value in values]
        term = body_of(versions, built)
        for version, value in zip(reversed(versions), reversed(built), strict=True):
            term = Let(version.var(expr.at), value, term, at=expr.at)
        return term

    def body_of(bound: list[Version], built: list[Term]) -> Term:
        for version, value in zip(bound, built, strict=True):
            take_sort(version, value)
        return body.build()

    return Typed(body.type, build)


def _lambda(unit: Unit, env: Env, expr: ast.LambdaExpr, hint: Type | None) -> Typed:
    inner, versions = unit.bind(env, expr.params, "lambda")
    wanted = None if hint is None else head(hint)
    result: Type | None = None
    if isinstance(wanted, FunctionOf) and len(wanted.params) == len(versions):
        for version, param in zip(versions, wanted.params, strict=True):
            if not version.variable.written:
                unit.agree(version.variable.type, param, expr.at, version.variable.name)
        result = wanted.result
    requires = [condition(unit, inner, part, "requires") for part in expr.requires]
    body = infer(unit, inner, expr.body, result)

    def build() -> Term:
        bound = tuple([version.var(expr.at) for version in versions])
        need = conjunction([part.build() for part in requires])
        term = body.build()
        sort = FunctionOf(tuple([var.sort for var in bound]), term.sort, not requires)
        return Lambda(bound, term, sort, need, at=expr.at)

    params = tuple([version.variable.type for version in versions])
    return Typed(function_of(params, body.type, not requires), build)


def _quantifier(unit: Unit, env: Env, expr: ast.Quantifier, hint: Type | None) -> Typed:
    inner, versions = unit.bind(env, expr.binders, "bound")
    limits = TRUE if expr.range is None else condition(unit, inner, expr.range, "a range")
    body = condition(unit, inner, expr.body, f"the body of {expr.kind}")
    triggers = [
        [infer(unit, inner, term) for term in attribute.args]
        for attribute in expr.attributes
        if attribute.name == "trigger"
    ]

    def build() -> Term:
        bound = tuple([version.var(expr.at) for version in versions])
        patterns = tuple([tuple([term.build() for term in trigger]) for trigger in triggers])
        return Quant(expr.kind, bound, limits.build(), body.build(), patterns, at=expr.at)

    return Typed(BOOL, build)


def _comprehension(unit: Unit, env: Env, expr: ast.Comprehension, hint: Type | None) -> Typed:
    inner, versions = unit.bind(env, expr.binders, "bound")
    limits = condition(unit, inner, expr.range, "a range")
    if expr.term is None and len(versions) != 1:
        return unit.mistake("a set of several variables needs a term, as in set x, y | P :: (x, y)", expr.at)
    term_expr = expr.term if expr.term is not None else ast.Name(expr.binders[0].name, at=expr.binders[0].at)
    term = infer(unit, inner, term_expr)
    place(inner, term_expr, "neutral")

    def build() -> Term:
        bound = tuple([version.var(expr.at) for version in versions])
        test, item = limits.build(), term.build()
        if expr.finite:
            loose = unbounded(bound, test, unit.signatures.datatypes)
            if loose:
                names = ", ".join(var.name for var in loose)
                message = f"the set may be infinite: nothing bounds {names} (use iset, or write bounds)"
                unit.report(message, expr.at)
        return SetComp(bound, test, item, SetOf(item.sort, expr.finite), at=expr.at)

    return Typed(set_of(term.type, expr.finite), build)


CASES: dict[type, Case] = {
    ast.LetExpr: _let,
    ast.LambdaExpr: _lambda,
    ast.Quantifier: _quantifier,
    ast.Comprehension: _comprehension,
}
