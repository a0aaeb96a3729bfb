"""Library lemmas at the terms at hand: each lemma is a general fact, matched as general hypotheses are.

A lemma is taken if it speaks only of functions that the statement uses, directly or through definitions. Its calls are
guarded by its preconditions, so that a call that doesn't apply does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

from maxproof.formal.embedded.core import Bool, Call, CoreLemma, CoreProgram, Quant, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import conjunction, subnodes
from maxproof.formal.embedded.resolve import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.prover.certificates import refutation
from maxproof.formal.prover.instances import applied
from maxproof.formal.prover.polynomials import Fact, System
from maxproof.formal.prover.question import Proposal, Question
from maxproof.formal.syntax.ast import Program

MAX_CALLS = 24
_LEVELS = (0, 1, 2)


def library(question: Question) -> Iterator[Proposal]:
    """Calls of the library's lemmas that speak of the statement's functions only."""
    used = _functions((*question.hypotheses, *question.goals))
    about = ((lemma, _functions((*lemma.requires, *lemma.ensures))) for lemma in _lemmas())
    yield from lemma_calls("library", [lemma for lemma, names in about if names and names <= used], question)


def lemma_calls(strategy: str, lemmas: Iterable[CoreLemma], question: Question) -> Iterator[Proposal]:
    """Calls of those lemmas that match, alone and with a certificate from what they say."""
    calls: list[tuple[str, Term]] = []
    for lemma in lemmas:
        calls += islice(_calls(lemma, question), MAX_CALLS)
    calls = calls[: 4 * MAX_CALLS]
    if not calls:
        return
    certified = _certified(question, calls)
    if certified:
        yield Proposal(f"{strategy}-certified", certified, cost=5)
    yield Proposal(strategy, tuple(line for line, _ in calls[:MAX_CALLS]), cost=7)


def _calls(lemma: CoreLemma, question: Question) -> Iterator[tuple[str, Term]]:
    """Each call as a guarded statement, with what it gives."""
    general = Quant("forall", lemma.params, conjunction(lemma.requires), conjunction(lemma.ensures))
    terms = [*question.goals, *question.hypotheses, *(instance.term for instance in question.instances)]
    for binding, range_, body in applied(general, terms):
        arguments = ", ".join(show(binding[param.name]) for param in lemma.params)
        call = f"{lemma.name}({arguments});"
        yield (call if range_ == Bool(True) else f"if {show(range_)} {{ {call} }}"), body


def _certified(question: Question, calls: list[tuple[str, Term]]) -> tuple[str, ...]:
    """A certificate of every polynomial conclusion from the hypotheses and what the calls give; () if there is none."""
    bodies = [body for _, body in calls]
    instances = [instance.term for instance in question.instances]
    system = System((*question.hypotheses, *instances, *bodies, *question.goals))
    facts: list[Fact] = [*system.facts(question.hypotheses), *system.atom_facts()]
    for line, body in calls:
        facts += [replace(fact, statement=line) for fact in system.facts([body])]
    for term in instances:
        facts += [replace(fact, statement=f"assert {show(term)};") for fact in system.facts([term])]
    lines: dict[str, None] = {}
    for goal in question.conclusions:
        fact = system.fact(goal)
        if fact is None:
            continue
        proof = next((p for level in _LEVELS if (p := refutation(system, facts, fact, level)) is not None), None)
        if proof is None:
            return ()
        lines.update(dict.fromkeys([*proof, f"assert {show(goal)};"]))
    return tuple(lines)


def _functions(terms: tuple[Term, ...]) -> frozenset[str]:
    return frozenset(node.name for term in terms for node in subnodes(term) if isinstance(node, Call))


@cache
def _lemmas() -> tuple[CoreLemma, ...]:
    return tuple(lemma for lemma in _core().lemmas.values() if not lemma.results)


@cache
def _core() -> CoreProgram:
    known = prelude()
    return resolve(Program((*known.definitions.declarations, *known.library.declarations)))
