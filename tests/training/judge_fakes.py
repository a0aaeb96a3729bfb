"""What the tests of rewards share: a problem, an answer, and judges that are scripted or answer in waves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from maxproof.lab.judges import PANEL
from maxproof.models.types import Answer, Call, NoAnswer
from maxproof.problems import Problem

PROBLEM = Problem(id="p", statement="Show that 1 + 1 = 2.", reference="Count.", rubric="7 points for counting.")
GOOD = "<assessment>fine</assessment><errors>none</errors><verdict>no_errors</verdict>"
TEXT = "We count one and one more, which makes two, and that was to be shown."

FAIR_PANEL = {name: replace(faults, false_alarm=0.0) for name, faults in PANEL.items()}
"""The lab's panel without false alarms: right proofs pass."""


class OneByOne:
    """Samples are asked for one after another; what is no answer stands in its place."""

    async def ask(self, call: Call) -> Answer:
        raise NotImplementedError

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        found: list[Answer | NoAnswer] = []
        for call in calls:
            try:
                found.append(await self.ask(call))
            except NoAnswer as error:
                found.append(error)
        return found


class Waves:
    """Answers only when nothing else can move: each round of answers is one latency."""

    def __init__(self, reply: str = GOOD) -> None:
        self.reply = reply
        self.waiting: list[asyncio.Future[None]] = []
        self.sizes: list[int] = []
        self.calls: list[Call] = []

    async def ask(self, call: Call) -> Answer:
        self.calls.append(call)
        place = asyncio.get_running_loop().create_future()
        self.waiting.append(place)
        await place
        return Answer(self.reply)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        return [await self.ask(call) for call in calls]

    async def settle(self) -> None:
        """Until everything that is able to move has moved."""
        seen = -1
        while seen != len(self.calls):
            seen = len(self.calls)
            for _ in range(50):
                await asyncio.sleep(0)

    async def drive(self, *work: asyncio.Task[Any]) -> None:
        """Answers wave after wave until all of the work is done."""
        while not all(task.done() for task in work):
            await self.settle()
            if self.waiting:
                self.sizes.append(len(self.waiting))
                wave, self.waiting = self.waiting, []
                for place in wave:
                    place.set_result(None)
