"""What a strategy reads and what it proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from maxproof.formal.embedded.core import CoreLemma, CoreProgram, Term
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.instances import Instance, instances
from maxproof.formal.prover.polynomials import conjuncts


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


@dataclass(frozen=True, slots=True)
class Proposal:
    """A body that may prove the lemma.

    Attributes:
        strategy: what proposed it.
        lines: Dafny statements, one string each; each can be left out by itself when hints are minimised.
        cost: its rank among proposals: lower ones are checked first.
    """

    strategy: str
    lines: tuple[str, ...]
    cost: int = 10

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


Strategy = Callable[[Question], Iterator[Proposal]]


def question_of(problem: FormalProblem, core: CoreProgram) -> Question:
    """The question that a problem poses; `core` is its resolved program."""
    lemma = core.lemmas[problem.name]
    return Question(problem, core, lemma, tuple(instances(lemma.requires, lemma.ensures)))
