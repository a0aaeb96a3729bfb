"""An evaluation's folder: what was asked, and one folder for each problem and seed.

    eval.json                   what was asked: dataset, method, settings, oracle, seeds
    problems.jsonl              the problems, as they were read
    proofs.jsonl, grades.jsonl  the given proofs and the grades of people, where there are any
    problems/ID/seed-S/         a unit: one problem with one seed
        run.json                method `search` only: what makes it a run folder, for maxproof show and report
        journal.sqlite          every finished call of the method
        outcome.json            what the method did (derived from the journal)
        oracle.sqlite           every finished call of the oracle
        grades.json             the oracle's grades (derived)
    result.json, report.html, report.md     derived from all units

Shards may work in one such folder on shared storage, or each in its own: `eval.json` says nothing of shards.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from maxproof.evaluation.oracle.settings import OracleKind, OracleSettings, Statistic
from maxproof.problems import InputError, Problem
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings

FORMAT = 1
GIVEN = "proofs"
"""The method of an evaluation of given proofs."""

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
LIMITS = frozenset(
    ("concurrency", "max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout_s", "hedge_after_s")
)
"""Settings of an endpoint that change no answer: a later session may have others, as it may have another budget."""


class Asked(BaseModel):
    """What `eval.json` holds beside its format.

    Attributes:
        dataset: the file's name. digest: SHA-256 (hex) over the problems in order. problems: how many.
        method: a name of `METHODS`, or `proofs`. verify: given proofs are verified too.
        seeds: of the searches.
        grade: which proofs the oracle grades: all, or the picked ones.
        oracle: its kind; `oracle_settings` for a judge; `statistic` over the samples of a judge or of people.
        inputs: SHA-256 (hex) of the other files that were given, by name.
        served: by endpoint, the model that its server gave where none is configured; `oracle` is the oracle's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    maxproof: str
    dataset: str
    digest: str
    problems: int
    method: str
    seeds: tuple[int, ...] = Field(min_length=1)
    grade: Literal["archive", "picked"]
    verify: bool = False
    settings: RunSettings
    oracle: OracleKind
    oracle_settings: OracleSettings | None = None
    statistic: Statistic = "mean"
    inputs: dict[str, str] = Field(default_factory=dict)
    served: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """One problem with one seed."""

    problem: str
    seed: int


@dataclass(frozen=True, slots=True)
class UnitFolder:
    """Where a unit's files are."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def outcome(self) -> Path:
        return self.path / "outcome.json"

    @property
    def oracle_journal(self) -> Path:
        return self.path / "oracle.sqlite"

    @property
    def grades(self) -> Path:
        return self.path / "grades.json"


@dataclass(frozen=True)
class EvalFolder:
    """An evaluation, read from disk."""

    path: Path
    asked: Asked

    @cached_property
    def problems(self) -> Mapping[str, Problem]:
        """By id, in the dataset's order. Raises InputError if `problems.jsonl` is gone or another."""
        file = self.path / "problems.jsonl"
        found = {row["id"]: Problem(**row) for row in _read_lines(file)}
        if dataset_digest(tuple(found.values())) != self.asked.digest:
            raise InputError("holds other problems than eval.json names", file=file, hint="restore it from a copy")
        return found

    @cached_property
    def proofs(self) -> Mapping[str, tuple[str, ...]]:
        """The given proofs by problem, in order."""
        found: dict[str, list[str]] = {}
        for row in _read_lines(self.path / "proofs.jsonl"):
            found.setdefault(row["problem"], []).append(row["text"])
        return {problem: tuple(texts) for problem, texts in found.items()}

    def units(self) -> tuple[Unit, ...]:
        """Every unit, seed by seed, problems in the dataset's order."""
        return tuple(Unit(problem, seed) for seed in self.asked.seeds for problem in self.problems)

    def unit(self, unit: Unit) -> UnitFolder:
        return UnitFolder(self.path / "problems" / folder_name(unit.problem) / f"seed-{unit.seed}")

    def settings(self, seed: int) -> RunSettings:
        """Those of a unit: its seed, and no budget, since the evaluation's is one for all units."""
        asked = self.asked.settings
        return asked.model_copy(
            update={
                "search": asked.search.model_copy(update={"seed": seed}),
                "budget": type(asked.budget)(max_failures=asked.budget.max_failures),
            }
        )

    def save(self, asked: Asked) -> EvalFolder:
        """The same folder with changed limits, seeds or served models."""
        write_atomically(self.path / "eval.json", _to_json(asked))
        return replace(self, asked=asked)


