"""The client against the mock server's faults."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from maxproof.models.client import ChatClient, ChatReply, ChatRequest
from maxproof.models.mock import FaultPlan, Latency, MockReply, MockServer, Replies
from maxproof.models.retry import RetryPolicy
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import CallFailed, FailureKind, Message, Sampling

FAST = RetryPolicy(base_s=0.02, cap_s=0.1, patience_s=0.5)
PROMPT = (Message("system", "You prove."), Message("user", "Prove it."))


def request(n: int = 1, seed: int | None = 7, model: str = "", prompt: str = "Prove it.") -> ChatRequest:
    return ChatRequest(model, (PROMPT[0], Message("user", prompt)), Sampling(max_tokens=500), n=n, seed=seed)


def client(server: MockServer, *, retry: RetryPolicy = FAST, **settings: object) -> ChatClient:
    values = {"base_url": server.base_url, "model": "mock", "timeout_s": 10.0, **settings}
    return ChatClient("default", EndpointSettings.model_validate(values), retry=retry)


async def failure(server: MockServer, *, ask: ChatRequest | None = None, **settings: object) -> CallFailed:
    async with client(server, **settings) as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(ask or request())
        assert (chat.in_flight, chat.waiting) == (0, 0)
    assert caught.value.endpoint == "default"
    return caught.value


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)


async def all_of(chat: ChatClient, count: int) -> list[ChatReply]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(chat.complete(request(prompt=f"Prove {i}."))) for i in range(count)]
    return [task.result() for task in tasks]


PASSING = ["408", "409", "429", "500", "502", "503", "504", "529", "reset", "half", "bad-json", "wrong-json", "html"]


@pytest.mark.parametrize("fault", PASSING)
async def test_passing_faults_are_asked_again(fault: str) -> None:
    async with MockServer(Replies(), faults=FaultPlan.parse([f"{fault}@first=2"])) as server, client(server) as chat:
        reply = await chat.complete(request())
    assert reply.answers[0].text == "A reply."
    assert reply.attempts == 3


async def test_storm_of_429s() -> None:
    faults = FaultPlan.parse(["429@to-s=1"])
    async with (
        MockServer(Replies(), faults=faults, latency=Latency(0.01)) as server,
        client(server, timeout_s=60.0) as chat,
    ):
        replies = await all_of(chat, 60)
        assert len(replies) == 60
        assert server.stats.samples == 60
        assert server.stats.faults["429"] < 300  # refused calls hold back
        assert (chat.in_flight, chat.waiting) == (0, 0)


async def test_over_capacity_is_refused_and_all_get_through() -> None:
    faults = FaultPlan.parse(["429@over=20"])
    async with MockServer(Replies(), faults=faults, latency=Latency(0.05)) as server, client(server) as chat:
        assert len(await all_of(chat, 200)) == 200
        assert server.stats.faults["429"] > 0
        assert chat.concurrency < 200


async def test_retry_after_is_waited_for() -> None:
    faults = FaultPlan.parse(["429@first=1,retry-after=1"])
    async with MockServer(Replies(), faults=faults) as server, client(server) as chat:
        reply = await chat.complete(request())
    assert reply.attempts == 2
    assert reply.latency_s >= 1


async def test_retry_after_beyond_the_deadline_fails_at_once() -> None:
    started = time.monotonic()
    async with MockServer(Replies(), faults=FaultPlan.parse(["429@retry-after=90"])) as server:
        error = await failure(server, timeout_s=60.0)
        assert server.stats.requests == 1
    assert error.kind is FailureKind.OVERLOADED
    assert "90 s" in error.message
    assert "timeout_s" in error.message
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("hang", "timeout"), ("stall", "timeout"), ("drip@seconds=60", "timeout"), ("503", "overloaded")],
)
async def test_the_deadline_ends_everything(fault: str, kind: str) -> None:
    started = time.monotonic()
    async with MockServer(Replies(), faults=FaultPlan.parse([fault])) as server:
        error = await failure(server, timeout_s=0.6)
    assert error.kind == kind
    assert time.monotonic() - started < 20


async def test_waiting_for_a_permit_does_not_eat_the_deadline() -> None:
    async with (
        MockServer(Replies(), latency=Latency(0.3, sigma=0)) as server,
        client(server, concurrency=1, timeout_s=1.5) as chat,
    ):
        replies = await all_of(chat, 7)
    assert len(replies) == 7
    assert all(reply.latency_s < 1.5 for reply in replies)


async def test_a_repeated_call_goes_before_those_that_wait() -> None:
    script = Replies()
    faults = FaultPlan.parse(["429@first=1"])
    async with (
        MockServer(script, faults=faults, latency=Latency(0.3, sigma=0)) as server,
        client(server, concurrency=1) as chat,
    ):
        await all_of(chat, 5)
    assert [seen.messages[-1]["content"] for seen in script.seen[:3]] == ["Prove 1.", "Prove 0.", "Prove 2."]


async def test_a_silent_server_lowers_the_concurrency() -> None:
    async with (
        MockServer(Replies(), faults=FaultPlan.parse(["hang"])) as server,
        client(server, timeout_s=0.3) as chat,
    ):
        before = chat.concurrency
        with pytest.raises(CallFailed):
            await chat.complete(request())
        assert chat.concurrency < before


@pytest.mark.parametrize("status", [501, 505])
async def test_what_a_server_can_t_do_is_not_asked_again(status: int) -> None:
    async with MockServer(Replies(), faults=FaultPlan.parse([str(status)])) as server:
        error = await failure(server, timeout_s=3600.0)
        assert server.stats.requests == 1
    assert error.kind is FailureKind.REJECTED
    assert f"HTTP {status}" in error.message


@pytest.mark.parametrize("fault", ["500", "reset", "bad-json", "half", "wrong-json"])
async def test_lasting_faults_end_before_a_long_deadline(fault: str) -> None:
    kinds = {"500": "overloaded", "bad-json": "bad_reply", "wrong-json": "bad_reply"}
    async with MockServer(Replies(), faults=FaultPlan.parse([fault])) as server:
        error = await failure(server, timeout_s=3600.0)
        assert server.stats.requests == error.attempts >= 3
    assert error.kind == kinds.get(fault, "connection")


async def test_an_endpoint_that_dies_for_good() -> None:
    async with MockServer(Replies(), latency=Latency(0.02)) as server, client(server, timeout_s=3600.0) as chat:
        assert len(await all_of(chat, 10)) == 10
        await server.die()

        async def fails() -> None:
            with pytest.raises(CallFailed) as caught:
                await chat.complete(request())
            assert caught.value.kind is FailureKind.CONNECTION
            assert "127.0.0.1" in caught.value.message

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(fails())


async def test_300_asked_are_300_in_flight() -> None:
    async with (
        MockServer(Replies(), latency=Latency(60.0, sigma=0)) as server,
        client(server, timeout_s=120.0) as chat,
        asyncio.TaskGroup() as group,
    ):
        tasks = [group.create_task(chat.complete(request(prompt=str(i)))) for i in range(300)]
        await until(lambda: server.stats.in_flight == 300)
        assert chat.in_flight == 300
        for task in tasks:
            task.cancel()


async def test_cancelling_a_call_frees_its_place() -> None:
    async with (
        MockServer(Replies(), faults=FaultPlan.parse(["hang@first=1"])) as server,
        client(server, concurrency=1) as chat,
    ):
        task = asyncio.create_task(chat.complete(request()))
        await until(lambda: server.stats.requests == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await chat.complete(request())).attempts == 1


async def test_a_slow_call_is_hedged() -> None:
    async with (
        MockServer(Replies(), faults=FaultPlan.parse(["hang@first=1"])) as server,
        client(server, hedge_after_s=0.1) as chat,
    ):
        reply = await chat.complete(request())
        assert reply.attempts == 2
        assert chat.in_flight == 0
        await until(lambda: server.stats.in_flight == 0)  # the loser is cancelled at the server too


async def test_no_hedge_by_default() -> None:
    async with MockServer(Replies(), latency=Latency(0.3, sigma=0)) as server, client(server) as chat:
        await chat.complete(request())
        assert server.stats.requests == 1


async def test_hedging_a_permanent_failure_keeps_its_reason() -> None:
    async with MockServer(Replies(), faults=FaultPlan.parse(["404"])) as server:
        error = await failure(server, hedge_after_s=5.0)
    assert error.kind is FailureKind.PERMANENT


async def test_requests_a_minute_are_kept() -> None:
    async with MockServer(Replies()) as server, client(server, requests_per_minute=3.0) as chat:
        tasks = [asyncio.create_task(chat.complete(request(prompt=str(i)))) for i in range(5)]
        await asyncio.wait(tasks, timeout=0.5)
        assert server.stats.requests == 3
        assert (chat.in_flight, chat.waiting) == (0, 2)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_an_answer_is_never_asked_for_twice() -> None:
    script = Replies(default=MockReply("", reasoning="hmm " * 2000, finish_reason="length"))
    async with MockServer(script) as server, client(server) as chat:
        reply = await chat.complete(request())
        assert server.stats.requests == 1
    assert reply.answers[0].state == "truncated"
    assert reply.answers[0].usage.completion_tokens > 0


async def test_trouble_is_told_while_it_lasts() -> None:
    faults = FaultPlan.parse(["503@first=3,message=busy"])
    async with MockServer(Replies(), faults=faults) as server, client(server) as chat:
        task = asyncio.create_task(chat.complete(request()))
        while not chat.trouble:
            assert not task.done()
            await asyncio.sleep(0.001)
        assert chat.trouble.startswith("default: overloaded: HTTP 503: busy")
        await task
        assert chat.trouble == ""
