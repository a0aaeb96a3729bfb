"""Best-of-N: the search without its rounds. N proofs, verified as far as the choice needs, and a tournament.

N grows to `candidates` in waves of 2M, as many as a round of the search adds, while the budget allows it. After each
wave the finalists of all proofs so far are settled, by the search's own decision (`search/selection.py`), so that what
is left is known; the tournament is played once, at the end. Nobody reads summaries here, so none is written.
"""

from __future__ import annotations

import asyncio

from maxproof.evaluation.methods.outcome import attempts_of, highest
from maxproof.evaluation.methods.proofs import wave_size
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import Caller, CallNotRun, NoAnswer
from maxproof.problems import Problem
from maxproof.search.archive import Archive
from maxproof.search.prompted import prompted_roles
from maxproof.search.refinement import first_slots
from maxproof.search.selection import FINAL, Choice, finalists_choice, next_samples, ranking
from maxproof.search.settings import SearchSettings
from maxproof.search.tournament import tournament
from maxproof.search.types import Candidate, Slot
from maxproof.verifier.settings import VerifierSettings


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`. `stop`: `candidates`, as all of them are written, or `not_run`."""
    samples = _Samples(problem, search, verifier, caller)
    slots = first_slots(search.candidates)
    wave = wave_size(search, left)
    stop = "candidates"
    for start in range(0, len(slots), wave):
        if start and (samples.refused or not left()):
            stop = "not_run"
            break
        await samples.add(slots[start : start + wave])
    archive = samples.archive
    finalists = [archive[candidate] for candidate in samples.finalists().chosen]
    _, winner = await tournament(finalists, search.votes, search.seed, samples.roles.ranker, lambda event: None)
    return Outcome(
        attempts=attempts_of(archive),
        picked=winner,
        argmax=highest(finalists),
        passed=winner is not None and archive[winner].perfect,
        rounds=0,
        stop="not_run" if samples.refused else stop,
    )


class _Samples:
    """The proofs so far. `refused`: some call was not run."""

    def __init__(self, problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller) -> None:
        self.archive = Archive(search.verifications, search.diversity_prefix, search.fitness)
        self.roles = prompted_roles(problem, search, verifier, caller)
        self.refused = False
        self._search = search

    def finalists(self) -> Choice:
        """Who would play the tournament now, and whom of them to verify further."""
        ranked = ranking(self.archive.prospects(), self._search.seed, FINAL)
        return finalists_choice(ranked, self._search.finalists, only_perfect=False)

    async def add(self, slots: list[Slot]) -> None:
        """Writes and verifies proofs for `slots`, and settles the finalists."""
        async with asyncio.TaskGroup() as group:
            for slot in slots:
                group.create_task(self._fill(slot))
        while needed := self.finalists().needed:
            async with asyncio.TaskGroup() as group:
                for candidate in sorted(needed):
                    group.create_task(self._verify(candidate))

    async def _fill(self, slot: Slot) -> None:
        try:
            draft = await self.roles.generator.generate(slot)
        except NoAnswer as failure:
            self.refused |= isinstance(failure, CallNotRun)
            return
        self.archive.add(Candidate(slot, draft))
        await self._verify(slot.id)

    async def _verify(self, candidate: int) -> None:
        """The next verifications of a candidate."""
        standing = self.archive[candidate]
        samples = next_samples(len(standing.verifications), standing.planned, self._search.lazy)
        found = await self.roles.verifier.verify(standing.candidate, samples)
        for sample in samples:
            if (verification := found.get(sample)) is not None:
                self.archive.record(candidate, verification)
        if any(sample not in found for sample in samples):
            self.refused = True
            self.archive.refuse(candidate)
