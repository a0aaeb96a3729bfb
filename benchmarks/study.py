"""Seconds for each policy of the simulated study, beside a plain loop over problems.

The plain loop is the real engine, one problem after another, on the same draws: what the study would run on without
arrays. It is timed on a sample of problems, whose decisions are compared with those of the arrays.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from benchmarks.report import print_table
from maxproof.evaluation.study.engine_check import disagreements, search_problem
from maxproof.evaluation.study.model import Draws, Model
from maxproof.evaluation.study.parameters import SimulatorSettings
from maxproof.evaluation.study.runs import BLOCK, evaluate
from maxproof.evaluation.study.ways import FREE, LIMITED, Way, runs_of
from maxproof.search.settings import SearchSettings

SAMPLE = 40


def run(quick: bool) -> None:
    """Prints one row for each policy."""
    problems = 2_000 if quick else 10_000
    settings, sizes = SimulatorSettings(), SearchSettings()
    search = runs_of(Way("", "search"), settings, sizes)
    evaluate(search, [0], 50)  # imports and first calls are not timed
    alone = _seconds(partial(evaluate, search, [0], problems))
    rows = [("search", f"{alone:.2f}", f"{alone / problems * 1e6:.0f}")]
    for policy in [name for name in (*FREE, *LIMITED) if name != "search"]:
        runs = runs_of(Way("", policy), settings, sizes)
        took = _seconds(partial(evaluate, runs, [0], problems))
        took -= alone if policy in LIMITED else 0.0
        rows.append((policy, f"{took:.2f}", f"{took / problems * 1e6:.0f}"))
    model = Model(settings, Draws(0, 0, min(BLOCK, problems)))

    def loop() -> None:
        for problem in range(SAMPLE):
            asyncio.run(search_problem(model, sizes, problem))

    plain = _seconds(loop) / SAMPLE
    rows.append(("search, plain loop", f"{plain * problems:.1f} (from {SAMPLE})", f"{plain * 1e6:.0f}"))
    differ = len(disagreements(model, sizes, range(SAMPLE)))
    print_table(
        f"simulated study: {problems:,} problems, N=32, K=4, R=10, M=4",
        ("policy", "seconds", "microseconds a problem"),
        rows,
        f"arrays are {plain * problems / alone:.0f} times as fast as the plain loop; decisions that differ on "
        f"{SAMPLE} problems: {differ}; what is limited by the search's calls is timed without that search",
    )


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
