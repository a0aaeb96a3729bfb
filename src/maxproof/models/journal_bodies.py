"""Raw request and response bodies, taken apart so that a text which occurs in many of them is stored once.

A body is JSON that holds texts we also have apart: the messages of a request, the answer of a response. Each such text
is cut out where its JSON encoding stands, and the body becomes a list of parts: bytes to keep, and texts to encode
again. Joining the parts gives the same bytes, always: a text whose encoding is not found stays inside the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

MIN_SHARED_CHARS = 256

_ENCODERS: tuple[Callable[[str], bytes], ...] = (
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"),
    lambda text: json.dumps(text)[1:-1].encode("ascii"),
)


@dataclass(frozen=True, slots=True)
class SharedText:
    """A text that stands in a body, encoded by the encoder of that number."""

    text: str
    encoder: int


Part = bytes | SharedText


def split_body(body: bytes, texts: Iterable[str]) -> list[Part]:
    """The parts of `body`. Each text is cut out wherever it stands; texts under 256 characters are left in."""
    parts: list[Part] = [body]
    for text in texts:
        if len(text) >= MIN_SHARED_CHARS:
            parts = _cut(parts, text)
    return [part for part in parts if part != b""]


def join_body(parts: Sequence[Part]) -> bytes:
    """The bytes that `split_body` took apart."""
    return b"".join(part if isinstance(part, bytes) else _ENCODERS[part.encoder](part.text) for part in parts)


def _cut(parts: list[Part], text: str) -> list[Part]:
    for number, encode in enumerate(_ENCODERS):
        encoded = encode(text)
        if not any(isinstance(part, bytes) and encoded in part for part in parts):
            continue
        pieces: list[Part] = []
        for part in parts:
            if isinstance(part, bytes):
                for at, between in enumerate(part.split(encoded)):
                    pieces += [SharedText(text, number), between] if at else [between]
            else:
                pieces.append(part)
        return pieces
    return parts
