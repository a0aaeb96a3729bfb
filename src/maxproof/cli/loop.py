"""Runs one coroutine on the fastest event loop there is."""

from __future__ import annotations

import asyncio
import importlib
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """As `asyncio.run`, on uvloop where it is installed.

    Ctrl-C and SIGTERM cancel the work, which has time to close what it opened, then raise KeyboardInterrupt.
    """
    results: list[Result] = []
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(_until_terminated(work, results))
    return results[0]


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _until_terminated(work: Coroutine[Any, Any, Result], results: list[Result]) -> None:
    """Keeps the result out of the task: a runner takes the repr of its task, and that of a large run is large."""
    task = asyncio.current_task()
    assert task is not None
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        results.append(await work)
    except asyncio.CancelledError:
        if terminated:
            raise KeyboardInterrupt from None
        raise
