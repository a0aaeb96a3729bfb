"""Dafny 4.3 and later: `dafny verify` in a process of its own, with the options that its version knows.

checker = Dafny4(paths, workers=2)        # the language server as the warm path
result = await check_cold(paths, task, limits)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from maxproof.formal.checkers.dafny4_output import read_output
from maxproof.formal.checkers.dafny_program import Refused, dafny_program
from maxproof.formal.checkers.processes import Ended, run_tool
from maxproof.formal.checkers.results import ended_result, refused_result
from maxproof.formal.checkers.types import CheckResult, CheckTask, Limits, Tool
from maxproof.formal.syntax.dialect import Dialect

OLDEST: Final = (4, 3)
_FILE: Final = "program.dfy"
_LOG: Final = "log.txt"
_ERRORS_TOLD: Final = 10


@dataclass(frozen=True, slots=True)
class Dafny4Paths:
    """An installed Dafny 4.

    Attributes:
        dafny: the command.
        version: e.g. (4, 11, 0).
    """

    dafny: str
    version: tuple[int, int, int]
    tool: Tool


def verification_options(version: tuple[int, int, int], limits: Limits) -> list[str]:
    """Options that `dafny verify` and `dafny server` share."""
    chosen = ["--cores", "1", "--verification-time-limit", str(max(1, math.ceil(limits.seconds)))]
    if limits.resource is not None:
        # Before 4.5 the limit counted thousands.
        amount = limits.resource if version >= (4, 5) else max(1, limits.resource // 1000)
        chosen += ["--resource-limit", str(amount)]
    if limits.seed:
        chosen += ["--boogie", f"/randomSeed:{limits.seed}"]
    return chosen


def arguments(version: tuple[int, int, int], limits: Limits, *, isolate: bool) -> list[str]:
    """Everything after `dafny`. Warnings don't end it where they may be let through; they are read instead."""
    chosen = ["verify", *verification_options(version, limits), "--error-limit", str(_ERRORS_TOLD)]
    chosen.append("--json-output" if version >= (4, 11) else "--json-diagnostics")
    if version >= (4, 5):
        chosen += ["--allow-warnings", "--log-format", f"json;LogFileName={_LOG}"]
    else:
        chosen += ["--log-format", f"csv;LogFileName={_LOG}"]
    if isolate:
        chosen.append("--isolate-assertions")
    return [*chosen, _FILE]


async def check_cold(paths: Dafny4Paths, task: CheckTask, limits: Limits, *, isolate: bool = False) -> CheckResult:
    """Checks in a process of its own. Never raises for what the program is.

    Args:
        isolate: ask for each assertion by itself: slower, but one that fails hides no other.
    """
    program = dafny_program(task, Dialect.DAFNY_4)
    if isinstance(program, Refused):
        return refused_result(program, paths.tool)
    run = await run_tool(
        [paths.dafny, *arguments(paths.version, limits, isolate=isolate)],
        files={_FILE: program.text},
        wall_seconds=limits.wall_seconds,
        memory_mb=limits.memory_mb,
        collect=_LOG,
    )
    if run.ended is not Ended.EXITED:
        return ended_result(run.ended, paths.tool, limits, run.seconds, run.errors)
    return read_output(program, run.output, run.collected, paths.tool, seconds=run.seconds, code=run.code)
