"""The proofs of a method that is no search of `maxproof.search`: written, verified and kept, whatever calls fail.

A proof that could not be written is missing, and a verification that could not be made or read is missing or not
scored; neither is a zero. `refused` says that some call was not run at all: then there is no sense in going on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from maxproof.evaluation.methods import unlimited
from maxproof.evaluation.methods.types import Left
from maxproof.models.types import Caller, CallNotRun, NoAnswer
from maxproof.problems import Problem
from maxproof.search.prompted import PromptedGenerator, PromptedRefiner
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, Fitness, Slot, Standing
from maxproof.verifier import Verifier
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft, Verification

Write = Callable[[Slot], Awaitable[Draft]]
"""Writes the proof of a slot. Raises `NoAnswer`."""


class Proofs:
    """All proofs of one method on one problem.

    Args:
        planned: verifications that a proof gets.
        rule: how they make its fitness.
    """

    def __init__(
        self, problem: Problem, verifier: VerifierSettings, caller: Caller, planned: int, rule: Fitness = "min"
    ) -> None:
        self.generator = PromptedGenerator(problem, caller)
        self.refiner = PromptedRefiner(problem, caller)
        self.refused = False
        self._verifier = Verifier(verifier, caller, problem)
        self._planned = planned
        self._rule = rule
        self._standings: dict[int, Standing] = {}

    @property
    def standings(self) -> list[Standing]:
        """What is known of each proof, by id."""
        return [self._standings[candidate] for candidate in sorted(self._standings)]

    def __getitem__(self, candidate: int) -> Standing:
        return self._standings[candidate]

    async def write(self, slot: Slot, write: Write) -> Standing | None:
        """Writes one proof; None if its call has no answer."""
        try:
            draft = await write(slot)
        except NoAnswer as failure:
            self.refused |= isinstance(failure, CallNotRun)
            return None
        standing = self._standings[slot.id] = Standing(Candidate(slot, draft), self._planned, rule=self._rule)
        return standing

    async def verify(self, candidate: int, samples: Sequence[int]) -> dict[int, Verification]:
        """The verifications with these sample indices; those that were not run are missing."""
        standing = self._standings[candidate]
        found = await self._verifier.verify(candidate, standing.candidate.draft, samples)
        self.refused |= any(sample not in found for sample in samples)
        self._standings[candidate] = replace(standing, verifications={**standing.verifications, **found})
        return found

    async def wave(self, slots: Iterable[Slot], write: Write) -> None:
        """Writes the proofs of all `slots` at once, and verifies each fully as soon as it is written."""

        async def fill(slot: Slot) -> None:
            if await self.write(slot, write) is not None:
                await self.verify(slot.id, range(self._planned))

        async with asyncio.TaskGroup() as group:
            for slot in slots:
                group.create_task(fill(slot))


def wave_size(search: SearchSettings, left: Left) -> int:
    """How many first proofs are written before the budget is looked at again: 2M, as many as a round adds.

    All at once without a budget.
    """
    return search.candidates if left is unlimited else min(search.candidates, 2 * search.parents)
