"""What the chat client is asked, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass

from maxproof.models.types import Answer, CallFailed, Message, Sampling


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
        answers: one per sample. Fewer than asked for only if the server gave too few choices at once and asking for
            the rest failed; `failures` then has the reason for each missing one.
        request_body, response_body: what went over the wire, the key cut out. If several exchanges made up the
            reply, a JSON array of their bodies.
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
    failures: tuple[CallFailed, ...] = ()


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


def merged(parts: list[ChatReply | CallFailed]) -> ChatReply:
    """One reply for several exchanges. Raises the first failure if there is no answer."""
    replies = [part for part in parts if isinstance(part, ChatReply)]
    failures = tuple(part for part in parts if isinstance(part, CallFailed))
    if not replies:
        raise failures[0]
    return ChatReply(
        answers=tuple(answer for reply in replies for answer in reply.answers),
        request_body=b"[" + b",".join(reply.request_body for reply in replies) + b"]",
        response_body=b"[" + b",".join(reply.response_body for reply in replies) + b"]",
        attempts=sum(reply.attempts for reply in replies) + sum(failure.attempts for failure in failures),
        latency_s=max(reply.latency_s for reply in replies),
        adaptations=tuple(dict.fromkeys(name for reply in replies for name in reply.adaptations)),
        failures=failures,
    )
