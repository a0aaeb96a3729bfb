"""What the folder of an evaluation or of a study says of itself: its description and its problems.

A description is one JSON file with a format number, written once; what a later session may change is decided by who
compares two of them (`flat`, `differing`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from maxproof.problems import InputError, Problem
from maxproof.search.run_folder import write_atomically

FORMAT = 1
PROBLEMS = "problems.jsonl"
LIMITS = frozenset(
    ("concurrency", "max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout_s", "hedge_after_s")
)
"""Settings of an endpoint that change no answer: a later session may have others, as it may have another budget."""

_Description = TypeVar("_Description", bound=BaseModel)
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def description_text(asked: BaseModel) -> str:
    """The file's text."""
    return json.dumps({"format": FORMAT, **asked.model_dump(mode="json")}, indent=2, ensure_ascii=True) + "\n"


def read_description(file: Path, kind: str, model: type[_Description]) -> _Description:
    """The description in `file`, the folder's `kind` being "an evaluation" or "a study".

    Raises InputError when it is none, is damaged, or was written by a newer version.
    """
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"is not the folder of {kind}: it has no {file.name}", file=file.parent) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", file=file) from error
    number = value.pop("format", None) if isinstance(value, dict) else None
    if not isinstance(number, int):
        raise InputError(f"is not the description of {kind}", file=file, field="format")
    if number > FORMAT:
        raise InputError(
            f"was written in format {number}; this version reads {FORMAT}", file=file, hint="upgrade maxproof"
        )
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"is damaged: {first['msg']}", file=file, field=".".join(map(str, first["loc"]))) from error


def write_problems(folder: Path, problems: Iterable[Problem]) -> None:
    """Raises OSError."""
    write_rows(folder / PROBLEMS, (asdict(problem) for problem in problems))


def read_problems(folder: Path, digest: str, named_by: str) -> tuple[Problem, ...]:
    """The problems of a folder whose description, `named_by`, has their `digest`, in order.

    Raises InputError if the file is gone, is damaged or holds others.
    """
    file = folder / PROBLEMS
    try:
        problems = tuple(Problem(**row) for row in read_rows(file))
    except TypeError as error:
        raise InputError(f"is damaged: {error}", file=file) from error
    if dataset_digest(problems) != digest:
        raise InputError(f"holds other problems than {named_by} names", file=file, hint="restore it from a copy")
    return problems


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line. Raises OSError."""
    write_atomically(path, "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """What `write_rows` wrote. Raises InputError."""
    try:
        # Not splitlines: a text may hold other characters that end lines.
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except FileNotFoundError:
        raise InputError("is gone", file=path, hint="restore it from a copy") from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", file=path) from error


def dataset_digest(problems: Sequence[Problem]) -> str:
    """SHA-256 (hex) over the digests of the problems, in order."""
    return hashlib.sha256("\n".join(problem.digest for problem in problems).encode()).hexdigest()


def folder_name(problem: str) -> str:
    """A problem's id as a folder's name: itself where that is safe, else a part of it and a digest."""
    if _SAFE.fullmatch(problem) and not problem.endswith("."):
        return problem
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", problem).strip("-.")[:40] or "problem"
    return f"{stem}~{hashlib.sha256(problem.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def flat(value: object, name: str = "") -> dict[str, str]:
    """Every leaf of a JSON value as JSON, by its dotted name."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: dict[str, str] = {}
    for key, part in inner:
        found |= flat(part, f"{name}.{key}" if name else str(key))
    return found or {name: json.dumps(value)}


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The names whose values differ, in order."""
    return [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
