"""Canonical text: any text in the spacing and the characters of the proof world's language, one sentence a line.

Numbers and signs stand between single spaces (`3 x + 4 = -10.`); `-3` and `-x` are glued where no subtraction can be
meant, as are `x^2` and `3/4`; a point ends a sentence unless a digit stands on both sides. A `<` before a word is
dropped, so no canonical text can hold `<end>`, `<sep>` or `</verdict>`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_CHARS = 20_000
"""Of a longer text only the beginning is read."""
MAX_WORD = 24

_TOKEN = re.compile(r"#{1,6}|[<>!]=|[0-9]+\.[0-9]+|[0-9]+|[A-Za-z_]+(?:'[a-z]+)?|\S")
_LIST_NUMBER = re.compile(r"[ \t]*\d{1,3}[.)][ \t]+(?=\S)")
_ALLOWED = frozenset("+-*/^=<>().,:;?!'")
_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\u2014", "-"),
        **dict.fromkeys("\u00d7\u00b7\u22c5", "*"),
        **dict.fromkeys("\u2018\u2019", "'"),
        "\u00f7": "/",
        "\u2264": "<=",
        "\u2265": ">=",
        "\u2260": "!=",
        "\u00b2": "^2",
        "\u00b3": "^3",
        "$": " ",
        "`": " ",
    }
)
_VARIABLES = frozenset("abkmnxyz")
_NO_SPACE_BEFORE = frozenset((")", ".", ",", ":", "^"))
_BEFORE_SIGN = frozenset("(+-*/^=<>,:;") | {"<=", ">=", "!="}


def canonical(text: str) -> str:
    """`text` in the spacing of the language, one sentence a line; "" when nothing is left. Idempotent, never raises.

    Characters that the language doesn't have become `?`, as do words of more than `MAX_WORD` letters; bold and list
    numbers at a line's start go. Beyond `MAX_CHARS` characters nothing is read.
    """
    lines: list[str] = []
    for raw in text[:MAX_CHARS].translate(_SAME).replace("**", " ").splitlines():
        lines += _sentences(raw)
    return "\n".join(lines)


def _sentences(raw: str) -> list[str]:
    while (number := _LIST_NUMBER.match(raw)) is not None:
        raw = raw[number.end() :]
    found = list(_TOKEN.finditer(raw))
    sentences: list[str] = []
    parts: list[str] = []
    before = ""  # the token before this one, in this sentence
    glue = False  # the next token follows without a space
    for index, match in enumerate(found):
        token = "" if match.group() == "<" and _opens_tag(found, index) else _readable(match.group(), before)
        if not token:
            continue
        after = found[index + 1] if index + 1 < len(found) else None
        glued = after is not None and after.start() == match.end()
        on_digit = glued and after is not None and after.group()[0].isdigit()
        fraction = token == "/" and on_digit and before.isdigit() and raw[match.start() - 1].isdigit()
        if parts and not glue and not fraction and token not in _NO_SPACE_BEFORE:
            parts.append(" ")
        parts.append(token)
        signed = on_digit or (glued and after is not None and (after.group() == "(" or after.group() in _VARIABLES))
        glue = fraction or token in ("(", "^") or (token == "-" and signed and _takes_sign(before))
        before = token
        if token == ".":
            if len(parts) > 1:
                sentences.append("".join(parts))
            parts, before, glue = [], "", False
    if parts:
        sentences.append("".join(parts))
    return sentences


def _readable(token: str, before: str) -> str:
    """The token as the language has it; "" to leave it out."""
    if token[0] == "#":
        return "" if before else "###"
    if token[0].isdigit() and token.isascii():
        return token
    if token[0].isalpha() or token[0] == "_":
        known = len(token) <= MAX_WORD and token.isascii()
    else:
        known = token in ("<=", ">=", "!=") or token in _ALLOWED
    return token if known else "" if before == "?" else "?"


def _opens_tag(found: Sequence[re.Match[str]], index: int) -> bool:
    """Whether the `<` at `index` stands before a word, or last: a comparison has a number or a variable after it."""
    after = index + 1
    while after < len(found) and found[after].group() in ("<", "/"):
        after += 1
    return after == len(found) or (len(word := found[after].group()) > 1 and not word[0].isdigit())


def _takes_sign(before: str) -> bool:
    """After this token `-3` is a number; after others it is a subtraction."""
    return not before or before in _BEFORE_SIGN or (len(before) > 1 and before[0].isalpha())


def token_count(text: str) -> int:
    """How many tokens a text takes, to be on the safe side: a number beyond -99..199 counts a token a digit."""
    count = text.count("\n")
    for token in _TOKEN.findall(text):
        count += len(token) if token[0].isdigit() and (len(token) > 3 or (token > "199" and len(token) == 3)) else 1
    return count
