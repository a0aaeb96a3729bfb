"""The archive of a search: append-only, nothing is ever pruned (MaxProof section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from maxproof.search.selection import Prospect, prospect, unseen
from maxproof.search.types import Candidate, Fitness, Slot, Standing
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.types import Verification

HEAD_FACTOR = 10


def diversity_class(text: str, prefix: int) -> str:
    """The first `prefix` characters of the normalised text, white space collapsed, case folded.

    Texts with equal classes share that prefix; a text shorter than it only shares it with an identical one. As the
    prefix is all that counts, the normaliser sees the head of the text only, unless too little is left of it.
    """
    head = text[: HEAD_FACTOR * prefix]
    for part in (head, text):
        normalised, _ = normalise_text(part)
        folded = " ".join(normalised.split()).casefold()
        if len(folded) >= prefix or part == text:
            break
    return folded[:prefix]


class Archive:
    """Candidates by id, with what is known of each; also the slots that are still being filled."""

    def __init__(self, verifications: int, diversity_prefix: int, rule: Fitness = "min") -> None:
        self._planned = verifications
        self._rule = rule
        self._prefix = diversity_prefix
        self._standings: dict[int, Standing] = {}
        self._prospects: dict[int, Prospect] = {}
        self._refused: set[int] = set()
        self._classes: dict[int, str] = {}
        self.lost: dict[int, str] = {}

    def __contains__(self, candidate: int) -> bool:
        return candidate in self._standings

    def __getitem__(self, candidate: int) -> Standing:
        return self._standings[candidate]

    def __iter__(self) -> Iterator[Standing]:
        """By id."""
        return (self._standings[candidate] for candidate in sorted(self._standings))

    def reserve(self, slot: Slot) -> None:
        """A candidate is being written for this slot: decisions count with it at once."""
        self._prospects[slot.id] = unseen(slot.id)

    def lose(self, slot: Slot, reason: str) -> None:
        """The slot stays empty."""
        del self._prospects[slot.id]
        self.lost[slot.id] = reason

    def add(self, candidate: Candidate) -> None:
        self._update(Standing(candidate, self._planned, rule=self._rule))

    def record(self, candidate: int, verification: Verification) -> Standing:
        """Adds the next verification by sample."""
        standing = self._standings[candidate]
        return self._update(
            replace(standing, verifications={**standing.verifications, verification.sample: verification})
        )

    def refuse(self, candidate: int) -> None:
        """A verification of this candidate was refused: it gets no further one."""
        self._refused.add(candidate)
        self._update(self._standings[candidate])

    def summarise(self, candidate: int, summary: str) -> None:
        self._standings[candidate] = replace(self._standings[candidate], summary=summary)

    def prospects(self) -> list[Prospect]:
        return list(self._prospects.values())

    def class_of(self, candidate: int) -> str:
        """The candidate's diversity class, worked out when first asked for."""
        if candidate not in self._classes:
            self._classes[candidate] = diversity_class(self._standings[candidate].candidate.text, self._prefix)
        return self._classes[candidate]

    def _update(self, standing: Standing) -> Standing:
        candidate = standing.candidate.id
        self._standings[candidate] = standing
        self._prospects[candidate] = prospect(standing, candidate in self._refused)
        return standing
