"""Whole variables that the hypotheses leave few values: the question at each of them.

`evaluate` finds the values (interval constraints, then trying); at each one most of the question can be computed. What
stays open is asked again, a few times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maxproof.formal.embedded.core import INT, NAT, Bool, Quant, Term, Var
from maxproof.formal.embedded.core.walk import free_variables, substitute
from maxproof.formal.embedded.encode.fold import flat, negation
from maxproof.formal.embedded.encode.prepare import Question
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, NotComputable
from maxproof.formal.embedded.evaluate.values import value_term

TOGETHER = 1000  # choices of values for all whole variables
APART = 40  # values of one variable
OPEN = 12  # cases that are asked again


def holds_by_cases(
    question: Question,
    evaluator: Evaluator,
    simplify: Simplifier,
    holds: Callable[[Question], bool],
    steps: int,
) -> bool:
    """True where the question holds at each of the values that its whole variables can have.

    Args:
        holds: asks what a case leaves open.
        steps: of evaluation, for finding the values.
    """
    names: dict[str, Var] = {}
    for term in (*question.hypotheses, question.goal):
        for var in free_variables(term):
            if var.sort in (INT, NAT):
                names.setdefault(var.name, var)
    whole = list(names.values())
    conditions = [h for h in (*question.hypotheses, *flat(negation(question.goal))) if not isinstance(h, Quant)]
    if not whole or not conditions:
        return False
    choices = _values(whole, conditions, evaluator, TOGETHER, steps)
    if choices is not None:
        return _each(whole, choices, question, evaluator, simplify, holds)
    if len(whole) == 1:
        return False
    apart = [
        (choices, var) for var in whole if (choices := _values([var], conditions, evaluator, APART, steps)) is not None
    ]
    if not apart:
        return False
    choices, var = min(apart, key=lambda found: len(found[0]))
    return _each([var], choices, question, evaluator, simplify, holds)


def _values(
    unknowns: Sequence[Var], conditions: Sequence[Term], evaluator: Evaluator, most: int, steps: int
) -> list[tuple[int, ...]] | None:
    try:
        return evaluator.candidates(unknowns, conditions, Budget(steps=steps), most)
    except NotComputable:
        return None


def _each(
    unknowns: list[Var],
    choices: list[tuple[int, ...]],
    question: Question,
    evaluator: Evaluator,
    simplify: Simplifier,
    holds: Callable[[Question], bool],
) -> bool:
    left_open = 0
    for choice in choices:
        mapping: dict[str, Term] = {
            var.name: value_term(value, var.sort, evaluator.core) for var, value in zip(unknowns, choice, strict=True)
        }
        goal = simplify(substitute(question.goal, mapping))
        if goal == Bool(True):
            continue
        hypotheses: list[Term] = []
        for hypothesis in question.hypotheses:
            hypotheses += flat(simplify(substitute(hypothesis, mapping)))
            if hypotheses and hypotheses[-1] == Bool(False):
                break
        if Bool(False) in hypotheses:
            continue
        left_open += 1
        values = {name: substitute(value, mapping) for name, value in question.values.items()}
        if left_open > OPEN or not holds(Question(tuple(hypotheses), goal, values)):
            return False
    return True
