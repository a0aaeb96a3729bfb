"""Failures in a row, by endpoint: which are final, and when an endpoint is taken for gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maxproof.models.types import CallFailed, FailureKind


class FailureStreaks:
    """Consecutive failed requests of each endpoint, in the order in which they finish.

    A failure is provisional until its endpoint answers something: then the fault was the call's. A request that is
    rejected or does not fit the model is the call's fault at once, if the endpoint has ever answered.

    Args:
        max_failures: so many in a row, and the endpoint is gone.
        elsewhere: whether an endpoint has answered somebody else who shares it.
    """

    def __init__(self, max_failures: int, elsewhere: Callable[[str], bool] = lambda endpoint: False) -> None:
        self._max_failures = max_failures
        self._elsewhere = elsewhere
        self._answered: set[str] = set()
        self._open: dict[str, list[tuple[bytes, ...]]] = {}
        self._last: dict[str, CallFailed] = {}

    def answered(self, endpoint: str) -> list[bytes]:
        """The endpoint has answered. Returns the keys of the failures that are final now."""
        self._answered.add(endpoint)
        return [key for keys in self._open.pop(endpoint, []) for key in keys]

    def failed(self, endpoint: str, failure: CallFailed, keys: Sequence[bytes]) -> tuple[bool, str]:
        """A request for these keys has failed: whether that is provisional, and why the endpoint is gone, or ""."""
        if failure.kind in (FailureKind.CONTEXT_LENGTH, FailureKind.REJECTED) and self._has_answered(endpoint):
            return False, ""
        streak = self._open.setdefault(endpoint, [])
        streak.append(tuple(keys))
        self._last[endpoint] = failure
        if failure.kind in (FailureKind.PERMANENT, FailureKind.REJECTED):
            return True, f"endpoint {endpoint} can't be used: {failure.message}"
        if len(streak) >= self._max_failures:
            return True, f"{len(streak)} calls in a row failed at endpoint {endpoint}, the last: {failure.message}"
        return True, ""

    def silent(self) -> tuple[str, str] | None:
        """An endpoint that has failed and never answered, and its last failure; None if there is none."""
        for endpoint in self._open:
            if not self._has_answered(endpoint):
                return endpoint, f"endpoint {endpoint} never answered: {self._last[endpoint].message}"
        return None

    def _has_answered(self, endpoint: str) -> bool:
        return endpoint in self._answered or self._elsewhere(endpoint)

    def open_keys(self) -> list[bytes]:
        """The keys of all failures that are still provisional."""
        return [key for streak in self._open.values() for keys in streak for key in keys]
