"""The rollout file: exact round trip, one clear line for a bad row, and what a crash leaves behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.problems import InputError
from maxproof.training.rollouts import RolloutLog, RolloutRecord, read_rollouts, record_of
from maxproof.training.types import Reward, Rollout
from maxproof.verifier import JudgeView, LocatedError, Normalisation, ScoreState, Verdict
from maxproof.verifier.aggregate import aggregate, filtered
from maxproof.verifier.types import BadCaseHit

ROLLOUT = Rollout(step=3, task="p1", group=2, sample=1, prompt="<prove> x <sep>", text="a proof", finished=True)
FREE = JudgeView(
    "free", "free", ScoreState.FAILED, 1.0, Verdict.HAS_ERRORS, (LocatedError("line 2", "2 + 2 is 4"),), "line 2 is off"
)
RUBRIC = JudgeView("rubric-1", "rubric", ScoreState.PASSED, 7.0, Verdict.NO_ERRORS, (), "all well")
LOST = JudgeView("rubric-2", "rubric", ScoreState.NOT_SCORED, None, None, reason="timeout")


def records(step: int, count: int = 3, *, text: str = "t") -> list[RolloutRecord]:
    return [record_of(replace(ROLLOUT, step=step, sample=k, text=f"{text} {k}"), Reward(k / 4)) for k in range(count)]


def test_a_record_has_the_min_judge_and_every_score() -> None:
    verification = aggregate(0, [RUBRIC, FREE, LOST], Normalisation("rule"))
    reward = Reward(verification.score, verification, {"oracle": 0.5, "is_proof": 0.0, "length": 0.25})
    record = record_of(replace(ROLLOUT, text="<think>hm</think>a proof"), reward)
    assert (record.text, record.thinking) == ("a proof", "hm")
    assert record.train_reward == pytest.approx(1 / 7)
    assert record.judges == {"rubric-1": 1.0, "free": pytest.approx(1 / 7), "rubric-2": None}
    assert (record.judge, record.points, record.verdict) == ("free", 1.0, Verdict.HAS_ERRORS)
    assert [(error.location, error.description) for error in record.errors] == [("line 2", "2 + 2 is 4")]
    assert record.assessment == "line 2 is off"
    assert "2 + 2 is 4" in record.critique
    assert (record.oracle, record.is_proof, record.parts) == (0.5, False, {"length": 0.25})
    assert (record.state, record.normaliser) == (ScoreState.FAILED, "rule")


def test_not_scored_is_null_never_zero() -> None:
    verification = aggregate(0, [RUBRIC, LOST])
    record = record_of(ROLLOUT, Reward(verification.score, verification))
    assert (record.train_reward, record.points, record.verdict) == (None, None, None)
    assert (record.state, record.judge, record.critique) == (ScoreState.NOT_SCORED, "", "")


def test_a_filtered_rollout_keeps_the_evidence() -> None:
    verification = filtered(0, [BadCaseHit("over_length", "truncated", "cut after 3 characters")])
    record = record_of(replace(ROLLOUT, finished=False), Reward(verification.score, verification))
    assert (record.train_reward, record.bad_cases, record.judges, record.judge) == (0.0, ("truncated",), {}, "")
    assert record.finished is False
    assert "cut after 3 characters" in record.critique


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan")])
def test_a_reward_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="train_reward"):
        record_of(ROLLOUT, Reward(value))


@given(
    text=st.text(st.characters(codec=None)),
    value=st.none() | st.floats(0, 1),
    task=st.text(st.characters(codec="utf-8")),
)
def test_records_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, text: str, value: float | None, task: str
) -> None:
    path = tmp_path_factory.mktemp("rollouts") / "rollouts.jsonl"
    record = record_of(replace(ROLLOUT, text=text, task=task), Reward(value, None, {"oracle": 1 / 3}))
    RolloutLog(path, 0).write(3, [record])
    assert list(read_rollouts(path)) == [record]


def test_a_torn_last_line_is_no_record_and_is_cut_off_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    RolloutLog(path, 0).write(0, records(0))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert list(read_rollouts(path)) == records(0)
    RolloutLog(path, 1).write(1, records(1))
    assert list(read_rollouts(path)) == [*records(0), *records(1)]


def test_a_bad_line_is_named_with_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    RolloutLog(path, 0).write(0, records(0))
    good = path.read_text().splitlines()[0]
    bad = json.loads(good) | {"train_reward": "high"}
    path.write_text(f"{good}\n{json.dumps(bad)}\n")
    with pytest.raises(InputError) as caught:
        list(read_rollouts(path))
    assert str(caught.value).startswith(f"{path}:2: train_reward: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", "[" * 100_000, "{}", '{"a": 1e999}', "1" * 100_000, "\x01", '{"problem": "\\ud800"}']
)
def test_hostile_lines_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError) as caught:
        list(read_rollouts(path))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "change",
    [{"train_reward": 2}, {"points": 8}, {"extra": 1}, {"state": "not_scored"}, {"step": -1}, {"oracle": True}],
)
def test_values_out_of_range_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "rollouts.jsonl"
    RolloutLog(path, 0).write(0, records(0))
    line = json.loads(path.read_text().splitlines()[1]) | change
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(InputError):
        list(read_rollouts(path))


def test_a_missing_field_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    RolloutLog(path, 0).write(0, records(0))
    line = json.loads(path.read_text().splitlines()[0])
    del line["oracle"]
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(InputError, match="oracle"):
        list(read_rollouts(path))


def test_steps_done_again_alike_stay_and_are_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    log = RolloutLog(path, 0)
    for step in range(4):
        log.write(step, records(step))
    before = path.read_bytes()
    again = RolloutLog(path, 2)
    assert again.recorded(1) == ()
    assert again.recorded(2) == records(2)
    again.write(2, records(2))
    assert path.read_bytes() == before
    again.write(3, records(3))
    again.write(4, records(4))
    assert list(read_rollouts(path)) == [record for step in range(5) for record in records(step)]


def test_a_step_that_comes_out_otherwise_cuts_off_what_followed(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    log = RolloutLog(path, 0)
    for step in range(4):
        log.write(step, records(step))
    again = RolloutLog(path, 1)
    again.write(1, records(1))
    again.write(2, records(2, text="other"))
    assert again.recorded(3) == ()
    again.write(3, records(3, text="other"))
    expected = [*records(0), *records(1), *records(2, text="other"), *records(3, text="other")]
    assert list(read_rollouts(path)) == expected


def test_a_step_that_was_torn_in_the_middle_is_completed(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    log = RolloutLog(path, 0)
    log.write(0, records(0))
    log.write(1, records(1))
    path.write_bytes(path.read_bytes()[:-10])
    again = RolloutLog(path, 1)
    assert again.recorded(1) == records(1)[:2]
    again.write(1, records(1))
    assert list(read_rollouts(path)) == [*records(0), *records(1)]


def test_steps_out_of_order_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    RolloutLog(path, 0).write(5, records(5))
    RolloutLog(path, 9).write(3, records(3))
    with pytest.raises(InputError, match="step 3 after 5"):
        RolloutLog(path, 0)
