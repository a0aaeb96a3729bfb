"""`maxproof data build`: from files and folders of raw problems to records.

Rows are read by the readers of `problems/records.py`, with their field names and aliases. A row that is no problem is a
reject. Beside what a problem has, a row may name techniques (`techniques`, `tags`, `skills`) and a grading scheme by
criterion (`scheme`, or a rubric that is a list): `[{"points": 3, "criterion": "..."}, ...]`. A row that is a record
already, with its provenance, keeps all of it.

Ids: a row's own, or its file's name and line. The second row with an id gets FILE/ID, the next ones FILE/ID-NUMBER,
where NUMBER counts all rows; the provenance tells the id that was given. Statements that are copies by normal form are
kept once, the first; the others go to the reject file as `duplicate of ID`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from maxproof.problems.data.files import DataWriter, Reject, provenance, record_fault, settings_digest
from maxproof.problems.data.normal_form import normal_form
from maxproof.problems.data.record import TOTAL_POINTS, Criterion, DataRecord
from maxproof.problems.data.seen import SeenKeys, key_of
from maxproof.problems.data.taxonomy import UNKNOWN, Taxonomy, folded
from maxproof.problems.errors import InputError, Place
from maxproof.problems.fields import MAX_ID_CHARS, by_field, id_from, to_problem
from maxproof.problems.problem import Problem
from maxproof.problems.records import READERS, BadRow, Record, read_rows
from maxproof.problems.text import Advance

TECHNIQUE_KEYS = ("techniques", "technique", "tags", "skills")
SCHEME_KEYS = ("scheme", "criteria")
_CRITERION_KEYS = {"points": ("points", "score", "marks"), "criterion": ("criterion", "description", "text")}
_LIST = re.compile(r"[;|,\n]")
_NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_MAX_NOTE_CHARS = 200
_NO_PROBLEM = ("readme.md", "license.md", "license.txt")


class BuildSettings(BaseModel):
    """How records are built.

    Attributes:
        source: what records get as their source that name none.
        keep_duplicates: copies of one statement are all kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str | None = None
    keep_duplicates: bool = False


@dataclass(slots=True)
class BuildCounts:
    """What became of the rows beside what the writer counts."""

    duplicates: int = 0
    renamed_ids: int = 0


def input_files(paths: Sequence[Path]) -> list[Path]:
    """The files to read: each path itself, or all problem files below it, by name; READMEs and hidden files are not.

    Raises InputError: no such path, an unknown suffix, a folder that can't be read or has no problem file.
    """
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", file=path)
        if not path.is_dir():
            if path.suffix.lower() not in READERS:
                raise InputError(f"unknown suffix {path.suffix!r}", file=path, hint=f"known: {', '.join(READERS)}")
            files.append(path)
            continue
        found = sorted(_below(path))
        if not found:
            raise InputError(f"no file that ends in {', '.join(READERS)}", file=path)
        files += found
    return files


def _below(folder: Path) -> Iterator[Path]:
    """The problem files below a folder, those behind links too. Raises InputError for a folder that can't be read."""
    entered: set[str] = set()

    def refuse(error: OSError) -> None:
        raise InputError(f"can't be read: {error.strerror}", file=error.filename or folder) from error

    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(place)
        if real in entered:  # a link back
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            known = Path(name).suffix.lower() in READERS and name.lower() not in _NO_PROBLEM
            if known and not name.startswith("."):
                yield Path(place, name)


def build(
    files: Iterable[Path],
    writer: DataWriter,
    taxonomy: Taxonomy,
    settings: BuildSettings,
    advance: Advance | None = None,
) -> BuildCounts:
    """Writes the records of all files. Memory grows by 43 to 86 bytes a record, for ids and statements seen.

    Raises InputError: a file that can't be read, and in strict mode the first bad row.
    """
    counts, digest = BuildCounts(), settings_digest(settings)
    ids, statements = SeenKeys(), SeenKeys()
    number = 0
    for file in files:
        for row in _rows(file, advance):
            number += 1
            made = row if isinstance(row, Reject) else _made(row, taxonomy, settings, digest)
            if isinstance(made, Reject):
                writer.reject(made)
                continue
            record, place = made, row.place
            key = "" if settings.keep_duplicates else normal_form(record.statement).key
            if key and not statements.add(key_of(key), writer.offset):
                first = writer.read_back(statements.get(key_of(key)) or 0)
                if normal_form(first.statement).key == key:
                    counts.duplicates += 1
                    raw = row.raw if isinstance(row, Record) else None
                    writer.drop(Reject(place, f"duplicate of {first.id}", raw, record.id))
                    continue
            unique = _unique_id(record.id, file, number, ids)
            if unique != record.id:
                counts.renamed_ids += 1
                note = record.provenance[-1].model_copy(
                    update={"notes": {**record.provenance[-1].notes, "id_given": record.id}}
                )
                record = record.model_copy(update={"id": unique, "provenance": (*record.provenance[:-1], note)})
            writer.write(record)
    return counts


def _rows(file: Path, advance: Advance | None) -> Iterator[Record | Reject]:
    """The rows of one file; a file that is no proper file of its kind is one reject."""
    try:
        for row in read_rows(file, advance):
            yield _rejected(row.error, row.raw) if isinstance(row, BadRow) else row
    except InputError as error:
        yield _rejected(error, None)


