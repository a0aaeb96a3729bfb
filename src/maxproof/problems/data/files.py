"""Files of records: read and written as streams, with every bad row kept.

    with DataWriter(out) as writer:
        for place, row in read_data(path):
            if isinstance(row, Reject):
                writer.reject(row)
            else:
                writer.write(row.after(provenance("annotate", settings, model="m")))
    print(writer.written, writer.rejected)

The output appears whole or not at all. Beside `OUT.jsonl` stands `OUT.rejects.jsonl`, one rejected row a line: `file`,
`line`, `id`, `reason`, `raw` (the row as its file holds it); no such file when nothing was rejected. Memory does not
grow with the files, but for 21 to 43 bytes an id (see `seen.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from pydantic import BaseModel, ValidationError

from maxproof import __version__
from maxproof.problems.data.record import DataRecord, Provenance, Step
from maxproof.problems.data.seen import SeenKeys, key_of
from maxproof.problems.errors import InputError, Place
from maxproof.problems.fields import MAX_FIELD_CHARS, printable_id
from maxproof.problems.records import parse_json
from maxproof.problems.text import Advance, RawLine, read_raw_lines

MAX_LINE_BYTES = 16 * 1024 * 1024
SHOWN_REJECTS = 5
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that could not be used.

    `raw` is the row as its file holds it, of any JSON type; `id` is the record's, where it has one.
    """

    place: Place
    reason: str
    raw: object = None
    id: str | None = None

    def to_json(self) -> str:
        """One line of the reject file."""
        value = {
            "file": str(self.place.file), "line": self.place.line, "item": self.place.item or None, "id": self.id,
            "reason": self.reason, "raw": self.raw,
        }  # fmt: skip
        found = {key: item for key, item in value.items() if item is not None}
        try:
            # Escapes keep what is no proper text, such as half of a surrogate pair.
            return json.dumps(found, ensure_ascii=True, allow_nan=False)
        except ValueError:  # NaN and Infinity, which Python reads, are no JSON: the row as text
            return json.dumps({**found, "raw": json.dumps(self.raw)}, ensure_ascii=True)
        except RecursionError:  # it could just be read, but not written
            return json.dumps({**found, "raw": "(nested too deeply to be repeated here)"}, ensure_ascii=True)


def read_data(path: Path, advance: Advance | None = None) -> Iterator[tuple[Place, DataRecord | Reject]]:
    """Streams a file of records: each row with its place, as a record or, when it is none, as what is wrong with it.

    An id that an earlier row has is wrong. Blank lines are skipped. Raises InputError when the file can't be read.
    """
    if path.suffix.lower() != _SUFFIX:
        raise InputError(
            f"expected records, a {_SUFFIX} file", file=path, hint="make one of it: maxproof data build FILE -o OUT"
        )
    seen = SeenKeys()
    for line in read_raw_lines(path, MAX_LINE_BYTES, advance):
        if not line.data.strip():
            continue
        place, row = Place(path, line.number), parse_line(line, path)
        if isinstance(row, DataRecord) and not seen.add(key_of(row.id)):
            row = Reject(place, f"id {row.id!r} is given twice", row.model_dump(mode="json"), row.id)
        yield place, row


def parse_line(line: RawLine, path: Path) -> DataRecord | Reject:
    """The record of one line, or what is wrong with it."""
    place = Place(path, line.number)
    try:
        text = line.text(path).strip()
        parse_json(text, place)  # pydantic would keep the last of two values for one key
    except InputError as error:
        return _reject(line, place, f"{error.field}: {error.message}" if error.field else error.message)
    try:
        record = DataRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        hint = " (not a record: maxproof data build makes records)" if first["type"] == "extra_forbidden" else ""
        return _reject(line, place, (f"{field}: " if field else "") + first["msg"] + hint)
    fault = record_fault(record)
    return _reject(line, place, fault, record.id) if fault else record


def record_fault(record: DataRecord) -> str:
    """What the types of a record don't say: "" when a prover or verifier can use it."""
    if not record.statement.strip():
        return "statement: blank"
    if not printable_id(record.id):
        return "id: expected one line of printable characters"
    texts = (record.statement, record.reference, record.answer, record.rubric, record.source)
    if any(text is not None and "\0" in text for text in texts):
        return "holds a NUL character, expected text"
    if any(text is not None and len(text) > MAX_FIELD_CHARS for text in texts):
        return f"a field has more than {MAX_FIELD_CHARS:,} characters"
    return ""


def _reject(line: RawLine, place: Place, reason: str, id: str | None = None) -> Reject:
    text = line.data.decode("utf-8", "backslashreplace").rstrip("\r\n")
    try:
        raw = json.loads(text) if not line.cut else text
    except (ValueError, RecursionError):
        raw = text
    return Reject(place, reason, raw, id or _id_of(raw))


def _id_of(raw: object) -> str | None:
    found = raw.get("id") if isinstance(raw, dict) else None
    return found if isinstance(found, str) else None


