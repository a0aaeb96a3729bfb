"""Outcomes from what is known of candidates."""

from __future__ import annotations

from collections.abc import Iterable

from maxproof.evaluation.methods.types import Attempt, Outcome
from maxproof.search.types import SearchResult, Standing


def attempts_of(standings: Iterable[Standing]) -> tuple[Attempt, ...]:
    """The candidates as attempts, by id."""
    return tuple(
        Attempt(s.candidate.id, s.candidate.text, s.candidate.slot.round, s.candidate.slot.origin, s.fitness)
        for s in sorted(standings, key=lambda s: s.candidate.id)
    )


def highest(standings: Iterable[Standing]) -> int | None:
    """The id with the highest fitness, the lowest of several; None if nothing is scored."""
    scored = [(s.fitness, -s.candidate.id) for s in standings if s.fitness is not None]
    return -max(scored)[1] if scored else None


def outcome_of(result: SearchResult) -> Outcome:
    """A search as an outcome.

    `argmax` is taken among the finalists: lazy verification knows the others' fitness only as a bound, which is not
    above that of any finalist.
    """
    return Outcome(
        attempts=attempts_of(result.standings),
        picked=result.winner,
        argmax=highest(map(result.standing, result.finalists)),
        passed=result.passed,
        rounds=max(0, len(result.rounds) - 1),
        stop=str(result.stop),
    )
