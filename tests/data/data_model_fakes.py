"""A caller with fixed replies, and records, for the tests of the data steps that ask a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from maxproof.models.template import fenced_blocks
from maxproof.models.types import Answer, Call, NoAnswer, ask_one
from maxproof.problems.data.record import DataRecord
from maxproof.problems.errors import Place

PLACE = Place(Path("in.jsonl"), 1)


class FixedCaller:
    """Answers each call by a function of the call and its fenced blocks."""

    def __init__(self, reply: Callable[[Call, dict[str, str]], str | Answer | NoAnswer]) -> None:
        self._reply = reply
        self.calls: list[Call] = []
        self.prompts: list[str] = []

    async def ask(self, call: Call) -> Answer:
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        found: list[Answer | NoAnswer] = []
        for call in calls:
            messages = call.prompt()
            self.calls.append(call)
            self.prompts.append(messages[-1].content)
            reply = self._reply(call, fenced_blocks(messages))
            found.append(Answer(reply, model="fixed") if isinstance(reply, str) else reply)
        return found


def record(id: str = "a", **fields: object) -> DataRecord:
    return DataRecord.model_validate({"id": id, "statement": f"Prove {id}.", **fields})
