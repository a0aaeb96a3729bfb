"""The embedded checker: a program is resolved, its targets' obligations are posed and settled one by one with Z3.

An obligation is settled by the first of: folding (what is computable is computed), trying all values where the
hypotheses leave finitely many, Z3, and a search for a small counterexample. Everything that decides is counted in
deterministic units; wall and memory limits only end a check.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import maxproof
from maxproof.formal.checkers.types import (
    CheckResult,
    CheckState,
    CheckTask,
    Diagnostic,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
    Tool,
)
from maxproof.formal.embedded.core import Obligation
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.workers import MemoryExceeded, WallExceeded, WorkerCrashed, WorkerPool
from maxproof.formal.syntax.ast import NOWHERE

DEAR = 8  # obligations' worth of resources that one check may spend before the rest gets little each
LITTLE = 20  # the share (one in ...) that the rest gets


class EmbeddedChecker:
    """Checks programs in killable worker processes. For one event loop; `aclose` ends the workers."""

    def __init__(self, workers: int | None = None) -> None:
        """`workers`: how many checks run at once; default: one for each CPU."""
        self._pool = WorkerPool(workers)

    @property
    def tool(self) -> Tool:
        return embedded_tool()

    @property
    def workers(self) -> int:
        return self._pool.size

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        """Never raises for what the program is."""
        started = time.monotonic()
        try:
            result = await self._pool.run(
                check_here, task, limits, wall_seconds=limits.wall_seconds, memory_mb=limits.memory_mb
            )
        except WallExceeded as error:
            result = _ended(CheckState.TIMEOUT, f"wall limit: {error}")
        except MemoryExceeded:
            result = _ended(CheckState.TIMEOUT, f"memory limit of {limits.memory_mb} MB")
        except WorkerCrashed as error:
            result = _ended(CheckState.TOOL_ERROR, str(error))
        except RecursionError:  # while it was packed for the worker
            result = ill_formed(Diagnostic("the program is nested too deeply"))
        return replace(result, seconds=time.monotonic() - started)

    async def aclose(self) -> None:
        await self._pool.aclose()


@cache
def embedded_tool() -> Tool:
    """Name and versions. The revision changes with every change of the code that verdicts depend on."""
    return Tool("embedded", f"{maxproof.__version__}+{_revision()}", f"z3 {version('z3-solver')}")


def _revision() -> str:
    digest = hashlib.sha256()
    for file in _sources():
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:10]


def _sources() -> Iterator[Path]:
    room = Path(__file__).parents[1]
    for folder in ("embedded", "prelude", "syntax"):
        for pattern in ("*.py", "*.dfy"):
            yield from sorted((room / folder).rglob(pattern))


def check_here(task: CheckTask, limits: Limits) -> CheckResult:
    """The check itself, in this process: only `limits.resource`, `seconds` and `seed` hold here."""
    from maxproof.formal.embedded.obligations import NoBody, obligations
    from maxproof.formal.embedded.resolve.program import resolve

    declared = {declaration.name: declaration for declaration in task.program.declarations}
    for target in task.targets:
        if target not in declared:
            return ill_formed(Diagnostic(f"{target} is not declared"))
    at = NOWHERE
    try:
        core = resolve(task.program, task.targets)
        posed: list[Obligation] = []
        for target in task.targets:
            at = declared[target].at
            posed.extend(obligations(core, target))
    except ResolutionError as error:
        return ill_formed(*error.diagnostics)
    except NoBody as error:
        return ill_formed(Diagnostic(str(error), at))
    except Unsupported as error:
        return _ended(CheckState.UNSUPPORTED, str(error), (Diagnostic(str(error), error.at),))

    from maxproof.formal.embedded.settle import Settler

    settler = Settler(core, task.targets)
    results: list[ObligationResult] = []
    spent = 0
    for obligation in posed:
        allowed = limits
        if limits.resource is not None and spent > DEAR * limits.resource:
            allowed = replace(limits, resource=limits.resource // LITTLE, seconds=limits.seconds / LITTLE)
        result = settler.settle(obligation, allowed)
        spent += result.resource
        results.append(result)
    return _summary(tuple(results), spent)


def _summary(results: tuple[ObligationResult, ...], spent: int) -> CheckResult:
    proved = sum(result.state is ObligationState.PROVED for result in results)
    missing = [result for result in results if result.state is not ObligationState.PROVED]
    if not missing:
        state = CheckState.PROVED
    elif all(result.state is ObligationState.TIMEOUT for result in missing):
        state = CheckState.TIMEOUT
    else:
        state = CheckState.FAILED
    return CheckResult(
        state,
        embedded_tool(),
        results,
        proved=proved,
        total=len(results),
        resource=spent,
        reason=_reason(missing[0], len(missing)) if missing else "",
    )


def _reason(first: ObligationResult, count: int) -> str:
    what = first.kind.value if first.kind is not ObligationKind.OTHER else "obligation"
    how = {
        ObligationState.REFUTED: "is false",
        ObligationState.UNKNOWN: "is not proved",
        ObligationState.TIMEOUT: "is not proved within the limits",
    }[first.state]
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{first.lemma}: {what} {how}: {first.text}{more}"


def ill_formed(*diagnostics: Diagnostic) -> CheckResult:
    return _ended(CheckState.ILL_FORMED, diagnostics[0].message, diagnostics)


def _ended(state: CheckState, reason: str, diagnostics: tuple[Diagnostic, ...] = ()) -> CheckResult:
    return CheckResult(state, embedded_tool(), diagnostics=diagnostics, reason=reason)
