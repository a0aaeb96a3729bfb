"""What the search holds: candidates, what is known of them, rounds, the tournament, the result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from maxproof.verifier.types import MAX_POINTS, Draft, ScoreState, Verification

Origin = Literal["generate", "patch", "rewrite"]
Fitness = Literal["min", "mean", "majority"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a candidate, fixed before sampling.

    Round 0 has ids 0..N-1; round r >= 1 has ids N + 2M(r-1) + 2p + (0 for PATCH, 1 for REWRITE) for parent rank p
    (MaxProof section 5, Algorithm 1; the id law is computed from its tables). Two offspring of one kind have the same
    two ids.
    """

    id: int
    round: int
    origin: Origin
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proof in the archive."""

    slot: Slot
    draft: Draft

    @property
    def id(self) -> int:
        return self.slot.id

    @property
    def text(self) -> str:
        return self.draft.text


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one candidate: its candidate, summary, and the verifications run so far.

    `planned` is K_verify. A verification missing from `verifications` was not run: lazy verification did not need it,
    or the run was stopped. `rule` is how the samples make a fitness: their minimum (MaxProof section 5), or for
    ablations their mean, or what a strict majority of them gives at least (`majority_points`).
    """

    candidate: Candidate
    planned: int
    verifications: Mapping[int, Verification] = field(default_factory=dict)
    summary: str = ""
    rule: Fitness = "min"

    @property
    def upper_bound(self) -> float:
        """Points that the fitness can't exceed: what it would be if all further samples were at MAX_POINTS."""
        full = float(MAX_POINTS)
        bound = _combined(self.rule, [*self._points, *[full] * (self.planned - len(self.verifications))])
        return full if bound is None else bound

    @property
    def exact(self) -> bool:
        """No further sample can change the fitness: all K are in, or one is at 0 points and the minimum counts."""
        return len(self.verifications) >= self.planned or (self.rule == "min" and self.upper_bound == 0)

    @property
    def fitness(self) -> float | None:
        """Points 0..7 by the rule over the scored samples; None if none is scored.

        While `exact` is false it is that of the samples so far; of the minimum an upper bound.
        """
        return _combined(self.rule, self._points)

    @property
    def perfect(self) -> bool:
        """All K verifications were run, scored and passed; by majority more than half of all K passed."""
        passed = sum(v.state is ScoreState.PASSED for v in self.verifications.values())
        wanted = self.planned // 2 + 1 if self.rule == "majority" else self.planned
        return len(self.verifications) >= self.planned and passed >= wanted

    @property
    def deciding(self) -> Verification | None:
        """The verification that realises the fitness: the lowest sample index among the minima.

        By majority the lowest sample index at the fitness. No sample realises a mean: there it is that of the minimum.
        """
        scored = [v for _, v in sorted(self.verifications.items()) if v.points is not None]
        target = self.fitness if self.rule == "majority" else min(self._points, default=None)
        return next((v for v in scored if v.points == target), None)

    @property
    def critique(self) -> str:
        """The critique paired with the fitness (see `deciding`); "" if nothing is scored."""
        return self.deciding.critique if self.deciding is not None else ""

    @property
    def _points(self) -> list[float]:
        return [v.points for v in self.verifications.values() if v.points is not None]


def majority_points(points: Sequence[float]) -> float:
    """The most points that more than half of the samples give at least: the lower median.

    With points that are only 0 or 7 this is the majority vote, an even split counting as 0. Raises IndexError for none.
    """
    return sorted(points)[(len(points) - 1) // 2]


def _combined(rule: Fitness, points: Sequence[float]) -> float | None:
    if not points:
        return None
    if rule == "mean":
        return math.fsum(points) / len(points)
    return min(points) if rule == "min" else majority_points(points)


class StopReason(StrEnum):
    """Why the refinement rounds ended."""

    PERFECT = "perfect"  # enough candidates at full fitness
    ROUNDS = "rounds"  # R rounds done
    NO_PARENTS = "no_parents"  # nothing that could be refined
    NOT_RUN = "not_run"  # a budget, the deadline or a dead endpoint refused a call; the caller knows which


@dataclass(frozen=True, slots=True)
class Round:
    """One round, closed: its parents in rank order (none in round 0), and the best fitness in the archive after it."""

    number: int
    parents: tuple[int, ...]
    added: tuple[int, ...]
    best: float | None
    perfect: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """One ranker vote. `first` is the id shown first; `choice` the id it picked, None when invalid after its retry."""

    vote: int
    first: int
    choice: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """One pairwise match of the tournament.

    `decided_by`: `votes` (majority of the valid votes), `fitness` or `id` (tie-breaks: an even split, no valid vote, or
    every valid vote picked the same position, which says nothing of the proofs).
    """

    number: int
    stage: int
    left: int
    right: int
    votes: tuple[Vote, ...]
    winner: int
    decided_by: Literal["votes", "fitness", "id"]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Everything the search decided. `winner` is None only if no candidate was generated at all."""

    standings: tuple[Standing, ...]
    rounds: tuple[Round, ...]
    stop: StopReason
    finalists: tuple[int, ...]
    matches: tuple[Match, ...]
    winner: int | None
    lost: Mapping[int, str] = field(default_factory=dict)

    def standing(self, candidate: int) -> Standing:
        """Raises KeyError for an unknown id."""
        for standing in self.standings:
            if standing.candidate.id == candidate:
                return standing
        raise KeyError(candidate)

    @property
    def verifications_run(self) -> int:
        """Verifications that asked judges; those that layer 1 ended cost nothing."""
        return sum(not v.bad_cases for standing in self.standings for v in standing.verifications.values())

    @property
    def verifications_eager(self) -> int:
        """What the eager search would have run for the same candidates: K for each that layer 1 let through."""
        return sum(
            standing.planned
            for standing in self.standings
            if not any(v.bad_cases for v in standing.verifications.values())
        )

    @property
    def passed(self) -> bool:
        """The proof that is returned passed all its verifications."""
        return self.winner is not None and self.standing(self.winner).perfect
