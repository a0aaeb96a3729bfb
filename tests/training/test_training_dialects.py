"""One specification in six dialects: each trainer's own clipping rule, applied to the emitted numbers, gives ours."""

from __future__ import annotations

import json
import math
import re
import shlex
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.problems import InputError
from maxproof.training.dialects.spec import CispoSpec, DialectConfig, Launch, spec_of
from maxproof.training.dialects.text import hydra_overrides, yaml_text
from maxproof.training.dialects.trainers import TRAINERS, translator
from maxproof.training.settings import CispoSettings, SamplingSettings

RATIOS = (0.1, 1.0, 3.0, 9.0)
LAUNCH = Launch("some/model", "prompts and more.parquet", gpus=2, nodes=2, reward_url="http://rewards:8300/")


def spec(**values: object) -> CispoSpec:
    return spec_of(CispoSettings(**values))


def emitted(trainer: str, **values: object) -> DialectConfig:
    return TRAINERS[trainer](spec(**values), LAUNCH)


def options(config: DialectConfig) -> dict[str, object]:
    """What the emitted file says, by the option's name; a nested name by dots."""
    name = next(name for name in config.files if name.endswith((".sh", ".yaml")))
    text = config.files[name]
    if name.endswith(".yaml"):
        yaml = pytest.importorskip("yaml")
        return flat(yaml.safe_load(text))
    words = shlex.split(text.split("set -euo pipefail\n")[1])
    found: dict[str, object] = {}
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        if word.startswith("--"):
            found[word[2:]] = True if following.startswith("--") or following == "$@" else scalar(following)
        elif "=" in word and not word.startswith(("NPROC", "NNODES")):
            key, _, value = word.partition("=")
            found[key] = scalar(value)
    return found


