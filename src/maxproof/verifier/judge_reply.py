"""Reads a judge's reply: strict about the verdict's label, lenient about the layout around it.

A reply holds an `<assessment>`, an `<errors>` list (or `none`) and a `<verdict>`, optionally a `<score>`. Case,
attributes, code fences and missing closing tags are forgiven. A tag that stands in quotation marks, back-quotes or a
`>` quotation is a quotation and counts for nothing, nor does one inside a closed block of another kind. Of several
blocks the last complete one counts, with one exception: a later errors-and-verdict pair that is *better* than the one
before it and comes without an assessment of its own is more likely quoted than meant, so such a reply is ambiguous. So
are several different verdicts about a text that itself holds such tags; there, verdicts in what was split off as
thinking count as well, since a quoted think tag can move a part of the reply there.

Parsing never guesses towards a pass: whatever is ambiguous is a `ReplyFault`, which is asked again once and then is
"not scored".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from maxproof.verifier.types import MAX_POINTS, LocatedError, Verdict

MAX_READ_CHARS = 400_000
"""Of a longer reply only the end is read: the verdict comes last."""


class ReplyFault(StrEnum):
    """Why a reply can't be used, in words that can be shown to the judge. Fixed text: nothing of the reply is in it."""

    NO_VERDICT = "there was no <verdict> block"
    UNKNOWN_LABEL = "the <verdict> was not one of no_errors, minor_gaps, has_errors, fundamentally_wrong"
    NO_ERRORS_BLOCK = "there was no <errors> block before the <verdict>"
    ERRORS_BUT_NO_ERRORS = "the verdict was no_errors although errors were listed"
    NO_LISTED_ERROR = "the verdict was not no_errors although no error was listed"
    AMBIGUOUS = "there were several verdicts that contradict each other"
    BAD_SCORE = "the <score> was not a number from 0 to 7"
    SCORE_CONTRADICTS = "the verdict was no_errors although the score was below 7"
    EMPTY = "it was empty"
    REFUSED = "it declined to judge"
    UNCLOSED_THINKING = "it opened a think tag and never closed it"
    TRUNCATED = "it was cut at the token limit before a verdict that stands"


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A readable reply: `errors` is empty iff `verdict` is `no_errors`; `score` is in [0, 7] or None."""

    verdict: Verdict
    errors: tuple[LocatedError, ...]
    assessment: str
    score: float | None = None


def holds_tags(text: str) -> bool:
    """The text holds a tag of a reply, so a judge that quotes it may quote a verdict."""
    return _TAG.search(text) is not None


def parse_reply(
    text: str, *, tagged: Callable[[], bool] = lambda: False, thinking: str = ""
) -> JudgeReply | ReplyFault:
    """Reads one reply. Never raises; linear in the length of the text.

    Args:
        tagged: whether some text that the judge was shown `holds_tags`; asked only where verdicts differ.
        thinking: what was split off the reply as thinking: a verdict in it counts as one that may be quoted.
    """
    blocks = _blocks(text[-MAX_READ_CHARS:])
    readings = _readings(blocks)
    if not readings:
        return ReplyFault.NO_VERDICT
    last = readings[-1]
    verdict = _label(last.verdict)
    if verdict is None:
        return ReplyFault.UNKNOWN_LABEL
    if last.errors is None:
        return ReplyFault.NO_ERRORS_BLOCK
    if len(readings) > 1 and not last.assessed and _improves(readings[-2], verdict):
        return ReplyFault.AMBIGUOUS
    thought = _readings(_blocks(thinking[-MAX_READ_CHARS:])) if "<" in thinking else []
    if any(_label(reading.verdict) is not verdict for reading in readings + thought) and tagged():
        return ReplyFault.AMBIGUOUS
    errors = parse_errors(last.errors)
    if verdict is Verdict.NO_ERRORS and errors:
        return ReplyFault.ERRORS_BUT_NO_ERRORS
    if verdict is not Verdict.NO_ERRORS and not errors:
        return ReplyFault.NO_LISTED_ERROR
    score = None
    if last.score is not None:
        score = _number(last.score)
        if score is None:
            return ReplyFault.BAD_SCORE
        if verdict is Verdict.NO_ERRORS and score < MAX_POINTS:
            return ReplyFault.SCORE_CONTRADICTS
    return JudgeReply(verdict, errors, last.assessment.strip(), score)


# --- blocks -----------------------------------------------------------------------------------------------------------

# White space is bounded: without, a long run of it after `<` would be split in every way.
_TAG = re.compile(
    r"<[ \t\r\n]{0,4}(?P<close>/?)[ \t\r\n]{0,4}(?P<kind>assessment|errors|verdict|score)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_QUOTATION_MARKS = frozenset("\"'`“”„‘’«»‹›|")


class _Tag(NamedTuple):
    kind: str
    closes: bool
    start: int
    end: int


class _Block(NamedTuple):
    kind: str
    content: str


@dataclass(slots=True)
class _Reading:
    """One verdict with the blocks that belong to it; `assessed`: with an assessment since the verdict before."""

    verdict: str
    errors: str | None
    assessment: str
    assessed: bool
    score: str | None = None


def _blocks(text: str) -> list[_Block]:
    """The outermost blocks, in order. A block whose closing tag is missing ends where one of another kind opens."""
    tags = [
        _Tag(found["kind"].lower(), bool(found["close"]), found.start(), found.end())
        for found in _TAG.finditer(text)
        if not _is_quoted(text, found)
    ]
    partners = _partners(tags)
    blocks = []
    index = 0
    while index < len(tags):
        tag = tags[index]
        if tag.closes:
            index += 1
            continue
        close = partners.get(index)
        if close is None:
            close = index + 1
            while close < len(tags) and (tags[close].kind == tag.kind or tags[close].closes):
                close += 1
            following = close
        else:
            following = close + 1
        blocks.append(_Block(tag.kind, text[tag.end : tags[close].start if close < len(tags) else len(text)]))
        index = following
    return blocks


def _partners(tags: list[_Tag]) -> dict[int, int]:
    """For each opening tag its closing one, nested tags of one kind matched like brackets."""
    opened: dict[str, list[int]] = defaultdict(list)
    partners = {}
    for index, tag in enumerate(tags):
        if not tag.closes:
            opened[tag.kind].append(index)
        elif opened[tag.kind]:
            partners[opened[tag.kind].pop()] = index
    return partners


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    """A quotation mark stands before an opening tag, or on both sides of a closing one, or the line is a quotation."""
    start = tag.start()
    before = text[start - 1 : start]
    if before == "\n":
        return False
    if before in _QUOTATION_MARKS and (not tag["close"] or text[tag.end() : tag.end() + 1] in _QUOTATION_MARKS):
        return True
    earliest = max(0, start - 200)
    line = text[max(text.rfind("\n", earliest, start) + 1, earliest) : start]
    return line.lstrip().startswith(">")


def _readings(blocks: list[_Block]) -> list[_Reading]:
    """One reading a non-empty verdict block. A verdict that is only repeated keeps the errors listed before it."""
    readings: list[_Reading] = []
    errors: str | None = None
    assessment, assessed = "", False
    score: str | None = None
    for block in blocks:
        if block.kind == "assessment":
            assessment, assessed = block.content, True
        elif block.kind == "errors":
            errors = block.content
        elif block.kind == "score":
            if readings and not assessed and readings[-1].score is None:
                readings[-1].score = block.content
            else:
                score = block.content
        elif block.content.strip():
            readings.append(_Reading(block.content, errors, assessment, assessed, score))
            assessed, score = False, None
    return readings


def _improves(before: _Reading, verdict: Verdict) -> bool:
    """The verdict is better than the one read before it, or that one can't be read."""
    order = list(Verdict)
    earlier = _label(before.verdict)
    return earlier is None or order.index(verdict) < order.index(earlier)


