"""Equal budgets: what a method used, and whether it may go on.

    caller = MeteredCaller(journaled)
    outcome = await METHODS["pool"](problem, search, verifier, caller, Budget("tokens", 200_000).left(caller))

Methods that are compared share their calls through a journal (or another memory), and each pays for every answer that
it used, whoever asked for it first. A sum over calls does not depend on the order in which they finish, so what `left`
says at a point where nothing is in flight doesn't either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from maxproof.evaluation.methods.types import Left
from maxproof.models.types import Answer, Call, CallAddress, Caller, CallNotRun, NoAnswer, ask_one

Unit = Literal["calls", "tokens"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one method used: calls, and tokens in and out."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def amount(self, unit: Unit) -> int:
        """All of it in one unit."""
        return self.calls if unit == "calls" else self.tokens


class MeteredCaller:
    """Counts what one method uses on one problem, each distinct call once, live or recorded.

    A call that fails is a call without tokens; one that is answered after all is another. What was not run costs
    nothing.

    Args:
        free: roles that cost this method nothing, because it has no use for their answers.
    """

    def __init__(self, caller: Caller, free: frozenset[str] = frozenset()) -> None:
        self._caller = caller
        self._free = free
        self._used: set[tuple[CallAddress, str, str, bool]] = set()
        self.spent = Spent()

    async def ask(self, call: Call) -> Answer:
        """Raises `CallFailed` or `CallNotRun`."""
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """See `models.types.Caller`."""
        results = await self._caller.ask_samples(calls)
        for call, result in zip(calls, results, strict=True):
            self._count(call, result)
        return results

    def _count(self, call: Call, result: Answer | NoAnswer) -> None:
        key = (call.address, call.template, call.inputs, isinstance(result, NoAnswer))
        if isinstance(result, CallNotRun) or key in self._used or call.address.role in self._free:
            return
        self._used.add(key)
        prompt, completion = 0, 0
        if isinstance(result, Answer):
            prompt, completion = result.usage.prompt_tokens, result.usage.completion_tokens
        spent = self.spent
        self.spent = Spent(spent.calls + 1, spent.prompt_tokens + prompt, spent.completion_tokens + completion)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a method may use on one problem.

    Attributes:
        limit: in `unit`, > 0.
        kept_calls: calls that must be left for the method to go on, as for the tournament at its end; in tokens each
            counts as the mean of the calls so far.
    """

    unit: Unit
    limit: float
    kept_calls: int = 0

    def left(self, caller: MeteredCaller) -> Left:
        """Whether `caller` has used less than the limit, but for what is kept."""

        def left() -> bool:
            spent = caller.spent
            used = spent.amount(self.unit)
            kept = self.kept_calls if self.unit == "calls" else self.kept_calls * used / max(1, spent.calls)
            return used + kept < self.limit

        return left
