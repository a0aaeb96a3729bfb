"""Streams rollout files as canonical polars frames of bounded size.

JSON lines (`.jsonl`, `.ndjson`, also `.gz` and `.zst`) are parsed a block at a time by polars; a block that holds
anything but well-formed lines of the expected types is read again line by line, so that one bad line costs only itself:
it is counted by reason, with its place. A torn last line is counted too and is no error. Parquet is read a slice at a
time. slime's `.pt` files need torch.

A score outside 0..1 is no bad line but a map that doesn't fit: an InputError that says how to give the range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from maxproof.monitor.blocks import Block, blocks
from maxproof.monitor.columnar import Refused, finish, json_frame, raw_columns, rows_frame
from maxproof.monitor.fields import FieldMap, resolve
from maxproof.monitor.rows import BadRow, Row, canonical_row, parse_line
from maxproof.problems.errors import InputError, nearest

_LINES = (".jsonl", ".ndjson")
_PACKED = (".gz", ".zst")
_PARQUET, _TORCH = ".parquet", ".pt"
SUFFIXES = (*_LINES, *(line + packed for line in _LINES for packed in _PACKED), _PARQUET, _TORCH)
OWN_LOG = "rollouts.jsonl"
_FIRST_ROWS = 200
_SLICE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows that could not be used for one reason: how many, and where the first is ("file:line")."""

    count: int
    first: str


@dataclass(frozen=True, slots=True)
class Batch:
    """`frame` has the canonical columns of `types.py`, all of them, with null where the source has none; `judges` lists
    the scored ones. `skipped` is by reason."""

    frame: pl.DataFrame
    skipped: Mapping[str, Skipped] = field(default_factory=dict)


def add_skipped(total: dict[str, Skipped], more: Mapping[str, Skipped]) -> None:
    """Adds a batch's skipped rows to `total`; the earlier place stays."""
    for reason, skipped in more.items():
        known = total.get(reason)
        total[reason] = Skipped(known.count + skipped.count, known.first) if known else skipped


def rollout_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of these files and folders, in natural order (`step_9` before `step_10`), each once.

    Of a folder with a `rollouts.jsonl` that file is taken; of others all files of a known kind in it and below, but
    none whose name begins with `eval_`. Raises InputError for a path that isn't there, a folder without such files,
    and a file of another kind.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            own = path / OWN_LOG
            inside = [own] if own.is_file() else sorted(filter(_is_rollouts, path.rglob("*")), key=_natural)
            if not inside:
                raise InputError(f"no rollouts in it, expected files that end in {', '.join(SUFFIXES)}", file=path)
            found.update(dict.fromkeys(inside))
        else:
            _kind(path)
            if not path.exists():
                raise InputError("no such file", file=path)
            found[path] = None
    return tuple(found)


def top_fields(path: Path) -> dict[str, bool]:
    """The top-level fields of a file's first 200 rows, and whether each holds numbers; for `detect_map`.

    Raises InputError for a file that can't be read or holds no rows.
    """
    found = _first_fields(path)
    if not found:
        raise InputError("no row in it that is a JSON object", file=path)
    return found


def read_batches(paths: Sequence[Path], fields: FieldMap) -> Iterator[Batch]:
    """Streams files and folders. Memory is bounded by a block of lines (8 MiB) or a slice of Parquet (4,096 rows).

    A file without a single row is passed over. Raises InputError for a file that can't be read or lacks a required
    field, and for a score outside 0..1, with file and line.
    """
    for path in rollout_files(paths):
        if path.stat().st_size == 0:
            continue
        if _kind(path) == _PARQUET:
            yield from _parquet_batches(path, fields)
        elif _kind(path) == _TORCH:
            rows = _torch_rows(path)
            yield _strict(_rows_batch(list(enumerate(rows, 1)), _resolved(path, fields), path))
        else:
            ready = _resolved(path, fields)
            for block in blocks(path):
                yield _strict(_block_batch(block, ready, path))


def frame_of(rows: Sequence[Mapping[str, Any]], fields: FieldMap, source: str = "batch") -> Batch:
    """A batch of rows that a live trainer hands over. Rows that can't be used, scores outside 0..1 among them, are
    counted, never raised: monitoring must not end a training. The first row is `source:1`."""
    return _rows_batch(list(enumerate(rows, 1)), fields, Path(source))


