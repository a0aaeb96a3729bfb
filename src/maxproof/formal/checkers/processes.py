"""Outside tools, run so that none outlives its use: hard limits of time, memory and output, an empty folder to work in.

    run = await run_tool([dafny, "/compile:0", "a.dfy"], files={"a.dfy": text}, wall_seconds=60, memory_mb=2048)
    run.ended is Ended.EXITED and run.code == 0

A tool runs under `supervise.py`, a small process of its own that kills whatever the tool started, solvers included,
when the tool ends, when it is told to, and when this process is gone. A tool sees no environment variable but those of
`environment`: no key, no home folder.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

OUTPUT_BYTES: Final = 8 << 20
_SUPERVISOR: Final = Path(__file__).with_name("supervise.py")
_ERRORS: Final = "standard-error.txt"
_ERRORS_SHOWN: Final = 4000
_END_SECONDS: Final = 15.0
_CHUNK: Final = 1 << 16
_STRAY_ROUNDS: Final = 5
# What a tool needs to be found and to find its runtime. Everything else stays here.
_PASSED: Final = ("PATH", "DOTNET_ROOT")


class Ended(StrEnum):
    """How a tool's process ended."""

    EXITED = "exited"
    WALL = "wall"  # the wall clock's limit
    MEMORY = "memory"
    OUTPUT = "output"  # it wrote more than it may
    KILLED = "killed"  # ended from here, or its supervisor is gone


class OutputLimit(Exception):
    """A tool wrote more than it may."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One finished run.

    Attributes:
        code: exit code; minus the signal's number if one ended it; None if it was killed from here.
        output, errors: standard output, and the end of standard error. What is no UTF-8 is replaced.
        seconds: wall time.
        collected: the text of the file that was asked for; None if the tool wrote none, or too much.
    """

    ended: Ended
    code: int | None
    output: str
    errors: str
    seconds: float
    collected: str | None = None


