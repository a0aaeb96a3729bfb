"""A caller that answers from a function, and short ways to write judges' replies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from maxproof.models.types import Answer, Call, CallAddress, Message, NoAnswer

Script = Callable[[CallAddress, Sequence[Message]], Answer | NoAnswer | str]


class ScriptedCaller:
    """Answers each call by `script(address, messages)`; keeps the calls and prompts it was asked.

    `journal` answers are given without building the prompt, as a replay does.
    """

    def __init__(self, script: Script, journal: dict[CallAddress, Answer] | None = None) -> None:
        self._script = script
        self._journal = journal or {}
        self.calls: list[Call] = []
        self.prompts: list[tuple[Message, ...]] = []
        self.batches: list[int] = []

    async def ask(self, call: Call) -> Answer:
        (answer,) = await self.ask_samples([call])
        if isinstance(answer, NoAnswer):
            raise answer
        return answer

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        self.calls += calls
        self.batches.append(len(calls))
        await asyncio.sleep(0)
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Answer | NoAnswer:
        if call.address in self._journal:
            return self._journal[call.address]
        messages = call.prompt()
        self.prompts.append(messages)
        answer = self._script(call.address, messages)
        return Answer(answer) if isinstance(answer, str) else answer

    @property
    def addresses(self) -> list[CallAddress]:
        return [call.address for call in self.calls]


def reply(verdict: str, *errors: str, assessment: str = "Read.", score: str = "") -> str:
    listed = "\n".join(f'{n}. Location: "here {n}"\n   Description: {e}' for n, e in enumerate(errors, 1)) or "none"
    scored = f"<score>{score}</score>\n" if score else ""
    read = f"<assessment>\n{assessment}\n</assessment>\n<errors>\n{listed}\n</errors>\n"
    return f"{read}{scored}<verdict>{verdict}</verdict>"


PASS = reply("no_errors")
GAP = reply("minor_gaps", "a small gap")
FAIL = reply("has_errors", "the converse is not shown")
WRONG = reply("fundamentally_wrong", "the claim is false")
