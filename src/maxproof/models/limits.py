"""How much of one endpoint is used at once.

`ConcurrencyLimiter` hands out permits, first come first served; a call that is asked again goes before calls that have
not started. With a fixed number that is all. With `auto` the number adapts:

* *Slow start.* It begins at 32 and doubles with every window of answers, and also with every 0.1 s in which calls wait
  and nothing was refused. A refusal comes back at once while an answer takes minutes: waiting for answers would
  put the first calls of a run into several waves one behind the other. 512 are reached in 0.4 s.
* *Cut.* Overload cuts it to 0.7 of what is in flight, never below 1. A permit belongs to a window, and a cut opens the
  next window: the calls that were in flight at a cut can't cause a second one. No clock and no Retry-After is involved,
  so under steady refusals the number walks down to 1 and can't freeze on the way.
* *Growth.* After a cut it grows by a twentieth, at least 1, per window of answers. After an outage it first doubles per
  window up to where the outage began.

When calls fail in window after window with no answer between them, new calls are held back for a short while (0.25 s,
doubling up to 2 s): the endpoint is probed instead of stormed, and calls that have not started keep their deadline.

`RateLimiter` paces requests and tokens a minute.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

from aiolimiter import AsyncLimiter

START = 32
CUT = 0.7
GROWTH = 0.05
RAMP_S = 0.1
HOLD_S = 0.25
MAX_HOLD_S = 2.0


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to have a request of `weight` samples in flight, given in `window`."""

    weight: int
    window: int


class ConcurrencyLimiter:
    """Bounds the samples in flight. One event loop, no threads; every operation is O(1).

    Attributes:
        limit: samples that may be in flight now, >= 1.
        in_flight: samples in flight now.
        waiting: samples that wait for a permit.
    """

    def __init__(self, concurrency: int | Literal["auto"], maximum: int) -> None:
        """`maximum` bounds `auto`. A request of more samples than `limit` is let through alone."""
        self._auto = concurrency == "auto"
        self._maximum = maximum
        self._limit = float(min(START, maximum) if concurrency == "auto" else concurrency)
        self.in_flight = 0
        self.waiting = 0
        self._fresh: deque[tuple[asyncio.Future[Permit], int]] = deque()
        self._retries: deque[tuple[asyncio.Future[Permit], int]] = deque()
        self._window = 0
        self._threshold = math.inf  # below it the limit doubles per window, above it grows slowly
        self._answered = False  # since the last cut
        self._troubles = 0  # windows with a failure since the last answer
        self._hold: asyncio.TimerHandle | None = None
        self._ramp: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        return int(self._limit)

    async def acquire(self, weight: int = 1, *, retry: bool = False) -> Permit:
        """Waits for a permit; `retry` goes before all that is not."""
        queue = self._retries if retry else self._fresh
        if not self._retries and (retry or not self._fresh) and self._hold is None and self._fits(weight):
            return self._grant(weight)
        future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        queue.append((future, weight))
        self.waiting += weight
        self._schedule_ramp()
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                self.waiting -= weight
                self._wake()  # it may have been the one that all others waited behind
            else:
                self.release(future.result())
            raise

    def release(self, permit: Permit) -> None:
        """Gives a permit back; the next in line has it at once."""
        self.in_flight -= permit.weight
        self._wake()

    def succeeded(self, permit: Permit) -> None:
        """The request of `permit`, not yet released, was answered."""
        self._answered = True
        self._troubles = 0
        if self._auto and (self.waiting or self.in_flight >= self.limit):
            step = 1.0 if self._limit < self._threshold else max(1.0, GROWTH * self._limit) / self._limit
            self._limit = min(float(self._maximum), self._limit + step * permit.weight)
        if self._hold is not None:
            self._hold.cancel()
            self._release_hold()

    def failed(self, permit: Permit, *, overload: bool) -> None:
        """The request of `permit`, not yet released, failed for a reason that may lie in the load."""
        if permit.window != self._window:
            return
        self._window += 1
        self._troubles += 1
        if self._auto and overload:
            self._limit = max(1.0, CUT * min(self._limit, self.in_flight))
            if self._answered or self._threshold == math.inf:
                self._threshold = self._limit
            self._answered = False
        if self._troubles > 1:
            delay = min(MAX_HOLD_S, HOLD_S * 2.0 ** min(self._troubles - 2, 16))
            if self._hold is not None:
                self._hold.cancel()
            self._hold = asyncio.get_running_loop().call_later(delay, self._release_hold)

    def _fits(self, weight: int) -> bool:
        return self.in_flight + min(weight, self.limit) <= self.limit

    def _grant(self, weight: int) -> Permit:
        weight = min(weight, self.limit)
        self.in_flight += weight
        return Permit(weight, self._window)

    def _release_hold(self) -> None:
        self._hold = None
        self._wake()

    def _wake(self) -> None:
        while self._hold is None and (queue := self._retries or self._fresh):
            future, weight = queue[0]
            if future.done():  # cancelled while it waited
                queue.popleft()
            elif self._fits(weight):
                queue.popleft()
                self.waiting -= weight
                future.set_result(self._grant(weight))
            else:
                self._schedule_ramp()
                return

    def _schedule_ramp(self) -> None:
        starting = self._auto and self._threshold == math.inf and self._troubles == 0
        if self._ramp is None and starting and self._limit < self._maximum:
            self._ramp = asyncio.get_running_loop().call_later(RAMP_S, self._double)

    def _double(self) -> None:
        self._ramp = None
        if self.waiting and self._threshold == math.inf and self._troubles == 0:
            self._limit = min(float(self._maximum), 2 * self._limit)
            self._wake()


