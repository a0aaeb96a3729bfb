"""What the engine tells an observer while it works; the live view and `--json` are observers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from maxproof.search.types import Match, Origin, Round, StopReason, Vote
from maxproof.verifier.types import ScoreState


@dataclass(frozen=True, slots=True)
class CandidateAdded:
    candidate: int
    round: int
    origin: Origin
    parent: int | None
    chars: int


@dataclass(frozen=True, slots=True)
class CandidateLost:
    """A slot stays empty: its call failed or was not run."""

    candidate: int
    reason: str


@dataclass(frozen=True, slots=True)
class Verified:
    """`fitness` is the candidate's after this sample; `exact` says that no further sample can change it."""

    candidate: int
    sample: int
    state: ScoreState
    points: float | None
    fitness: float | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Summarised:
    candidate: int


@dataclass(frozen=True, slots=True)
class RoundStarted:
    number: int
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundClosed:
    round: Round


@dataclass(frozen=True, slots=True)
class Stopped:
    reason: StopReason


@dataclass(frozen=True, slots=True)
class Voted:
    match: int
    vote: Vote


@dataclass(frozen=True, slots=True)
class MatchClosed:
    match: Match


Event = (
    CandidateAdded | CandidateLost | Verified | Summarised | RoundStarted | RoundClosed | Stopped | Voted | MatchClosed
)
Observer = Callable[[Event], None]
