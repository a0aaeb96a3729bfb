"""What one attempt asked of models, counted on the way."""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.models.types import Answer, Call, Caller, NoAnswer


class CountingCaller:
    """A `Caller` that counts the answers it passes on.

    Attributes:
        calls: answers so far, recorded ones included.
        prompt_tokens, completion_tokens: theirs together.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    async def ask(self, call: Call) -> Answer:
        """Raises `CallFailed` or `CallNotRun`."""
        answer = await self._caller.ask(call)
        self._count(answer)
        return answer

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        answers = await self._caller.ask_samples(calls)
        for answer in answers:
            if isinstance(answer, Answer):
                self._count(answer)
        return answers

    def _count(self, answer: Answer) -> None:
        self.calls += 1
        self.prompt_tokens += answer.usage.prompt_tokens
        self.completion_tokens += answer.usage.completion_tokens
