"""Library lemmas at the terms at hand: each lemma is a general fact, matched as general hypotheses are.

A lemma is taken if it speaks only of functions that the statement uses, directly or through definitions. Its calls are
guarded by its preconditions, so that a call that doesn't apply does no harm; preconditions that are evident (a literal
or a variable that the hypotheses keep above 0 is positive, and so are products of such) need no guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from maxproof.formal.embedded.core import REAL, Bool, Builtin, Call, CoreLemma, CoreProgram, Op, Quant, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import conjunction, subnodes, substitute
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude
from maxproof.formal.prover.certificates import refutation
from maxproof.formal.prover.instances import applied, simplified
from maxproof.formal.prover.polynomials import Fact, System, conjuncts, constant, single_atom
from maxproof.formal.prover.question import Proposal, Question
from maxproof.formal.syntax.ast import Program

MAX_CALLS = 24
MAX_COLLECTED = 120
_LEVELS = (0, 1, 2)


def library(question: Question) -> Iterator[Proposal]:
    """Calls of the library's lemmas that speak of the statement's functions only."""
    used = _functions((*question.hypotheses, *question.goals))
    about = ((lemma, _functions((*lemma.requires, *lemma.ensures))) for lemma in _lemmas())
    yield from lemma_calls("library", [lemma for lemma, names in about if names and names <= used], question)


def lemma_calls(strategy: str, lemmas: Iterable[CoreLemma], question: Question) -> Iterator[Proposal]:
    """Calls of those lemmas that match, alone and with a certificate from what they say."""
    calls = Calls(question)
    terms = [*question.goals, *question.hypotheses, *question.consequences]
    for lemma in lemmas:
        general = Quant("forall", lemma.params, conjunction(lemma.requires), conjunction(lemma.ensures))
        for binding, range_, body in islice(applied(general, terms), MAX_CALLS):
            calls.take(lemma, [binding[param.name] for param in lemma.params], range_, body)
    yield from calls.proposals(strategy, cost=5, most=MAX_CALLS)


class Calls:
    """Library lemma calls that a strategy collects, each once, with what they give."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._evident = Evident(question)
        self._found: dict[str, Term] = {}

    def add(self, name: str, *args: Term) -> None:
        """Adds a call of the lemma `name`, if the library has it."""
        lemma = _by_name().get(name)
        if lemma is not None:
            binding = {param.name: arg for param, arg in zip(lemma.params, args, strict=True)}
            range_ = simplified(substitute(conjunction(lemma.requires), binding))
            self.take(lemma, args, range_, simplified(substitute(conjunction(lemma.ensures), binding)))

    def take(self, lemma: CoreLemma, args: Sequence[Term], range_: Term, body: Term) -> None:
        """Adds a call whose precondition is `range_` and that gives `body`."""
        needed = [part for part in conjuncts(range_) if not self._evident(part)]
        if Bool(False) in needed or len(self._found) >= MAX_COLLECTED:
            return
        call = f"{lemma.name}({', '.join(map(show, args))});"
        self._found.setdefault(f"if {' && '.join(map(show, needed))} {{ {call} }}" if needed else call, body)

    def proposals(self, strategy: str, cost: int, most: int = MAX_COLLECTED) -> Iterator[Proposal]:
        """The calls alone, then a certificate of the conclusions from the hypotheses and what the calls give."""
        if not self._found:
            return
        calls = list(self._found.items())
        yield Proposal(strategy, tuple(line for line, _ in calls[:most]), cost)
        certified = _certified(self._question, calls)
        if certified:
            yield Proposal(f"{strategy}-certified", certified, cost=cost)


class Evident:
    """Which comparisons hold at a glance."""

    def __init__(self, question: Question) -> None:
        system = System(question.hypotheses)
        self._positive: set[Term] = set()
        for fact in system.facts(question.hypotheses):
            found = single_atom(system, fact.poly) if fact.relation in (">=", ">", "==") else None
            if found is None or (found[1] < 0 and fact.relation != "=="):
                continue
            bound = -found[2] / found[1]
            if bound > 0 or (bound == 0 and fact.relation == ">"):
                self._positive.add(found[0])

    def __call__(self, condition: Term) -> bool:
        match condition:
            case Bool(value=value):
                return value
            case Builtin(op=Op.LT, args=(low, term)) if constant(low) == 0:
                return self.positive(term)
            case Builtin(op=Op.LE, args=(low, term)) if constant(low) == 0:
                return self.positive(term) or constant(term) == 0
        return False

    def positive(self, term: Term) -> bool:
        """The term is above 0 by its form and by bounds that the hypotheses give to single terms."""
        value = constant(term)
        if value is not None:
            return value > 0
        match term:
            case Builtin(op=Op.MUL | Op.ADD, args=args):
                return all(map(self.positive, args))
            case Builtin(op=Op.DIV, args=args) if term.sort == REAL:
                return all(map(self.positive, args))
            case Builtin(op=Op.TO_REAL, args=(inner,)):
                return self.positive(inner)
            case Call(name="rdiv", args=args):
                return all(map(self.positive, args))
            case Call(name="pow" | "ipow" | "rpow" | "sqrt", args=(base, *_)):
                return self.positive(base)
            case Call(name="exp"):
                return True
        return term in self._positive


def _certified(question: Question, calls: list[tuple[str, Term]]) -> tuple[str, ...]:
    """A certificate of every polynomial conclusion from the hypotheses and what the calls give; () if there is none."""
    bodies = [body for _, body in calls]
    instances = question.consequences
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
def _by_name() -> dict[str, CoreLemma]:
    return {lemma.name: lemma for lemma in _lemmas()}


@cache
def _core() -> CoreProgram:
    known = prelude()
    return resolve(Program((*known.definitions.declarations, *known.library.declarations)))