# --- contents ---------------------------------------------------------------------------------------------------------

_AROUND_NONE = " \t\r\n*_`\"'“”()[]<>/.,:;#-"
_LABELS = {str(verdict): verdict for verdict in Verdict}
_NONE = re.compile(r"(?:none|no errors?(?: (?:were |was )?found)?|n/?a|empty|nil|0)?", re.IGNORECASE)
_CODE_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_CLOSING_FIELD = re.compile(r"</(?:error|location|description|quote|issue)>", re.IGNORECASE)
_ITEM = re.compile(
    r"^[ \t]*(?:\*\*)?(?:\(?\d{1,3}[.):]\)?|[-*•](?=[ \t])|<error\b[^<>]{0,100}>)(?:\*\*)?[ \t]*", re.MULTILINE | re.I
)
_FIELD = re.compile(
    r"(?:^|(?<=[\s;|>*-]))[*_]{0,2}<?(?P<name>location|where|quote|description|error|issue|problem|what)\b"
    r"(?:[*_]{0,2}[ \t]*:[*_]{0,2}|>)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_LOCATING = frozenset(("location", "where", "quote"))
_QUOTATION = re.compile(r"[\"“«]([^\"“”«»]{1,2000})[\"”»]")


def _label(content: str) -> Verdict | None:
    return _LABELS.get(content.strip("> \t\r\n*_`\"'“”.:").lower())


def _number(content: str) -> float | None:
    found = re.fullmatch(r"(\d(?:\.\d{1,3})?) ?(?:/ ?7|points?)? ?\.?", " ".join(content.split()), re.ASCII)
    number = float(found.group(1)) if found else None
    return number if number is not None and number <= MAX_POINTS else None


def parse_errors(content: str) -> tuple[LocatedError, ...]:
    """The items of an errors block; `none`, or nothing at all, is an empty list.

    Items are numbered or bulleted lines. In an item, `Location:` and `Description:` split it; failing that, its first
    quotation is the location; failing that, the location is "".
    """
    content = _CLOSING_FIELD.sub(" ", _CODE_FENCE.sub("", content))
    starts = list(_ITEM.finditer(content))
    items = [content[: starts[0].start()] if starts else content]
    if starts and _is_lead(items[0]):
        items = []
    ends = [*(found.start() for found in starts[1:]), len(content)]
    items += [content[found.end() : end] for found, end in zip(starts, ends, strict=False)]
    return _joined([_located(item.strip()) for item in items if not _NONE.fullmatch(item.strip(_AROUND_NONE))])


def _is_lead(text: str) -> bool:
    """A line like `The errors are:` before the first item."""
    text = text.strip()
    return "\n" not in text and text.endswith(":")


def _joined(errors: list[LocatedError]) -> tuple[LocatedError, ...]:
    """Puts a location and a description that stand in two bullets of their own together."""
    joined: list[LocatedError] = []
    for error in errors:
        if joined and not joined[-1].description and not error.location:
            joined[-1] = LocatedError(joined[-1].location, error.description)
        else:
            joined.append(error)
    return tuple(joined)


def _located(item: str) -> LocatedError:
    fields = list(_FIELD.finditer(item))
    location: list[str] = []
    description: list[str] = []
    if fields and any(found["name"].lower() in _LOCATING for found in fields):
        description.append(item[: fields[0].start()])
        ends = [*(found.start() for found in fields[1:]), len(item)]
        for found, end in zip(fields, ends, strict=True):
            part = item[found.end() : end]
            (location if found["name"].lower() in _LOCATING else description).append(part)
    else:
        quotation = _QUOTATION.search(item)
        if quotation:
            location.append(quotation.group(1))
        description.append(item[fields[0].end() :] if fields and not item[: fields[0].start()].strip() else item)
    return LocatedError(_tidy(location).strip('"“”'), _tidy(description))


def _tidy(parts: list[str]) -> str:
    text = " ".join(" ".join(part.split()) for part in parts).strip()
    return text.strip(" *_-;|").strip()
