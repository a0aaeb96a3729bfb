"""The one retry policy: what is asked again, after how long, and when to give up.

Every failed attempt is an `AttemptFailed`. Overload (408, 409, 429, 5xx), broken connections and half-sent bodies are
asked again after an exponential wait with seeded jitter, or after what Retry-After asks for. An attempt that can't be
made before the call's deadline is not waited for: the call fails at once. Overload is retried up to that deadline;
broken connections and other 5xx, which may never pass, for `patience_s`; bodies that are no chat completion a fixed
number of times.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from maxproof.models.types import FailureKind

T = TypeVar("T")

OVERLOAD_STATUSES = frozenset({408, 429, 502, 503, 504, 529})
"""Statuses by which a server says that it has too much to do."""

_MIN_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient a client is.

    Attributes:
        base_s: the first wait is drawn from (base_s / 2, base_s], each further one from twice the interval.
        cap_s: the longest wait that the server did not ask for.
        patience_s: seconds after its first failure for which a call goes on over broken connections and such 5xx, at
            least four attempts.
        bad_replies: how often a body that is no chat completion is asked for again.
    """

    base_s: float = 0.5
    cap_s: float = 30.0
    patience_s: float = 120.0
    bad_replies: int = 2


class AttemptFailed(Exception):
    """One attempt failed.

    Attributes:
        kind: what the call's failure is if this was the last attempt.
        message: one line; holds no key.
        status: the HTTP status, 0 if there was none.
        retry_after_s: seconds that the server asked to wait, None if it did not say.
        unknown_model: the server does not have the model asked for.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int = 0,
        retry_after_s: float | None = None,
        unknown_model: bool = False,
    ) -> None:
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s
        self.unknown_model = unknown_model
        super().__init__(message)

    @property
    def transient(self) -> bool:
        """The same request may succeed later."""
        return self.kind not in (FailureKind.PERMANENT, FailureKind.REJECTED, FailureKind.CONTEXT_LENGTH)

    @property
    def overload(self) -> bool:
        """The server has too much to do."""
        return self.status in OVERLOAD_STATUSES


def backoff(policy: RetryPolicy, attempt: int, failure: AttemptFailed, random: Random) -> float:
    """Seconds to wait after attempt number `attempt` (1-based).

    Equal jitter: half of the exponential wait is fixed, half is drawn. A wait that the server asked for is a lower
    bound and gets up to a tenth on top, so that calls refused together don't come back together.
    """
    ceiling = min(policy.cap_s, policy.base_s * 2.0 ** min(attempt - 1, 32))
    if failure.retry_after_s is not None:
        return failure.retry_after_s + random.random() * min(ceiling, failure.retry_after_s / 10)
    return ceiling * (1 - random.random() / 2)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for: a number or an HTTP date (RFC 9110, 10.2.3); None if unreadable."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)


class _CallRetries:
    """Waits and gives up for one call; `failure` is the last failed attempt."""

    def __init__(
        self, policy: RetryPolicy, random: Random, remaining: Callable[[], float], clock: Callable[[], float]
    ) -> None:
        self._policy = policy
        self._random = random
        self._remaining = remaining
        self._clock = clock
        self._first_failure: float | None = None
        self._bad_replies = 0

    def wait(self, state: RetryCallState) -> float:
        return backoff(self._policy, state.attempt_number, _failure(state), self._random)

    def stop(self, state: RetryCallState) -> bool:
        failure = _failure(state)
        now = self._clock()
        if self._first_failure is None:
            self._first_failure = now
        if state.upcoming_sleep >= self._remaining():
            return True
        if failure.kind is FailureKind.BAD_REPLY:
            self._bad_replies += 1
            return self._bad_replies > self._policy.bad_replies
        if failure.kind is FailureKind.CONNECTION or (failure.status >= 500 and not failure.overload):
            return state.attempt_number >= _MIN_ATTEMPTS and now - self._first_failure >= self._policy.patience_s
        return False


def _failure(state: RetryCallState) -> AttemptFailed:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, AttemptFailed)  # nothing else is retried
    return error


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, AttemptFailed) and error.transient


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    random: Random,
    remaining: Callable[[], float],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] | None = None,
) -> T:
    """The result of `attempt`, asked again as `policy` says.

    Args:
        remaining: seconds left until the call's deadline. The caller enforces that deadline around this function.

    Raises:
        AttemptFailed: the last one, when giving up.
    """
    # Most calls succeed at once: only a failure pays for the machinery, which then takes it as its first attempt.
    failures: list[AttemptFailed] = []
    try:
        return await attempt()
    except AttemptFailed as failure:
        if not failure.transient:
            raise
        failures.append(failure)

    async def attempt_again() -> T:
        if failures:
            raise failures.pop()
        return await attempt()

    retries = _CallRetries(policy, random, remaining, clock or asyncio.get_running_loop().time)
    retrying = AsyncRetrying(
        sleep=sleep, wait=retries.wait, stop=retries.stop, retry=retry_if_exception(_is_transient), reraise=True
    )
    return await retrying(attempt_again)
