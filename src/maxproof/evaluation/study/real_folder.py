"""The folder of a study on a real model: what was asked, and one folder for each problem and seed.

study.json                  what was asked: settings, questions, seeds, oracle
problems.jsonl              the problems, as they were read
problems/ID/seed-S/         a unit: one problem with one seed
    journal.sqlite          every finished call of its arms
    oracle.sqlite           every finished call of its oracle
    unit.json               what its arms did, with grades (derived; written once the unit is finished)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from maxproof import __version__
from maxproof.evaluation.description import (
    LIMITS,
    dataset_digest,
    description_text,
    differing,
    flat,
    folder_name,
    read_description,
    read_problems,
    write_problems,
)
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.evaluation.study.arms import ArmPlan, Question, all_arms
from maxproof.problems import InputError, Problem
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings

DESCRIPTION = "study.json"


class RealStudySettings(BaseModel):
    """What is measured on a real model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: tuple[Question, ...] = Field(get_args(Question), min_length=1, description="questions to answer")
    seeds: tuple[int, ...] = Field((0,), min_length=1, description="seeds; each does every problem anew")
    budget: Literal["calls", "tokens"] = Field("tokens", description="the unit in which budgets are equal")
    samples: tuple[int, ...] = Field((1, 2, 8), description="K of the question `samples`, beside search.verifications")
    grade: Literal["archive", "picked"] = Field(
        "archive", description="what the oracle grades: every proof, or only what an arm would return"
    )
    at_once: int = Field(16, ge=1, description="problems worked on at the same time")

    @field_validator("seeds", "questions")
    @classmethod
    def _distinct(cls, value: tuple[object, ...]) -> tuple[object, ...]:
        if len(set(value)) != len(value):
            raise ValueError("one is there twice")
        return value

    @field_validator("samples")
    @classmethod
    def _positive(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(count < 1 for count in value):
            raise ValueError("K is at least 1")
        return value


class AskedStudy(BaseModel):
    """What `study.json` holds beside its format. `served`: by endpoint, the model that its server gave."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    maxproof: str = __version__
    digest: str
    settings: RunSettings
    study: RealStudySettings
    oracle: Literal["judge", "lab"]
    oracle_settings: OracleSettings | None = None
    served: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """One problem with one seed, and where its files are."""

    problem: Problem
    seed: int
    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal.sqlite"

    @property
    def oracle_journal(self) -> Path:
        return self.path / "oracle.sqlite"

    @property
    def record(self) -> Path:
        return self.path / "unit.json"


@dataclass(frozen=True)
class StudyFolder:
    """A study, read from disk."""

    path: Path
    asked: AskedStudy

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """In the dataset's order. Raises InputError if `problems.jsonl` is gone, damaged or another one."""
        return read_problems(self.path, self.asked.digest, DESCRIPTION)

    @property
    def plans(self) -> tuple[ArmPlan, ...]:
        """All arms, in the order in which they run."""
        return all_arms(self.asked.study.questions, self.asked.settings.search, self.asked.study.samples)

    def units(self) -> tuple[StudyUnit, ...]:
        """Every unit, seed by seed, problems in the dataset's order."""
        return tuple(
            StudyUnit(problem, seed, self.path / "problems" / folder_name(problem.id) / f"seed-{seed}")
            for seed in self.asked.study.seeds
            for problem in self.problems
        )

    def with_served(self, endpoint: str, model: str) -> StudyFolder:
        """The same with one more model that a server gave, saved. Raises OSError."""
        asked = self.asked.model_copy(update={"served": {**self.asked.served, endpoint: model}})
        write_atomically(self.path / DESCRIPTION, description_text(asked))
        return replace(self, asked=asked)


def create_study(
    path: Path,
    problems: Sequence[Problem],
    settings: RunSettings,
    study: RealStudySettings,
    oracle: Literal["judge", "lab"],
    oracle_settings: OracleSettings | None = None,
) -> StudyFolder:
    """Makes a new study, or goes on with the one in `path` that was asked the same.

    Budgets, limits of endpoints and `at_once` may differ from those of an earlier session; the new ones hold. Seeds,
    questions and K may be added: what is recorded is not asked again.

    Raises InputError when `path` holds another study or can't be written, when there is no problem, when two have one
    id, or when a judge as the oracle has no settings.
    """
    if not problems:
        raise InputError("a study needs at least one problem", field="dataset")
    ids = [problem.id for problem in problems]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise InputError(f"two problems have the id {twice!r}", field="dataset")
    if oracle == "judge" and oracle_settings is None:
        raise InputError("a judge as the oracle needs an endpoint of its own", field="oracle", hint="add [oracle]")
    asked = AskedStudy(
        digest=dataset_digest(problems), settings=settings, study=study, oracle=oracle, oracle_settings=oracle_settings
    )
    if (path / DESCRIPTION).exists():
        known = open_study(path)
        if names := differing(_fixed(known.asked), _fixed(asked)):
            more = f" [and {len(names) - 6} more]" if len(names) > 6 else ""
            raise InputError(
                f"holds a study with another {', '.join(names[:6])}{more}",
                file=path,
                hint="name another one with --out",
            )
        asked = asked.model_copy(update={"served": known.asked.served})
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_problems(path, problems)
        write_atomically(path / DESCRIPTION, description_text(asked))
    except OSError as error:
        raise InputError(f"can't write the study's folder: {error.strerror}", file=path) from error
    return open_study(path)


def open_study(path: Path) -> StudyFolder:
    """Reads a study. Raises InputError when it is none, is damaged, or was written by a newer version."""
    return StudyFolder(path, read_description(path / DESCRIPTION, "a study", AskedStudy))


def _fixed(asked: AskedStudy) -> dict[str, str]:
    """By name, what a later session can't change."""
    value = asked.model_dump(mode="json")
    settings, study, oracle = value["settings"], value["study"], value["oracle_settings"]
    for endpoint in (*settings["endpoints"].values(), oracle or {}):
        for name in LIMITS:
            endpoint.pop(name, None)
    del settings["budget"], settings["search"]["seed"]
    if oracle is not None:
        del oracle["budget"]
    for name in ("at_once", "seeds", "questions", "samples"):
        del study[name]
    named = {"dataset": value["digest"], "oracle": value["oracle"], "oracle_settings": oracle, "study": study}
    return flat({**named, **settings})
