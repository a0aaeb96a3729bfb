"""Peak memory of a large run, and how soon a resumed run makes its first new call.

The run: 1,000 proofs of about 40 KB (920 first ones, then ten rounds of four parents), all four verifications of each
(`lazy` off), summaries, tournament: about 6,000 calls, 64 in flight. The mock server is a process of its own.

    whole run     `maxproof resume` on a fresh run folder, so the report and the other outputs are part of it
    search only   the same run without the outputs
    ... n off     the same at a server without `n`: each sample is a request of its own
    resume        the search is killed (SIGKILL) when 99 % of its calls are answered, and resumed in a new process; the
                  time is from starting that process to the first new request at the server, with Python's own start

Memory is the process's peak resident set as the kernel counts it (`ru_maxrss`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.mock_process import MockProcess, mock_process, new_event_loop
from benchmarks.report import print_table
from maxproof.models.mock import Latency, SimulatedModel
from maxproof.models.settings import EndpointSettings
from maxproof.problems import Problem
from maxproof.search.run import run_prove
from maxproof.search.run_folder import create_run, open_run
from maxproof.search.settings import RunSettings, SearchSettings

PROOF_CHARS = 40_000
_PROBLEM = Problem("memory", "Prove that the recursion stays bounded.")
_SEARCH = "benchmarks.memory"
_COMMAND = "maxproof.cli.main"


def search_settings(quick: bool) -> SearchSettings:
    """1,000 candidates (200 when quick); no early stop."""
    first = 120 if quick else 920
    return SearchSettings(candidates=first, rounds=10, parents=4, lazy=False, stop_at_perfect=10_000)


def _new_run(folder: Path, name: str, base_url: str, quick: bool, *, n: bool = True) -> Path:
    endpoint = EndpointSettings(base_url=base_url, model="mock", concurrency=64, n_samples="on" if n else "off")
    settings = RunSettings(endpoints={"default": endpoint}, search=search_settings(quick))
    return create_run(folder / name, "prove", _PROBLEM, settings, "benchmark").path


def _start(module: str, run: Path) -> subprocess.Popen[bytes]:
    arguments = ["resume", str(run), "--quiet"] if module == _COMMAND else [str(run)]
    output = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=output, stderr=output)


def _peak_mb(process: subprocess.Popen[bytes]) -> float:
    """Waits for the end; the peak resident set in MB. Raises RuntimeError for an end that is none of a search."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise RuntimeError(f"the run ended with exit code {process.returncode}")
    return usage.ru_maxrss / 1024


def killed_and_resumed(server: MockProcess, run: Path, kill_after: int) -> tuple[float, int]:
    """Seconds from the start of the resuming process to its first request, and the calls that were recorded."""
    before = server.stats().samples
    victim = _start(_SEARCH, run)
    while server.stats().samples - before < kill_after:
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    time.sleep(0.5)
    requests = server.stats().requests
    begun = time.perf_counter()
    heir = _start(_SEARCH, run)
    while server.stats().requests == requests:
        time.sleep(0.002)
    seconds = time.perf_counter() - begun
    _peak_mb(heir)
    return seconds, kill_after


def run(quick: bool) -> None:
    """Prints one table."""
    search = search_settings(quick)
    candidates = search.candidates + 2 * search.parents * search.rounds
    calls = candidates * (2 + search.verifications)
    # A low quality and no lucky patch: no proof is ever perfect, so that every round has its four parents.
    model = SimulatedModel(seed=3, quality=0.3, patch_fix=0.1, proof_chars=PROOF_CHARS)
    with mock_process(model, latency=Latency(0.02, 0.3)) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows: list[tuple[object, ...]] = []
        for label, module, n in (
            ("whole run", _COMMAND, True),
            ("search only", _SEARCH, True),
            ("search only, n off", _SEARCH, False),
        ):
            begun = time.perf_counter()
            path = _new_run(folder, label, server.base_url, quick, n=n)
            peak = _peak_mb(_start(module, path))
            size = (path / "journal.sqlite").stat().st_size / 2**20
            rows.append((label, peak, f"{peak / 300:.2f}", time.perf_counter() - begun, size))
        seconds, recorded = killed_and_resumed(
            server, _new_run(folder, "killed", server.base_url, quick), calls * 99 // 100
        )
    print_table(
        f"memory: {candidates:,} proofs of {PROOF_CHARS // 1000} KB, {calls:,} calls",
        ("process", "peak MB", "/ 300 MB", "wall s", "journal MB"),
        rows,
        "target: under 300 MB",
    )
    print_table(
        "resume after SIGKILL",
        ("calls recorded", "first new call after s", "/ 2 s"),
        [(f"{recorded:,}", seconds, f"{seconds / 2:.2f}")],
        "target: under 2 s",
    )


async def _search(run: Path) -> None:
    # The outcome stays in here: as it ends, asyncio.Runner makes the whole `repr` of what its main task returns.
    await run_prove(open_run(run))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_search(Path(sys.argv[1])))
