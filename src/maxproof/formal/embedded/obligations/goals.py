"""From one statement to be proved to the questions that it comes down to.

Conjuncts are asked one by one, each under those before it; what an implication, a universal quantifier or a let puts
in front of a statement becomes part of the path. Nothing is duplicated: there are as many questions as leaves.
"""

from __future__ import annotations

from collections.abc import Mapping

from maxproof.formal.embedded.core import BOOL, Builtin, Choose, Let, Op, Proved, Quant, Term, Var
from maxproof.formal.embedded.core.walk import fresh_name, substitute
from maxproof.formal.embedded.obligations.induction import quantifier_hypothesis
from maxproof.formal.embedded.obligations.path import Claim, Path, Scope, equality, negation


def prove(goal: Term, path: Path, scope: Scope, claim: Claim) -> None:
    """Asks what `goal` comes down to at `path`."""
    match goal:
        case Builtin(op=Op.AND):
            for arg in goal.args:
                prove(arg, path, scope, claim)
                path = path.assume(arg)
        case Builtin(op=Op.IMPLIES):
            guard, body = goal.args
            prove(body, path.assume(guard), scope, claim)
        case Builtin(op=Op.IFF):
            left, right = goal.args
            prove(right, path.assume(left), scope, claim)
            prove(left, path.assume(right), scope, claim)
        case Builtin(op=Op.ITE, sort=sort) if sort == BOOL:
            condition, then, otherwise = goal.args
            prove(then, path.assume(condition), scope, claim)
            prove(otherwise, path.assume(negation(condition)), scope, claim)
        case Quant(kind="forall"):
            goal = _renamed(goal, path)
            hypothesis = quantifier_hypothesis(goal, scope.graph)
            path = path.bind(goal.vars).assume(goal.range, *hypothesis)
            prove(goal.body, path, scope, claim)
        case Let():
            names = _fresh((goal.var,), path)
            var = names.get(goal.var.name, goal.var)
            path = path.bind((var,)).assume(equality(var, goal.value))
            prove(substitute(goal.body, names), path, scope, claim)
        case Choose():
            names = _fresh(goal.vars, path)
            path = path.bind(names.get(var.name, var) for var in goal.vars)
            path = path.assume(substitute(goal.predicate, names))
            prove(substitute(goal.body, names), path, scope, claim)
        case Proved():
            prove(goal.value, path, scope, claim)
        case _:
            scope.ask(claim, goal, path)


def _fresh(bound: tuple[Var, ...], path: Path) -> Mapping[str, Var]:
    """New names for those of `bound` whose names the path has."""
    used = {var.name for var in path.vars}
    renamed: dict[str, Var] = {}
    for var in bound:
        if var.name in used:
            renamed[var.name] = Var(fresh_name(var.name, used | {v.name for v in bound}), var.sort, at=var.at)
            used.add(renamed[var.name].name)
    return renamed


def _renamed(goal: Quant, path: Path) -> Quant:
    names = _fresh(goal.vars, path)
    if not names:
        return goal
    bound = tuple(names.get(var.name, var) for var in goal.vars)
    return Quant("forall", bound, substitute(goal.range, names), substitute(goal.body, names), at=goal.at)
