"""The formats that hold problems: one reader each, from a file to a stream of records.

A row that is no record is handed on as a `BadRow`, so that who reads may stop or go on. A reader checks what belongs to
the format (syntax, encoding, sizes); what a record must say is checked in `fields.py`, and only for the records that
are used. To add a format, write a reader and name its suffix in READERS.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.fields import FIELDS, MAX_FIELD_CHARS, check_keys, id_from, record_id
from maxproof.problems.text import Advance, read_raw_lines, read_text
from maxproof.problems.toml import parse_toml

MAX_TEXT_BYTES = 4 * 1024 * 1024  # a .md or .txt file
MAX_JSON_BYTES = 64 * 1024 * 1024  # a .json file, which must be read whole
MAX_LINE_BYTES = 16 * 1024 * 1024  # a line of a .jsonl or .csv file

_FRONT_MATTER_FIELDS = tuple(field for field in FIELDS if field != "statement")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no record: what is wrong, and the row as the file holds it where that can be told."""

    error: InputError
    raw: object = None


@dataclass(frozen=True, slots=True)
class Record:
    """One problem as its file holds it: `raw` has the file's own keys and values of any type."""

    id: str
    place: Place
    raw: Mapping[str, object]


def read_records(path: Path) -> Iterator[Record]:
    """Streams the records of a file whose suffix is one of READERS. Raises InputError, also for an id given twice."""
    seen: dict[str, Place] = {}
    for record in read_rows(path):
        if isinstance(record, BadRow):
            raise record.error
        if record.id in seen:
            places = f"{seen[record.id]} and {record.place}"
            raise record.place.error(f"id {record.id!r} is given twice, in {places}", hint="ids must differ")
        seen[record.id] = record.place
        yield record


def read_rows(path: Path, advance: Advance | None = None) -> Iterator[Record | BadRow]:
    """Streams the rows of a file; one that is no record doesn't end the stream. Ids may be given twice.

    Raises InputError for a file that can't be read at all: missing, of an unknown suffix, a .json file that is no JSON.
    """
    suffix = path.suffix.lower()
    if suffix in (".dfy", ".lean"):
        raise InputError(
            "a formal problem: this version proves problems stated in words",
            file=path,
            hint=f"state it in a file that ends in {' or '.join(READERS)}",
        )
    if suffix not in READERS:
        known = ", ".join(READERS)
        raise InputError(
            f"unknown suffix {suffix!r}, expected one of {known}", file=path, hint=nearest(suffix, READERS)
        )
    yield from READERS[suffix](path, advance)


def read_markdown(path: Path, advance: Advance | None = None) -> Iterator[Record | BadRow]:
    """One statement, after optional TOML front matter between two `+++` lines (or `---`, if it holds TOML)."""
    text = read_text(path, MAX_TEXT_BYTES)
    place = Place(path)
    try:
        if not text.strip():
            raise place.error("empty: expected the statement of a problem")
        front, statement = _split_front_matter(text, place)
        check_keys(front, place, _FRONT_MATTER_FIELDS)
        yield Record(record_id(front, place, id_from(path)), place, {**front, "statement": statement})
    except InputError as error:
        yield BadRow(error, text)
    _read_whole(path, advance)


def _split_front_matter(text: str, place: Place) -> tuple[dict[str, object], str]:
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    mark = lines[first].rstrip()
    if mark not in ("+++", "---"):
        return {}, text
    rest = (number for number in range(first + 1, len(lines)) if lines[number].rstrip() == mark)
    end = next(rest, None)
    if end is None:
        if mark == "---":  # a horizontal rule
            return {}, text
        raise Place(place.file, first + 1).error("front matter has no closing '+++' line")
    hint = "between '---' lines too, front matter is TOML: KEY = \"VALUE\"" if mark == "---" else None
    front = parse_toml("\n".join(lines[first + 1 : end]), Place(place.file, first + 2), hint)
    return front, "\n".join(lines[end + 1 :])


def _read_whole(path: Path, advance: Advance | None) -> None:
    if advance is not None:
        advance(path.stat().st_size)


def read_json(path: Path, advance: Advance | None = None) -> Iterator[Record | BadRow]:
    """One object, or a list of objects."""
    text = read_text(path, MAX_JSON_BYTES)
    if not text.strip():
        raise InputError("empty: expected a JSON object or a list of them", file=path)
    data = parse_json(text, Place(path))
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield _object(item, Place(path, item=f"[{index}]"), f"{id_from(path)}-{index + 1}")
    else:
        yield _object(data, Place(path), id_from(path))
    _read_whole(path, advance)


