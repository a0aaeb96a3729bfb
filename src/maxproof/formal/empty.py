"""The empty proof: what the checker proves by itself. The baseline that every method is measured against."""

from __future__ import annotations

import time
from dataclasses import replace

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, judged
from maxproof.formal.solution.check import check_solution

EMPTY_BODY = "{}"


class EmptyProof:
    """A `Method` that submits an empty body."""

    name = "empty"

    def __init__(self, checker: Checker, limits: Limits) -> None:
        self._checker = checker
        self._limits = limits

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """`seed` is the solver's."""
        started = time.monotonic()
        verdict = await check_solution(problem, EMPTY_BODY, self._checker, replace(self._limits, seed=seed))
        made = Attempt(
            problem.name,
            self.name,
            seed,
            verdict.state,
            checker=str(self._checker.tool),
            checks=1,
            seconds=time.monotonic() - started,
            resource=verdict.result.resource if verdict.result is not None else 0,
        )
        return judged(made, verdict, EMPTY_BODY)
