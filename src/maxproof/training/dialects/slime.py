"""slime: `--advantage-estimator cispo`, offsets from 1; the group filter is a function, so it takes our threshold.

ratio_truncated = clamp(ratio, 1 - eps_clip, 1 + eps_clip_high)                (slime/utils/ppo_utils.py)
"""

from __future__ import annotations

from maxproof.training.dialects.hooks import SLIME_FILE, slime_text
from maxproof.training.dialects.spec import TOKEN_NOTE, CispoSpec, DialectConfig, Launch, parts, ratio_notes, std_note
from maxproof.training.dialects.text import Scalar, flags, shell_text

VERSION = "slime, main at c7c9e7d"


def to_slime(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A script for `train.py`, and the file of the filter and the reward beside it."""
    module = SLIME_FILE.removesuffix(".py")
    options: dict[str, Scalar] = {
        "advantage-estimator": "cispo",
        "eps-clip": spec.offset_low,
        "eps-clip-high": spec.offset_high,
        "calculate-per-token-loss": None,
        "kl-coef": 0.0,
        "kl-loss-coef": 0.0,
        "entropy-coef": 0.0,
        "n-samples-per-prompt": spec.group,
        "rollout-batch-size": spec.prompts,
        "over-sampling-batch-size": 2 * spec.prompts,
        "num-steps-per-rollout": spec.minibatches,
        "num-rollout": spec.steps,
        "dynamic-sampling-filter-path": f"{module}.has_spread",
        "custom-rm-path": f"{module}.reward",
        "rollout-temperature": spec.temperature,
        "rollout-top-p": spec.top_p,
        "rollout-max-response-len": spec.max_new_tokens,
        "rollout-max-prompt-len": launch.prompt_tokens,
        "rollout-seed": spec.seed,
        "rollout-shuffle": None,
        "lr": spec.learning_rate,
        "lr-decay-style": "constant",
        "clip-grad": spec.clip_norm,
        "save-interval": spec.save_every,
        "hf-checkpoint": launch.model,
        "prompt-data": launch.data,
        "save": launch.out,
        "actor-num-nodes": launch.nodes,
        "actor-num-gpus-per-node": launch.gpus,
        "rollout-num-gpus-per-engine": launch.tensor_parallel,
        "micro-batch-size": launch.micro_batch,
        "colocate": None,
    }
    parts(spec.samples, spec.minibatches, "rollouts a step in mini-batches")
    notes = (
        *ratio_notes(spec),
        std_note(spec, "1e-06"),
        TOKEN_NOTE + " (--calculate-per-token-loss; without it each answer is averaged by itself.)",
        "A group with a member that the judges did not score is dropped whole, and replaced.",
        f"slime draws groups until the batch is full: {spec.max_empty_batches} empty batches in a row do not stop it. "
        "Watch the counts of dropped groups.",
        "The model's shape (--num-layers and so on, scripts/models/*.sh) and parallelism are slime's own: add them as "
        "arguments of the script. $MAXPROOF_REWARD_URL overrides the reward server.",
    )
    comment = (f"CISPO with importance weights in [{spec.low:g}, {spec.high:g}].", f"Options as in {VERSION}.")
    script = shell_text(comment, ["python3", "train.py"], flags(options))
    files = {"run_slime.sh": script, SLIME_FILE: slime_text(spec, launch)}
    return DialectConfig("slime", VERSION, files, notes)
