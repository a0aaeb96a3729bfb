"""TRL: `loss_type="cispo"`, an absolute cap, no lower bound.

    clamped_ratios = clamp(ratio, max=epsilon_high)                               (trl/trainer/grpo_trainer.py)

`epsilon_high` unset falls back to `epsilon` = 0.2, which caps every weight at 0.2.
"""

from __future__ import annotations

from maxproof.training.dialects.hooks import TRL_FILE, trl_text
from maxproof.training.dialects.spec import (
    TOKEN_NOTE,
    CispoSpec,
    DialectConfig,
    Launch,
    parts,
    ratio_notes,
    refuse_lower_bound,
    std_note,
)
from maxproof.training.dialects.text import yaml_text

VERSION = "TRL 1.16.0"


def to_trl(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A YAML file for `trl grpo --config`, and the file of the reward function. Raises InputError."""
    refuse_lower_bound(spec, "TRL")
    accumulation = accumulation_steps(spec, launch)
    values = {
        "loss_type": "cispo",
        "epsilon_high": spec.high,
        "beta": 0.0,
        "importance_sampling_level": "token",
        "scale_rewards": "group",
        "mask_truncated_completions": False,
        "num_generations": spec.group,
        "num_iterations": 1,
        "per_device_train_batch_size": launch.micro_batch,
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": accumulation * spec.minibatches,
        # In optimiser steps, of which there are several a batch.
        "max_steps": spec.steps * spec.minibatches,
        "save_steps": spec.save_every * spec.minibatches,
        "learning_rate": spec.learning_rate,
        "lr_scheduler_type": "constant",
        "max_grad_norm": spec.clip_norm,
        "seed": spec.seed,
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "top_k": 0,
        "max_completion_length": spec.max_new_tokens,
        "vllm_importance_sampling_correction": False,
        "model_name_or_path": launch.model,
        "dataset_name": launch.data,
        "output_dir": launch.out,
        "reward_funcs": [f"{TRL_FILE.removesuffix('.py')}.reward"],
    }
    notes = (
        *ratio_notes(spec),
        f"TRL has no threshold on a group's std: {TRL_FILE} marks all members of a group with std <= "
        f"{spec.std_threshold:g} as not scored, which gives them advantage 0. They are not replaced, and their tokens "
        "still count in the normalisation.",
        std_note(spec, "1e-04"),
        TOKEN_NOTE,
        "The metric cispo_clip_ratio counts positive advantages only, the cap acts on all.",
        f"{spec.max_empty_batches} empty batches in a row do not stop TRL: watch frac_reward_zero_std.",
        f"Run: trl grpo --config trl_cispo.yaml --num_processes {launch.world} (accelerate's options are passed on), "
        f"in the folder of {TRL_FILE}.",
        "To sample with vLLM add use_vllm: true. Its importance correction is off: it would be a second weight.",
    )
    comment = (
        f"# CISPO with importance weights in [0, {spec.high:g}]. Options as in {VERSION}; for trl grpo --config.\n"
    )
    files = {"trl_cispo.yaml": comment + yaml_text(values), TRL_FILE: trl_text(spec, launch)}
    return DialectConfig("trl", VERSION, files, notes)


def accumulation_steps(spec: CispoSpec, launch: Launch) -> int:
    """Micro-batches an optimiser step, so that a batch is `prompts` groups and `minibatches` steps. Raises InputError.

    Each process gets whole groups, for the reward function to see.
    """
    parts(spec.prompts, launch.world, "prompts a step over the processes (nodes x gpus)")
    at_once = spec.minibatches * launch.micro_batch * launch.world
    return parts(spec.samples, at_once, "rollouts a step over mini-batches x micro-batch x processes")
