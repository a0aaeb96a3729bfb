r"""The content guard: a rewritten proof holds the mathematics of the original, no more and no less.

The *mathematics* of a text is the sequence of

- its formulas (see `formulas.py`), each as its TeX tokens, read by pylatexenc, without delimiters, white space, spacing
  macros, braces around one token, and punctuation at the end: `$x^{2}.$` and `\(x^2\)` are the same formula;
- its *plain mathematics* between the formulas: words with a digit or a mathematical sign in them (`a_1=2k`, `n≥3`,
  `17`), applications (`f(n)`), names of points and variables (`ABC`, `x`; not `a`, `A` and `I`), without Markdown stars
  and punctuation at their ends. Marks that only order or decorate the text (`Step 3`, `2.` or `>` at the start of a
  line, a line of dashes) are not mathematics.

A rewrite is accepted iff

1. the mathematics of the result is a subsequence of that of the original: nothing is new, changed, repeated or moved;
2. nothing is lost. The rules of layer 2 may drop repetitions only (in a closing section): every distinct item of the
   original still occurs in their result. A model may drop only what the rules drop: the mathematics of the rule-based
   result is a subsequence of that of the model's;
3. a model's rewrite is at most 10 % and 200 characters longer than the original. Words carry mathematics too: this
   bounds how much of it a model could slip in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pylatexenc.latexwalker import LatexWalker, LatexWalkerEndOfStream, LatexWalkerError

from maxproof.verifier.formulas import formula_spans, masked

MAX_TOKENISED_CHARS = 20_000
"""A longer formula is split into tokens by a regular expression: pylatexenc takes about 4 µs a character."""

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S", re.DOTALL)
_SPACING = frozenset((r"\,", r"\;", r"\:", r"\!", r"\>", r"\ ", "\\\n", r"\quad", r"\qquad", "~", r"\displaystyle"))
_CLOSING_PUNCTUATION = frozenset(".,;:")

RULE_LINE = re.compile(r"^[ \t]*(?:[-*_=~─━═—][ \t]*){3,}$\n?", re.MULTILINE)
"""A line that only separates."""

PICTURES = (
    "\u2705\u2728\u274c\u274e\u2753-\u2755\u2757\u26a0\u2b50\ufe0f\u200d\U0001f1e6-\U0001f1ff\U0001f300-\U0001f533"
    "\U0001f53e-\U0001f5ff\U0001f600-\U0001f6ff\U0001f900-\U0001faff"
)
"""Pictures that decorate, as a regular expression class. Coloured discs and squares, dice, cards and most stars are not
in it: proofs use them as objects."""

_QUOTE_MARK = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+(?=[ \t]*(?:\*\*|[A-Z][a-z]{2,}))", re.MULTILINE)
_NEXT_QUOTE_MARK = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+(?=[ \t]*(?:\*\*|[A-Za-z]{2,}[ \t,]|\n))")
_LABEL = re.compile(
    rf"^(?:[ \t#*_{PICTURES}]|-[ \t])*+(?:step[ \t]+\d{{1,3}}[a-z]?(?![\w^])|\d{{1,3}}[.)](?=[\s*]))",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"[^\s\0]+")
_SIGN = re.compile(
    r"[\d=<>^+/\\|~_±×÷·√∞°′¬∂∇\u0370-\u03ff\u2070-\u209f\u2190-\u22ff\u2a00-\u2aff]"
    r"|\w\(|^\W*(?:[A-Z]{2,}|[B-HJ-Zb-z])['’]*\W*$"
)


def mathematics(text: str) -> tuple[str, ...]:
    """The mathematics of a text, in order, one string an item. Never raises; linear in the length of the text."""
    return tuple(formula_tokens(item) if is_formula else item for _, is_formula, item in _items(text))


def as_written(text: str) -> tuple[str, ...]:
    """The same, with the formulas as they are written. Texts that agree here agree in `mathematics`; far cheaper."""
    return tuple(item for _, _, item in _items(text))


def _items(text: str) -> list[tuple[int, bool, str]]:
    """(position, whether it is a formula, the item) of all the mathematics of a text."""
    spans = formula_spans(text)
    prose = _blanked(masked(text, spans))
    items = [
        (found.start(), False, item)
        for found in _WORD.finditer(prose)
        if not _is_plain(word := found[0]) and _SIGN.search(word) and _SIGN.search(item := _trimmed(word))
    ]
    items += [(span.start, True, text[span.inner_start : span.inner_end]) for span in spans]
    return sorted(items)


def quote_marks(prose: str) -> Iterator[tuple[int, int]]:
    """The marks of Markdown quotations, as [start, end): `> Since ...` and the marked lines right after it.

    A line that begins with `> 0` or `> x` continues an inequality instead.
    """
    position = -1
    for found in _QUOTE_MARK.finditer(prose):
        if found.start() < position:
            continue
        yield found.span()
        position = prose.find("\n", found.end()) + 1
        while position and (mark := _NEXT_QUOTE_MARK.match(prose, position)) is not None:
            yield mark.span()
            position = prose.find("\n", mark.end()) + 1
        position = position or len(prose)


def _blanked(prose: str) -> str:
    """`prose` with blanks for what only orders or decorates."""
    parts = []
    position = 0
    for start, end in quote_marks(prose):
        parts += [prose[position:start], " " * (end - start)]
        position = end
    prose = "".join([*parts, prose[position:]])
    for mark in (RULE_LINE, _LABEL):
        prose = mark.sub(lambda found: " " * len(found.group()), prose)
    return prose


def _is_plain(word: str) -> bool:
    """A word of Latin letters that can't be a name: the common case, decided without a regular expression."""
    return len(word) > 1 and word.isascii() and word.isalpha() and not word.isupper()


