"""Learned lemmas for the symbolic prover: tried at the terms at hand, as the library's lemmas are."""

from __future__ import annotations

from collections.abc import Iterator

from maxproof.formal.embedded.core import CoreLemma
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.resolve import resolve
from maxproof.formal.guided.retrieval import relevant_lemmas
from maxproof.formal.learned.lemma import LearnedLemma
from maxproof.formal.learned.offer import Offer
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prover.library import lemma_calls
from maxproof.formal.prover.question import Proposal, Question, Strategy
from maxproof.problems import InputError


def learned_strategy(offer: Offer, count: int) -> Strategy:
    """Proposes calls of the `count` most relevant learned lemmas. Its proposals need `offer.complete`."""
    resolved: dict[str, CoreLemma | None] = {}

    def strategy(question: Question) -> Iterator[Proposal]:
        by_name = {lemma.name: lemma for lemma in offer.lemmas_for(question.problem)}
        lemmas: list[CoreLemma] = []
        for found in relevant_lemmas(question.problem, [lemma.lemma for lemma in by_name.values()], count):
            if found.name not in resolved:
                resolved[found.name] = _resolved(by_name[found.name])
            core = resolved[found.name]
            if core is not None:
                lemmas.append(core)
        yield from lemma_calls("learned", lemmas, question)

    return strategy


def _resolved(lemma: LearnedLemma) -> CoreLemma | None:
    try:
        return resolve(assemble(lemma.declarations, (lemma.name,)).program).lemmas[lemma.name]
    except (ResolutionError, Unsupported, InputError):
        return None
