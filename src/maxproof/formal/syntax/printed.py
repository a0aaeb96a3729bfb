"""Text that grows, and remembers which node each of its characters came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from maxproof.formal.syntax.ast import NOWHERE, Node, Position


@dataclass(frozen=True, slots=True)
class _Span:
    """Characters `start` to `end` (exclusive) show what stood at `at`."""

    start: int
    end: int
    at: Position


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed program.

    Attributes:
        text: what to give to Dafny.
        spans: of each node with a place, outer ones before those inside them.
    """

    text: str
    spans: tuple[_Span, ...] = ()

    def origin(self, line: int, column: int) -> Position:
        """The place of the innermost node that is printed at 1-based `line` and `column`; NOWHERE if there is none."""
        starts = [0]
        for part in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(part))
        if not 1 <= line < len(starts):
            return NOWHERE
        offset = min(starts[line - 1] + column - 1, starts[line] - 1)
        before = bisect_right(self.spans, offset, key=lambda span: span.start)
        return next((span.at for span in reversed(self.spans[:before]) if offset < span.end), NOWHERE)


class Writer:
    """Text in the making: `write` appends, `open` and `close` bracket what a node prints."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._spans: list[_Span] = []

    def write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def open(self, node: Node) -> int:
        """Begins `node`; give the result to `close`."""
        if node.at == NOWHERE:
            return -1
        self._spans.append(_Span(self._length, self._length, node.at))
        return len(self._spans) - 1

    def close(self, opened: int) -> None:
        if opened >= 0:
            span = self._spans[opened]
            self._spans[opened] = _Span(span.start, self._length, span.at)

    def printed(self) -> Printed:
        return Printed("".join(self._parts), tuple(self._spans))
