"""The chat client: one OpenAI-compatible endpoint, raw bodies for the journal, our own retries.

    async with ChatClient("default", settings) as client:
        reply = await client.complete(ChatRequest("", messages, Sampling(), n=4, seed=7))

One deadline (`timeout_s`) bounds a call from the first byte it sends: all attempts, the waits between them, and the
wait for a permit before a repeated attempt. Waiting for the first permit does not count, as that is the length of our
own queue. A permit is held while a request is in flight and not between attempts.

An HTTP exchange that ends in a chat completion is never repeated, whatever the answer says.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from random import Random
from types import TracebackType
from typing import Self

from maxproof.models.adapt import WITHOUT_N, adaptation_for, encode, request_body
from maxproof.models.chat import ChatReply, ChatRequest, EndpointCheck
from maxproof.models.failures import ServerError, error_in_success, failed_attempt, read_server_error, redirected
from maxproof.models.hedge import hedged
from maxproof.models.limits import ConcurrencyLimiter, Permit, RateLimiter
from maxproof.models.reply import declined_answers, estimate_tokens, parse_models, parse_reply
from maxproof.models.retry import AttemptFailed, RetryPolicy, with_retries
from maxproof.models.settings import EndpointSettings
from maxproof.models.transport import Received, Transport
from maxproof.models.types import Answer, CallFailed, FailureKind, Message, Sampling

__all__ = ["ChatClient", "ChatReply", "ChatRequest", "EndpointCheck"]

CHECK_S = 60.0
_LISTING_S = 20.0


@dataclass(slots=True)
class _Exchange:
    """The state of one call while it runs."""

    request: ChatRequest
    deadline: asyncio.Timeout
    timeout_s: float
    prompt_tokens: int
    started: float = 0.0
    attempts: int = 0
    last_failure: AttemptFailed | None = None
    cut: bool = False  # the deadline fell while a request was at the server


class ChatClient:
    """One endpoint, open inside `async with`.

    Args:
        name: the endpoint's name in the configuration; failures carry it.
        base_url: overrides the one of `settings`, for a server that this process started.
        seed: of the jitter between retries; no answer depends on it.

    Raises:
        InputError: for a base URL or key that can't be right.
    """

    def __init__(
        self,
        name: str,
        settings: EndpointSettings,
        *,
        base_url: str | None = None,
        seed: int = 0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self._policy = retry or RetryPolicy()
        self._transport = Transport(name, base_url or settings.base_url, settings.api_key_env)
        self._limiter = ConcurrencyLimiter(settings.concurrency, settings.max_concurrency)
        self._rate = RateLimiter(settings.requests_per_minute, settings.tokens_per_minute)
        self._random = Random(hashlib.sha256(f"{seed}\0{name}\0retry".encode()).digest())
        self._adaptations: dict[str, None] = {}  # in the order in which they were made
        self._models: tuple[str, ...] | None = None
        self._listing = asyncio.Lock()
        self._listing_failures: list[AttemptFailed | CallFailed] = []
        self._trouble = ""

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, trace)

    @property
    def in_flight(self) -> int:
        """Samples in flight at the server."""
        return max(0, self._limiter.in_flight - self._rate.waiting)

    @property
    def waiting(self) -> int:
        """Samples that wait for a permit or for the rate limit."""
        return self._limiter.waiting + self._rate.waiting

    @property
    def trouble(self) -> str:
        """The last failed attempt, retries included, as long as nothing has succeeded since; holds no key."""
        return self._trouble

    @property
    def concurrency(self) -> int:
        """Samples that may be in flight now."""
        return self._limiter.limit

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What was learnt about this endpoint so far."""
        return tuple(self._adaptations)

    @property
    def supports_n(self) -> bool:
        """Several samples are asked for in one request: set so, or nothing was seen that speaks against it."""
        return self.settings.n_samples == "on" or (
            self.settings.n_samples == "auto" and WITHOUT_N not in self._adaptations
        )

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Asks for `request.n` samples; a server that can't give several at once gives the first of them.

        Raises:
            CallFailed: when there is no answer at all.
        """
        reply = await self._one(request)
        if len(reply.answers) < request.n and self.settings.n_samples == "auto":
            self._adaptations.setdefault(WITHOUT_N)
        return reply

    async def models(self) -> list[str]:
        """The names of the models that the server offers, in its order.

        Raises:
            CallFailed: when the server can't be asked or does not say.
        """
        try:
            return await self._list_models()
        except (AttemptFailed, CallFailed) as failure:
            error = self._unlisted(failure)
        raise error

    async def check(self, model: str) -> EndpointCheck:
        """One small live call to `model` ("": the endpoint's own), bounded by a minute. Never raises `CallFailed`."""
        request = ChatRequest(model, (Message("user", "Reply with: OK"),), Sampling(0.0, 1.0, 16))
        try:
            reply = await self._one(request, timeout_s=min(CHECK_S, self.settings.timeout_s))
        except CallFailed as failure:
            return EndpointCheck(
                self.name, False, model or self.settings.model, message=failure.message, models=self._models or ()
            )
        return EndpointCheck(
            self.name,
            True,
            reply.answers[0].model,
            reply.latency_s,
            models=self._models or (),
            adaptations=reply.adaptations,
        )

    async def _one(self, request: ChatRequest, timeout_s: float | None = None) -> ChatReply:
        """One exchange, retries included; it may bring fewer answers than asked for."""
        loop = asyncio.get_running_loop()
        model = request.model or self.settings.model or await self.first_model(timeout_s)
        if model != request.model:
            request = ChatRequest(model, request.messages, request.sampling, request.n, request.seed)
        prompt_tokens = sum(estimate_tokens(message.content) for message in request.messages)
        deadline = asyncio.timeout(None)
        call = _Exchange(request, deadline, timeout_s or self.settings.timeout_s, prompt_tokens)
        try:
            async with deadline:
                return await with_retries(
                    partial(self._attempt, call),
                    self._policy,
                    self._random,
                    lambda: call.started + call.timeout_s - loop.time(),
                )
        except AttemptFailed as failure:
            error = await self._explained(failure, call)
        except TimeoutError:
            error = self._timed_out(call)
        raise error

    async def _attempt(self, call: _Exchange) -> ChatReply:
        try:
            permit = await self._limiter.acquire(call.request.n, retry=call.attempts > 0)
            if self.settings.hedge_after_s is None:
                return await self._exchange(call, permit)
            return await hedged(
                self._exchange(call, permit), lambda: self._second_leg(call), self.settings.hedge_after_s
            )
        except AttemptFailed as failure:
            call.last_failure = failure
            self._note_trouble(failure)
            raise

    async def _second_leg(self, call: _Exchange) -> ChatReply:
        return await self._exchange(call, await self._limiter.acquire(call.request.n, retry=True))

    async def _exchange(self, call: _Exchange, permit: Permit) -> ChatReply:
        """Sends the request under `permit`, and again at once as often as the endpoint teaches us something."""
        request = call.request
        reserved = 0.0
        spent = (0, 0, 0)
        try:
            reserved = await self._rate.reserve(call.prompt_tokens, request.sampling.max_tokens, request.n)
            loop = asyncio.get_running_loop()
            if call.deadline.when() is None:
                call.started = loop.time()
                call.deadline.reschedule(call.started + call.timeout_s)
            while True:
                samples = request.n if self.supports_n else 1
                seed = request.seed if self.settings.send_seed else None
                body = request_body(
                    request.model, request.messages, request.sampling, samples, seed,
                    self.settings.extra_body, self._adaptations,
                )  # fmt: skip
                wire = encode(body)
                call.attempts += 1
                received = await self._transport.post_chat(wire)
                if received.status == 200:
                    break
                error = read_server_error(received.status, received.body)
                if error.declined:
                    break
                if not self._learn(error, body):
                    raise self._refusal(received, request.model, request.sampling.max_tokens)
            latency = loop.time() - call.started
            if received.status == 200:
                answers = self._read(received, samples, call, latency)
            else:
                message = self._transport.redact(error.message)
                answers = declined_answers(message, request.n, request.model, latency)
            spent = (
                sum(answer.usage.prompt_tokens for answer in answers),
                sum(answer.usage.completion_tokens for answer in answers),
                len(answers),
            )
            self._limiter.succeeded(permit)
            self._trouble = ""
            return ChatReply(answers, wire, received.body, call.attempts, latency, self.adaptations)
        except AttemptFailed as failure:
            if failure.overload or failure.kind is FailureKind.CONNECTION:
                self._limiter.failed(permit, overload=failure.overload)
            raise
        except asyncio.CancelledError:
            if call.deadline.expired():
                call.cut = True
                self._limiter.failed(permit, overload=True)
            raise
        finally:
            self._rate.settle(reserved, *spent)
            self._limiter.release(permit)

    def _read(self, received: Received, samples: int, call: _Exchange, latency: float) -> tuple[Answer, ...]:
        request = call.request
        try:
            return parse_reply(
                received.body,
                samples=samples,
                prompt_estimate=call.prompt_tokens,
                max_tokens=request.sampling.max_tokens,
                model=request.model,
                latency_s=latency,
            )
        except CallFailed as failure:
            inner = error_in_success(received.body)
            error = AttemptFailed(failure.kind, failure.message)
        if inner is not None:
            status = Received(inner.status, received.body, received.retry_after_s)
            error = self._refusal(status, request.model, request.sampling.max_tokens)
        raise error

    def _learn(self, error: ServerError, body: dict[str, object]) -> bool:
        """Whether sending `body` again, as it is built now, can go better."""
        adaptation = adaptation_for(error, body)
        if adaptation is None or (adaptation == WITHOUT_N and self.settings.n_samples == "on"):
            return False
        self._adaptations.setdefault(adaptation)
        return True

    def _refusal(self, received: Received, model: str, max_tokens: int) -> AttemptFailed:
        """The failed attempt for a response that is not 200."""
        if 300 <= received.status < 400:
            return redirected(received.location, self._transport.base_url)
        return failed_attempt(
            read_server_error(received.status, received.body),
            model=model,
            max_tokens=max_tokens,
            key_env=self.settings.api_key_env,
            has_key=self._transport.has_key,
            base_url=self._transport.base_url,
            retry_after_s=received.retry_after_s,
        )

    async def _list_models(self) -> list[str]:
        """Raises AttemptFailed, or CallFailed for a list that can't be read."""
        try:
            async with asyncio.timeout(min(_LISTING_S, self.settings.timeout_s)):
                received = await self._transport.get_models()
        except TimeoutError:
            raise AttemptFailed(FailureKind.TIMEOUT, "no reply in time") from None
        if received.status != 200:
            raise self._refusal(received, "", 0)
        names = parse_models(received.body)
        self._models = tuple(names)
        self._trouble = ""
        return names

    async def _list_when_ready(self) -> list[str]:
        """A server that has too much to do, or still loads its model, may be asked again; nothing else may."""
        try:
            return await self._list_models()
        except AttemptFailed as failure:
            self._note_trouble(failure)
            if failure.overload:
                raise
            error = CallFailed(failure.kind, failure.message)
        raise error

    async def first_model(self, timeout_s: float | None = None) -> str:
        """The server's first model, asked for once. Calls that wait together for the list fail together.

        Raises:
            CallFailed: when the server can't be asked within the time (default: the endpoint's) or lists none.
        """
        failures = len(self._listing_failures)
        async with self._listing:
            if self._models is None and len(self._listing_failures) > failures:
                raise self._unlisted(self._listing_failures[-1])
            if self._models is None:
                loop = asyncio.get_running_loop()
                end = loop.time() + (timeout_s or self.settings.timeout_s)
                try:
                    await with_retries(self._list_when_ready, self._policy, self._random, lambda: end - loop.time())
                except (AttemptFailed, CallFailed) as failure:
                    self._listing_failures.append(failure)
            names = self._models
        if names is None:
            raise self._unlisted(self._listing_failures[-1])
        if not names:
            raise self._final(FailureKind.PERMANENT, "the server lists no model (set `model` for this endpoint)", 1)
        return names[0]

    async def _explained(self, failure: AttemptFailed, call: _Exchange) -> CallFailed:
        """The call's failure; for a model that the server does not know, with the models that it has."""
        message = failure.message
        if failure.unknown_model:
            names = await self._known_models()
            if names:
                shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
                message += f"; the server has: {shown}"
        if failure.transient:
            elapsed = asyncio.get_running_loop().time() - call.started
            message += f"; gave up after {call.attempts} attempts in {elapsed:.0f} s"
            if failure.retry_after_s is not None:
                message += f", the server asks to wait {failure.retry_after_s:.0f} s (timeout_s = {call.timeout_s:g})"
        return self._final(failure.kind, message, call.attempts)

    async def _known_models(self) -> tuple[str, ...]:
        async with self._listing:
            if self._models is None:
                try:
                    await self.models()
                except CallFailed:
                    self._models = ()
            return self._models or ()

    def _note_trouble(self, failure: AttemptFailed | CallFailed) -> None:
        self._trouble = f"{self.name}: {failure.kind}: {self._transport.redact(failure.message)}"

    def _timed_out(self, call: _Exchange) -> CallFailed:
        last = call.last_failure
        before = f"; the attempt before failed: {last.message}" if last is not None else ""
        message = f"no complete answer within timeout_s = {call.timeout_s:g} s, {call.attempts} attempts{before}"
        kind = FailureKind.TIMEOUT if call.cut or last is None else last.kind
        failure = self._final(kind, f"{message} (raise timeout_s, or lower max_tokens)", call.attempts)
        self._note_trouble(failure)
        return failure

    def _unlisted(self, failure: AttemptFailed | CallFailed) -> CallFailed:
        return self._final(failure.kind, f"GET /models: {failure.message}", 1)

    def _final(self, kind: FailureKind, message: str, attempts: int) -> CallFailed:
        return CallFailed(kind, self._transport.redact(message), endpoint=self.name, attempts=attempts)
