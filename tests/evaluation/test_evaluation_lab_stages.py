"""The runner of the lab study: order, resuming, failures, remaining time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from lab_stage_fakes import read_order

from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import (
    RESULT,
    Place,
    Stage,
    StageState,
    read_result,
    remaining_s,
    run_stage,
    run_stages,
    stage_folder,
    states,
    write_json,
)
from maxproof.problems import InputError

FAKES = "lab_stage_fakes"
PROFILE = LabProfile(seed=5)


def stage(name: str, *needs: str, run: str = "note", argument: str = "") -> Stage:
    return Stage(name, f"{FAKES}:{run}", needs, 1.0, argument)


def run_all(folder: Path, stages: Sequence[Stage], workers: int = 1) -> list[Sequence[StageState]]:
    seen: list[Sequence[StageState]] = []
    run_stages(folder, stages, PROFILE, workers, seen.append, every_s=0.05)
    return seen


def test_needs_come_first_and_what_is_done_is_skipped(tmp_path: Path) -> None:
    stages = [stage("base"), stage("late", "side", "base"), stage("side", "base")]
    seen = run_all(tmp_path, stages)
    assert read_order(tmp_path) == ["base", "side", "late"]
    assert read_result(tmp_path, "late") is not None
    assert read_result(tmp_path, "late")["from"] == {"side": 1, "base": 1}  # type: ignore[index]
    assert read_result(tmp_path, "base")["seed"] == 5  # type: ignore[index]
    assert [s.state for s in seen[-1]] == ["done"] * 3

    (stage_folder(tmp_path, "late") / RESULT).unlink()
    run_all(tmp_path, stages)
    assert read_order(tmp_path) == ["base", "side", "late", "late"]


def test_results_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    stages = [
        stage("a", run="add", argument="1"),
        stage("b", run="add", argument="10"),
        stage("c", "a", "b", run="add", argument="100"),
    ]
    values = []
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        run_all(folder, stages, workers)
        values.append([(read_result(folder, s.name) or {})["value"] for s in stages])
    assert values[0] == values[1] == [6, 15, 126]


def test_a_failure_lets_running_stages_end_and_starts_no_other(tmp_path: Path) -> None:
    stages = [stage("failing", run="fail"), stage("running", run="slow"), stage("next")]
    with pytest.raises(InputError) as caught:
        run_all(tmp_path, stages, 2)
    assert str(caught.value) == "settings:3: is not a number (write one)"
    assert (caught.value.file, caught.value.line, caught.value.hint) == ("settings", 3, "write one")
    assert read_result(tmp_path, "running") is not None
    assert read_result(tmp_path, "failing") is None
    assert not (tmp_path / "order.txt").exists()


def test_an_error_that_cannot_be_sent_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="stage odd: CallFailed: lab: too late"):
        run_all(tmp_path, [stage("odd", run="fail_strangely")])


def test_a_killed_worker_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a worker process was killed, perhaps for memory") as caught:
        run_all(tmp_path, [stage("dying", run="die"), stage("next", "dying")])
    assert caught.value.hint == "run the same command again"
    assert read_result(tmp_path, "dying") is None


@pytest.mark.parametrize("text", ["{", "[1]", "\x00", '{"value": '])
def test_a_damaged_result_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = stage_folder(tmp_path, "base") / RESULT
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is damaged") as caught:
        run_all(tmp_path, [stage("base")])
    assert caught.value.file == str(path)
    assert "\n" not in str(caught.value)


def test_a_stage_that_needs_what_is_not_done_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stage base is not done"):
        Place(tmp_path, stage("next", "base")).result("base")


def test_a_stage_that_was_stopped_adds_up_its_work(tmp_path: Path) -> None:
    one = stage("base")
    write_json(stage_folder(tmp_path, "base") / "progress.json", {"share": 0.5, "text": "half", "seconds": 100.0})
    (state,) = states(tmp_path, [one], {"base"})
    assert (state.state, state.share, state.text, state.seconds) == ("running", 0.5, "half", 100.0)
    run_stage(tmp_path, one, PROFILE)
    found = read_result(tmp_path, "base") or {}
    assert 100 <= found["seconds"] < 130


def test_a_result_says_what_the_stage_cost(tmp_path: Path) -> None:
    before = time.time()
    run_stage(tmp_path, stage("base"), PROFILE)
    found = read_result(tmp_path, "base") or {}
    assert before - 1 <= found["started"] <= found["ended"] <= time.time() + 1
    assert 1 <= found["peak_mib_before"] <= found["peak_mib"] < 2**20


@pytest.mark.parametrize(("kept", "started"), [({"started": 12.5}, 12.5), ({}, None)])
def test_a_stage_began_when_its_first_session_did(
    tmp_path: Path, kept: dict[str, float], started: float | None
) -> None:
    progress = {"share": 0.5, "text": "half", "seconds": 100.0, **kept}
    write_json(stage_folder(tmp_path, "failing") / "progress.json", progress)
    with pytest.raises(InputError):
        run_stage(tmp_path, stage("failing", run="fail"), PROFILE)
    assert json.loads((stage_folder(tmp_path, "failing") / "progress.json").read_text()) == {
        **progress,
        "started": started,
    }
    run_stage(tmp_path, stage("failing"), PROFILE)
    assert (read_result(tmp_path, "failing") or {})["started"] == started


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_damaged_progress_is_none(tmp_path: Path, text: str) -> None:
    path = stage_folder(tmp_path, "base") / "progress.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    (state,) = states(tmp_path, [stage("base")], set())
    assert (state.state, state.share, state.seconds) == ("waiting", 0.0, 0.0)


def test_what_is_written_is_there_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "value.json"
    write_json(path, {"a": "ü"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "ü"}
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "ü"}


def state_of(name: str, share: float, seconds: float) -> StageState:
    return StageState(name, "running", share, "", seconds)


def test_remaining_time_follows_weights_speed_and_the_longest_path() -> None:
    chain = [Stage("a", "", (), 100), Stage("b", "", ("a",), 100), Stage("c", "", ("b",), 200)]
    assert remaining_s(chain, [state_of("a", 0, 0), state_of("b", 0, 0), state_of("c", 0, 0)], 2) is None
    now = [state_of("a", 1, 50), state_of("b", 0, 0), state_of("c", 0, 0)]
    assert remaining_s(chain, now, 1) == pytest.approx(150)  # twice as fast as the weights say
    assert remaining_s(chain, now, 8) == pytest.approx(150)  # a chain is no faster with more workers
    wide = [Stage("a", "", (), 100), Stage("b", "", ("a",), 100), Stage("c", "", ("a",), 100)]
    now = [state_of("a", 1, 100), state_of("b", 0, 0), state_of("c", 0, 0)]
    assert remaining_s(wide, now, 1) == pytest.approx(200)
    assert remaining_s(wide, now, 2) == pytest.approx(100)
    assert remaining_s(wide, [state_of(n, 1, 10) for n in "abc"], 2) == 0


def test_no_worker_outlives_a_killed_run(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from maxproof.evaluation.lab.profile import LabProfile\n"
        "from maxproof.evaluation.lab.stages import Stage, run_stages\n"
        "if __name__ == '__main__':\n"
        "    stages = [Stage('a', 'lab_stage_fakes:linger')]\n"
        "    run_stages(Path(sys.argv[1]), stages, LabProfile(), 1, lambda now: None)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    run = subprocess.Popen([sys.executable, str(script), str(tmp_path), str(Path(__file__).parent)])
    try:
        worker = int(_wait_for(tmp_path / "pid"))
    finally:
        run.kill()
        run.wait()
    deadline = time.monotonic() + 60
    while _alive(worker):
        assert time.monotonic() < deadline, "the worker goes on without its run"
        time.sleep(0.1)


def _wait_for(path: Path) -> str:
    deadline = time.monotonic() + 60
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline, "the stage did not begin"
        time.sleep(0.1)
    return path.read_text()


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
