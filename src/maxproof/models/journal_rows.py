"""One finished call as it is recorded and read back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from maxproof.models.bindings import Binding
from maxproof.models.call_key import public_url
from maxproof.models.journal_bodies import Exchange, Span, unpack_answer
from maxproof.models.types import Answer, AnswerState, Call, CallFailed, FailureKind, Usage

FAILED = "failed"

SELECT_RESULT = (
    "SELECT state, failure, message, endpoint, attempts, reported_model, finish_reason, unclosed_thinking, reply, "
    "text_start, text_bytes, reasoning_bytes, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, "
    "estimated, latency, session FROM calls"
)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished call, with all that the journal keeps of it.

    Attributes:
        key: see `call_key`.
        sampler: see `sampler_digest`.
        result: the answer, or why there is none.
        started, finished: unix seconds.
        seed: as sent, None if none was.
        cost: None when the endpoint has no prices.
        exchange: what went over the wire, shared by the samples of one request; None for a failed call.
        index: which of the exchange's answers this is.
        attempts: HTTP requests sent.
        adaptations: what the client did differently from the request.
        provisional: a failure that a resumed run asks again.
    """

    key: bytes
    call: Call
    binding: Binding
    sampler: str
    result: Answer | CallFailed
    started: float
    finished: float
    seed: int | None = None
    cost: float | None = None
    exchange: Exchange | None = None
    index: int = 0
    attempts: int = 1
    adaptations: tuple[str, ...] = ()
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class StoredCall:
    """What the journal answers for a key. `session` is the session that made the call."""

    result: Answer | CallFailed
    session: int


@dataclass(frozen=True, slots=True)
class StoredExchange:
    """Where the journal keeps an exchange."""

    head: bytes
    prompt: int
    tail: bytes
    reply: int
    spans: Sequence[Span]


def row_of(record: CallRecord, session: int, exchange: StoredExchange | None) -> dict[str, object]:
    """Column name -> value."""
    result, call, binding = record.result, record.call, record.binding
    address, sampling = call.address, binding.sampling
    answer = result if isinstance(result, Answer) else Answer("")
    failure = result if isinstance(result, CallFailed) else None
    usage = answer.usage
    span = exchange.spans[record.index] if exchange else None
    return {
        "key": record.key,
        "session": session,
        "role": address.role,
        "task": address.task,
        "candidate": address.candidate,
        "sample": address.sample,
        "judge": address.judge,
        "attempt": address.attempt,
        "template": call.template,
        "inputs": call.inputs,
        "endpoint": binding.endpoint,
        "base_url": public_url(binding.settings.base_url),
        "model": binding.model,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "sampler": record.sampler,
        "seed": record.seed,
        "state": FAILED if failure else answer.state.value,
        "provisional": int(record.provisional),
        "failure": failure.kind.value if failure else "",
        "message": _storable(failure.message) if failure else "",
        "reported_model": _storable(answer.model),
        "finish_reason": _storable(answer.finish_reason),
        "unclosed_thinking": int(answer.unclosed_thinking),
        "reply": exchange.reply if exchange else None,
        "text_start": span.start if span else None,
        "text_bytes": span.text_bytes if span else None,
        "reasoning_bytes": span.reasoning_bytes if span else None,
        "head": exchange.head if exchange else None,
        "prompt": exchange.prompt if exchange else None,
        "tail": exchange.tail if exchange else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "estimated": int(usage.estimated),
        "cost": record.cost,
        "latency": answer.latency_s,
        "attempts": record.attempts,
        "adaptations": json.dumps(record.adaptations),
        "started": record.started,
        "finished": record.finished,
    }


def _storable(text: str) -> str:
    """SQLite takes no lone surrogates; the two texts of an answer are stored as bytes and keep theirs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=1)
def insert_statement(columns: tuple[str, ...]) -> str:
    """The statement for a row of `row_of`."""
    return f"INSERT INTO calls ({', '.join(columns)}) VALUES ({', '.join(':' + name for name in columns)})"


def stored_call(row: sqlite3.Row, read_reply: Callable[[int], bytes]) -> StoredCall:
    """The inverse of `row_of`, for a row of `SELECT_RESULT`."""
    if row["state"] == FAILED:
        failure = CallFailed(
            FailureKind(row["failure"]), row["message"], endpoint=row["endpoint"], attempts=row["attempts"]
        )
        return StoredCall(failure, row["session"])
    usage = Usage(
        row["prompt_tokens"],
        row["completion_tokens"],
        row["reasoning_tokens"],
        row["cached_tokens"],
        bool(row["estimated"]),
    )
    span = Span(row["text_start"], row["text_bytes"], row["reasoning_bytes"])
    text, reasoning = unpack_answer(read_reply(row["reply"]), span)
    answer = Answer(
        text=text,
        state=AnswerState(row["state"]),
        reasoning=reasoning,
        unclosed_thinking=bool(row["unclosed_thinking"]),
        finish_reason=row["finish_reason"],
        usage=usage,
        latency_s=row["latency"],
        model=row["reported_model"],
    )
    return StoredCall(answer, row["session"])
