"""Dafny 2.3, as Debian packages it: one cold process for a check, or DafnyServer as the warm path.

    checker = Dafny23(paths, workers=2)       # a DafnyServer for each worker, started when first needed
    result = await checker.check(task, limits)
    await checker.aclose()

Neither `/timeLimit` nor `/rlimit` is honoured in all nonlinear cases; then the wall kills Dafny and its solver, and the
next check starts a new server.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass
from typing import Final

from maxproof.formal.checkers.dafny23_output import read_output
from maxproof.formal.checkers.dafny_program import Refused, dafny_program
from maxproof.formal.checkers.processes import OUTPUT_BYTES, Ended, OutputLimit, run_tool
from maxproof.formal.checkers.results import ended_result, refused_result
from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits, Tool
from maxproof.formal.checkers.warm import WarmPool, WarmTool
from maxproof.formal.syntax.dialect import Dialect

_FILE: Final = "program.dfy"
_ANSWER_ENDS: Final = ("[SUCCESS] [[DAFNY-SERVER: EOM]]", "[FAILURE] [[DAFNY-SERVER: EOM]]")
_ERRORS_TOLD: Final = 10
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dafny23Paths:
    """Where an installed Dafny 2.3 is.

    Attributes:
        dafny: the command.
        server: how to start DafnyServer; None where it isn't installed, and every check is a cold one.
        solver: the z3 to use.
    """

    dafny: str
    server: tuple[str, ...] | None
    solver: str
    tool: Tool


def arguments(solver: str, limits: Limits) -> list[str]:
    """Options for one check. `/noCheating:1` makes an assumption something to prove."""
    chosen = ["/compile:0", "/trace", "/noCheating:1", "/vcsCores:1", f"/z3exe:{solver}"]
    chosen += [f"/errorLimit:{_ERRORS_TOLD}", f"/timeLimit:{max(1, math.ceil(limits.seconds))}"]
    if limits.resource is not None:
        chosen.append(f"/rlimit:{min(limits.resource, _LARGEST)}")
    if limits.seed:
        chosen.append(f"/proverOpt:O:smt.random_seed={limits.seed % _LARGEST}")
    return chosen


async def check_cold(paths: Dafny23Paths, task: CheckTask, limits: Limits) -> CheckResult:
    """Checks in a process of its own. Never raises for what the program is."""
    program = dafny_program(task, Dialect.DAFNY_2_3)
    if isinstance(program, Refused):
        return refused_result(program, paths.tool)
    run = await run_tool(
        [paths.dafny, "/nologo", *arguments(paths.solver, limits), _FILE],
        files={_FILE: program.text},
        wall_seconds=limits.wall_seconds,
        memory_mb=limits.memory_mb,
    )
    if run.ended is not Ended.EXITED:
        return ended_result(run.ended, paths.tool, limits, run.seconds, run.errors)
    return read_output(program, run.output + run.errors, paths.tool, seconds=run.seconds, code=run.code)


class Dafny23:
    """A checker on Dafny 2.3. Use `aclose`, or `open_checker`, which does."""

    def __init__(self, paths: Dafny23Paths, workers: int) -> None:
        self._paths = paths
        self._pool = WarmPool(workers)

    @property
    def tool(self) -> Tool:
        return self._paths.tool

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        async with self._pool.borrowed() as server:
            if self._paths.server is None:
                return await check_cold(self._paths, task, limits)
            program = dafny_program(task, Dialect.DAFNY_2_3)
            if isinstance(program, Refused):
                return refused_result(program, self.tool)

            async def ask(server: WarmTool) -> str | None:
                return await _ask(server, program.text, arguments(self._paths.solver, limits))

            said = await server.converse(
                self._paths.server, wall_seconds=limits.wall_seconds, memory_mb=limits.memory_mb, ask=ask
            )
            if said.answer is None:
                return ended_result(said.ended, self.tool, limits, said.seconds, said.errors)
            result = read_output(program, said.answer, self.tool, seconds=said.seconds)
            if result.state is CheckState.TOOL_ERROR:
                await server.stop()
            return result

    async def aclose(self) -> None:
        await self._pool.aclose()


async def _ask(server: WarmTool, text: str, options: list[str]) -> str | None:
    """One question and its answer; None if the answer doesn't end.

    Raises:
        OutputLimit, OSError
    """
    # DafnyServer would take verdicts of former questions for lemmas that look the same; each one is asked anew.
    question = {"args": [*options, "/verifySnapshots:0"], "filename": _FILE, "source": text, "sourceIsFile": False}
    encoded = base64.b64encode(json.dumps(question).encode())
    await server.process.write(b"verify\n" + encoded + b"\n[[DAFNY-CLIENT: EOM]]\n")
    lines: list[str] = []
    room = OUTPUT_BYTES
    while (line := await server.process.read_line(room)) is not None:
        lines.append(line)
        if line in _ANSWER_ENDS:
            return "\n".join(lines)
        room -= len(line) + 1
        if room <= 0:
            raise OutputLimit
    return None
