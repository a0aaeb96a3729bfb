"""`maxproof data rubric`: a model writes the grading scheme of a problem, after a few that people wrote.

    scheme = read_scheme(reply)                       # criteria that total 7 points, or what is wrong
    result = await RubricWriter(settings, examples, caller).write(record)

A reply that can't be read, or whose points don't total 7, is asked again with the fault named; what is still unusable
is no scheme at all: the record goes to the reject file. Without a reference solution a model would have to solve the
problem first, so such records are rejected too, unless the settings allow it; their provenance then says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from maxproof.models.call_key import inputs_digest
from maxproof.models.types import Caller
from maxproof.problems import InputError
from maxproof.problems.data.files import provenance, settings_digest
from maxproof.problems.data.record import TOTAL_POINTS, Criterion, DataRecord
from maxproof.training.data.calls import Question, Unused, ask_read, blocks, record_number

MAX_EXAMPLES = 8
MAX_EXAMPLE_CHARS = 100_000
"""Of all examples together: they stand in the prompt of every call."""
MAX_CRITERION_CHARS = 2000
MIN_CRITERIA = 2
NO_REFERENCE = (
    "There is no reference solution. Solve the problem for yourself first, and write the scheme for what you are sure "
    "of."
)


class RubricSettings(BaseModel):
    """How schemes are written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    replies: int = Field(3, ge=1, le=10, description="replies asked for at most, until one can be used")
    without_reference: bool = Field(False, description="also write schemes of problems without a reference solution")
    replace: bool = Field(False, description="write a new scheme where a record has one")


class SchemeFault(StrEnum):
    """Why a reply holds no scheme, in words that can be shown to the model."""

    NO_SCHEME = "there was no <scheme> block that is closed"
    SEVERAL = "there were several <scheme> blocks that differ"
    BAD_LINE = "a line of the scheme was not of the form 'N points: what has to be shown'"
    BAD_POINTS = "the points of a line were not a whole number from 1 to 7"
    BAD_TOTAL = "the points did not add up to 7"
    TOO_FEW = "the scheme had one line only"
    TOO_LONG = f"a line had more than {MAX_CRITERION_CHARS} characters"
    REPEATED = "two lines were the same"


_LINE = re.compile(
    r"(?:[-*•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]{0,2}(\d{1,9})[ \t]+points?[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(\S.*)", re.I
)


def read_scheme(text: str) -> tuple[Criterion, ...] | SchemeFault:
    """The criteria in a reply, which total TOTAL_POINTS. Linear in the length of the text; never raises.

    Blocks that differ are no scheme, since one may be quoted from a problem.
    """
    found = {
        "\n".join(" ".join(line.split()) for line in block.strip().splitlines()) for block in blocks(text, "scheme")
    }
    if len(found) != 1:
        return SchemeFault.SEVERAL if found else SchemeFault.NO_SCHEME
    (block,) = found
    criteria: list[Criterion] = []
    for line in filter(None, block.split("\n")):
        match = _LINE.fullmatch(line)
        if match is None:
            return SchemeFault.BAD_LINE
        points, criterion = int(match.group(1)), match.group(2)
        if not 1 <= points <= TOTAL_POINTS:
            return SchemeFault.BAD_POINTS
        if len(criterion) > MAX_CRITERION_CHARS:
            return SchemeFault.TOO_LONG
        criteria.append(Criterion(points=points, criterion=criterion))
        if len(criteria) > TOTAL_POINTS:
            return SchemeFault.BAD_TOTAL
    if sum(criterion.points for criterion in criteria) != TOTAL_POINTS:
        return SchemeFault.BAD_TOTAL
    if len(criteria) < MIN_CRITERIA:
        return SchemeFault.TOO_FEW
    if len({criterion.criterion.casefold() for criterion in criteria}) < len(criteria):
        return SchemeFault.REPEATED
    return tuple(criteria)


def scheme_text(scheme: Sequence[Criterion]) -> str:
    """A scheme as the text that graders get: one numbered line a criterion, its points first."""
    return "\n".join(
        f"{number}. {criterion.points:g} point{'' if criterion.points == 1 else 's'}: {criterion.criterion}"
        for number, criterion in enumerate(scheme, 1)
    )


def examples_text(examples: Sequence[DataRecord]) -> str:
    """The examples as one text: problem, reference solution where there is one, and scheme of each.

    Raises InputError: none, more than MAX_EXAMPLES, one without a scheme or a rubric, more than MAX_EXAMPLE_CHARS.
    """
    if not 1 <= len(examples) <= MAX_EXAMPLES:
        raise InputError(f"{len(examples)} examples, expected 1 to {MAX_EXAMPLES}", field="--examples")
    parts = []
    for number, record in enumerate(examples, 1):
        scheme = scheme_text(record.scheme) if record.scheme else record.rubric
        if not scheme:
            raise InputError(f"{record.id!r} has neither a scheme nor a rubric", field="--examples")
        parts.append(f"Example {number}. Problem:\n{record.statement}")
        if record.reference:
            parts.append(f"Reference solution:\n{record.reference}")
        parts.append(f"Grading scheme:\n{scheme}")
    text = "\n\n".join(parts)
    if len(text) > MAX_EXAMPLE_CHARS:
        raise InputError(
            f"the examples have {len(text):,} characters, expected at most {MAX_EXAMPLE_CHARS:,}", field="--examples"
        )
    return text


class RubricWriter:
    """Writes schemes with one set of examples. Raises InputError as `examples_text`."""

    def __init__(self, settings: RubricSettings, examples: Sequence[DataRecord], caller: Caller) -> None:
        self._settings = settings
        self._examples = examples_text(examples)
        self._caller = caller
        self.digest = settings_digest({**settings.model_dump(mode="json"), "examples": inputs_digest(self._examples)})

    async def write(self, record: DataRecord) -> DataRecord | Unused:
        """The record with `scheme` and its text as `rubric`; as it was if it has one and that is not replaced."""
        if (record.scheme or record.rubric) and not self._settings.replace:
            return record
        if record.reference is None and not self._settings.without_reference:
            return Unused("no reference solution to write a grading scheme from")
        fenced = {
            "examples": self._examples,
            "problem": record.statement,
            "reference": record.reference,
            "answer": record.answer,
        }
        own = {"no_reference": NO_REFERENCE if record.reference is None else None}
        question = Question("rubric", record_number(record), fenced, own)
        found = await ask_read(self._caller, question, read_scheme, self._settings.replies)
        if isinstance(found, Unused):
            return found
        entry = provenance(
            "rubric", self.digest, model=found.model, replies=found.replies, reference=record.reference is not None
        )
        return record.after(entry, scheme=found.form, rubric=scheme_text(found.form))
