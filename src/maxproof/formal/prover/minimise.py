"""Leaving out what a proof doesn't need."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

_GUARDED_CALL = re.compile(r"if .+? \{ (\w+\([^{}]*\);) \}")


async def minimised(
    lines: tuple[str, ...], accepts: Callable[[tuple[str, ...]], Awaitable[bool]], checks: int
) -> tuple[str, ...]:
    """What of `lines` `accepts` still takes: no block that was tried can be left out of it.

    Blocks of half the lines are tried first, then of a quarter, down to single lines, the last ones first (they are the
    likeliest to rest on others). Then a guarded call is tried without its guard. At most `checks` bodies are tried.
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
    for index, line in enumerate(lines):
        guarded = _GUARDED_CALL.fullmatch(line)
        if guarded is not None and checks > 0:
            checks -= 1
            plainer = (*lines[:index], guarded[1], *lines[index + 1 :])
            if await accepts(plainer):
                lines = plainer
    return lines
