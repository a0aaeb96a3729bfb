"""Walking over tokens: looking ahead, expecting, and refusing with the place.

Recursion is bounded here: whatever nests in the text enters `deeper`, so that hostile nesting ends in a
`DafnySyntaxError` long before Python's own limit.
"""

from __future__ import annotations

from typing import Final, NoReturn

from maxproof.formal.syntax.ast import Position
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.tokens import Token, tokenize

MAX_NESTING: Final = 100


class Cursor:
    """A place in a text's tokens. Raises DafnySyntaxError from tokenizing and wherever something else was expected."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._index = 0
        self._nesting = 0
        self._closers: dict[int, int] | None = None

    @property
    def token(self) -> Token:
        return self._tokens[self._index]

    @property
    def at(self) -> Position:
        return self._tokens[self._index].at

    def ahead(self, count: int = 1) -> Token:
        """The token `count` places on; the end stays the end."""
        return self._tokens[min(self._index + count, len(self._tokens) - 1)]

    def next(self) -> Token:
        token = self._tokens[self._index]
        if token.kind != "end":
            self._index += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Whether one of these symbols or words comes next."""
        token = self._tokens[self._index]
        return token.text in texts and token.kind in ("symbol", "word")

    def accept(self, text: str) -> bool:
        if self.sees(text):
            self._index += 1
            return True
        return False

    def expect(self, text: str, place: str = "") -> Token:
        if not self.sees(text):
            self.fail(f"'{text}'" + (f" {place}" if place else ""))
        return self.next()

    def name(self, what: str = "a name") -> Token:
        """The name that must come next."""
        token = self.token
        if token.kind == "word":
            raise DafnySyntaxError(f"found the reserved word '{token.text}', expected {what}", token.at)
        if token.kind != "name":
            self.fail(what)
        if token.text.startswith(("_", "?")):
            raise DafnySyntaxError(f"found '{token.text}', expected {what}, which starts with a letter", token.at)
        return self.next()

    def fail(self, expected: str) -> NoReturn:
        raise DafnySyntaxError(f"found {self.token}, expected {expected}", self.at)

    def refuse(self, construct: str, advice: str, at: Position | None = None) -> NoReturn:
        """Proper Dafny that has no node."""
        raise DafnySyntaxError(f"not supported: {construct}; {advice}", at or self.at)

    def deeper(self, levels: int = 1) -> None:
        """Enters a nested construct; leave it with `deeper(-1)`."""
        self._nesting += levels
        if self._nesting > MAX_NESTING:
            raise DafnySyntaxError(f"nested more than {MAX_NESTING} deep; split it up", self.at)

    def after_parenthesis(self) -> Token:
        """The token after the `)` that closes the `(` which comes next; the end if nothing closes it."""
        if self._closers is None:
            self._closers = _closing_parentheses(self._tokens)
        closer = self._closers.get(self._index, len(self._tokens) - 2)
        return self._tokens[min(closer + 1, len(self._tokens) - 1)]


def _closing_parentheses(tokens: tuple[Token, ...]) -> dict[int, int]:
    closers: dict[int, int] = {}
    open_ones: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "symbol":
            continue
        if token.text == "(":
            open_ones.append(index)
        elif token.text == ")" and open_ones:
            closers[open_ones.pop()] = index
    return closers
