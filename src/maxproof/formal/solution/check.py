"""The verdict on a submission: audit, parse, wrap, check, and findings in the submission's own lines.

    verdict = await check_solution(problem, text, checker, limits)
    verdict.accepted, messages_for_model(verdict)

Never raises for what the submission is; only the checker decides, and only `PROVED` accepts.
"""

from __future__ import annotations

from typing import Final

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
)
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.solution.credit import credit
from maxproof.formal.solution.types import Finding, SolutionState, SolutionVerdict
from maxproof.formal.solution.wrap import PROBLEM_LINES, Wrapped, wrap
from maxproof.formal.syntax.ast import NOWHERE, Lemma, Position
from maxproof.problems import InputError

_STATES: Final = {
    CheckState.PROVED: SolutionState.ACCEPTED,
    CheckState.FAILED: SolutionState.UNPROVED,
    CheckState.TIMEOUT: SolutionState.TIMEOUT,
    CheckState.ILL_FORMED: SolutionState.MALFORMED,
    CheckState.UNSUPPORTED: SolutionState.UNSUPPORTED,
    CheckState.TOOL_ERROR: SolutionState.TOOL_ERROR,
}
_HOW: Final = {
    ObligationState.REFUTED: "is false",
    ObligationState.UNKNOWN: "could not be proved",
    ObligationState.TIMEOUT: "could not be proved within the limits",
}
_SHOWN: Final = 300


async def check_solution(problem: FormalProblem, text: str, checker: Checker, limits: Limits) -> SolutionVerdict:
    """Whether `text` proves `problem`.

    Args:
        text: a body, with or without braces, or a file with the problem's lemma and helpers; maybe in a Markdown fence.
    """
    wrapped = wrap(problem, text)
    if not isinstance(wrapped, Wrapped):
        return SolutionVerdict(wrapped[0].state, wrapped)
    try:
        task = assemble(wrapped.declarations, wrapped.targets)
    except InputError as error:
        return SolutionVerdict(
            SolutionState.MALFORMED, (Finding(SolutionState.MALFORMED, "", str(error), Position(1, 1)),)
        )
    return judge(wrapped, await checker.check(task, limits))


def solution_task(problem: FormalProblem, text: str) -> CheckTask:
    """What a checker is asked for a submission. Raises InputError for one that is refused before any check."""
    wrapped = wrap(problem, text)
    if not isinstance(wrapped, Wrapped):
        raise InputError(wrapped[0].message, line=wrapped[0].at.line or None)
    return assemble(wrapped.declarations, wrapped.targets)


def judge(wrapped: Wrapped, result: CheckResult) -> SolutionVerdict:
    """What a checker's result says of the submission."""
    state = _STATES[result.state]
    failed = [found for found in result.obligations if found.state is not ObligationState.PROVED]
    if state is SolutionState.ACCEPTED and failed:
        state = SolutionState.UNPROVED  # a checker that contradicts itself accepts nothing
    findings = [_of_obligation(wrapped, found, state) for found in failed]
    if not findings and state is not SolutionState.ACCEPTED:
        findings = [
            _of_message(wrapped, message.message, message.at, state)
            for message in result.diagnostics
            if message.severity == "error"
        ]
        if not findings:
            findings = [Finding(state, "", _line(result.reason or result.state.value))]
    if any(finding.state is SolutionState.STATEMENT for finding in findings):
        state = SolutionState.STATEMENT
    # What decides first, then in the submission's order; what has no place there comes last.
    findings.sort(key=lambda finding: (finding.state is not state, finding.at == NOWHERE, finding.at))
    total = result.total if result.total is not None else max(1, len(failed))
    proved = result.proved if result.proved is not None else (total if state is SolutionState.ACCEPTED else 0)
    share = credit(result, wrapped.declarations, (wrapped.lemma, wrapped.submitted))
    return SolutionVerdict(state, tuple(findings), result, None, proved, max(total, 1), share)


def _of_obligation(wrapped: Wrapped, found: ObligationResult, state: SolutionState) -> Finding:
    text = _line(found.text)
    how = _HOW.get(found.state, "could not be proved")
    what = "obligation" if found.kind is ObligationKind.OTHER else found.kind.value
    ours = found.lemma == wrapped.lemma or found.at.line > PROBLEM_LINES
    if ours and found.lemma not in ("", wrapped.lemma, wrapped.submitted):
        message = f"the problem's own definition '{found.lemma}': {what} {how}: {text}"
        return Finding(state, text, message, NOWHERE, found.kind.value, dict(found.counterexample))
    if ours and wrapped.submitted:
        # Everything else that our copy has to show is about the question, not about the answer.
        message = {
            ObligationKind.PRECONDITION: f"the submitted lemma requires more than the problem gives: {text}",
            ObligationKind.POSTCONDITION: f"the submitted lemma doesn't imply the problem's conclusion: {text}",
            ObligationKind.NATURAL: f"the submitted lemma's parameters are narrower than the problem's: {text}",
        }.get(found.kind, f"the problem's own statement: {found.kind.value} {how}: {text}")
        return Finding(SolutionState.STATEMENT, text, message, NOWHERE, found.kind.value, dict(found.counterexample))
    return Finding(
        SolutionState.TIMEOUT if state is SolutionState.TIMEOUT else SolutionState.UNPROVED,
        text,
        f"{what}{_of_helper(wrapped, found.lemma)} {how}: {text}",
        _in_submission(found.at),
        found.kind.value,
        dict(found.counterexample),
    )


def _of_helper(wrapped: Wrapped, name: str) -> str:
    """Which helper an obligation belongs to: a gap in one says nothing of the problem. "" for the problem's lemma."""
    if name in ("", wrapped.lemma, wrapped.submitted):
        return ""
    helper = next((each for each in wrapped.declarations if each.name == name), None)
    return f" of helper {'lemma' if isinstance(helper, Lemma) else 'function'} {name}" if helper is not None else ""


def _of_message(wrapped: Wrapped, message: str, at: Position, state: SolutionState) -> Finding:
    if at.line > PROBLEM_LINES and wrapped.submitted and state is SolutionState.MALFORMED:
        told = f"the submitted lemma's parameters or results don't fit the problem's: {_line(message)}"
        return Finding(SolutionState.STATEMENT, wrapped.lemma, told)
    return Finding(state, "", _line(message), _in_submission(at))


def _in_submission(at: Position) -> Position:
    return NOWHERE if at.line > PROBLEM_LINES else at


def _line(text: str) -> str:
    """One line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."
