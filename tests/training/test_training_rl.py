"""The RL loop: it learns, it is loud when nothing can be learned, and it loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from rl_fakes import SETTINGS, TASKS, Digits, small_model  # noqa: E402

from maxproof.problems import InputError  # noqa: E402
from maxproof.training import rl  # noqa: E402
from maxproof.training.checkpoint import Checkpoint, digest, load_checkpoint  # noqa: E402
from maxproof.training.policy_update import Answered, update_policy  # noqa: E402
from maxproof.training.rl import StepReport, draws, rollout_seed, train_rl  # noqa: E402
from maxproof.training.rollouts import read_rollouts  # noqa: E402
from maxproof.training.settings import SamplingSettings  # noqa: E402
from maxproof.training.types import Reward, Rollout  # noqa: E402


@pytest.fixture
def start() -> Checkpoint:
    return small_model()


async def test_it_learns_and_reports(start: Checkpoint, tmp_path: Path) -> None:
    before = digest(start)
    reports: list[StepReport] = []
    settings = SETTINGS.model_copy(update={"steps": 30, "prompts": 8, "group": 8})
    trained = await train_rl(start, TASKS, Digits(), settings, tmp_path / "run", observe=reports.append)
    means = [report.reward_mean for report in reports if report.reward_mean is not None]
    assert len(means) == 30
    assert sum(means[-5:]) / 5 > sum(means[:5]) / 5 + 0.1
    assert digest(start) == before
    assert trained.meta.parent == before
    assert (trained.meta.step, trained.meta.trained_by) == (30, "cispo")
    assert digest(load_checkpoint(tmp_path / "run" / "checkpoint")) == digest(trained)
    first = reports[0]
    assert (first.step, first.steps, first.groups, first.rollouts, first.scored) == (0, 30, 8, 64, 64)
    assert first.kept + sum(first.dropped.values()) == 8
    assert first.oracle_mean == 0.5
    assert 0 < first.length_mean <= first.length_max <= 6
    assert first.tokens == first.length_mean * 64
    assert not first.weights.all_one  # the second minibatch has moved
    assert first.warning == ""


async def test_every_rollout_is_recorded_in_order(start: Checkpoint, tmp_path: Path) -> None:
    reward = Digits()
    await train_rl(start, TASKS, reward, SETTINGS, tmp_path)
    records = list(read_rollouts(tmp_path / "rollouts.jsonl"))
    assert [(r.step, r.group, r.sample) for r in records] == reward.asked
    assert all(0 <= r.train_reward <= 1 for r in records if r.train_reward is not None)
    assert {r.problem for r in records} <= {task.id for task in TASKS}


async def test_tasks_come_in_their_turn_whatever_the_batches_are(start: Checkpoint, tmp_path: Path) -> None:
    reward = Digits()
    await train_rl(start, TASKS, reward, SETTINGS, tmp_path)
    seen = [found.task for batch in reward.batches for found in batch if found.sample == 0]
    assert seen == [TASKS[index].id for index in draws(len(TASKS), SETTINGS.seed, range(len(seen)))]


async def test_the_same_seed_gives_the_same_weights_and_another_seed_others(start: Checkpoint, tmp_path: Path) -> None:
    one = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "a")
    same = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "b")
    other = await train_rl(start, TASKS, Digits(), SETTINGS.model_copy(update={"seed": 4}), tmp_path / "c")
    assert digest(one) == digest(same)
    assert digest(one) != digest(other)


async def test_rewards_without_spread_stop_the_run_with_counts(start: Checkpoint, tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"max_empty_batches": 3})
    with pytest.raises(InputError) as caught:
        await train_rl(start, TASKS, Digits(lambda _: 0.25), settings, tmp_path)
    # 4 prompts, then twice as many: (4 + 8 + 8) groups of 4
    assert "3 batches in a row had no usable group: 80 rollouts scored, 0 not scored" in str(caught.value)
    assert "20 without spread, 0 with fewer than two scored" in str(caught.value)
    assert "the mean reward is 0.250" in str(caught.value)
    assert load_checkpoint(tmp_path / "checkpoint").meta.step == 3


async def test_rewards_that_are_not_scored_stop_the_run_and_teach_nothing(start: Checkpoint, tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"max_empty_batches": 2})
    with pytest.raises(InputError) as caught:
        await train_rl(start, TASKS, Digits(lambda _: None), settings, tmp_path)
    assert "0 rollouts scored, 48 not scored" in str(caught.value)
    assert "0 without spread, 12 with fewer than two scored" in str(caught.value)
    weights = load_checkpoint(tmp_path / "checkpoint").model.state_dict()
    assert all(torch.equal(value, start.model.state_dict()[name]) for name, value in weights.items())


async def test_one_usable_batch_ends_the_count_of_empty_ones(start: Checkpoint, tmp_path: Path) -> None:
    plain = Digits()
    settings = SETTINGS.model_copy(update={"max_empty_batches": 2})
    reward = Digits(lambda rollout: plain.value(rollout) if rollout.step % 2 else 0.0)
    trained = await train_rl(start, TASKS, reward, settings, tmp_path)
    assert trained.meta.step == 6


async def test_masked_rollouts_are_not_trained_on(
    start: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def spy(model: object, optimizer: object, groups: Sequence[Sequence[Answered]], settings: object) -> object:
        seen.extend(len(group) for group in groups)
        return update_policy(model, optimizer, groups, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(rl, "update_policy", spy)
    plain = Digits()
    reward = Digits(lambda rollout: None if rollout.sample == 2 else plain.value(rollout))
    await train_rl(start, TASKS, reward, SETTINGS, tmp_path)
    assert set(seen) == {3}


async def test_dropped_groups_are_made_up_for_by_more_prompts_up_to_twice_as_many(
    start: Checkpoint, tmp_path: Path
) -> None:
    reports: list[StepReport] = []
    plain = Digits()
    half = Digits(lambda rollout: plain.value(rollout) if rollout.group % 4 == 0 else 0.5)
    settings = SETTINGS.model_copy(update={"steps": 3, "std_threshold": 0.0})
    await train_rl(start, TASKS, half, settings, tmp_path, observe=reports.append)
    assert [report.groups for report in reports] == [4, 8, 8]
    assert reports[1].kept <= 2
    assert reports[1].dropped["no_spread"] >= 6


@pytest.mark.parametrize("one", [{"minibatches": 1}, {"prompts": 1}])  # one group is one minibatch
async def test_a_ratio_of_one_is_told(start: Checkpoint, tmp_path: Path, one: dict[str, int]) -> None:
    reports: list[StepReport] = []
    settings = SETTINGS.model_copy(update=one)
    await train_rl(start, TASKS, Digits(), settings, tmp_path, observe=reports.append)
    assert "identically 1" in reports[0].warning
    assert all(report.weights.all_one for report in reports)
    assert [report.warning for report in reports[1:]] == [""] * 5


async def test_a_loss_that_is_no_number_stops_and_the_last_checkpoint_stays(
    start: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned(model: torch.nn.Module, *rest: object) -> object:
        calls.append(1)
        if len(calls) == 4:
            with torch.no_grad():
                next(model.parameters()).fill_(torch.nan)
        return update_policy(model, *rest)  # type: ignore[arg-type]

    calls: list[int] = []
    monkeypatch.setattr(rl, "update_policy", poisoned)
    with pytest.raises(InputError, match="training broke at step 4: loss nan") as caught:
        await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)
    assert "the state after step 2 stays" in str(caught.value)
    assert load_checkpoint(tmp_path / "checkpoint").meta.step == 2


async def test_the_best_model_by_validation_is_kept(start: Checkpoint, tmp_path: Path) -> None:
    values = iter([0.1, 0.5, 0.3, 0.4])
    asked: list[int] = []
    reports: list[StepReport] = []

    def validate(checkpoint: Checkpoint) -> float:
        asked.append(checkpoint.meta.step)
        return next(values)

    await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path, observe=reports.append, validate=validate)
    assert asked == [0, 2, 4, 6]
    assert load_checkpoint(tmp_path / "best").meta.step == 2
    assert [report.validation for report in reports] == [None, 0.5, None, 0.3, None, 0.4]


@pytest.mark.parametrize("value", [1.5, float("nan")])
async def test_a_reward_out_of_range_is_refused(start: Checkpoint, tmp_path: Path, value: float) -> None:
    with pytest.raises(InputError, match="train_reward"):
        await train_rl(start, TASKS, Digits(lambda _: value), SETTINGS, tmp_path)


async def test_a_reward_function_that_drops_rollouts_is_refused(start: Checkpoint, tmp_path: Path) -> None:
    async def short(rollouts: Sequence[Rollout]) -> list[Reward]:
        return [Reward(0.0)]

    with pytest.raises(InputError, match="1 rewards for 16 rollouts"):
        await train_rl(start, TASKS, short, SETTINGS, tmp_path)


async def test_what_can_not_learn_is_refused(start: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no task"):
        await train_rl(start, [], Digits(), SETTINGS, tmp_path)
    greedy = SETTINGS.model_copy(update={"sampling": SamplingSettings(temperature=0, max_new_tokens=4)})
    with pytest.raises(InputError, match="greedy"):
        await train_rl(start, TASKS, Digits(), greedy, tmp_path)
    with pytest.raises(InputError, match="no spread"):
        await train_rl(start, TASKS, Digits(), SETTINGS.model_copy(update={"group": 1}), tmp_path)
    assert os.listdir(tmp_path) == []


def test_tasks_are_drawn_by_permutations_that_do_not_depend_on_the_batches() -> None:
    whole = draws(5, 1, range(15))
    assert [sorted(whole[start : start + 5]) for start in (0, 5, 10)] == [list(range(5))] * 3
    assert whole[:5] != whole[5:10]
    assert draws(5, 1, range(3, 11)) == whole[3:11]
    assert draws(5, 2, range(15)) != whole
    assert draws(1, 0, range(3)) == [0, 0, 0]


def test_rollout_seeds_differ() -> None:
    seeds = {rollout_seed(s, t, g, m) for s in range(2) for t in range(12) for g in range(12) for m in range(12)}
    assert len(seeds) == 2 * 12**3
    assert all(0 <= seed < 2**63 for seed in seeds)


async def test_run_json_has_the_settings(start: Checkpoint, tmp_path: Path) -> None:
    await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["settings"]["weight_high"] == 5.0
    assert run["start"] == digest(start)
