"""`maxproof train prover`: a run in the lab, one with judges over HTTP and a journal, one line for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

torch = pytest.importorskip("torch", reason="needs the extra train")

from maxproof.cli import train_watch  # noqa: E402
from maxproof.cli.train import train_app  # noqa: E402
from maxproof.cli.train_settings import split_assignments, train_settings  # noqa: E402
from maxproof.lab.generate import problems  # noqa: E402
from maxproof.problems import InputError  # noqa: E402
from maxproof.training.checkpoint import load_checkpoint, new_checkpoint, save_checkpoint  # noqa: E402
from maxproof.training.rollouts import read_rollouts  # noqa: E402
from maxproof.training.settings import ModelShape  # noqa: E402
from maxproof.training.tokenizer import build_tokenizer  # noqa: E402

app = typer.Typer()
app.add_typer(train_app, name="train")
SMALL = ("--steps", 2, "--prompts", 2, "--group", 4, "--lab", "train:12:0")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model that says anything with equal chance: about half of 300 tokens come to an end."""
    path = tmp_path_factory.mktemp("base") / "base"
    made = problems("train", 12, 0)
    texts = (f"{found.problem.statement}\n{found.problem.reference}" for found in made)
    shape = ModelShape(layers=1, width=16, heads=2, hidden=16, context=384)
    model = new_checkpoint(shape, build_tokenizer(texts), seed=0)
    with torch.no_grad():
        model.model.model.norm.weight.zero_()
    save_checkpoint(path, model)
    return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Judges that see nothing wrong, then everything, in turn."""
    good = "<assessment>well</assessment><errors>none</errors><verdict>no_errors</verdict>"
    bad = (
        '<assessment>no</assessment><errors>1. Location: "all"\nDescription: nothing is shown</errors>'
        "<verdict>fundamentally_wrong</verdict>"
    )
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"verify": [good, good, good, good, bad]}))
    command = [sys.executable, "-m", "maxproof.cli.main", "mock", "--port", "0", "--replies", str(replies)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["train", "prover", *map(str, arguments)])


def asked(server: str) -> int:
    with urllib.request.urlopen(server.removesuffix("/v1") + "/stats", timeout=10) as reply:
        return int(json.load(reply)["samples"])


def test_a_run_in_the_lab_and_the_same_command_again(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = run("--model", base, "--out", out, *SMALL, "--judges", "lab-panel", "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["steps"], value["first"]["step"], value["last"]["step"]) == (2, 0, 1)
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["step"] for event in events] == [0, 1]
    assert {"mean_ratio", "share_above", "all_one"} <= events[0]["weights"].keys()
    assert load_checkpoint(out / "checkpoint").meta.step == 2
    records = list(read_rollouts(out / "rollouts.jsonl"))
    assert all(record.oracle is not None and record.is_proof is not None for record in records)
    again = run("--model", base, "--out", out, *SMALL, "--judges", "lab-panel")
    assert again.exit_code == 0
    assert "2 steps done" in again.stdout


def test_a_budget_ends_the_run_which_goes_on_without_paying_twice(base: Path, tmp_path: Path, server: str) -> None:
    out = tmp_path / "run"
    options = ("--model", base, "--out", out, *SMALL, "--output-tokens", 300, "--base-url", server)
    stopped = run(*options, "--max-calls", 7)
    assert stopped.exit_code == 5, stopped.output
    assert "Stopped: " in stopped.stdout
    assert asked(server) == 7
    done = run(*options)
    assert done.exit_code == 0, done.output
    records = list(read_rollouts(out / "rollouts.jsonl"))
    judged = [record for record in records if record.judges]
    assert len(judged) >= 4
    assert all(len(record.judges) == 3 and record.train_reward is not None for record in judged)
    assert asked(server) == 3 * len(judged)
    assert (out / "journal.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--lab", "train:5"), 2, "--lab: expected SPLIT:COUNT:SEED"),
        (("--lab", "train:x:0"), 2, "--lab: expected SPLIT:COUNT:SEED"),
        (("--lab", "trian:5:0"), 2, "did you mean train?"),
        (("--lab", "train:0:0"), 2, "no task"),
        ((), 2, "no problems to train on"),
        (("--lab", "train:5:0", "--problems", "p.jsonl"), 2, "expected either"),
        (("--problems", "nowhere.jsonl"), 2, "nowhere.jsonl: no such file"),
        (("--lab", "train:5:0", "--group", 1), 2, "train.group: "),
        (("--lab", "train:5:0", "--set", "train.gruop=4"), 2, "did you mean group?"),
        (("--lab", "train:5:0", "--set", "train.group=many"), 2, "group: expected a number"),
        (("--lab", "train:5:0", "--set", "train.weight_low=9"), 2, "weight_low = 9.0 is not below"),
    ],
)
def test_bad_input_is_one_clear_line(
    base: Path, tmp_path: Path, options: tuple[object, ...], code: int, told: str
) -> None:
    done = run("--model", base, "--out", tmp_path / "run", "--judges", "lab-panel", *options)
    assert done.exit_code == code
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_no_checkpoint_no_judges_and_another_run_are_told(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = run("--model", tmp_path, "--out", "run", *SMALL, "--judges", "lab-panel")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert run("--model", base, "--out", "run", *SMALL).exit_code == 4
    assert run("--model", base, "--out", "run", *SMALL, "--judges", "lab-biased").exit_code == 0
    other = run("--model", base, "--out", "run", *SMALL, "--judges", "lab-biased", "--seed", 5)
    assert other.exit_code == 2
    assert "other settings" in other.stderr


def test_settings_come_from_the_file_and_flags_beat_it(tmp_path: Path) -> None:
    path = tmp_path / "maxproof.toml"
    path.write_text("[train]\nsteps = 7\ngroup = 4\n[train.sampling]\nmax_new_tokens = 50\ntemperature = 0.5\n")
    settings = train_settings(path, {"group": 6, "sampling.max_new_tokens": 60, "prompts": None})
    assert (settings.steps, settings.group, settings.prompts) == (7, 6, 16)
    assert (settings.sampling.max_new_tokens, settings.sampling.temperature) == (60, 0.5)


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("[train]\nsteps = 7\ngroup = 1\n", 3, "train.group"),
        ('[train]\nsteps = "many"\n', 2, "train.steps"),
        ("[train]\nstep = 1\n", 2, "train.step"),
        ("[train]\n[train.sampling]\ntop_k = 1\n", 3, "train.sampling.top_k"),
        ("train = 3\n", 1, "train"),
    ],
)
def test_a_fault_in_the_file_is_told_with_its_line(tmp_path: Path, text: str, line: int, field: str) -> None:
    path = tmp_path / "maxproof.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        train_settings(path, {})
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(path), line, field)


def test_assignments_of_train_are_taken_out() -> None:
    found, others = split_assignments(["train.sampling.temperature=0.5", "budget.max_calls=3"])
    assert found == {"sampling.temperature": 0.5}
    assert others == ["budget.max_calls=3"]


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_comes_every_30_s_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    now = 0.0
    monkeypatch.setattr(train_watch.time, "monotonic", lambda: now)
    watch = train_watch.Watch(as_json=False, quiet=quiet)
    for step in range(1, 11):
        watch.sft(step, 10, 1.0, 100.0, 60.0)
        now += 12.0
    watch.note("measures")
    told = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert told == ([] if quiet else ["sft 1/10", "sft 4/10", "sft 7/10", "sft 10/10", "measures"])