class RateLimiter:
    """Paces requests and tokens a minute, first come first served; a full minute's worth may go at once.

    Tokens are reserved by estimate. The difference to what was used is carried to the next reservation.

    Attributes:
        waiting: samples whose requests wait now.
    """

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self._requests = _bucket(requests_per_minute) if requests_per_minute else None
        self._tokens = _bucket(tokens_per_minute) if tokens_per_minute else None
        self._turn = asyncio.Lock()  # the buckets serve small amounts first: this keeps the order of arrival
        self._carry = 0.0
        self._mean_completion: float | None = None
        self.waiting = 0

    async def reserve(self, prompt_tokens: int, max_tokens: int, samples: int) -> float:
        """Waits for its turn and returns the tokens reserved.

        A sample is taken to be as long as the mean of the last ones, before the first a quarter of `max_tokens`.
        """
        if self._requests is None and self._tokens is None:
            return 0.0
        self.waiting += samples
        try:
            async with self._turn:
                if self._requests is not None:
                    await self._requests.acquire()
                if self._tokens is None:
                    return 0.0
                mean = max_tokens / 4 if self._mean_completion is None else min(max_tokens, self._mean_completion)
                wanted = prompt_tokens + samples * mean
                amount = min(self._tokens.max_rate, max(0.0, wanted + self._carry))
                await self._tokens.acquire(amount)
                self._carry += wanted - amount
                return wanted
        finally:
            self.waiting -= samples

    def settle(self, reserved: float, prompt_tokens: int, completion_tokens: int, samples: int) -> None:
        """What a request with `reserved` tokens really used; `samples` is 0 when it failed."""
        if self._tokens is None:
            return
        self._carry += prompt_tokens + completion_tokens - reserved
        if samples == 0:
            return
        mean = completion_tokens / samples
        self._mean_completion = mean if self._mean_completion is None else 0.9 * self._mean_completion + 0.1 * mean


def _bucket(per_minute: float) -> AsyncLimiter:
    size = max(1.0, per_minute)
    return AsyncLimiter(size, 60.0 * size / per_minute)
