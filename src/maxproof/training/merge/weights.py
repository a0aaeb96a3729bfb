"""Which weights to merge with: tried on a validation score.

The score is the caller's (a pass rate on the validation split, say); here is only which candidates are tried, in which
order, and which wins. Every try is kept, so that a report can show them all.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from maxproof.problems.errors import InputError

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Try(Generic[C]):
    """One candidate and its score, higher is better; None is "not scored", which never wins."""

    candidate: C
    score: float | None


@dataclass(frozen=True, slots=True)
class Choice(Generic[C]):
    """The winner, and all tries in the order in which they were made."""

    best: Try[C]
    tries: tuple[Try[C], ...]


async def choose_weights(candidates: Iterable[C], evaluate: Callable[[C], Awaitable[float | None]]) -> Choice[C]:
    """Evaluates every candidate, one after another (a merge and its evaluation fill the machine); the best wins.

    Args:
        candidates: weights, or whole `MergeSettings`; of equal scores the earlier candidate wins, so list the simplest
            first.
        evaluate: the validation score, or None where it could not be scored.
    Raises:
        InputError: there is no candidate, or none was scored.
    """
    return _choice([Try(candidate, _checked(await evaluate(candidate))) for candidate in candidates])


def _checked(score: float | None) -> float | None:
    if score is not None and math.isnan(score):
        raise ValueError("a score is a number or None, not NaN")
    return score


def _choice(tries: list[Try[C]]) -> Choice[C]:
    scored = [(attempt.score, attempt) for attempt in tries if attempt.score is not None]
    if not scored:
        raise InputError(f"none of the {len(tries)} candidates was scored: there is nothing to choose by")
    return Choice(max(scored, key=lambda pair: pair[0])[1], tuple(tries))
