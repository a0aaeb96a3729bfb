"""Runs one tool so that nothing of it survives. Started as a script of its own:

    python -I -S supervise.py REPORT PARENT MEMORY_MB COMMAND...

The tool gets a session of its own. When it ends, when the process PARENT is gone (killed, even by SIGKILL), on SIGTERM,
or when one of the tool's processes holds more than MEMORY_MB of memory, everything that the tool started is killed,
processes that left its group included (they become children of this one). Then one line goes to the file descriptor
REPORT: `exit CODE`, `memory` or `ended` (before it `start REASON` if COMMAND could not be started).

Resident memory is watched rather than the address space limited: Mono hangs when it can't reserve its heap, and .NET
reserves hundreds of gigabytes that it never uses. Linux only, as the calls and `/proc` are.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TICK_SECONDS = 0.1
_KILL_SECONDS = 10.0
_FILE_BYTES = 256 << 20
_PAGE_BYTES = resource.getpagesize()


def _start(command: list[str], libc: ctypes.CDLL, report: int) -> int:
    """The tool's process id, which is its group's too."""
    supervisor = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == supervisor:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.execv(command[0], command)
    except OSError as error:
        os.write(report, f"start {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _children(process: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError), open(f"/proc/{process}/task/{thread}/children") as listing:
                found.extend(map(int, listing.read().split()))
    return found


def _descendants() -> list[int]:
    found = _children(os.getpid())
    for process in found:  # grows while it is walked
        found.extend(_children(process))
    return found


def _largest_mb() -> float:
    """Resident memory of the tool's largest process, in MB."""
    largest = 0
    for process in _descendants():
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm") as sizes:
            largest = max(largest, int(sizes.read().split()[1]))
    return largest * _PAGE_BYTES / (1 << 20)


def _reap(child: int) -> int | None:
    """Takes what has ended; the exit code of `child` if it was among them (minus the signal that killed it)."""
    code = None
    with suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                break
            if ended == child:
                code = os.waitstatus_to_exitcode(status)
    return code


def _kill_all(child: int) -> None:
    """Until nothing is left, or what is left can't be killed (a process in the kernel's hands)."""
    until = time.monotonic() + _KILL_SECONDS
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    while time.monotonic() < until:
        _reap(child)
        left = _descendants()
        if not left:
            return
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.005)


def _watch(child: int, parent: int, memory_mb: int) -> str:
    """How it ended."""
    while True:
        signalled = signal.sigtimedwait((signal.SIGCHLD, signal.SIGTERM), _TICK_SECONDS)
        if signalled is not None and signalled.si_signo == signal.SIGTERM:
            return "ended"
        code = _reap(child)
        if code is not None:
            return f"exit {code}"
        if os.getppid() != parent:
            return "ended"
        if _largest_mb() > memory_mb:
            return "memory"


def main(arguments: list[str]) -> None:
    report, parent, memory_mb = map(int, arguments[:3])
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, signal.SIGTERM))
    os.set_inheritable(report, False)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = _start(arguments[3:], libc, report)
    # The pipes are the tool's alone: their other ends must see when it closes them.
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    outcome = _watch(child, parent, memory_mb)
    _kill_all(child)
    os.write(report, f"{outcome}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
