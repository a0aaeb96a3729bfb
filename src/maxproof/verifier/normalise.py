r"""Layer 2, rule-based: a proof without its packaging, so that judges compare mathematics and not style.

Each pass finds what it would cut, on a copy of the text in which formulas and code are masked; all cuts of a round are
made at once, and rounds repeat until nothing changes. Passes only cut, so nothing can be added; the content guard says
whether anything was lost, and if so the text stays as it was. Left alone on purpose: `Case 1`, `Lemma 2`, `Claim` and
all other headings (only their marks go), italics (`a *b* c` may be a product), lists, and openers whose goal holds
mathematics (cutting "To prove that" would turn a goal into a claim).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from maxproof.verifier.content_guard import PICTURES, RULE_LINE, as_written, mathematics, quote_marks, violation
from maxproof.verifier.formulas import formula_spans, masked

VERSION = 1
"""Raise it when the result changes for any text: it is a part of the judges' journal keys."""

MAX_ROUNDS = 8
MAX_CLOSING_SECTIONS = 4
MAX_SECTION_SHARE = 0.25
"""Closing sections longer than this share of the text are not packaging."""

Cut = tuple[int, int]


@lru_cache(maxsize=128)
def normalise_text(text: str) -> tuple[str, tuple[str, ...]]:
    """The normalised text, and the names of the passes that cut something, in the order of `PASSES`.

    Pure and idempotent. If the guard refuses the result, or cuts keep uncovering others, the text comes back unchanged.
    """
    result, names = stripped(text)
    if result is None:
        return text, ()
    # The same formulas as written are the same formulas as tokens, and far cheaper to compare.
    if violation(as_written(text), as_written(result)) and violation(mathematics(text), mathematics(result)):
        return text, ()
    return result, names


def stripped(text: str) -> tuple[str | None, tuple[str, ...]]:
    """What the passes leave of `text`, unguarded, and the names of those that cut something, in the order of `PASSES`.

    None for the text if cuts keep uncovering others.
    """
    result, found = text.replace("\r\n", "\n"), set[str]()
    for _ in range(MAX_ROUNDS):
        cuts, names = _round(result)
        if not cuts:
            return result, tuple(name for name in PASSES if name in found)
        result = _without(result, cuts)
        found |= names
    return None, tuple(name for name in PASSES if name in found)


def _round(text: str) -> tuple[list[Cut], set[str]]:
    prose = masked(text, formula_spans(text))
    cuts: list[Cut] = []
    names: set[str] = set()
    for name, find in PASSES.items():
        found = list(find(prose, text))
        if found:
            names.add(name)
            cuts += found
    return cuts, names


def _without(text: str, cuts: Iterable[Cut]) -> str:
    parts = []
    position = 0
    for start, end in sorted(cuts):
        if end > position:
            parts.append(text[position : max(start, position)])
            position = end
    return "".join([*parts, text[position:]])


# --- openings -------------------------------------------------------------------------------------------------------

_WORDS = r"(?:[ \t]+[a-z'’-]+)"
_OPENINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\s*(?:certainly|sure|of course|absolutely|great question|great|okay|ok|alright)\b[!,.:][ \t]*",
        # "Here is a complete and rigorous proof of the statement:"
        rf"\s*(?:below|here)(?:[ \t]+(?:is|are|follows)|['’]s){_WORDS}{{0,8}}?[ \t]+(?:proof|solution|answer|argument)"
        rf"{_WORDS}{{0,8}}[.:!](?=\s)\s*",
        # "We will provide a detailed proof."
        rf"\s*(?:I|we|let me|let us|let['’]s)(?:['’]ll|[ \t]+(?:will|shall|now|can))*[ \t]+(?:now[ \t]+)?"
        rf"(?:provide|present|give|write)\b{_WORDS}{{0,8}}?[ \t]+(?:proof|solution|answer|argument){_WORDS}{{0,8}}[.:!]"
        r"(?=\s)\s*",
        # "We are asked to prove the following statement."
        rf"\s*we[ \t]+are[ \t]+asked[ \t]+to{_WORDS}{{1,12}}[.:](?=\s)\s*",
        r"\s*we[ \t]+are[ \t]+given(?:[ \t]+that)?\b[,:]?[ \t]*(?=\S)",
        # "To prove this statement, we ..."
        rf"\s*to[ \t]+(?:prove|show|solve|establish|demonstrate|tackle|answer){_WORDS}{{1,16}},[ \t]*"
        r"(?=(?:we|I|it|let|note|suppose|assume|consider|observe|recall|first|start|begin|define|fix|take)\b)",
    )
)
_ONE_LETTER = re.compile(r"(?<![\w'’])[b-zB-HJ-Z](?![\w'’])|[A-Z]{2,}")


