"""Leaving out what a proof doesn't need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


async def minimised(
    lines: tuple[str, ...], accepts: Callable[[tuple[str, ...]], Awaitable[bool]], checks: int
) -> tuple[str, ...]:
    """A sub-list of `lines` that `accepts` still takes: no block that was tried can be left out of it.

    Blocks of half the lines are tried first, then of a quarter, down to single lines, the last ones first (they are the
    likeliest to rest on others). At most `checks` sub-lists are tried.
    """
    size = max(1, len(lines) // 2)
    while lines and checks > 0:
        end = len(lines)
        while end > 0 and checks > 0:
            start = max(0, end - size)
            fewer = lines[:start] + lines[end:]
            checks -= 1
            if await accepts(fewer):
                lines = fewer
            end = start
        if size == 1:
            break
        size //= 2
    return lines
