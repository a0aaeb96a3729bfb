"""Reads what the summariser and the ranker reply: strict about the content, lenient about the layout around it."""

from __future__ import annotations

import re
from typing import Literal

MAX_SUMMARY_CHARS = 300
MAX_READ_CHARS = 100_000
"""Of a longer reply only the end is read: what counts comes last."""

# A tag in quotation marks or back-quotes is a quotation.
_TAG = re.compile(r"(?<![\"'`“‘«])<[ \t]{0,4}(/?)[ \t]{0,4}(summary|choice)\b[^<>\n]{0,200}>", re.IGNORECASE)
_CHOICE = re.compile(r"\W*(?:the\s+)?(first|second)(?:\s+proof)?\W*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def parse_summary(text: str) -> str:
    """The last summary block, or else the first sentence, on one line of at most `MAX_SUMMARY_CHARS` characters.

    "" for an empty reply. A summary is advice to the refiner: any text will do, so nothing is asked again.
    """
    text = text[-MAX_READ_CHARS:]
    content = _last_block(text, "summary")
    if content is None or not content.strip():
        content = _SENTENCE_END.split(_TAG.sub(" ", text).strip(), maxsplit=1)[0]
    line = " ".join(_TAG.sub(" ", content).split())
    return line if len(line) <= MAX_SUMMARY_CHARS else line[: MAX_SUMMARY_CHARS - 1].rstrip() + "…"


def parse_choice(text: str) -> Literal["first", "second"] | None:
    """The last choice block, if it says `first` or `second` and nothing else; None otherwise."""
    content = _last_block(text[-MAX_READ_CHARS:], "choice")
    match = _CHOICE.fullmatch(content) if content is not None else None
    if match is None:
        return None
    return "first" if match.group(1).lower() == "first" else "second"


def _last_block(text: str, name: str) -> str | None:
    """The content of the last complete `<name>` block; of one without closing tag at the end if there is none."""
    opened: int | None = None
    found: str | None = None
    for tag in _TAG.finditer(text):
        if tag.group(2).lower() != name:
            continue
        if not tag.group(1):
            opened = tag.end()
        elif opened is not None:
            found = text[opened : tag.start()]
            opened = None
    return text[opened:] if found is None and opened is not None else found
