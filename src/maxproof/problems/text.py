"""From bytes on disk to text: bounded reads, UTF-8 only, and one clear line for whatever is wrong with a file."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from maxproof.problems.errors import InputError, Place

_OTHER_BOMS = ((b"\xff\xfe\x00\x00", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_SAVE_AS = "save it as UTF-8"


def read_text(path: Path, limit: int) -> str:
    """The whole file as text with `\\n` line ends; InputError if it has more than `limit` bytes or isn't UTF-8."""
    with opened(path) as file:
        data = file.read(limit + 1)
    return bounded_text(data, str(path), limit)


Advance = Callable[[int], None]
"""Called with the number of bytes that were read since the last call."""


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line of a file: 1-based number, byte offset at which it starts, bytes; `cut`: these are only its beginning."""

    number: int
    offset: int
    data: bytes
    cut: bool = False

    def text(self, path: Path) -> str:
        """The line with its line end. Raises InputError: longer than was read, not UTF-8."""
        if self.cut:
            raise InputError(f"line longer than {len(self.data):,} bytes", file=path, line=self.number)
        return decode(self.data, str(path), line=self.number, offset=self.offset)


def read_raw_lines(path: Path, limit: int, advance: Advance | None = None) -> Iterator[RawLine]:
    """Streams a file's lines, each cut at `limit` bytes. Raises InputError for a file that can't be read at all."""
    offset = number = 0
    with opened(path) as file:
        while data := file.readline(limit + 1):
            number += 1
            length, end = len(data), data.endswith(b"\n")
            cut = length > limit
            while cut and not end and (more := file.readline(limit)):
                length, end = length + len(more), more.endswith(b"\n")
            yield RawLine(number, offset, data[:limit], cut)
            offset += length
            if advance is not None:
                advance(length)


def read_lines(path: Path, limit: int) -> Iterator[tuple[int, str]]:
    """Streams (1-based line number, line with its line end); InputError if a line has more than `limit` bytes."""
    for line in read_raw_lines(path, limit):
        yield line.number, line.text(path)


def decode(data: bytes, file: str, *, line: int = 1, offset: int = 0) -> str:
    """UTF-8 bytes that start at `line` and byte `offset` of `file`, as text without a byte-order mark.

    Raises InputError with line and byte offset for another encoding or a NUL byte.
    """
    if offset == 0:
        for bom, encoding in _OTHER_BOMS:
            if data.startswith(bom):
                raise InputError(f"encoded in {encoding}, expected UTF-8", file=file, hint=_SAVE_AS)
    nul = data.find(b"\0")
    if nul >= 0:
        where = Place(file, line + data.count(b"\n", 0, nul))
        raise where.error(f"NUL byte at offset {offset + nul}: not a text file, or not UTF-8", hint=_SAVE_AS)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = Place(file, line + data.count(b"\n", 0, error.start))
        at = f"byte 0x{data[error.start]:02x} at offset {offset + error.start}"
        raise where.error(f"not UTF-8: {at}", hint=_SAVE_AS) from None
    return text.removeprefix("\ufeff") if offset == 0 else text


def unix_newlines(text: str) -> str:
    """`text` with `\\n` line ends, so that a problem is the same problem on every system."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def bounded_text(data: bytes, name: str, limit: int) -> str:
    """The text of a whole file of at most `limit` bytes, with `\\n` line ends. Raises InputError."""
    if len(data) > limit:
        raise InputError(f"larger than {limit:,} bytes", file=name)
    return unix_newlines(decode(data, name))


@contextmanager
def opened(path: Path, *, regular: bool = True) -> Iterator[BinaryIO]:
    """Opens a file to read bytes. Every operating system error, then or later, is an InputError.

    `regular` refuses pipes and devices, which could block or never end.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError("a directory, expected a file", file=path)
        if regular and not stat.S_ISREG(mode):
            raise InputError("not a regular file", file=path)
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", file=path) from None
    except ValueError as error:  # a NUL byte in the name
        raise InputError(f"not a file name: {error}", file=path) from None
