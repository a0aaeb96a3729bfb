"""What a verifier's card is made of: graded proofs with what a verifier said of them, sample by sample.

A verifier's *error* is a pass of a proof that is wrong (false positive) or a fail of one that is right (false
negative). What was not scored is neither, and is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from maxproof.verifier.types import MAX_POINTS


class CardSettings(BaseModel):
    """What counts as right, and as passed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    right_at: float = Field(MAX_POINTS, gt=0, le=MAX_POINTS, description="a proof graded this or more is right, points")
    pass_at: float = Field(
        MAX_POINTS, gt=0, le=MAX_POINTS, description="a judge that gives this or more passes, points"
    )
    mean_at: float = Field(
        MAX_POINTS / 2, gt=0, le=MAX_POINTS, description="a mean over judges this high passes, points"
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="of every interval")
    length_bins: int = Field(3, ge=1, le=20, description="groups of proofs by length, with equal numbers")
    seed: int = Field(0, ge=0, description="of the bootstrap")


@dataclass(frozen=True, slots=True)
class Sample:
    """One verification of a proof.

    Attributes:
        points: 0..7 by judge, None where that judge could not be scored; empty where layer 1 stopped the proof.
        filtered: layer 1 stopped it: zero points without a judge.
    """

    points: Mapping[str, float | None]
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A graded proof and its verifications.

    Attributes:
        id: of the proof. problem: the problem's id; proofs that share one are resampled together.
        right: what the grade says.
        chars: length of the text, 0 where it is not known.
        styles: what the text holds of packaging, see `style.py`; empty where the text is not known.
        label: the file's own word for its style or group, or "".
        samples: verifications 0..K-1 that were run.
    """

    id: str
    problem: str
    right: bool
    samples: tuple[Sample, ...]
    chars: int = 0
    styles: frozenset[str] = frozenset()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """A proof with a grade, before a verifier has seen it.

    Attributes:
        statement: "" where the file does not have it and no problems were given.
        text: "" where the file does not have it.
    """

    id: str
    problem: str
    right: bool
    text: str = ""
    statement: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a card is computed from.

    `truth`: where the grades come from, in a sentence; `caution`: what that means for the rates, "" if nothing.
    """

    proofs: tuple[Judged, ...]
    truth: str
    caution: str = ""
    verifier: str = ""
    unused: Mapping[str, int] = field(default_factory=dict)


Rule = Callable[[Sample], float | None]
"""The points 0..7 that a rule gives a sample, None where it is not scored."""


def judge_names(proofs: tuple[Judged, ...]) -> tuple[str, ...]:
    """All judges, in the order in which they come up first."""
    return tuple(dict.fromkeys(name for proof in proofs for sample in proof.samples for name in sample.points))


def by_judge(name: str) -> Rule:
    """The points of one judge; a sample that he was not asked for is not scored."""
    return lambda sample: sample.points.get(name)


def was_asked(name: str) -> Callable[[Sample], bool]:
    """Whether one judge was asked for a sample: he is not where layer 1 stopped it, or for want of a rubric."""
    return lambda sample: name in sample.points


def by_min(pass_at: float) -> Rule:
    """The minimum over the judges: a scored judge below `pass_at` decides; a pass needs every judge."""

    def rule(sample: Sample) -> float | None:
        if sample.filtered:
            return 0.0
        scored = [points for points in sample.points.values() if points is not None]
        lowest = min(scored, default=None)
        return lowest if lowest is not None and (lowest < pass_at or len(scored) == len(sample.points)) else None

    return rule


def by_mean(sample: Sample) -> float | None:
    """The mean over the judges; not scored unless all are."""
    if sample.filtered:
        return 0.0
    scored = [points for points in sample.points.values() if points is not None]
    return sum(scored) / len(scored) if scored and len(scored) == len(sample.points) else None


def by_majority(pass_at: float) -> Rule:
    """7 points if more than half of the judges pass, 0 if at least half fail, whatever those not scored would say."""

    def rule(sample: Sample) -> float | None:
        if sample.filtered:
            return 0.0
        passes = sum(points is not None and points >= pass_at for points in sample.points.values())
        fails = sum(points is not None and points < pass_at for points in sample.points.values())
        if 2 * passes > len(sample.points):
            return float(MAX_POINTS)
        return 0.0 if sample.points and 2 * fails >= len(sample.points) else None

    return rule
