"""Files of lines as blocks of bytes that are cut at line ends, plain or compressed, from any offset on."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from maxproof.problems.errors import InputError
from maxproof.problems.text import opened

BLOCK_BYTES = 8 * 1024 * 1024
MAX_LINE_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines.

    Attributes:
        data: the lines with their ends.
        line: the 1-based number of the first.
        end: the offset behind the last byte.
        torn: the file ends here, within a line.
        too_long: instead of lines, one line of more than MAX_LINE_BYTES stood here.
    """

    data: bytes
    line: int
    end: int
    torn: bool = False
    too_long: bool = False

    def lines(self) -> list[tuple[int, bytes]]:
        """(number, line) of the lines that aren't blank."""
        numbered = enumerate(self.data.split(b"\n"), self.line)
        return [(number, line) for number, line in numbered if line.strip()]


def blocks(path: Path, offset: int = 0, line: int = 1, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Streams a file's blocks of about `size` bytes; offsets are those of the uncompressed text.

    Raises InputError for a file that can't be read or decompressed.
    """
    with opened(path) as raw:
        stream = _stream(raw, path)
        try:
            if offset:
                stream.seek(offset)
            yield from _cut(stream, offset, line, size)
        except (zstandard.ZstdError, zlib.error, EOFError, gzip.BadGzipFile) as error:
            raise InputError(f"can't be decompressed: {error}", file=path) from None


def _stream(raw: BinaryIO, path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if path.suffix == ".zst":
        return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return raw


def _cut(stream: BinaryIO, offset: int, line: int, size: int) -> Iterator[Block]:
    held = b""
    skipping = False
    while chunk := stream.read(size):
        offset += len(chunk)
        if skipping:
            _, newline, chunk = chunk.partition(b"\n")
            if not newline:
                continue
            skipping = False
            line += 1
        held += chunk
        whole = held.rfind(b"\n") + 1
        if whole:
            data, held = held[:whole], held[whole:]
            end = offset - len(held)
            yield Block(data.removeprefix(_BOM) if end == len(data) else data, line, end)
            line += data.count(b"\n")
        if len(held) > MAX_LINE_BYTES:
            yield Block(b"", line, offset, too_long=True)
            held, skipping = b"", True
    if held:
        yield Block(held.removeprefix(_BOM) if offset == len(held) else held, line, offset, torn=True)
