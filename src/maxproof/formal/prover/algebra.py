"""Polynomial reasoning: conclusions from the hypotheses and their instances by certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maxproof.formal.embedded.core import BOOL, INT, REAL, Builtin, Call, Invoke, Op, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.prover.certificates import refutation, summands, value
from maxproof.formal.prover.instances import literal
from maxproof.formal.prover.polynomials import Fact, System, constant, is_number, is_real
from maxproof.formal.prover.question import Proposal, Question, ground_nodes

LEVELS = 4


def algebra(question: Question) -> Iterator[Proposal]:
    """A certificate for every polynomial conclusion, of the lowest level that has one for each."""
    terms = question.consequences
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


def values(question: Question) -> Iterator[Proposal]:
    """The values that equations leave for the atoms of the conclusions, then the conclusions as computations."""
    terms = question.consequences
    system = System((*question.hypotheses, *terms, *question.goals, *_reflexive(question)))
    facts = [*system.facts(question.hypotheses), *asserted(system, terms), *system.atom_facts()]
    wanted = System((*question.goals, *_reflexive(question))).atoms
    for level in (0, 1):
        candidates = summands(system, [fact for fact in facts if fact.relation == "=="], level)
        lines: dict[str, None] = {}
        for atom in wanted:
            found = value(candidates, system.poly(atom))
            number = literal(found[0], REAL if is_real(atom) else INT) if found is not None else None
            if found is None or number is None:
                continue
            lines.update(dict.fromkeys(statement for summand in found[1] for statement in summand.statements))
            lines.setdefault(f"assert {show(Builtin(Op.EQ, (atom, number), BOOL))};")
        if lines:
            goals = (f"assert {show(goal)};" for goal in question.goals)
            yield Proposal(f"values-{level}", tuple(dict.fromkeys([*lines, *goals])), cost=4 + 2 * level)


def _reflexive(question: Question) -> list[Term]:
    """Number applications and their arguments in the conclusions as `t == t`, so that they become atoms of a system."""
    found: list[Term] = []
    for node in ground_nodes(question.goals):
        if isinstance(node, Call | Invoke):
            found += (term for term in (node, *node.args) if is_number(term.sort) and constant(term) is None)
    return [Builtin(Op.EQ, (term, term), BOOL) for term in dict.fromkeys(found)]
