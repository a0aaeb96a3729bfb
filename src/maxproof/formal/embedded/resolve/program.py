"""From the syntax tree to the core: names are bound, types inferred and checked, sugar removed.

Each declaration is resolved twice over: first `infer` goes through its clauses and body and solves their types, then
the terms are built. Mistakes are collected over the whole program; what lies outside the fragment ends it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from maxproof.formal.checkers.types import Diagnostic
from maxproof.formal.embedded.core import (
    CoreFunction,
    CoreLemma,
    CoreProgram,
    Step,
    Term,
)
from maxproof.formal.embedded.core.walk import children
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve import binders, collections, expressions, match, statements
from maxproof.formal.embedded.resolve.flow import Scope
from maxproof.formal.embedded.resolve.infer import condition, expect, infer
from maxproof.formal.embedded.resolve.scope import Case, Typed, Unit, Version
from maxproof.formal.embedded.resolve.signatures import result_type, signatures
from maxproof.formal.embedded.resolve.statements import block
from maxproof.formal.syntax import ast

MAX_DEPTH = 250
"""Levels that a term or statement of the core may have. Lowering makes some more than the text has."""

_EXPRESSIONS: dict[type, Case] = {
    **expressions.CASES,
    **collections.CASES,
    **binders.CASES,
    **match.CASES,
    **statements.CASES,
}


def resolve(program: ast.Program, targets: Collection[str] = ()) -> CoreProgram:
    """Resolves all declarations.

    Args:
        targets: names of what is to be verified; every other declaration is marked trusted.

    Raises:
        ResolutionError: names or types are wrong; it has all the mistakes found, in the order of the text.
        Unsupported: a construct outside the fragment.
    """
    problems: list[Diagnostic] = []
    known = signatures(program, problems, _EXPRESSIONS)
    builders: list[Callable[[], CoreFunction | CoreLemma]] = []
    for declaration in program.declarations:
        unit = Unit(known, _EXPRESSIONS, problems)
        if isinstance(declaration, ast.Function):
            builders.append(_function(unit, declaration, declaration.name not in targets))
        elif isinstance(declaration, ast.Lemma):
            builders.append(_lemma(unit, declaration, declaration.name not in targets))
        unit.finish()
    _refuse(problems)
    built = [build() for build in builders]
    _refuse(problems)
    functions = {each.name: each for each in built if isinstance(each, CoreFunction)}
    lemmas = {each.name: each for each in built if isinstance(each, CoreLemma)}
    return CoreProgram(known.datatypes, functions, lemmas)


def _refuse(problems: list[Diagnostic]) -> None:
    if problems:
        raise ResolutionError(tuple(sorted(problems, key=lambda problem: problem.at)))


def _function(unit: Unit, declaration: ast.Function, trusted: bool) -> Callable[[], CoreFunction]:
    at = declaration.at
    env, params = unit.bind({}, declaration.params, "parameter")
    result_name = declaration.result_name or "result"
    binder = ast.Binder(result_name, result_type(declaration), at=at)
    result = Version(unit.variable(binder, "result"), unit.fresh(result_name))
    requires = [condition(unit, env, clause.condition, "requires") for clause in declaration.requires]
    decreases = [infer(unit, env, measure) for measure in declaration.decreases]
    body = None
    if declaration.body is not None:
        body = expect(unit, env, declaration.body, result.variable.type, f"the body of {declaration.name}")
    if declaration.result_name:
        if declaration.result_name in env:
            unit.report(f"{declaration.result_name} is a parameter already", at)
        env[declaration.result_name] = result
    unit.result_call = (declaration.name, tuple([param.variable for param in params]), result)
    ensures = [condition(unit, env, clause.condition, "ensures") for clause in declaration.ensures]

    def build() -> CoreFunction:
        return CoreFunction(
            declaration.name,
            tuple([param.var(at) for param in params]),
            result.var(at),
            _built(requires),
            _built(ensures),
            _built(decreases),
            None if body is None else _checked(body.build()),
            trusted,
            _fuel(declaration),
            at=at,
        )

    return build


def _lemma(unit: Unit, declaration: ast.Lemma, trusted: bool) -> Callable[[], CoreLemma]:
    at = declaration.at
    env, params = unit.bind({}, declaration.params, "parameter")
    requires = [condition(unit, env, clause.condition, "requires") for clause in declaration.requires]
    decreases = [infer(unit, env, measure) for measure in declaration.decreases]
    outer, results = unit.bind(env, declaration.results, "result")
    for result in results:
        if result.variable.name in env:
            unit.report(f"{result.variable.name} is a parameter already", at)
    ensures = [condition(unit, outer, clause.condition, "ensures") for clause in declaration.ensures]
    scope = Scope(
        {name: version.variable for name, version in outer.items()},
        {version.variable: version.name for version in (*params, *results)},
        frozenset([result.variable for result in results]),
        tuple([result.variable for result in results]),
    )
    body = None if declaration.body is None else block(unit, scope, declaration.body)
    finals = [] if body is None else [Version(result.variable, scope.current[result.variable]) for result in results]

    def build() -> CoreLemma:
        steps = None if body is None else tuple(body())
        for step in steps or ():
            _checked(step)
        return CoreLemma(
            declaration.name,
            tuple([param.var(at) for param in params]),
            tuple([result.var(at) for result in results]),
            _built(requires),
            _built(ensures),
            _built(decreases),
            steps,
            tuple([final.var(at) for final in finals]),
            trusted,
            _induction(declaration),
            at=at,
        )

    return build


def _built(parts: Iterable[Typed]) -> tuple[Term, ...]:
    return tuple([_checked(part.build()) for part in parts])


_Node = TypeVar("_Node", Term, Step)


def _checked(node: _Node) -> _Node:
    """`node`, unless it is too deep for walks that recurse."""
    level: list[Term | Step] = [node]
    for _ in range(MAX_DEPTH):
        level = [part for above in level for part in children(above)]
        if not level:
            return node
    raise Unsupported(f"terms of more than {MAX_DEPTH} levels", node.at)


def _fuel(declaration: ast.Function) -> int | None:
    """The fuel that `{:fuel n}` gives; `{:opaque}` has no counterpart here."""
    fuel: int | None = None
    for attribute in declaration.attributes:
        if attribute.name.lower() == "opaque":
            raise Unsupported("{:opaque}", attribute.at)
        if attribute.name.lower() == "fuel" and attribute.args and isinstance(attribute.args[0], ast.IntLiteral):
            fuel = attribute.args[0].value
    return fuel


def _induction(declaration: ast.Lemma) -> tuple[str, ...] | bool | None:
    """`{:induction false}`, `{:induction}`, `{:induction x, y}`; None without the attribute."""
    for attribute in declaration.attributes:
        if attribute.name.lower() == "induction":
            if not attribute.args:
                return True
            if len(attribute.args) == 1 and isinstance(attribute.args[0], ast.BoolLiteral):
                return attribute.args[0].value
            return tuple([arg.name for arg in attribute.args if isinstance(arg, ast.Name)])
    return None
