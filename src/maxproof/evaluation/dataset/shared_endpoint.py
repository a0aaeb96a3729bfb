"""Endpoints that many units share: one budget above all of them, and how much is asked at a time.

Each unit has a `UnitEndpoint` for each endpoint, between its caller and the one client. A request passes the gate of
the evaluation there, as well as that of its unit. When the budget is spent the gate refuses, the unit's caller ends its
run for that reason, and the only calls that still come are those of its tournament, for which calls were kept back.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from maxproof.models.bindings import Binding
from maxproof.models.budget import NOTHING, Amounts, share_left
from maxproof.models.chat import ChatEndpoint, ChatReply, ChatRequest
from maxproof.models.gate import Gate
from maxproof.models.ledger import RESERVING_ROLE, Ledger
from maxproof.models.prices import cost_of, prices_of
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.streaks import FailureStreaks
from maxproof.models.types import CallFailed, CallNotRun, CallProgress, FailureKind, RoleUsage, Stop, Usage

DEFAULT_LIMIT = 64
"""Samples in flight that keep an endpoint busy which does not say how many it takes."""


@runtime_checkable
class Limited(Protocol):
    """An endpoint that says how many samples may be in flight now."""

    @property
    def concurrency(self) -> int: ...


class SharedEndpoints:
    """The clients of one part of an evaluation (its searches, or its oracle), with the budget of that part.

    Args:
        budget: of all units and sessions together.
        spent: what the units used in earlier sessions. elapsed_s: seconds of work in these.
        tell: called when a request reaches an endpoint and when it ends.
    """

    def __init__(
        self,
        clients: Mapping[str, ChatEndpoint],
        settings: Mapping[str, EndpointSettings],
        budget: BudgetSettings,
        spent: Amounts,
        elapsed_s: float = 0.0,
        tell: Callable[[], None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        begun = monotonic()
        self.clients = clients
        self.settings = settings
        self.ledger = Ledger(budget, spent=spent)
        self.streaks = FailureStreaks(budget.max_failures)
        self.active: Counter[str] = Counter()  # samples handed to a client and not answered yet, by endpoint
        self.answers: Counter[str] = Counter()
        self.failed = 0
        self.tell = tell
        self._elapsed: Callable[[], float] = lambda: elapsed_s + monotonic() - begun
        self.gate = Gate(self.ledger, self._elapsed, Stop())

    @property
    def stop(self) -> Stop:
        """Why nothing new is asked any more; false as long as there is no reason."""
        return self.gate.stop

    @property
    def has_room(self) -> bool:
        """An endpoint could take more than it is given, none has a queue of ours, and no budget is waited for."""
        if self.gate.waiting or self.stop:
            return False
        loads = [(self.active[name], self._limit(name)) for name in self.clients]
        return any(active < limit for active, limit in loads) and all(active <= limit for active, limit in loads)

    def answered(self, endpoint: str) -> bool:
        """Whether it has answered anybody in this session."""
        return self.answers[endpoint] > 0

    def end_silent(self) -> None:
        """At the end: an endpoint that has failed and never answered is gone, however few calls there were."""
        silent = self.streaks.silent()
        if silent is not None and not self.stop:
            self.gate.end(*silent)

    def for_unit(self, reserved_calls: int, begun: Callable[[], None] = lambda: None) -> UnitCalls:
        """The endpoints as one unit has them; `reserved_calls` are kept for its tournament until it is closed.

        `begun` is called with each of its requests.
        """
        self.ledger.reserved_calls += reserved_calls
        return UnitCalls(self, reserved_calls, begun)

    def progress(self) -> CallProgress:
        """`finished` counts all sessions, `failed` this one."""
        spent, clients = self.ledger.spent, self.clients.values()
        priced = all(prices_of(settings) is not None for settings in self.settings.values())
        return CallProgress(
            in_flight=sum(client.in_flight for client in clients),
            waiting=sum(client.waiting for client in clients) + self.gate.waiting,
            finished=spent.calls,
            replayed=0,
            failed=self.failed,
            total_tokens=round(spent.tokens),
            cost=spent.cost if priced else None,
            budget_left=share_left(self.ledger.budget, spent, self._elapsed()),
            trouble="; ".join(client.trouble for client in clients if client.trouble),
        )

    def _limit(self, endpoint: str) -> int:
        configured = self.settings[endpoint].concurrency
        if configured != "auto":
            return int(configured)
        client = self.clients[endpoint]
        return client.concurrency if isinstance(client, Limited) else DEFAULT_LIMIT


@dataclass
class UnitCalls:
    """One unit's share.

    Attributes:
        refused: the evaluation's gate has refused one of its calls: what still comes is its tournament.
        failing: by endpoint, how many answers it had given when the last call of this unit failed there.
    """

    shared: SharedEndpoints
    reserved: int
    begun: Callable[[], None]
    refused: bool = False
    failing: dict[str, int] = field(default_factory=dict)

    @property
    def endpoints(self) -> dict[str, ChatEndpoint]:
        """By name."""
        return {name: UnitEndpoint(name, client, self) for name, client in self.shared.clients.items()}

    @property
    def in_doubt(self) -> bool:
        """Its last calls failed at an endpoint that has answered nobody since: that may be the endpoint's fault."""
        return any(self.shared.answers[name] == answers for name, answers in self.failing.items())

    def add(self, role: str, usage: Usage | None, cost: float | None, latency_s: float) -> None:
        """A finished call; `usage` None for a failed one."""
        self.shared.ledger.add(role, usage, cost, latency_s)
        if role == RESERVING_ROLE:
            self.reserved = max(0, self.reserved - 1)

    def close(self) -> None:
        """Gives back what was kept."""
        self.shared.ledger.reserved_calls -= self.reserved
        self.reserved = 0
        self.shared.gate.release(NOTHING)  # calls that wait for their budget look again


