"""What the server counts, and its Prometheus text (exposition format 0.0.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Metrics:
    """Counts since the start; all times in seconds.

    Attributes:
        requests: for rewards, by status code. request_s: the sum of their durations.
        rollouts: by state: passed, failed, not_scored.
        admitted: rollouts of requests that are being worked on.
        calls: by the judges, by result: answered, failed, not_run. call_s: the sum of their latencies.
        calls_in_flight, calls_waiting: now; waiting is for one of the places.
        replayed: judge calls that the journal answered.
    """

    requests: Counter[int] = field(default_factory=Counter)
    request_s: float = 0.0
    rollouts: Counter[str] = field(default_factory=Counter)
    admitted: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    call_s: float = 0.0
    calls_in_flight: int = 0
    calls_waiting: int = 0
    replayed: int = 0

    def text(self, *, limit: int, queue: int) -> str:
        """In Prometheus' format; every series is there from the start."""
        lines: list[str] = []

        def add(name: str, kind: str, help: str, values: Iterable[tuple[str, float]]) -> None:
            lines.extend((f"# HELP maxproof_{name} {help}", f"# TYPE maxproof_{name} {kind}"))
            lines.extend(f"maxproof_{name}{suffix} {value}" for suffix, value in values)

        def labelled(label: str, counts: Counter[str], known: Iterable[str]) -> list[tuple[str, float]]:
            return [(f'{{{label}="{name}"}}', counts[name]) for name in known]

        codes = sorted({200, *self.requests})
        add(
            "requests_total",
            "counter",
            "Requests for rewards, by status code.",
            [(f'{{code="{code}"}}', self.requests[code]) for code in codes],
        )
        add(
            "request_seconds",
            "summary",
            "Duration of those requests.",
            [("_sum", self.request_s), ("_count", self.requests.total())],
        )
        add(
            "rollouts_total",
            "counter",
            "Rollouts verified, by state.",
            labelled("state", self.rollouts, ("passed", "failed", "not_scored")),
        )
        add("rollouts_in_flight", "gauge", "Rollouts being verified or waiting for it.", [("", self.admitted)])
        add("rollouts_queue_limit", "gauge", "Rollouts that may be in flight.", [("", queue)])
        add(
            "judge_calls_total",
            "counter",
            "Judge calls, by result.",
            labelled("result", self.calls, ("answered", "failed", "not_run")),
        )
        add("judge_calls_replayed_total", "counter", "Judge calls that the journal answered.", [("", self.replayed)])
        add("judge_calls_in_flight", "gauge", "Judge calls being made.", [("", self.calls_in_flight)])
        add("judge_calls_waiting", "gauge", "Judge calls waiting for their turn.", [("", self.calls_waiting)])
        add("judge_calls_limit", "gauge", "Judge calls that may be in flight.", [("", limit)])
        add(
            "judge_call_seconds",
            "summary",
            "Latency of judge calls, waiting for their turn not included.",
            [("_sum", self.call_s), ("_count", self.calls.total())],
        )
        return "\n".join(lines) + "\n"
