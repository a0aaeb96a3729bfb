"""Findings as text: for a model that is to correct its proof, and for people."""

from __future__ import annotations

from typing import Final

from maxproof.formal.solution.types import Finding, SolutionState, SolutionVerdict

_TOLD: Final = 10
_VALUES: Final = 8

OPENINGS: Final = {
    SolutionState.ACCEPTED: "The proof is accepted.",
    SolutionState.CHEATING: "The submission is refused: it holds what is not allowed in a proof.",
    SolutionState.MALFORMED: "The submission can't be read as a proof.",
    SolutionState.STATEMENT: "The submission proves another statement than the problem's.",
    SolutionState.UNPROVED: "The proof is not complete.",
    SolutionState.TIMEOUT: "The proof could not be checked within the limits.",
    SolutionState.UNSUPPORTED: "The submission uses what the checker doesn't read.",
    SolutionState.TOOL_ERROR: "The checker failed; this says nothing about the proof.",
}


def describe(finding: Finding) -> str:
    """One line: place, message, counterexample."""
    values = ", ".join(f"{name} = {value}" for name, value in list(finding.counterexample.items())[:_VALUES])
    return finding.line + (f" (fails for {values})" if values else "")


def messages_for_model(verdict: SolutionVerdict) -> str:
    """What went wrong, one line each, in the submission's own lines; at most ten findings, the rest counted."""
    lines = [OPENINGS[verdict.state]]
    if verdict.state in (SolutionState.UNPROVED, SolutionState.TIMEOUT) and verdict.proved:
        lines[0] += f" {verdict.proved} of {verdict.total} obligations are proved."
    lines.extend(f"- {describe(finding)}" for finding in verdict.findings[:_TOLD])
    if len(verdict.findings) > _TOLD:
        lines.append(f"- and {len(verdict.findings) - _TOLD} more")
    return "\n".join(lines)
