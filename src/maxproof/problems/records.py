"""The formats that hold problems: one reader each, from a file to a stream of records.

A reader checks what belongs to the format (syntax, encoding, sizes); what a record must say is checked in `fields.py`,
and only for the records that are used. To add a format, write a reader and name its suffix in READERS.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.fields import FIELDS, MAX_FIELD_CHARS, check_keys, id_from, record_id
from maxproof.problems.text import read_lines, read_text
from maxproof.problems.toml import parse_toml

MAX_TEXT_BYTES = 4 * 1024 * 1024  # a .md or .txt file
MAX_JSON_BYTES = 64 * 1024 * 1024  # a .json file, which must be read whole
MAX_LINE_BYTES = 16 * 1024 * 1024  # a line of a .jsonl or .csv file

_FRONT_MATTER_FIELDS = tuple(field for field in FIELDS if field != "statement")


@dataclass(frozen=True, slots=True)
class Record:
    """One problem as its file holds it: `raw` has the file's own keys and values of any type."""

    id: str
    place: Place
    raw: Mapping[str, object]


def read_records(path: Path) -> Iterator[Record]:
    """Streams the records of a file whose suffix is one of READERS. Raises InputError, also for an id given twice."""
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
    seen: dict[str, Place] = {}
    for record in READERS[suffix](path):
        if record.id in seen:
            places = f"{seen[record.id]} and {record.place}"
            raise record.place.error(f"id {record.id!r} is given twice, in {places}", hint="ids must differ")
        seen[record.id] = record.place
        yield record


def read_markdown(path: Path) -> Iterator[Record]:
    """One statement, after optional TOML front matter between two `+++` lines (or `---`, if it holds TOML)."""
    text = read_text(path, MAX_TEXT_BYTES)
    place = Place(path)
    if not text.strip():
        raise place.error("empty: expected the statement of a problem")
    front, statement = _split_front_matter(text, place)
    check_keys(front, place, _FRONT_MATTER_FIELDS)
    yield Record(record_id(front, place, id_from(path)), place, {**front, "statement": statement})


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


def read_json(path: Path) -> Iterator[Record]:
    """One object, or a list of objects."""
    text = read_text(path, MAX_JSON_BYTES)
    if not text.strip():
        raise InputError("empty: expected a JSON object or a list of them", file=path)
    data = _parse_json(text, Place(path))
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield _object(item, Place(path, item=f"[{index}]"), f"{id_from(path)}-{index + 1}")
    else:
        yield _object(data, Place(path), id_from(path))


def read_jsonl(path: Path) -> Iterator[Record]:
    """One object a line; blank lines are skipped."""
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if line.strip():
            place = Place(path, number)
            yield _object(_parse_json(line, place), place, f"{id_from(path)}-{number}")


def _parse_json(text: str, place: Place) -> object:
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


def _object(item: object, place: Place, default_id: str) -> Record:
    if not isinstance(item, dict):
        raise place.error("expected a JSON object with a statement", hint='for example {"statement": "Prove ..."}')
    return Record(record_id(item, place, default_id), place, item)


def read_csv(path: Path) -> Iterator[Record]:
    """A header, then one problem a row: comma-separated, quoted as spreadsheets do, cells may hold line breaks."""
    lines = (line for _, line in read_lines(path, MAX_LINE_BYTES))
    reader = csv.reader(lines, strict=True)
    start = 1
    header: list[str] | None = None
    try:
        for row in reader:
            place, start = Place(path, start), reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _csv_header(row, place)
                continue
            if len(row) != len(header):
                raise place.error(
                    f"{len(row)} cells, but the header names {len(header)} columns",
                    hint="quote cells that hold commas, quotes or line breaks",
                )
            raw = dict(zip(header, row, strict=True))
            yield Record(record_id(raw, place, f"{id_from(path)}-{place.line}"), place, raw)
    except csv.Error as error:
        limit = csv.field_size_limit()
        where = Place(path, start)
        if "field larger" in str(error):
            raise where.error(
                f"a cell has more than {limit:,} characters, or its closing quote is missing",
                hint=f".jsonl takes up to {MAX_FIELD_CHARS:,} a field",
            ) from None
        raise where.error(f"not CSV: {error}", hint="in a quoted cell, write each quote twice") from None


def _csv_header(row: list[str], place: Place) -> list[str]:
    header = [cell.strip() for cell in row]
    twice = next((cell for cell in header if cell and header.count(cell) > 1), None)
    if twice is not None:
        raise place.error("column given twice in the header", field=twice)
    return header


READERS: Mapping[str, Callable[[Path], Iterator[Record]]] = {
    ".md": read_markdown,
    ".txt": read_markdown,
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".csv": read_csv,
}
