"""Attempts survive a kill, and a batch survives its methods."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.batch import run_batch
from maxproof.formal.error_classes import ErrorClass
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt
from maxproof.formal.solution.types import SolutionState
from maxproof.formal.store import open_store, read_attempts
from maxproof.formal.syntax.ast import Lemma
from maxproof.problems import InputError

HEADER = {"set": "abc", "checker": "embedded"}


def attempt(problem: str = "p", seed: int = 0, **changes: object) -> Attempt:
    return Attempt(problem, "empty", seed, SolutionState.ACCEPTED, **changes)  # type: ignore[arg-type]


def test_what_is_added_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    first = attempt(solution="{ assert 'é' \n }", proved=3, total=4, seconds=0.25)
    with open_store(path, HEADER) as store:
        store.add(first)
        store.add(attempt("q"))
    with open_store(path, HEADER) as store:
        assert list(store.attempts.values()) == [first, attempt("q")]
    header, attempts = read_attempts(path)
    assert header["set"] == "abc"
    assert attempts == [first, attempt("q")]


@given(st.integers(0, 10_000))
def test_any_cut_loses_the_torn_line_only(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "attempts.jsonl"
    with open_store(path, HEADER) as store:
        for seed in range(3):
            store.add(attempt(seed=seed))
    data = path.read_bytes()
    kept = data[: cut % (len(data) + 1)]
    path.write_bytes(kept)
    with open_store(path, HEADER) as store:
        assert len(store.attempts) == max(0, kept.count(b"\n") - 1)
        store.add(attempt(seed=7))
    with open_store(path, HEADER) as store:
        assert ("p", "empty", 7) in store.attempts


def test_of_two_attempts_of_one_kind_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    cut = Attempt("p", "guided", 0, SolutionState.TOOL_ERROR, errors=(ErrorClass.TYPES,), reason="no answer")
    with open_store(path, HEADER) as store:
        store.add(cut)
    with open_store(path, HEADER) as store:
        assert list(store.attempts.values()) == [cut]
        store.add(replace(cut, state=SolutionState.ACCEPTED))
    assert [a.state for a in read_attempts(path)[1]] == [SolutionState.ACCEPTED]


def test_a_store_for_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    with open_store(path, HEADER):
        pass
    with pytest.raises(InputError, match="another checker"), open_store(path, {**HEADER, "checker": "dafny"}):
        pass


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    with open_store(path, HEADER) as store:
        store.add(attempt())
        store.add(attempt("q"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"problem": 1}\n' + lines[2])
    with pytest.raises(InputError, match=r"attempts\.jsonl:2: is no attempt"), open_store(path, HEADER):
        pass


def test_two_processes_can_not_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    with open_store(path, HEADER), pytest.raises(InputError, match="in use"), open_store(path, HEADER):
        pass


def test_a_killed_process_loses_no_finished_attempt(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    script = (
        "import sys; from pathlib import Path\n"
        "from maxproof.formal.store import open_store; from maxproof.formal.results import Attempt\n"
        "from maxproof.formal.solution.types import SolutionState\n"
        f"with open_store(Path({str(path)!r}), {HEADER!r}) as store:\n"
        "    for seed in range(100000):\n"
        "        store.add(Attempt('p', 'empty', seed, SolutionState.ACCEPTED))\n"
        "        print(seed, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    seen += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    process.wait()
    with open_store(path, HEADER) as store:
        assert set(seen) <= {seed for _, _, seed in store.attempts}


class _Method:
    name = "empty"

    def __init__(self) -> None:
        self.running = self.most = 0
        self.asked: list[tuple[str, int]] = []

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        self.asked.append((problem.name, seed))
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        if problem.name == "p2" and seed == 1:
            raise RuntimeError("a bug")
        return attempt(problem.name, seed)


PROBLEMS = [FormalProblem(Lemma(f"p{i}", (), ())) for i in range(4)]


async def test_a_batch_is_bounded_resumable_and_survives_a_bug(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    first = _Method()
    with open_store(path, HEADER) as store:
        attempts = await run_batch(PROBLEMS, [first], [0, 1], store, at_once=3)
    assert first.most == 3
    assert [(a.problem, a.seed) for a in attempts] == [(f"p{i}", seed) for i in range(4) for seed in (0, 1)]
    failed = [a for a in attempts if a.state is SolutionState.TOOL_ERROR]
    assert [(a.problem, a.seed, a.reason) for a in failed] == [("p2", 1, "internal error: RuntimeError: a bug")]

    again = _Method()
    with open_store(path, HEADER) as store:
        await run_batch(PROBLEMS, [again], [0, 1, 2], store, at_once=1)
    assert again.most == 1
    assert set(again.asked) == {("p2", 1), *((f"p{i}", 2) for i in range(4))}
