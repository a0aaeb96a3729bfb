"""Scripted roles over a random score table, and a scheduler that finishes calls in an order of its own."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from maxproof.models.types import CallFailed, CallNotRun, FailureKind
from maxproof.search.engine import search
from maxproof.search.events import Event
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, SearchResult, Slot, Standing
from maxproof.verifier.types import BadCaseHit, Draft, ScoreState, Verdict, Verification

CLASSES = 4
PREFIX = 5


@dataclass(frozen=True)
class Table:
    """What every call would answer: a function of the call alone, drawn from `seed`."""

    seed: int
    levels: tuple[float, ...] = (0, 1, 1, 6, 7, 7, 7)
    not_scored: float = 0.1
    filtered: float = 0.1
    failing: float = 0.0
    refused: float = 0.0
    invalid_votes: float = 0.1
    always_first: bool = False

    def draw(self, *key: object) -> random.Random:
        return random.Random(repr((self.seed, *key)))

    def draft(self, candidate: int) -> Draft:
        name = "abcdefgh"[self.draw("class", candidate).randrange(CLASSES)] * PREFIX
        return Draft(f"{name} proof {candidate}")

    def is_filtered(self, candidate: int) -> bool:
        return self.draw("filtered", candidate).random() < self.filtered

    def verification(self, candidate: int, sample: int) -> Verification:
        if self.is_filtered(candidate):
            hit = BadCaseHit("loop", "ngram_loop", "again and again")
            return Verification(sample, ScoreState.FAILED, 0, Verdict.FUNDAMENTALLY_WRONG, "loops", bad_cases=(hit,))
        rng = self.draw("score", candidate, sample)
        if rng.random() < self.not_scored:
            return Verification(sample, ScoreState.NOT_SCORED, None, None, "")
        # A candidate has a quality of its own: samples mostly agree.
        quality = self.draw("quality", candidate).choice(self.levels)
        points = quality if rng.random() < 0.7 else rng.choice(self.levels)
        state = ScoreState.PASSED if points == 7 else ScoreState.FAILED
        return Verification(sample, state, points, None, f"critique {candidate}.{sample}")

    def trouble(self, *key: object) -> None:
        roll = self.draw("trouble", *key).random()
        if roll < self.refused:
            raise CallNotRun("budget")
        if roll < self.refused + self.failing:
            raise CallFailed(FailureKind.TIMEOUT, "no reply in time")


@dataclass
class Scheduler:
    """Finishes one waiting call at a time, in an order drawn from `seed`; without one, every call at once."""

    seed: int | None
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def turn(self) -> None:
        if self.seed is None:
            return
        future = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        await future

    async def drive(self) -> None:
        rng = random.Random(self.seed)
        while True:
            for _ in range(8):
                await asyncio.sleep(0)
            if self.waiting:
                self.waiting.pop(rng.randrange(len(self.waiting))).set_result(None)


@dataclass
class FakeRoles:
    """All the roles; `calls` lists what was asked, with everything that a prompt would be made of."""

    table: Table
    scheduler: Scheduler
    refuse_after: int | None = None
    calls: list[tuple[object, ...]] = field(default_factory=list)

    async def _call(self, *call: object) -> None:
        self.calls.append(call)
        refused = self.refuse_after is not None and len(self.calls) > self.refuse_after
        await self.scheduler.turn()
        if refused:
            raise CallNotRun("budget")
        self.table.trouble(*call[:3])

    async def generate(self, slot: Slot) -> Draft:
        await self._call("generate", slot.id)
        return self.table.draft(slot.id)

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        found = {}
        refused = []
        for sample in samples:
            self.calls.append(("verify", candidate.id, sample))
            refused.append(self.refuse_after is not None and len(self.calls) > self.refuse_after)
        if self.table.is_filtered(candidate.id):  # no judge is asked, so nothing can fail
            return {sample: self.table.verification(candidate.id, sample) for sample in samples}
        await self.scheduler.turn()
        for sample, gone in zip(samples, refused, strict=True):
            try:
                self.table.trouble("verify", candidate.id, sample)
            except CallNotRun:
                continue
            except CallFailed:
                found[sample] = Verification(sample, ScoreState.NOT_SCORED, None, None, "")
                continue
            if not gone:
                found[sample] = self.table.verification(candidate.id, sample)
        return found

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        await self._call("summarise", candidate.id, first.sample, first.critique)
        return f"summary {candidate.id}"

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        seen = tuple((s.candidate.id, s.summary) for s in siblings)
        await self._call("patch", slot.id, parent.candidate.id, parent.critique, seen)
        return self.table.draft(slot.id)

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        seen = tuple((s.candidate.id, s.summary) for s in siblings)
        await self._call("rewrite", slot.id, parent.candidate.id, seen)
        return self.table.draft(slot.id)

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        await self._call("rank", match, vote, first.candidate.id, second.candidate.id)
        if self.table.always_first:
            return "first"
        rng = self.table.draw("vote", match, vote, first.candidate.id, second.candidate.id)
        if rng.random() < self.table.invalid_votes:
            return None
        return rng.choice(("first", "second"))

    def count(self, kind: str) -> int:
        return sum(call[0] == kind for call in self.calls)

    @property
    def roles(self) -> Roles:
        return Roles(self, self, self, self, self)


def play(
    settings: SearchSettings,
    table: Table,
    *,
    order: int | None = 0,
    refuse_after: int | None = None,
    observe: Callable[[Event], None] | None = None,
) -> tuple[SearchResult, FakeRoles]:
    """One search over a table, its calls finishing in an order drawn from `order` (None: each at once)."""
    fakes = FakeRoles(table, Scheduler(order), refuse_after)

    async def run() -> SearchResult:
        driver = asyncio.create_task(fakes.scheduler.drive())
        try:
            async with asyncio.timeout(60):
                return await search(settings, fakes.roles, observe)
        finally:
            driver.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await driver

    return asyncio.run(run()), fakes
