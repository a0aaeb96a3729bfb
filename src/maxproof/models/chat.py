"""What the chat client is asked, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from maxproof.models.types import Answer, Message, Sampling


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One prompt, asked for `n` >= 1 samples. `model` "": the endpoint's own."""

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    n: int = 1
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back.

    Attributes:
        answers: at least one; fewer than asked for where the server gives fewer choices at once. The rest is to be
            asked for again: one request, one row, so that no finished sample waits for another to be recorded.
        request_body, response_body: what went over the wire, the key cut out.
        attempts: HTTP requests sent.
        latency_s: seconds from the first byte sent to the last one received.
        adaptations: what was done differently from the request because this endpoint can't do it.
    """

    answers: tuple[Answer, ...]
    request_body: bytes
    response_body: bytes
    attempts: int = 1
    latency_s: float = 0.0
    adaptations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The result of one small live call. `message` says what the matter is and what to change; "" if `ok`."""

    endpoint: str
    ok: bool
    model: str = ""
    latency_s: float = 0.0
    message: str = ""
    models: tuple[str, ...] = ()
    adaptations: tuple[str, ...] = ()


class ChatEndpoint(Protocol):
    """What the caller needs of a client."""

    @property
    def in_flight(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def trouble(self) -> str:
        """The last failed attempt as long as nothing has succeeded since, else ""."""
        ...

    @property
    def supports_n(self) -> bool:
        """Several samples can be asked for in one request."""
        ...

    async def first_model(self) -> str:
        """Raises CallFailed."""
        ...

    async def models(self) -> Sequence[str]:
        """Raises CallFailed."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises CallFailed."""
        ...
