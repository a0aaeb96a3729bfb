"""Worker processes that can be killed: pure Python functions run in them under a hard wall and a memory limit.

A worker is a fresh interpreter in its own process group that stays for many tasks. It ends with its parent, however
that ends: the kernel is asked to kill it (Linux), and the end of its input ends it at once even in the middle of a
task. What runs in a worker can hang, crash or eat memory; the parent sees an exception that says which.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

START_SECONDS = 120.0  # for a new worker's imports, on a busy machine
MAX_TASKS = 1000  # then a worker is replaced
HEADER = struct.Struct(">Q")


class WorkerFailure(Exception):
    """The task has no result."""


class WallExceeded(WorkerFailure):
    """The task ran past its wall and was killed."""


class MemoryExceeded(WorkerFailure):
    """The task needed more memory than it may have."""


class WorkerCrashed(WorkerFailure):
    """The worker process died, or the task raised. The message says how."""


class WorkerPool:
    """Up to `size` workers (default: one for each CPU), started when first needed. For one event loop."""

    def __init__(self, size: int | None = None) -> None:
        self.size = size or os.cpu_count() or 1
        self._free = asyncio.Semaphore(self.size)
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    async def run(
        self, function: Callable[..., T], *args: object, wall_seconds: float, memory_mb: int, retries: int = 1
    ) -> T:
        """`function(*args)`, run in a worker. All of it must be picklable; `function` by its name in its module.

        Waiting for a free worker doesn't count. A crash is tried again `retries` times in a new worker. Raises
        WallExceeded, MemoryExceeded or WorkerCrashed. When cancelled, the task's worker is killed.
        """
        task = pickle.dumps((function, args, memory_mb), protocol=pickle.HIGHEST_PROTOCOL)
        async with self._free:
            for left in range(retries, -1, -1):
                try:
                    return await self._run(task, wall_seconds)  # type: ignore[no-any-return]
                except WorkerCrashed:
                    if not left:
                        raise
            raise AssertionError("unreachable")

    async def _run(self, task: bytes, wall_seconds: float) -> Any:
        worker = self._idle.pop() if self._idle else None
        if worker is not None and worker.ended:  # it died while idle
            await self._drop(worker)
            worker = None
        keep = False
        try:
            if worker is None:
                worker = Worker()
                self._all.add(worker)
                await worker.start()
            kind, value = await worker.ask(task, wall_seconds)
            keep = kind == "value" and worker.tasks < MAX_TASKS
        finally:
            if keep and worker is not None:
                self._idle.append(worker)
            elif worker is not None:
                await self._drop(worker)
        if kind == "memory":
            raise MemoryExceeded(value)
        if kind == "error":
            raise WorkerCrashed(value)
        return value

    async def _drop(self, worker: Worker) -> None:
        self._all.discard(worker)
        await worker.kill()

    async def aclose(self) -> None:
        """Ends all workers, busy ones too."""
        self._idle.clear()
        while self._all:
            await self._drop(self._all.pop())


class Worker:
    """One worker process."""

    def __init__(self) -> None:
        self.tasks = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def ended(self) -> bool:
        return self._process is None or self._process.returncode is not None

    async def start(self) -> None:
        """Raises WorkerCrashed if it doesn't get ready."""
        starting = asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # the current folder's files are not for us to import
            "-m",
            "maxproof.formal.embedded.worker_process",
            str(os.getpid()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "MALLOC_ARENA_MAX": "1"},  # arenas take address space, which is limited
        )
        self._process = await starting
        try:
            async with asyncio.timeout(START_SECONDS):
                kind, value = await self._reply()
        except TimeoutError:
            raise WorkerCrashed("a worker process didn't start") from None
        if kind != "ready":
            raise WorkerCrashed(f"a worker process can't start: {value}")

    async def ask(self, task: bytes, wall_seconds: float) -> tuple[str, Any]:
        """The worker's answer: `value`, `memory` or `error`, and the value or a line that says what happened."""
        assert self._process is not None
        assert self._process.stdin is not None
        self.tasks += 1
        try:
            async with asyncio.timeout(wall_seconds):
                self._process.stdin.write(HEADER.pack(len(task)) + task)
                await self._process.stdin.drain()
                return await self._reply()
        except TimeoutError:
            raise WallExceeded(f"killed after {wall_seconds:g} s") from None
        except (BrokenPipeError, ConnectionResetError):
            return await self._death()

    async def _reply(self) -> tuple[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            header = await self._process.stdout.readexactly(HEADER.size)
            body = await self._process.stdout.readexactly(HEADER.unpack(header)[0])
        except asyncio.IncompleteReadError:
            return await self._death()
        kind, value = pickle.loads(body)
        return kind, value

    async def _death(self) -> tuple[str, Any]:
        assert self._process is not None
        code = await self._process.wait()
        if code == OUT_OF_MEMORY:
            return "memory", "out of memory"
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return "error", f"the worker process died ({how})"

    async def kill(self) -> None:
        """Ends the process group and waits for it, also when cancelled."""
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        transport: Any = process._transport  # type: ignore[attr-defined]
        transport.close()


OUT_OF_MEMORY = 101  # Z3's exit code when it can't go on