def folder_name(problem: str) -> str:
    """A problem's id as a folder's name: itself where that is safe, else a part of it and a digest."""
    if _SAFE.fullmatch(problem) and not problem.endswith("."):
        return problem
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", problem).strip("-.")[:40] or "problem"
    return f"{stem}~{hashlib.sha256(problem.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def dataset_digest(problems: Sequence[Problem]) -> str:
    """SHA-256 (hex) over the digests of the problems, in order."""
    return hashlib.sha256("\n".join(problem.digest for problem in problems).encode()).hexdigest()


def create_eval(
    path: Path, asked: Asked, problems: Sequence[Problem], proofs: Mapping[str, Sequence[str]] | None = None
) -> EvalFolder:
    """Makes a new evaluation, or opens the one that another process made there at the same time.

    Raises InputError when `path` can't be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_atomically(path / "problems.jsonl", _lines(asdict(problem) for problem in problems))
        if proofs is not None:
            rows = ({"problem": problem, "text": text} for problem, texts in proofs.items() for text in texts)
            write_atomically(path / "proofs.jsonl", _lines(rows))
        fresh = path / f".eval.json.{os.getpid()}.new"
        write_atomically(fresh, _to_json(asked))
        try:
            os.link(fresh, path / "eval.json")  # of several processes that start together, one makes it
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    except OSError as error:
        raise InputError(
            f"can't write the evaluation's folder: {error.strerror}", file=path, hint="name another one with --out"
        ) from error
    return open_eval(path)


def open_eval(path: Path) -> EvalFolder:
    """Reads an evaluation. Raises InputError when it is none, is damaged, or was written by a newer version."""
    file = path / "eval.json"
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("is not the folder of an evaluation: it has no eval.json", file=path) from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", file=file) from error
    number = value.pop("format", None) if isinstance(value, dict) else None
    if not isinstance(number, int):
        raise InputError("is not the description of an evaluation", file=file, field="format")
    if number > FORMAT:
        raise InputError(
            f"was written in format {number}; this version reads {FORMAT}", file=file, hint="upgrade maxproof"
        )
    try:
        return EvalFolder(path, Asked.model_validate(value))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"is damaged: {first['msg']}", file=file, field=where) from error


def differences(one: Asked, other: Asked) -> list[str]:
    """The names of what differs and must not, e.g. `settings.search.rounds`.

    Budgets and limits of endpoints may differ, as may versions, served models and a file's name; seeds may be added,
    and an oracle where there was none.
    """
    ours, theirs = _fixed(one), _fixed(other)
    names = differing(ours, theirs)
    if "none" in (one.oracle, other.oracle):
        names = [name for name in names if name.partition(".")[0] not in ("oracle", "oracle_settings", "statistic")]
    shared = min(len(one.seeds), len(other.seeds))
    return names + (["seeds"] if one.seeds[:shared] != other.seeds[:shared] else [])


def _fixed(asked: Asked) -> dict[str, str]:
    value = asked.model_dump(mode="json", exclude={"maxproof", "served", "seeds", "dataset"})
    for endpoint in (*value["settings"]["endpoints"].values(), value["oracle_settings"] or {}):
        for name in LIMITS:
            endpoint.pop(name, None)
    del value["settings"]["budget"], value["settings"]["search"]["seed"]
    if value["oracle_settings"] is not None:
        del value["oracle_settings"]["budget"]
    value["dataset"] = value.pop("digest"), value.pop("problems")
    return flat(value)


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


def _to_json(asked: Asked) -> str:
    return json.dumps({"format": FORMAT, **asked.model_dump(mode="json")}, indent=2, ensure_ascii=True) + "\n"


def _lines(rows: Iterator[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def _read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        # Not splitlines: a text may hold other characters that end lines.
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except FileNotFoundError:
        raise InputError("is gone", file=path, hint="restore it from a copy") from None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", file=path) from error
