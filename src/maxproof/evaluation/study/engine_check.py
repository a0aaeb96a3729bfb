"""The real engine on the model's draws: what the vectorised search must agree with, problem by problem.

Texts carry no mathematics here: a candidate's text is its family, which the diversity rule reads, and its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from maxproof.evaluation.study.model import POINTS, TOP, Ints, Model, Proofs
from maxproof.evaluation.study.policies import search
from maxproof.search.engine import search as real_search
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, SearchResult, Slot, Standing, StopReason
from maxproof.verifier.types import Draft, ScoreState, Verification

PREFIX = 12


class SimulatedRoles:
    """All roles for one problem of the block. `calls` counts what was asked."""

    def __init__(self, model: Model, problem: int) -> None:
        self._model = model
        self._rows: Ints = np.array([problem])
        self._proofs: dict[int, Proofs] = {}
        self.calls = 0

    def true_points(self, candidate: int) -> int:
        """Raises KeyError for an unknown id."""
        return int(POINTS[self._proofs[candidate].grade[0, 0]])

    async def generate(self, slot: Slot) -> Draft:
        return self._written(slot, self._model.fresh(self._rows, [slot.id]))

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        return self._written(slot, self._model.patch(self._rows, [slot.id], self._proofs[parent.candidate.id]))

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        return self._written(slot, self._model.rewrite(self._rows, [slot.id], self._proofs[parent.candidate.id]))

    def _written(self, slot: Slot, proof: Proofs) -> Draft:
        self.calls += 1
        self._proofs[slot.id] = proof
        name = "".join("abcdefghij"[int(digit)] for digit in f"{int(proof.family[0, 0]):0{PREFIX}d}")
        return Draft(f"{name} proof {slot.id}")

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        proof = self._proofs[candidate.id]
        found = {}
        for sample in samples:
            self.calls += self._model.settings.judges
            z = self._model.leniency(self._rows, [candidate.id], proof.shared, sample)
            points = int(self._model.report(proof, z)[0, 0])
            state = ScoreState.PASSED if points == TOP else ScoreState.FAILED
            found[sample] = Verification(sample, state, float(points), None, "")
        return found

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        self.calls += 1
        return "a proof"

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        self.calls += 1
        ids = tuple(np.array([standing.candidate.id]) for standing in (first, second))
        merits = tuple(
            self._model.merit(self._rows, column[None], self._proofs[int(column[0])])[:, 0] for column in ids
        )
        picks_first = self._model.prefers_left(
            self._rows, match, vote, (merits[0], merits[1]), (ids[0], ids[1]), left_first=True
        )
        return "first" if picks_first[0] else "second"


async def search_problem(model: Model, sizes: SearchSettings, problem: int) -> tuple[SearchResult, SimulatedRoles]:
    """The engine's search for one problem of the block."""
    roles = SimulatedRoles(model, problem)
    settings = sizes.model_copy(update={"diversity_prefix": PREFIX})
    return await real_search(settings, Roles(roles, roles, roles, roles, roles)), roles


def disagreements(model: Model, sizes: SearchSettings, problems: Sequence[int]) -> list[str]:
    """Where the vectorised search and the engine differ, in words; empty if they agree in all of:

    winner, its true points, whether the search stopped as perfect, candidates, verifications, calls, and the true
    points of the best proof after each round.
    """
    outcome = search(model, sizes)
    found = []
    for problem in problems:
        result, roles = asyncio.run(search_problem(model, sizes, problem))
        assert result.winner is not None
        best: list[int] = []
        for closed in result.rounds:
            made = [roles.true_points(candidate) for candidate in closed.added]
            best.append(max([*made, *best[-1:]]))
        best += best[-1:] * (sizes.rounds + 1 - len(best))
        engine = {
            "winner": result.winner,
            "points": roles.true_points(result.winner),
            "stopped": result.stop is StopReason.PERFECT,
            "candidates": len(result.standings),
            "verifications": result.verifications_run,
            "calls": roles.calls,
            "by round": best,
        }
        arrays = {
            "winner": int(outcome.winner[problem]),
            "points": int(outcome.picked[problem]),
            "stopped": bool(outcome.stopped[problem]),
            "candidates": int(outcome.candidates[problem]),
            "verifications": int(outcome.verifications[problem]),
            "calls": int(outcome.calls[problem]),
            "by round": outcome.by_round[problem].tolist(),
        }
        found += [
            f"problem {problem}, {name}: {arrays[name]} here, {engine[name]} by the engine"
            for name in engine
            if arrays[name] != engine[name]
        ]
    return found
