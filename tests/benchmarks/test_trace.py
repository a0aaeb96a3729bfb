"""The bounds that benchmarks compare with: by hand on small traces, and below every real schedule."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[2]))  # benchmarks/ is not part of the installed package

from benchmarks.trace import CallTime, Trace, barrier, bound, bound_by_rounds, makespan, segments


def call(
    task: str, candidate: int, seconds: float, sample: int = 0, started: float = 0.0, judge: str = "free"
) -> CallTime:
    return CallTime(task, candidate, sample, judge if task == "verify" else "", seconds, started)


def round_zero(lazy: bool) -> Trace:
    calls = (
        call("generate", 0, 5.0),
        call("verify", 0, 2.0),
        call("verify", 0, 4.0, sample=1),
        call("generate", 1, 1.0),
        call("verify", 1, 1.0),
        call("verify", 1, 3.0, judge="rubric-1"),
        call("summarise", 1, 2.5),
        call("patch", 2, 1.0, started=20.0),
        call("verify", 2, 1.0, started=21.0),
        call("verify", 1, 6.0, sample=1, started=23.0),
        call("summarise", 2, 50.0, started=22.0),
        call("rank", 0, 2.0, started=30.0),
        call("rank", 0, 3.0, sample=1, started=30.0),
        call("rank", 1, 4.0, started=34.0),
    )
    return Trace(calls, candidates=2, parents=1, lazy=lazy, stages=(0, 1))


def test_chains_of_an_eager_trace() -> None:
    found = segments(round_zero(lazy=False))
    # Round 0: 5 + max(2, 4) against 1 + max(3 + 2.5, 6), where sample 1 of candidate 1 belongs to its own round.
    assert [s.chain for s in found] == [9.0, 2.0, 3.0, 4.0]
    assert [s.work for s in found] == [24.5, 2.0, 5.0, 4.0]


def test_chains_of_a_lazy_trace() -> None:
    found = segments(round_zero(lazy=True))
    # Sample 1 follows sample 0; the late one of candidate 1 ran in round 1 and needs nothing of that round.
    assert [s.chain for s in found] == [11.0, 6.0, 3.0, 4.0]
    assert [s.work for s in found] == [18.5, 8.0, 5.0, 4.0]


def test_bounds_by_hand() -> None:
    trace = round_zero(lazy=False)
    assert bound(trace, 1000) == 18.0
    assert bound(trace, 1) == 24.5 + 2.0 + 5.0 + 4.0
    assert bound_by_rounds(trace, 2) == 12.25 + 2.0 + 3.0 + 4.0


def test_the_barrier_waits_for_each_stage() -> None:
    # Round 0: proofs 5, samples 6, summaries 2.5; round 1: 1, 1, 50; tournament: 3, 4.
    assert barrier(round_zero(lazy=False), 1000) == 5 + 6 + 2.5 + 1 + 1 + 50 + 3 + 4


@given(st.lists(st.floats(0, 10), max_size=30), st.integers(1, 8))
def test_makespan_lies_between_its_bounds(jobs: list[float], cap: int) -> None:
    longest, share = max(jobs, default=0.0), sum(jobs) / cap
    assert max(longest, share) - 1e-9 <= makespan(jobs, cap) <= share + longest + 1e-9


@pytest.mark.parametrize("lazy", [False, True])
@given(
    st.lists(
        st.builds(
            call,
            st.sampled_from(["generate", "verify", "summarise"]),
            st.integers(0, 5),
            st.floats(0.1, 9),
            st.integers(0, 3),
        ),
        min_size=1,
    ),
    st.integers(1, 40),
)
def test_bounds_are_ordered_and_fall_with_the_cap(lazy: bool, calls: list[CallTime], cap: int) -> None:
    trace = Trace((call("generate", 0, 1.0), *calls), candidates=6, parents=1, lazy=lazy, stages=())
    assert bound_by_rounds(trace, cap + 1) <= bound_by_rounds(trace, cap) + 1e-9
    assert bound(trace, cap) <= bound_by_rounds(trace, cap) + 1e-9
    assert max(c.seconds for c in trace.calls if c.task != "summarise") <= bound(trace, 10**6) + 1e-9
    assert bound(trace, 10**6) == pytest.approx(sum(s.chain for s in segments(trace)))
