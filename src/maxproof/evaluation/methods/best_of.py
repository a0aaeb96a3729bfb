"""Best-of-N: the search without its rounds. N proofs, each verified, and the tournament over the best.

N grows to `candidates` in waves of 2M, as many as a round of the search adds, while the budget allows it. Each wave is
the search over all proofs so far, without rounds and with a ranker that is never asked: what it verifies is what the
choice of the finalists needs. Nobody reads summaries here, so none is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from maxproof.evaluation.methods.outcome import outcome_of
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import Caller
from maxproof.problems import Problem
from maxproof.search.engine import search as run_search
from maxproof.search.prompted import prompted_roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Standing, StopReason
from maxproof.verifier.settings import VerifierSettings


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`. `stop` is `rounds`: all of the none that it has are done; or `not_run`."""
    wave = 2 * search.parents
    roles = prompted_roles(problem, search, verifier, caller)
    growing = replace(roles, ranker=_NoRanker())
    count = 0
    while True:
        count = min(count + wave, search.candidates)
        settings = search.model_copy(
            update={"candidates": count, "rounds": 0, "summaries": False, "parents": min(search.parents, count)}
        )
        result = await run_search(settings, growing)
        if count == search.candidates or result.stop is StopReason.NOT_RUN or not left():
            return outcome_of(await run_search(settings, roles))


class _NoRanker:
    """Has no opinion."""

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        return None
