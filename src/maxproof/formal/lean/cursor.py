"""A place in a sequence of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.lexer import Kind, Token

KEYWORDS: Final = (
    *("fun", "if", "then", "else", "let", "in", "with", "by", "have", "show", "from", "where", "match", "do"),
)
_SPELLINGS: Final = {"/\\": "∧", "\\/": "∨", "->": "→", "<=": "≤", ">=": "≥", "λ": "fun", "=>": "↦"}


def spelling(token: Token) -> str:
    """The token's text; the Unicode one where Lean has two spellings."""
    return _SPELLINGS.get(token.text, token.text)


def shown(token: Token) -> str:
    """The token as messages write it."""
    return str(token.kind) if token.kind is Kind.END else f"`{token.text[:40]}`"


class Cursor:
    """Reads tokens from left to right."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """`tokens` ends with an END token."""
        self._tokens = tokens
        self._index = 0

    @property
    def here(self) -> Token:
        return self._tokens[self._index]

    def ahead(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._index + 1, len(self._tokens) - 1)]

    def at_symbol(self, *texts: str) -> bool:
        """Whether a symbol or keyword of `texts` comes next, in whichever spelling."""
        token = self.here
        if token.kind is Kind.IDENT:
            return token.text in texts and token.text in KEYWORDS
        return token.kind is Kind.SYMBOL and spelling(token) in texts

    def advance(self) -> Token:
        token = self.here
        if token.kind is not Kind.END:
            self._index += 1
        return token

    def take(self, *texts: str) -> Token:
        if not self.at_symbol(*texts):
            self.refuse(f"{shown(self.here)} where {' or '.join(f'`{t}`' for t in texts)} was expected")
        return self.advance()

    def refuse(self, construct: str, at: Token | None = None) -> NoReturn:
        raise NotTranslated(construct, (at or self.here).at)
