"""Worker processes: killed at their limits, never orphaned, replaced when they die."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from maxproof.formal.embedded.workers import MemoryExceeded, WallExceeded, WorkerCrashed, WorkerPool

# Tasks are given by name, so they have to be functions of modules that the worker can import.
SLEEP, ADD, ENVIRON, FAIL = time.sleep, os.path.join, os.getpid, int
ABORT, EXIT = os.abort, os._exit
GIGABYTES = bytes  # bytes(n) makes n zero bytes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups and limits are POSIX")


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(1)
    try:
        yield pool
    finally:
        await pool.aclose()


def alive(pid: int) -> bool:
    """A zombie is not alive."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


async def until_gone(pid: int) -> bool:
    for _ in range(100):
        if not alive(pid):
            return True
        await asyncio.sleep(0.1)
    return False


async def test_results_come_back_and_the_worker_stays(pool: WorkerPool) -> None:
    assert await pool.run(ADD, "a", "b", wall_seconds=30, memory_mb=2048) == os.path.join("a", "b")
    first = await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048)
    assert first != os.getpid()
    assert await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048) == first
    await pool.aclose()
    assert not alive(first)


async def test_the_wall_kills(pool: WorkerPool) -> None:
    first = await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048)
    with pytest.raises(WallExceeded):
        await pool.run(SLEEP, 600, wall_seconds=0.3, memory_mb=2048)
    assert not alive(first)
    assert await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048) != first


async def test_memory_is_limited(pool: WorkerPool) -> None:
    with pytest.raises(MemoryExceeded):
        await pool.run(GIGABYTES, 4 << 30, wall_seconds=30, memory_mb=1024)
    assert await pool.run(ADD, "a", "b", wall_seconds=30, memory_mb=1024) == os.path.join("a", "b")


async def test_an_error_in_the_task_is_told(pool: WorkerPool) -> None:
    with pytest.raises(WorkerCrashed, match="ValueError"):
        await pool.run(FAIL, "x", wall_seconds=30, memory_mb=2048, retries=0)


@pytest.mark.parametrize(("task", "args"), [(ABORT, ()), (EXIT, (3,)), (os._exit, (0,))])
async def test_a_death_is_told_and_the_next_task_runs(pool: WorkerPool, task: object, args: tuple[int, ...]) -> None:
    assert callable(task)
    with pytest.raises(WorkerCrashed, match="died"):
        await pool.run(task, *args, wall_seconds=30, memory_mb=2048)
    assert await pool.run(ADD, "a", "b", wall_seconds=30, memory_mb=2048) == os.path.join("a", "b")


async def test_z3s_own_memory_exit_is_a_memory_limit(pool: WorkerPool) -> None:
    with pytest.raises(MemoryExceeded):
        await pool.run(EXIT, 101, wall_seconds=30, memory_mb=2048)


async def test_a_worker_that_was_killed_while_idle_is_replaced(pool: WorkerPool) -> None:
    first = await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048)
    os.kill(first, signal.SIGKILL)
    assert await until_gone(first)
    assert await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048) != first


async def test_cancelling_kills_the_worker_and_frees_its_place(pool: WorkerPool) -> None:
    first = await pool.run(ENVIRON, wall_seconds=30, memory_mb=2048)
    waiting = asyncio.create_task(pool.run(SLEEP, 600, wall_seconds=600, memory_mb=2048))
    await asyncio.sleep(0.2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not alive(first)
    assert await pool.run(ADD, "a", "b", wall_seconds=30, memory_mb=2048) == os.path.join("a", "b")


async def test_many_tasks_share_few_workers() -> None:
    pool = WorkerPool(2)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(pool.run(ENVIRON, wall_seconds=60, memory_mb=2048)) for _ in range(12)]
        assert len({task.result() for task in tasks}) <= 2
    finally:
        await pool.aclose()


async def test_what_a_task_prints_does_not_disturb(pool: WorkerPool) -> None:
    assert await pool.run(os.write, 1, b"noise", wall_seconds=30, memory_mb=2048) == 5
    assert await pool.run(ADD, "a", "b", wall_seconds=30, memory_mb=2048) == os.path.join("a", "b")


@pytest.mark.parametrize("busy", [True, False])
async def test_no_orphan_when_the_parent_is_killed(busy: bool, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import asyncio, os, time
            from maxproof.formal.embedded.workers import WorkerPool

            async def main():
                pool = WorkerPool(1)
                print(await pool.run(os.getpid, wall_seconds=60, memory_mb=2048), flush=True)
                if {busy}:
                    await pool.run(time.sleep, 600, wall_seconds=600, memory_mb=2048)
                await asyncio.sleep(600)

            asyncio.run(main())
            """
        )
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, str(script), stdout=asyncio.subprocess.PIPE)
    try:
        assert parent.stdout is not None
        worker = int(await parent.stdout.readline())
        assert alive(worker)
        await asyncio.sleep(0.3)
    finally:
        parent.kill()
        await parent.wait()
    assert await until_gone(worker)


async def test_the_end_of_the_input_ends_a_busy_worker_where_the_kernel_does_not() -> None:
    """The second line of defence, alone: the parent process lives on, only the pipe is closed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "maxproof.formal.embedded.worker_process",
        str(os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(60):
            assert await process.wait() == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
