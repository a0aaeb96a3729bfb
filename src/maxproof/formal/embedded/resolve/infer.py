"""Expressions in general: `infer` goes through one once, by the table of cases that the declaration brings along.

It returns the type, in which unknowns may remain until the declaration is done, and a function that builds the core
term when all types are known; so no tree of typed expressions is needed between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.formal.embedded.core import BOOL, INT, NAT, Term
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.scope import MAX_NESTING, MAX_SIZE, Env, Typed, Unit, Version
from maxproof.formal.embedded.resolve.types import Type, Variable
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position


def infer(unit: Unit, env: Env, expr: ast.Expr, hint: Type | None = None) -> Typed:
    """Resolves `expr` among the variables `env`.

    Args:
        hint: the type its place expects, if that is known: a lambda takes the types of its parameters from it.

    Raises:
        Unsupported: outside the fragment, or nested deeper than `MAX_NESTING`.
    """
    unit.depth += 1
    if unit.depth > MAX_NESTING:
        raise Unsupported(f"an expression nested deeper than {MAX_NESTING} levels", expr.at)
    unit.size += unit.copies
    if unit.size > MAX_SIZE:
        raise Unsupported(f"a declaration of more than {MAX_SIZE} terms", expr.at)
    try:
        return unit.cases[type(expr)](unit, env, expr, hint)
    finally:
        unit.depth -= 1


def expect(unit: Unit, env: Env, expr: ast.Expr, type_: Type, what: str) -> Typed:
    """`infer` where a value of `type_` is wanted; `what` names the place in messages."""
    typed = infer(unit, env, expr, type_)
    unit.agree(typed.type, type_, expr.at, what)
    if type_ in (INT, NAT):
        place(env, expr, "nat" if type_ == NAT else "int")
    return typed


def place(env: Env, expr: ast.Expr, what: str) -> None:
    """Notes in which place (`Variable.places`) a variable stands, if `expr` is one."""
    if isinstance(expr, ast.Name) and expr.name in env:
        variable = env[expr.name].variable
        variable.places.add(what)
        variable.placed += 1


def condition(unit: Unit, env: Env, expr: ast.Expr, what: str = "a condition") -> Typed:
    return expect(unit, env, expr, BOOL, what)


def arguments(
    unit: Unit, env: Env, name: str, params: Sequence[Type], args: Sequence[ast.Expr], at: Position
) -> list[Typed]:
    """The arguments of a call of `name`, checked against its parameters' types."""
    if len(params) != len(args):
        unit.report(f"{name} takes {count(len(params), 'argument')}, got {len(args)}", at)
        return [infer(unit, env, arg) for arg in args]
    return [
        expect(unit, env, arg, param, f"argument {number} of {name}")
        for number, (arg, param) in enumerate(zip(args, params, strict=True), 1)
    ]


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def define(unit: Unit, env: Env, variable: Variable, value: ast.Expr) -> Typed:
    """The value of a variable that is given one, checked against its type where one was written."""
    typed = expect(unit, env, value, variable.type, variable.name)
    if not variable.written:
        place(env, value, "neutral")
    return typed


def take_sort(version: Version, value: Term) -> None:
    """A variable without a written type has the sort of its first value."""
    if version.variable.sort is None and not version.variable.written:
        version.variable.sort = value.sort