class Tail:
    """Goes on reading a growing file of JSON lines, from where it stopped: only whole lines.

    Attributes:
        offset: how many bytes were read. line: the number of the next line.
    """

    def __init__(self, path: Path, fields: FieldMap) -> None:
        """Raises InputError for a compressed file, which can't be followed."""
        if path.suffix not in _LINES:
            raise InputError(f"can't be followed, expected a file that ends in {' or '.join(_LINES)}", file=path)
        self._path, self._fields = path, fields
        self._ready: FieldMap | None = None
        self.offset, self.line = 0, 1

    def replaced(self) -> bool:
        """The file is shorter than what was read of it (a resumed run does its last steps again): start over."""
        return self._path.exists() and self._path.stat().st_size < self.offset

    def read(self) -> Iterator[Batch]:
        """What was appended since; nothing while there is no file. Raises InputError as `read_batches`."""
        if not self._path.exists():
            return
        for block in blocks(self._path, self.offset, self.line):
            if block.torn:
                return
            self._ready = self._ready or _resolved(self._path, self._fields)
            batch = _strict(_block_batch(block, self._ready, self._path))
            self.offset, self.line = block.end, block.line + block.data.count(b"\n") + block.too_long
            yield batch


# --- lines ------------------------------------------------------------------------------------------------------------


def _block_batch(block: Block, fields: FieldMap, path: Path) -> Batch:
    if block.too_long:
        return Batch(finish(rows_frame([]))[0], {"line too long": Skipped(1, f"{path}:{block.line}")})
    if block.torn:
        return _torn_batch(block, fields, path)
    lines = None if not fields.row_by_row else block.lines()
    if lines is None:
        try:
            raw = json_frame(block.data, _first_object(block), fields)
        except Refused:
            lines = block.lines()
        else:
            return _finished(_with_step(raw, fields, path), lambda row: block.lines()[row][0], path)
    return _lines_batch(lines or [], fields, path)


def _torn_batch(block: Block, fields: FieldMap, path: Path) -> Batch:
    """A last line without an end: a row if it is whole."""
    lines = block.lines()
    try:
        for _, line in lines:
            parse_line(line)
    except BadRow:
        return Batch(finish(rows_frame([]))[0], {"torn last line": Skipped(1, f"{path}:{block.line}")})
    return _lines_batch(lines, fields, path)


def _first_object(block: Block) -> Mapping[str, Any]:
    for line in block.data.split(b"\n", 64):
        if line.strip():
            try:
                return parse_line(line)
            except BadRow:
                raise Refused from None
    return {}


def _lines_batch(lines: Sequence[tuple[int, bytes]], fields: FieldMap, path: Path) -> Batch:
    rows: list[tuple[int, Mapping[str, Any]]] = []
    skipped: dict[str, Skipped] = {}
    for number, line in lines:
        try:
            rows.append((number, parse_line(line)))
        except BadRow as reason:
            add_skipped(skipped, {str(reason): Skipped(1, f"{path}:{number}")})
    batch = _rows_batch(rows, fields, path)
    add_skipped(skipped, batch.skipped)
    return Batch(batch.frame, skipped)


def _rows_batch(found: Sequence[tuple[int, Mapping[str, Any]]], fields: FieldMap, path: Path) -> Batch:
    rows: list[Row] = []
    numbers: list[int] = []
    skipped: dict[str, Skipped] = {}
    for number, item in found:
        try:
            rows.append(canonical_row(item, fields))
            numbers.append(number)
        except BadRow as reason:
            add_skipped(skipped, {str(reason): Skipped(1, f"{path}:{number}")})
    batch = _finished(_with_step(rows_frame(rows), fields, path), lambda row: numbers[row], path)
    add_skipped(skipped, batch.skipped)
    return Batch(batch.frame, skipped)


def _finished(raw: pl.DataFrame, line_of: Any, path: Path) -> Batch:
    frame, bad = finish(raw)
    skipped = {
        reason: Skipped(count, f"{path}:{line_of(row)}")
        for reason, count, row in bad.group_by("reason", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("row").first())
        .iter_rows()
    }
    return Batch(frame, skipped)


def _strict(batch: Batch) -> Batch:
    for reason, skipped in batch.skipped.items():
        column, outside, _ = reason.partition(" outside 0..1")
        if outside:
            file, _, line = skipped.first.rpartition(":")
            raise InputError(
                f"{skipped.count} {'score' if skipped.count == 1 else 'scores'} outside 0..1, this is the first",
                file=file,
                line=int(line),
                field=column,
                hint=f"give their range, e.g. --map {column}=FIELD:-1..1 or FIELD:0..7",
            )
    return batch


