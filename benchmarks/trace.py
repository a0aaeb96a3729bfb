"""What a recorded run could have taken at best, and what a barrier scheduler would have made of it.

A *trace* is the calls of one finished run with their latencies, as the journal has them. Calls fall into *segments*
that follow each other by necessity: round 0, ..., the last round, then one for each stage of the tournament. A
candidate's calls belong to its round; a verification that the lazy search ran in a later round belongs to the round
that was open when it started, since nobody could know before that it would be needed.

Inside a segment the chains are (-> is "needs the end of"):

    write -> verify sample 0 -> summarise          the summary is told what sample 0 found
    write -> verify sample k                       eager
    write -> verify sample 0 -> verify sample k    lazy: whether sample k is needed depends on sample 0
    verify sample k                                lazy, a candidate of an earlier round
    vote v                                         all votes of a match at once

A sample's verification takes as long as its slowest judge, re-asks included. The *critical path* is the sum over the
segments of the longest chain in each. Summaries of the last round are left out everywhere: no later call reads them.
With at most `cap` calls in flight no schedule is faster than

    bound = max(critical path, total latency of the calls / cap).

For a lazy trace this is the bound of an oracle that knows in advance which samples will be needed; the search itself
learns that from the other candidates, so no lazy schedule gets there.

The *bound by rounds* is sharper and still a bound: the sum over the segments of max(longest chain, latency / cap).

The *barrier* schedule waits for each stage before it starts the next: all of a round's proofs, then all its samples,
then all its summaries, then the next round; each stage is filled in order of id, at most `cap` at a time, with no
overhead whatever. It is computed, not run.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_WRITES = ("generate", "patch", "rewrite")


@dataclass(frozen=True, slots=True)
class CallTime:
    """One call: `candidate` is the match number for `rank`; times in seconds."""

    task: str
    candidate: int
    sample: int
    judge: str
    seconds: float
    started: float


@dataclass(frozen=True, slots=True)
class Trace:
    """The calls of one run and how its search was set up; `stages[m]` is the tournament stage of match m."""

    calls: tuple[CallTime, ...]
    candidates: int
    parents: int
    lazy: bool
    stages: tuple[int, ...]

    def round_of(self, candidate: int) -> int:
        """The round that a candidate's id says."""
        return 0 if candidate < self.candidates else (candidate - self.candidates) // (2 * self.parents) + 1


@dataclass(frozen=True, slots=True)
class Segment:
    """Seconds of one segment: its longest chain, and the latency of its calls."""

    chain: float
    work: float


def read_calls(journal: Path) -> tuple[CallTime, ...]:
    """All answered calls of a journal, by start."""
    connection = sqlite3.connect(f"file:{journal}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT task, candidate, sample, judge, latency, started FROM calls ORDER BY started"
        ).fetchall()
    finally:
        connection.close()
    return tuple(CallTime(*row) for row in rows)


def segments(trace: Trace) -> list[Segment]:
    """The segments of a trace, in order; see the module's docstring."""
    by_round = _by_round(trace)
    result = []
    last = max(by_round)
    for number in sorted(by_round):
        calls = [c for c in by_round[number] if number < last or c.task != "summarise"]
        result.append(Segment(max(_chains(calls, trace.lazy)), sum(c.seconds for c in calls)))
    for stage in sorted(set(trace.stages)):
        votes = [c for c in trace.calls if c.task == "rank" and trace.stages[c.candidate] == stage]
        if votes:
            result.append(Segment(max(c.seconds for c in votes), sum(c.seconds for c in votes)))
    return result


def bound(trace: Trace, cap: float) -> float:
    """max(critical path, total latency / cap), seconds."""
    parts = segments(trace)
    return max(sum(s.chain for s in parts), sum(s.work for s in parts) / cap)


def bound_by_rounds(trace: Trace, cap: float) -> float:
    """The sum over the segments of max(longest chain, latency / cap), seconds."""
    return sum(max(s.chain, s.work / cap) for s in segments(trace))


def barrier(trace: Trace, cap: float) -> float:
    """How long the barrier schedule takes, seconds."""
    by_round = _by_round(trace)
    total = 0.0
    for number in sorted(by_round):
        for tasks in (_WRITES, ("verify",), ("summarise",)):
            total += makespan((c.seconds for c in _in_order(by_round[number]) if c.task in tasks), cap)
    for stage in sorted(set(trace.stages)):
        total += makespan(
            (c.seconds for c in trace.calls if c.task == "rank" and trace.stages[c.candidate] == stage), cap
        )
    return total


def makespan(seconds: Iterable[float], cap: float) -> float:
    """When the last job ends if each starts as soon as one of `cap` places is free, in the order given."""
    ends: list[float] = []
    for job in seconds:
        start = heapq.heappop(ends) if len(ends) >= cap else 0.0
        heapq.heappush(ends, start + job)
    return max(ends, default=0.0)


def _by_round(trace: Trace) -> dict[int, list[CallTime]]:
    opened: dict[int, float] = {}
    for call in trace.calls:
        if call.task in _WRITES:
            number = trace.round_of(call.candidate)
            opened[number] = min(call.started, opened.get(number, call.started))
    result: dict[int, list[CallTime]] = defaultdict(list)
    for call in trace.calls:
        if call.task == "rank":
            continue
        number = trace.round_of(call.candidate)
        if call.task == "verify" and trace.lazy:
            number = max(number, *(n for n, start in opened.items() if start <= call.started))
        result[number].append(call)
    return result


def _chains(calls: Sequence[CallTime], lazy: bool) -> list[float]:
    """The length of the longest chain of each candidate that has calls in a segment."""
    write: dict[int, float] = defaultdict(float)
    summary: dict[int, float] = defaultdict(float)
    judges: dict[tuple[int, int, str], float] = defaultdict(float)
    for call in calls:
        if call.task in _WRITES:
            write[call.candidate] += call.seconds
        elif call.task == "summarise":
            summary[call.candidate] += call.seconds
        else:
            judges[call.candidate, call.sample, call.judge] += call.seconds
    first: dict[int, float] = defaultdict(float)
    others: dict[int, float] = defaultdict(float)
    for (candidate, sample, _), seconds in judges.items():
        slowest = first if sample == 0 else others
        slowest[candidate] = max(slowest[candidate], seconds)
    lengths = []
    for candidate in {call.candidate for call in calls}:
        after_first = max(summary[candidate], others[candidate] if lazy else 0.0)
        lengths.append(write[candidate] + max(first[candidate] + after_first, others[candidate]))
    return lengths


def _in_order(calls: Sequence[CallTime]) -> list[CallTime]:
    return sorted(calls, key=lambda c: (c.candidate, c.sample, c.judge))
