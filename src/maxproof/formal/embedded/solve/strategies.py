"""The ways in which a question is asked, in a fixed order.

| name | what is asked | answers |
| --- | --- | --- |
| `e-matching` | all of it, quantifiers by triggers only, as Dafny asks | proved |
| `instances` | general hypotheses at the terms at hand in place of quantifiers | proved; refuted if that is all |
| `polynomials` | the same weakened to polynomials over the reals, by nlsat | proved |
| `residues` | the same modulo small numbers, by trying all residues | proved |
| `quantifiers` | all of it with Z3's own ways (model-based instantiation) | proved |

Cheap runs of all come before dear ones. Each run has its share of the obligation's resource limit, in Z3's units, so
that the answer doesn't depend on the machine. A timeout is a fuse against tactics that don't count: it can turn a
proof into `unknown`, never the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import CoreProgram, Obligation, Quant, Term
from maxproof.formal.embedded.encode.facts import Axioms, facts_of_calls
from maxproof.formal.embedded.encode.fold import negation
from maxproof.formal.embedded.encode.instances import instances
from maxproof.formal.embedded.encode.prepare import Question
from maxproof.formal.embedded.encode.reals import Relaxation, TooHard
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.encode.terms import Encoder
from maxproof.formal.embedded.evaluate.evaluator import Evaluator
from maxproof.formal.embedded.solve.cases import holds_by_cases
from maxproof.formal.embedded.solve.model import counterexample
from maxproof.formal.embedded.solve.residues import holds_by_residues

REFERENCE = 20_000_000  # resource units of the whole that the fuses are set for


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question. `method` names what settled it."""

    state: ObligationState
    method: str = ""
    counterexample: Mapping[str, str] = field(default_factory=dict)
    confirmed: bool = False
    resource: int = 0


class Asked:
    """A question with all that its strategies share: facts of its calls, and instances of its hypotheses."""

    def __init__(
        self,
        question: Question,
        obligation: Obligation,
        core: CoreProgram,
        scope: Scope,
        simplify: Simplifier,
        evaluator: Evaluator,
        limits: Limits,
    ) -> None:
        self.question = question
        self.evaluator = evaluator
        self.obligation = obligation
        self.core = core
        self.scope = scope
        self.simplify = simplify
        self.limits = limits
        self._facts: list[Term] | None = None
        self._ground: dict[bool, list[Term]] = {}

    def about(self, question: Question) -> Asked:
        """Another question of the same obligation."""
        return Asked(question, self.obligation, self.core, self.scope, self.simplify, self.evaluator, self.limits)

    @property
    def facts(self) -> list[Term]:
        if self._facts is None:
            terms = [*self.question.hypotheses, self.question.goal]
            self._facts = facts_of_calls(terms, self.core, self.scope, self.simplify)
        return self._facts

    def ground(self, wide: bool) -> list[Term]:
        """Hypotheses, facts and instances; the general hypotheses themselves are left out, the goal is not in it."""
        known = self._ground.get(wide)
        if known is None:
            given = [*self.question.hypotheses, *self.facts]
            goal = negation(self.question.goal)
            made = instances([*given, goal], self.core, self.simplify, rounds=8 if wide else 3, wide=wide)
            more = facts_of_calls(made, self.core, self.scope, self.simplify, rounds=2) if made else []
            known = []
            for term in (*given, *made, *more):
                if not isinstance(term, Quant) and term not in known:
                    known.append(term)
            self._ground[wide] = known
        return known

    def limited(self, solver: Any, share: float, options: Mapping[str, Any]) -> None:
        given: dict[str, Any] = {**options, "timeout": max(1, int(self.limits.seconds * 1000 * max(0.1, share)))}
        if self.limits.resource is not None:
            given["rlimit"] = max(1, int(self.limits.resource * share))
        solver.set(**given)


def ask(asked: Asked) -> Answer:
    """Goes through the strategies until one settles the question."""
    spent = 0
    candidate: Mapping[str, str] = {}
    exhausted = False
    for name, strategy in STRATEGIES:
        answer = strategy(asked)
        if answer is None:
            continue
        spent += answer.resource
        if answer.state in (ObligationState.PROVED, ObligationState.REFUTED):
            return Answer(answer.state, name, answer.counterexample, answer.confirmed, spent)
        candidate = candidate or answer.counterexample
        exhausted = exhausted or answer.state is ObligationState.TIMEOUT
    state = ObligationState.TIMEOUT if exhausted and not candidate else ObligationState.UNKNOWN
    return Answer(state, "", candidate, False, spent)


def _whole(asked: Asked, share: float, matching: bool) -> Answer | None:
    """Everything, with quantifiers and axioms."""
    context = z3.Context()
    encoder = Encoder(asked.core, context)
    goal = encoder(negation(asked.question.goal))
    general = [h for h in asked.question.hypotheses if isinstance(h, Quant)]
    given = [encoder(h) for h in (*general, *asked.ground(False))]
    axioms = Axioms(asked.core, asked.scope, asked.simplify, encoder).all()
    if not matching and not encoder.quantified and not axioms:
        return None
    solver = z3.SimpleSolver(ctx=context) if matching else z3.Solver(ctx=context)
    options = {"auto_config": False, "mbqi": False} if matching else {}
    asked.limited(solver, share, {**options, "random_seed": asked.limits.seed})
    solver.add(*given, *encoder.facts, *axioms, goal)
    return _outcome(solver, asked, encoder if not matching else None, exact=False)


