"""Asking a slow call a second time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def hedged(
    first: Coroutine[Any, Any, T],
    second: Callable[[], Coroutine[Any, Any, T]],
    after_s: float,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """The result of whichever succeeds first; the other one is cancelled.

    `second` is started when `first` has taken `after_s` seconds. A `first` that fails before that fails the whole. Once
    both run, one failure waits for the other; if both fail, the first's error is raised.
    """

    async def late() -> T:
        await sleep(after_s)
        begun.set()
        return await second()

    begun = asyncio.Event()
    legs = [asyncio.create_task(first), asyncio.create_task(late())]
    try:
        pending = set(legs)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for leg in legs:
                if leg in done and leg.exception() is None:
                    return leg.result()
            if not begun.is_set():
                break
        return legs[0].result()
    finally:
        for leg in legs:
            leg.cancel()
        await asyncio.wait(legs)
        for leg in legs:
            if not leg.cancelled():
                leg.exception()  # seen: the loser's failure is not worth a warning
