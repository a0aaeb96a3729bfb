"""Text laid out for a terminal: whatever stands at its left margin is ours.

A text of a model or a file is indented, and cut here before the terminal would cut it: a line that the terminal breaks
goes on at the margin, where it could pass for a verdict of ours. Widths are counted in cells, of which a wide character
takes two. Hidden characters are made visible first, since that lengthens a line. All of it takes linear time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import east_asian_width

from maxproof.models.template import visible

WIDTH = 100
MIN_WIDTH = 40
TAB = 8


def terminal_width() -> int:
    """Cells in a line of standard output: the terminal's, at least MIN_WIDTH; WIDTH where it is no terminal."""
    return max(MIN_WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH


def quoted(text: str, width: int, prefix: str = "  ") -> str:
    """A model's text as it is, each line after `prefix`, none wider than `width` cells.

    No character is left out: a longer line is cut after a blank or in a word. Tabs become blanks.
    """
    lines = visible(text).strip("\n").split("\n")
    room = width - len(prefix)
    return "\n".join(prefix + piece for line in lines for piece in _pieces(line.expandtabs(TAB), room))


def filled(text: str, width: int, indent: str = "  ", first: str = "") -> str:
    """A paragraph with its white space joined, the first line after `first`, the further ones after `indent`."""
    lines: list[str] = []
    line, used = first, cell_width(first)
    empty = True
    for word in visible(text).split():
        size = cell_width(word)
        if not empty and used + 1 + size <= width:
            line, used = f"{line} {word}", used + 1 + size
            continue
        if not empty:
            lines.append(line)
            line, used = indent, cell_width(indent)
        *full, last = _pieces(word, width - max(used, cell_width(indent)))
        for piece in full:
            lines.append(line + piece)
            line, used = indent, cell_width(indent)
        line, used, empty = line + last, used + cell_width(last), False
    return "\n".join([*lines, line])


def listed(lines: Iterable[str], width: int) -> str:
    """Paragraphs as a list, one point each."""
    return "\n".join(filled(line, width, first="- ") for line in lines)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as columns, as wide as their widest value."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def shortened(text: str, width: int) -> str:
    """The beginning of a text on one line of at most `width` cells; "" where there is no room to say anything."""
    line = one_line(text[: 8 * WIDTH])
    if cell_width(line) <= width and len(text) <= 8 * WIDTH:
        return line
    return next(_pieces(line, width - 2)).rstrip() + " …" if width >= TAB else ""


def one_line(text: str) -> str:
    """Hidden characters made visible, white space joined."""
    return " ".join(visible(text).split())


def cell_width(text: str) -> int:
    """The most cells that a text without control characters takes; a combining character is counted as one."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    return 2 if east_asian_width(character) in "WF" else 1


def _pieces(line: str, room: int) -> Iterator[str]:
    """Cuts a line into pieces of at most `room` >= 2 cells, after the last blank of its second half if there is one."""
    start = at = used = 0
    while at < len(line):
        size = 1 if line[at] < "\x7f" else _cells(line[at])
        if used + size > room:
            blank = line.rfind(" ", start + (at - start) // 2, at)
            end = blank + 1 if blank >= 0 else at
            yield line[start:end]
            start = at = end
            used = 0
            continue
        used += size
        at += 1
    yield line[start:]
