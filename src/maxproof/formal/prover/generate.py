"""The proposals of one strategy for one problem, as a function that a worker process can run."""

from __future__ import annotations

from itertools import islice

from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.question import Proposal, Strategy, question_of


def generated(problem: FormalProblem, strategy: Strategy, most: int) -> list[Proposal]:
    """The first `most` proposals, cheapest first; none for a problem that isn't read."""
    try:
        core = resolve(assemble((*problem.definitions, problem.lemma), (problem.name,)).program)
    except (ResolutionError, Unsupported):
        return []
    return sorted(islice(strategy(question_of(problem, core)), most), key=lambda proposal: proposal.cost)