def _opening(prose: str, text: str) -> Iterable[Cut]:
    position = 0
    # Round by round would do as well; this way a long chain of openers is cut in one round.
    while (found := next(filter(None, (rule.match(prose, position) for rule in _OPENINGS)), None)) is not None:
        if found.end() >= len(prose) or _ONE_LETTER.search(found.group()):
            break
        position = found.end()
    if position:
        yield 0, position


# --- labels, marks and separators -------------------------------------------------------------------------------------

_STEP = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+)?(?:\*{2,3})?(?P<label>step[ \t]+(?P<number>\d{1,3}[a-z]?))"
    r"(?:(?P<delimiter>[.:)—–-])(?=[\s*])|(?=\*{2,3}(?P<after>[.:)—–-])?(?:\s|$))|(?=[ \t]*$))(?P<space>[ \t]*)",
    re.IGNORECASE | re.MULTILINE,
)
_STEP_MENTION = re.compile(r"\bsteps?[ \t~]+(\d{1,3}[a-z]?)", re.IGNORECASE)
_STEPS_MENTION = re.compile(r"\bsteps[ \t~]+[\d(\0]", re.IGNORECASE)


def _step_header(prose: str, text: str) -> Iterable[Cut]:
    """`Step 3:` at the start of a line, unless the text refers to that step or to several steps elsewhere."""
    headers = list(_STEP.finditer(prose))
    if not headers or _STEPS_MENTION.search(prose):
        return
    labels = {header.start("label") for header in headers}
    mentioned = {mention.group(1).lower() for mention in _STEP_MENTION.finditer(prose) if mention.start() not in labels}
    for header in headers:
        if header.group("number").lower() not in mentioned:
            yield header.start("label"), header.end("space")
            if header.group("after"):
                yield header.start("after"), header.end("after")


_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]++(?=[^\n]*(?:[^\W\d_]{3}|\0))(?P<title>[^\n]*)", re.MULTILINE)


def _heading(prose: str, text: str) -> Iterable[Cut]:
    """`### Title ###` -> `Title`; a line like `# S = 3` stays, as it counts something."""
    for found in _HEADING.finditer(prose):
        yield found.start(), found.start("title")
        title = found.group("title").rstrip()
        bare = title.rstrip("#")
        if bare != title and bare.endswith((" ", "\t")) and bare.strip():
            yield found.start("title") + len(bare.rstrip()), found.end()


# The look-behind comes after the stars it is about, so that the search can jump from star to star.
_BOLD = re.compile(r"(\*\*(?<![\w*\\]\*\*)\*?)(?=[^\s*])[^\n*]{1,400}?(?<=[^\s*\\])(\*{2,3})(?![\w*])")
_EMPTY_BOLD = re.compile(r"(?:^|(?<=[ \t]))\*{4}(?=[ \t]|$)", re.MULTILINE)


def _bold(prose: str, text: str) -> Iterable[Cut]:
    for found in _BOLD.finditer(prose):
        if len(found.group(1)) == len(found.group(2)):
            yield found.span(1)
            yield found.span(2)
    for found in _EMPTY_BOLD.finditer(prose):
        yield found.span()


def _rule_line(prose: str, text: str) -> Iterable[Cut]:
    return (found.span() for found in RULE_LINE.finditer(prose))


def _quote_mark(prose: str, text: str) -> Iterable[Cut]:
    return quote_marks(prose)


