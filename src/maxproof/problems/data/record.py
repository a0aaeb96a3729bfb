"""The record that every step of `maxproof data` reads and writes, one JSON object a line.

A file of records is also a file of problems: `maxproof prove`, `eval` and `train` read it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.problems.problem import Problem

TOTAL_POINTS = 7
Step = Literal["build", "rubric", "annotate", "decontaminate", "filter", "balance", "split"]


class Criterion(BaseModel):
    """One line of a grading scheme: what earns `points`, 0 < points <= 7."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    points: float = Field(gt=0, le=TOTAL_POINTS)
    criterion: str = Field(min_length=1)


class Provenance(BaseModel):
    """What one step did to a record.

    Attributes:
        step: which. maxproof: the version.
        settings: hex digest of the step's settings, the same for all records of one run.
        notes: what is worth keeping of this record: the file and line it came from, the model that wrote the rubric,
            the solve rate, the cluster, ...; short values only.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Step
    maxproof: str
    settings: str
    notes: Mapping[str, str | int | float | bool | None] = Field(default_factory=dict)


class DataRecord(BaseModel):
    """One problem for training.

    Attributes:
        id: unique in its file. statement: Markdown with LaTeX, never blank.
        reference: reference solution. answer: short final answer. rubric: the grading scheme as text.
        scheme: the same by criterion, totals TOTAL_POINTS; empty if the scheme is only text, or there is none.
        domain: of the taxonomy's domains, or `unknown`; None: not annotated. level: as the source names it.
        techniques: of the taxonomy's techniques; empty: none known.
        source: where the problem comes from.
        split: `train`, `validation` or `test`, once split.
        provenance: what was done to it, oldest first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=200)
    statement: str = Field(min_length=1)
    reference: str | None = None
    answer: str | None = None
    rubric: str | None = None
    scheme: tuple[Criterion, ...] = ()
    domain: str | None = None
    level: str | None = None
    techniques: tuple[str, ...] = ()
    source: str | None = None
    split: Literal["train", "validation", "test"] | None = None
    provenance: tuple[Provenance, ...] = ()

    def problem(self) -> Problem:
        """What provers and verifiers see of it."""
        return Problem(
            id=self.id, statement=self.statement, reference=self.reference, rubric=self.rubric, answer=self.answer,
            domain=self.domain, level=self.level, source=self.source,
        )  # fmt: skip

    def after(self, entry: Provenance, **changes: object) -> DataRecord:
        """The record with `changes`, checked, and one more entry of provenance. Raises pydantic's ValidationError."""
        return DataRecord.model_validate(
            {**self.model_dump(), **changes, "provenance": (*self.provenance, entry)}, strict=False
        )
