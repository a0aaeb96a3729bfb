"""Asks the configured verifier about graded proofs, through one journal: what is recorded is never paid for again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence

from maxproof.evaluation.calibrate.replay import judged
from maxproof.evaluation.calibrate.types import Graded, Judged, Sample
from maxproof.models.types import Caller
from maxproof.problems import Problem
from maxproof.verifier import Verifier, VerifierSettings
from maxproof.verifier.types import Draft, Verification

WINDOW = 64
"""Proofs under way at a time."""


async def verify_graded(
    proofs: Sequence[Graded],
    problems: Mapping[str, Problem],
    settings: VerifierSettings,
    samples: int,
    caller: Caller,
    observe: Callable[[int], None] = lambda done: None,
) -> tuple[Judged, ...]:
    """`samples` verifications of each proof, in the order of the proofs.

    A sample that was not run (a budget is spent, the endpoint is gone) is missing.

    Args:
        problems: by id; what the judges see. A proof of another problem is judged by its statement alone.
        observe: is told how many proofs are done.
    """
    places = asyncio.Semaphore(WINDOW)
    done = 0

    async def one(graded: Graded) -> Judged:
        nonlocal done
        problem = problems.get(graded.problem) or Problem(graded.problem[:200], graded.statement)
        async with places:
            found = await Verifier(settings, caller, problem).verify(
                _number(graded), Draft(graded.text), range(samples)
            )
        done += 1
        observe(done)
        return judged(graded, [sample_of(found[index]) for index in sorted(found)])

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(graded)) for graded in proofs]
    return tuple(task.result() for task in tasks)


def sample_of(verification: Verification) -> Sample:
    """What a card needs of a verification."""
    return Sample({view.judge: view.points for view in verification.judges}, filtered=bool(verification.bad_cases))


def _number(graded: Graded) -> int:
    """A candidate number that does not change as other proofs come or go."""
    return int.from_bytes(hashlib.sha256(graded.id.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 2
