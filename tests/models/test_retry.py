from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import run_virtual

from maxproof.models.retry import AttemptFailed, RetryPolicy, backoff, parse_retry_after, with_retries
from maxproof.models.types import FailureKind

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
POLICY = RetryPolicy()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("1", 1.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


@given(st.integers(1, 100), st.integers(0, 5))
def test_backoff_is_between_half_and_all_of_the_interval(attempt: int, seed: int) -> None:
    wait = backoff(POLICY, attempt, AttemptFailed(FailureKind.OVERLOADED, "", status=503), Random(seed))
    ceiling = min(30.0, 0.5 * 2 ** (attempt - 1))
    assert ceiling / 2 <= wait <= ceiling


@given(st.floats(0, 600), st.integers(1, 20), st.integers(0, 5))
def test_retry_after_is_a_lower_bound(asked: float, attempt: int, seed: int) -> None:
    failure = AttemptFailed(FailureKind.OVERLOADED, "", status=429, retry_after_s=asked)
    assert asked <= backoff(POLICY, attempt, failure, Random(seed)) <= asked * 1.1


class Attempts:
    """Fails as scripted, then succeeds; records when it was called."""

    def __init__(self, *failures: AttemptFailed, forever: AttemptFailed | None = None) -> None:
        self.failures = list(failures)
        self.forever = forever
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(asyncio.get_running_loop().time())
        if self.failures:
            raise self.failures.pop(0)
        if self.forever is not None:
            raise self.forever
        return "answer"


def run(attempts: Attempts, timeout_s: float = 3600.0) -> str | AttemptFailed:
    async def main() -> str | AttemptFailed:
        loop = asyncio.get_running_loop()
        try:
            return await with_retries(attempts, POLICY, Random(1), lambda: timeout_s - loop.time())
        except AttemptFailed as failure:
            return failure

    return run_virtual(main())


def overloaded(retry_after_s: float | None = None, status: int = 429) -> AttemptFailed:
    return AttemptFailed(FailureKind.OVERLOADED, "busy", status=status, retry_after_s=retry_after_s)


def test_transient_failures_are_asked_again() -> None:
    attempts = Attempts(
        overloaded(),
        overloaded(status=500),
        AttemptFailed(FailureKind.CONNECTION, ""),
        AttemptFailed(FailureKind.BAD_REPLY, ""),
    )
    assert run(attempts) == "answer"
    assert len(attempts.times) == 5


@pytest.mark.parametrize("kind", [FailureKind.PERMANENT, FailureKind.CONTEXT_LENGTH])
def test_what_cannot_succeed_is_asked_once(kind: FailureKind) -> None:
    attempts = Attempts(forever=AttemptFailed(kind, "no"))
    assert isinstance(run(attempts), AttemptFailed)
    assert len(attempts.times) == 1


def test_retry_after_is_obeyed() -> None:
    attempts = Attempts(overloaded(1.0), overloaded(90.0))
    assert run(attempts) == "answer"
    assert attempts.times[1] >= 1.0
    assert attempts.times[2] - attempts.times[1] >= 90.0


def test_retry_after_beyond_the_deadline_fails_now() -> None:
    attempts = Attempts(overloaded(90.0))
    assert isinstance(run(attempts, timeout_s=60.0), AttemptFailed)
    assert attempts.times == [0.0]


def test_overload_is_retried_up_to_the_deadline() -> None:
    attempts = Attempts(forever=overloaded())
    assert isinstance(run(attempts, timeout_s=1000.0), AttemptFailed)
    assert 960 <= attempts.times[-1] <= 1000
    assert len(attempts.times) < 80


@pytest.mark.parametrize(
    "failure", [AttemptFailed(FailureKind.CONNECTION, "reset"), overloaded(status=500), overloaded(status=520)]
)
def test_a_dead_server_is_given_up_after_a_while(failure: AttemptFailed) -> None:
    attempts = Attempts(forever=failure)
    assert isinstance(run(attempts), AttemptFailed)
    assert 120 <= attempts.times[-1] <= 120 + POLICY.cap_s


def test_bad_replies_are_asked_again_twice() -> None:
    attempts = Attempts(forever=AttemptFailed(FailureKind.BAD_REPLY, "no JSON"))
    assert isinstance(run(attempts), AttemptFailed)
    assert len(attempts.times) == 3


def test_cancelling_goes_through() -> None:
    async def main() -> None:
        task = asyncio.create_task(
            with_retries(Attempts(forever=overloaded(50.0)), POLICY, Random(1), lambda: 1e9)  # type: ignore[arg-type]
        )
        await asyncio.sleep(10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main())
