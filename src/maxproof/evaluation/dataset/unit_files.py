"""What a unit has come to, as its two derived files: `outcome.json` and `grades.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from maxproof.evaluation.methods.types import Outcome
from maxproof.evaluation.oracle.oracle import Grade
from maxproof.models.types import RoleUsage, StopKind
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically

_File = TypeVar("_File")


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """What the method did, what it used, and why it ended early if it did."""

    outcome: Outcome
    usage: tuple[RoleUsage, ...] = ()
    stop: StopKind = StopKind.NONE
    reason: str = ""

    @property
    def finished(self) -> bool:
        """It came to its own end: nothing is left to be asked."""
        return self.stop is StopKind.NONE


@dataclass(frozen=True, slots=True)
class UnitGrades:
    """The oracle's grades by the digest of the proof, and what it used."""

    grades: Mapping[str, Grade] = field(default_factory=dict)
    usage: tuple[RoleUsage, ...] = ()
    stop: StopKind = StopKind.NONE
    reason: str = ""

    @property
    def finished(self) -> bool:
        return all(grade.final for grade in self.grades.values())


def write_outcome_file(path: Path, value: UnitOutcome) -> None:
    """Raises OSError."""
    write_atomically(path, json.dumps(asdict(value), ensure_ascii=True) + "\n")


def write_grades_file(path: Path, value: UnitGrades) -> None:
    """Raises OSError."""
    write_atomically(path, json.dumps(asdict(value), ensure_ascii=True, sort_keys=True) + "\n")


def read_outcome_file(path: Path) -> UnitOutcome | None:
    """None where there is no such file. Raises InputError if it is damaged."""
    return _read(path, TypeAdapter(UnitOutcome))


def read_grades_file(path: Path) -> UnitGrades | None:
    """As `read_outcome_file`."""
    return _read(path, TypeAdapter(UnitGrades))


def _read(path: Path, adapter: TypeAdapter[_File]) -> _File | None:
    try:
        return adapter.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except ValidationError as error:
        hint = "delete it: it is made again from the journal beside it"
        raise InputError(f"is damaged: {error.errors()[0]['msg']}", file=path, hint=hint) from error
