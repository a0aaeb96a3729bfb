"""The verify-repair loop (Huang and Yang, arXiv 2507.15855): one proof at a time, mended until it passes many times.

A run: draft, improve it, then verify; a failed verification's report goes into a repair, which is verified in turn. A
proof that passes `PASSES` times in a row is accepted, a run that has failed `FAILURES` times gives up, and another one
starts, up to `candidates` runs, while the budget lasts.

Kept from what is published: the flow, five passes, ten failures. Different: a verification is one sample of the
project's verifier, whose verdict is read strictly, where the original asks a model whether the report is good and
takes any reply with the letters "yes" for a pass; an empty answer is no proof, where the original verifies it; failures
count over the whole run; and where no run is accepted, the proof with the longest row of passes is returned (the
last of several), where the original returns nothing. Repairs are the search's PATCH without other attempts.
"""

from __future__ import annotations

from dataclasses import replace

from maxproof.evaluation.methods.outcome import attempts_of, highest
from maxproof.evaluation.methods.proofs import Proofs
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import CallAddress, Caller
from maxproof.problems import Problem
from maxproof.search.prompted import draft_of, role_call
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Slot, Standing
from maxproof.verifier.settings import VerifierSettings
from maxproof.verifier.types import Draft, ScoreState

PASSES = 5
"""Passes in a row after which a proof is accepted."""
FAILURES = 10
"""Failed verifications after which a run gives up; also how many may be unreadable."""


async def run(
    problem: Problem,
    search: SearchSettings,
    verifier: VerifierSettings,
    caller: Caller,
    left: Left,
    passes: int = PASSES,
    failures: int = FAILURES,
) -> Outcome:
    """See `types.Method`. `stop`: `accepted`, `gave_up` after the last run, `not_run`.

    `passes`, `failures`: both >= 1.
    """
    loop = _Loop(problem, search, verifier, caller, left, passes, failures)
    accepted, number = None, 0
    while accepted is None and number < search.candidates and loop.may_go_on():
        accepted = await loop.run(number)
        number += 1
    standings = loop.proofs.standings
    picked = accepted
    if picked is None and standings:
        picked = max((loop.rows.get(s.candidate.id, 0), s.candidate.id) for s in standings)[1]
    return Outcome(
        attempts=tuple(replace(a, origin=loop.origin(a.id)) for a in attempts_of(standings)),
        picked=picked,
        argmax=highest(standings),
        passed=accepted is not None,
        rounds=max((s.candidate.slot.round for s in standings), default=0),
        stop="accepted" if accepted is not None else "gave_up" if number == search.candidates else "not_run",
    )


class _Loop:
    """Ids: run r's draft is r, its improved draft and its repairs are the r-th block of `failures` + 1 after those."""

    def __init__(
        self,
        problem: Problem,
        search: SearchSettings,
        verifier: VerifierSettings,
        caller: Caller,
        left: Left,
        passes: int,
        failures: int,
    ) -> None:
        self.proofs = Proofs(problem, verifier, caller, passes)
        self.rows: dict[int, int] = {}
        self._problem = problem
        self._caller = caller
        self._drafts = search.candidates
        self._left = left
        self._passes = passes
        self._failures = failures

    def origin(self, candidate: int) -> str:
        """Of an attempt, by its id."""
        if candidate < self._drafts:
            return "generate"
        return "repair" if (candidate - self._drafts) % (self._failures + 1) else "improve"

    def may_go_on(self) -> bool:
        """Calls are neither refused nor too many. One call is made at a time, so this is known at every step."""
        return not self.proofs.refused and self._left()

    async def run(self, number: int) -> int | None:
        """One run; the id of the accepted proof, if there is one."""
        first = self._drafts + number * (self._failures + 1)
        current = await self.proofs.write(Slot(number, 0, "generate"), self.proofs.generator.generate)
        if current is None or not current.candidate.text.strip():
            return None
        current = await self._next(Slot(first, 1, "patch", number), current, improve=True)
        row = failed = unscored = 0
        while failed < self._failures and unscored < self._failures and self.may_go_on():
            candidate = current.candidate.id
            sample = len(current.verifications)
            found = (await self.proofs.verify(candidate, [sample])).get(sample)
            current = self.proofs[candidate]
            if found is None:
                return None
            if found.state is ScoreState.PASSED:
                row += 1
                self.rows[candidate] = max(row, self.rows.get(candidate, 0))
                if row == self._passes:
                    return candidate
            elif found.state is ScoreState.NOT_SCORED:
                unscored += 1
            else:
                row, failed = 0, failed + 1
                if failed < self._failures and self.may_go_on():
                    current = await self._next(Slot(first + failed, 1 + failed, "patch", candidate), current)
        return None

    async def _next(self, slot: Slot, current: Standing, *, improve: bool = False) -> Standing:
        """The next proof; the current one again if there is none, or an empty one."""

        async def write(slot: Slot) -> Draft:
            return await (self._improve(slot, current) if improve else self.proofs.refiner.patch(slot, current, []))

        following = await self.proofs.write(slot, write)
        return following if following is not None and following.candidate.text.strip() else current

    async def _improve(self, slot: Slot, current: Standing) -> Draft:
        address = CallAddress("refiner", "improve", slot.id)
        texts = {"draft": current.candidate.text}
        call = role_call(address, "improve", self._problem, texts, "maxproof.evaluation.methods")
        return draft_of(await self._caller.ask(call))
