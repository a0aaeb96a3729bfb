"""Reads the oracle's reply: one whole number of points from 0 to 7, or a fault.

The last `<points>` block counts. A tag that stands in quotation marks or back-quotes is a quotation. Where blocks
differ and a text that the oracle was shown holds such tags itself, the last one may be quoted: the reply is ambiguous
then. Nothing is guessed: what is not a whole number from 0 to 7 is a fault, which is asked again once, and then not
graded.
"""

from __future__ import annotations

import re
from enum import StrEnum

from maxproof.models.types import Answer, AnswerState
from maxproof.verifier.types import MAX_POINTS

MAX_READ_CHARS = 200_000
"""Of a longer reply only the end is read: the points come last."""

_TAG = re.compile(r"(?<![\"'`“‘«])<[ \t]{0,4}(/?)[ \t]{0,4}points\b[^<>\n]{0,100}>", re.IGNORECASE)
_NUMBER = re.compile(r"([0-7])(?:\.0)?[ \t]{0,4}(?:/[ \t]{0,4}7|points?)?\.?", re.IGNORECASE)
_AROUND = " \t\r\n*_`"


class OracleFault(StrEnum):
    """Why a reply can't be used, in words that can be shown to the oracle: nothing of the reply is in them."""

    NO_POINTS = "there was no <points> block"
    BAD_POINTS = f"the <points> were not one whole number from 0 to {MAX_POINTS}"
    AMBIGUOUS = "there were several <points> blocks that differ"
    EMPTY = "it was empty"
    REFUSED = "it declined to mark the solution"
    UNCLOSED_THINKING = "it opened a think tag and never closed it"
    TRUNCATED = "it was cut at the token limit"


def holds_points(text: str) -> bool:
    """The text holds a tag of the oracle's reply, so an oracle that quotes it may quote points."""
    return _TAG.search(text) is not None


def read_points(answer: Answer, *, tagged: bool) -> int | OracleFault:
    """The points of one answer.

    Args:
        tagged: some text that the oracle was shown `holds_points`.
    """
    if answer.state is AnswerState.REFUSED:
        return OracleFault.REFUSED
    if answer.state is AnswerState.TRUNCATED:
        return OracleFault.TRUNCATED  # what was cut off could have taken the points back
    if answer.unclosed_thinking:
        return OracleFault.UNCLOSED_THINKING
    if not answer.text.strip():
        return OracleFault.EMPTY
    found = [_points(content) for content in _blocks(answer.text[-MAX_READ_CHARS:])]
    if not found:
        return OracleFault.NO_POINTS
    if len(set(found)) > 1 and tagged:
        return OracleFault.AMBIGUOUS
    return found[-1] if found[-1] is not None else OracleFault.BAD_POINTS


def _blocks(text: str) -> list[str]:
    """Contents of the blocks, in order; one without a closing tag ends with its line."""
    blocks: list[str] = []
    tags = list(_TAG.finditer(text))
    for index, tag in enumerate(tags):
        if tag.group(1):
            continue
        following = tags[index + 1] if index + 1 < len(tags) else None
        if following is not None and following.group(1):
            blocks.append(text[tag.end() : following.start()])
        else:
            blocks.append(text[tag.end() : following.start() if following else len(text)].partition("\n")[0])
    return blocks


def _points(content: str) -> int | None:
    found = _NUMBER.fullmatch(content.strip(_AROUND))
    return int(found.group(1)) if found else None
