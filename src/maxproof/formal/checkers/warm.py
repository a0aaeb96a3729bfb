"""Tools that are kept running between checks: one conversation at a time each, replaced when anything goes wrong."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from maxproof.formal.checkers.processes import Ended, OutputLimit, ToolProcess

_CONVERSATIONS: Final = 200  # of one process; then a new one, so that its memory stays bounded

Answer = TypeVar("Answer")


class Garbled(Exception):
    """A tool answered what its protocol doesn't have."""


@dataclass(frozen=True, slots=True)
class Conversation(Generic[Answer]):
    """What came of one.

    Attributes:
        answer: None if there was none; then `ended` and `errors` say why.
        seconds: wall time, the tool's start included.
    """

    answer: Answer | None
    ended: Ended
    errors: str
    seconds: float


class WarmTool:
    """One process of a tool and the folder it runs in; no process until one is needed."""

    def __init__(self) -> None:
        self._process: ToolProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._kind: tuple[object, ...] = ()
        self.conversations = 0

    @property
    def process(self) -> ToolProcess:
        assert self._process is not None
        return self._process

    @property
    def folder(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name)

    async def stop(self) -> None:
        """Ends the process, if there is one, with all that it started."""
        process, folder = self._process, self._folder
        self._process = self._folder = None
        try:
            if process is not None:
                await process.end()
        finally:
            if folder is not None:
                folder.cleanup()

    async def converse(
        self,
        command: Sequence[str],
        *,
        wall_seconds: float,
        memory_mb: int,
        ask: Callable[[WarmTool], Awaitable[Answer | None]],
    ) -> Conversation[Answer]:
        """Has `ask` talk to a process of `command`, started if it must be; an end without an answer ends the process.

        Args:
            ask: gives None when the tool ended its output. May raise OSError, OutputLimit and Garbled. It is called
                with `conversations` 0 in a new process.
        """
        began = time.monotonic()
        answer: Answer | None = None
        ended, errors = Ended.KILLED, ""
        try:
            async with asyncio.timeout(wall_seconds):
                await self._ready(command, memory_mb)
                answer = await ask(self)
                self.conversations += 1
        except TimeoutError:
            ended = Ended.WALL
        except OutputLimit:
            ended = Ended.OUTPUT
        except (OSError, Garbled) as error:
            errors = str(error)
        finally:
            if answer is None:
                if self._process is not None:
                    word = await self._process.end()
                    ended = Ended.MEMORY if word == "memory" else ended
                    errors = errors or self._process.errors() or word
                await self.stop()
        return Conversation(answer, ended, errors, time.monotonic() - began)

    async def _ready(self, command: Sequence[str], memory_mb: int) -> None:
        kind = (*command, memory_mb)
        usable = self._kind == kind and self.conversations < _CONVERSATIONS
        if self._process is not None and self._process.alive and usable:
            return
        await self.stop()
        self._folder = tempfile.TemporaryDirectory(prefix="maxproof-", ignore_cleanup_errors=True)
        self._kind, self.conversations = kind, 0
        self._process = await ToolProcess.start(command, folder=self.folder, memory_mb=memory_mb)


class WarmPool:
    """As many of them as checks may run at once."""

    def __init__(self, workers: int) -> None:
        self._tools = [WarmTool() for _ in range(workers)]
        self._free: asyncio.LifoQueue[WarmTool] = asyncio.LifoQueue()
        for tool in self._tools:
            self._free.put_nowait(tool)

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator[WarmTool]:
        """One that nobody else talks to; waits for it."""
        tool = await self._free.get()
        try:
            yield tool
        finally:
            self._free.put_nowait(tool)

    async def aclose(self) -> None:
        for tool in self._tools:
            await tool.stop()
