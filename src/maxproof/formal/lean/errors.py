"""What the translator says when it doesn't translate."""

from __future__ import annotations

from maxproof.formal.syntax.ast import Position


class NotTranslated(Exception):
    """A Lean statement that has no translation.

    Attributes:
        construct: the construct that stands in the way, as the source writes it or by its name.
        line, column: its place in the Lean text that was given, both from 1.
        name: the theorem, "" where it isn't known yet.
    """

    def __init__(self, construct: str, at: Position, name: str = "") -> None:
        super().__init__(construct, at, name)
        self.construct = construct
        self.line = at.line
        self.column = at.column
        self.name = name

    def __str__(self) -> str:
        theorem = f"{self.name}: " if self.name else ""
        return f"{theorem}line {self.line}, column {self.column}: not translated: {self.construct}"
