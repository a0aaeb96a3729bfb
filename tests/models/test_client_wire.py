"""What goes over the wire and what must not come back from it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from maxproof.models import transport
from maxproof.models.client import ChatClient, ChatRequest
from maxproof.models.retry import RetryPolicy
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import AnswerState, CallFailed, FailureKind, Message, Sampling
from maxproof.problems import InputError

KEY = "sk-proof-0123456789abcdefghij"
FAST = RetryPolicy(base_s=0.02, cap_s=0.1, patience_s=0.3)
REQUEST = ChatRequest("m", (Message("user", "Prove ∀x. ☃"),), Sampling())
GOOD = {"choices": [{"message": {"content": "Proof."}, "finish_reason": "stop"}]}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(handler: Handler, models: Handler | None = None) -> AsyncIterator[str]:
    app = web.Application(client_max_size=2**28)
    app.router.add_post("/v1/chat/completions", handler)
    if models is not None:
        app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def client(url: str, **settings: object) -> ChatClient:
    values = {"base_url": url, "model": "m", "timeout_s": 10.0, "api_key_env": "PROOF_KEY", **settings}
    return ChatClient("default", EndpointSettings.model_validate(values), retry=FAST)


async def failure(url: str, **settings: object) -> CallFailed:
    async with client(url, **settings) as chat:
        with pytest.raises(CallFailed) as caught:
            await chat.complete(REQUEST)
    return caught.value


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOF_KEY", KEY)


async def test_request_and_bodies() -> None:
    seen: list[tuple[str | None, bytes]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.headers.get("Authorization"), await request.read()))
        return web.json_response(GOOD)

    async with served(handler) as url, client(url + "/") as chat:
        reply = await chat.complete(REQUEST)
    assert seen == [(f"Bearer {KEY}", reply.request_body)]
    assert "Prove ∀x. ☃" in reply.request_body.decode()
    assert b'"Proof."' in reply.response_body
    assert reply.latency_s > 0


async def test_no_key_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROOF_KEY")
    seen: list[str | None] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response(GOOD)

    async with served(handler) as url, client(url) as chat:
        await chat.complete(REQUEST)
    assert seen == [None]


@pytest.mark.parametrize(
    "echo",
    [
        f"invalid key {KEY}",
        f"invalid key {KEY[:12]}...",
        f"invalid key ****{KEY[-9:]}",
        f"headers: {{'Authorization': 'Bearer {KEY}'}}",
    ],
)
async def test_an_echoed_key_is_cut_out(echo: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": echo}}, status=401)

    async with served(handler) as url:
        error = await failure(url)
    assert error.kind is FailureKind.PERMANENT
    text = "".join(traceback.format_exception(error)) + repr(error)
    assert "[key]" in error.message
    assert KEY not in text
    assert KEY[:8] not in text
    assert KEY[-8:] not in text


async def test_an_echoed_key_is_cut_out_of_answers_too() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"choices": [{"message": {"content": f"Your key is {KEY}."}}]})

    async with served(handler) as url, client(url) as chat:
        reply = await chat.complete(REQUEST)
        assert KEY not in repr(chat)
    assert reply.answers[0].text == "Your key is [key]."
    assert KEY.encode() not in reply.response_body


@pytest.mark.parametrize("how", ["closed", "garbage", "half"])
async def test_broken_exchanges_hold_no_key(how: str) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        if how == "garbage":
            request.transport.write(b"220 mail.example ESMTP\r\n\r\n")
        if how == "half":
            request.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        request.transport.close()
        return web.Response()

    async with served(handler) as url:
        error = await failure(url)
    chain: BaseException | None = error
    while chain is not None:
        assert KEY not in repr(chain)
        chain = chain.__context__
    assert error.kind in (FailureKind.CONNECTION, FailureKind.BAD_REPLY)


async def test_redirects_are_not_followed() -> None:
    followed: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        followed.append(request.path)
        return web.json_response(GOOD)

    async with served(elsewhere) as other:

        async def handler(request: web.Request) -> web.Response:
            raise web.HTTPTemporaryRedirect(f"{other}/chat/completions")

        async with served(handler) as url:
            error = await failure(url)
    assert followed == []
    assert error.kind is FailureKind.PERMANENT
    assert other in error.message
    assert "base_url" in error.message


async def test_large_bodies_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 3 * 2**20)
    sizes: list[int] = []

    async def handler(request: web.Request) -> web.Response:
        sizes.append(len(await request.read()))
        text = "x" * (2 * 2**20 if len(sizes) == 1 else 4 * 2**20)
        return web.json_response({"choices": [{"message": {"content": text}}]})

    async with served(handler) as url, client(url) as chat:
        big = ChatRequest("m", (Message("user", "y" * (2 * 2**20)),), Sampling())
        reply = await chat.complete(big)
        assert sizes == [len(reply.request_body)]
        assert len(reply.answers[0].text) == 2 * 2**20
        with pytest.raises(CallFailed, match="more than 3 MiB") as caught:
            await chat.complete(big)
    assert caught.value.kind is FailureKind.BAD_REPLY


async def test_retry_after_as_a_date_by_the_servers_clock() -> None:
    calls = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        if calls > 1:
            return web.json_response(GOOD)
        there = datetime(2031, 1, 1, tzinfo=UTC)  # a clock that is years ahead
        later = format_datetime(there + timedelta(seconds=1), usegmt=True)
        headers = {"Retry-After": later, "Date": format_datetime(there, usegmt=True)}
        return web.json_response({}, status=503, headers=headers)

    async with served(handler) as url, client(url) as chat:
        reply = await chat.complete(REQUEST)
    assert reply.attempts == 2
    assert reply.latency_s >= 1


@pytest.mark.parametrize(("code", "kind"), [(429, "overloaded"), ("503", "overloaded"), (403, "permanent")])
async def test_errors_inside_a_200(code: object, kind: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "upstream", "code": code}})

    async with served(handler) as url:
        error = await failure(url, timeout_s=0.3)
    assert error.kind == kind


async def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    listed = 0

    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "The model `m` does not exist."}}, status=404)

    async def models(request: web.Request) -> web.Response:
        nonlocal listed
        listed += 1
        return web.json_response({"data": [{"id": "alpha"}, {"id": "beta"}]})

    async with served(handler, models) as url, client(url) as chat:
        for _ in range(3):
            with pytest.raises(CallFailed, match=r"change the model name 'm'.*the server has: alpha, beta"):
                await chat.complete(REQUEST)
    assert listed == 1


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (404, {"detail": "Not Found"}, "permanent", "base_url"),
        (403, {"error": "forbidden"}, "permanent", "PROOF_KEY"),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}, "rejected", "messages: Field"),
        (400, {"message": "prompt is too long: 9 tokens > 8 maximum"}, "context_length", "shorten the prompt"),
        (400, {"error": {"code": "context_length_exceeded", "message": "too much"}}, "context_length", "max_tokens"),
        (429, {"error": {"type": "insufficient_quota", "message": "pay"}}, "permanent", "credit"),
        (413, "<html>", "context_length", "shorten the prompt"),
        (402, {"error": "pay"}, "permanent", "credit"),
        (400, "\x1b[31mred\x1b[0m\nand so on" * 100, "rejected", "HTTP 400"),
    ],
)
async def test_what_a_user_can_change_is_said_and_not_retried(status: int, body: object, kind: str, says: str) -> None:
    calls = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        return web.json_response(body, status=status)

    async with served(handler) as url:
        error = await failure(url)
    assert (error.kind, error.attempts, calls) == (kind, 1, 1)
    assert says in error.message
    assert error.message.isprintable()
    assert len(error.message) < 1000


async def test_a_prompt_that_a_content_filter_refused_is_a_refusal() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"code": "content_filter", "message": "filtered"}}, status=400)

    async with served(handler) as url, client(url) as chat:
        reply = await chat.complete(ChatRequest("m", REQUEST.messages, REQUEST.sampling, n=2))
    assert [answer.state for answer in reply.answers] == [AnswerState.REFUSED] * 2
    assert reply.attempts == 1


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8000/v1", "no http or https URL"),
        ("ftp://host/v1", "no http or https URL"),
        ("", "no http or https URL"),
        ("http://host/v1/chat/completions", "leave that part off"),
        ("http://user:pass@host/v1", "PROOF_KEY"),
    ],
)
def test_bad_base_urls(url: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        client(url)
    assert "pass@" not in str(caught.value)


async def test_a_key_that_no_header_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOF_KEY", "sk-abc\ndef")
    with pytest.raises(InputError, match="PROOF_KEY") as caught:
        async with client("http://127.0.0.1:9/v1"):
            pass
    assert "abc" not in str(caught.value)


async def ask_unnamed(url: str, calls: int) -> list[str]:
    """What became of calls, made together, that name no model: an answer's text or a failure's message."""
    found: list[str] = []

    async def ask(chat: ChatClient) -> None:
        try:
            reply = await chat.complete(ChatRequest("", REQUEST.messages, Sampling()))
            found.append(reply.answers[0].text)
        except CallFailed as failed:
            found.append(failed.message)

    async with client(url, model="", timeout_s=1.0) as chat, asyncio.TaskGroup() as group:
        for _ in range(calls):
            group.create_task(ask(chat))
    return found


async def test_a_server_that_still_loads_its_model_is_asked_again() -> None:
    asked = 0

    async def models(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        if asked <= 2:
            return web.json_response({"error": {"message": "Loading model"}}, status=503)
        return web.json_response({"data": [{"id": "m"}]})

    async def handler(request: web.Request) -> web.Response:
        return web.json_response(GOOD)

    async with served(handler, models) as url:
        assert await ask_unnamed(url, 5) == ["Proof."] * 5
    assert asked == 3


async def test_calls_that_wait_for_one_list_of_models_fail_together() -> None:
    asked = 0

    async def models(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.1)
        return web.Response(status=404)

    async def handler(request: web.Request) -> web.Response:
        return web.json_response(GOOD)

    async with served(handler, models) as url:
        found = await ask_unnamed(url, 5)
    assert asked == 1
    assert len(found) == 5
    assert all("GET /models" in message for message in found)
