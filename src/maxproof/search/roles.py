"""The roles that drive the search, as protocols: any prover and any verifier can take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier.types import Draft, Verification


class Generator(Protocol):
    """Writes a first proof."""

    async def generate(self, slot: Slot) -> Draft:
        """Raises `NoAnswer`."""
        ...


class CandidateVerifier(Protocol):
    """Scores a candidate, one verification for each sample index."""

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        """A sample that was refused (budget, deadline, no record) is missing; one that failed is not scored."""
        ...


class Summariser(Protocol):
    """Says in one sentence which approach a candidate takes and what its main issue is."""

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        """`first` is the candidate's verification of sample 0. Raises `NoAnswer`."""
        ...


class Refiner(Protocol):
    """Makes the two offspring of a parent. `siblings` are the other candidates of the archive, by id."""

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """Fixes the listed errors and only those. Raises `NoAnswer`."""
        ...

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """Takes another route. Raises `NoAnswer`."""
        ...


class Ranker(Protocol):
    """Says which of two proofs is more correct."""

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        """None when the reply can't be read even after one retry. Raises `NoAnswer`."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """All the roles of one search."""

    generator: Generator
    verifier: CandidateVerifier
    summariser: Summariser
    refiner: Refiner
    ranker: Ranker
