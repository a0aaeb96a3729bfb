"""A formal run's folder: all that is needed to go on with it or to report it.

    run.json          what was asked: the problems as Dafny text, the settings
    attempts.jsonl    every finished attempt (see `maxproof.formal.store`)
    journal.sqlite    every finished model call, where a method asks a model
    learned.json      the learned lemmas that the run offers, where it learns
    solutions/        the shortest accepted proof of each problem
    result.json       the outcome for machines
    report.html       the outcome for people

The last three are derived: `maxproof report` makes them again from the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from maxproof.formal.load import problem_from_text
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.settings import FormalSettings
from maxproof.formal.syntax.ast import Program
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.printer import print_program
from maxproof.problems import InputError
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings

FORMAT = 1
KIND = "formal"


class _Problem(BaseModel):
    name: str
    text: str
    split: str = ""
    domain: str = ""
    origin: str = ""


class _Description(BaseModel):
    """What `run.json` holds."""

    format: int
    kind: Literal["formal"]
    maxproof: str
    problems: list[_Problem]
    statements: dict[str, Status] = Field(default_factory=dict)
    examined: dict[str, int] = Field(default_factory=dict)
    formal: FormalSettings
    settings: RunSettings
    served: dict[str, str] = Field(default_factory=dict)
    unreadable: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FormalFolder:
    """One formal run, read from disk.

    Attributes:
        statements: problems whose statement an audit found vacuous, refuted or ill-formed.
        examined: problems whose statement was looked at, each with how many different accepted proofs it had by then:
            what is asked of a statement depends on them.
        served: by endpoint, the model that its server gave this run where the settings name none.
        unreadable: of each problem of the set that couldn't be read, why, in a line; it is no part of the run.
    """

    path: Path
    problems: tuple[FormalProblem, ...]
    formal: FormalSettings
    settings: RunSettings
    version: str
    statements: Mapping[str, Status] = field(default_factory=dict)
    served: Mapping[str, str] = field(default_factory=dict)
    examined: Mapping[str, int] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()

    @property
    def journal(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def attempts(self) -> Path:
        return self.path / "attempts.jsonl"

    @property
    def learned(self) -> Path:
        return self.path / "learned.json"

    @property
    def digest(self) -> str:
        """Hex SHA-256 of the problems: whose attempts these are."""
        whole = hashlib.sha256()
        for problem in self.problems:
            for text in (problem.name, problem.source):
                data = text.encode("utf-8", "surrogatepass")
                whole.update(b"%d:" % len(data) + data)
        return whole.hexdigest()

    def with_settings(self, settings: RunSettings) -> FormalFolder:
        """The same run with other endpoints, roles, search sizes and budgets; saved."""
        folder = replace(self, settings=settings)
        folder.save()
        return folder

    def with_statements(self, found: Mapping[str, Status], examined: Mapping[str, int]) -> FormalFolder:
        """The same run with statements that were examined, those of `found` to be not sound; saved."""
        statements = {name: status for name, status in self.statements.items() if name not in examined}
        folder = replace(self, statements={**statements, **found}, examined={**self.examined, **examined})
        folder.save()
        return folder

    def with_served(self, endpoint: str, model: str) -> FormalFolder:
        """The same run, which now keeps to that endpoint's model; saved."""
        folder = replace(self, served={**self.served, endpoint: model})
        folder.save()
        return folder

    def save(self) -> None:
        """Writes `run.json`."""
        description = _Description(
            format=FORMAT,
            kind=KIND,
            maxproof=self.version,
            problems=[
                _Problem(name=p.name, text=p.source, split=p.split, domain=p.domain, origin=p.origin)
                for p in self.problems
            ],
            statements=dict(self.statements),
            examined=dict(self.examined),
            formal=self.formal,
            settings=self.settings,
            served=dict(self.served),
            unreadable=list(self.unreadable),
        )
        text = json.dumps(description.model_dump(mode="json"), indent=1, ensure_ascii=True)
        write_atomically(self.path / "run.json", text + "\n")


def create_formal_run(
    path: Path,
    problems: Sequence[FormalProblem],
    formal: FormalSettings,
    settings: RunSettings,
    version: str,
    statements: Mapping[str, Status] | None = None,
    unreadable: Sequence[str] = (),
) -> FormalFolder:
    """Makes a new run folder. Raises InputError when `path` already holds a run or can't be written."""
    read = tuple(map(_with_source, problems))
    folder = FormalFolder(path, read, formal, settings, version, statements or {}, unreadable=tuple(unreadable))
    try:
        if (path / "run.json").exists():
            raise InputError("already holds a run", file=path, hint=f"go on with it: maxproof resume {path}")
        path.mkdir(parents=True, exist_ok=True)
        folder.save()
    except OSError as error:
        raise InputError(
            f"can't write the run folder: {error.strerror}", file=path, hint="name another one with --out"
        ) from error
    return folder


def _with_source(problem: FormalProblem) -> FormalProblem:
    """A problem that was made in memory gets the text that its run is resumed from."""
    if problem.source:
        return problem
    program = Program((*problem.definitions, problem.lemma))
    return replace(problem, source=print_program(program, Dialect.DAFNY_4).text)


def is_formal_run(path: Path) -> bool:
    """Whether `path` is the folder of a formal run; false for any other, and where nothing can be read."""
    try:
        value = json.loads((path / "run.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("kind") == KIND


def open_formal_run(path: Path) -> FormalFolder:
    """Reads a formal run. Raises InputError when it is damaged or of a newer version."""
    file = path / "run.json"
    try:
        value = json.loads(file.read_bytes())
        if isinstance(value, dict) and isinstance(value.get("format"), int) and value["format"] > FORMAT:
            raise InputError("was written by a newer version of maxproof", file=file, hint="update maxproof")
        found = _Description.model_validate(value)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=file) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise InputError(f"is damaged: {first['msg']}", file=file, field=name or None) from error
    except (ValueError, RecursionError) as error:
        raise InputError("is damaged: it is no JSON", file=file) from error
    problems = tuple(
        replace(problem_from_text(p.text, file, p.name), split=p.split, domain=p.domain, origin=p.origin)
        for p in found.problems
    )
    return FormalFolder(
        path,
        problems,
        found.formal,
        found.settings,
        found.maxproof,
        found.statements,
        found.served,
        found.examined,
        tuple(found.unreadable),
    )