def flat(values: dict[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def scalar(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def clamp(ratio: float, low: float, high: float) -> float:
    return min(max(ratio, low), high)


ACTOR = "actor_rollout_ref.actor"
ALGORITHM = "trainer.algorithm"

# Each trainer's rule, as its source has it, on the options that were emitted; its own defaults where one is missing.
RULES: dict[str, Callable[[dict, float], float]] = {
    "trl": lambda o, r: clamp(r, -math.inf, o.get("epsilon_high", o.get("epsilon", 0.2))),
    "ms-swift": lambda o, r: clamp(r, -math.inf, o.get("epsilon_high", o.get("epsilon", 0.2))),
    "verl": lambda o, r: clamp(
        math.exp(clamp(math.log(r), -20, 20)),
        1 - o.get(f"{ACTOR}.clip_ratio_low", 0.2),
        1 + o.get(f"{ACTOR}.clip_ratio_high", 0.2),
    ),
    "slime": lambda o, r: clamp(r, 1 - o.get("eps-clip", 0.2), 1 + o.get("eps-clip-high", o.get("eps-clip", 0.2))),
    "nemo-rl": lambda o, r: clamp(
        r, 1 - o.get("loss_fn.ratio_clip_min", 0.2), 1 + o.get("loss_fn.ratio_clip_max", 0.2)
    ),
    "skyrl": lambda o, r: clamp(
        r,
        1 - o.get(f"{ALGORITHM}.cispo.cispo_eps_clip_low", 0.0),
        1 + o.get(f"{ALGORITHM}.cispo.cispo_eps_clip_high", 5.0),
    ),
}
SWITCHES: dict[str, tuple[str, object]] = {
    "trl": ("loss_type", "cispo"),
    "ms-swift": ("loss_type", "cispo"),
    "verl": (f"{ACTOR}.policy_loss.loss_mode", "cispo"),
    "slime": ("advantage-estimator", "cispo"),
    "nemo-rl": ("loss_fn.use_cispo", True),
    "skyrl": (f"{ALGORITHM}.policy_loss_type", "cispo"),
}
TWO_SIDED = ("verl", "slime", "nemo-rl", "skyrl")


def test_every_trainer_has_a_rule() -> None:
    assert RULES.keys() == SWITCHES.keys() == TRAINERS.keys()


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize(
    ("high", "weights"), [(5.0, (0.1, 1, 3, 5)), (2.5, (0.1, 1, 2.5, 2.5)), (0.5, (0.1, 0.5, 0.5, 0.5))]
)
def test_the_emitted_numbers_clip_as_specified(trainer: str, high: float, weights: tuple[float, ...]) -> None:
    found = options(emitted(trainer, weight_high=high))
    name, value = SWITCHES[trainer]
    assert found[name] == value
    assert [RULES[trainer](found, ratio) for ratio in RATIOS] == pytest.approx(weights)


@pytest.mark.parametrize("trainer", TWO_SIDED)
def test_a_lower_bound_is_translated_where_there_is_one(trainer: str) -> None:
    found = options(emitted(trainer, weight_low=0.4, weight_high=4.0))
    assert [RULES[trainer](found, ratio) for ratio in RATIOS] == pytest.approx((0.4, 1, 3, 4))


@pytest.mark.parametrize("trainer", ["trl", "ms-swift"])
def test_a_lower_bound_that_can_not_be_expressed_is_refused(trainer: str) -> None:
    with pytest.raises(InputError, match=r"weight_low: .* has no lower bound .*0\.4 can't be expressed"):
        emitted(trainer, weight_low=0.4)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_copying_the_number_across_would_be_another_algorithm(trainer: str) -> None:
    """The two conventions really differ: an offset read as a cap, or the reverse, is caught by these rules."""
    found = options(emitted(trainer))
    absolute = {"trl", "ms-swift"}
    numbers = [value for name, value in found.items() if re.search(r"epsilon_high|clip.*(high|max)$", name)]
    assert numbers == [5.0 if trainer in absolute else 4.0]


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_ratio_that_is_always_one_is_warned_of(trainer: str) -> None:
    warning = "one optimiser step a batch"
    assert any(warning in note and note.startswith("WARNING") for note in emitted(trainer, minibatches=1).notes)
    assert not any(warning in note for note in emitted(trainer, minibatches=2).notes)


# Optimiser steps a batch and rollouts a step, as each trainer derives them.
def counted(trainer: str, o: dict) -> tuple[float, float, float]:
    """(rollouts a batch, optimiser steps on it, G)."""
    world = LAUNCH.world
    if trainer in ("trl", "ms-swift"):
        at_once = o["per_device_train_batch_size"] * world
        return (
            at_once * o["steps_per_generation"],
            o["steps_per_generation"] / o["gradient_accumulation_steps"] * o["num_iterations"],
            o["num_generations"],
        )
    if trainer == "verl":
        group = o["actor_rollout_ref.rollout.n"]
        steps = o["data.train_batch_size"] / o[f"{ACTOR}.ppo_mini_batch_size"] * o[f"{ACTOR}.ppo_epochs"]
        return o["data.train_batch_size"] * group, steps, group
    if trainer == "slime":
        group = o["n-samples-per-prompt"]
        return o["rollout-batch-size"] * group, o["num-steps-per-rollout"], group
    if trainer == "nemo-rl":
        group = o["grpo.num_generations_per_prompt"]
        rollouts = o["grpo.num_prompts_per_step"] * group
        return rollouts, rollouts / o["policy.train_global_batch_size"], group
    group = o["generator.n_samples_per_prompt"]
    steps = o["trainer.train_batch_size"] / o["trainer.policy_mini_batch_size"] * o["trainer.update_epochs_per_batch"]
    return o["trainer.train_batch_size"] * group, steps, group


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize(("prompts", "group", "minibatches"), [(16, 8, 2), (8, 4, 4), (4, 16, 1)])
def test_batches_groups_and_optimiser_steps(trainer: str, prompts: int, group: int, minibatches: int) -> None:
    found = options(emitted(trainer, prompts=prompts, group=group, minibatches=minibatches))
    assert counted(trainer, found) == (prompts * group, minibatches, group)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_batches_that_can_not_be_cut_are_refused(trainer: str) -> None:
    with pytest.raises(InputError, match="equal parts"):
        emitted(trainer, prompts=5, group=3, minibatches=2)


KL_OFF: dict[str, dict[str, object]] = {
    "trl": {"beta": 0.0},
    "ms-swift": {"beta": 0.0},
    "verl": {f"{ACTOR}.use_kl_loss": False, "algorithm.use_kl_in_reward": False, f"{ACTOR}.entropy_coeff": 0},
    "slime": {"kl-coef": 0.0, "kl-loss-coef": 0.0, "entropy-coef": 0.0},
    "nemo-rl": {
        "loss_fn.reference_policy_kl_penalty": 0.0,
        "grpo.use_leave_one_out_baseline": False,
        "loss_fn.ratio_clip_c": None,
        "loss_fn.force_on_policy_ratio": False,
    },
    "skyrl": {f"{ALGORITHM}.use_kl_loss": False, f"{ALGORITHM}.use_kl_in_reward": False},
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_defaults_that_are_another_algorithm_are_overridden(trainer: str) -> None:
    found = options(emitted(trainer))
    missing = object()
    assert {name: found.get(name, missing) for name in KL_OFF[trainer]} == KL_OFF[trainer]


TEMPERATURES = {
    "trl": "temperature",
    "ms-swift": "temperature",
    "verl": "actor_rollout_ref.rollout.temperature",
    "slime": "rollout-temperature",
    "nemo-rl": "policy.generation.temperature",
    "skyrl": "generator.sampling_params.temperature",
}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_sampling_goes_over(trainer: str) -> None:
    found = options(emitted(trainer, sampling=SamplingSettings(temperature=0.75, max_new_tokens=77)))
    assert found[TEMPERATURES[trainer]] == 0.75
    assert 77 in found.values()


@pytest.mark.parametrize("trainer", ["verl", "nemo-rl", "skyrl", "ms-swift"])
def test_a_threshold_that_a_trainer_can_not_take_is_noted_loudly(trainer: str) -> None:
    assert any(note.startswith("WARNING") and "0.05" in note for note in emitted(trainer, std_threshold=0.05).notes)
    assert not any(note.startswith("WARNING") for note in emitted(trainer, std_threshold=0.0).notes)


@given(
    st.lists(st.integers(0, 7).map(lambda points: points / 7), min_size=2, max_size=9),
    st.sampled_from([0.02, 0.05, 0.2]),
)
def test_skyrl_never_masks_a_group_that_is_used_here(rewards: list[float], threshold: float) -> None:
    tolerance = options(emitted("skyrl", std_threshold=threshold))[f"{ALGORITHM}.zero_variance_filter_tol"]
    if max(rewards) - min(rewards) <= tolerance:
        assert statistics.pstdev(rewards) <= threshold


def test_paths_and_names_survive_the_shell_and_hydra() -> None:
    assert options(emitted("slime"))["prompt-data"] == "prompts and more.parquet"
    assert options(emitted("verl"))["data.train_files"] == "prompts and more.parquet"
    assert hydra_overrides({"a": "null", "b": 'say "x"', "c": ["p q"], "d": None, "e": 1e-06}) == [
        'a="null"',
        'b="say \\"x\\""',
        'c=["p q"]',
        "d=null",
        "e=1e-06",
    ]


@pytest.mark.parametrize("trainer", ["verl", "slime", "skyrl", "ms-swift"])
def test_scripts_run_their_command_in_bash(trainer: str, tmp_path: Path) -> None:
    """With a stand-in for the trainer's program: every option arrives as one word, further arguments after them."""
    config = emitted(trainer)
    name = next(name for name in config.files if name.endswith(".sh"))
    (tmp_path / name).write_text(config.files[name])
    for program in ("python3", "swift"):
        (tmp_path / program).write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        (tmp_path / program).chmod(0o755)
    run = subprocess.run(
        ["bash", tmp_path / name, "extra one"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    words = run.stdout.splitlines()
    assert words[-1] == "extra one"
    assert any(word.endswith(LAUNCH.data) or LAUNCH.data in word for word in words)
    if trainer == "verl":
        assert f'reward.custom_reward_function.path="{tmp_path}/maxproof_reward.py"' in words


def test_yaml_reads_back_as_it_was_written() -> None:
    yaml = pytest.importorskip("yaml")
    values = {"a": {"b": 1e-06, "c": None, "d": True}, "e": ["x: y", "z"], "f": "# no comment", "g": 2.5e20, "h": 3}
    assert yaml.safe_load(yaml_text(values)) == values


def test_an_unknown_trainer_is_named_with_what_there_is() -> None:
    with pytest.raises(InputError, match=r"no trainer 'nemo_rl'; there are trl, .*did you mean nemo-rl"):
        translator("nemo_rl")


def test_a_launch_without_gpus_is_refused() -> None:
    with pytest.raises(InputError, match="gpus: 0 is less than 1"):
        Launch("m", "d", gpus=0)
