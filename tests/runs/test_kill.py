"""kill -9 at seeded random moments: what was paid is paid once, and the resumed run ends as if nothing had been."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from commands import PROBLEM, command, environment, maxproof, mock_server, server_stats
from comparing import assert_replays, page, recorded, result

CONCURRENCY = 3
# At the server, and answered but not yet on the disk: the place of a call is free before its row is durable.
UNRECORDED = 2 * CONCURRENCY
FINISHED = (0, 3)  # a proof passed, or none did
SIZES = ("-N", 10, "-K", 2, "-R", 3, "-M", 3, "--output-tokens", 4000, "--concurrency", CONCURRENCY)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with mock_server("--quality", 0.3, "--seed", 5, "--latency", 0.05) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def whole(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run. An earlier one has filled the server's prompt cache, which shows in the token counts."""
    runs = tmp_path_factory.mktemp("whole")
    for run in (runs / "first", runs / "run"):
        done = maxproof("prove", PROBLEM, "--base-url", server, *SIZES, "--out", run)
        assert done.returncode in FINISHED, done.stderr
    return runs / "run"


def begin(server: str, run: Path) -> subprocess.Popen[bytes]:
    arguments = ["resume", run] if (run / "run.json").exists() else ["prove", PROBLEM, "--base-url", server, *SIZES]
    out = [] if arguments[0] == "resume" else ["--out", run]
    return subprocess.Popen(
        command(*arguments, *out, "--quiet"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
    )


def kill_after_requests(process: subprocess.Popen[bytes], server: str, requests: int) -> bool:
    """Kills the process when the server has seen so many more requests; false if the process ended before."""
    target = server_stats(server)["requests"] + requests
    while process.poll() is None:
        if server_stats(server)["requests"] >= target:
            process.kill()
            process.wait()
            return True
        time.sleep(0.002)
    return False


def test_twenty_kills_cost_no_more_than_the_calls_in_flight(server: str, whole: Path, tmp_path: Path) -> None:
    random = Random(7)
    kills = total = 0
    while kills < 20:
        run = tmp_path / f"runs{total}" / "run"
        total += 1
        before = server_stats(server)["requests"]
        killed = 0
        while True:
            process = begin(server, run)
            if kills < 20 and kill_after_requests(process, server, random.randrange(1, 8)):
                kills += 1
                killed += 1
                time.sleep(random.random() * 0.05)  # a resume may come before the server saw the connections end
                asked = server_stats(server)["requests"] - before
                assert asked <= recorded(run) + killed * UNRECORDED
                continue
            _, errors = process.communicate()
            assert process.returncode in FINISHED, errors.decode()
            break
        assert killed > 0
        assert recorded(run) == recorded(whole)
        assert server_stats(server)["requests"] - before <= recorded(run) + killed * UNRECORDED
        assert result(run) == result(whole)  # the totals of the whole run are part of it
        assert page(run) == page(whole)
        assert (run / "proof.md").read_bytes() == (whole / "proof.md").read_bytes()
        assert_replays(run)


@pytest.mark.slow
def test_a_run_killed_while_it_starts_can_be_begun_or_resumed(server: str, whole: Path, tmp_path: Path) -> None:
    random = Random(11)
    run = tmp_path / "run"
    for _ in range(4):
        process = begin(server, run)
        time.sleep(0.3 + 0.6 * random.random())
        process.kill()
        process.wait()
    process = begin(server, run)
    _, errors = process.communicate()
    assert process.returncode in FINISHED, errors.decode()
    assert result(run) == result(whole)
    assert_replays(run)


def test_what_a_killed_start_leaves_behind_is_no_obstacle(server: str, whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(whole / "run.json", run)
    (run / ".run.json.1.tmp").write_text('{"for')
    (run / ".journal.sqlite.1.partial").write_bytes(b"SQLite format 3\0")
    process = begin(server, run)
    _, errors = process.communicate()
    assert process.returncode in FINISHED, errors.decode()
    assert result(run) == result(whole)


def test_a_killed_run_can_be_shown_and_is_not_changed_by_it(server: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = begin(server, run)
    assert kill_after_requests(process, server, 15)
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    shown = maxproof("show", run)
    assert shown.returncode == 0, shown.stderr
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before
    assert maxproof("report", run).returncode == 0
    assert_replays(run)