def environment(folder: Path) -> dict[str, str]:
    """The whole environment of a tool that works in `folder`."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return passed | {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
        # A killed Mono would leave its shared memory behind.
        "MONO_DISABLE_SHARED_AREA": "1",
        "DOTNET_CLI_HOME": str(folder),
        "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
        "DOTNET_EnableDiagnostics": "0",
        "DOTNET_NOLOGO": "1",
    }


class ToolProcess:
    """A running tool. `end` it, always."""

    def __init__(self, process: asyncio.subprocess.Process, report: int, folder: Path) -> None:
        self._process = process
        self._report = report
        self._folder = folder
        self._buffer = bytearray()
        self._told = b""
        self._outcome: str | None = None
        os.set_blocking(report, False)
        asyncio.get_running_loop().add_reader(report, self._hear)

    @classmethod
    async def start(cls, command: Sequence[str], *, folder: Path, memory_mb: int) -> ToolProcess:
        """Starts `command` (its first word is an absolute path) in `folder`.

        `memory_mb` limits the resident memory of each of its processes.
        """
        reading, writing = os.pipe()
        errors = os.open(folder / _ERRORS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        supervised = [
            *(sys.executable, "-I", "-S", str(_SUPERVISOR)),
            *(str(writing), str(os.getpid()), str(memory_mb)),
            *command,
        ]
        try:
            process = await asyncio.create_subprocess_exec(
                *supervised,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=environment(folder),
                pass_fds=(writing,),
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
            os.close(errors)
        return cls(process, reading, folder)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def write(self, data: bytes) -> None:
        """Raises BrokenPipeError or ConnectionResetError when the tool is gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def _fill(self) -> bool:
        assert self._process.stdout is not None
        data = await self._process.stdout.read(_CHUNK)
        self._buffer += data
        return bool(data)

    async def read_line(self, limit: int = OUTPUT_BYTES) -> str | None:
        """The next line of its output, without the line's end; None at the end of its output.

        Raises:
            OutputLimit: a line is longer than `limit` bytes.
        """
        looked = 0
        while (end := self._buffer.find(b"\n", looked)) < 0:
            looked = len(self._buffer)
            if looked > limit:
                raise OutputLimit
            if not await self._fill():
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.removesuffix(b"\r").decode(errors="replace")

    async def read_bytes(self, count: int) -> bytes | None:
        """Exactly `count` bytes of its output; None if it ends before."""
        while len(self._buffer) < count:
            if not await self._fill():
                return None
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    async def read_to_end(self, limit: int = OUTPUT_BYTES) -> None:
        """Reads until it closes its output, and waits for its end; `output` has what it wrote.

        Raises:
            OutputLimit: it wrote more than `limit` bytes.
        """
        while await self._fill():
            if len(self._buffer) > limit:
                raise OutputLimit
        await self._process.wait()

    @property
    def output(self) -> str:
        """What was read and not taken."""
        return self._buffer.decode(errors="replace")

    def errors(self) -> str:
        """The end of what it wrote to standard error."""
        try:
            with open(self._folder / _ERRORS, "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _ERRORS_SHOWN))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    async def end(self) -> str:
        """Kills whatever is left of it and returns when nothing is: the supervisor's last word on how it ended."""
        if self._outcome is not None:
            return self._outcome
        if self.alive:
            with suppress(ProcessLookupError):
                self._process.terminate()
        try:
            async with asyncio.timeout(_END_SECONDS):
                # Its end is seen only when its output has been read to the end.
                while await self._fill():
                    pass
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            self._outcome = self._settle()
        return self._outcome

    def _hear(self) -> None:
        """Takes what the supervisor reports; if it is gone without a last word, its work is done here."""
        with suppress(BlockingIOError):
            heard = os.read(self._report, _CHUNK)
            self._told += heard
            if not heard:
                asyncio.get_running_loop().remove_reader(self._report)
                if self._last_word() is None:
                    self._kill_strays()

    def _last_word(self) -> str | None:
        return self._told.decode(errors="replace").partition("\n")[0] or None

    def _kill_strays(self) -> None:
        """Kills what a lost supervisor left behind: all processes whose home is this tool's folder."""
        home = f"HOME={self._folder}\0".encode()
        for _ in range(_STRAY_ROUNDS):
            strays = []
            for entry in Path("/proc").glob("[0-9]*/environ"):
                with suppress(OSError):
                    if home in entry.read_bytes():
                        strays.append(int(entry.parent.name))
            for process in strays:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            if not strays:
                return

    def _settle(self) -> str:
        """Makes sure of the end without the supervisor's help."""
        if self.alive:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._hear()
        asyncio.get_running_loop().remove_reader(self._report)
        os.close(self._report)
        word = self._last_word()
        if word is None:
            self._kill_strays()
        return word or "ended"


def _outcome(word: str) -> tuple[Ended, int | None]:
    kind, _, rest = word.partition(" ")
    if kind == "exit":
        return Ended.EXITED, int(rest)
    return (Ended.MEMORY if kind == "memory" else Ended.KILLED), None


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _collected(file: Path, limit: int) -> str | None:
    try:
        if file.is_symlink() or file.stat().st_size > limit:
            return None
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


async def run_tool(
    command: Sequence[str],
    *,
    files: Mapping[str, str],
    wall_seconds: float,
    memory_mb: int,
    output_bytes: int = OUTPUT_BYTES,
    collect: str | None = None,
) -> ToolRun:
    """Runs `command` to its end in a new folder that holds `files` (text by name) and is deleted afterwards.

    Never raises for what the tool does. Cancelled, it kills the tool first.

    Args:
        command: its first word is an absolute path.
        wall_seconds: hard limit; then everything the tool started is killed.
        memory_mb: resident memory of each of its processes.
        output_bytes: the most it may write to standard output, and to `collect`.
        collect: the name of a file that the tool writes into its folder and that is wanted.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="maxproof-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_files(folder, files)
        process = await ToolProcess.start(command, folder=folder, memory_mb=memory_mb)
        cut: Ended | None = None
        try:
            async with asyncio.timeout(wall_seconds):
                await process.read_to_end(output_bytes)
        except TimeoutError:
            cut = Ended.WALL
        except OutputLimit:
            cut = Ended.OUTPUT
        finally:
            word = await process.end()
        ended, code = _outcome(word)
        errors = word if word.startswith("start ") else process.errors()
        collected = _collected(folder / collect, output_bytes) if collect is not None else None
        seconds = time.monotonic() - began
        return ToolRun(cut or ended, None if cut else code, process.output, errors, seconds, collected)
