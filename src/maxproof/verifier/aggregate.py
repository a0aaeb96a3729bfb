"""Layer 4: the minimum over the judges, with the critique of the judge that realises it (MaxProof section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.verifier.types import (
    MAX_POINTS,
    BadCaseHit,
    JudgeView,
    Normalisation,
    ScoreState,
    Verdict,
    Verification,
)


def aggregate(sample: int, views: Sequence[JudgeView], normalisation: Normalisation | None = None) -> Verification:
    """One verification from its judges' views, given in configured order.

    One scored judge below MAX_POINTS fails the candidate, whatever the missing judges would have said. A pass needs
    every judge. Anything else is not scored: no points, no critique. Of several judges at the minimum the first counts.
    """
    scored = [(view.points, view) for view in views if view.points is not None]
    points = [value for value, _ in scored]
    lowest = min(scored, key=lambda pair: pair[0], default=None)
    if lowest is not None and lowest[0] < MAX_POINTS:
        state = ScoreState.FAILED
    elif lowest is not None and len(scored) == len(views):
        state = ScoreState.PASSED
    else:
        state, lowest = ScoreState.NOT_SCORED, None
    return Verification(
        sample=sample,
        state=state,
        points=lowest[0] if lowest else None,
        verdict=lowest[1].verdict if lowest else None,
        critique=critique_text(lowest[1]) if lowest else "",
        judges=tuple(views),
        disagreement=max(points) - min(points) if points else 0.0,
        normalisation=normalisation,
    )


def filtered(sample: int, hits: Sequence[BadCaseHit]) -> Verification:
    """The verification of a candidate that layer 1 stopped: no judge call, zero points, the evidence as critique."""
    return Verification(
        sample=sample,
        state=ScoreState.FAILED,
        points=0.0,
        verdict=Verdict.FUNDAMENTALLY_WRONG,
        critique="\n".join(f"{hit.family} ({hit.rule}): {hit.evidence}" for hit in hits),
        bad_cases=tuple(hits),
    )


def critique_text(view: JudgeView) -> str:
    """A judge's verdict, its errors with their places, and its assessment, as plain text for the refiner."""
    errors = [
        f"{number}. {f'At: {error.location}' if error.location else 'No place given.'}\n   {error.description}".rstrip()
        for number, error in enumerate(view.errors, 1)
    ]
    parts = [f"Verdict: {view.verdict}" if view.verdict else "", "\n".join(["Errors:", *errors] if errors else [])]
    return "\n\n".join(part for part in [*parts, view.assessment and f"Assessment:\n{view.assessment}"] if part)