def _trimmed(word: str) -> str:
    """`word` without what a sentence puts around it: Markdown marks, quotation marks, punctuation, an odd bracket."""
    word = word.strip('*_`#"“”,;:.?…–—')
    if word.startswith(("(", "[")) and word.count("(") + word.count("[") > word.count(")") + word.count("]"):
        word = word[1:]
    if word.endswith((")", "]")) and word.count(")") + word.count("]") > word.count("(") + word.count("["):
        word = word[:-1]
    return word.strip('*_`"“”,;:.?')


@lru_cache(maxsize=4096)
def formula_tokens(formula: str) -> str:
    """One formula, delimiters removed, as its TeX tokens joined by blanks. Never raises."""
    tokens = [token for token in _tex_tokens(formula) if token not in _SPACING]
    while tokens and tokens[-1] in _CLOSING_PUNCTUATION:
        tokens.pop()
    plain: list[str] = []
    for token in tokens:
        if token == "}" and len(plain) >= 2 and plain[-2] == "{" and plain[-1] != "}":
            plain[-2:] = [plain[-1]]
        else:
            plain.append(token)
    return " ".join(plain)


def violation(before: Sequence[str], after: Sequence[str], required: Sequence[str] | None = None) -> str:
    """Why a rewrite is refused (rules 1 and 2 of the module's text), as one line; "" if it is accepted.

    All three are results of `mathematics`. With `required` None, every distinct item of `before` must occur in `after`;
    else `required` must be a subsequence of `after`.
    """
    added = _out_of_order(before, after)
    if added is not None:
        return f"not in the original at this place: {_shown(added)}"
    if required is None:
        kept = set(after)
        lost = next((item for item in before if item not in kept), None)
    else:
        lost = _out_of_order(after, required)
    return "" if lost is None else f"missing from the rewrite: {_shown(lost)}"


def _out_of_order(whole: Sequence[str], part: Sequence[str]) -> str | None:
    """The first item of `part` that makes it no subsequence of `whole`; None if it is one."""
    rest = iter(whole)
    return next((item for item in part if not any(item == other for other in rest)), None)


def too_long(before: str, after: str) -> bool:
    """Rule 3 of the module's text."""
    return len(after) > 1.1 * len(before) + 200


def _tex_tokens(formula: str) -> list[str]:
    if len(formula) > MAX_TOKENISED_CHARS:
        return _TOKEN.findall(formula)
    walker = LatexWalker(formula)
    tokens: list[str] = []
    position = 0
    # Token by token: parsing to nodes recurses, and hostile text nests without end.
    while True:
        try:
            token = walker.get_token(position)
        except LatexWalkerEndOfStream:
            return tokens
        except (LatexWalkerError, ValueError, IndexError):  # hostile TeX, e.g. a broken \begin
            return _TOKEN.findall(formula)
        end = token.pos + token.len
        if end <= position:
            return _TOKEN.findall(formula)
        tokens.append(" ".join(formula[token.pos : end].split()))
        position = end


def _shown(item: str) -> str:
    return item if len(item) <= 80 else item[:79] + "…"
