"""Whether a call may start, and how long it may run: budgets, the deadline, endpoints that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from maxproof.models.bindings import Binding
from maxproof.models.budget import NOTHING, Admission, Amounts
from maxproof.models.ledger import RESERVING_ROLE, Ledger
from maxproof.models.types import CallNotRun, Message, Stop, StopKind


class Gate:
    """What every call passes on its way to an endpoint. Once there is a `stop`, only the tournament passes.

    Args:
        elapsed: seconds of work of the whole run so far.
        stop: a stop that is known already (a replay's); false otherwise.
    """

    def __init__(self, ledger: Ledger, elapsed: Callable[[], float], stop: Stop) -> None:
        self.stop = stop
        self.waiting = 0
        self._ledger = ledger
        self._elapsed = elapsed
        self._gone: set[str] = set()
        self._broken = False
        self._timeouts: dict[str, set[asyncio.Timeout]] = {}
        self._changed = asyncio.Event()

    def refused(self, role: str, endpoint: str) -> bool:
        """After a stop only the tournament goes on, and nothing at an endpoint that is gone."""
        return self._broken or endpoint in self._gone or (bool(self.stop) and role != RESERVING_ROLE)

    async def admit(
        self, binding: Binding, role: str, messages: tuple[Message, ...], samples: int
    ) -> tuple[int, Amounts]:
        """How many of the samples may start, and their estimate, now counted as in flight.

        Waits while what is in flight may leave room. Stops the run when a budget is spent.
        """
        while True:
            left = self._ledger.time_left(role, self._elapsed())
            late = left is not None and left[0] <= 0
            if late:
                self._stop_run(self._deadline_reason())
            if late or self.refused(role, binding.endpoint):
                return 0, NOTHING
            refusal = ""
            for size in range(samples, 0, -1):
                decision, estimate = self._ledger.admit(binding, role, messages, size)
                if decision.admission is not Admission.REFUSE:
                    break
                refusal = decision.reason
            if refusal and decision.admission is not Admission.WAIT:
                self._stop_run(refusal)
            if decision.admission is Admission.START:
                return size, estimate
            if decision.admission is Admission.REFUSE:
                return 0, NOTHING
            self.waiting += 1
            try:
                await self._changed.wait()
            finally:
                self.waiting -= 1

    def release(self, estimate: Amounts) -> None:
        """What `admit` counted as in flight has ended, in whatever way."""
        self._ledger.release(estimate)
        self._wake()

    @asynccontextmanager
    async def time_limit(self, endpoint: str, role: str) -> AsyncIterator[None]:
        """Around a call: raises CallNotRun when the run's deadline or the endpoint's end cuts it off."""
        left = self._ledger.time_left(role, self._elapsed())
        in_flight = self._timeouts.setdefault(endpoint, set())
        limit = asyncio.timeout(None if left is None else max(0.0, left[1]))
        try:
            async with limit:
                in_flight.add(limit)
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            if not self.stop:
                self._stop_run(self._deadline_reason())
            raise CallNotRun(self.stop.reason) from None
        finally:
            in_flight.discard(limit)

    def end(self, endpoint: str, reason: str) -> None:
        """The endpoint is gone: what is in flight there is cut off, nothing new starts but the tournament elsewhere."""
        self.stop = self.stop or Stop(StopKind.ENDPOINT, reason)
        self._gone.add(endpoint)
        now = asyncio.get_running_loop().time()
        for limit in self._timeouts.get(endpoint, ()):
            if not limit.expired():
                limit.reschedule(now)
        self._wake()

    def refuse(self, refusal: CallNotRun) -> None:
        """An endpoint did not let a call start, since a budget that several runs share is spent."""
        self.stop = self.stop or Stop(refusal.kind, refusal.reason)
        self._wake()

    def close(self, reason: str) -> None:
        """The journal can't be written: nothing at all starts any more."""
        self.stop = self.stop or Stop(StopKind.JOURNAL, reason)
        self._broken = True
        self._wake()

    def _stop_run(self, reason: str) -> None:
        """The first reason stands."""
        self.stop = self.stop or Stop(StopKind.BUDGET, reason)
        self._wake()

    def _wake(self) -> None:
        """Lets the calls that wait for their budget look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _deadline_reason(self) -> str:
        return f"the deadline of {self._ledger.budget.deadline_s:g} s is reached"
