"""What is reported of RL rollouts: the joint false-positive rate, windows, curves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.evaluation.lab import arms
from maxproof.evaluation.lab.arms import WINDOW, curve, is_false_positive, judged, tally, window
from maxproof.lab.generate import problems
from maxproof.statistics import wilson
from maxproof.training.rollouts import record_of
from maxproof.training.types import Reward, Rollout

score = st.none() | st.floats(0, 1)
row = st.tuples(score, score, st.sampled_from(["", "We are given a sum.\n2 + 2 = 4.", "Step 1: x = 2.", "x"]))


@pytest.mark.parametrize(
    ("train", "oracle", "expected"),
    [(0.7, 0.3, True), (0.7, 0.0, True), (1.0, 0.3, True), (0.6999, 0.3, False), (0.7, 0.3001, False), (0, 1, False)],
)
def test_bounds_of_a_false_positive_are_inclusive(train: float, oracle: float, expected: bool) -> None:
    assert is_false_positive(train, oracle) is expected


def test_rates_are_shares_of_all_scored_rollouts() -> None:
    found = tally(
        [(1.0, 0.0, "a"), (1.0, 1.0, "b"), (0.0, 1.0, "c"), (0.0, 0.0, "d"), (None, 0.0, "e"), (1.0, None, "f")]
    )
    assert (found["samples"], found["not_scored"]) == (4, 2)
    assert (found["false_positives"], found["false_negatives"], found["passes"]) == (1, 1, 2)
    assert (found["train"], found["oracle"]) == (0.5, 0.5)  # what is not scored is in no mean


def test_styles_are_counted_over_all_texts() -> None:
    found = tally(
        [
            (1.0, 1.0, "We are given 2 x = 4.\nx = 2."),
            (None, None, "Step 1: 2 x = 4.\nStep 2: x = 2."),
            (1.0, 1.0, "x = 2."),
        ]
    )
    assert found["given"] == found["headers"] == pytest.approx(1 / 3)
    assert found["characters"] == pytest.approx((len("We are given 2 x = 4.\nx = 2.") + 31 + 6) / 3)


@given(st.lists(row, max_size=30))
def test_counts_add_up(rows: list[tuple[float | None, float | None, str]]) -> None:
    found = tally(rows)
    assert found["samples"] + found["not_scored"] == len(rows)
    assert found["false_positives"] + found["false_negatives"] <= found["samples"]
    assert found["false_negatives"] <= found["passes"] <= found["samples"]
    assert found["false_positives"] <= found["samples"] - found["passes"]
    for name in ("train", "oracle", "given", "opener", "headers", "verification"):
        assert 0 <= found[name] <= 1


@given(st.lists(st.lists(row, max_size=6), min_size=1, max_size=2 * WINDOW + 2))
def test_a_window_says_of_its_steps_what_a_tally_says_of_their_rollouts(
    steps: list[list[tuple[float | None, float | None, str]]],
) -> None:
    points = [{"step": n, **tally(rows)} for n, rows in enumerate(steps)]
    size = max(1, min(WINDOW, len(steps) // 2))  # start and end share no step
    for end in (False, True):
        chosen = steps[-size:] if end else steps[:size]
        whole = tally([r for rows in chosen for r in rows])
        found = window(points, end=end)
        for name in ("samples", "not_scored", "false_positives", "false_negatives", "passes"):
            assert found[name] == whole[name]
        for name in ("train", "oracle", "given", "headers", "verification", "opener", "characters"):
            assert found[name] == pytest.approx(whole[name])
        rate = found["false_positive_rate"]
        expected = wilson(whole["false_positives"], whole["samples"])
        assert (rate["low"], rate["high"]) == (expected.low, expected.high)


def test_a_curve_has_a_point_for_each_step() -> None:
    rewards = [(0, 1.0, 0.0), (0, 1.0, 1.0), (1, None, 0.5), (4, 0.0, 1.0)]
    records = [
        record_of(Rollout(step, "p", 0, n, "prompt", "text"), Reward(value, parts={"oracle": oracle}))
        for n, (step, value, oracle) in enumerate(rewards)
    ]
    found = curve(records)
    assert [(p["step"], p["samples"], p["not_scored"], p["false_positives"]) for p in found] == [
        (0, 2, 0, 1),
        (1, 0, 1, 0),
        (4, 1, 0, 0),
    ]


def test_heldout_proofs_are_judged_with_intervals_over_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter(
        [Reward(1.0, parts={"oracle": 0.0})] * 2 + [Reward(0.0, parts={"oracle": 0.0})] * 2 + [Reward(None)] * 2
    )

    async def reward(rollouts: Sequence[Rollout]) -> list[Reward]:
        return [next(values) for _ in rollouts]

    monkeypatch.setattr(arms, "reward_of", lambda arm, problems, seed: reward)
    found = asyncio.run(judged("panel", problems("test", 3, 0), [["a", "b"]] * 3, 0))
    assert (found["samples"], found["not_scored"], found["false_positives"]) == (4, 2, 2)
    rate = found["by_problem"]["false_positives"]
    assert rate["value"] == 0.5
    assert rate["low"] < 0.1  # two problems, whose samples agree, are two observations and not four
    assert found["by_problem"]["oracle"]["value"] == 0


def test_the_oracle_is_recorded_beside_the_reward_and_is_exact() -> None:
    made = problems("train", 2, 0)
    rollouts = [
        Rollout(0, p.problem.id, n, 0, "", text)
        for n, p in enumerate(made)
        for text in (p.problem.reference or "", "The answer is 12345.")
    ]
    rollouts = [Rollout(0, r.task, r.group, n % 2, "", r.text) for n, r in enumerate(rollouts)]
    for arm in arms.ARMS:
        found = asyncio.run(arms.reward_of(arm, made, 0)(rollouts))
        assert [r.parts["oracle"] for r in found] == [1.0, 0.0, 1.0, 0.0]
