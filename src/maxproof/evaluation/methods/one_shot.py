"""One proof, neither verified nor refined: the first proof that every other method starts from."""

from __future__ import annotations

from maxproof.evaluation.methods.types import Attempt, Left, Outcome
from maxproof.models.types import Caller, CallNotRun, NoAnswer
from maxproof.problems import Problem
from maxproof.search.prompted import PromptedGenerator
from maxproof.search.refinement import first_slots
from maxproof.search.settings import SearchSettings
from maxproof.verifier.settings import VerifierSettings


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`. `stop` is `done`, or `failed` or `not_run` without a proof."""
    (slot,) = first_slots(1)
    try:
        draft = await PromptedGenerator(problem, caller).generate(slot)
    except NoAnswer as failure:
        stop = "not_run" if isinstance(failure, CallNotRun) else "failed"
        return Outcome((), None, None, passed=False, rounds=0, stop=stop)
    attempt = Attempt(slot.id, draft.text, 0, slot.origin, None)
    return Outcome((attempt,), slot.id, None, passed=False, rounds=0, stop="done")
