from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import run_virtual

from maxproof.models.limits import START, ConcurrencyLimiter, Permit, RateLimiter


def now() -> float:
    return asyncio.get_running_loop().time()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_fixed_limit_first_come_first_served() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(2, 512)
        order: list[int] = []

        async def call(i: int) -> None:
            permit = await limiter.acquire()
            order.append(i)
            assert limiter.in_flight <= 2
            await asyncio.sleep(1)
            limiter.release(permit)

        async with asyncio.TaskGroup() as group:
            for i in range(7):
                group.create_task(call(i))
            await settle()
            assert (limiter.in_flight, limiter.waiting) == (2, 5)
        assert order == list(range(7))
        assert now() == 4
        assert (limiter.in_flight, limiter.waiting) == (0, 0)

    run_virtual(main())


def test_a_released_permit_goes_to_the_next_at_once() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(1, 512)
        first = await limiter.acquire()
        waiter = asyncio.create_task(limiter.acquire())
        await settle()
        limiter.release(first)
        assert limiter.in_flight == 1  # nobody can slip in between
        late = asyncio.create_task(limiter.acquire())
        await settle()
        assert waiter.done()
        assert not late.done()
        late.cancel()

    run_virtual(main())


def test_a_repeated_call_goes_first() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(1, 512)
        held = await limiter.acquire()
        order: list[str] = []

        async def call(name: str, retry: bool) -> None:
            permit = await limiter.acquire(retry=retry)
            order.append(name)
            limiter.release(permit)

        async with asyncio.TaskGroup() as group:
            group.create_task(call("fresh", False))
            group.create_task(call("again", True))
            await settle()
            limiter.release(held)
        assert order == ["again", "fresh"]

    run_virtual(main())


def test_weights_and_requests_larger_than_the_limit() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(4, 512)
        large = await limiter.acquire(9)
        assert (large.weight, limiter.in_flight) == (4, 4)
        waiting = asyncio.create_task(limiter.acquire(3))
        small = asyncio.create_task(limiter.acquire(1))
        await settle()
        assert limiter.waiting == 4
        limiter.release(large)
        await settle()
        assert waiting.done()
        assert small.done()
        assert limiter.in_flight == 4

    run_virtual(main())


def test_cancelled_waiters_leave_no_trace() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(2, 512)
        held = await limiter.acquire()
        blocked = asyncio.create_task(limiter.acquire(2))
        behind = asyncio.create_task(limiter.acquire(1))
        await settle()
        assert not behind.done()  # first come, first served
        blocked.cancel()
        await settle()
        assert behind.done()
        third = asyncio.create_task(limiter.acquire())
        await settle()
        limiter.release(held)  # grants third ...
        third.cancel()  # ... which is cancelled before it runs
        await settle()
        assert (limiter.in_flight, limiter.waiting) == (1, 0)

    run_virtual(main())


def test_slow_start_is_over_in_less_than_a_second() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter("auto", 512)

        async def call() -> None:
            permit = await limiter.acquire()
            await asyncio.sleep(600)
            limiter.succeeded(permit)
            limiter.release(permit)

        async with asyncio.TaskGroup() as group:
            for _ in range(512):
                group.create_task(call())
            await settle()
            assert limiter.in_flight == START
            await asyncio.sleep(0.5)
            assert limiter.in_flight == 512
        assert limiter.limit == 512

    run_virtual(main())


class Refusing:
    """A server that answers up to `capacity` samples at a time after `answer_s` and refuses others after `refuse_s`.

    While `down` it refuses all."""

    def __init__(self, capacity: int, answer_s: float = 20.0, refuse_s: float = 0.05) -> None:
        self.capacity, self.answer_s, self.refuse_s = capacity, answer_s, refuse_s
        self.down = False
        self.busy = 0
        self.refused = 0
        self.answered = 0

    async def send(self, limiter: ConcurrencyLimiter, permit: Permit) -> bool:
        if self.down or self.busy >= self.capacity:
            self.refused += 1
            await asyncio.sleep(self.refuse_s)
            limiter.failed(permit, overload=True)
            return False
        self.busy += 1
        await asyncio.sleep(self.answer_s)
        self.busy -= 1
        self.answered += 1
        limiter.succeeded(permit)
        return True

    async def call(self, limiter: ConcurrencyLimiter, wait_s: float) -> None:
        """Asks until it is answered, waiting without a permit in between."""
        retry = False
        while True:
            permit = await limiter.acquire(retry=retry)
            answered = await self.send(limiter, permit)
            limiter.release(permit)
            if answered:
                return
            retry = True
            await asyncio.sleep(wait_s)


