"""What a strategy reads and what it proposes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from maxproof.formal.embedded.core import CoreLemma, CoreProgram, Term
from maxproof.formal.embedded.core.walk import free_variables, subnodes
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.instances import Instance, instances
from maxproof.formal.prover.polynomials import conjuncts

MAX_CONSEQUENCES = 120


@dataclass(frozen=True, slots=True)
class Question:
    """A problem with its statement in core terms.

    Attributes:
        core: the resolved program: the lemma and what of the prelude its statement uses.
        instances: what its general hypotheses say of the terms at hand.
    """

    problem: FormalProblem
    core: CoreProgram
    lemma: CoreLemma
    instances: tuple[Instance, ...]

    @property
    def hypotheses(self) -> tuple[Term, ...]:
        return self.lemma.requires

    @property
    def goals(self) -> tuple[Term, ...]:
        return self.lemma.ensures

    @property
    def conclusions(self) -> list[Term]:
        """The conjuncts of all goals, in order."""
        return [part for goal in self.goals for part in conjuncts(goal)]

    @property
    def consequences(self) -> list[Term]:
        """The instances that polynomial reasoning takes into account."""
        return [instance.term for instance in self.instances[:MAX_CONSEQUENCES]]


@dataclass(frozen=True, slots=True)
class Helper:
    """A lemma of a proposal, as Dafny text. It may call helpers before it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A body that may prove the lemma.

    Attributes:
        strategy: what proposed it.
        lines: Dafny statements, one string each; each can be left out by itself when hints are minimised.
        cost: its rank among proposals: lower ones are checked first.
        helpers: lemmas that the lines call: a solver finds a step sooner where nothing else is in its way.
    """

    strategy: str
    lines: tuple[str, ...]
    cost: int = 10
    helpers: tuple[Helper, ...] = ()

    @property
    def text(self) -> str:
        """The body without braces."""
        return dafny("\n".join(self.lines))

    @property
    def submission(self) -> str:
        """The body in braces, and after it the helper lemmas that it needs."""
        needed: list[str] = []
        called = self.text
        for helper in reversed(self.helpers):
            if re.search(rf"\b{helper.name}\(", called):
                needed.append(helper.text)
                called += helper.text
        body = f"{{\n{self.text}\n}}" if self.lines else "{}"
        return "\n\n".join([body, *reversed(needed)])


def dafny(text: str) -> str:
    """Shown terms as Dafny reads them: bound variables that were renamed apart get plain names."""
    return re.sub(r"(\w)#(\d+)", r"\1_\2", text)


def ground_nodes(terms: Iterable[Term]) -> Iterator[Term]:
    """All terms below `terms` that have no bound variable, each once."""
    seen: set[Term] = set()
    for term in terms:
        free = _names(term)
        for node in subnodes(term):
            if isinstance(node, Term) and node not in seen and _names(node) <= free:
                seen.add(node)
                yield node


def _names(term: Term) -> frozenset[str]:
    return frozenset(var.name for var in free_variables(term))


Strategy = Callable[[Question], Iterator[Proposal]]


def question_of(problem: FormalProblem, core: CoreProgram) -> Question:
    """The question that a problem poses; `core` is its resolved program."""
    lemma = core.lemmas[problem.name]
    return Question(problem, core, lemma, tuple(instances(lemma.requires, lemma.ensures)))
