"""Reads the oracle's reply: one whole number of points from 0 to 7, or a fault.

The last `<points>` block counts. A tag that stands in quotation marks or back-quotes is a quotation. Where a text that
the oracle was shown holds such tags itself, any block may be quoted: all must agree then, and the last one must end the
reply, as it was asked to. Nothing is guessed: what is not a whole number from 0 to 7 is a fault, which is asked again
once, and then not graded.
"""

from __future__ import annotations

import re
from enum import StrEnum

from maxproof.models.types import Answer, AnswerState
from maxproof.verifier.types import MAX_POINTS

MAX_READ_CHARS = 200_000
"""Of a longer reply only the end is read: the points come last."""

_TAG = re.compile(r"(?<![\"'`“‘«])<[ \t]{0,4}(/?)[ \t]{0,4}points\b[^<>\n]{0,100}>", re.IGNORECASE)
_SHOWN_TAG = re.compile(r"(?:<|&lt;|&#60;|&#x3c;|＜|‹|⟨)\s{0,8}/?\s{0,8}points\b", re.IGNORECASE)
"""In what the oracle is shown, quoted or spelt otherwise: it may give the tag back in plain form."""
_NUMBER = re.compile(r"([0-7])(?:\.0)?[ \t]{0,4}(?:/[ \t]{0,4}7|out of 7|points?)?\.?", re.IGNORECASE)
_AROUND = " \t\r\n*_`"


class OracleFault(StrEnum):
    """Why a reply can't be used, in words that can be shown to the oracle: nothing of the reply is in them."""

    NO_POINTS = "there was no <points> block"
    BAD_POINTS = f"the <points> were not one whole number from 0 to {MAX_POINTS}"
    AMBIGUOUS = "there were several <points> blocks that differ"
    NOT_LAST = "it did not end with the <points> block"
    EMPTY = "it was empty"
    REFUSED = "it declined to mark the solution"
    UNCLOSED_THINKING = "it opened a think tag and never closed it"
    TRUNCATED = "it was cut at the token limit"


def holds_points(text: str) -> bool:
    """The text holds a tag of the oracle's reply, so an oracle that quotes it may quote points."""
    return _SHOWN_TAG.search(text) is not None


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
    text = answer.text[-MAX_READ_CHARS:]
    blocks = _blocks(text)
    if not blocks:
        return OracleFault.NO_POINTS
    found = [_points(content) for content, _ in blocks]
    if tagged and len(set(found)) > 1:
        return OracleFault.AMBIGUOUS
    if tagged and text[blocks[-1][1] :].strip(_AROUND):
        return OracleFault.NOT_LAST
    return found[-1] if found[-1] is not None else OracleFault.BAD_POINTS


def _blocks(text: str) -> list[tuple[str, int]]:
    """Contents of the blocks, in order, and where each ends; one without a closing tag ends with its line."""
    blocks: list[tuple[str, int]] = []
    tags = list(_TAG.finditer(text))
    for index, tag in enumerate(tags):
        if tag.group(1):
            continue
        following = tags[index + 1] if index + 1 < len(tags) else None
        if following is not None and following.group(1):
            blocks.append((text[tag.end() : following.start()], following.end()))
        else:
            content = text[tag.end() : following.start() if following else len(text)].partition("\n")[0]
            blocks.append((content, tag.end() + len(content)))
    return blocks


def _points(content: str) -> int | None:
    found = _NUMBER.fullmatch(content.strip(_AROUND))
    return int(found.group(1)) if found else None
