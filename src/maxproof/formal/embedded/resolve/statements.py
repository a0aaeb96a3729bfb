"""Statements: every assignment makes a new variable, and the versions of two branches meet in a common one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from maxproof.formal.embedded.core import (
    AssertStep,
    Branch,
    Define,
    ForallStep,
    Proved,
    Step,
    Term,
    Var,
)
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.assignments import (
    assign_statement,
    call_statement,
    return_statement,
    var_statement,
)
from maxproof.formal.embedded.resolve.calc import calculation
from maxproof.formal.embedded.resolve.flow import Scope, Steps, nothing
from maxproof.formal.embedded.resolve.infer import condition, infer
from maxproof.formal.embedded.resolve.match import Pattern, patterns
from maxproof.formal.embedded.resolve.operators import TRUE
from maxproof.formal.embedded.resolve.scope import MAX_NESTING, Case, Env, Typed, Unit, Version
from maxproof.formal.embedded.resolve.types import Type, Variable
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position


def proof_steps(unit: Unit, env: Env, statements: Sequence[ast.Stmt]) -> Steps:
    """Statements that stand in an expression: they change no variable outside."""
    names = {name: version.variable for name, version in env.items()}
    scope = Scope(names, {version.variable: version.name for version in env.values()})
    return block(unit, scope, statements)


def block(unit: Unit, scope: Scope, statements: Iterable[ast.Stmt]) -> Steps:
    """The statements in order, in `scope` itself."""
    unit.depth += 1
    if unit.depth > MAX_NESTING:
        raise Unsupported(f"statements nested deeper than {MAX_NESTING} levels")
    try:
        parts = [_STATEMENTS[type(statement)](unit, scope, statement) for statement in statements]
    finally:
        unit.depth -= 1

    def build() -> list[Step]:
        steps: list[Step] = []
        for part in parts:
            steps.extend(part())
        return steps

    return build


def _locked(unit: Unit, scope: Scope, statements: Iterable[ast.Stmt]) -> Steps:
    return block(unit, scope.inner(locked=True), statements)


def _assert(unit: Unit, scope: Scope, statement: ast.Assert) -> Steps:
    test = condition(unit, scope.env(), statement.condition, "an assertion")
    by = None if statement.by is None else _locked(unit, scope, statement.by.body)
    return lambda: [AssertStep(test.build(), None if by is None else tuple(by()), at=statement.at)]


def _assume(unit: Unit, scope: Scope, statement: ast.Assume) -> Steps:
    unit.report(f"{statement.keyword} proves nothing: it is not accepted", statement.at)
    return nothing


def _block(unit: Unit, scope: Scope, statement: ast.Block) -> Steps:
    inner = scope.inner()
    steps = block(unit, inner, statement.body)
    for variable in scope.current:
        scope.current[variable] = inner.current[variable]
    scope.ended = inner.ended
    return steps


def _calc(unit: Unit, scope: Scope, statement: ast.Calc) -> Steps:
    env = scope.env()
    with unit.copied(4):
        lines = [infer(unit, env, line) for line in statement.lines]
    hints = [_locked(unit, scope, hint) for hint in statement.hints]
    step = calculation(unit, statement, lines)
    return lambda: [step(tuple([tuple(hint()) for hint in hints]))]


def _forall(unit: Unit, scope: Scope, statement: ast.ForallStmt) -> Steps:
    inner = scope.inner(locked=True)
    inner.own = set()
    _, versions = unit.bind({}, statement.binders, "bound")
    for version in versions:
        inner.declare(version)
    env = inner.env()
    limits = TRUE if statement.range is None else condition(unit, env, statement.range, "a range")
    ensures = [condition(unit, env, clause.condition, "ensures") for clause in statement.ensures]
    if statement.body is None:
        unit.report("a forall statement needs a body: { } if there is nothing to say", statement.at)
        return nothing
    inner.own = set()
    body = block(unit, inner, statement.body.body)

    def build() -> list[Step]:
        bound = tuple([version.var(statement.at) for version in versions])
        claims = tuple([clause.build() for clause in ensures])
        return [ForallStep(bound, limits.build(), claims, tuple(body()), at=statement.at)]

    return build


# Branches


@dataclass(slots=True)
class _Arm:
    scope: Scope
    steps: Steps
    joins: list[tuple[Variable, str, str]] = field(default_factory=list)

    def body(self, at: Position) -> tuple[Step, ...]:
        """Its steps, then the common versions of what was assigned in some arm."""
        steps = self.steps()
        for variable, new, old in self.joins:
            sort = variable.settled()
            steps.append(Define(Var(new, sort, at=at), Var(old, sort, at=at), at=at))
        return tuple(steps)


def _meet(unit: Unit, scope: Scope, arms: list[_Arm]) -> None:
    """After the arms, `scope` sees one version of each variable: the old one, or a new one that all arms define."""
    running = [arm for arm in arms if not arm.scope.ended]
    if not running:
        scope.ended = bool(arms)
        return
    for variable in scope.current:
        versions = [arm.scope.current[variable] for arm in running]
        if all(version == scope.current[variable] for version in versions):
            continue
        new = unit.fresh(variable.name)
        scope.current[variable] = new
        for arm, version in zip(running, versions, strict=True):
            arm.joins.append((variable, new, version))


def _arm(unit: Unit, scope: Scope, statements: Iterable[ast.Stmt], bound: Iterable[Version] = ()) -> _Arm:
    inner = scope.inner()
    for version in bound:
        inner.declare(version)
    inner.own = set()
    return _Arm(inner, block(unit, inner, statements))


def _guard(unit: Unit, scope: Scope, test: ast.Expr, binders: tuple[ast.Binder, ...]) -> tuple[Typed, list[Version]]:
    env, versions = unit.bind(scope.env(), binders, "bound")
    return condition(unit, env, test, "the condition of if"), versions


def _if(unit: Unit, scope: Scope, statement: ast.IfStmt) -> Steps:
    guards: list[tuple[Typed, list[Version]]] = []
    arms: list[_Arm] = []
    rest: ast.Block | ast.IfStmt | ast.IfCases | None = statement
    while isinstance(rest, ast.IfStmt):
        guards.append(_guard(unit, scope, rest.condition, rest.binders))
        arms.append(_arm(unit, scope, rest.then.body, guards[-1][1]))
        rest = rest.otherwise
    last = () if rest is None else rest.body if isinstance(rest, ast.Block) else (rest,)
    otherwise = _arm(unit, scope, last)
    _meet(unit, scope, [*arms, otherwise])
    return _branch(guards, arms, otherwise, statement.at)


def _if_cases(unit: Unit, scope: Scope, statement: ast.IfCases) -> Steps:
    guards = [_guard(unit, scope, case.condition, case.binders) for case in statement.cases]
    arms = [_arm(unit, scope, case.body, versions) for case, (_, versions) in zip(statement.cases, guards, strict=True)]
    _meet(unit, scope, arms)
    return _branch(guards, arms, None, statement.at)


def _branch(guards: list[tuple[Typed, list[Version]]], arms: list[_Arm], otherwise: _Arm | None, at: Position) -> Steps:
    """With `otherwise`, the first guard that holds decides; without, any that holds may."""

    def build() -> list[Step]:
        built = []
        for (test, versions), arm in zip(guards, arms, strict=True):
            bound = tuple([version.var(at) for version in versions])
            built.append((test.build(), bound, arm.body(at)))
        last = None if otherwise is None else otherwise.body(at)
        return [Branch(tuple(built), last, otherwise is not None, at=at)]

    return build


def _match(unit: Unit, scope: Scope, statement: ast.MatchStmt) -> Steps:
    value = infer(unit, scope.env(), statement.value)
    found = patterns(unit, value.type, statement.cases, statement.at)
    arms: list[_Arm] = []
    for pattern in found:
        body = pattern.case.body
        assert isinstance(body, tuple)
        bound = [version for _, version in pattern.fields if version.variable.name != "_"]
        arms.append(_arm(unit, scope, body, bound))
    _meet(unit, scope, arms)
    name = unit.fresh("match")

    def body_of(pattern: Pattern, arm: _Arm, subject: Term) -> tuple[Step, ...]:
        parts = [Define(var, part, at=pattern.case.at) for var, part in pattern.parts(subject)]
        return (*parts, *arm.body(statement.at))

    def build() -> list[Step]:
        whole = value.build()
        subject = whole if isinstance(whole, Var) else Var(name, whole.sort, at=statement.at)
        steps: list[Step] = [] if subject is whole else [Define(subject, whole, at=statement.at)]
        tests = [pattern.test(subject) for pattern in found]
        bodies = [body_of(pattern, arm, subject) for pattern, arm in zip(found, arms, strict=True)]
        guarded = tuple([(test, (), body) for test, body in zip(tests, bodies, strict=True) if test is not None])
        last = bodies[-1] if tests[-1] is None else None
        if last is None:
            guarded, last = guarded[:-1], bodies[-1]
        if not guarded:
            return [*steps, *last]
        return [*steps, Branch(guarded, last, at=statement.at)]

    return build


def _reveal(unit: Unit, scope: Scope, statement: ast.Reveal) -> Steps:
    return nothing


def _while(unit: Unit, scope: Scope, statement: ast.While) -> Steps:
    raise Unsupported("while loop", statement.at)


_STATEMENTS: dict[type, Callable[[Unit, Scope, Any], Steps]] = {
    ast.Assert: _assert,
    ast.Assume: _assume,
    ast.Block: _block,
    ast.Calc: _calc,
    ast.ForallStmt: _forall,
    ast.IfStmt: _if,
    ast.IfCases: _if_cases,
    ast.MatchStmt: _match,
    ast.VarStmt: var_statement,
    ast.Assign: assign_statement,
    ast.CallStmt: call_statement,
    ast.While: _while,
    ast.Return: return_statement,
    ast.Reveal: _reveal,
}


def _stmt_expr(unit: Unit, env: Env, expr: ast.StmtExpr, hint: Type | None) -> Typed:
    steps = proof_steps(unit, env, (expr.statement,))
    value = infer(unit, env, expr.value, hint)
    return Typed(value.type, lambda: Proved(tuple(steps()), value.build(), at=expr.at))


CASES: dict[type, Case] = {ast.StmtExpr: _stmt_expr}
