"""One check of one solution, with everything opened for it and closed after it."""

from __future__ import annotations

from dataclasses import replace

from maxproof.formal.checkers.cache import CachedChecker, default_cache
from maxproof.formal.checkers.certify import certify
from maxproof.formal.checkers.choose import find_dafny, open_checker
from maxproof.formal.problem import FormalProblem
from maxproof.formal.settings import FormalSettings
from maxproof.formal.solution.check import check_solution, solution_task
from maxproof.formal.solution.types import SolutionVerdict


async def check_text(problem: FormalProblem, text: str, settings: FormalSettings) -> SolutionVerdict:
    """The verdict on a submission, certified by an installed Dafny where the settings ask for it.

    Raises InputError for a checker that isn't there.
    """
    limits = settings.limits.limits()
    dafny = await find_dafny() if settings.certify else None
    async with open_checker(settings.checker, workers=1) as checker:
        verdict = await check_solution(problem, text, CachedChecker(checker, default_cache()), limits)
    if verdict.accepted and dafny is not None:
        return replace(verdict, certified=await certify(solution_task(problem, text), dafny, limits))
    return verdict
