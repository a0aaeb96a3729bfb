"""Results of checks in which no verifier got to say anything."""

from __future__ import annotations

from maxproof.formal.checkers.dafny_program import Refused
from maxproof.formal.checkers.processes import Ended
from maxproof.formal.checkers.types import CheckResult, CheckState, Diagnostic, Limits, Tool


def refused_result(refused: Refused, tool: Tool) -> CheckResult:
    return CheckResult(
        CheckState.UNSUPPORTED, tool, diagnostics=(Diagnostic(refused.reason, refused.at),), reason=refused.reason
    )


def ended_result(ended: Ended, tool: Tool, limits: Limits, seconds: float, errors: str) -> CheckResult:
    """For a process that was ended, or ended by itself, before it answered."""
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")
    state, reason = {
        Ended.WALL: (CheckState.TIMEOUT, f"killed after {limits.wall_seconds:g} s"),
        Ended.MEMORY: (CheckState.TIMEOUT, f"killed: more than {limits.memory_mb} MB of memory"),
        Ended.OUTPUT: (CheckState.TOOL_ERROR, "killed: it wrote without end"),
    }.get(ended, (CheckState.TOOL_ERROR, f"{tool.name} ended without an answer{': ' if last else ''}{last[:300]}"))
    return CheckResult(state, tool, seconds=seconds, reason=reason)