def _with_step(raw: pl.DataFrame, fields: FieldMap, path: Path) -> pl.DataFrame:
    step = _step_from_name(fields, path)
    return raw if step is None else raw.with_columns(pl.col("step").fill_null(float(step)))


def _step_from_name(fields: FieldMap, path: Path) -> int | None:
    if not fields.step_from_name:
        return None
    for part in reversed(path.parts):
        if found := re.search(fields.step_from_name, part):
            return int(found[1][:15])
    return None


# --- Parquet and torch ------------------------------------------------------------------------------------------------


def _scan(path: Path) -> pl.LazyFrame:
    try:
        scanned = pl.scan_parquet(path)
        scanned.collect_schema()
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"not Parquet: {' '.join(str(error).split())[:200]}", file=path) from None
    return scanned


def _parquet_batches(path: Path, fields: FieldMap) -> Iterator[Batch]:
    ready = _resolved(path, fields)
    scanned = _scan(path)
    names = [name for name in ready.top_fields() if name in scanned.collect_schema().names()]
    start = 0
    while True:
        try:
            part = scanned.select(names).slice(start, _SLICE_ROWS).collect()
        except pl.exceptions.PolarsError as error:
            raise InputError(f"can't be read: {' '.join(str(error).split())[:200]}", file=path) from None
        if not part.height:
            return
        yield _strict(_parquet_batch(part, start, ready, path))
        start += part.height


def _parquet_batch(part: pl.DataFrame, start: int, fields: FieldMap, path: Path) -> Batch:
    numbered = list(range(start + 1, start + part.height + 1))
    if fields.row_by_row:
        return _rows_batch(list(zip(numbered, part.to_dicts(), strict=True)), fields, path)
    try:
        raw = raw_columns(part, fields)
    except Refused:
        return _rows_batch(list(zip(numbered, part.to_dicts(), strict=True)), fields, path)
    except InputError as error:
        raise InputError(error.message, file=path, field=error.field, hint=error.hint) from None
    return _finished(_with_step(raw, fields, path), lambda row: numbered[row], path)


def _torch_rows(path: Path) -> list[Mapping[str, Any]]:
    """The samples of a file that slime saved, with its `rollout_id` in each. Only plain data is loaded, no code."""
    try:
        import torch
    except ImportError:
        raise InputError(
            "reading it needs torch", file=path, hint="pip install torch, or convert it to .jsonl"
        ) from None
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - torch raises what its pickle and zip readers do
        said = " ".join(str(error).split())[:200]
        raise InputError(f"can't be loaded as plain data: {said}", file=path) from None
    samples = saved.get("samples") if isinstance(saved, dict) else saved
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise InputError("expected a list of samples", file=path)
    shared = {"rollout_id": saved["rollout_id"]} if isinstance(saved, dict) and "rollout_id" in saved else {}
    return [shared | sample for sample in samples]


# --- what a file is and has -------------------------------------------------------------------------------------------


def _kind(path: Path) -> str:
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise InputError(
        f"unknown kind of file, expected one of {', '.join(SUFFIXES)}",
        file=path,
        hint=nearest(path.suffix, SUFFIXES) or None,
    )


def _is_rollouts(path: Path) -> bool:
    name = path.name.lower()
    return path.is_file() and name.endswith(SUFFIXES) and not name.startswith(("eval_", "."))


def _natural(path: Path) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", str(path))
    return [(1, int(part[:18]), "") if part.isdecimal() else (0, 0, part) for part in parts]


def _first_fields(path: Path) -> dict[str, bool]:
    kind = _kind(path)
    if kind == _PARQUET:
        return {name: dtype.is_numeric() for name, dtype in _scan(path).collect_schema().items()}
    if kind == _TORCH:
        return _fields_of(_torch_rows(path)[:_FIRST_ROWS])
    rows: list[Mapping[str, Any]] = []
    for block in blocks(path):
        for _, line in block.lines()[: _FIRST_ROWS - len(rows)]:
            try:
                rows.append(parse_line(line))
            except BadRow:
                continue
        if rows:
            return _fields_of(rows)
    return {}


def _resolved(path: Path, fields: FieldMap) -> FieldMap:
    """`fields` for this file; as it is where no row can be used, which reading it will count."""
    present = _first_fields(path)
    try:
        return resolve(fields, present) if present else fields
    except InputError as error:
        raise InputError(
            error.message, file=error.file or path, line=error.line, field=error.field, hint=error.hint
        ) from None


def _fields_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for row in rows:
        for name, value in row.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            found[str(name)] = found.get(str(name), False) or number
    return found
