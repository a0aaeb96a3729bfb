"""Verifier calls that lazy verification saves, over seeded score tables, and whether it ever decides differently.

The real engine runs twice for each table, lazily and eagerly, with roles that read a table instead of a model: the
points of candidate c in sample k are a function of (table, c's ancestry, k). Replies come back in an order that is
shuffled by seed and differs between the two runs. Compared are each round's parents, the stop, the finalists, the
bracket and the winner.

A scene sets how often a proof is right and how noisy the judges are. Points are 7, 6, 1 or 0 as the default map of
verdicts has them; a not scored sample has none.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from benchmarks.report import print_table
from maxproof.search.engine import search
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, SearchResult, Slot, Standing
from maxproof.verifier.types import MAX_POINTS, Draft, ScoreState, Verdict, Verification

_VERDICTS = {7: Verdict.NO_ERRORS, 6: Verdict.MINOR_GAPS, 1: Verdict.HAS_ERRORS, 0: Verdict.FUNDAMENTALLY_WRONG}


@dataclass(frozen=True, slots=True)
class Scene:
    """Chances in [0, 1].

    Attributes:
        right: a fresh proof is right.
        improve: a refined proof is right although its parent was not.
        false_negative: a sample fails a right proof.
        false_positive: a sample passes a wrong proof.
        not_scored: a sample has no score.
    """

    name: str
    right: float
    improve: float
    false_negative: float
    false_positive: float
    not_scored: float = 0.0


SCENES = (
    Scene("easy: half of the proofs are right", 0.5, 0.5, 0.05, 0.05),
    Scene("medium: a right proof after some rounds", 0.01, 0.04, 0.1, 0.1),
    Scene("hard: no proof is ever right", 0.0, 0.0, 0.1, 0.1),
    Scene("noisy judges: 30 % errors either way", 0.1, 0.1, 0.3, 0.3),
    Scene("unreliable judges: 5 % not scored", 0.05, 0.1, 0.1, 0.1, 0.05),
)


class TableRoles:
    """All five roles, answered from one seeded table."""

    def __init__(self, scene: Scene, table: int, order: int) -> None:
        self._scene = scene
        self._table = table
        self._order = Random(order)
        self.verifications = 0

    def _random(self, *what: object) -> Random:
        return Random(hashlib.sha256(repr((self._table, self._scene.name, *what)).encode()).digest())

    async def _later(self) -> None:
        """Replies come in a shuffled order."""
        for _ in range(self._order.randrange(8)):
            await asyncio.sleep(0)

    async def generate(self, slot: Slot) -> Draft:
        await self._later()
        return self._draft(f"{slot.id}", self._scene.right)

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        await self._later()
        return self._draft(f"{parent.candidate.text}>{slot.id} by {parent.critique}", self._scene.improve)

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        await self._later()
        known = hashlib.sha256("".join(s.summary for s in siblings).encode()).hexdigest()[:8]
        return self._draft(f"{parent.candidate.text}>{slot.id} of {known}", self._scene.improve)

    def _draft(self, ancestry: str, chance: float) -> Draft:
        random = self._random("draft", ancestry)
        digest = hashlib.sha256(ancestry.encode()).hexdigest()
        return Draft(f"{digest[:40]} {'right' if random.random() < chance else 'wrong'}")

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        await self._later()
        self.verifications += len(samples)
        return {sample: self._score(candidate.text, sample) for sample in samples}

    def _score(self, text: str, sample: int) -> Verification:
        random = self._random("score", text, sample)
        if random.random() < self._scene.not_scored:
            return Verification(sample, ScoreState.NOT_SCORED, None, None, "")
        right = text.endswith("right")
        if random.random() < (self._scene.false_negative if right else self._scene.false_positive):
            right = not right
        points = MAX_POINTS if right else random.choice((6, 1, 1, 1, 0))
        state = ScoreState.PASSED if points == MAX_POINTS else ScoreState.FAILED
        return Verification(sample, state, float(points), _VERDICTS[points], "" if right else f"error {sample}")

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        await self._later()
        return f"summary of {candidate.text} after {first.points}"

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        await self._later()
        texts = sorted((first.candidate.text, second.candidate.text))
        favourite = self._random("rank", match, vote, *texts).choice(texts)
        return "first" if favourite == first.candidate.text else "second"


def decisions(result: SearchResult) -> tuple[object, ...]:
    """All that the search decided; must not depend on `lazy`."""
    return (
        [(r.number, r.parents, r.added, r.best) for r in result.rounds],
        [(s.candidate.id, s.candidate.text, s.summary) for s in result.standings],
        result.stop,
        result.finalists,
        result.matches,
        result.winner,
    )


def compare(scene: Scene, table: int) -> tuple[int, int, int, bool]:
    """Verifications run lazily and eagerly, candidates, and whether the decisions are the same."""
    runs = []
    for lazy in (True, False):
        roles = TableRoles(scene, table, order=2 * table + lazy)
        settings = SearchSettings(lazy=lazy, seed=table)
        result = asyncio.run(search(settings, Roles(roles, roles, roles, roles, roles)))
        runs.append((roles.verifications, result))
    (lazily, lazy_result), (eagerly, eager_result) = runs
    return lazily, eagerly, len(eager_result.standings), decisions(lazy_result) == decisions(eager_result)


def run(quick: bool) -> None:
    """Prints one row for each scene."""
    tables = 20 if quick else 200
    rows = []
    for scene in SCENES:
        results = [compare(scene, table) for table in range(tables)]
        lazily, eagerly = sum(r[0] for r in results), sum(r[1] for r in results)
        rows.append(
            (
                scene.name,
                sum(r[2] for r in results) / tables,
                eagerly / tables,
                lazily / tables,
                f"{1 - lazily / eagerly:.1%}",
                sum(not r[3] for r in results),
            )
        )
    print_table(
        f"lazy verification: N=32, K=4, R=10, M=4, {tables} score tables a row",
        ("scene", "candidates", "eager calls", "lazy calls", "saved", "different decisions"),
        rows,
        "calls: verifications per search, mean over the tables",
    )
