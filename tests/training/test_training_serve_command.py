"""`maxproof reward serve` as a process: rewards over HTTP, a restart that pays nothing twice, a quiet end."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

from maxproof.cli.reward import reward_app
from maxproof.lab.generate import problems
from maxproof.training.dialects.spec import Launch, spec_of
from maxproof.training.dialects.trainers import TRAINERS
from maxproof.training.serve.client import RewardServerError, ask_rewards
from maxproof.training.settings import CispoSettings
from maxproof.training.trl import server_reward
from maxproof.training.verl import compute_score

GOOD = "<assessment>well</assessment><errors>none</errors><verdict>no_errors</verdict>"
TEXT = "We count one and one more, which makes two, and that was to be shown."


@contextmanager
def process(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


@contextmanager
def served(*arguments: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    code = "from maxproof.cli.reward import reward_app; reward_app()"
    with process(code, "serve", "--port", 0, *arguments) as started:
        assert started.stdout is not None
        url = started.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), started.communicate(timeout=30)
        yield url, started


@contextmanager
def judge(tmp_path: Path, *arguments: object) -> Iterator[str]:
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"verify": [GOOD]}))
    code = "from maxproof.cli.main import main; main()"
    with process(code, "mock", "--port", 0, "--replies", replies, *arguments) as started:
        assert started.stdout is not None
        yield started.stdout.readline().strip()


def fetch(url: str, items: object = None) -> Any:
    body = None if items is None else json.dumps({"items": items}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def asked(judge_url: str) -> int:
    return int(fetch(judge_url.removesuffix("/v1") + "/stats")["samples"])


def end(started: subprocess.Popen[str]) -> tuple[int, str]:
    started.send_signal(signal.SIGTERM)
    _, log = started.communicate(timeout=60)
    return started.returncode, log


def file_of_problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps({"id": "p", "statement": "Show that 1 + 1 = 2.", "rubric": "7 points."}) + "\n")
    return path


def test_a_restarted_server_pays_nothing_twice(tmp_path: Path) -> None:
    items = [{"problem_id": "p", "answer": f"{TEXT} Number {index}."} for index in range(4)]
    options = ("--problems", file_of_problems(tmp_path), "--out", tmp_path / "out")
    with judge(tmp_path) as judge_url:
        for number in range(2):
            with served(*options, "--base-url", judge_url) as (url, started):
                reply = fetch(f"{url}/v1/rewards", items)
                assert reply["rewards"] == [1.0] * 4
                assert asked(judge_url) == 12
                with urllib.request.urlopen(f"{url}/metrics", timeout=60) as text:
                    assert f"maxproof_judge_calls_replayed_total {12 * number}\n" in text.read().decode()
                code, log = end(started)
                assert code == 0, log
                assert "POST /v1/rewards 200: 4 rollouts, 0 not scored" in log
                assert TEXT not in log


def test_what_is_being_judged_gets_its_answer_when_the_server_ends(tmp_path: Path) -> None:
    options = ("--problems", file_of_problems(tmp_path), "--out", tmp_path / "out")
    with judge(tmp_path, "--latency", 1) as judge_url, served(*options, "--base-url", judge_url) as (url, started):
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(fetch, f"{url}/v1/rewards", [{"problem_id": "p", "answer": TEXT}])
            while fetch(f"{url}/health")["rollouts_in_flight"] == 0:
                assert not reply.done()
            code, log = end(started)
            assert reply.result()["rewards"] == [1.0]
        assert code == 0, log
        with pytest.raises(urllib.error.URLError):
            fetch(f"{url}/health")


def test_what_is_not_judged_in_time_is_to_be_asked_again(tmp_path: Path) -> None:
    options = ("--problems", file_of_problems(tmp_path), "--out", tmp_path / "out", "--grace", 0)
    with judge(tmp_path, "--latency", 600) as judge_url, served(*options, "--base-url", judge_url) as (url, started):
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(fetch, f"{url}/v1/rewards", [{"problem_id": "p", "answer": TEXT}])
            while fetch(f"{url}/health")["rollouts_in_flight"] == 0:
                assert not reply.done()
            code, log = end(started)
            with pytest.raises(urllib.error.HTTPError) as refused:
                reply.result()
        assert (refused.value.code, refused.value.headers["Retry-After"]) == (503, "5")
        assert code == 0
        assert "Traceback" not in log


def test_a_budget_that_is_spent_is_an_error_for_the_trainer(tmp_path: Path) -> None:
    options = ("--problems", file_of_problems(tmp_path), "--out", tmp_path / "out", "--max-calls", 3)
    with judge(tmp_path) as judge_url, served(*options, "--base-url", judge_url) as (url, _):
        assert fetch(f"{url}/v1/rewards", [{"problem_id": "p", "answer": TEXT}])["rewards"] == [1.0]
        with pytest.raises(RewardServerError, match=r"503.*nothing more is judged"):
            asyncio.run(ask_rewards([{"problem_id": "p", "answer": TEXT + " Again."}], url))
        with pytest.raises(urllib.error.HTTPError) as health:
            fetch(f"{url}/health")
        assert json.load(health.value)["status"] == "stopped"
        # What is recorded costs nothing, so it is still answered.
        assert fetch(f"{url}/v1/rewards", [{"problem_id": "p", "answer": TEXT}])["rewards"] == [1.0]


def test_the_functions_for_trl_and_verl_and_what_is_emitted_ask_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with served("--lab", "train:6:0", "--judges", "lab-panel", "--quiet") as (url, _):
        monkeypatch.setenv("MAXPROOF_REWARD_URL", url + "/")
        known = [made.problem for made in problems("train", 6, 0)]
        judged = fetch(f"{url}/v1/rewards", [{"problem_id": one.id, "answer": one.reference} for one in known])
        passed = judged["rewards"].index(1.0)  # the panel gives false alarms, so that not all references pass
        first, second = known[passed], known[passed - 1]
        completions = [first.reference, [{"role": "assistant", "content": "No idea at all, sorry."}]]
        rewards = asyncio.run(
            server_reward()(prompts=["", ""], completions=completions, problem_id=[first.id, second.id])
        )
        assert rewards == [1.0, 0.0]
        score = compute_score("lab", first.reference, "", {"problem_id": first.id}, reward_router_address=None)
        assert asyncio.run(score) == 1.0
        emitted: dict[str, Any] = {}
        text = TRAINERS["verl"](spec_of(CispoSettings()), Launch("model", "data")).files["maxproof_reward.py"]
        exec(compile(text, "maxproof_reward.py", "exec"), emitted)
        score = emitted["compute_score"]("lab", first.reference, "", {"problem_id": first.id})
        assert asyncio.run(score) == 1.0
        cut = server_reward(eos_ids=[2])(
            prompts=[""], completions=[first.reference], problem_id=[first.id], completion_ids=[[5, 6]]
        )
        assert asyncio.run(cut) == [0.0]
        with pytest.raises(RewardServerError, match=r"items\[0\].problem_id"):
            asyncio.run(compute_score("lab", "x", "", {"problem_id": "unknown"}))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--lab", "train:6"), "expected SPLIT:COUNT:SEED"),
        (("--lab", "train:6:0", "--problems", "x.jsonl"), "expected either --problems FILE or --lab"),
        ((), "--out: expected a folder for the journal"),
        (("--judges", "lab-panel", "--problems", "missing.jsonl"), "missing.jsonl"),
    ],
)
def test_bad_options_are_one_line(
    options: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = (*options, "--judges", "lab-panel") if "--lab" in options else options
    done = CliRunner().invoke(reward_app, ["serve", "--port", "0", *options])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr


def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(reward_app, ["serve", "--judges", "lab-panel", "--port", port])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert f"can't listen on 127.0.0.1:{port}" in done.stderr
