"""The formal commands as a user types them: exit codes, streams, run folders, kills, and what isn't there."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import command, environment, maxproof, mock_server
from filelock import FileLock

SQUARE = "lemma square(x: int)\n  ensures x * x >= 0\n{}\n"
FALSE = "lemma greater(x: int, y: int)\n  requires x > y\n  ensures x * x > y * y\n{}\n"
VACUOUS = "lemma vacuous(x: int)\n  requires x > 0\n  requires x < 0\n  ensures x == 17\n{}\n"
WRONG_DEFINITION = (
    "function one(n: int): int ensures one(n) == 1 { 0 }\nlemma one_is_seven(x: int) ensures one(x) == 7 {}\n"
)

Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return made


@pytest.fixture
def small_set(write: Write, tmp_path: Path) -> Path:
    for name, text in (("test/a", SQUARE), ("test/b", FALSE), ("valid/c", VACUOUS), ("valid/d", WRONG_DEFINITION)):
        write(f"set/{name}.dfy", text)
    return tmp_path / "set"


def test_check_tells_a_proof_from_a_gap_a_typo_and_a_vacuous_problem(write: Write) -> None:
    square, greater, vacuous = write("s.dfy", SQUARE), write("g.dfy", FALSE), write("v.dfy", VACUOUS)
    empty, typo = write("empty.dfy", "{}"), write("typo.dfy", "{ assert x == ; }")
    done = maxproof("formal", "check", square, empty)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Proved (embedded checker)")
    gap = maxproof("formal", "check", greater, empty)
    assert gap.returncode == 3
    assert "postcondition is false" in gap.stdout
    assert "fails for x = " in gap.stdout
    unread = maxproof("formal", "check", square, typo, "--json")
    assert unread.returncode == 3
    (finding,) = json.loads(unread.stdout)["findings"]
    assert (finding["at"], "found ';'" in finding["message"]) == ({"line": 1, "column": 15}, True)
    nothing = maxproof("formal", "check", vacuous, empty)
    assert nothing.returncode == 3
    assert nothing.stdout.startswith("Vacuous: ")


@pytest.mark.parametrize(
    ("text", "said", "status"), [(FALSE, "Refuted: ", "refuted"), (WRONG_DEFINITION, "Ill-formed: ", "ill_formed")]
)
def test_check_says_what_is_wrong_with_the_statement(text: str, said: str, status: str, write: Write) -> None:
    file, proof = write("p.dfy", text), write("proof.dfy", "{ assert true; }")
    done = maxproof("formal", "check", file, proof)
    assert (done.returncode, done.stdout.startswith(said)) == (3, True), done.stdout
    shown = json.loads(maxproof("formal", "check", file, proof, "--json").stdout)
    assert (shown["status"], shown["accepted"]) == (status, False)
    failed = [one["at"] for one in shown["result"]["obligations"] if one["state"] == "refuted"]
    assert [at["file"] for at in failed] == ["problem"] * len(failed) != []
    assert all(1 <= at["line"] <= len(text.splitlines()) for at in failed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lemma p(x: int)\n  ensures unknown(x)\n{}", "p.dfy:2:11: "),
        ("lemma gcd(x: int) ensures x == x {}", "p.dfy:1:1: 'gcd' is a name of the prelude"),
    ],
)
def test_a_mistake_in_the_problem_is_not_blamed_on_the_submission(text: str, said: str, write: Write) -> None:
    done = maxproof("formal", "check", write("p.dfy", text), write("proof.dfy", "{}"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_bad_file_of_a_set_is_told_of_and_the_others_are_tried(write: Write, tmp_path: Path) -> None:
    write("set/a.dfy", SQUARE)
    write("set/b.dfy", "lemma b(")
    run = tmp_path / "run"
    done = maxproof("formal", "baseline", tmp_path / "set", "--out", run, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "b.dfy:1:9: " in done.stderr
    assert "unreadable, and left out: 1" in done.stdout
    result = json.loads((run / "result.json").read_text())
    (line,) = result["unreadable"]
    assert "b.dfy:1:9: " in line
    assert result["statuses"] == {"square": "solved"}
    assert "1 unreadable" in (run / "report.html").read_text()
    again = maxproof("resume", run, "--json", "--quiet")
    assert json.loads(again.stdout)["unreadable"] == [line]
    assert [json.loads(one)["event"] for one in again.stderr.splitlines()] == ["unreadable"]


def test_both_ways_to_prove_do_the_same(write: Write, tmp_path: Path) -> None:
    square = write("s.dfy", SQUARE)
    for number, words in enumerate((["prove"], ["formal", "prove"])):
        run = tmp_path / f"run{number}"
        done = maxproof(*words, square, "--out", run)
        assert done.returncode == 0, done.stderr
        assert "Proved (embedded checker" in done.stdout
        assert (run / "solutions" / "square.dfy").read_text() == "{}\n"
        assert json.loads((run / "result.json").read_text())["statuses"] == {"square": "solved"}
        assert maxproof("show", run).stdout == done.stdout


@pytest.mark.parametrize(
    ("text", "said"), [(VACUOUS, "Vacuous: "), (FALSE, "Refuted: "), (WRONG_DEFINITION, "Ill-formed: ")]
)
def test_a_statement_that_is_not_sound_is_never_proved(text: str, said: str, write: Write, tmp_path: Path) -> None:
    done = maxproof("prove", write("p.dfy", text), "--out", tmp_path / "run", "--quiet")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith(said)


def test_a_bench_is_one_table_with_every_status_apart(small_set: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = maxproof("formal", "bench", small_set, "--runs", 2, "--out", run, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads((run / "result.json").read_text())
    assert Counter(result["statuses"].values()) == Counter(["solved", "refuted", "vacuous", "ill_formed"])
    assert "pass@2" in done.stdout
    assert "symbolic" in done.stdout
    kept = {name: (run / name).read_bytes() for name in ("result.json", "report.html")}
    again = maxproof("resume", run, "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == result
    assert maxproof("report", run).returncode == 0
    assert {name: (run / name).read_bytes() for name in kept} == kept


def test_json_is_one_value_on_stdout_and_one_event_a_line_on_stderr(small_set: Path, tmp_path: Path) -> None:
    done = maxproof("formal", "baseline", small_set, "--json", "--out", tmp_path / "run")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["attempts"]) == 4
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events == ["attempt"] * 4 + ["examined"]
    quiet = maxproof("formal", "baseline", small_set, "--json", "--quiet", "--out", tmp_path / "other")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_the_published_protocols_are_presets(small_set: Path, tmp_path: Path) -> None:
    def settings(run: Path) -> dict[str, object]:
        asked = json.loads((run / "run.json").read_text())
        return {**asked["formal"], "roles": asked["settings"]["roles"]}

    square = small_set / "test" / "a.dfy"
    assert maxproof("formal", "baseline", square, "--paper", "--out", tmp_path / "a").returncode == 0
    asked = settings(tmp_path / "a")
    assert (asked["repeats"], asked["limits"]["seconds"]) == (5, 30.0)  # type: ignore[index]
    with mock_server("--seed", 1) as url:
        done = maxproof("formal", "bench", square, "--paper", "--base-url", url, "--out", tmp_path / "b")
    assert done.returncode == 0, done.stderr
    asked = settings(tmp_path / "b")
    assert (asked["methods"], asked["repeats"], asked["guided"]["corrections"]) == (["guided"], 4, 3)  # type: ignore[index]
    generator = asked["roles"]["generator"]  # type: ignore[index]
    assert (generator["temperature"], generator["max_tokens"]) == (0.5, 8192)


def test_a_spent_budget_is_said_and_the_run_goes_on_with_more(write: Write, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with mock_server("--seed", 1) as url:
        sizes = [f"--set=search.{name}=1" for name in ("candidates", "rounds", "parents")]
        done = maxproof(
            "formal", "prove", write("g.dfy", FALSE), "--base-url", url, *sizes, "--max-calls", 1, "--out", run
        )
        assert done.returncode == 5, done.stdout + done.stderr
        assert "Not all was tried: the budget max_calls = 1 is reached" in done.stderr
        assert f"maxproof resume {run} --max-calls" in done.stderr
        more = maxproof("resume", run, "--max-calls", 50)
    assert more.returncode == 3, more.stderr
    assert "budget.max_calls: 1 -> 50" in more.stderr


@pytest.mark.parametrize(
    "options", [("--checker", "dafny"), ("--certify",), ("--confirm", "dafny"), ("--checker", "dafny-4")]
)
def test_a_dafny_that_is_not_there_is_said_before_anything_is_done(
    options: tuple[str, ...], write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAXPROOF_DAFNY", "/nowhere/dafny")
    run = tmp_path / "run"
    done = maxproof("formal", "prove", write("s.dfy", SQUARE), *options, "--out", run)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "/nowhere/dafny" in line
    assert not run.exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.dfy", "lemma p(x: int)\n  ensures x + \n{ }", "p.dfy:"),
        ("p.dfy", "lemma p(x: int)\n  ensures x == @\n{}", "p.dfy:2:"),
        ("p.dfy", SQUARE + FALSE, "p.dfy:4:1: two lemmas with an empty body, 'square' and 'greater'"),
        ("p.dfy", "function f(x: int): int { x }", "no lemma with an empty body"),
        ("p.dfy", "", "no lemma with an empty body"),
        ("p.dfy", "\0\0", "NUL byte"),
        ("p.dfy", "a" * 1_000_001, "larger than 1,000,000 bytes"),
        ("p.jsonl", json.dumps({"dafny": SQUARE, "name": "../../x"}), "p.jsonl:1"),
        ("p.jsonl", "", "no problem in the file"),
        ("\x1b[31m.dfy", "lemma", "⟨U+001B⟩[31m.dfy:1:6"),
    ],
)
def test_a_bad_problem_is_one_clear_line(name: str, text: str, said: str, write: Write, tmp_path: Path) -> None:
    done = maxproof("formal", "baseline", write(name, text), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert said in line
    assert "\x1b" not in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["formal", "baseline", "."], "no .dfy file"),
        (["formal", "prove", "s.dfy", "--methods", "gided"], "did you mean guided?"),
        (["formal", "prove", "s.dfy", "--checker", "dafni"], "--checker"),
        (["formal", "prove", "s.dfy", "--memory", "3"], "--memory"),
        (["formal", "bench", "s.dfy", "--base-url", "http://127.0.0.1:9/v1"], "no method here asks a model"),
        (["formal", "bench", "s.dfy", "--paper", "--runs", "2"], "--runs: is fixed by --paper"),
        (["formal", "bench", "s.dfy", "--paper", "--methods", "empty"], "no method here asks a model"),
        (["prove", "s.dfy", "--forecast"], "--forecast"),
        (["prove", "s.dfy", "--id", "1"], "--id"),
        (["prove", "s.md", "--certify", "--base-url", "http://127.0.0.1:9/v1"], "--certify"),
        (["formal", "check", "s.dfy", "missing.dfy"], "missing.dfy"),
        (["formal", "checkers", "--bogus"], "--bogus"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], said: str, write: Write, tmp_path: Path) -> None:
    place = write("inner/s.dfy", SQUARE).parent
    if arguments[2] == ".":
        place = tmp_path / "empty"
        place.mkdir()
    done = maxproof(*arguments, cwd=place)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert said in line


def test_a_run_that_another_process_works_on_is_left_alone(write: Write, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert maxproof("prove", write("s.dfy", SQUARE), "--out", run).returncode == 0
    before = (run / "attempts.jsonl").read_bytes()
    with FileLock(run / "attempts.jsonl.lock"):
        done = maxproof("resume", run)
        assert maxproof("show", run).returncode == 0
    assert done.returncode == 2
    assert "in use by another process" in done.stderr
    assert (run / "attempts.jsonl").read_bytes() == before
    second = maxproof("prove", write("s.dfy", SQUARE), "--out", run)
    assert second.returncode == 2
    assert "already holds a run" in second.stderr


def test_a_run_that_was_killed_before_its_first_attempt_can_be_shown_and_resumed(write: Write, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = maxproof("prove", write("s.dfy", SQUARE), "--out", run)
    (run / "attempts.jsonl").write_bytes(b'{"format"')
    shown = maxproof("show", run)
    assert (shown.returncode, shown.stdout) == (0, "Nothing was tried on square\n")
    again = maxproof("resume", run)
    assert again.returncode == done.returncode == 0, again.stderr


def attempts(run: Path) -> list[bytes]:
    """The whole lines of attempts; none before there is a file."""
    try:
        return (run / "attempts.jsonl").read_bytes().splitlines(keepends=True)[1:]
    except FileNotFoundError:
        return []


def test_no_kill_loses_or_repeats_a_finished_attempt(write: Write, tmp_path: Path) -> None:
    for number in range(6):
        text = f"lemma k{number}(x: int, y: int)\n  ensures (x + y) * (x + y) == x * x + 2 * x * y + y * y\n{{}}\n"
        write(f"set/{number}.dfy", text)
    run, expected = tmp_path / "run", 6 * 30
    words = ["formal", "baseline", tmp_path / "set", "--runs", 30, "-j", 1, "--out", run]
    for end in ("kill", "terminate", "kill"):
        before = attempts(run)
        asked = command(*(words if not before else ["resume", run]), "--quiet")
        process = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        while len(attempts(run)) < len(before) + 15 and process.poll() is None:
            time.sleep(0.005)
        getattr(process, end)()
        _, told = process.communicate(timeout=60)
        assert process.returncode == (130 if end == "terminate" else -9), told.decode()
        assert end == "kill" or f"maxproof resume {run}" in told.decode()
        kept = attempts(run)
        assert kept[: len(before)] == before
        assert len(kept) < expected
    before = [line for line in attempts(run) if line.endswith(b"\n")]
    done = maxproof("resume", run, "--quiet", timeout=120)
    assert done.returncode == 0, done.stderr
    assert attempts(run)[: len(before)] == before
    found = Counter((a["problem"], a["seed"]) for a in map(json.loads, attempts(run)))
    assert len(found) == expected
    assert set(found.values()) == {1}


def test_progress_is_a_bar_on_a_terminal_only(small_set: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
    process = subprocess.Popen(
        command("formal", "baseline", small_set, "--out", tmp_path / "run"),
        stdout=subprocess.PIPE, stderr=theirs, env={**environment(), "TERM": "xterm", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while process.poll() is None:
        try:
            shown += os.read(ours, 65536)
        except (BlockingIOError, OSError):
            time.sleep(0.02)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert "proved" in shown.decode()
    assert "━" in shown.decode()
    assert b"\x1b" not in out
    piped = maxproof("formal", "baseline", small_set, "--out", tmp_path / "piped")
    assert "4 of 4 attempts" in piped.stderr
    assert "━" not in piped.stderr


def test_checkers_are_listed_and_a_wrong_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXPROOF_DAFNY", "/nowhere/dafny")
    done = maxproof("formal", "checkers", "--json")
    assert done.returncode == 0
    assert [tool["name"] for tool in json.loads(done.stdout)] == ["embedded"]
    assert "/nowhere/dafny" in done.stderr


@pytest.mark.skipif(shutil.which("dafny") is None, reason="Dafny is not installed")
def test_a_certified_proof_names_the_dafny(write: Write, tmp_path: Path) -> None:
    done = maxproof("prove", write("s.dfy", SQUARE), "--certify", "--out", tmp_path / "run", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Proved, certified by dafny-" in done.stdout
