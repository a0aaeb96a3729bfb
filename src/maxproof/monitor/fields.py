"""From a trainer's field names to the monitor's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """Where a column comes from: a dotted path of a field; `low`..`high` of a score is mapped to 0..1."""

    path: str
    low: float = 0.0
    high: float = 1.0
    convert: str = ""


@dataclass(frozen=True, slots=True)
class FieldMap:
    name: str
    columns: Mapping[str, Source]
    step_from_name: str = ""
    lone_close: bool = False


MAPS: Mapping[str, FieldMap] = {}


def parse_map(entries: Sequence[str], base: FieldMap | None = None) -> FieldMap:
    """`["text=response", "train_reward=score:0..7"]` on top of `base`. Raises InputError."""
    raise NotImplementedError


def detect_map(fields: Iterable[str]) -> FieldMap:
    """The one ready map that fits files with these top-level fields. Raises InputError when none or several fit."""
    raise NotImplementedError
