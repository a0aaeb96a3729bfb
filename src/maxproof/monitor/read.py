"""Streams rollout files as canonical polars frames of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from maxproof.monitor.fields import FieldMap


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows that could not be used for one reason: how many, and where the first is ("file:line")."""

    count: int
    first: str


@dataclass(frozen=True, slots=True)
class Batch:
    """`frame` has the canonical columns of `types.py`, all of them, with null where the source has none."""

    frame: pl.DataFrame
    skipped: Mapping[str, Skipped] = field(default_factory=dict)


def rollout_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of these files and folders, in natural order (`step_9` before `step_10`). Raises InputError."""
    raise NotImplementedError


def top_fields(path: Path) -> tuple[str, ...]:
    """Names of the top-level fields of a file's first rows, for `detect_map`. Raises InputError."""
    raise NotImplementedError


def read_batches(paths: Sequence[Path], fields: FieldMap) -> Iterator[Batch]:
    """Streams files and folders. Raises InputError."""
    raise NotImplementedError


def frame_of(rows: Sequence[Mapping[str, Any]], fields: FieldMap) -> Batch:
    """A batch of rows that a live trainer hands over."""
    raise NotImplementedError


class Tail:
    """Goes on reading a growing JSONL file: only whole lines."""

    def __init__(self, path: Path, fields: FieldMap) -> None:
        self.path, self.fields, self.offset = path, fields, 0

    def read(self) -> Iterator[Batch]:
        """What was appended since the last call. Raises InputError."""
        raise NotImplementedError
