"""Nothing that a tool starts outlives its run, whatever the tool does and however we end."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from maxproof.formal.checkers.processes import Ended, ToolProcess, run_tool

PYTHON = [sys.executable, "-I", "-S", "-c"]
DAFNY = shutil.which("dafny")


def alive(process: int) -> bool:
    """Running, and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(*processes: int, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, processes))


# Starts children of its own: one in its group, one that left it, both deaf to SIGTERM and busy; prints their ids.
FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ids = []
for leaves in (False, True):
    child = os.fork()
    if child == 0:
        if leaves:
            os.setsid()
        while True:
            pass
    ids.append(child)
print(os.getpid(), *ids, flush=True)
"""


def told_all(file: Path) -> bool:
    return file.exists() and file.read_text().endswith(".")


async def until_told(file: Path) -> None:
    """Waits until a tool has written its processes' ids."""
    async with asyncio.timeout(30):
        while not told_all(file):  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.02)


async def test_run_gives_output_and_code() -> None:
    run = await run_tool([*PYTHON, "print(open('a.txt').read()); raise SystemExit(3)"], files={"a.txt": "é"},
                         wall_seconds=30, memory_mb=500)  # fmt: skip
    assert (run.ended, run.code, run.output) == (Ended.EXITED, 3, "é\n")


async def test_wall_kills_the_whole_family() -> None:
    run = await run_tool([*PYTHON, FAMILY + "time.sleep(1000)"], files={}, wall_seconds=1.5, memory_mb=500)
    processes = [int(word) for word in run.output.split()]
    assert run.ended is Ended.WALL
    assert len(processes) == 3
    assert gone(*processes, seconds=0)


async def test_children_of_a_tool_that_ended_are_killed() -> None:
    run = await run_tool([*PYTHON, FAMILY], files={}, wall_seconds=30, memory_mb=500)
    processes = [int(word) for word in run.output.split()]
    assert (run.ended, run.code) == (Ended.EXITED, 0)
    assert len(processes) == 3
    assert gone(*processes, seconds=0)


async def test_memory_limit_counts_the_solver() -> None:
    solver = [*PYTHON, "x = bytearray(300 << 20); input()"]
    greedy = f"import subprocess; subprocess.run({solver!r})"
    run = await run_tool([*PYTHON, greedy], files={}, wall_seconds=30, memory_mb=150)
    assert run.ended is Ended.MEMORY


async def test_output_is_capped() -> None:
    run = await run_tool([*PYTHON, "while True: print('x' * 1000)"], files={}, wall_seconds=30, memory_mb=500,
                         output_bytes=100_000)  # fmt: skip
    assert run.ended is Ended.OUTPUT
    assert 100_000 < len(run.output) < 300_000


async def test_a_crash_is_told(tmp_path: Path) -> None:
    crashed = await run_tool([*PYTHON, "import os; os.write(2, b'oh no'); os.abort()"], files={}, wall_seconds=30,
                             memory_mb=500)  # fmt: skip
    assert (crashed.ended, crashed.code, crashed.errors) == (Ended.EXITED, -signal.SIGABRT, "oh no")
    absent = await run_tool([str(tmp_path / "absent")], files={}, wall_seconds=30, memory_mb=500)
    assert absent.ended is not Ended.EXITED
    assert "No such file" in absent.errors


async def test_no_secret_reaches_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os; print(sorted(os.environ)); print(os.listdir('.')); print(os.getcwd() == os.environ['HOME'])"
    run = await run_tool([*PYTHON, code], files={}, wall_seconds=30, memory_mb=500)
    assert "sk-" not in run.output
    assert "OPENAI" not in run.output
    assert "PATH" in run.output
    assert run.output.splitlines()[2] == "True"


async def test_cancellation_kills(tmp_path: Path) -> None:
    told = tmp_path / "ids"
    code = FAMILY + f"open({str(told)!r}, 'w').write(' '.join(map(str, [os.getpid(), *ids])) + '.'); time.sleep(1000)"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_tool([*PYTHON, code], files={}, wall_seconds=100, memory_mb=500))
        await until_told(told)
        task.cancel()
    assert task.cancelled()
    assert gone(*map(int, told.read_text().rstrip(".").split()), seconds=0)


@pytest.mark.parametrize("killed", ["user", "supervisor"])
async def test_kill_9_leaves_no_orphan(tmp_path: Path, killed: str) -> None:
    """The process that ran the tool, or the tool's supervisor, is killed so that it can do nothing any more."""
    told = tmp_path / "ids"
    code = (
        FAMILY
        + f"open({str(told)!r}, 'w').write(' '.join(map(str, [os.getpid(), os.getppid(), *ids])) + '.')\n"
        + "time.sleep(1000)"
    )
    script = textwrap.dedent(f"""
        import asyncio, sys
        from maxproof.formal.checkers.processes import run_tool
        asyncio.run(run_tool([sys.executable, "-I", "-S", "-c", {code!r}], files={{}}, wall_seconds=100, memory_mb=500))
    """)
    user = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)})  # noqa: ASYNC220 - not waited for
    await until_told(told)
    tool, supervisor, in_group, left_group = map(int, told.read_text().rstrip(".").split())
    assert alive(in_group)
    os.kill(user.pid if killed == "user" else supervisor, signal.SIGKILL)
    user.wait(20)
    assert gone(tool, supervisor, in_group, left_group)


async def test_a_conversation(tmp_path: Path) -> None:
    code = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"
    process = await ToolProcess.start([*PYTHON, code], folder=tmp_path, memory_mb=500)
    try:
        await process.write(b"a\nb\n")
        assert [await process.read_line(), await process.read_line()] == ["got a", "got b"]
        await process.write(b"xyz\n")
        assert await process.read_bytes(6) == b"got xy"
        assert process.alive
    finally:
        await process.end()
    assert not process.alive
    assert await process.read_line() == "z"
    assert await process.read_line() is None


@pytest.mark.skipif(DAFNY is None, reason="no dafny on the path: apt-get install dafny")
async def test_a_hanging_solver_dies_with_dafny(tmp_path: Path) -> None:
    """Z3 is Mono's child: the wall must reach it."""
    assert DAFNY is not None
    solver = tmp_path / "solver"
    told = tmp_path / "ids"
    solver.write_text(
        f"#!{sys.executable} -IS\nimport os, sys\n"
        "if '--version' in sys.argv: os.execv('/usr/bin/z3', ['z3', '--version'])\n"
        f"open({str(told)!r}, 'a').write(f'{{os.getpid()}} ')\nwhile True: pass\n"
    )
    solver.chmod(0o755)
    program = "lemma L(x: int)\n  ensures x * x >= 0\n{}\n"
    run = await run_tool([DAFNY, "/compile:0", "/timeLimit:1", f"/z3exe:{solver}", "a.dfy"], files={"a.dfy": program},
                         wall_seconds=4, memory_mb=2000)  # fmt: skip
    assert run.ended is Ended.WALL
    processes = [int(word) for word in told.read_text().split()]
    assert processes
    assert gone(*processes, seconds=0)
