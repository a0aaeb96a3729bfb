"""Nested quantifiers that bind the same names again: nothing that is proved of them fails.

Core terms are made as they are, past resolution, which gives each binder a name of its own: substitution of lambdas and
of lemmas' clauses brings equal names back. The formulas compare variables with small numbers and with each other for
equality only, and ask a predicate that is false far out; so a few numbers on either side stand for all.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("z3")

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    Bool,
    Builtin,
    CoreProgram,
    FunctionOf,
    Int,
    Invoke,
    Lambda,
    Let,
    Obligation,
    Op,
    Quant,
    Term,
    Var,
)
from maxproof.formal.embedded.settle import Settler
from maxproof.formal.syntax.ast import NOWHERE

CORE = CoreProgram({}, {}, {})
P = Var("P", FunctionOf((INT,), BOOL))
EACH = range(-9, 10)  # literals and the predicate's support lie within -3..3, at most four variables at once
LIMITS = Limits(resource=60_000, seconds=1.0)


def op(kind: Op, *args: Term) -> Term:
    return Builtin(kind, args, BOOL)


def number(source: random.Random, scope: tuple[str, ...]) -> Term:
    if scope and source.random() < 0.7:
        return Var(source.choice(scope), INT)
    return Int(source.randint(-3, 3))


def formula(source: random.Random, depth: int, scope: tuple[str, ...]) -> Term:
    kind = source.choice(("atom", "not", "and", "or", "implies", "let", "apply", *("forall", "exists") * 3))
    if depth == 0 or kind == "atom":
        left, right = number(source, scope), number(source, scope)
        if isinstance(left, Var) and isinstance(right, Var):
            return op(Op.EQ, left, right)
        return source.choice((op(Op.LE, left, right), op(Op.LT, left, right), Invoke(P, (left,), BOOL)))
    inner = [formula(source, depth - 1, scope) for _ in range(2)]
    name = source.choice(("k", "k", "j"))
    match kind:
        case "forall" | "exists":
            return quantified(source, kind, depth, scope, name)
        case "not":
            return op(Op.NOT, inner[0])
        case "and" | "or" | "implies":
            return op(Op(kind), *inner)
        case "let":
            body = formula(source, depth - 1, (*scope, name))
            return Let(Var(name, INT), number(source, scope), body)
        case "apply":
            body = formula(source, depth - 1, (*scope, name))
            return Invoke(Lambda((Var(name, INT),), body, P.sort), (number(source, scope),), BOOL)
    raise ValueError(kind)


def quantified(source: random.Random, kind: Any, depth: int, scope: tuple[str, ...], name: str) -> Quant:
    own = (*scope, name)
    bounds = formula(source, 0, own) if source.random() < 0.5 else Bool(True)
    sort = NAT if source.random() < 0.2 else INT
    if source.random() < 0.4:  # the same name once more, right inside
        parts = formula(source, 0, own), formula(source, 0, own)
        body: Term = Quant(kind, (Var(name, INT),), Bool(True), op(Op.IMPLIES if kind == "forall" else Op.AND, *parts))
    else:
        body = formula(source, depth - 1, own)
    return Quant(kind, (Var(name, sort),), bounds, body)


def holds(term: Term, env: dict[str, Any], predicate: frozenset[int]) -> Any:
    match term:
        case Int(value=value) | Bool(value=value):
            return value
        case Var(name=name):
            return env[name]
        case Builtin(op=Op.AND, args=args):
            return all(holds(arg, env, predicate) for arg in args)
        case Builtin(op=Op.OR, args=args):
            return any(holds(arg, env, predicate) for arg in args)
        case Builtin(op=kind, args=args):
            values = [holds(arg, env, predicate) for arg in args]
            return {
                Op.NOT: lambda: not values[0],
                Op.IMPLIES: lambda: not values[0] or values[1],
                Op.EQ: lambda: values[0] == values[1],
                Op.LE: lambda: values[0] <= values[1],
                Op.LT: lambda: values[0] < values[1],
            }[kind]()
        case Let(var=var, value=value, body=body):
            return holds(body, {**env, var.name: holds(value, env, predicate)}, predicate)
        case Invoke(function=Lambda(params=(param,), body=body), args=(arg,)):
            return holds(body, {**env, param.name: holds(arg, env, predicate)}, predicate)
        case Invoke(args=(arg,)):
            return holds(arg, env, predicate) in predicate
        case Quant(kind=quantifier, vars=(var,), range=bounds, body=body):
            tried = (k for k in EACH if var.sort == INT or k >= 0)
            inside = ({**env, var.name: k} for k in tried)
            found = (holds(body, one, predicate) for one in inside if holds(bounds, one, predicate))
            return all(found) if quantifier == "forall" else any(found)
    raise TypeError(term)


def compare(seed: str, count: int) -> int:
    settler = Settler(CORE, ("l",))
    proved = 0
    for number_ in range(count):
        source = random.Random(f"{seed}.{number_}")
        given = tuple(formula(source, 3, ()) for _ in range(source.choice((0, 1))))
        goal = formula(source, 3, ())
        asked = Obligation("assertion", NOWHERE, (P,), given, goal, "goal", "l")
        state = settler.settle(asked, LIMITS).state
        proved += state is ObligationState.PROVED
        sure = {ObligationState.PROVED: True, ObligationState.REFUTED: False}.get(state)
        if sure is None:
            continue
        some_counterexample = False
        for _ in range(24):
            predicate = frozenset(k for k in range(-3, 4) if source.random() < 0.5)
            if all(holds(h, {}, predicate) for h in given) and not holds(goal, {}, predicate):
                some_counterexample = True
        assert not (sure and some_counterexample), (number_, given, goal)
    return proved


def test_names_that_are_bound_again_do_no_harm() -> None:
    assert compare("binders", 230) > 40


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_names_that_are_bound_again_do_no_harm_in_many(part: int) -> None:
    compare(f"binders{part}", 3000)
