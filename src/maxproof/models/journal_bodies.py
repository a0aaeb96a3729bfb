"""How raw bodies and answers are packed, so that what occurs twice is stored once and compressed once.

*Requests.* Samples of one prompt differ in a few bytes of the request (seed, `n`). The body is cut in three around its
messages; the middle is stored once by its digest. Where the cuts fall is a matter of size only: the parts joined are
the body, whatever it holds.

*Replies.* The raw response holds every answer again, JSON-escaped. Texts, reasonings and response of one reply are one
compressed frame, in which the response costs a few percent; a call's row says where its own text and reasoning stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maxproof.models.types import Answer


@dataclass(frozen=True, slots=True)
class Exchange:
    """What went over the wire for one or more samples: raw bodies, and the answers in them, in order."""

    request_body: bytes
    response_body: bytes
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer's text stands in its reply's frame, in bytes; its reasoning follows the text."""

    start: int
    text_bytes: int
    reasoning_bytes: int


def split_request(body: bytes) -> tuple[bytes, bytes, bytes]:
    """(head, middle, tail) with head + middle + tail == body."""
    start = max(0, body.find(b'"messages"'))
    end = max(start, body.rfind(b'"}]') + 3)
    return body[:start], body[start:end], body[end:]


def pack_reply(answers: Sequence[Answer], response_body: bytes) -> tuple[bytes, list[Span]]:
    """The frame's content, texts first, and each answer's place in it. Lone surrogates are kept."""
    pieces: list[bytes] = []
    spans: list[Span] = []
    position = 0
    for answer in answers:
        text, reasoning = _encoded(answer.text), _encoded(answer.reasoning)
        spans.append(Span(position, len(text), len(reasoning)))
        pieces += [text, reasoning]
        position += len(text) + len(reasoning)
    return b"".join([*pieces, response_body]), spans


def unpack_answer(frame: bytes, span: Span) -> tuple[str, str]:
    """Text and reasoning."""
    middle = span.start + span.text_bytes
    return _decoded(frame[span.start : middle]), _decoded(frame[middle : middle + span.reasoning_bytes])


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
