"""A method that leaves its helper lemmas to the learned library."""

from __future__ import annotations

import logging

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.learned.generalise import learned_from
from maxproof.formal.learned.library import LearnedLibrary
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Method
from maxproof.problems import InputError

_log = logging.getLogger(__name__)


class LearningMethod:
    """`method`, whose accepted solutions are learned from before they count as finished.

    A kill between the two costs nothing: the attempt is made again, from recorded calls and verdicts.
    """

    def __init__(self, method: Method, checker: Checker, limits: Limits, library: LearnedLibrary) -> None:
        self._method = method
        self._checker = checker
        self._limits = limits
        self._library = library

    @property
    def name(self) -> str:
        return self._method.name

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """Checks spent on learning don't count as the attempt's."""
        made = await self._method.attempt(problem, seed)
        if made.accepted:
            lemmas = await learned_from(problem, made.solution, self.name, self._checker, self._limits)
            try:
                self._library.add(lemmas)
            except InputError as error:
                _log.warning("%s: nothing is learned from %s", error, problem.name)  # the proof itself is safe
        return made
