"""Dafny 2.3, as Debian packages it: one cold process for a check, or DafnyServer as the warm path.

    checker = Dafny23(find_dafny23(), workers=2)       # a DafnyServer for each worker, started when first needed
    result = await checker.check(task, limits)
    await checker.aclose()

Neither `/timeLimit` nor `/rlimit` is honoured in all nonlinear cases; then the wall kills Dafny and its solver, and the
next check starts a new server.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from maxproof.formal.checkers.dafny23_output import read_output
from maxproof.formal.checkers.dafny_program import DafnyProgram, Refused, dafny_program
from maxproof.formal.checkers.processes import OUTPUT_BYTES, Ended, OutputLimit, ToolProcess, run_tool
from maxproof.formal.checkers.results import ended_result, refused_result
from maxproof.formal.checkers.types import CheckResult, CheckState, CheckTask, Limits, Tool
from maxproof.formal.syntax.dialect import Dialect

_FILE: Final = "program.dfy"
_ANSWER_ENDS: Final = ("[SUCCESS] [[DAFNY-SERVER: EOM]]", "[FAILURE] [[DAFNY-SERVER: EOM]]")
_ERRORS_TOLD: Final = 10
_REQUESTS: Final = 200  # of one server; then a new one, so that its memory stays bounded
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dafny23Paths:
    """Where an installed Dafny 2.3 is.

    Attributes:
        dafny: the command.
        server: how to start DafnyServer; None where it isn't installed, and every check is a cold one.
    """

    dafny: str
    server: tuple[str, ...] | None
    tool: Tool


def arguments(limits: Limits) -> list[str]:
    """Options for one check. `/noCheating:1` makes an assumption something to prove."""
    chosen = ["/compile:0", "/trace", "/noCheating:1", "/vcsCores:1"]
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
        [paths.dafny, "/nologo", *arguments(limits), _FILE],
        files={_FILE: program.text},
        wall_seconds=limits.wall_seconds,
        memory_mb=limits.memory_mb,
    )
    if run.ended is not Ended.EXITED:
        return ended_result(run.ended, paths.tool, limits, run.seconds, run.errors)
    return read_output(program, run.output + run.errors, paths.tool, seconds=run.seconds, code=run.code)


@dataclass(slots=True)
class _Worker:
    """One DafnyServer and the folder it runs in; no process until one is needed."""

    process: ToolProcess | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None
    memory_mb: int = 0
    requests: int = 0

    async def stop(self) -> None:
        process, folder = self.process, self.folder
        self.process = self.folder = None
        try:
            if process is not None:
                await process.end()
        finally:
            if folder is not None:
                folder.cleanup()

    async def ready(self, command: tuple[str, ...], memory_mb: int) -> ToolProcess:
        """A live server with that limit of memory."""
        fresh = self.memory_mb == memory_mb and self.requests < _REQUESTS
        if self.process is not None and self.process.alive and fresh:
            return self.process
        await self.stop()
        self.folder = tempfile.TemporaryDirectory(prefix="maxproof-", ignore_cleanup_errors=True)
        self.memory_mb, self.requests = memory_mb, 0
        self.process = await ToolProcess.start(command, folder=Path(self.folder.name), memory_mb=memory_mb)
        return self.process


@dataclass(slots=True)
class _Answer:
    lines: list[str] = field(default_factory=list)
    complete: bool = False


class Dafny23:
    """A checker on Dafny 2.3. Use `aclose`, or `open_checker`, which does."""

    def __init__(self, paths: Dafny23Paths, workers: int) -> None:
        self._paths = paths
        self._workers = [_Worker() for _ in range(workers)]
        self._free: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._free.put_nowait(worker)

    @property
    def tool(self) -> Tool:
        return self._paths.tool

    async def check(self, task: CheckTask, limits: Limits) -> CheckResult:
        worker = await self._free.get()
        try:
            if self._paths.server is None:
                return await check_cold(self._paths, task, limits)
            program = dafny_program(task, Dialect.DAFNY_2_3)
            if isinstance(program, Refused):
                return refused_result(program, self.tool)
            return await self._check(worker, self._paths.server, program, limits)
        finally:
            self._free.put_nowait(worker)

    async def aclose(self) -> None:
        for worker in self._workers:
            await worker.stop()

    async def _check(
        self, worker: _Worker, server: tuple[str, ...], program: DafnyProgram, limits: Limits
    ) -> CheckResult:
        began = time.monotonic()
        answer = _Answer()
        ended: Ended | None = None
        errors = ""
        try:
            async with asyncio.timeout(limits.wall_seconds):
                process = await worker.ready(server, limits.memory_mb)
                worker.requests += 1
                await _ask(process, program.text, limits, answer)
        except TimeoutError:
            ended = Ended.WALL
        except OutputLimit:
            ended = Ended.OUTPUT
        except OSError as error:  # its pipe is broken, or it could not be started
            errors = str(error)
        finally:
            if not answer.complete:
                lost = worker.process
                if lost is not None and ended is None:
                    word = await lost.end()
                    ended = Ended.MEMORY if word == "memory" else Ended.KILLED
                    errors = errors or lost.errors() or f"DafnyServer: {word}"
                await worker.stop()
        seconds = time.monotonic() - began
        if not answer.complete:
            return ended_result(ended or Ended.KILLED, self.tool, limits, seconds, errors)
        result = read_output(program, "\n".join(answer.lines), self.tool, seconds=seconds)
        if result.state is CheckState.TOOL_ERROR:
            await worker.stop()
        return result


async def _ask(process: ToolProcess, text: str, limits: Limits, answer: _Answer) -> None:
    """One question and its answer.

    Raises:
        OutputLimit, BrokenPipeError, ConnectionResetError
    """
    # DafnyServer would take verdicts of former questions for lemmas that look the same; each one is asked anew.
    options = [*arguments(limits), "/verifySnapshots:0"]
    question = {"args": options, "filename": _FILE, "source": text, "sourceIsFile": False}
    encoded = base64.b64encode(json.dumps(question).encode())
    await process.write(b"verify\n" + encoded + b"\n[[DAFNY-CLIENT: EOM]]\n")
    room = OUTPUT_BYTES
    while (line := await process.read_line(room)) is not None:
        answer.lines.append(line)
        if line in _ANSWER_ENDS:
            answer.complete = True
            return
        room -= len(line) + 1
        if room <= 0:
            raise OutputLimit
