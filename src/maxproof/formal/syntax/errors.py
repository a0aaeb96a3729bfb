"""The one exception for Dafny text that doesn't read."""

from __future__ import annotations

from maxproof.formal.syntax.ast import Position


class DafnySyntaxError(Exception):
    """Text that is no Dafny, or Dafny outside the fragment of mathematical lemmas.

    Args:
        message: one line: what was found and what was expected; `not supported: ...` for proper Dafny that the syntax
            tree has no node for, with what to write instead.
        at: the place of the token at fault.
    """

    def __init__(self, message: str, at: Position) -> None:
        self.message = message
        self.at = at
        super().__init__(f"{at.line}:{at.column}: {message}")
