"""Statements that give variables values: declarations, assignments, choices, lemma calls, return."""

from __future__ import annotations

from collections.abc import Iterable

from maxproof.formal.embedded.core import (
    CallStep,
    ChooseStep,
    Define,
    ReturnStep,
    Step,
)
from maxproof.formal.embedded.resolve.flow import Scope, Steps, nothing
from maxproof.formal.embedded.resolve.infer import arguments, condition, count, define, infer, take_sort
from maxproof.formal.embedded.resolve.scope import Env, Signature, Typed, Unit, Version, joined
from maxproof.formal.embedded.resolve.types import Variable, mistaken, sort_of
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position
from maxproof.problems.errors import nearest


def var_statement(unit: Unit, scope: Scope, statement: ast.VarStmt) -> Steps:
    variables = [unit.variable(binder, "local") for binder in statement.binders]
    for place, (variable, binder) in enumerate(zip(variables, statement.binders, strict=True)):
        again = variable.name in scope.own or variable.name in [other.name for other in variables[:place]]
        if again and variable.name != "_":
            unit.report(f"{variable.name} is declared twice", binder.at)
    if not statement.values:
        _renew(unit, scope, variables)
        return nothing
    return _give(unit, scope, variables, statement)


def assign_statement(unit: Unit, scope: Scope, statement: ast.Assign) -> Steps:
    variables: list[Variable] = []
    for name in statement.targets:
        variable = scope.names.get(name)
        if variable is None:
            unit.report(joined(f"unknown variable {name}", nearest(name, scope.names)), statement.at)
        elif variable not in scope.assignable:
            unit.report(f"{name} can't be assigned here: {_why_fixed(variable)}", statement.at)
        elif variable in variables:
            unit.report(f"{name} is assigned twice", statement.at)
        else:
            variables.append(variable)
    if len(variables) < len(statement.targets):
        return nothing
    return _give(unit, scope, variables, statement)


def _why_fixed(variable: Variable) -> str:
    kinds = {"parameter": "it is a parameter", "local": _OUTSIDE, "result": _OUTSIDE}
    return kinds.get(variable.kind, "it is bound, not declared with var")


_OUTSIDE = "it is declared outside of this proof"


def _give(unit: Unit, scope: Scope, variables: list[Variable], statement: ast.VarStmt | ast.Assign) -> Steps:
    """Values for `variables`: from expressions, from a predicate over them, or from a lemma's results."""
    at = statement.at
    first = statement.values[0]
    env = scope.env()
    if statement.such_that:
        versions = _renew(unit, scope, variables)
        for variable in variables:
            if not variable.written and isinstance(statement, ast.VarStmt):
                variable.kind = "bound"
        test = condition(unit, scope.env(), first, "what follows :|")
        return lambda: [ChooseStep(tuple([version.var(at) for version in versions]), test.build(), at=at)]
    call = _lemma_call(unit, env, first) if len(statement.values) == 1 else None
    if call is not None:
        assert isinstance(first, ast.Apply)
        return _call_for(unit, scope, first, call, variables, at)
    if len(variables) != len(statement.values):
        unit.report(f"{count(len(variables), 'value')} expected on the right of :=, got {len(statement.values)}", at)
        _renew(unit, scope, variables)
        return nothing
    values = [define(unit, env, *pair) for pair in zip(variables, statement.values, strict=True)]
    versions = _renew(unit, scope, variables)

    def build() -> list[Step]:
        built = [value.build() for value in values]
        steps: list[Step] = []
        for version, value in zip(versions, built, strict=True):
            take_sort(version, value)
            steps.append(Define(version.var(at), value, at=at))
        return steps

    return build


def _renew(unit: Unit, scope: Scope, variables: Iterable[Variable]) -> list[Version]:
    """A new version of each variable, current from here on; one that is new itself is declared."""
    versions = [Version(variable, unit.fresh(variable.name)) for variable in variables]
    for version in versions:
        if version.variable in scope.current:
            scope.current[version.variable] = version.name
        else:
            scope.declare(version)
    return versions


# Calls


def _lemma_call(unit: Unit, env: Env, expr: ast.Expr) -> Signature | None:
    if isinstance(expr, ast.Apply) and isinstance(expr.function, ast.Name) and expr.function.name not in env:
        signature = unit.signatures.callables.get(expr.function.name)
        return signature if signature is not None and signature.kind == "lemma" else None
    return None


def _call_for(
    unit: Unit,
    scope: Scope,
    call: ast.Apply,
    signature: Signature,
    variables: list[Variable],
    at: Position,
) -> Steps:
    """`x, y := L(args)`; no variables for a call alone."""
    assert isinstance(call.function, ast.Name)
    name = call.function.name
    args = arguments(unit, scope.env(), name, signature.params, call.args, call.at)
    if len(variables) != len(signature.results):
        unit.report(f"{name} has {count(len(signature.results), 'result')}, {len(variables)} taken", at)
    for variable, result in zip(variables, signature.results, strict=False):
        unit.agree(result, variable.type, at, variable.name)
        if not variable.written and variable.sort is None:
            variable.sort = None if mistaken(result) else sort_of(result)
    versions = _renew(unit, scope, variables)

    def build() -> list[Step]:
        outs = tuple([version.var(at) for version in versions])
        return [CallStep(name, tuple([arg.build() for arg in args]), outs, at=at)]

    return build


def call_statement(unit: Unit, scope: Scope, statement: ast.CallStmt) -> Steps:
    env = scope.env()
    signature = _lemma_call(unit, env, statement.call)
    if signature is None:
        function = statement.call.function
        if isinstance(function, ast.Name):
            known = function.name in env or function.name in unit.signatures.names()
            lemmas = [name for name, other in unit.signatures.callables.items() if other.kind == "lemma"]
            message = f"{function.name} is not a lemma" if known else f"unknown lemma {function.name}"
            unit.report(message if known else joined(message, nearest(function.name, lemmas)), statement.at)
        else:
            unit.report("only a lemma can be called in a statement", statement.at)
        return nothing
    return _call_for(unit, scope, statement.call, signature, [], statement.at)


def return_statement(unit: Unit, scope: Scope, statement: ast.Return) -> Steps:
    at = statement.at
    results = scope.results
    if results is None:
        unit.report("return is not allowed inside a proof of one step", at)
        return nothing
    env = {result.name: Version(result, scope.current[result]) for result in results}
    values: list[Typed] = []
    if statement.values and len(statement.values) != len(results):
        unit.report(f"{count(len(results), 'result')} expected, got {len(statement.values)}", at)
    elif statement.values:
        here = scope.env()
        for result, value in zip(results, statement.values, strict=True):
            values.append(define(unit, here, result, value))
    else:
        values = [infer(unit, env, ast.Name(result.name, at=at)) for result in results]
    scope.ended = True
    return lambda: [ReturnStep(tuple([value.build() for value in values]), at=at)]
