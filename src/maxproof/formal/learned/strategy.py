"""Learned lemmas for the symbolic prover: tried at the terms at hand, as the library's lemmas are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maxproof.formal.embedded.core import CoreLemma
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.guided.retrieval import relevant_lemmas
from maxproof.formal.learned.lemma import LearnedLemma
from maxproof.formal.learned.offer import Offer
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prover.library import lemma_calls
from maxproof.formal.prover.question import Proposal, Question
from maxproof.problems import InputError


@dataclass(frozen=True, slots=True)
class LearnedCalls:
    """A `Strategy`: calls of the `count` most relevant learned lemmas. Its proposals need `offer.complete`.

    It can be sent to a worker process.
    """

    offer: Offer
    count: int

    def __call__(self, question: Question) -> Iterator[Proposal]:
        by_name = {lemma.name: lemma for lemma in self.offer.lemmas_for(question.problem)}
        relevant = relevant_lemmas(question.problem, [lemma.lemma for lemma in by_name.values()], self.count)
        resolved = (_resolved(by_name[lemma.name]) for lemma in relevant)
        yield from lemma_calls("learned", [lemma for lemma in resolved if lemma is not None], question)


def _resolved(lemma: LearnedLemma) -> CoreLemma | None:
    try:
        return resolve(assemble(lemma.declarations, (lemma.name,)).program).lemmas[lemma.name]
    except (ResolutionError, Unsupported, InputError):
        return None
