"""Time to the final answer over the critical-path bound, and beside it a barrier scheduler on the same trace.

The whole main job (`run_prove`: engine, prompts, caller, client, journal) runs against the mock server in another
process: log-normal latencies with stragglers, decided by seed and prompt. A row is one run; its time is the wall time
from opening the run folder to the result. The bound and the barrier schedule are computed from the latencies that this
run's journal recorded; `trace.py` states both exactly.

The lazy search runs fewer calls, but some of them one after the other: its row also has its time over the bound of the
eager search at the same cap, which says what a person waits in the end. "Ample" is a cap above anything the search asks
for at once. Judges are one rubric-free judge, as the problem has no rubric.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mock_process import mock_process, new_event_loop
from benchmarks.report import print_table
from benchmarks.trace import Trace, barrier, bound, bound_by_rounds, read_calls
from maxproof.models.mock import Latency, SimulatedModel
from maxproof.models.settings import EndpointSettings
from maxproof.problems import Problem
from maxproof.search.run import run_prove
from maxproof.search.run_folder import create_run
from maxproof.search.settings import RunSettings, SearchSettings

AMPLE = 4096
_CAPS = (AMPLE, 8, 64, 512)
_TASK_FACTORS = {"verify": 0.8, "summarise": 0.2, "rank": 0.5}
_PROBLEM = Problem("benchmark", "Prove that the recursion stays bounded.")


@dataclass(frozen=True, slots=True)
class Timing:
    """One run: wall seconds, its trace, the winner, and how many proofs and calls there were."""

    wall: float
    trace: Trace
    winner: int | None
    candidates: int


def timed_run(base_url: str, cap: int, search: SearchSettings) -> Timing:
    """One whole search with at most `cap` calls in flight."""
    endpoint = EndpointSettings(
        base_url=base_url, model="mock", concurrency=cap, max_concurrency=max(cap, 1), n_samples="off"
    )
    settings = RunSettings(endpoints={"default": endpoint}, search=search)
    with tempfile.TemporaryDirectory() as folder:
        run = create_run(Path(folder) / "run", "prove", _PROBLEM, settings, "benchmark")
        begun = time.perf_counter()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            result = runner.run(run_prove(run)).result
        wall = time.perf_counter() - begun
        calls = read_calls(run.journal)
    stages = tuple(match.stage for match in result.matches)
    trace = Trace(calls, search.candidates, search.parents, search.lazy, stages)
    return Timing(wall, trace, result.winner, len(result.standings))


def run(quick: bool) -> None:
    """Prints one row for each cap, eager and lazy."""
    median_s, rounds = (0.1, 3) if quick else (0.4, 10)
    latency = Latency(median_s, 0.5, straggler_share=0.02, straggler_factor=6, task_factors=_TASK_FACTORS, seed=1)
    # Judges that pass no proof by mistake and a quality at which perfect proofs are rare: the search takes its rounds.
    model = SimulatedModel(seed=1, quality=0.35, patch_fix=0.15, gap_share=0.4)
    rows = []
    with mock_process(model, latency=latency) as server:
        for cap in _CAPS:
            eager_bound = 0.0
            for lazy in (False, True):
                timing = timed_run(server.base_url, cap, SearchSettings(rounds=rounds, lazy=lazy, seed=1))
                least = bound(timing.trace, cap)
                eager_bound = eager_bound or least
                rows.append(
                    (
                        f"{'ample' if cap == AMPLE else cap} {'lazy' if lazy else 'eager'}",
                        timing.candidates,
                        len(timing.trace.calls),
                        timing.wall,
                        f"{timing.wall / least:.3f}",
                        f"{timing.wall / bound_by_rounds(timing.trace, cap):.3f}",
                        f"{timing.wall / eager_bound:.3f}",
                        f"{barrier(timing.trace, cap) / least:.3f}",
                        timing.winner,
                    )
                )
    print_table(
        f"time to the final answer: N=32, K=4, R={rounds}, M=4; median latency {median_s:g} s, 2 % stragglers x6",
        ("cap", "proofs", "calls", "time s", "/ bound", "/ by rounds", "/ eager bound", "barrier / bound", "winner"),
        rows,
        "bound: max(critical path, total latency / cap) of the run's own calls; target: 1.05 with ample, 1.10 at caps",
    )
