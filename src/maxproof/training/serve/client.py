"""Asks a reward server.

    rewards = await ask_rewards([{"problem_id": "p", "answer": text}])      # 0..1, None is not scored

It waits while the server's queue is full. Everything else that is no answer is an error: a trainer that took a
failed server for "not scored" would go on without rewards.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence

import aiohttp

URL_VARIABLE, DEFAULT_URL, PATH = "MAXPROOF_REWARD_URL", "http://127.0.0.1:8300", "/v1/rewards"
PATIENCE_S = 3600.0
"""An answer waits for the judges, and the judges for their turn."""


class RewardServerError(Exception):
    """The server refused, failed, or answered something else than rewards."""


async def ask_rewards(
    items: Sequence[Mapping[str, object]], url: str | None = None, *, patience_s: float = PATIENCE_S
) -> list[float | None]:
    """One reward an item, in order.

    Args:
        items: as the server reads them (`requests.py`).
        url: of the server; None: `$MAXPROOF_REWARD_URL`, else http://127.0.0.1:8300.
        patience_s: seconds for all of it, waiting for a full queue included.

    Raises RewardServerError, TimeoutError, aiohttp.ClientError.
    """
    target = (url or os.environ.get(URL_VARIABLE, DEFAULT_URL)).rstrip("/") + PATH
    async with asyncio.timeout(patience_s), aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(None)) as session:
        while True:
            async with session.post(target, json={"items": items}) as response:
                wait = response.headers.get("Retry-After", "")
                if response.status != 503 or not wait.isdecimal():
                    return _rewards(response.status, await response.text(), len(items))
            await asyncio.sleep(min(int(wait), patience_s))


def _rewards(status: int, text: str, expected: int) -> list[float | None]:
    if status != 200:
        raise RewardServerError(f"the reward server answered {status}: {text[:1000]}")
    try:
        rewards = _json_rewards(text)
    except (ValueError, RecursionError):
        raise RewardServerError("the reward server's answer can't be read") from None
    if len(rewards) != expected:
        raise RewardServerError(f"{len(rewards)} rewards for {expected} answers")
    return rewards


def _json_rewards(text: str) -> list[float | None]:
    found = json.loads(text)
    rewards = found.get("rewards") if isinstance(found, dict) else None
    if not isinstance(rewards, list):
        raise ValueError("no rewards")
    for value in rewards:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
            raise ValueError("a reward is not in 0..1")
    return [None if value is None else float(value) for value in rewards]
