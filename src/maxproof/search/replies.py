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
    blocks = _blocks(text, "summary")
    contents = [content for content, closed in blocks if closed] or [content for content, _ in blocks] or [""]
    content = contents[-1]
    if not content.strip():
        content = _SENTENCE_END.split(_TAG.sub(" ", text).strip(), maxsplit=1)[0]
    line = " ".join(_TAG.sub(" ", content).split())
    return line if len(line) <= MAX_SUMMARY_CHARS else line[: MAX_SUMMARY_CHARS - 1].rstrip() + "…"


def parse_choice(text: str) -> Literal["first", "second"] | None:
    """`first` or `second` if the choice blocks, one or more, all say that and nothing else; None otherwise.

    A second block may be quoted from a proof, so blocks that differ choose nothing.
    """
    matches = [_CHOICE.fullmatch(content) for content, _ in _blocks(text[-MAX_READ_CHARS:], "choice")]
    choices = {match.group(1).lower() if match is not None else None for match in matches}
    if choices == {"first"}:
        return "first"
    return "second" if choices == {"second"} else None


def _blocks(text: str, name: str) -> list[tuple[str, bool]]:
    """The contents of the `<name>` blocks, in order, and whether each has its closing tag.

    One without ends at the next opening tag, or with the text.
    """
    opened: int | None = None
    blocks: list[tuple[str, bool]] = []
    for tag in _TAG.finditer(text):
        if tag.group(2).lower() != name:
            continue
        closes = bool(tag.group(1))
        if opened is not None:
            blocks.append((text[opened : tag.start()], closes))
        opened = None if closes else tag.end()
    if opened is not None:
        blocks.append((text[opened:], False))
    return blocks