class UnitEndpoint:
    """A shared client as `models.chat.ChatEndpoint`, for one unit."""

    def __init__(self, name: str, client: ChatEndpoint, unit: UnitCalls) -> None:
        self._name = name
        self._client = client
        self._unit = unit

    @property
    def in_flight(self) -> int:
        return self._client.in_flight

    @property
    def waiting(self) -> int:
        return self._client.waiting

    @property
    def trouble(self) -> str:
        return self._client.trouble

    @property
    def supports_n(self) -> bool:
        return self._client.supports_n

    async def first_model(self) -> str:
        """Raises CallFailed."""
        return await self._client.first_model()

    async def models(self) -> Sequence[str]:
        """Raises CallFailed."""
        return await self._client.models()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Asks for as many samples as the evaluation's budget allows now.

        Raises CallFailed; CallNotRun when that is none, or the deadline or the endpoint's end cuts the call off.
        """
        unit, shared, name = self._unit, self._unit.shared, self._name
        unit.begun()
        role = RESERVING_ROLE if unit.refused else _kind(request)
        binding = Binding(role, name, shared.settings[name], request.model, request.sampling)
        admitted, estimate = await shared.gate.admit(binding, role, request.messages, request.n)
        if not admitted:
            unit.refused = True
            raise CallNotRun(shared.stop.reason, shared.stop.kind)
        shared.active[name] += admitted
        shared.tell()
        try:
            async with shared.gate.time_limit(name, role):
                reply = await self._client.complete(replace(request, n=admitted))
        except CallNotRun:
            unit.refused = True
            raise CallNotRun(shared.stop.reason, shared.stop.kind) from None
        except CallFailed as failure:
            self._failed(failure, admitted, role)
            raise
        finally:
            shared.active[name] -= admitted
            shared.gate.release(estimate)
            shared.tell()
        self._answered(reply, role)
        return reply

    def _failed(self, failure: CallFailed, samples: int, role: str) -> None:
        shared = self._unit.shared
        shared.failed += samples
        for _ in range(samples):
            self._unit.add(role, None, None, 0.0)
        self._unit.failing[self._name] = shared.answers[self._name]
        if failure.kind is FailureKind.REJECTED:  # the request of one problem says little of the endpoint
            failure = CallFailed(FailureKind.BAD_REPLY, failure.message, endpoint=failure.endpoint)
        _, gone = shared.streaks.failed(self._name, failure, ())
        if gone:
            shared.gate.end(self._name, gone)

    def _answered(self, reply: ChatReply, role: str) -> None:
        shared = self._unit.shared
        prices = prices_of(shared.settings[self._name])
        for answer in reply.answers:
            cost = cost_of(answer.usage, prices) if prices else None
            self._unit.add(role, answer.usage, cost, answer.latency_s)
        shared.answers[self._name] += 1
        self._unit.failing.pop(self._name, None)
        shared.streaks.answered(self._name)


def amounts_of(usage: Sequence[RoleUsage]) -> Amounts:
    """What roles used together."""
    tokens = sum(role.prompt_tokens + role.completion_tokens for role in usage)
    return Amounts(sum(role.calls for role in usage), tokens, sum(role.cost or 0.0 for role in usage))


def _kind(request: ChatRequest) -> str:
    """Requests with the same instructions have answers of like length: their mean is the estimate of the next."""
    instructions = "".join(message.content for message in request.messages if message.role == "system")
    return hashlib.sha256(instructions.encode("utf-8", "surrogatepass")).hexdigest()[:12]