def read_jsonl(path: Path, advance: Advance | None = None) -> Iterator[Record | BadRow]:
    """One object a line; blank lines are skipped."""
    for line in read_raw_lines(path, MAX_LINE_BYTES, advance):
        if not line.data.strip():
            continue
        place = Place(path, line.number)
        try:
            data = parse_json(line.text(path).rstrip("\r\n"), place)  # an end that is missing is missing here
        except InputError as error:
            yield BadRow(error, line.data.decode("utf-8", "backslashreplace").rstrip("\r\n"))
            continue
        yield _object(data, place, f"{id_from(path)}-{line.number}")


def parse_json(text: str, place: Place) -> object:
    """The value. Raises InputError, also for a key given twice in one object."""

    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise place.error("key given twice in one object", field=twice)
        return found

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        where = Place(place.file, (place.line or 1) + error.lineno - 1)
        hint = "one object a line is .jsonl" if error.msg == "Extra data" and place.line is None else None
        raise where.error(f"not JSON: {error.msg} at column {error.colno}", hint=hint) from None
    except RecursionError:
        raise place.error("JSON nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise place.error(f"not usable JSON: {error}") from None


def _object(item: object, place: Place, default_id: str) -> Record | BadRow:
    try:
        if not isinstance(item, dict):
            raise place.error("expected a JSON object with a statement", hint='for example {"statement": "Prove ..."}')
        return Record(record_id(item, place, default_id), place, item)
    except InputError as error:
        return BadRow(error, item)


class _Lines:
    """The lines of a CSV file; unlike a generator it goes on after a line that is an error. `taken`: since `start`."""

    def __init__(self, path: Path, advance: Advance | None) -> None:
        self.path, self.raw = path, read_raw_lines(path, MAX_LINE_BYTES, advance)
        self.number = 0
        self.taken: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self.raw)
        self.number = line.number
        self.taken.append(line.data)
        return line.text(self.path)

    def bad(self, error: InputError) -> BadRow:
        return BadRow(error, b"".join(self.taken).decode("utf-8", "backslashreplace").rstrip("\r\n"))


def read_csv(path: Path, advance: Advance | None = None) -> Iterator[Record | BadRow]:
    """A header, then one problem a row: comma-separated, quoted as spreadsheets do, cells may hold line breaks.

    Raises InputError for a bad header.
    """
    lines = _Lines(path, advance)
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    while True:
        place = Place(path, lines.number + 1)
        lines.taken.clear()
        try:
            row = next(reader)
            if not any(cell.strip() for cell in row):
                continue
            if header is not None:
                raw = _csv_row(row, header, place)
                yield Record(record_id(raw, place, f"{id_from(path)}-{place.line}"), place, raw)
                continue
        except StopIteration:
            return
        except csv.Error as error:
            fault = _csv_fault(error, place)
        except InputError as error:
            fault = error
        else:
            header = _csv_header(row, place)
            continue
        if header is None:
            raise fault
        yield lines.bad(fault)


def _csv_row(row: list[str], header: list[str], place: Place) -> dict[str, str]:
    if len(row) != len(header):
        raise place.error(
            f"{len(row)} cells, but the header names {len(header)} columns",
            hint="quote cells that hold commas, quotes or line breaks",
        )
    return dict(zip(header, row, strict=True))


def _csv_fault(error: csv.Error, place: Place) -> InputError:
    if "field larger" in str(error):
        return place.error(
            f"a cell has more than {csv.field_size_limit():,} characters, or its closing quote is missing",
            hint=f".jsonl takes up to {MAX_FIELD_CHARS:,} a field",
        )
    return place.error(f"not CSV: {error}", hint="in a quoted cell, write each quote twice")


def _csv_header(row: list[str], place: Place) -> list[str]:
    header = [cell.strip() for cell in row]
    twice = next((cell for cell in header if cell and header.count(cell) > 1), None)
    if twice is not None:
        raise place.error("column given twice in the header", field=twice)
    return header


READERS: Mapping[str, Callable[[Path, Advance | None], Iterator[Record | BadRow]]] = {
    ".md": read_markdown,
    ".txt": read_markdown,
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".csv": read_csv,
}
