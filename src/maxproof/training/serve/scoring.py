"""Verifies the items of all requests under one limit of judge calls.

The candidate's id follows from the problem and the answer: the same answer to the same problem is the same call
whenever it comes, so that a restarted server, or a trainer that asks again, pays nothing twice. Equal answers get
equal rewards. Only an answer that was not scored is judged anew, as the next sample, when it is asked for again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from maxproof.models.call_key import inputs_digest
from maxproof.models.caller import JournaledCaller
from maxproof.models.types import Answer, AnswerState, Call, Caller, CallFailed, NoAnswer, ask_one
from maxproof.problems import InputError
from maxproof.training.serve.metrics import Metrics
from maxproof.training.serve.requests import Item
from maxproof.verifier import Draft, Verifier, VerifierSettings
from maxproof.verifier.types import ScoreState, Verification


class JudgesGone(Exception):
    """Nothing new is asked any more: a budget is spent, an endpoint is gone, or the journal can't be written."""


class Scorer:
    """Verifies answers.

    Args:
        caller: who answers the judges' calls.
        limit: calls in flight at once, over everything that is asked.
    """

    def __init__(self, settings: VerifierSettings, caller: Caller, *, limit: int = 32) -> None:
        if limit < 1:
            raise InputError(f"expected at least 1, got {limit}", field="limit")
        self.limit = limit
        self.metrics = Metrics()
        self._settings = settings
        self._caller = caller
        self._samples: dict[int, int] = {}  # of candidates that were not scored: the sample to ask for next
        self._counted = _CountedCaller(caller, asyncio.Semaphore(limit), self.metrics)

    @property
    def stopped(self) -> str:
        """Why nothing new is asked any more; "" as long as there is no reason."""
        return self._caller.stop.reason if isinstance(self._caller, JournaledCaller) else ""

    async def score(self, items: Sequence[Item]) -> list[Verification]:
        """One verification each, in order; equal items are verified once.

        Raises JudgesGone, once all that was asked by then is answered: what is paid for is recorded.
        """
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {item: group.create_task(self._verify(item)) for item in dict.fromkeys(items)}
        except ExceptionGroup as error:
            if (unwritten := error.subgroup(InputError)) is None:
                raise
            raise JudgesGone(str(_first(unwritten))) from None
        results = [tasks[item].result() for item in items]
        found = [verification for verification in results if verification is not None]
        if len(found) < len(items):
            raise JudgesGone(self.stopped or "the judges were not asked")
        self.metrics.rollouts.update(verification.state.value for verification in found)
        if isinstance(self._caller, JournaledCaller):
            self.metrics.replayed = self._caller.progress().replayed
        return found

    async def _verify(self, item: Item) -> Verification | None:
        """None: the judges were not asked."""
        state = AnswerState.COMPLETE if item.finished else AnswerState.TRUNCATED
        verifier = Verifier(self._settings, self._counted, item.problem)
        candidate = candidate_id(item)
        sample = self._samples.get(candidate, 0)
        found = (await verifier.verify(candidate, Draft(item.answer, state=state), (sample,))).get(sample)
        if found is not None and found.state is ScoreState.NOT_SCORED:
            self._samples[candidate] = sample + 1
        return found


def candidate_id(item: Item) -> int:
    """62 bits of what the judges are asked about."""
    return int(inputs_digest(item.problem.digest, item.answer)[:16], 16) >> 2


def reason_of(verification: Verification) -> str:
    """Why it is not scored, or which rule of layer 1 stopped it; "" otherwise."""
    if verification.state is ScoreState.NOT_SCORED:
        return "; ".join(f"judge {view.judge}: {view.reason}" for view in verification.judges if view.reason)
    return "; ".join(f"{hit.rule}: {hit.evidence}" for hit in verification.bad_cases)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _CountedCaller:
    """A `Caller` whose calls take one of the shared places each while they run, and are counted."""

    def __init__(self, caller: Caller, places: asyncio.Semaphore, metrics: Metrics) -> None:
        self._caller = caller
        self._places = places
        self._metrics = metrics

    async def ask(self, call: Call) -> Answer:
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        metrics = self._metrics
        metrics.calls_waiting += 1
        try:
            await self._places.acquire()
        finally:
            metrics.calls_waiting -= 1
        metrics.calls_in_flight += 1
        started = time.monotonic()
        try:
            results = await self._caller.ask_samples(calls)
        finally:
            self._places.release()
            metrics.calls_in_flight -= 1
            metrics.call_s += time.monotonic() - started
        metrics.calls.update(_outcome(result) for result in results)
        return results


def _outcome(result: Answer | NoAnswer) -> str:
    if isinstance(result, CallFailed):
        return "failed"
    return "not_run" if isinstance(result, NoAnswer) else "answered"
