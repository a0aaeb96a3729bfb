"""Lean 4 source text to tokens.

Identifiers keep their dots (`Real.sqrt`, `x.divisors.card`); which part is a namespace, a variable or a field is the
elaborator's business. Comments go. A character that begins no token becomes one of its own (kind OTHER): proofs may
hold anything, and only a statement that meets it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.syntax.ast import Position

MAX_CHARACTERS = 1_000_000
MAX_DIGITS = 1_000

# Longest first, so that the longest one matches.
_SYMBOLS = sorted(
    (
        *("⌋₊", "⌉₊", "⁻¹'", "⁻¹", "''", ":=", "->", "<-", "=>", "<=", ">=", "!=", "==", "/\\", "\\/", "<|", "|>"),
        *("&&", "||", "++", "::", "..", "<;>", "ℝ≥0∞", "ℝ≥0", "ℚ≥0", "ℕ+", "∑'", "∏'", "ᶜ"),
        *"()[]{}⟨⟩⌊⌋⌈⌉‖|,;:.·+-*/%^=<>!¬∧∨→←↔≤≥≠∣∤∈∉∋⊆⊂⊇⊃∪∩\\∘×•↑⇑↥√∛∑∏∫∀∃λ↦≡𝓝⋃⋂∅∞_@#?$&~⊤⊥⊕⊗⊢≈≃∆°‰",
        *("ℕ", "ℤ", "ℚ", "ℝ", "ℂ"),
    ),
    key=lambda s: (-len(s), s),
)
_BY_FIRST: dict[str, tuple[str, ...]] = {}
for _symbol in _SYMBOLS:
    _BY_FIRST[_symbol[0]] = (*_BY_FIRST.get(_symbol[0], ()), _symbol)


class Kind(StrEnum):
    IDENT = "identifier"
    NUMBER = "number"
    SYMBOL = "symbol"
    STRING = "string"
    OTHER = "character"
    END = "end of text"


@dataclass(frozen=True, slots=True)
class Token:
    """`start` and `end` are offsets into the text; `spaced` says whether white space or a comment stands before it."""

    kind: Kind
    text: str
    at: Position
    start: int
    end: int
    spaced: bool


def tokenize(text: str) -> tuple[Token, ...]:
    """Tokens of a Lean text, an END token last.

    Raises:
        NotTranslated: a comment or string that doesn't end, a number of more than MAX_DIGITS digits, or a text of more
            than MAX_CHARACTERS characters.
    """
    if len(text) > MAX_CHARACTERS:
        raise NotTranslated(f"a text of more than {MAX_CHARACTERS} characters", Position(1, 1))
    tokens: list[Token] = []
    index, line, line_start, spaced = 0, 1, 0, True
    while index < len(text):
        char = text[index]
        at = Position(line, index - line_start + 1)
        if char == "\n":
            line, line_start = line + 1, index + 1
            index, spaced = index + 1, True
            continue
        if char.isspace():
            index, spaced = index + 1, True
            continue
        if text.startswith("--", index):
            end = text.find("\n", index)
            index, spaced = (len(text) if end < 0 else end), True
            continue
        if text.startswith("/-", index):
            end = _comment_end(text, index, at)
            breaks = text.count("\n", index, end)
            if breaks:
                line, line_start = line + breaks, text.rfind("\n", index, end) + 1
            index, spaced = end, True
            continue
        kind, end = _token_end(text, index, at)
        tokens.append(Token(kind, text[index:end], at, index, end, spaced))
        breaks = text.count("\n", index, end)
        if breaks:
            line, line_start = line + breaks, text.rfind("\n", index, end) + 1
        index, spaced = end, False
    tokens.append(Token(Kind.END, "", Position(line, len(text) - line_start + 1), len(text), len(text), spaced))
    return tuple(tokens)


def _comment_end(text: str, start: int, at: Position) -> int:
    depth, index = 1, start + 2
    while depth:
        opened, closed = text.find("/-", index), text.find("-/", index)
        if closed < 0:
            raise NotTranslated("a comment that doesn't end", at)
        if 0 <= opened < closed:
            depth, index = depth + 1, opened + 2
        else:
            depth, index = depth - 1, closed + 2
    return index


def _token_end(text: str, start: int, at: Position) -> tuple[Kind, int]:
    char = text[start]
    if char.isascii() and char.isdigit():
        return Kind.NUMBER, _number_end(text, start, at)
    if char == '"':
        index = start + 1
        while index < len(text) and text[index] != '"':
            index += 2 if text[index] == "\\" else 1
        if index >= len(text):
            raise NotTranslated("a string that doesn't end", at)
        return Kind.STRING, index + 1
    if _begins_identifier(char) or (char == "_" and start + 1 < len(text) and _continues(text[start + 1])):
        return Kind.IDENT, _identifier_end(text, start)
    if char == "«":
        end = text.find("»", start)
        return (Kind.OTHER, start + 1) if end < 0 else (Kind.IDENT, end + 1)
    for symbol in _BY_FIRST.get(char, ()):
        if text.startswith(symbol, start):
            return Kind.SYMBOL, start + len(symbol)
    return Kind.OTHER, start + 1


def _number_end(text: str, start: int, at: Position) -> int:
    index = start
    while index < len(text) and text[index].isascii() and text[index].isdigit():
        index += 1
    if index + 1 < len(text) and text[index] == "." and text[index + 1].isascii() and text[index + 1].isdigit():
        index += 1
        while index < len(text) and text[index].isascii() and text[index].isdigit():
            index += 1
    if index - start > MAX_DIGITS:
        raise NotTranslated(f"a number of more than {MAX_DIGITS} digits", at)
    return index


def _begins_identifier(char: str) -> bool:
    """Lean's own letters: Latin, Greek without λ Π Σ, Coptic, and the letter-like and script blocks but ℕ ℤ ℚ ℝ ℂ."""
    if char.isascii():
        return char.isalpha()
    if char in "λΠΣℕℤℚℝℂ":
        return False
    code = ord(char)
    return (
        0x3B1 <= code <= 0x3C9
        or 0x391 <= code <= 0x3A9
        or 0x3CA <= code <= 0x3FB
        or 0x1F00 <= code <= 0x1FFE
        or 0x2100 <= code <= 0x214F
        or (0x1D49C <= code <= 0x1D59F and char != "𝓝")
        or (0xC0 <= code <= 0x17F and code not in (0xD7, 0xF7))
    )


def _continues(char: str) -> bool:
    code = ord(char)
    if char.isascii():
        return char.isalnum() or char in "_'!?"  # Lean reads `n!` as one identifier too
    return _begins_identifier(char) or 0x2080 <= code <= 0x2089 or 0x2090 <= code <= 0x209C or 0x1D62 <= code <= 0x1D6A


def _identifier_end(text: str, start: int) -> int:
    index = start + 1
    while True:
        while index < len(text) and _continues(text[index]):
            index += 1
        dotted = index + 1 < len(text) and text[index] == "." and _begins_identifier(text[index + 1])
        if not dotted:
            return index
        index += 1
