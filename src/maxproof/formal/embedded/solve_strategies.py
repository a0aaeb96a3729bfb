"""The ways in which a question is asked, in a fixed order.

| name | what is asked | answers |
| --- | --- | --- |
| `e-matching` | all of it, quantifiers by triggers only, as Dafny asks | proved |
| `instances` | general hypotheses at the terms at hand in place of quantifiers | proved; refuted if that is all |
| `polynomials` | the same weakened to polynomials over the reals, by nlsat | proved |
| `residues` | the same modulo small numbers, by trying all residues | proved |
| `quantifiers` | all of it with Z3's own ways (model-based instantiation) | proved |

Cheap runs of all come before dear ones. Each run has its share of the obligation's resource limit, in Z3's units, so
that the answer doesn't depend on the machine. A timeout is a fuse against tactics that don't count: it can turn a proof
into `unknown`, never the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import CoreProgram, Obligation, Quant, Term
from maxproof.formal.embedded.encode_facts import facts_of_calls
from maxproof.formal.embedded.encode_fold import negation
from maxproof.formal.embedded.encode_instances import instances
from maxproof.formal.embedded.encode_prepare import Question
from maxproof.formal.embedded.encode_scope import Scope
from maxproof.formal.embedded.encode_simplify import Simplifier
from maxproof.formal.embedded.evaluate import Evaluator

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
        given: dict[str, Any] = {**options, "timeout": max(1, int(self.limits.seconds * 1000))}
        if self.limits.resource is not None:
            given["rlimit"] = max(1, int(self.limits.resource * share))
        solver.set(**given)


def ask(asked: Asked) -> Answer:
    """Goes through the strategies until one settles the question."""
    spent = 0
    candidate: Mapping[str, str] = {}
    exhausted = False
    for name, strategy in STRATEGIES:
        tuple[tuple[str, Strategy], ...] = (
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
