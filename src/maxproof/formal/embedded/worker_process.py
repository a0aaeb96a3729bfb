"""The inside of a worker process: reads tasks from its input, runs them, writes what came out.

Tasks run on a thread with a large stack, so that deep terms don't end it; the main thread reads, so that the end of the
input (the parent is gone) ends the process even while a task runs.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import queue
import resource
import signal
import sys
import threading
from typing import Any, BinaryIO

from maxproof.formal.embedded.workers import HEADER, OUT_OF_MEMORY

STACK_BYTES = 256 << 20
FRAMES = 20_000  # Python frames that a task may nest
PR_SET_PDEATHSIG = 1


def main() -> None:
    """Never returns."""
    end_with_parent(int(sys.argv[1]))
    output = os.fdopen(os.dup(1), "wb")
    tasks = sys.stdin.buffer
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)  # what libraries print is not ours
    pending: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=work, args=(pending, output), daemon=True).start()
    while True:
        header = tasks.read(HEADER.size)
        if len(header) < HEADER.size:
            os._exit(0)
        pending.put(tasks.read(HEADER.unpack(header)[0]))


def end_with_parent(parent: int) -> None:
    """Asks the kernel, where it can be asked, to kill this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(0)


def work(pending: queue.SimpleQueue[bytes], output: BinaryIO) -> None:
    """Runs tasks one after the other."""
    sys.setrecursionlimit(FRAMES)
    try:
        warm_up()
    except Exception as error:  # noqa: BLE001 - the parent has to hear of anything
        reply(output, "error", f"{type(error).__name__}: {error}")
        os._exit(1)
    reply(output, "ready", None)
    while True:
        run(pending.get(), output)


def warm_up() -> None:
    """What every check needs: the solver and the prelude."""
    import z3

    from maxproof.formal.embedded.evaluate.prelude import prelude_functions

    z3.Solver()
    prelude_functions()


def run(task: bytes, output: BinaryIO) -> None:
    try:
        function, args, memory_mb = pickle.loads(task)
        limit_memory(memory_mb)
        value = function(*args)
        body = packed("value", value)
    except MemoryError:
        reply(output, "memory", "out of memory")
        os._exit(OUT_OF_MEMORY)  # what half-done work left behind is not to be trusted
    except Exception as error:  # noqa: BLE001 - a bug in the task must not end the batch
        body = packed("error", f"{type(error).__name__}: {error}")
    write(output, body)


def limit_memory(megabytes: int) -> None:
    """Z3 gives up a little before the address space ends, so that it can say so."""
    import z3

    limit = megabytes << 20
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    z3.set_param("memory_max_size", max(64, megabytes - 512))


def packed(kind: str, value: Any) -> bytes:
    body = pickle.dumps((kind, value), protocol=pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(body)) + body


def reply(output: BinaryIO, kind: str, value: Any) -> None:
    write(output, packed(kind, value))


def write(output: BinaryIO, body: bytes) -> None:
    output.write(body)
    output.flush()


if __name__ == "__main__":
    main()
