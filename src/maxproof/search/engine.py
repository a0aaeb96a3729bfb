"""The search loop: generate, verify, summarise, refine, rank (MaxProof section 5, Algorithm 1).

    result = await search(SearchSettings(), roles, observe=print)

The engine holds no prompt and no network code: `roles` do the work, `selection` decides. Each slot is its own task
(write, verify sample 0, summarise), so a candidate is verified as soon as it is written, and a round waits only for
what its decisions need. Further verifications run when a decision needs them.

A role that raises `CallFailed` costs its slot. One that raises `CallNotRun` (budget, deadline, dead endpoint, replay
without a record) makes the search wind down: no further round, then the tournament over what is known. The engine
reacts to refused calls only, never to a clock or a flag, and looks at them only where the set of finished calls is the
same whatever their order: the same answers give the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from maxproof.models.types import CallNotRun, NoAnswer
from maxproof.search.archive import Archive
from maxproof.search.events import (
    CandidateAdded,
    CandidateLost,
    Event,
    Observer,
    RoundClosed,
    RoundStarted,
    Stopped,
    Summarised,
    Verified,
)
from maxproof.search.refinement import first_slots, offspring_slots
from maxproof.search.roles import Roles
from maxproof.search.selection import (
    FINAL,
    Choice,
    finalists_choice,
    next_samples,
    parents_choice,
    ranking,
    stop_choice,
)
from maxproof.search.settings import SearchSettings
from maxproof.search.tournament import tournament
from maxproof.search.types import Candidate, Round, SearchResult, Slot, Standing, StopReason
from maxproof.verifier.types import Draft


def _ignore(_event: Event) -> None:
    pass


async def search(settings: SearchSettings, roles: Roles, observe: Observer | None = None) -> SearchResult:
    """Runs the whole search. A role's refused or failed calls never raise here; its bugs do, as an exception group."""
    async with asyncio.TaskGroup() as group:
        return await _Search(settings, roles, observe or _ignore, group).run()


