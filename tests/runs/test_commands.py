"""The commands as a user types them: exit codes, what stands on which stream, what a run folder holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import EXAMPLES, PROBLEM, maxproof, mock_server, server_stats, small


@pytest.fixture(scope="module")
def good_server() -> Iterator[str]:
    """Nine in ten first proofs are right and judges don't err."""
    with mock_server("--quality", 0.9, "--seed", 1) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def bad_server() -> Iterator[str]:
    """No proof is ever right."""
    with mock_server("--quality", 0.0, "--seed", 1) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def passed_run(good_server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "passed"
    done = maxproof("prove", PROBLEM, *small(good_server), "--out", run)
    assert done.returncode == 0, done.stderr
    return run


def test_a_proof_that_passed_is_printed_with_the_evidence(good_server: str, tmp_path: Path) -> None:
    done = maxproof("prove", PROBLEM, *small(good_server), "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "passed" in done.stdout
    assert "verifications" in done.stdout.lower()
    assert "tournament" in done.stdout.lower()
    assert "worst case" in done.stderr.lower()  # the forecast, before the first call
    assert {"run.json", "journal.sqlite", "proof.md", "result.json", "report.html"} <= {
        file.name for file in (tmp_path / "run").iterdir()
    }


def test_a_search_without_a_proof_says_so_and_exits_3(bad_server: str, tmp_path: Path) -> None:
    done = maxproof("prove", PROBLEM, *small(bad_server), "--out", tmp_path / "run")
    assert done.returncode == 3, done.stderr
    assert "no candidate passed" in done.stdout.lower()
    assert "error" in done.stdout.lower()


def test_json_is_one_value_on_stdout_and_one_event_a_line_on_stderr(good_server: str, tmp_path: Path) -> None:
    done = maxproof("prove", PROBLEM, *small(good_server), "--json", "--out", tmp_path / "run")
    assert done.returncode == 0
    assert json.loads(done.stdout)["outcome"] == "passed"
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events[0] == "forecast"
    assert {"candidate_added", "verified", "round_closed", "stopped"} <= set(events)


def test_quiet_leaves_only_the_result(good_server: str, tmp_path: Path) -> None:
    done = maxproof("prove", PROBLEM, *small(good_server), "--quiet", "--json", "--out", tmp_path / "run")
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_forecast_makes_no_call_and_no_folder(tmp_path: Path) -> None:
    done = maxproof("prove", PROBLEM, "--base-url", "http://127.0.0.1:9/v1", "--forecast", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "681" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_replayed_report_is_the_same_byte_for_byte(passed_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / passed_run.name
    copy.mkdir()
    for name in ("run.json", "journal.sqlite"):
        shutil.copy(passed_run / name, copy / name)
    done = maxproof("report", copy)
    assert done.returncode == 0, done.stderr
    for name in ("report.html", "result.json", "proof.md"):
        assert (copy / name).read_bytes() == (passed_run / name).read_bytes(), name


def test_resuming_a_finished_run_asks_nothing_and_changes_nothing(good_server: str, passed_run: Path) -> None:
    before = {name: (passed_run / name).read_bytes() for name in ("report.html", "result.json", "proof.md")}
    requests = server_stats(good_server)["requests"]
    done = maxproof("resume", passed_run)
    assert done.returncode == 0, done.stderr
    assert server_stats(good_server)["requests"] == requests
    assert {name: (passed_run / name).read_bytes() for name in before} == before


def test_show_lists_the_run_and_one_candidate(passed_run: Path) -> None:
    listed = maxproof("show", passed_run)
    assert listed.returncode == 0, listed.stderr
    assert "odd-sum" in listed.stdout
    one = maxproof("show", passed_run, "--candidate", 0)
    assert one.returncode == 0
    assert "Candidate 0" in one.stdout
    unknown = maxproof("show", passed_run, "--candidate", 9999)
    assert unknown.returncode == 2
    assert "9999" in unknown.stderr


def test_a_changed_setting_is_said_and_reuses_nothing_silently(good_server: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert maxproof("prove", PROBLEM, *small(good_server), "--out", run).returncode == 0
    before = server_stats(good_server)["requests"]
    done = maxproof("resume", run, "--set", "roles.generator.temperature=0.5")
    assert "roles.generator.temperature: 1.0 -> 0.5" in done.stderr
    assert "can't be reused" in done.stderr
    assert server_stats(good_server)["requests"] > before


def test_a_spent_budget_ends_with_the_tournament_and_is_resumable(bad_server: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = maxproof("prove", PROBLEM, *small(bad_server), "--max-calls", 30, "--out", run)
    assert done.returncode == 5, done.stderr
    assert "max_calls" in done.stdout
    result = json.loads((run / "result.json").read_text())
    assert sum(row["calls"] for row in result["usage"]) <= 30
    assert result["matches"]
    more = maxproof("resume", run, "--max-calls", 500)
    assert more.returncode == 3, more.stderr


def test_no_usable_model_is_exit_4_in_one_line(tmp_path: Path) -> None:
    nothing = maxproof("prove", PROBLEM, cwd=tmp_path)
    assert nothing.returncode == 4
    assert len(nothing.stderr.strip().splitlines()) == 1
    dead = maxproof(
        "prove", PROBLEM, *small("http://127.0.0.1:9/v1"), "--timeout", 1, "--out", tmp_path / "run", timeout=120
    )
    assert dead.returncode == 4, dead.stdout + dead.stderr
    assert "Traceback" not in dead.stderr


def test_verify_tells_a_right_proof_from_a_wrong_one(good_server: str, passed_run: Path, tmp_path: Path) -> None:
    result = json.loads((passed_run / "result.json").read_text())
    right = tmp_path / "right.md"
    right.write_text(next(c["text"] for c in result["candidates"] if c["id"] == result["winner"]))
    lowest = min((c for c in result["candidates"] if c["points"]), key=lambda candidate: candidate["points"])
    assert lowest["points"] < 7
    done = maxproof("verify", PROBLEM, right, "--base-url", good_server, "--out", tmp_path / "a")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no_errors" in done.stdout
    wrong = tmp_path / "wrong.md"
    wrong.write_text(lowest["text"])
    done = maxproof("verify", PROBLEM, wrong, "--base-url", good_server, "--out", tmp_path / "b", "-k", 2)
    assert done.returncode == 3, done.stdout + done.stderr
    shown = maxproof("show", tmp_path / "b")
    assert shown.stdout == done.stdout


def test_verify_runs_rubric_and_free_judges_where_there_is_a_rubric(good_server: str, tmp_path: Path) -> None:
    proof = EXAMPLES / "proofs" / "acquaintances-flawed.md"
    done = maxproof(
        "verify", EXAMPLES / "acquaintances.md", proof, "--base-url", good_server, "--out", tmp_path / "v", "--json"
    )
    (verification,) = json.loads(done.stdout)["verifications"]
    assert [judge["mode"] for judge in verification["judges"]] == ["rubric", "rubric", "free"]


def test_models_checks_each_endpoint(good_server: str) -> None:
    done = maxproof("models", "--base-url", good_server)
    assert done.returncode == 0, done.stderr
    assert "ok" in done.stdout
    dead = maxproof("models", "--base-url", "http://127.0.0.1:9/v1")
    assert dead.returncode == 4
    assert "not usable" in dead.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prove", "missing.md"], "missing.md"),
        (["prove", PROBLEM, "-N", 2, "-M", 4], "parents"),
        (["prove", PROBLEM, "--effort", "huge"], "quick"),
        (["prove", PROBLEM, "--set", "search.candidats=3"], "candidates"),
        (["prove", PROBLEM, "--concurrency", "many"], "--concurrency"),
        (["prove", EXAMPLES / "more.jsonl"], "--id"),
        (["prove", EXAMPLES / "more.jsonl", "--id", "nope"], "nope"),
        (["prove", PROBLEM, "--out", "/proc/nope"], "/proc/nope"),
        (["prove", PROBLEM, "--max-cost", 1], "prices"),
        (["resume", "nowhere"], "nowhere"),
        (["show", "nowhere"], "nowhere"),
        (["report", "nowhere"], "nowhere"),
        (["verify", PROBLEM, "missing.md"], "missing.md"),
        (["models", "get", "gpt5"], "smollm2"),
        (["prove", PROBLEM, "--bogus"], "--bogus"),
        (["mock", "--port", 99999], "--port"),
        (["nope"], "nope"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[object], said: str, tmp_path: Path) -> None:
    if arguments[0] in ("prove", "verify"):
        arguments = [*arguments, "--base-url", "http://127.0.0.1:9/v1"]
    done = maxproof(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_key_never_reaches_the_run_folder_or_the_output(tmp_path: Path) -> None:
    import os
    import subprocess

    from commands import command, environment

    key = "sk-test-0123456789abcdef0123456789"
    with mock_server("--api-key", key, "--seed", 1) as base_url:
        done = subprocess.run(
            command("prove", PROBLEM, *small(base_url), "--out", tmp_path / "run"),
            capture_output=True,
            timeout=60,
            env={**environment(), "OPENAI_API_KEY": key},
            check=False,
        )
    assert done.returncode in (0, 3), done.stderr
    assert key.encode() not in done.stdout + done.stderr
    for folder, _, files in os.walk(tmp_path):
        for name in files:
            assert key.encode() not in (Path(folder) / name).read_bytes(), name
