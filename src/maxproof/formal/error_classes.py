"""What was wrong with a refused submission, as the class that it is counted under."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.solution.types import SolutionState, SolutionVerdict


class ErrorClass(StrEnum):
    """One for each refused submission: the first thing that is wrong with it."""

    SYNTAX = "syntax"  # it can't be read as a proof of this lemma
    TYPES = "names and types"  # it is read, but a name or type is wrong
    CHEATING = "cheating"
    WEAKER = "weaker statement"
    POSTCONDITION = "postcondition"
    ASSERTION = "assertion"
    CALCULATION = "calculation"
    PRECONDITION = "precondition"
    TERMINATION = "termination"
    WELL_FORMED = "partial operation"  # a divisor, an index, a natural number, a case, a value that must exist
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOOL = "checker failed"


_STATES: Final = {
    SolutionState.CHEATING: ErrorClass.CHEATING,
    SolutionState.STATEMENT: ErrorClass.WEAKER,
    SolutionState.TIMEOUT: ErrorClass.TIMEOUT,
    SolutionState.UNSUPPORTED: ErrorClass.UNSUPPORTED,
    SolutionState.TOOL_ERROR: ErrorClass.TOOL,
}
_OBLIGATIONS: Final = {
    ObligationKind.POSTCONDITION: ErrorClass.POSTCONDITION,
    ObligationKind.ASSERTION: ErrorClass.ASSERTION,
    ObligationKind.FORALL_ENSURES: ErrorClass.ASSERTION,
    ObligationKind.OTHER: ErrorClass.ASSERTION,
    ObligationKind.CALC_STEP: ErrorClass.CALCULATION,
    ObligationKind.PRECONDITION: ErrorClass.PRECONDITION,
    ObligationKind.TERMINATION: ErrorClass.TERMINATION,
}


def error_class(verdict: SolutionVerdict) -> ErrorClass | None:
    """The class of a refusal; None if accepted.

    For a proof with gaps that of the first one; the conclusion is the gap where every step that was written holds.
    """
    if verdict.accepted:
        return None
    if verdict.state in _STATES:
        return _STATES[verdict.state]
    if verdict.state is SolutionState.MALFORMED:
        # Whatever refuses a text before a checker sees it reads it only.
        return ErrorClass.SYNTAX if verdict.result is None else ErrorClass.TYPES
    told = [ObligationKind(finding.obligation) for finding in verdict.findings if finding.obligation]
    steps = [kind for kind in told if kind is not ObligationKind.POSTCONDITION]
    gap = next(iter(steps or told), ObligationKind.OTHER)
    return _OBLIGATIONS.get(gap, ErrorClass.WELL_FORMED)
