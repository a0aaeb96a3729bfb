"""The mock server: OpenAI-compatible chat completions from a script, with latencies and injected faults.

    async with MockServer(SimulatedModel(seed=1), faults=FaultPlan.parse(["429@0.1,retry-after=1"])) as server:
        ...  # talk to server.base_url
        assert server.stats.peak_in_flight == 64

Routes: POST /v1/chat/completions, GET /v1/models, GET /health, GET /stats.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import math
import socket
import struct
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from aiohttp import web

from maxproof.models.mock.faults import Arrival, Fault, FaultPlan
from maxproof.models.mock.replies import (
    HTML_ERROR,
    chunks,
    completion,
    encode,
    error_body,
    estimate_tokens,
    total_usage,
)
from maxproof.models.mock.script import MockReply, MockRequest, Script, content_text, request_key
from maxproof.models.mock.settings import Features, Latency
from maxproof.models.mock.simulate import SimulatedModel
from maxproof.problems.errors import InputError

_DEFAULT_SCRIPT = SimulatedModel()
_NO_FAULTS = FaultPlan()
_NO_LATENCY = Latency()
_ALL_FEATURES = Features()
_MAX_BODY_BYTES = 256 * 2**20
_CACHE_BLOCK_CHARS = 512
_CACHE_BLOCKS = 200_000


@dataclass(slots=True)
class Stats:
    """What a server has seen.

    Attributes:
        requests: chat requests that arrived, faulty ones included.
        samples: choices sent.
        in_flight, peak_in_flight: chat requests that arrived and are not answered, now and at most.
        by_task: samples by task.
        statuses: answers by HTTP status; a request that got no status at all is only in `faults`.
        faults: injected faults by name.
        prompt_tokens, completion_tokens, cached_tokens: as the server counts them, of answered requests.
    """

    requests: int = 0
    samples: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0
    by_task: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


class MockServer:
    """An async context manager around a listening server.

    Args:
        script: what the model says; by default a `SimulatedModel`.
        faults: what goes wrong.
        latency: how long answers take.
        max_concurrency: requests answered at a time; further ones wait in order of arrival. None: no cap.
        features: which parts of the interface the server has.
        host, port: where to listen; port 0 takes a free one.

    Raises InputError on entry when it can't listen there.
    """

    def __init__(
        self,
        script: Script = _DEFAULT_SCRIPT,
        *,
        faults: FaultPlan = _NO_FAULTS,
        latency: Latency = _NO_LATENCY,
        max_concurrency: int | None = None,
        features: Features = _ALL_FEATURES,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.stats = Stats()
        self._script = script
        self._faults = faults
        self._latency = latency
        self._features = features
        self._host, self._port = host, port
        self._slots = asyncio.Semaphore(max_concurrency) if max_concurrency is not None else None
        self._arrivals: Counter[str] = Counter()
        self._drawn: Counter[str] = Counter()
        self._cache: set[bytes] = set()
        self._first_arrival: float | None = None
        self._closing = asyncio.Event()
        self._dead = False

    @property
    def base_url(self) -> str:
        """`http://HOST:PORT/v1`."""
        return f"http://{self._host}:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        app.router.add_get("/stats", self._show_stats)
        # A client that goes away frees its place, as on a real server.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, self._host, self._port, backlog=2048)
        try:
            await self._site.start()
        except OSError as error:
            await self._runner.cleanup()
            place = f"{self._host}:{self._port}"
            raise InputError(f"can't listen on {place}: {error.strerror}", hint="choose another port") from error
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def die(self) -> None:
        """Resets every connection and stops listening, for good."""
        self._dead = True
        await self._site.stop()
        assert self._runner.server is not None
        for connection in self._runner.server.connections:
            _reset(connection.transport)

    async def _models(self, request: web.Request) -> web.Response:
        if (refused := self._unauthorised(request)) is not None:
            return refused
        data = [{"id": name, "object": "model", "owned_by": "mock"} for name in self._features.models]
        return _json(200, encode({"object": "list", "data": data}))

    async def _health(self, request: web.Request) -> web.Response:
        return _json(200, b'{"status":"ok"}')

    async def _show_stats(self, request: web.Request) -> web.Response:
        return _json(200, encode({name: getattr(self.stats, name) for name in Stats.__slots__}))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self._dead:
            return await self._reset(request)
        stats = self.stats
        stats.requests += 1
        number = stats.requests
        if self._first_arrival is None:
            self._first_arrival = time.monotonic()
        stats.in_flight += 1
        stats.peak_in_flight = max(stats.peak_in_flight, stats.in_flight)
        try:
            response = await self._answer(request, number)
            stats.statuses[response.status] += 1
            return response
        finally:
            stats.in_flight -= 1

    async def _answer(self, request: web.Request, number: int) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
            messages = [content_text(message) for message in body["messages"]]
        except (ValueError, TypeError, KeyError, AttributeError):
            return _json(400, error_body(400, "The body is not a JSON object with a list of messages."))
        key = request_key(body)
        sample = MockRequest(number, body, request.headers, 0, key)
        fault = self._faults.pick(self._arrival(sample))
        if fault is None and (refused := self._unauthorised(request) or self._refused(body, messages)) is not None:
            return refused
        if fault is not None and fault.kind not in ("half", "stall", "drip"):
            return await self._fail(fault, request)
        if self._slots is None:
            return await self._complete(request, sample, messages, fault)
        async with self._slots:
            return await self._complete(request, sample, messages, fault)

    def _arrival(self, request: MockRequest) -> Arrival:
        repeat = self._arrivals[request.key]
        self._arrivals[request.key] += 1
        assert self._first_arrival is not None
        seconds = time.monotonic() - self._first_arrival
        return Arrival(request.number, request.key, repeat, self.stats.in_flight, seconds, request.task)

    async def _complete(
        self, request: web.Request, asked: MockRequest, messages: list[str], fault: Fault | None
    ) -> web.StreamResponse:
        count = int(asked.body.get("n") or 1) if self._features.n == "supported" else 1
        first = 0
        if asked.seed is None:  # without a seed, the same request again asks for new samples
            first = self._drawn[asked.key]
            self._drawn[asked.key] += count
        replies: list[MockReply] = []
        latency = 0.0
        limit = asked.body.get("max_completion_tokens") or asked.body.get("max_tokens") or math.inf
        for index in range(first, first + count):
            sample = replace(asked, sample=index) if index else asked
            said = self._script(sample)
            reply = await said if inspect.isawaitable(said) else said
            if isinstance(reply, Fault):
                return await self._fail(reply, request)
            latency = max(latency, self._latency.seconds(sample) if reply.latency_s is None else reply.latency_s)
            replies.append(_limited(reply, limit))
        if latency > 0:
            await asyncio.sleep(latency)
        prompt_tokens = sum(map(estimate_tokens, messages))
        cached = self._cached_tokens("\0".join(messages)) if self._features.cached_tokens else 0
        usage = total_usage(replies, prompt_tokens, min(cached, prompt_tokens))
        self._count(asked.task, len(replies))
        self.stats.prompt_tokens += usage.prompt_tokens
        self.stats.completion_tokens += usage.completion_tokens
        self.stats.cached_tokens += usage.cached_tokens
        if asked.body.get("stream"):
            parts = chunks(asked.number, asked.body, replies, usage, self._features)
            return await self._send(request, b"".join(parts), fault, "text/event-stream")
        body = completion(asked.number, asked.model, replies, usage, self._features)
        if fault is not None:
            return await self._send(request, body, fault, "application/json")
        return _json(200, body)

    def _count(self, task: str, samples: int) -> None:
        self.stats.samples += samples
        self.stats.by_task[task] += samples

    def _cached_tokens(self, prompt: str) -> int:
        """Tokens of the longest block-aligned prefix that an earlier prompt had; remembers this prompt's."""
        if len(self._cache) > _CACHE_BLOCKS:
            self._cache.clear()
        chain, cached, hit = hashlib.sha256(), 0, True
        for at in range(0, len(prompt) - _CACHE_BLOCK_CHARS + 1, _CACHE_BLOCK_CHARS):
            chain.update(prompt[at : at + _CACHE_BLOCK_CHARS].encode("utf-8", "surrogatepass"))
            digest = chain.digest()
            hit = hit and digest in self._cache
            cached += _CACHE_BLOCK_CHARS // 4 if hit else 0
            self._cache.add(digest)
        return cached

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        key = self._features.api_key
        if key is None or request.headers.get("Authorization") == f"Bearer {key}":
            return None
        return _json(401, error_body(401, code="invalid_api_key"))

    def _refused(self, body: Mapping[str, Any], messages: list[str]) -> web.Response | None:
        """A 400 for what this server does not support."""
        features = self._features
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or 0
        prompt = sum(map(estimate_tokens, messages))
        message, code = "", None
        if features.n == "refused" and (body.get("n") or 1) > 1:
            message = "Only one completion choice is allowed"
        elif not features.system_role and any(m.get("role") == "system" for m in body["messages"]):
            message = "System role not supported"
        elif not features.seed and "seed" in body:
            message = "Unrecognized request argument supplied: seed"
        elif features.max_completion_tokens_only and "max_tokens" in body:
            message = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            )
            code = "unsupported_parameter"
        elif features.context_tokens is not None and prompt + limit > features.context_tokens:
            message = (
                f"This model's maximum context length is {features.context_tokens} tokens. However, you requested "
                f"{prompt + limit} tokens ({prompt} in the messages, {limit} in the completion). Please reduce the "
                "length of the messages or completion."
            )
            code = "context_length_exceeded"
        return _json(400, error_body(400, message, code)) if message else None

    async def _fail(self, fault: Fault, request: web.Request) -> web.StreamResponse:
        """A fault that needs no right answer."""
        self.stats.faults[fault.name] += 1
        match fault.kind:
            case "hang":
                await self._closing.wait()
                return await self._reset(request)
            case "reset":
                return await self._reset(request)
            case "die":
                await self.die()
                return await self._reset(request)
            case "bad-json":
                return _json(200, b'{"id": "chatcmpl-mock", "choices": [{"message": ')
            case "wrong-json":
                return _json(200, b'{"ok": true, "result": []}')
            case "html":
                return web.Response(
                    status=fault.status, text=HTML_ERROR.format(status=fault.status), content_type="text/html"
                )
        response = _json(fault.status, error_body(fault.status, fault.message))
        if fault.retry_after is not None:
            value = fault.retry_after
            response.headers["Retry-After"] = f"{value:g}" if isinstance(value, float | int) else value
        return response

    async def _send(
        self, request: web.Request, body: bytes, fault: Fault | None, content_type: str
    ) -> web.StreamResponse:
        """Sends `body` as it is, or cut, stalled or in drips."""
        response = web.StreamResponse(headers={"Content-Type": content_type})
        if content_type != "text/event-stream":
            response.content_length = len(body)
        await response.prepare(request)
        if fault is None:
            await response.write(body)
            return response
        self.stats.faults[fault.name] += 1
        if fault.kind == "drip":
            pieces = max(1, min(len(body), int(fault.seconds / 0.05)))
            size = -(-len(body) // pieces)
            for at in range(0, len(body), size):
                await response.write(body[at : at + size])
                await asyncio.sleep(fault.seconds / pieces)
            return response
        await response.write(body[: len(body) // 2])
        if fault.kind == "stall":
            await self._closing.wait()
        elif request.transport is not None:
            request.transport.close()
        return response

    async def _reset(self, request: web.Request) -> web.Response:
        _reset(request.transport)
        await self._closing.wait()  # the closed connection cancels this handler
        return web.Response(status=500)


def _limited(reply: MockReply, max_tokens: float) -> MockReply:
    """`reply` cut to `max_tokens`, thinking first, with `length` as its finish reason."""
    if reply.usage is not None or estimate_tokens(reply.reasoning) + estimate_tokens(reply.text) <= max_tokens:
        return reply
    chars = int(max_tokens) * 4
    left = max(0, chars - len(reply.reasoning))
    return replace(reply, reasoning=reply.reasoning[:chars], text=reply.text[:left], finish_reason="length")


def _json(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json")


def _reset(transport: asyncio.BaseTransport | None) -> None:
    """Ends a connection with RST instead of FIN."""
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert isinstance(transport, asyncio.Transport)
    transport.abort()