def _instances(asked: Asked, share: float, wide: bool) -> Answer | None:
    """Without general hypotheses and axioms."""
    context = z3.Context()
    encoder = Encoder(asked.core, context)
    given = [encoder(h) for h in asked.ground(wide)]
    goal = encoder(negation(asked.question.goal))
    general = any(isinstance(h, Quant) for h in asked.question.hypotheses)
    if wide and not general:
        return None
    solver = z3.Solver(ctx=context)
    asked.limited(solver, share, {})
    solver.add(*given, *encoder.facts, goal)
    exact = not (encoder.quantified or encoder.opaque or encoder.facts or general)
    return _outcome(solver, asked, encoder, exact)


def _polynomials(asked: Asked, share: float, wide: bool) -> Answer | None:
    """Weakened to polynomials over the reals."""
    general = any(isinstance(h, Quant) for h in asked.question.hypotheses)
    if wide and not general:
        return None
    context = z3.Context()
    relaxation = Relaxation(context)
    try:
        given = [relaxation.formula(h) for h in asked.ground(wide)]
        goal = relaxation.formula(asked.question.goal, positive=False)
    except TooHard:
        return None
    solver = z3.Tactic("qfnra-nlsat", context).solver() if relaxation.nonlinear else z3.SimpleSolver(ctx=context)
    asked.limited(solver, share, {})
    solver.add(*given, *relaxation.facts, goal)
    return _outcome(solver, asked, None, exact=False)


def _residues(asked: Asked) -> Answer | None:
    given = [h for h in asked.ground(False) if not isinstance(h, Quant)]
    modulus = holds_by_residues(given, asked.question.goal)
    return None if modulus is None else Answer(ObligationState.PROVED)


def _cases(asked: Asked, share: float, steps: int) -> Answer | None:
    spent = 0
    exhausted = False

    def holds(question: Question) -> bool:
        nonlocal spent, exhausted
        case = asked.about(question)
        for strategy, wide in ((_instances, False), (_polynomials, False), (_instances, True)):
            answer = strategy(case, share=share, wide=wide)
            if answer is not None:
                spent += answer.resource
                exhausted = exhausted or answer.state is ObligationState.TIMEOUT
                if answer.state is ObligationState.PROVED:
                    return True
        return False

    if holds_by_cases(asked.question, asked.evaluator, asked.simplify, holds, steps):
        return Answer(ObligationState.PROVED, resource=spent)
    return Answer(ObligationState.TIMEOUT if exhausted else ObligationState.UNKNOWN, resource=spent)


def _outcome(solver: Any, asked: Asked, encoder: Encoder | None, exact: bool) -> Answer:
    """Asks the solver. Models are read only with an encoder; with `exact` they are genuine counterexamples."""
    try:
        outcome = solver.check()
    except z3.Z3Exception:  # a tactic met what it doesn't take
        return Answer(ObligationState.UNKNOWN)
    statistics = solver.statistics()
    resource = int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118
    if outcome == z3.unsat:
        return Answer(ObligationState.PROVED, resource=resource)
    if outcome == z3.sat:
        values = {} if encoder is None else counterexample(solver.model(), asked.question, asked.obligation, encoder)
        state = ObligationState.REFUTED if exact else ObligationState.UNKNOWN
        return Answer(state, "", values, False, resource)
    ended = any(word in solver.reason_unknown() for word in ("resource", "timeout", "canceled", "memory"))
    return Answer(ObligationState.TIMEOUT if ended else ObligationState.UNKNOWN, resource=resource)


Strategy = Callable[[Asked], Answer | None]

STRATEGIES: tuple[tuple[str, Strategy], ...] = (
    ("instances", partial(_instances, share=0.004, wide=False)),
    ("e-matching", partial(_whole, share=0.004, matching=True)),
    ("residues", _residues),
    ("polynomials", partial(_polynomials, share=0.02, wide=False)),
    ("cases", partial(_cases, share=0.004, steps=40_000)),
    ("instances", partial(_instances, share=0.03, wide=False)),
    ("instances", partial(_instances, share=0.03, wide=True)),
    ("e-matching", partial(_whole, share=0.03, matching=True)),
    ("polynomials", partial(_polynomials, share=0.05, wide=True)),
    ("cases", partial(_cases, share=0.01, steps=400_000)),
    ("quantifiers", partial(_whole, share=0.1, matching=False)),
    ("e-matching", partial(_whole, share=0.15, matching=True)),
    ("polynomials", partial(_polynomials, share=0.25, wide=False)),
    ("instances", partial(_instances, share=0.25, wide=False)),
)
