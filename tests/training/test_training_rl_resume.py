"""A run of RL that ended early goes on bit for bit, in its own folder only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

from rl_fakes import SETTINGS, TASKS, Crash, Digits, crash_at, small_model  # noqa: E402

from maxproof.problems import InputError  # noqa: E402
from maxproof.training import rl  # noqa: E402
from maxproof.training.checkpoint import Checkpoint, digest, load_checkpoint, new_checkpoint  # noqa: E402
from maxproof.training.policy_update import update_policy  # noqa: E402
from maxproof.training.rl import train_rl  # noqa: E402
from maxproof.training.rollouts import read_rollouts  # noqa: E402
from maxproof.training.types import Reward, Rollout  # noqa: E402


@pytest.fixture
def start() -> Checkpoint:
    return small_model()


@pytest.mark.parametrize("step", [0, 1, 2, 5])
async def test_a_run_that_ended_in_a_reward_resumes_bit_for_bit(start: Checkpoint, tmp_path: Path, step: int) -> None:
    whole = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "whole")
    with pytest.raises(Crash):
        await train_rl(start, TASKS, crash_at(step), SETTINGS, tmp_path / "run")
    reward = Digits()
    resumed = await train_rl(start, TASKS, reward, SETTINGS, tmp_path / "run")
    assert digest(resumed) == digest(whole)
    assert min(found[0] for found in reward.asked) == step  # what was finished is not asked for again
    assert (tmp_path / "run/rollouts.jsonl").read_bytes() == (tmp_path / "whole/rollouts.jsonl").read_bytes()


@pytest.mark.parametrize("lost", [0, 100, 5000])
async def test_a_killed_run_repeats_steps_without_asking_for_their_rewards(
    start: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    """Killed in the optimiser of step 5: the last save is after step 4 (0-based 3), rollouts of step 4, 5 are there."""
    whole = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "whole")
    calls = 0

    def dying(*args: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise Crash
        return update_policy(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(rl, "update_policy", dying)
        with pytest.raises(Crash):
            await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "run")
    path = tmp_path / "run/rollouts.jsonl"
    path.write_bytes(path.read_bytes()[: path.stat().st_size - lost])
    kept = list(read_rollouts(path))
    reward = Digits()
    resumed = await train_rl(start, TASKS, reward, SETTINGS, tmp_path / "run")
    assert digest(resumed) == digest(whole)
    assert path.read_bytes() == (tmp_path / "whole/rollouts.jsonl").read_bytes()
    assert not {(r.step, r.group, r.sample) for r in kept} & set(reward.asked)
    assert bool(reward.asked) == bool(lost)


async def test_cancelling_keeps_the_finished_steps(start: Checkpoint, tmp_path: Path) -> None:
    begun = asyncio.Event()

    class Slow(Digits):
        async def __call__(self, rollouts: Sequence[Rollout]) -> list[Reward]:
            if rollouts[0].step == 3:
                begun.set()
                await asyncio.Event().wait()
            return await super().__call__(rollouts)

    work = asyncio.create_task(train_rl(start, TASKS, Slow(), SETTINGS, tmp_path))
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert load_checkpoint(tmp_path / "checkpoint").meta.step == 3


async def test_a_finished_run_is_only_read_and_can_be_prolonged(start: Checkpoint, tmp_path: Path) -> None:
    short = await train_rl(start, TASKS, Digits(), SETTINGS.model_copy(update={"steps": 4}), tmp_path / "run")
    reward = Digits()
    again = await train_rl(start, TASKS, reward, SETTINGS.model_copy(update={"steps": 4}), tmp_path / "run")
    assert digest(again) == digest(short)
    assert reward.batches == []
    longer = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "run")
    assert digest(longer) == digest(await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "whole"))


async def test_a_save_that_was_interrupted_between_its_renames_is_found(start: Checkpoint, tmp_path: Path) -> None:
    whole = await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path / "whole")
    with pytest.raises(Crash):
        await train_rl(start, TASKS, crash_at(4), SETTINGS, tmp_path / "run")
    os.rename(tmp_path / "run/checkpoint", tmp_path / "run/.checkpoint.old")
    reward = Digits()
    resumed = await train_rl(start, TASKS, reward, SETTINGS, tmp_path / "run")
    assert digest(resumed) == digest(whole)
    assert {batch[0].step for batch in reward.batches} == {4, 5}


async def test_a_checkpoint_without_a_state_is_refused(start: Checkpoint, tmp_path: Path) -> None:
    await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)
    os.remove(tmp_path / "checkpoint/state.json")
    with pytest.raises(InputError, match="no training can be resumed"):
        await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)


async def test_a_folder_of_another_run_is_refused(start: Checkpoint, tmp_path: Path) -> None:
    await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)
    with pytest.raises(InputError, match="other settings: group"):
        await train_rl(start, TASKS, Digits(), SETTINGS.model_copy(update={"group": 5}), tmp_path)
    with pytest.raises(InputError, match="other tasks"):
        await train_rl(start, TASKS[1:], Digits(), SETTINGS, tmp_path)
    other = new_checkpoint(start.model.shape, start.tokenizer, seed=2)
    with pytest.raises(InputError, match="another model"):
        await train_rl(other, TASKS, Digits(), SETTINGS, tmp_path)
    (tmp_path / "run.json").write_text("[[")
    with pytest.raises(InputError, match="not what a training run writes"):
        await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)


async def test_two_processes_can_not_train_in_one_folder(start: Checkpoint, tmp_path: Path) -> None:
    class Second(Digits):
        async def __call__(self, rollouts: Sequence[Rollout]) -> list[Reward]:
            with pytest.raises(InputError, match="is writing this run"):
                await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)
            return await super().__call__(rollouts)

    once = SETTINGS.model_copy(update={"steps": 1})
    await train_rl(start, TASKS, Second(), once, tmp_path)
    await train_rl(start, TASKS, Digits(), SETTINGS, tmp_path)  # it is free again