_ANY_EMOJI = re.compile(f"[{PICTURES}]")
_EMOJI_AT_START = re.compile(
    rf"^[ \t]*+(?:(?:[-*+]|#{{1,6}}|\d{{1,3}}[.)])[ \t]++)?(?:\*\*)?(?P<picture>[{PICTURES}]++[ \t]*+)"
    r"(?=[^\n]*(?:[^\W\d_]{2}|\0))",
    re.MULTILINE,
)
_EMOJI_AT_END = re.compile(rf"(?<![{PICTURES}])[{PICTURES}]++(?=(?:\*\*)?[ \t]*$)", re.MULTILINE)


def _emoji(prose: str, text: str) -> Iterable[Cut]:
    """Pictures at the start or the end of a line that has words; inside a sentence they may be what it is about."""
    if prose.isascii() or not _ANY_EMOJI.search(prose):
        return
    for found in _EMOJI_AT_START.finditer(prose):
        yield found.span("picture")
    for found in _EMOJI_AT_END.finditer(prose):
        line = prose[prose.rfind("\n", 0, found.start()) + 1 : found.start()]
        if re.search(r"[^\W\d_]{2}|\0", line):
            yield found.span()


# --- closing sections -------------------------------------------------------------------------------------------------

_SECTION_HEAD = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]+(?P<hashed>[^\n]*)|\*\*(?P<bold>[^\n*]{1,120})\*\*(?P<rest>[^\n]*))$", re.MULTILINE
)
_CLOSING_TITLE = re.compile(
    r"[\s*_#]*(?:(?:[IVX]+|\d+|[a-h])[.)][ \t]*)?"
    r"(?:(?:final|overall|sanity|self|double|quick|proof|solution)[ -]*)?"
    r"(?:verification|conclusion|summary|checks?|recap|final answer|concluding remarks?)"
    r"(?:[ \t]+(?:of|and)[ \t]+(?:the[ \t]+)?(?:proof|solution|argument|result|results|conclusion|summary))?[\s*_:.#]*",
    re.IGNORECASE,
)


def _closing_section(prose: str, text: str) -> Iterable[Cut]:
    """Sections at the very end, headed Verification, Conclusion, Summary, Check, ..., with no mathematics of their own.

    A section that holds anything which does not occur before it stays, and so do all sections above it.
    """
    end = len(text)
    for head in list(_SECTION_HEAD.finditer(prose))[: -MAX_CLOSING_SECTIONS - 1 : -1]:
        start = head.start()
        title = head.group("hashed") or head.group("bold") or ""
        if not _CLOSING_TITLE.fullmatch(title) or len(text) - start > MAX_SECTION_SHARE * len(text):
            break
        if not text[:start].strip() or not _repeats(text[start:end], text[:start]):
            break
        end = start
    if end < len(text):
        yield end, len(text)


def _repeats(section: str, rest: str) -> bool:
    if set(as_written(section)) <= set(as_written(rest)):
        return True
    return set(mathematics(section)) <= set(mathematics(rest))


# --- layout -----------------------------------------------------------------------------------------------------------

_BLANK_LINES = re.compile(r"(?<=\n)[ \t]*\n(?:[ \t]*\n)+")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)


def _layout(prose: str, text: str) -> Iterable[Cut]:
    """White space at line ends and at both ends of the text, and all but one of several blank lines."""
    lead = len(prose) - len(prose.lstrip(" \t\r\n"))
    tail = len(prose.rstrip(" \t\r\n"))
    if lead:
        yield 0, lead
    if tail < len(prose):
        yield tail, len(prose)
    if " \n" in prose or "\t\n" in prose:
        for found in _TRAILING.finditer(prose):
            yield found.span()
    for found in _BLANK_LINES.finditer(prose):
        yield prose.index("\n", found.start()) + 1, found.end()


PASSES: dict[str, Callable[[str, str], Iterable[Cut]]] = {
    "opening": _opening,
    "closing_section": _closing_section,
    "step_header": _step_header,
    "heading": _heading,
    "bold": _bold,
    "rule_line": _rule_line,
    "quote_mark": _quote_mark,
    "emoji": _emoji,
    "layout": _layout,
}
"""Every pass by name: (masked text, text) -> what to cut, as [start, end) of the text."""
