"""NeMo-RL: `loss_fn.use_cispo`, offsets from 1.

    clip(r_t, 1 - ratio_clip_min, 1 + ratio_clip_max)         (nemo_rl/algorithms/loss/loss_functions.py)

Its recipe sets 1.0 and 0.8, which is [0, 1.8]; its defaults, 0.2 and 0.2, are [0.8, 1.2]. The base configuration has a
KL penalty and a leave-one-out baseline, which CISPO has not.
"""

from __future__ import annotations

from maxproof.training.dialects.spec import TOKEN_NOTE, CispoSpec, DialectConfig, Launch, parts, ratio_notes, std_note
from maxproof.training.dialects.text import yaml_text

VERSION = "NeMo-RL, main at 006907a"


def to_nemo_rl(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A YAML file on top of NeMo-RL's `grpo_math_1B.yaml`."""
    values = {
        "defaults": "grpo_math_1B.yaml",
        "grpo": {
            "num_prompts_per_step": spec.prompts,
            "num_generations_per_prompt": spec.group,
            "max_num_steps": spec.steps,
            "normalize_rewards": True,
            "use_leave_one_out_baseline": False,
            "use_dynamic_sampling": True,
            "dynamic_sampling_max_gen_batches": spec.max_empty_batches,
            "batch_multiplier": 1,
            "overlong_filtering": False,
            "seed": spec.seed,
        },
        "loss_fn": {
            "use_cispo": True,
            "ratio_clip_min": spec.offset_low,
            "ratio_clip_max": spec.offset_high,
            "ratio_clip_c": None,
            "token_level_loss": True,
            "reference_policy_kl_penalty": 0.0,
            "disable_ppo_ratio": False,
            "force_on_policy_ratio": False,
            "sequence_level_importance_ratios": False,
            "use_importance_sampling_correction": False,
        },
        "policy": {
            "model_name": launch.model,
            # In rollouts, not in prompts.
            "train_global_batch_size": parts(spec.samples, spec.minibatches, "rollouts a step in mini-batches"),
            "train_micro_batch_size": launch.micro_batch,
            "max_total_sequence_length": launch.prompt_tokens + spec.max_new_tokens,
            "max_grad_norm": spec.clip_norm,
            "optimizer": {"kwargs": {"lr": spec.learning_rate}},
            "generation": {
                "max_new_tokens": spec.max_new_tokens,
                "temperature": spec.temperature,
                "top_p": spec.top_p,
                "top_k": None,
                "vllm_cfg": {"tensor_parallel_size": launch.tensor_parallel},
            },
        },
        "data": {"train": {"dataset_name": "ResponseDataset", "data_path": launch.data}},
        "checkpointing": {"checkpoint_dir": launch.out, "save_period": spec.save_every},
        "cluster": {"num_nodes": launch.nodes, "gpus_per_node": launch.gpus},
    }
    notes = (
        *ratio_notes(spec),
        *_filter_notes(spec),
        std_note(spec, "1e-06"),
        TOKEN_NOTE,
        "The base configuration warms the learning rate up over 50 steps, from a tenth.",
        f"The reward comes from an environment: one that posts its answers to the reward server ({launch.reward_url}) "
        "is registered under `env` and named by `data.default.env_name`; NeMo-RL can't take a reward function.",
        "Put the file beside grpo_math_1B.yaml (examples/configs) and run `uv run examples/run_grpo.py --config FILE`.",
    )
    comment = f"# CISPO with importance weights in [{spec.low:g}, {spec.high:g}]. Options as in {VERSION}.\n"
    return DialectConfig("nemo-rl", VERSION, {"nemo_rl_cispo.yaml": comment + yaml_text(values)}, notes)


def _filter_notes(spec: CispoSpec) -> tuple[str, ...]:
    if spec.std_threshold == 0:
        return ()
    return (
        f"WARNING: NeMo-RL drops groups whose std is 0; the threshold {spec.std_threshold:g} can't be given, so groups "
        "of little spread are trained on. It stops with an error after dynamic_sampling_max_gen_batches.",
    )
