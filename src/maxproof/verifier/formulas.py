r"""Where the formulas of a Markdown or LaTeX text are, in one linear pass.

Protected are `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, environments such as `align` or `cases`, code spans and code fences. An
opener without its closer is ordinary text. Inline forms end at a blank line at the latest, as in TeX, so one stray
dollar sign spoils a paragraph at most. Environments that hold prose (`proof`, `enumerate`, ...) are looked through.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

# fmt: off
PROSE_ENVIRONMENTS = frozenset((
    "abstract", "case", "center", "claim", "corollary", "definition", "description", "document", "enumerate", "example",
    "itemize", "lemma", "note", "proof", "proposition", "quotation", "quote", "remark", "solution", "step", "theorem",
))
# fmt: on

_TOKEN = re.compile(
    r"\\begin\{(?P<begin>[A-Za-z]+\*?)\}|\\end\{(?P<end>[A-Za-z]+\*?)\}"
    r"|(?P<delimiter>\\[()\[\]]|(?<!\\)\$\$?|```+|`)|\\.|(?P<blank>\n[ \t]*(?=\n))",
    re.DOTALL,
)
_CLOSER = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]", "```": "```", "`": "`"}
_ENDS_AT_BLANK_LINE = frozenset(("$", r"\(", "`"))


class Span(NamedTuple):
    """A protected part: [start, end) with its delimiters, [inner_start, inner_end) without."""

    start: int
    end: int
    inner_start: int
    inner_end: int


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


def formula_spans(text: str) -> tuple[Span, ...]:
    """The protected parts of `text`, in order, not overlapping. Linear in the length of the text up to a log factor."""
    tokens, blanks, environments = _tokens(text)
    places: dict[str, list[int]] = defaultdict(list)
    for index, token in enumerate(tokens):
        places[token.kind].append(index)
    spans = []
    index = 0
    while index < len(tokens):
        opener = tokens[index]
        close = environments.get(index)
        if close is None and opener.kind in _CLOSER:
            close = _next(places[_CLOSER[opener.kind]], index)
            if close is not None and opener.kind in _ENDS_AT_BLANK_LINE:
                blank = _next(blanks, opener.start)
                close = close if blank is None or tokens[close].start < blank else None
        if close is None:
            index += 1
            continue
        closer = tokens[close]
        if index in environments:  # the environment's name is a part of the formula
            spans.append(Span(opener.start, closer.end, opener.start, closer.end))
        else:
            spans.append(Span(opener.start, closer.end, opener.end, closer.start))
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


def _tokens(text: str) -> tuple[list[_Token], list[int], dict[int, int]]:
    """Delimiter tokens, positions of blank lines, and for each environment's opening token its closing one."""
    tokens: list[_Token] = []
    blanks: list[int] = []
    partners: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    depth: dict[str, int] = defaultdict(int)
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "blank":
            blanks.append(match.start())
        elif kind == "delimiter":
            name = match.group()
            tokens.append(_Token("```" if name.startswith("```") else name, match.start(), match.end()))
        elif kind is not None and match.group(kind) not in PROSE_ENVIRONMENTS:
            name = match.group(kind)
            if kind == "begin":
                opened.append((name, len(tokens)))
                depth[name] += 1
            elif depth[name]:
                while True:  # environments left open inside this one are dropped
                    top, start = opened.pop()
                    depth[top] -= 1
                    if top == name:
                        break
                partners[start] = len(tokens)
            tokens.append(_Token(kind, match.start(), match.end()))
    return tokens, blanks, partners


def _next(sorted_values: list[int], value: int) -> int | None:
    position = bisect_right(sorted_values, value)
    return sorted_values[position] if position < len(sorted_values) else None