def _rejected(error: InputError, raw: object) -> Reject:
    reason = (f"{error.field}: " if error.field else "") + error.message
    return Reject(Place(error.file or "", error.line), reason, raw, _given_id(raw))


def _given_id(raw: object) -> str | None:
    found = raw.get("id") if isinstance(raw, Mapping) else None
    return found if isinstance(found, str) else None


def _made(row: Record, taxonomy: Taxonomy, settings: BuildSettings, digest: str) -> DataRecord | Reject:
    try:
        if isinstance(row.raw.get("provenance"), list):
            return _again(row, digest)
        raw, scheme = _without_scheme(row.raw, row.place)
        problem = to_problem(raw, row.place, row.id)
        record = _record(problem, raw, scheme, row.place, taxonomy, settings, digest)
    except InputError as error:
        return _rejected(error, row.raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Reject(row.place, f"{'.'.join(map(str, first['loc']))}: {first['msg']}", row.raw, row.id)
    fault = record_fault(record)
    return Reject(row.place, fault, row.raw, row.id) if fault else record


def _again(row: Record, digest: str) -> DataRecord:
    """A row that is a record: as it is, with this step's entry. Raises ValidationError."""
    record = DataRecord.model_validate({**row.raw, "id": row.id})
    return record.after(provenance("build", digest, file=str(row.place.file), line=row.place.line))


def _record(
    problem: Problem,
    raw: Mapping[str, object],
    scheme: tuple[Criterion, ...],
    place: Place,
    taxonomy: Taxonomy,
    settings: BuildSettings,
    digest: str,
) -> DataRecord:
    notes: dict[str, str | int | None] = {"file": str(place.file)}
    if place.line is not None:
        notes["line"] = place.line
    elif place.item:
        notes["item"] = place.item
    domain = taxonomy.domain(problem.domain) if problem.domain is not None else None
    if domain == UNKNOWN:
        notes["domain_given"] = (problem.domain or "")[:_MAX_NOTE_CHARS]
    named = _listed(raw, TECHNIQUE_KEYS, place)
    known = dict.fromkeys(technique for name in named if (technique := taxonomy.technique(name)) is not None)
    if unknown := [name for name in named if taxonomy.technique(name) is None]:
        notes["techniques_given"] = "; ".join(unknown)[:_MAX_NOTE_CHARS]
    rubric = problem.rubric
    if scheme and rubric is None:
        rubric = "\n".join(f"{criterion.points:g} points: {criterion.criterion}" for criterion in scheme)
    if abs(sum(criterion.points for criterion in scheme) - TOTAL_POINTS) > 1e-6:
        scheme = ()  # of another total: the text has it all
    return DataRecord(
        id=problem.id, statement=problem.statement, reference=problem.reference, answer=problem.answer, rubric=rubric,
        scheme=scheme, domain=domain, level=problem.level, techniques=tuple(known),
        source=problem.source or settings.source, provenance=(provenance("build", digest, **notes),),
    )  # fmt: skip


def _listed(raw: Mapping[str, object], keys: tuple[str, ...], place: Place) -> list[str]:
    """The texts of the first of `keys` that `raw` has: a list of texts, or one text with commas or the like."""
    for key, value in raw.items():
        if folded(key) not in keys or value is None:
            continue
        parts = _LIST.split(value) if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise place.error("expected a list of texts", field=key)
        if any(_NO_TEXT.search(part) for part in parts):
            raise place.error("holds a NUL character or half of a surrogate pair, expected text", field=key)
        return [part.strip() for part in parts if part.strip()]
    return []


def _without_scheme(raw: Mapping[str, object], place: Place) -> tuple[Mapping[str, object], tuple[Criterion, ...]]:
    """`raw` without the key that holds a scheme by criterion, and the scheme."""
    found = by_field({key: value for key, value in raw.items() if isinstance(value, list)}, place)
    keys = [key for key, value in raw.items() if folded(key) in SCHEME_KEYS and value not in (None, "", [])]
    keys += [found[field][0] for field in ("rubric",) if field in found]
    for key in keys:
        value = raw[key]
        if not isinstance(value, list) or not all(isinstance(part, Mapping) for part in value):
            raise place.error('expected a list of {"points": ..., "criterion": ...}', field=key)
        rest = {name: other for name, other in raw.items() if name != key}
        return rest, tuple(_criterion(part, place, f"{key}[{index}]") for index, part in enumerate(value))
    return raw, ()


def _criterion(part: Mapping[str, object], place: Place, field: str) -> Criterion:
    values = {name: next((part[key] for key in keys if key in part), None) for name, keys in _CRITERION_KEYS.items()}
    try:
        return Criterion.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise place.error(first["msg"], field=f"{field}.{first['loc'][0]}") from None


def _unique_id(id: str, file: Path, number: int, seen: SeenKeys) -> str:
    """`id`, or the first variant of it that no earlier record has."""
    if seen.add(key_of(id)):
        return id
    prefix = id_from(file.parent if file.suffix.lower() in (".md", ".txt") else file)[: MAX_ID_CHARS // 4]
    longer = f"{prefix}/{id[: MAX_ID_CHARS // 2]}"
    while not seen.add(key_of(longer)):
        longer = f"{prefix}/{id[: MAX_ID_CHARS // 2]}-{number}"
        number += 1
    return longer
