"""ms-swift: `--loss_type cispo`, as TRL an absolute cap without lower bound.

    clamped_ratios = clamp(ratio, max=epsilon_high)                    (swift/rlhf_trainers/grpo_trainer.py)

`epsilon_high` unset falls back to `epsilon` = 0.2; `beta` unset becomes 0.04, a KL penalty.
"""

from __future__ import annotations

from maxproof.training.dialects.hooks import SWIFT_FILE, swift_text
from maxproof.training.dialects.spec import (
    TOKEN_NOTE,
    CispoSpec,
    DialectConfig,
    Launch,
    ratio_notes,
    refuse_lower_bound,
    std_note,
)
from maxproof.training.dialects.text import Scalar, flags, shell_text
from maxproof.training.dialects.trl import accumulation_steps

VERSION = "ms-swift 4.6.0"


def to_swift(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A script for `swift rlhf`, and the plugin file of the reward. Raises InputError."""
    refuse_lower_bound(spec, "ms-swift")
    accumulation = accumulation_steps(spec, launch)
    options: dict[str, Scalar] = {
        "rlhf_type": "grpo",
        "loss_type": "cispo",
        "epsilon_high": spec.high,
        "beta": 0.0,
        "advantage_estimator": "grpo",
        "scale_rewards": "group",
        "importance_sampling_level": "token",
        "dynamic_sample": True,
        "max_resample_times": spec.max_empty_batches,
        "num_generations": spec.group,
        "num_iterations": 1,
        "per_device_train_batch_size": launch.micro_batch,
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": accumulation * spec.minibatches,
        "max_steps": spec.steps * spec.minibatches,
        "save_steps": spec.save_every * spec.minibatches,
        "learning_rate": spec.learning_rate,
        "lr_scheduler_type": "constant",
        "warmup_ratio": 0.0,
        "max_grad_norm": spec.clip_norm,
        "seed": spec.seed,
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "top_k": -1,
        "max_completion_length": spec.max_new_tokens,
        "max_length": launch.prompt_tokens,
        "model": launch.model,
        "dataset": launch.data,
        "output_dir": launch.out,
        "external_plugins": SWIFT_FILE,
        "reward_funcs": "maxproof",
    }
    notes = (
        *ratio_notes(spec),
        *_filter_notes(spec),
        f"After {spec.max_empty_batches} attempts (max_resample_times) ms-swift goes on with the unfiltered batch and "
        "only a line in the log.",
        std_note(spec, "1e-04"),
        TOKEN_NOTE,
        "An answer that can't be scored ends the run: ms-swift adds a missing reward up as 0, which would be a lie.",
    )
    comment = (
        f"CISPO with importance weights in [0, {spec.high:g}].",
        f"Options as in {VERSION}; set NPROC_PER_NODE, NNODES, NODE_RANK and MASTER_ADDR for torchrun.",
    )
    command = [
        f"NPROC_PER_NODE=${{NPROC_PER_NODE:-{launch.gpus}}}",
        f"NNODES=${{NNODES:-{launch.nodes}}}",
        "swift",
        "rlhf",
    ]
    files = {"run_swift.sh": shell_text(comment, command, flags(options)), SWIFT_FILE: swift_text(launch)}
    return DialectConfig("ms-swift", VERSION, files, notes)


def _filter_notes(spec: CispoSpec) -> tuple[str, ...]:
    if spec.std_threshold == 0:
        return ()
    return (
        f"WARNING: ms-swift replaces groups whose std is 0 (dynamic_sample); the threshold {spec.std_threshold:g} "
        "can't be given, so groups of little spread are trained on.",
    )
