"""One finished call as it is recorded and read back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from maxproof.models.journal_bodies import Part, SharedText
from maxproof.models.types import Answer, AnswerState, CallAddress, CallFailed, FailureKind, Sampling, Usage

FAILED = "failed"

SELECT_RESULT = (
    "SELECT state, failure, message, endpoint, attempts, reported_model, finish_reason, unclosed_thinking, text, "
    "reasoning, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, estimated, latency, session "
    "FROM calls"
)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished call, with all that the journal keeps of it.

    Attributes:
        key: see `call_key`.
        sampler: see `sampler_digest`.
        seed: as sent, None if none was.
        result: the answer, or why there is none.
        cost: None when the endpoint has no prices.
        request_body, response_body: as sent and received; b"" for a failed call. Samples of one request share both.
        request_texts, response_texts: texts that the bodies hold and that may occur in other bodies: stored once each.
        started, finished: unix seconds.
        provisional: a failure that a resumed run asks again.
    """

    key: bytes
    address: CallAddress
    template: str
    inputs: str
    endpoint: str
    base_url: str
    model: str
    sampling: Sampling
    sampler: str
    result: Answer | CallFailed
    started: float
    finished: float
    seed: int | None = None
    cost: float | None = None
    request_body: bytes = b""
    response_body: bytes = b""
    request_texts: tuple[str, ...] = ()
    response_texts: tuple[str, ...] = ()
    attempts: int = 1
    adaptations: tuple[str, ...] = ()
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class StoredCall:
    """What the journal answers for a key. `session` is the session that made the call."""

    result: Answer | CallFailed
    session: int


def row_of(record: CallRecord, session: int, refs: tuple[int | None, int | None, str, str]) -> dict[str, object]:
    """Column name -> value. `refs`: text, reasoning, request, response as the journal refers to them."""
    result, address = record.result, record.address
    answer = result if isinstance(result, Answer) else Answer("")
    failure = result if isinstance(result, CallFailed) else None
    usage = answer.usage
    return {
        "key": record.key,
        "session": session,
        "role": address.role,
        "task": address.task,
        "candidate": address.candidate,
        "sample": address.sample,
        "judge": address.judge,
        "attempt": address.attempt,
        "template": record.template,
        "inputs": record.inputs,
        "endpoint": record.endpoint,
        "base_url": record.base_url,
        "model": record.model,
        "temperature": record.sampling.temperature,
        "top_p": record.sampling.top_p,
        "max_tokens": record.sampling.max_tokens,
        "sampler": record.sampler,
        "seed": record.seed,
        "state": FAILED if failure else answer.state.value,
        "provisional": int(record.provisional),
        "failure": failure.kind.value if failure else "",
        "message": _storable(failure.message) if failure else "",
        "reported_model": _storable(answer.model),
        "finish_reason": _storable(answer.finish_reason),
        "unclosed_thinking": int(answer.unclosed_thinking),
        "text": refs[0],
        "reasoning": refs[1],
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
        "request": refs[2],
        "response": refs[3],
    }


def _storable(text: str) -> str:
    """SQLite takes no lone surrogates; the two texts of an answer are stored as bytes and keep theirs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def insert_statement(columns: dict[str, object]) -> str:
    names = ", ".join(columns)
    return f"INSERT INTO calls ({names}) VALUES ({', '.join(':' + name for name in columns)})"


def stored_call(row: sqlite3.Row, read_text: Callable[[int | None], str]) -> StoredCall:
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
    answer = Answer(
        text=read_text(row["text"]),
        state=AnswerState(row["state"]),
        reasoning=read_text(row["reasoning"]),
        unclosed_thinking=bool(row["unclosed_thinking"]),
        finish_reason=row["finish_reason"],
        usage=usage,
        latency_s=row["latency"],
        model=row["reported_model"],
    )
    return StoredCall(answer, row["session"])


def write_parts(parts: list[Part], write_text: Callable[[bytes], int]) -> str:
    """Parts as JSON: `"short bytes"`, `id` of stored bytes, or `[id, encoder]` of a shared text."""
    items: list[object] = []
    for part in parts:
        if isinstance(part, SharedText):
            items.append([write_text(part.text.encode("utf-8", "surrogatepass")), part.encoder])
        elif len(part) <= 512 and part.isascii():
            items.append(part.decode("ascii"))
        else:
            items.append(write_text(part))
    return json.dumps(items)


def read_parts(stored: str, read_bytes: Callable[[int], bytes]) -> list[Part]:
    """The inverse of `write_parts`."""
    parts: list[Part] = []
    for item in json.loads(stored):
        if isinstance(item, str):
            parts.append(item.encode("ascii"))
        elif isinstance(item, int):
            parts.append(read_bytes(item))
        else:
            parts.append(SharedText(read_bytes(item[0]).decode("utf-8", "surrogatepass"), item[1]))
    return parts
