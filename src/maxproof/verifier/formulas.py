r"""Where the formulas of a Markdown or LaTeX text are, in one linear pass.

Protected are `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, environments such as `align` or `cases`, code spans and code fences. An
opener without its closer is ordinary text. Inline forms end at a blank line at the latest, as in TeX, so one stray
dollar sign spoils a paragraph at most. Environments that hold prose (`proof`, `enumerate`, ...) are looked through.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

# fmt: off
PROSE_ENVIRONMENTS = frozenset((
    "abstract", "case", "center", "claim", "corollary", "definition", "description", "document", "enumerate", "example",
    "itemize", "lemma", "note", "proof", "proposition", "quotation", "quote", "remark", "solution", "step", "theorem",
))
# fmt: on

_TOKEN = re.compile(
    r"\\begin\{(?P<begin>[A-Za-z]+\*?)\}|\\end\{(?P<end>[A-Za-z]+\*?)\}"
    r"|\\[\\$`]|(?P<delimiter>\\[()\[\]]|\$\$?|```+|`)|(?P<blank>\n[ \t]*(?=\n))"
)
_CLOSER = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]", "```": "```", "`": "`"}
_ENDS_AT_BLANK_LINE = frozenset(("$", r"\(", "`"))


class Span(NamedTuple):
    """A protected part: [start, end) with its delimiters, [inner_start, inner_end) without."""

    start: int
    end: int
    inner_start: int
    inner_end: int


@lru_cache(maxsize=8)
def formula_spans(text: str) -> tuple[Span, ...]:
    """The protected parts of `text`, in order, not overlapping. Linear in the length of the text up to a log factor."""
    kinds, starts, ends, partners, blanks = _tokens(text)
    places: dict[str, list[int]] = defaultdict(list)
    for index, kind in enumerate(kinds):
        places[kind].append(index)
    spans = []
    index = 0
    while index < len(kinds):
        kind = kinds[index]
        close = partners.get(index)
        environment = close is not None
        if close is None and kind in _CLOSER:
            close = _next(places[_CLOSER[kind]], index)
            if close is not None and kind in _ENDS_AT_BLANK_LINE:
                blank = _next(blanks, starts[index])
                close = close if blank is None or starts[close] < blank else None
        if close is None:
            index += 1
        elif environment:  # its name is a part of the formula
            spans.append(Span(starts[index], ends[close], starts[index], ends[close]))
            index = close + 1
        else:
            spans.append(Span(starts[index], ends[close], ends[index], starts[close]))
            index = close + 1
    return tuple(spans)


def masked(text: str, spans: tuple[Span, ...]) -> str:
    """`text` with every protected part replaced by as many NULs, so that no rule about prose can match inside."""
    if not spans:
        return text
    parts = []
    position = 0
    for span in spans:
        parts += [text[position : span.start], "\0" * (span.end - span.start)]
        position = span.end
    return "".join([*parts, text[position:]])


def _tokens(text: str) -> tuple[list[str], list[int], list[int], dict[int, int], list[int]]:
    """Kind, start and end of each delimiter, the closing partner of each `begin`, and where blank lines are."""
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    blanks: list[int] = []
    partners: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    depth: dict[str, int] = defaultdict(int)
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group is None:  # an escaped character
            continue
        if group == "blank":
            blanks.append(match.start())
            continue
        name = match[group]
        if group == "delimiter":
            kinds.append("```" if name.startswith("```") else name)
        elif name in PROSE_ENVIRONMENTS:
            continue
        else:
            if group == "begin":
                opened.append((name, len(kinds)))
                depth[name] += 1
            elif depth[name]:
                while True:  # environments left open inside this one are dropped
                    top, start = opened.pop()
                    depth[top] -= 1
                    if top == name:
                        break
                partners[start] = len(kinds)
            kinds.append(group)
        starts.append(match.start())
        ends.append(match.end())
    return kinds, starts, ends, partners, blanks


def _next(sorted_values: list[int], value: int) -> int | None:
    position = bisect_right(sorted_values, value)
    return sorted_values[position] if position < len(sorted_values) else None
