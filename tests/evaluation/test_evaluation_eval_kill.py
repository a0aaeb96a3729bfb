"""An evaluation that is killed at any time goes on, and pays for no finished call twice."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from eval_fakes import dataset, model

from maxproof.evaluation.dataset.folder import open_eval
from maxproof.evaluation.dataset.result import collect
from maxproof.models.journal import Journal
from maxproof.models.mock import Latency, MockReply, MockRequest, MockServer, SimulatedModel

LAUNCH = "import sys; from maxproof.cli.eval import eval_app; eval_app(sys.argv[1:])"


class Counting:
    """Counts how often each request was answered, and tells when so many were."""

    def __init__(self, script: SimulatedModel) -> None:
        self._script = script
        self.asked: Counter[str] = Counter()
        self.limit = 0
        self.reached = asyncio.Event()

    def __call__(self, request: MockRequest) -> MockReply:
        self.asked[request.key] += 1
        if self.limit and self.asked.total() >= self.limit:
            self.reached.set()
        return self._script(request)


def recorded(folder: Path, name: str) -> int:
    """Calls in the journals of that name."""
    count = 0
    for path in folder.glob(f"problems/*/*/{name}"):
        with Journal.replay(path) as journal:
            count += sum(1 for _ in journal.calls("1"))
    return count


async def test_after_kill_9_only_what_is_not_recorded_is_asked(tmp_path: Path) -> None:
    problems = tmp_path / "set.jsonl"
    problems.write_text("".join(json.dumps(asdict(p)) + "\n" for p in dataset(4)), encoding="utf-8")
    search, oracle = Counting(model()), Counting(model(2))
    in_flight = 4
    async with (
        MockServer(search, latency=Latency(median_s=0.03, sigma=0.3)) as one,
        MockServer(oracle, latency=Latency(median_s=0.03, sigma=0.3)) as other,
    ):
        command = [
            sys.executable, "-c", LAUNCH, str(problems), "--out", str(tmp_path / "e"), "--base-url", one.base_url,
            "--model", "sim", "--oracle-base-url", other.base_url, "--oracle-model", "o", "--effort", "quick",
            "--concurrency", str(in_flight), "--set", f"oracle.concurrency={in_flight}",
            "--set", "endpoints.default.n_samples=off", "--quiet",
        ]  # fmt: skip
        kills = 0
        for limit in (20, 70):
            search.limit, search.reached = limit, asyncio.Event()
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
            ended = asyncio.create_task(process.wait())
            reached = asyncio.create_task(search.reached.wait())
            await asyncio.wait({ended, reached}, return_when=asyncio.FIRST_COMPLETED)
            reached.cancel()
            if not ended.done():
                process.send_signal(signal.SIGKILL)
                kills += 1
            await ended
        assert kills >= 1
        asked, known = search.asked.total(), recorded(tmp_path / "e", "journal.sqlite")
        graded, known_grades = oracle.asked.total(), recorded(tmp_path / "e", "oracle.sqlite")
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
        assert await process.wait() == 0
        result = await collect(open_eval(tmp_path / "e"))
        assert result.states == {"done": 4, "stopped": 0, "not_run": 0}
        # The last session asked just what was not recorded when the one before it died.
        assert sum(unit.search.calls for unit in result.units) == recorded(tmp_path / "e", "journal.sqlite")
        assert search.asked.total() - asked == recorded(tmp_path / "e", "journal.sqlite") - known
        assert oracle.asked.total() - graded == recorded(tmp_path / "e", "oracle.sqlite") - known_grades

        before = (search.asked.total(), oracle.asked.total())
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
        assert await process.wait() == 0
        assert (search.asked.total(), oracle.asked.total()) == before
