"""What a lemma and a function must show: their clauses have a meaning, and their body gives what they promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import (
    Builtin,
    Call,
    Choose,
    CoreFunction,
    CoreLemma,
    Let,
    Op,
    Proved,
    ReturnStep,
    Term,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import substitute
from maxproof.formal.embedded.obligations.goals import prove
from maxproof.formal.embedded.obligations.induction import lemma_hypotheses
from maxproof.formal.embedded.obligations.path import Claim, Path, Scope, equality, negation
from maxproof.formal.embedded.obligations.statements import run, run_aside
from maxproof.formal.embedded.obligations.wellformed import ask_choice, conform, wellformed
from maxproof.formal.syntax.ast import Position


def lemma_obligations(lemma: CoreLemma, scope: Scope) -> None:
    """Asks for the lemma's clauses, then for its body from its preconditions and induction hypotheses."""
    start = _preconditions(lemma, scope)
    reading = start.bind(lemma.results)
    for clause in lemma.ensures:
        reading = wellformed(clause, reading, scope).assume(clause)
    start = start.assume(*lemma_hypotheses(lemma, scope.graph))

    def leave(step: ReturnStep, path: Path) -> None:
        for value, result in zip(step.values, lemma.results, strict=True):
            conform(value, result.sort, path, scope)
        _promises(lemma, step.values, step.at, path, scope)

    end = run(lemma.body or (), start, scope, leave)
    if end is not None:
        leave(ReturnStep(tuple(lemma.finals), at=lemma.at), end)


def _promises(lemma: CoreLemma, values: tuple[Term, ...], at: Position, path: Path, scope: Scope) -> None:
    bindings = {result.name: value for result, value in zip(lemma.results, values, strict=True)}
    for clause in lemma.ensures:
        claim = Claim(ObligationKind.POSTCONDITION, at, show(clause), clause.at)
        goal = substitute(clause, bindings)
        prove(goal, path, scope, claim)
        path = path.assume(goal)


def function_obligations(function: CoreFunction, scope: Scope) -> None:
    """Asks for the function's clauses, then for its body: it has a meaning, its value is of the result's type and meets
    the postconditions, and every recursive call is of a smaller measure.
    """
    start = _preconditions(function, scope)
    own = Call(function.name, tuple(function.params), function.result.sort, at=function.at)
    inside = replace(scope, own=own)
    reading = start.bind((function.result,)).assume(equality(function.result, own))
    for clause in function.ensures:
        reading = wellformed(clause, reading, inside).assume(clause)
    if function.body is not None:
        _value(function, function.body, own, start, scope)


def _value(function: CoreFunction, body: Term, own: Call, path: Path, scope: Scope) -> None:
    """Follows `body` to the terms that give its value, each under what leads there."""
    match body:
        case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
            path = wellformed(condition, path, scope)
            _value(function, then, own, path.assume(condition), scope)
            _value(function, otherwise, own, path.assume(negation(condition)), scope)
        case Let(var=var, value=value):
            path = wellformed(value, path, scope)
            conform(value, var.sort, path, scope)
            _value(function, body.body, own, path.bind((var,)).assume(equality(var, value)), scope)
        case Choose(vars=vars, predicate=predicate):
            ask_choice(vars, predicate, path, scope, body.at)
            _value(function, body.body, own, path.bind(vars).assume(predicate), scope)
        case Proved(statements=statements):
            _value(function, body.value, own, run_aside(statements, path, scope, body.at), scope)
        case _:
            path = wellformed(body, path, scope)
            conform(body, function.result.sort, path, scope)
            path = path.bind((function.result,)).assume(equality(function.result, body), equality(own, body))
            for clause in function.ensures:
                claim = Claim(ObligationKind.POSTCONDITION, body.at, show(clause), clause.at)
                prove(clause, path, scope, claim)
                path = path.assume(clause)


def _preconditions(declaration: CoreFunction | CoreLemma, scope: Scope) -> Path:
    """The path at the start of the body, and what its clauses need up to there."""
    path = _read(declaration.requires, Path().bind(declaration.params), scope)
    for term in declaration.decreases:
        wellformed(term, path, scope)
    return path


def _read(clauses: Iterable[Term], path: Path, scope: Scope) -> Path:
    for clause in clauses:
        path = wellformed(clause, path, scope).assume(clause)
    return path