class _Search:
    """The state of one search."""

    def __init__(self, settings: SearchSettings, roles: Roles, observe: Observer, group: asyncio.TaskGroup) -> None:
        self._settings = settings
        self._roles = roles
        self._observe = observe
        self._group = group
        self._archive = Archive(settings.verifications, settings.diversity_prefix, settings.fitness)
        self._rounds: list[Round] = []
        # The archive as the round found it: parents and siblings come from here, whatever is finished meanwhile.
        self._earlier: dict[int, Standing] = {}
        # Candidates being written or verified, and how many of the round still lack sample 0 or their summary.
        self._busy: set[int] = set()
        self._unscored = 0
        self._unsummarised = 0
        # What would be chosen as things stand: only news of these can change the decision that is waited for.
        self._watched: frozenset[int] = frozenset()
        self._news = asyncio.Event()
        # Which work was refused so far. Drafts and verifications are told from summaries: decisions wait for the
        # former, the next round for both.
        self._refused: set[Literal["scores", "summaries"]] = set()

    async def run(self) -> SearchResult:
        stop = await self._refine()
        only_perfect = stop is StopReason.PERFECT and self._settings.finalist_mode == "perfect"
        finalists = await self._settle(partial(self._finalists_choice, only_perfect))
        if stop is StopReason.ROUNDS and "scores" in self._refused:
            stop = StopReason.NOT_RUN
        self._close_round()
        self._observe(Stopped(stop))
        matches, winner = await tournament(
            [self._archive[candidate] for candidate in finalists],
            self._settings.votes,
            self._settings.seed,
            self._roles.ranker,
            self._observe,
        )
        await self._wait_until(lambda: self._unsummarised == 0)
        lost = dict(sorted(self._archive.lost.items()))
        return SearchResult(tuple(self._archive), tuple(self._rounds), stop, finalists, matches, winner, lost)

    async def _refine(self) -> StopReason:
        """Rounds 0 to R, but for the decision about the finalists."""
        settings = self._settings
        number = 0
        self._open_round(0, (), first_slots(settings.candidates))
        while number < settings.rounds:
            await self._settle(self._stop_choice)
            if sum(p.perfect for p in self._archive.prospects()) >= settings.stop_at_perfect:
                return StopReason.PERFECT
            if "scores" in self._refused:
                return StopReason.NOT_RUN
            number += 1
            parents = await self._settle(partial(self._parents_choice, number))
            if "scores" in self._refused:
                return StopReason.NOT_RUN
            if not parents:
                return StopReason.NO_PARENTS
            await self._wait_until(lambda: self._unsummarised == 0)
            if "summaries" in self._refused:
                return StopReason.NOT_RUN
            self._close_round()
            slots = offspring_slots(number, parents, settings)
            self._open_round(number, parents, slots)
        return StopReason.ROUNDS

    # Decisions

    def _stop_choice(self) -> Choice:
        ranked = ranking(self._archive.prospects(), self._settings.seed, FINAL)
        return stop_choice(ranked, self._settings.stop_at_perfect, self._settings.finalists)

    def _parents_choice(self, number: int) -> Choice:
        ranked = ranking(self._archive.prospects(), self._settings.seed, f"round {number}")
        return parents_choice(ranked, self._settings.parents, self._archive.class_of)

    def _finalists_choice(self, only_perfect: bool) -> Choice:
        ranked = ranking(self._archive.prospects(), self._settings.seed, FINAL)
        return finalists_choice(ranked, self._settings.finalists, only_perfect)

    async def _settle(self, decide: Callable[[], Choice]) -> tuple[int, ...]:
        """Verifies what the decision needs, all of it at once and anew with each result, until it is certain."""
        while True:
            self._news.clear()
            choice = decide()
            self._watched = frozenset(choice.chosen)
            if not choice.needed and self._unscored == 0:
                return choice.chosen
            for candidate in sorted(choice.needed - self._busy):
                self._busy.add(candidate)
                self._group.create_task(self._verify(candidate))
            await self._news.wait()

    async def _wait_until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._news.clear()
            await self._news.wait()

    # Rounds

    def _open_round(self, number: int, parents: tuple[int, ...], slots: Sequence[Slot]) -> None:
        self._observe(RoundStarted(number, parents))
        self._rounds.append(Round(number, parents, tuple(slot.id for slot in slots), None, ()))
        self._earlier = {standing.candidate.id: standing for standing in self._archive}
        self._unscored = self._unsummarised = len(slots)
        for slot in slots:
            self._archive.reserve(slot)
            self._busy.add(slot.id)
            self._group.create_task(self._fill(slot))

    def _close_round(self) -> None:
        """Called when the decisions that follow the round are taken: the best candidate is exactly known by then."""
        opened = self._rounds[-1]
        fitness = [standing.fitness for standing in self._archive if standing.exact and standing.fitness is not None]
        closed = Round(
            opened.number,
            opened.parents,
            tuple(candidate for candidate in opened.added if candidate in self._archive),
            max(fitness, default=None),
            tuple(standing.candidate.id for standing in self._archive if standing.perfect),
        )
        self._rounds[-1] = closed
        self._observe(RoundClosed(closed))

    # Tasks

    async def _fill(self, slot: Slot) -> None:
        """One slot, from nothing to a candidate with a first verification and a summary."""
        try:
            draft = await self._write(slot)
        except NoAnswer as failure:
            if isinstance(failure, CallNotRun):
                self._refused.add("scores")
            self._archive.lose(slot, str(failure))
            self._observe(CandidateLost(slot.id, str(failure)))
        else:
            candidate = Candidate(slot, draft)
            self._archive.add(candidate)
            self._observe(CandidateAdded(slot.id, slot.round, slot.origin, slot.parent, len(draft.text)))
            await self._verify(slot.id)
        self._unscored -= 1
        self._tell(slot.id)
        if slot.id in self._archive and self._settings.summaries:
            await self._summarise(slot.id)
        self._unsummarised -= 1
        if self._unsummarised == 0:
            self._news.set()

    async def _write(self, slot: Slot) -> Draft:
        if slot.parent is None:
            return await self._roles.generator.generate(slot)
        parent = self._earlier[slot.parent]
        siblings = [standing for candidate, standing in self._earlier.items() if candidate != slot.parent]
        write = self._roles.refiner.patch if slot.origin == "patch" else self._roles.refiner.rewrite
        return await write(slot, parent, siblings)

    async def _verify(self, candidate: int) -> None:
        """One wave of verifications of a candidate marked busy."""
        standing = self._archive[candidate]
        samples = next_samples(len(standing.verifications), standing.planned, self._settings.lazy)
        found = await self._roles.verifier.verify(standing.candidate, samples)
        for sample in samples:
            if (verification := found.get(sample)) is not None:
                standing = self._archive.record(candidate, verification)
                self._observe(
                    Verified(
                        candidate,
                        sample,
                        verification.state,
                        verification.points,
                        standing.fitness,
                        standing.exact,
                    )
                )
        if any(sample not in found for sample in samples):
            self._refused.add("scores")
            self._archive.refuse(candidate)
        self._busy.discard(candidate)
        self._tell(candidate)

    async def _summarise(self, candidate: int) -> None:
        """A candidate without a first verification, or whose call fails, has no summary."""
        standing = self._archive[candidate]
        first = standing.verifications.get(0)
        if first is None:
            return
        try:
            summary = await self._roles.summariser.summarise(standing.candidate, first)
        except NoAnswer as failure:
            if isinstance(failure, CallNotRun):
                self._refused.add("summaries")
            return
        self._archive.summarise(candidate, summary)
        self._observe(Summarised(candidate))

    def _tell(self, candidate: int) -> None:
        if candidate in self._watched or self._unscored == 0:
            self._news.set()
