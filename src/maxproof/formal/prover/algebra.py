"""Polynomial reasoning: conclusions from the hypotheses and their instances by certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maxproof.formal.embedded.core import Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.prover.certificates import refutation
from maxproof.formal.prover.polynomials import Fact, System
from maxproof.formal.prover.question import Proposal, Question

LEVELS = 4


def algebra(question: Question) -> Iterator[Proposal]:
    """A certificate for every polynomial conclusion, of the lowest level that has one for each."""
    terms = [instance.term for instance in question.instances]
    system = System((*question.hypotheses, *terms, *question.goals))
    facts = [*system.facts(question.hypotheses), *asserted(system, terms), *system.atom_facts()]
    for level in range(LEVELS):
        lines: list[str] = []
        for goal in question.conclusions:
            fact = system.fact(goal)
            if fact is None:
                continue
            proof = refutation(system, facts, fact, level)
            if proof is None:
                break
            lines += [*proof, f"assert {show(goal)};"]
        else:
            if lines:
                yield Proposal(f"algebra-{level}", tuple(dict.fromkeys(lines)), cost=3 + level)
                return


def asserted(system: System, terms: list[Term]) -> list[Fact]:
    """The facts that instances of hypotheses state, each brought in by asserting the instance."""
    facts: list[Fact] = []
    for term in terms:
        facts += [replace(fact, statement=f"assert {show(term)};") for fact in system.facts([term])]
    return facts
