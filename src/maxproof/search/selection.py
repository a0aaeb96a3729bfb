"""Who stops the search, who is refined, who is a finalist: pure decisions over what is known of the candidates.

A decision is a function of a *ranking* and says two things: whom it would choose if every candidate not yet settled
kept its upper bound (`Choice.chosen`), and which of those must be verified further before that is certain
(`Choice.needed`). It is taken once nothing is needed. Since a bound only falls, a chosen candidate leaves the choice
only by its own verifications, and news of a candidate outside it changes nothing: which verifications are requested,
and what is decided, do not depend on the order in which they finish (docs/search.md has the argument).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from maxproof.search.types import Standing
from maxproof.verifier.types import MAX_POINTS, ScoreState

NOT_SCORED_POINTS = -1.0
FINAL = "final"


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a decision knows of one candidate. News can only lower its rank, or end its eligibility.

    Attributes:
        id: the candidate's id.
        points: upper bound of the fitness, 0..7; `NOT_SCORED_POINTS` once it is sure that nothing will be scored.
        certain: false once a full bound can't become a perfect candidate any more (a sample was not scored or
            refused), for a refused candidate at any bound, and for a filtered one: it ranks behind its equals.
        settled: no further verification will come.
        perfect: all K verifications were run, scored and passed.
        filtered: layer 1 rejected it; there is nothing to refine but by lack of anything else.
    """

    id: int
    points: float
    certain: bool
    settled: bool
    perfect: bool = False
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What a decision would choose now, in rank order, and whom of it to verify first. Final when none is needed."""

    chosen: tuple[int, ...]
    needed: frozenset[int]


def unseen(candidate: int) -> Prospect:
    """A candidate of which nothing is known yet: it may still be perfect."""
    return Prospect(candidate, float(MAX_POINTS), certain=True, settled=False)


def prospect(standing: Standing, refused: bool) -> Prospect:
    """`refused`: a verification of this candidate was refused, so it gets no further one."""
    verifications = standing.verifications.values()
    settled = standing.exact or refused
    points = standing.upper_bound
    if settled:
        points = NOT_SCORED_POINTS if standing.fitness is None else standing.fitness
    filtered = any(v.bad_cases for v in verifications)
    open_end = refused and not standing.exact
    unscored = any(v.state is ScoreState.NOT_SCORED for v in verifications)
    gap = points == MAX_POINTS and unscored and not standing.perfect
    return Prospect(
        standing.candidate.id,
        points,
        certain=not (open_end or gap or filtered),
        settled=settled,
        perfect=standing.perfect,
        filtered=filtered,
    )


def next_samples(run: int, planned: int, lazy: bool) -> range:
    """The next wave of sample indices for a candidate with `run` of `planned` verifications.

    Lazily sample 0 goes first, alone: it settles most candidates. A candidate that is needed beyond it gets all the
    others at once: a finer schedule saves few calls and each of its waves waits for the one before (docs/search.md).
    """
    return range(1) if lazy and run == 0 else range(run, planned)


def tie_break(seed: int, label: str, candidate: int) -> bytes:
    """Orders candidates that are equal otherwise: pseudo-random by seed, drawn anew for each label."""
    return hashlib.sha256(f"{seed}\0{label}\0{candidate}".encode()).digest()


def ranking(prospects: Iterable[Prospect], seed: int, label: str) -> list[Prospect]:
    """Best first: by points, then `certain` before not, then `tie_break`. Candidates without a score are last."""
    return sorted(prospects, key=lambda p: (-p.points, not p.certain, tie_break(seed, label, p.id)))


def stop_choice(ranked: Sequence[Prospect], stop_at_perfect: int, finalists: int) -> Choice:
    """The candidates that the stop check looks at: the head of the ranking, where any that may be perfect is settled.

    When none is needed, either `stop_at_perfect` of them are perfect, or the head holds every perfect candidate of the
    archive. The head reaches to the finalists: after a stop they would be needed anyway, at the cost of a second wait.
    """
    head = ranked[: max(stop_at_perfect, finalists)]
    needed = frozenset(p.id for p in head if not p.settled and p.certain and p.points == MAX_POINTS)
    return Choice(tuple(p.id for p in head), needed)


def parents_choice(ranked: Sequence[Prospect], parents: int, class_of: Callable[[int], Hashable]) -> Choice:
    """The next round's parents, at most `parents`, in rank order.

    Eligible is a candidate with a known error: scored, below full points. One per diversity class (`class_of`) is taken
    in rank order; where that leaves places, they go to those passed over, in rank order, filtered candidates last.
    """
    chosen: list[Prospect] = []
    passed_over: list[Prospect] = []
    classes: set[Hashable] = set()
    for p in ranked:
        if len(chosen) == parents:
            break
        if p.settled and not 0 <= p.points < MAX_POINTS:
            continue
        if p.filtered or (key := class_of(p.id)) in classes:
            passed_over.append(p)
        else:
            classes.add(key)
            chosen.append(p)
    chosen += passed_over[: parents - len(chosen)]
    taken = {p.id for p in chosen}
    return Choice(
        tuple(p.id for p in ranked if p.id in taken),
        frozenset(p.id for p in chosen if not p.settled),
    )


def finalists_choice(ranked: Sequence[Prospect], finalists: int, only_perfect: bool) -> Choice:
    """The tournament's players in rank order: the head of the ranking, or of its perfect candidates.

    A candidate that layer 1 rejected does not play: votes on it would be paid for nothing. If there is no other, the
    first is the only finalist.
    """
    pool = [p for p in ranked if not p.filtered] or ranked[:1]
    if only_perfect:
        pool = [p for p in ranked if p.perfect or (p.certain and not p.settled and p.points == MAX_POINTS)]
    head = pool[:finalists]
    return Choice(tuple(p.id for p in head), frozenset(p.id for p in head if not p.settled))
