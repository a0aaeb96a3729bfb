"""A method: from a problem to proofs, one of them picked.

Methods that are compared share calls: the first proof of each is the call `generator/generate/0`, and so on, so that
they differ by what they do and not by luck. What a method used is counted by the caller that it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from maxproof.models.types import Caller
from maxproof.problems import Problem
from maxproof.search.settings import SearchSettings
from maxproof.verifier.settings import VerifierSettings


@dataclass(frozen=True, slots=True)
class Attempt:
    """A proof that a method wrote.

    Attributes:
        id: unique in the method's archive, fixed before sampling.
        round: 0 for first proofs; later ones come from refinement.
        origin: `generate`, `patch`, `rewrite`, `repair`, ...
        fitness: points 0..7 as the method itself sees them (the minimum, or a mean where the method takes means); None
            if it has no view or nothing was scored.
    """

    id: int
    text: str
    round: int
    origin: str
    fitness: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method did with one problem.

    Attributes:
        attempts: all it wrote, by id.
        picked: the id it returns; None only if it has no attempt.
        argmax: the id that highest fitness alone would return (ties: lowest id); None without one.
        passed: the method itself calls the picked proof right.
        rounds: refinement rounds done.
        stop: why it ended: `perfect`, `rounds`, `no_parents`, `not_run`, `accepted`, `gave_up`, ...
    """

    attempts: tuple[Attempt, ...]
    picked: int | None
    argmax: int | None
    passed: bool
    rounds: int
    stop: str

    def text(self, attempt: int) -> str:
        """Raises KeyError for an unknown id."""
        for found in self.attempts:
            if found.id == attempt:
                return found.text
        raise KeyError(attempt)


Left = Callable[[], bool]
"""Whether the budget of this problem allows another wave of calls. Asked only where the set of finished calls does not
depend on their order, so that the same answers give the same run."""


class Method(Protocol):
    """One of `methods.METHODS`."""

    async def __call__(
        self, problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
    ) -> Outcome:
        """`search` gives the sizes: candidates, verifications, rounds, finalists, votes, seed. Calls that fail or are
        refused never raise here."""
        ...
