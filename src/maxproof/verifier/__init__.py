"""The four-layer verifier: `Verifier` and what it says.

See `verifier.py` for how the layers work together and `types.py` for a verification's three states.
"""

from maxproof.verifier.aggregate import critique_text
from maxproof.verifier.judges import applicable_judges, judge_calls
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.settings import JudgeSettings, VerifierSettings
from maxproof.verifier.types import (
    MAX_POINTS,
    BadCaseHit,
    Draft,
    JudgeView,
    LocatedError,
    Normalisation,
    ScoreState,
    Verdict,
    Verification,
)
from maxproof.verifier.verifier import Verifier

__all__ = [
    "MAX_POINTS",
    "BadCaseHit",
    "Draft",
    "JudgeSettings",
    "JudgeView",
    "LocatedError",
    "Normalisation",
    "ScoreState",
    "Verdict",
    "Verification",
    "Verifier",
    "VerifierSettings",
    "applicable_judges",
    "critique_text",
    "judge_calls",
    "normalise_text",
]
