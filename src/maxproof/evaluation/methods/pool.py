"""A pool of mean-scored proofs, the best of them refined (DeepSeekMath-V2, arXiv 2511.22570).

`candidates` proofs, each with `verifications` verifications, all of them run; a proof's score is the mean of those that
could be read. Each round refines the 2M best that have a known error, once each, with their critiques, and adds the
results to the pool. One proof with full marks from all its verifications ends it, as do `rounds` rounds or the budget.
What has the highest mean is returned.

Kept from what is published: mean, one perfect proof, a pool that is never pruned, all stages of a round for all
proofs at once. Different: the sizes are those of the search (published: 128 proofs, 32 of them refined, 4 to 64
verifications, 16 to 20 rounds); equal means are drawn by the seed, where the original asks the prover for a
self-evaluation; its optional meta-verification is left out; and a verification that failed counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maxproof.evaluation.methods.outcome import attempts_of, highest
from maxproof.evaluation.methods.proofs import Proofs, wave_size
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import Caller
from maxproof.problems import Problem
from maxproof.search.refinement import first_slots
from maxproof.search.selection import tie_break
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Slot, Standing
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import MAX_POINTS, Draft

CRITIQUES = 4
"""Critiques at most that a refinement is told, the lowest-scored first."""


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`. `stop`: `perfect`, `rounds`, `no_parents`, `not_run`."""
    proofs = Proofs(problem, verifier, caller, search.verifications, "mean")
    number, stop = await _refine(proofs, search, left)
    picked = highest(proofs.standings)
    if picked is None and proofs.standings:
        picked = proofs.standings[0].candidate.id
    return Outcome(
        attempts=attempts_of(proofs.standings),
        picked=picked,
        argmax=highest(proofs.standings),
        passed=picked is not None and proofs[picked].perfect,
        rounds=number,
        stop=stop,
    )


async def _refine(proofs: Proofs, search: SearchSettings, left: Left) -> tuple[int, str]:
    """All of it; how many rounds were done, and why no further one."""
    slots = first_slots(search.candidates)
    wave = wave_size(search, left)
    for start in range(0, len(slots), wave):
        if start and (proofs.refused or not left()):
            break
        await proofs.wave(slots[start : start + wave], proofs.generator.generate)
    number = 0
    while not any(s.perfect for s in proofs.standings):
        if number == search.rounds:
            return number, "rounds"
        if proofs.refused or not left():
            return number, "not_run"
        chosen = parents(proofs.standings, 2 * search.parents, search.seed, number + 1)
        if not chosen:
            return number, "no_parents"
        number += 1
        await _round(proofs, search, number, chosen)
    return number, "perfect"


async def _round(proofs: Proofs, search: SearchSettings, number: int, chosen: Sequence[Standing]) -> None:
    first = search.candidates + 2 * search.parents * (number - 1)
    by_slot = {Slot(first + rank, number, "patch", parent.candidate.id): parent for rank, parent in enumerate(chosen)}

    async def refine(slot: Slot) -> Draft:
        return await proofs.refiner.patch(slot, with_critiques(by_slot[slot]), [])

    await proofs.wave(by_slot, refine)


def parents(standings: Sequence[Standing], count: int, seed: int, number: int) -> list[Standing]:
    """The `count` best with a known error, for round `number`; those that layer 1 rejected last."""

    def place(standing: Standing) -> tuple[bool, float, bytes]:
        filtered = any(v.bad_cases for v in standing.verifications.values())
        return filtered, -(standing.fitness or 0.0), tie_break(seed, f"round {number}", standing.candidate.id)

    known = [s for s in standings if s.fitness is not None and s.fitness < MAX_POINTS]
    return sorted(known, key=place)[:count]


def with_critiques(standing: Standing) -> Standing:
    """The same with the critiques of its worst verifications as the one that decides, each text once."""
    scored = [(v.points, v.sample, v) for v in standing.verifications.values() if v.points is not None]
    flawed = [v for points, _, v in sorted(scored, key=lambda item: item[:2]) if points < MAX_POINTS]
    critiques = list(dict.fromkeys(v.critique for v in flawed))[:CRITIQUES]
    return replace(standing, verifications={0: replace(flawed[0], sample=0, critique="\n\n".join(critiques))})
