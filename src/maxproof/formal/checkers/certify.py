"""The last word on a proof: an installed Dafny in a fresh process; words for verdicts."""

from __future__ import annotations

from maxproof.formal.checkers import dafny4, dafny23
from maxproof.formal.checkers.choose import Installed
from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits


async def certify(task: CheckTask, dafny: Installed, limits: Limits) -> CheckResult:
    """Checks again with an installed Dafny, in a process of its own that has seen nothing else."""
    if isinstance(dafny, dafny23.Dafny23Paths):
        return await dafny23.check_cold(dafny, task, limits)
    return await dafny4.check_cold(dafny, task, limits)


def verdict_words(result: CheckResult, certified: CheckResult | None = None) -> str:
    """How people are told of a result. Only a Dafny's word is `proved` without qualification.

    Args:
        certified: of `certify`, if it was asked for.
    """
    if result.state is not CheckState.PROVED:
        return _STATES[result.state]
    if certified is not None and certified.state is CheckState.PROVED:
        return "proved"
    words = "proved" if _is_dafny(result) else "proved (embedded checker)"
    if certified is None:
        return words
    return f"{words}, not certified by Dafny {certified.tool.version}: {_STATES[certified.state]}"


_STATES = {
    CheckState.PROVED: "proved",
    CheckState.FAILED: "not proved",
    CheckState.TIMEOUT: "not proved: a limit ended the check",
    CheckState.ILL_FORMED: "ill-formed",
    CheckState.UNSUPPORTED: "not supported by this checker",
    CheckState.TOOL_ERROR: "not checked: the checker failed",
}


def _is_dafny(result: CheckResult) -> bool:
    return result.tool.name.startswith("dafny")
