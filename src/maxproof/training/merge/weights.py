"""Which weights to merge with: tried on a validation score.

The score is the caller's (a pass rate on the validation split, say); here is only which candidates are tried, in which
order, and which wins. Every try is kept, so that a report can show them all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from maxproof.problems.errors import InputError

C = TypeVar("C")
Weights = tuple[float, ...]


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


async def coordinate_search(
    start: Weights,
    levels: Sequence[float],
    evaluate: Callable[[Weights], Awaitable[float | None]],
    *,
    rounds: int = 2,
) -> Choice[Weights]:
    """Changes one weight at a time to each of `levels`, keeps what improves, until a round improves nothing.

    At most 1 + rounds * len(start) * len(levels) evaluations, where a full grid takes len(levels) ** len(start); no
    weights are tried twice.

    Raises: InputError, if nothing was scored.
    """
    tries: dict[Weights, Try[Weights]] = {}

    async def score(weights: Weights) -> float:
        if weights not in tries:
            tries[weights] = Try(weights, _checked(await evaluate(weights)))
        found = tries[weights].score
        return -math.inf if found is None else found

    best, best_score = start, await score(start)
    for _ in range(rounds):
        before = best
        for i, level in itertools.product(range(len(start)), levels):
            weights = (*best[:i], level, *best[i + 1 :])
            if any(weights) and (found := await score(weights)) > best_score:
                best, best_score = weights, found
        if best == before:
            break
    return _choice(list(tries.values()))


def weight_grid(experts: int, levels: Sequence[float]) -> tuple[Weights, ...]:
    """All weights from `levels`, without the ones that are all 0; equal weights first."""
    found = [weights for weights in itertools.product(levels, repeat=experts) if any(weights)]
    return tuple(sorted(found, key=lambda weights: len(set(weights)) > 1))


def _checked(score: float | None) -> float | None:
    if score is not None and math.isnan(score):
        raise ValueError("a score is a number or None, not NaN")
    return score


def _choice(tries: list[Try[C]]) -> Choice[C]:
    scored = [(attempt.score, attempt) for attempt in tries if attempt.score is not None]
    if not scored:
        raise InputError(f"none of the {len(tries)} candidates was scored: there is nothing to choose by")
    return Choice(max(scored, key=lambda pair: pair[0])[1], tuple(tries))
