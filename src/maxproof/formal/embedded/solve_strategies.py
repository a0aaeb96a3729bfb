"""The ways in which a question is asked, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import CoreProgram, Obligation, Term
from maxproof.formal.embedded.encode_facts import Axioms, facts_of_calls
from maxproof.formal.embedded.encode_prepare import Question
from maxproof.formal.embedded.encode_scope import Scope
from maxproof.formal.embedded.encode_simplify import Simplifier, negation
from maxproof.formal.embedded.encode_terms import Encoder
from maxproof.formal.embedded.solve_model import counterexample


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question. `method` names what settled it, or why nothing did."""

    state: ObligationState
    method: str = ""
    counterexample: Mapping[str, str] = field(default_factory=dict)
    confirmed: bool = False
    resource: int = 0


@dataclass(slots=True)
class Asked:
    """A question with what it needs, and what has been spent on it."""

    question: Question
    obligation: Obligation
    core: CoreProgram
    scope: Scope
    simplify: Simplifier
    limits: Limits
    facts: list[Term]
    spent: int = 0


def ask(
    question: Question,
    obligation: Obligation,
    core: CoreProgram,
    scope: Scope,
    simplify: Simplifier,
    limits: Limits,
    spent: int,
) -> Answer:
    terms = [*question.hypotheses, question.goal]
    facts = facts_of_calls(terms, core, scope, simplify)
    asked = Asked(question, obligation, core, scope, simplify, limits, facts, spent)
    candidate: Mapping[str, str] = {}
    exhausted = False
    for name, strategy, share in STRATEGIES:
        answer = strategy(asked, name, share)
        if answer is None:
            continue
        asked.spent += answer.resource
        if answer.state in (ObligationState.PROVED, ObligationState.REFUTED):
            return Answer(answer.state, name, answer.counterexample, answer.confirmed, asked.spent - spent)
        candidate = candidate or answer.counterexample
        exhausted = exhausted or answer.state is ObligationState.TIMEOUT
    state = ObligationState.TIMEOUT if exhausted and not candidate else ObligationState.UNKNOWN
    return Answer(state, "", candidate, False, asked.spent - spent)


def _smt(asked: Asked, name: str, share: float, matching: bool) -> Answer | None:
    context = z3.Context()
    encoder = Encoder(asked.core, context)
    goal = encoder(negation(asked.question.goal))
    given = [encoder(h) for h in (*asked.question.hypotheses, *asked.facts)]
    axioms = Axioms(asked.core, asked.scope, asked.simplify, encoder).all()
    solver = z3.SimpleSolver(ctx=context) if matching else z3.Solver(ctx=context)
    _limit(solver, asked.limits, share, matching)
    solver.add(*given, *encoder.facts, *axioms, goal)
    outcome = solver.check()
    resource = _resource(solver)
    if outcome == z3.unsat:
        return Answer(ObligationState.PROVED, name, resource=resource)
    exact = not (encoder.quantified or encoder.opaque or axioms or encoder.facts)
    if outcome == z3.sat and (exact or not matching):
        values = counterexample(solver.model(), asked.question, asked.obligation, encoder)
        state = ObligationState.REFUTED if exact else ObligationState.UNKNOWN
        return Answer(state, name, values, resource=resource)
    reason = solver.reason_unknown()
    ended = any(word in reason for word in ("resource", "timeout", "canceled", "memory"))
    return Answer(ObligationState.TIMEOUT if ended else ObligationState.UNKNOWN, name, resource=resource)


def _limit(solver: Any, limits: Limits, share: float, matching: bool) -> None:
    options: dict[str, Any] = {"timeout": max(1, int(limits.seconds * 1000 * max(share, 0.2)))}
    if limits.resource is not None:
        options["rlimit"] = max(1, int(limits.resource * share))
    if matching:
        options |= {"auto_config": False, "mbqi": False}
    options["random_seed"] = limits.seed
    solver.set(**options)


def _resource(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0


Strategy = Callable[[Asked, str, float], Answer | None]

STRATEGIES: tuple[tuple[str, Strategy, float], ...] = (
    ("e-matching", lambda asked, name, share: _smt(asked, name, share, matching=True), 0.1),
    ("z3 default", lambda asked, name, share: _smt(asked, name, share, matching=False), 0.3),
)