def settings_digest(settings: BaseModel | Mapping[str, object]) -> str:
    """16 hex digits of SHA-256 that stand for a step's settings."""
    value = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else dict(settings)
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def provenance(
    step: Step, settings: BaseModel | Mapping[str, object] | str, **notes: str | int | float | bool | None
) -> Provenance:
    """What a step notes of a record. `settings`: the step's settings, or their `settings_digest`."""
    digest = settings if isinstance(settings, str) else settings_digest(settings)
    return Provenance(step=step, maxproof=__version__, settings=digest, notes=notes)


def beside_path(path: Path, name: str) -> Path:
    """The file `OUT.NAME.jsonl` beside the output `OUT.jsonl`."""
    return path.with_name(f"{path.stem}.{name}{_SUFFIX}")


def rejects_path(path: Path) -> Path:
    """Where the rejected rows of the output `path` are kept."""
    return beside_path(path, "rejects")


class DataWriter:
    """Writes records to `path` (a `.jsonl` file) and rejected rows beside it; both appear when the block ends well.

    Attributes:
        written, rejected, dropped: how many so far. offset: bytes of records written so far.
        first_rejects: the first few, to show.

    Raises InputError: `path` is no `.jsonl` file, is a folder or one of `inputs`, or its folder can't be written; and
    in `strict` mode the first reject is raised as an error that names its place, and nothing is written.
    """

    def __init__(
        self, path: Path, *, inputs: Sequence[Path] = (), beside: Sequence[str] = (), strict: bool = False
    ) -> None:
        if path.suffix.lower() != _SUFFIX:
            raise InputError(f"expected the name of a {_SUFFIX} file", file=path, field="--out")
        for taken in (path, *(beside_path(path, name) for name in ("rejects", *beside))):
            if any(_same_file(taken, other) for other in inputs):
                raise InputError("is also an input", file=taken, hint="name another output with --out")
            if taken.is_dir():
                raise InputError("is a folder, expected the name of a file", file=taken, field="--out")
        self.path, self.strict, self.beside_names = path, strict, ("rejects", *beside)
        self.written = self.rejected = self.dropped = self.offset = 0
        self.first_rejects: list[Reject] = []
        self._files: dict[Path, tuple[Path, BinaryIO]] = {}

    def __enter__(self) -> Self:
        self._open(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for target, (temporary, file) in self._files.items():
                if kind is None:
                    file.flush()
                    os.fsync(file.fileno())
                file.close()
                if kind is None:
                    temporary.replace(target)
            for target in (beside_path(self.path, name) for name in self.beside_names):
                if kind is None and target not in self._files:
                    target.unlink(missing_ok=True)  # of an earlier run
        finally:
            for temporary, file in self._files.values():
                file.close()
                temporary.unlink(missing_ok=True)

    def write(self, record: DataRecord) -> None:
        """Appends a record."""
        data = record.model_dump_json(exclude_defaults=True).encode() + b"\n"
        self._files[self.path][1].write(data)
        self.offset += len(data)
        self.written += 1

    def read_back(self, offset: int) -> DataRecord:
        """The record that was written at byte `offset` (`offset` as it stood before the call of `write`)."""
        temporary, file = self._files[self.path]
        file.flush()
        with temporary.open("rb") as again:
            again.seek(offset)
            return DataRecord.model_validate_json(again.readline())

    def reject(self, reject: Reject) -> None:
        """Keeps a row that could not be used. Raises InputError in strict mode."""
        if self.strict:
            raise reject.place.error(reject.reason, hint="--strict stops at the first bad row")
        self.rejected += 1
        if len(self.first_rejects) < SHOWN_REJECTS:
            self.first_rejects.append(reject)
        self._append("rejects", reject.to_json())

    def drop(self, reject: Reject) -> None:
        """Keeps, beside the rejects, a record that is sound but not wanted; in strict mode too."""
        self.dropped += 1
        self._append("rejects", reject.to_json())

    def beside(self, name: str, value: Mapping[str, object]) -> None:
        """Appends a JSON object to the file `OUT.NAME.jsonl`; `name` is one of those given at the start."""
        self._append(name, json.dumps(value, ensure_ascii=False))

    def _append(self, name: str, line: str) -> None:
        target = beside_path(self.path, name)
        if target not in self._files:
            self._open(target)
        self._files[target][1].write(line.encode("utf-8", "backslashreplace") + b"\n")

    def _open(self, target: Path) -> None:
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        make_parent(target)
        try:
            self._files[target] = (temporary, temporary.open("wb"))
        except OSError as error:
            raise _not_writable(target, error) from error


def make_parent(target: Path) -> None:
    """Makes the folder of an output. Raises InputError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_writable(target, error) from error


def _not_writable(target: Path, error: OSError) -> InputError:
    return InputError(f"can't be written: {error.strerror}", file=target, field="--out")


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