def test_finds_the_capacity_of_a_refusing_server() -> None:
    async def main() -> None:
        server, limiter = Refusing(64), ConcurrencyLimiter("auto", 512)
        async with asyncio.TaskGroup() as group:
            for _ in range(640):
                group.create_task(server.call(limiter, 1.0))
        # Ten full waves are the bound; slow growth is allowed to cost half as much again.
        assert now() < 1.5 * 10 * server.answer_s
        assert limiter.limit < 200

    run_virtual(main())


def test_one_burst_of_refusals_is_one_cut() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter("auto", 100)
        permits = [await limiter.acquire() for _ in range(START)]
        for permit in permits:
            limiter.failed(permit, overload=True)
            limiter.release(permit)
        assert limiter.limit == int(0.7 * START)

    run_virtual(main())


def test_steady_refusals_with_a_long_retry_after_do_not_freeze_it() -> None:
    async def main() -> None:
        server, limiter = Refusing(1000, answer_s=2.0), ConcurrencyLimiter("auto", 100)
        server.down = True
        async with asyncio.TaskGroup() as group:
            for _ in range(300):
                group.create_task(server.call(limiter, 89.0))
            await asyncio.sleep(60)
            assert limiter.limit == 1
            assert server.refused < 120  # probed, not stormed
            await asyncio.sleep(200)
            assert limiter.limit == 1
            server.down = False
            recovered = now()
            await asyncio.sleep(30)
            assert limiter.limit > 10
        assert now() - recovered < 89 + 60

    run_virtual(main())


def test_a_broken_connection_is_not_taken_for_overload() -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter("auto", 100)
        permit = await limiter.acquire()
        limiter.failed(permit, overload=False)
        limiter.release(permit)
        assert limiter.limit == START

    run_virtual(main())


@settings(max_examples=60, deadline=None)
@given(
    concurrency=st.one_of(st.integers(1, 6), st.just("auto")),
    calls=st.lists(
        st.tuples(st.integers(1, 9), st.integers(0, 30), st.sampled_from(["ok", "busy", "broken", "cancel"])),
        max_size=40,
    ),
)
def test_never_stuck_and_never_over_the_limit(concurrency: Any, calls: list[tuple[int, int, str]]) -> None:
    async def main() -> None:
        limiter = ConcurrencyLimiter(concurrency, 8)

        async def call(weight: int, ticks: int, end: str) -> None:
            permit = await limiter.acquire(weight, retry=ticks % 5 == 0)
            assert limiter.limit >= 1
            assert permit.weight >= 1
            try:
                await asyncio.sleep(ticks / 10)
                if end == "ok":
                    limiter.succeeded(permit)
                elif end != "cancel":
                    limiter.failed(permit, overload=end == "busy")
            finally:
                limiter.release(permit)

        async with asyncio.timeout(3600), asyncio.TaskGroup() as group:
            for weight, ticks, end in calls:
                task = group.create_task(call(weight, ticks, end))
                if end == "cancel":
                    asyncio.get_running_loop().call_later(ticks / 20, task.cancel)
        assert (limiter.in_flight, limiter.waiting) == (0, 0)

    run_virtual(main())


def paced(work: Callable[[RateLimiter], Coroutine[Any, Any, None]], **limits: float | None) -> float:
    async def main() -> float:
        await work(RateLimiter(limits.get("requests"), limits.get("tokens")))
        return now()

    return run_virtual(main())


@pytest.mark.parametrize(("requests", "least", "most"), [(60.0, 59.0, 62.0), (0.5, 119 * 120.0, 119 * 120.0 + 1)])
def test_requests_a_minute(requests: float, least: float, most: float) -> None:
    async def work(limiter: RateLimiter) -> None:
        for _ in range(120):
            await limiter.reserve(10, 10, 1)

    assert least <= paced(work, requests=requests) <= most


def test_token_reservations_are_corrected() -> None:
    async def work(limiter: RateLimiter) -> None:
        for _ in range(40):
            reserved = await limiter.reserve(100, 40_000, 1)
            limiter.settle(reserved, 100, 400, 1)

    # 40 x 500 tokens: the first minute's 10 000 go at once, the others take a minute more.
    assert 50 <= paced(work, tokens=10_000.0) <= 70


def test_failed_requests_give_their_tokens_back() -> None:
    async def work(limiter: RateLimiter) -> None:
        for _ in range(50):
            limiter.settle(await limiter.reserve(100, 20_000, 1), 0, 0, 0)

    assert paced(work, tokens=10_000.0) < 1


def test_no_rate_limit_never_waits() -> None:
    async def work(limiter: RateLimiter) -> None:
        for _ in range(1000):
            limiter.settle(await limiter.reserve(10**6, 10**6, 8), 10**6, 10**6, 8)

    assert paced(work) == 0
