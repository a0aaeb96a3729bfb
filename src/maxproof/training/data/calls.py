"""Many records through one journal: what the steps of `maxproof data` that ask a model have in common.

    def keep(place, result): ...                                  # in the order of the input
    async with open_folder(folder, settings, "data rubric", failed_again=True) as caller:
        await run_records(rows, work, keep, window=256)

Records are worked on at the same time, at most `window` of them, so memory does not grow with their number; results
come in the order of the input. Every finished call is in the journal before its answer is used: a run that was killed
goes on where it was. A record that has no answer becomes a `Reject` that says why, and the same command run again asks
only for what is missing.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import Answer, AnswerState, Call, CallAddress, Caller, NoAnswer
from maxproof.problems.data.files import Reject
from maxproof.problems.data.record import DataRecord
from maxproof.problems.errors import Place

PACKAGE = "maxproof.training.data"
MAX_READ_CHARS = 100_000
"""Of a longer reply only the end is read: what counts comes last."""

Found = TypeVar("Found")
Work = Callable[[DataRecord], Awaitable["DataRecord | Unused"]]
Keep = Callable[[Place, "DataRecord | Reject"], None]


@dataclass(frozen=True, slots=True)
class Unused:
    """A record that does not go on, and why."""

    reason: str


class Fault(StrEnum):
    """Why a reply can't be read, in words that can be shown to the model; faults of one form stand with that form."""

    EMPTY = "it was empty"
    REFUSED = "it declined"
    TRUNCATED = "it was cut at the token limit"
    UNCLOSED_THINKING = "it opened a think tag and never closed it"


@dataclass(frozen=True, slots=True)
class Read(Generic[Found]):
    """What a reply said, the model that said it, and how many replies it took, from 1."""

    form: Found
    model: str
    replies: int


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked about one record.

    Attributes:
        task: `rubric` or `annotate`; the name of the template too.
        record: the record's number, see `record_number`.
        fenced: what others wrote, by slot; None leaves out the slot's paragraph.
        own: our own words, by slot.
    """

    task: str
    record: int
    fenced: Mapping[str, str | None]
    own: Mapping[str, str | None]


def record_number(record: DataRecord, sample: int = 0) -> int:
    """A number for a record's calls, 0 <= number < 2^62: it does not change as other records come or go."""
    digest = hashlib.sha256(f"{sample}\0{record.id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 2


async def run_records(
    rows: Iterable[tuple[Place, DataRecord | Reject]], work: Work, keep: Keep, *, window: int
) -> None:
    """Does `work` for each record, at most `window` >= 1 at a time, and hands results to `keep` in the input's order.

    Rows that are no records are handed on as they are. A record that takes long holds the window's end back, not the
    others in it.
    """

    async def done(place: Place, row: DataRecord | Reject) -> DataRecord | Reject:
        if isinstance(row, Reject):
            return row
        result = await work(row)
        if isinstance(result, Unused):
            return Reject(place, result.reason, row.model_dump(mode="json", exclude_defaults=True), row.id)
        return result

    async with asyncio.TaskGroup() as group:
        under_way: deque[tuple[Place, asyncio.Task[DataRecord | Reject]]] = deque()
        for place, row in rows:
            if len(under_way) >= window:
                first, task = under_way.popleft()
                keep(first, await task)
            under_way.append((place, group.create_task(done(place, row))))
        for first, task in under_way:
            keep(first, await task)


async def ask_read(
    caller: Caller, question: Question, read: Callable[[str], Found | StrEnum], replies: int
) -> Read[Found] | Unused:
    """Asks until a reply can be read, at most `replies` >= 1 times; each time the fault of the last one is named.

    A reply that met the token limit is not asked again, since it would meet it again.
    """
    template = load_template(PACKAGE, question.task)
    fault: StrEnum | None = None
    for attempt in range(replies):
        own = {**question.own, "fault": None if fault is None else str(fault)}
        parts = [part for item in sorted({**question.fenced, **own}.items()) for part in item]
        call = Call(
            CallAddress("annotator", question.task, question.record, attempt=attempt),
            template.id,
            inputs_digest(*parts),
            lambda own=own: template.render(question.fenced, own),  # type: ignore[misc]
        )
        try:
            answer = await caller.ask(call)
        except NoAnswer as error:
            return unanswered(error)
        found = _unusable(answer) or read(answer.text[-MAX_READ_CHARS:])
        if not isinstance(found, StrEnum):
            return Read(found, answer.model, attempt + 1)
        fault = found
        if fault is Fault.TRUNCATED:
            break
    return Unused(f"no usable answer after {attempt + 1}: {fault}")


def unanswered(error: NoAnswer) -> Unused:
    """A record whose call has no answer."""
    return Unused(f"no answer: {error}")


def _unusable(answer: Answer) -> Fault | None:
    if answer.state is AnswerState.TRUNCATED:
        return Fault.TRUNCATED
    if answer.state is AnswerState.REFUSED:
        return Fault.REFUSED
    if answer.unclosed_thinking:
        return Fault.UNCLOSED_THINKING
    return Fault.EMPTY if not answer.text.strip() else None


_TAG = r"(?<![\"'`“‘«])<[ \t]{{0,4}}(/?)[ \t]{{0,4}}{name}\b[^<>\n]{{0,200}}>"


def blocks(text: str, name: str) -> list[str]:
    """The contents of the closed `<name>` blocks of a reply, in order. A tag after a quotation mark is a quotation."""
    found: list[str] = []
    opened: int | None = None
    for tag in re.finditer(_TAG.format(name=name), text, re.IGNORECASE):
        if not tag.group(1):
            opened = tag.end()
        elif opened is not None:
            found.append(text[opened : tag.start()])
            opened = None
    return found
