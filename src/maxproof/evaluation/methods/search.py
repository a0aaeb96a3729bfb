"""The MaxProof search within a budget (`maxproof.search`): what `maxproof prove` runs.

Round 0 is always done. A further round starts only while the budget allows it; a search that must not start one ends
as one whose calls are refused: with the tournament over what it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maxproof.evaluation.methods.outcome import outcome_of
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import Caller, CallNotRun
from maxproof.problems import Problem
from maxproof.search.engine import search as run_search
from maxproof.search.prompted import prompted_roles
from maxproof.search.roles import Refiner
from maxproof.search.settings import SearchSettings
from maxproof.search.types import SearchResult, Slot, Standing
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`."""
    return outcome_of(await searched(problem, search, verifier, caller, left))


async def searched(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> SearchResult:
    """The same, as the search tells it."""
    roles = prompted_roles(problem, search, verifier, caller)
    return await run_search(search, replace(roles, refiner=BudgetRefiner(roles.refiner, left)))


class BudgetRefiner:
    """Refuses a round's offspring, all or none, when the budget is spent as the round starts.

    The engine asks for all offspring of a round at once, when every earlier call has come back: the first of them is
    asked where the set of finished calls does not depend on their order.
    """

    def __init__(self, refiner: Refiner, left: Left) -> None:
        self._refiner = refiner
        self._left = left
        self._rounds: dict[int, bool] = {}

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """Raises `NoAnswer`."""
        self._admit(slot)
        return await self._refiner.patch(slot, parent, siblings)

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        """Raises `NoAnswer`."""
        self._admit(slot)
        return await self._refiner.rewrite(slot, parent, siblings)

    def _admit(self, slot: Slot) -> None:
        if slot.round not in self._rounds:
            self._rounds[slot.round] = self._left()
        if not self._rounds[slot.round]:
            raise CallNotRun("the problem's budget is spent")
