"""Checks of Dafny lemmas a minute: embedded and warm against one cold Dafny process for each check.

Every checker gets the same submissions, first the empty body for each shipped problem, then its reference solution.
What is compared is the time for those that all of them prove; the others are counted.

    cold       one `dafny` process for each check, as a script would do it
    warm       the same Dafny as a server
    embedded   the default checker, warm, one worker

Then: the memory of the embedded checker's worker over 1,000 checks, and the time that importing the package takes.
Nothing is cached. Without an installed Dafny only the last two are measured.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psutil

from benchmarks.report import console, print_table
from maxproof.formal.checkers.certify import certify
from maxproof.formal.checkers.choose import find_dafny, open_checker
from maxproof.formal.checkers.types import Checker, CheckResult, CheckState, CheckTask, Limits
from maxproof.formal.load import load_formal_problems
from maxproof.formal.solution.check import solution_task
from maxproof.problems import InputError

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "examples" / "formal"
SOLUTIONS = ROOT / "tests" / "formal" / "solutions"
LIMITS = Limits(seconds=10.0, wall_seconds=60.0)
MEMORY_CHECKS = 1000

Check = Callable[[CheckTask], Awaitable[CheckResult]]


def tasks(quick: bool) -> dict[str, list[CheckTask]]:
    """The checks of each table: one for each shipped problem."""
    problems = load_formal_problems(PROBLEMS).problems[:: 4 if quick else 1]
    return {
        "empty bodies": [solution_task(problem, "{}") for problem in problems],
        "solutions": [
            solution_task(problem, (SOLUTIONS / f"{problem.name}.dfy").read_text())
            for problem in problems
            if (SOLUTIONS / f"{problem.name}.dfy").exists()
        ],
    }


async def timed(check: Check, asked: Sequence[CheckTask]) -> tuple[list[CheckState], list[float]]:
    """States and seconds, one check after the other."""
    states, seconds = [], []
    for task in asked:
        begun = time.perf_counter()
        result = await check(task)
        seconds.append(time.perf_counter() - begun)
        states.append(result.state)
    return states, seconds


async def warmed(checker: Checker, asked: Sequence[CheckTask]) -> tuple[list[CheckState], list[float]]:
    """As `timed`, after one check that is not counted: starting the worker or server is no check."""
    await checker.check(asked[0], LIMITS)
    return await timed(lambda task: checker.check(task, LIMITS), asked)


async def measure(quick: bool) -> None:
    asked = tasks(quick)
    try:
        dafny = await find_dafny()
    except InputError as error:
        console.print(f"no comparison: {error}")
    else:
        for title, checks in asked.items():
            measured: dict[str, tuple[list[CheckState], list[float]]] = {}
            async with open_checker("embedded", workers=1) as embedded:
                measured["embedded"] = await warmed(embedded, checks)
            measured["cold"] = await timed(lambda task: certify(task, dafny, LIMITS), checks)
            async with open_checker(dafny.tool.name, workers=1) as warm:
                measured["warm"] = await warmed(warm, checks)
            compare(title, measured, str(dafny.tool))
    await memory(asked["solutions"], 100 if quick else MEMORY_CHECKS)


def compare(title: str, measured: dict[str, tuple[list[CheckState], list[float]]], dafny: str) -> None:
    """Prints the rates over the checks that all three proved, and how many those are."""
    verdicts = [[state is CheckState.PROVED for state in states] for states, _ in measured.values()]
    proved = [index for index, row in enumerate(zip(*verdicts, strict=True)) if all(row)]
    refused = sum(not any(row) for row in zip(*verdicts, strict=True))
    base = [measured["cold"][1][index] for index in proved]
    rows = []
    for name in ("cold", "warm", "embedded"):
        seconds = [measured[name][1][index] for index in proved]
        median, slowest = (f"{1000 * value:.0f}" for value in (statistics.median(seconds), max(seconds)))
        ratio = statistics.median(one / other for one, other in zip(base, seconds, strict=True))
        rate = f"{60 * len(proved) / sum(seconds):.0f}"
        rows.append((name, rate, median, slowest, f"{sum(base) / sum(seconds):.1f}", f"{ratio:.1f}"))
    print_table(
        f"Checks of one worker: {title}",
        ("checker", "checks/min", "median ms", "slowest ms", "times cold", "median of the ratios"),
        rows,
        f"over the {len(proved)} of {len(verdicts[0])} that all prove; {refused} none proves; {dafny}",
    )


async def memory(asked: Sequence[CheckTask], checks: int) -> None:
    """Prints the resident memory of the worker after a tenth of the checks and after all of them."""
    async with open_checker("embedded", workers=1) as embedded:
        sizes = []
        for index in range(checks):
            await embedded.check(asked[index % len(asked)], LIMITS)
            if index + 1 in (checks // 10, checks):
                children = psutil.Process().children(recursive=True)
                sizes.append(sum(child.memory_info().rss for child in children) / 2**20)
    rows = [(str(checks // 10), f"{sizes[0]:.0f}"), (str(checks), f"{sizes[1]:.0f}")]
    print_table("Memory of the embedded checker's worker", ("checks", "MB"), rows)


def import_seconds() -> float:
    """Seconds that a fresh interpreter takes to import the package and the command line, the median of five."""
    code = "import time; t = time.perf_counter(); import maxproof.cli.main; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(run.stdout) for run in runs)


def run(*, quick: bool) -> None:
    asyncio.run(measure(quick))
    print_table("Import", ("what", "s"), [("maxproof and its command line", f"{import_seconds():.2f}")])
