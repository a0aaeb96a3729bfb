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

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.evaluation.description import (
    LIMITS,
    description_text,
    differing,
    flat,
    folder_name,
    read_description,
    read_problems,
    read_rows,
    write_problems,
    write_rows,
)
from maxproof.evaluation.oracle.settings import OracleKind, OracleSettings, Statistic
from maxproof.problems import InputError, Problem
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings

DESCRIPTION = "eval.json"
GIVEN = "proofs"
"""The method of an evaluation of given proofs."""


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
        found = read_problems(self.path, self.asked.digest, DESCRIPTION)
        return {problem.id: problem for problem in found}

    @cached_property
    def proofs(self) -> Mapping[str, tuple[str, ...]]:
        """The given proofs by problem, in order."""
        found: dict[str, list[str]] = {}
        for row in read_rows(self.path / "proofs.jsonl"):
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
        write_atomically(self.path / DESCRIPTION, description_text(asked))
        return replace(self, asked=asked)


def create_eval(
    path: Path, asked: Asked, problems: Sequence[Problem], proofs: Mapping[str, Sequence[str]] | None = None
) -> EvalFolder:
    """Makes a new evaluation, or opens the one that another process made there at the same time.

    Raises InputError when `path` can't be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_problems(path, problems)
        if proofs is not None:
            rows = ({"problem": problem, "text": text} for problem, texts in proofs.items() for text in texts)
            write_rows(path / "proofs.jsonl", rows)
        fresh = path / f".eval.json.{os.getpid()}.new"
        write_atomically(fresh, description_text(asked))
        try:
            os.link(fresh, path / DESCRIPTION)  # of several processes that start together, one makes it
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
    return EvalFolder(path, read_description(path / DESCRIPTION, "an evaluation", Asked))


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
