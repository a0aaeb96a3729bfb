"""One check of one solution, with everything opened for it and closed after it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from maxproof.formal.checkers.cache import CachedChecker, default_cache
from maxproof.formal.checkers.certify import certify
from maxproof.formal.checkers.choose import EMBEDDED, find_dafny, open_checker
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.settings import FormalSettings
from maxproof.formal.solution.check import check_solution, solution_task
from maxproof.formal.solution.types import SolutionVerdict
from maxproof.formal.statements import AUDIT_RESOURCE, statement_statuses


async def check_text(problem: FormalProblem, text: str, settings: FormalSettings) -> tuple[SolutionVerdict, Status]:
    """The verdict on a submission, certified by an installed Dafny where the settings ask for it, and the status that
    the problem has by it: a proof of a vacuous statement is accepted, but solves nothing, and where none is accepted
    the statement itself may be refuted or ill-formed.

    Raises InputError for a checker that isn't there.
    """
    limits = settings.limits.limits()
    dafny = await find_dafny() if settings.certify else None
    async with AsyncExitStack() as stack:
        names = dict.fromkeys((settings.checker, EMBEDDED))  # only the embedded one finds counterexamples
        checkers = [CachedChecker(await stack.enter_async_context(open_checker(n, 1)), default_cache()) for n in names]
        verdict = await check_solution(problem, text, checkers[0], limits)
        proofs = {problem.name: [text]} if verdict.accepted else {}
        audit = replace(limits, resource=AUDIT_RESOURCE)
        found = (await statement_statuses([problem], proofs, checkers, audit)).found
    if not verdict.accepted:
        return verdict, found.get(problem.name, Status.OPEN)
    if dafny is not None:
        verdict = replace(verdict, certified=await certify(solution_task(problem, text), dafny, limits))
    return verdict, found.get(problem.name, Status.SOLVED)
