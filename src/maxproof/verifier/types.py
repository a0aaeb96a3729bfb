"""What a verification says. Three states everywhere: passed, failed, not scored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from maxproof.models.types import AnswerState

MAX_POINTS = 7


@dataclass(frozen=True, slots=True)
class Draft:
    """What a prover wrote, before anything is known of it."""

    text: str
    reasoning: str = ""
    state: AnswerState = AnswerState.COMPLETE
    unclosed_thinking: bool = False


class Verdict(StrEnum):
    """Ordered from best to worst (spec of the four-layer verifier, MaxProof section 3.2)."""

    NO_ERRORS = "no_errors"
    MINOR_GAPS = "minor_gaps"
    HAS_ERRORS = "has_errors"
    FUNDAMENTALLY_WRONG = "fundamentally_wrong"


class ScoreState(StrEnum):
    """`NOT_SCORED` is never a zero: a judge timed out, refused or could not be read after one re-ask."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SCORED = "not_scored"


@dataclass(frozen=True, slots=True)
class LocatedError:
    """One error a judge found: where it is (a quotation or a step) and what is wrong there."""

    location: str
    description: str


@dataclass(frozen=True, slots=True)
class BadCaseHit:
    """A layer 1 rule that fired.

    Attributes:
        family: `empty`, `unclosed_thinking`, `loop` or `over_length`.
        rule: the rule's name, e.g. `ngram_loop`.
        evidence: what it saw, in one line.
    """

    family: str
    rule: str
    evidence: str


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One judge's view of a candidate.

    Attributes:
        judge: the judge's name.
        mode: `rubric` or `free`.
        state: passed iff points == MAX_POINTS; not scored iff points is None.
        points: 0..7, or None when not scored.
        verdict: None when not scored.
        errors: the located errors, empty iff the verdict is `no_errors`.
        assessment: the judge's reading of the proof, step by step.
        reason: why it is not scored; "" otherwise.
    """

    judge: str
    mode: str
    state: ScoreState
    points: float | None
    verdict: Verdict | None
    errors: tuple[LocatedError, ...] = ()
    assessment: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Normalisation:
    """What layer 2 did: which method made the text the judges saw, and why a method was dropped, if it was.

    Attributes:
        method: `rule`, `model` or `none` (the text was left as it is).
        stripped: names of the rule-based passes that removed something, after a fallback to them. Where the rules are
            the configured method it stays empty, since a replay does not build the text: `normalise_text` of the
            candidate's text gives both the text and the names.
        fallback: why a method's result was refused (the content guard's finding), or "".
    """

    method: str
    stripped: tuple[str, ...] = ()
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """One sample of the four-layer verifier on one candidate: layer 4's result with all that led to it.

    Attributes:
        sample: the sample index k.
        state: failed iff some scored judge is below MAX_POINTS (a missing judge can't undo that); passed iff every
            judge is scored and at MAX_POINTS; not scored otherwise.
        points: the minimum over the scored judges; None when not scored (even if some judges were at MAX_POINTS).
        verdict: the verdict of the judge that realises the minimum; None when not scored.
        critique: that judge's critique as text for the refiner; the layer 1 evidence when filtered; "" when not scored.
        judges: each judge's view, in configured order; empty when layer 1 fired.
        bad_cases: layer 1 hits; non-empty means zero judge calls and zero points.
        disagreement: max - min of the scored judges' points; 0 with fewer than two.
        normalisation: layer 2's record; None when layer 1 fired.
    """

    sample: int
    state: ScoreState
    points: float | None
    verdict: Verdict | None
    critique: str
    judges: tuple[JudgeView, ...] = ()
    bad_cases: tuple[BadCaseHit, ...] = ()
    disagreement: float = 0.0
    normalisation: Normalisation | None = None

    @property
    def score(self) -> float | None:
        """points / 7, in [0, 1]; None when not scored."""
        return None if self.points is None else self.points / MAX_POINTS
