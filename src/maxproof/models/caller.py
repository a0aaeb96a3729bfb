"""Ties journal, clients and budget together: what is recorded is answered from there, the rest is asked and recorded.

A call's result is durable before it is returned. A failed call is recorded as *provisional*: the next answer of the
same endpoint makes it final; as long as none came, a resumed run asks it again. So an endpoint that is gone costs the
run nothing but time: `max_failures` failures in a row, or one that can't succeed, end it, and `resume` goes on.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping, Sequence

from maxproof.models.bindings import Bindings
from maxproof.models.budget import share_left
from maxproof.models.call_key import call_key, call_seed, sampler_digest
from maxproof.models.chat import ChatEndpoint, ChatReply, ChatRequest
from maxproof.models.endpoints import check_keys
from maxproof.models.gate import Gate
from maxproof.models.journal import Journal
from maxproof.models.journal_bodies import Exchange
from maxproof.models.journal_rows import CallRecord
from maxproof.models.ledger import Ledger
from maxproof.models.prices import check_priced, cost_of, prices_of
from maxproof.models.served import ServedModels
from maxproof.models.settings import BudgetSettings
from maxproof.models.streaks import FailureStreaks
from maxproof.models.types import (
    Answer,
    Call,
    CallAddress,
    CallFailed,
    CallNotRun,
    CallProgress,
    FailureKind,
    Message,
    NoAnswer,
    RoleUsage,
    Stop,
    Usage,
    ask_one,
)
from maxproof.models.usage import elapsed_seconds, first_started, recorded_stop, role_usage, row_cost, stop_event
from maxproof.problems import InputError

NOT_RECORDED = "not recorded"

_Group = dict[bytes, Call]
_Prompt = Callable[[], tuple[Message, ...]]
_Results = dict[bytes, Answer | NoAnswer]


class JournaledCaller:
    """A `Caller` over one journal. A journal that was opened for replay never asks: what it lacks is not run.

    Args:
        clients: by endpoint name; none needed for a replay.
        seed: the run's; sampling seeds follow from it and the address.
        reserved_calls: calls kept for the role `ranker` out of every budget, so that a run which is cut short still
            ends with its tournament.
        served: by endpoint, the models that earlier sessions found where none is configured; keep_served: is told
            each (endpoint, model) that this one finds, before a call is made with it.
        elsewhere: whether an endpoint has answered another caller that shares it.
        clock: unix seconds, for the record. monotonic: seconds, for the deadline.

    Raises InputError if `max_cost` is set and a used endpoint has no prices: that budget would never trip.
    """

    def __init__(
        self,
        journal: Journal,
        clients: Mapping[str, ChatEndpoint],
        bindings: Bindings,
        budget: BudgetSettings | None = None,
        seed: int = 0,
        *,
        reserved_calls: int = 0,
        served: Mapping[str, str] | None = None,
        keep_served: Callable[[str, str], None] = lambda endpoint, model: None,
        elsewhere: Callable[[str], bool] = lambda endpoint: False,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._clients = clients
        self._served = ServedModels(clients, served or {}, keep_served)
        self._bindings = bindings.with_models(served or {})
        self._keys_checked = False
        self._budget = budget or BudgetSettings()
        self._seed = seed
        self._clock = clock
        self._monotonic = monotonic
        self._ledger = Ledger(self._budget, reserved_calls)
        if self._budget.max_cost is not None:
            check_priced(bindings.endpoints)
        self._priced = all(prices_of(settings) is not None for settings in bindings.endpoints.values())
        self._recorded_stop = recorded_stop(journal)
        self._stop_noted = False
        self._failed = 0
        self._streaks = FailureStreaks(self._budget.max_failures, elsewhere)
        self._load(reserved_calls)
        self._before_s = elapsed_seconds(journal)
        self._begun = monotonic()
        self._samplers = self._sampler_digests()
        self._running: dict[bytes, asyncio.Event] = {}
        self._gate = Gate(self._ledger, self._elapsed, Stop() if journal.writable else self._recorded_stop)
        self._replayed = 0

    @property
    def stop(self) -> Stop:
        """What ended the run early: a budget, the deadline, a dead endpoint; false if nothing did."""
        return self._gate.stop

    async def ask(self, call: Call) -> Answer:
        """Raises `CallFailed` or `CallNotRun`; InputError if the journal can't be written."""
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """One result for each call, in order. Calls without a record go as one request with `n` where that may be.

        Raises InputError if the journal can't be written.
        """
        if self._journal.writable and not await self._has_model(calls[0].address):
            return [CallNotRun(self._gate.stop.reason) for _ in calls]
        keys = [call_key(call, self._samplers[self._bindings[call.address.binding].name]) for call in calls]
        results: _Results = {}
        missing: _Group = {}
        for key, call in zip(keys, calls, strict=True):
            found = self._find(key)
            if found is not None:
                results[key] = found
            else:
                missing[key] = call
        if missing and not self._journal.writable:
            results |= {key: CallNotRun(self._gate.stop.reason or NOT_RECORDED) for key in missing}
        elif missing:
            # The prompts are equal: calls that go as several requests share one copy while they wait.
            prompt = functools.cache(calls[0].prompt)
            results |= await self._obtain_all(self._groups(missing), prompt)
        return [results[key] for key in keys]

    async def end_early(self, refusal: CallNotRun) -> None:
        """From now on nothing is asked, for a reason that its owner knows; failures stay provisional."""
        self._gate.refuse(refusal)
        await self._note_stop()

    async def finish(self, outcome: str) -> None:
        """Ends the session. The failures of a run that was not stopped become final.

        A run that came to its end while an endpoint never answered was stopped by that: too few calls for the streak.
        """
        if not self._journal.session_begun:
            return
        if not self._gate.stop and (silent := self._streaks.silent()) is not None:
            self._gate.end(*silent)
            await self._note_stop()
        elif not self._gate.stop:
            await self._journal.record(confirm=self._streaks.open_keys())
        await self._journal.end_session(outcome)

    def usage(self) -> tuple[RoleUsage, ...]:
        """See `role_usage`."""
        return role_usage(self._journal, self._bindings.endpoints)

    def started(self) -> float:
        """Unix seconds at which the run's first session began; 0 if nothing is recorded."""
        return first_started(self._journal)

    def elapsed_s(self) -> float:
        """Seconds of work over all sessions, as recorded: a replay gives the same number."""
        return elapsed_seconds(self._journal)

    def progress(self) -> CallProgress:
        """`finished` counts the whole run's calls, failed ones included; `replayed` those this session took from it."""
        spent = self._ledger.spent
        return CallProgress(
            in_flight=sum(client.in_flight for client in self._clients.values()),
            waiting=sum(client.waiting for client in self._clients.values()) + self._gate.waiting,
            finished=spent.calls,
            replayed=self._replayed,
            failed=self._failed,
            total_tokens=round(spent.tokens),
            cost=spent.cost if self._priced else None,
            budget_left=share_left(self._budget, spent, self._elapsed()),
            trouble="; ".join(client.trouble for client in self._clients.values() if client.trouble),
        )

    def _load(self, reserved_calls: int) -> None:
        columns = "role, endpoint, state, prompt_tokens, completion_tokens, cached_tokens, cost, latency"
        endpoints = self._bindings.endpoints
        for row in self._journal.calls(columns):
            failed = row["state"] == "failed"
            usage = None if failed else Usage(row["prompt_tokens"], row["completion_tokens"])
            self._ledger.add(row["role"], usage, None if failed else row_cost(row, endpoints), row["latency"])
            self._failed += failed
            if not failed:
                self._streaks.answered(row["endpoint"])
        for role, count in self._journal.voided().items():
            self._failed += count
            for _ in range(count):
                self._ledger.add(role, None, None, 0.0)
        # Votes of an earlier session were for its finalists: the tournament of this one may need all its calls again.
        self._ledger.reserved_calls = reserved_calls

    def _sampler_digests(self) -> dict[str, str]:
        return {binding.name: sampler_digest(binding, self._seed) for binding in self._bindings.values()}

    async def _has_model(self, address: CallAddress) -> bool:
        """Whether it is known which model answers; where none is configured, the server is asked."""
        binding = self._bindings[address.binding]
        endpoint = binding.endpoint
        if binding.model:
            return True
        if self._gate.refused(address.role, endpoint):
            return False
        self._check_keys()
        try:
            async with self._gate.time_limit(endpoint, address.role):
                name = await self._served.name(endpoint)
        except (CallFailed, CallNotRun) as failure:
            if isinstance(failure, CallFailed):
                self._gate.end(endpoint, f"endpoint {endpoint} can't be used: {failure.message}")
            await self._note_stop()
            return False
        self._bindings = self._bindings.with_models({endpoint: name})
        self._samplers = self._sampler_digests()
        return True

    def _check_keys(self) -> None:
        # Not at the start: a run that finds everything in its journal needs no key.
        if not self._keys_checked:
            check_keys(self._bindings.endpoints)
            self._keys_checked = True

    def _find(self, key: bytes) -> Answer | NoAnswer | None:
        stored = self._journal.find(key)
        if stored is None:
            return None
        self._replayed += stored.session != self._journal.session
        return stored.result

    def _groups(self, missing: _Group) -> list[_Group]:
        """What may go as one request: all, where the endpoint takes `n`; else each call for itself."""
        binding = self._bindings[next(iter(missing.values())).address.binding]
        if self._clients[binding.endpoint].supports_n:
            return [missing]
        return [{key: call} for key, call in missing.items()]

    async def _obtain_all(self, groups: Sequence[_Group], prompt: _Prompt) -> _Results:
        if len(groups) == 1:
            return await self._obtain(groups[0], prompt)
        async with asyncio.TaskGroup() as tasks:
            started = [tasks.create_task(self._obtain(group, prompt)) for group in groups]
        return {key: result for task in started for key, result in task.result().items()}

    async def _obtain(self, wanted: _Group, prompt: _Prompt) -> _Results:
        """Asks what nobody asks yet; waits for what somebody does. If he is cancelled or refused, it is our turn."""
        results: _Results = {}
        while left := {key: call for key, call in wanted.items() if key not in results}:
            free = {key: call for key, call in left.items() if key not in self._running}
            if not free:
                key = next(iter(left))
                await self._running[key].wait()
                found = self._find(key)
                if found is not None:
                    results[key] = found
                continue
            finished = asyncio.Event()
            self._running |= dict.fromkeys(free, finished)
            try:
                results |= await self._request(free, prompt)
            finally:
                for key in free:
                    del self._running[key]
                finished.set()
        return results

    async def _request(self, group: _Group, prompt: _Prompt) -> _Results:
        """One request for calls that differ in their sample only, and further ones for what it did not bring."""
        first = next(iter(group.values()))
        binding = self._bindings[first.address.binding]
        role = first.address.role
        if self._gate.refused(role, binding.endpoint):
            return _not_run(group, self._gate.stop.reason)
        self._check_keys()
        if changed := await self._served.changed(binding.endpoint):
            self._gate.end(binding.endpoint, changed)
            await self._note_stop()
            return _not_run(group, self._gate.stop.reason)
        messages = prompt()
        admitted, estimate = await self._gate.admit(binding, role, messages, len(group))
        asked = dict(list(group.items())[:admitted])
        results = _not_run({key: group[key] for key in group if key not in asked}, self._gate.stop.reason)
        if not asked:
            await self._note_stop()
            return results
        seed = call_seed(self._seed, first.address) if binding.settings.send_seed else None
        request = ChatRequest(binding.model, messages, binding.sampling, n=len(asked), seed=seed)
        started = self._clock()
        outcome: ChatReply | NoAnswer
        try:
            outcome = await self._complete(binding.endpoint, role, request)
        except (CallFailed, CallNotRun) as error:
            outcome = error
        finally:
            self._gate.release(estimate)
        if isinstance(outcome, CallFailed):
            return results | await self._failure(asked, outcome, started)
        if not isinstance(outcome, ChatReply):
            self._gate.refuse(outcome)
            await self._note_stop()
            return results | _not_run(asked, self._gate.stop.reason)
        results |= await self._answers(asked, request, outcome, started)
        lacking = {key: call for key, call in asked.items() if key not in results}
        if lacking:
            async with asyncio.TaskGroup() as tasks:
                more = [tasks.create_task(self._request({key: call}, prompt)) for key, call in lacking.items()]
            for task in more:
                results |= task.result()
        return results

    async def _complete(self, endpoint: str, role: str, request: ChatRequest) -> ChatReply:
        """Raises CallFailed; CallNotRun if the deadline or the endpoint's end cut the call off."""
        async with self._gate.time_limit(endpoint, role):
            reply = await self._clients[endpoint].complete(request)
        if not reply.answers:
            raise CallFailed(FailureKind.BAD_REPLY, "a reply without choices", endpoint=endpoint)
        return reply

    async def _answers(self, asked: _Group, request: ChatRequest, reply: ChatReply, started: float) -> _Results:
        """Records the answers of one request: the first calls get them, the rest is left out."""
        binding = self._bindings[next(iter(asked.values())).address.binding]
        prices = prices_of(binding.settings)
        results: _Results = {}
        records = []
        exchange = Exchange(reply.request_body, reply.response_body, reply.answers)
        for index, ((key, call), answer) in enumerate(zip(asked.items(), reply.answers, strict=False)):
            cost = cost_of(answer.usage, prices) if prices else None
            self._ledger.add(call.address.role, answer.usage, cost, answer.latency_s)
            results[key] = answer
            records.append(
                CallRecord(
                    key, call, binding, self._samplers[binding.name], answer, started, self._clock(),
                    seed=request.seed, cost=cost, exchange=exchange, index=index,
                    attempts=reply.attempts, adaptations=reply.adaptations,
                )
            )  # fmt: skip
        await self._write(records, self._streaks.answered(binding.endpoint))
        return results

    async def _failure(self, asked: _Group, failure: CallFailed, started: float) -> _Results:
        """Records one failed request and ends the run if it is one too many."""
        binding = self._bindings[next(iter(asked.values())).address.binding]
        failure = CallFailed(failure.kind, failure.message, endpoint=binding.endpoint, attempts=failure.attempts)
        provisional, gone = self._streaks.failed(binding.endpoint, failure, tuple(asked))
        if gone:
            self._gate.end(binding.endpoint, gone)
        records = [
            CallRecord(
                key, call, binding, self._samplers[binding.name], failure, started, self._clock(),
                attempts=failure.attempts, provisional=provisional,
            )
            for key, call in asked.items()
        ]  # fmt: skip
        for call in asked.values():
            self._ledger.add(call.address.role, None, None, 0.0)
        self._failed += len(asked)
        await self._write(records)
        return dict.fromkeys(asked, failure)

    async def _note_stop(self) -> None:
        # A resumed run that is refused at once for the same reason leaves no trace.
        if not self._stop_noted and (self._journal.session_begun or self._gate.stop != self._recorded_stop):
            await self._write()

    async def _write(self, records: Sequence[CallRecord] = (), confirm: Sequence[bytes] = ()) -> None:
        events = [stop_event(self._gate.stop)] if self._gate.stop and not self._stop_noted else []
        self._stop_noted = bool(self._gate.stop)
        try:
            await self._journal.record(records, confirm=confirm, events=events)
        except InputError as error:
            self._gate.close(str(error))
            raise

    def _elapsed(self) -> float:
        return self._before_s + self._monotonic() - self._begun


def _not_run(calls: _Group, reason: str) -> _Results:
    return {key: CallNotRun(reason) for key in calls}
