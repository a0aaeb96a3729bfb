"""SkyRL: `policy_loss_type=cispo`, offsets from 1.

    clamped_ratio = clamp(ratio, 1 - cispo_eps_clip_low, 1 + cispo_eps_clip_high)      (skyrl_train/utils/ppo_utils.py)

Release 0.3.0 defaults to 0 and 5, which is [1, 6]: no weight below 1. Its `prompt_mean` is the paper's normalisation.
"""

from __future__ import annotations

from maxproof.training.dialects.hooks import SKYRL_FILE, skyrl_text
from maxproof.training.dialects.spec import CispoSpec, DialectConfig, Launch, parts, ratio_notes, std_note
from maxproof.training.dialects.text import Value, hydra_overrides, shell_text

VERSION = "SkyRL 0.3.0"


def to_skyrl(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A script of overrides, and the entry point with the environment that asks the reward server."""
    algorithm, sampling = "trainer.algorithm", "generator.sampling_params"
    options: dict[str, Value] = {
        f"{algorithm}.policy_loss_type": "cispo",
        f"{algorithm}.cispo.cispo_eps_clip_low": spec.offset_low,
        f"{algorithm}.cispo.cispo_eps_clip_high": spec.offset_high,
        f"{algorithm}.loss_reduction": "prompt_mean",
        f"{algorithm}.advantage_estimator": "grpo",
        f"{algorithm}.grpo_norm_by_std": True,
        f"{algorithm}.advantage_batch_normalize": False,
        f"{algorithm}.use_kl_loss": False,
        f"{algorithm}.use_kl_in_reward": False,
        f"{algorithm}.use_entropy_loss": False,
        f"{algorithm}.zero_variance_filter": True,
        # Of the spread max - min, which is at least twice the population std.
        f"{algorithm}.zero_variance_filter_tol": 2 * spec.std_threshold,
        f"{algorithm}.dynamic_sampling.type": "filter",
        f"{algorithm}.dynamic_sampling.max_sample_batches": spec.max_empty_batches,
        "trainer.train_batch_size": spec.prompts,
        # In prompts, not in rollouts.
        "trainer.policy_mini_batch_size": parts(spec.prompts, spec.minibatches, "prompts a step in mini-batches"),
        "trainer.micro_train_batch_size_per_gpu": launch.micro_batch,
        "trainer.micro_forward_batch_size_per_gpu": launch.micro_batch,
        "trainer.update_epochs_per_batch": 1,
        "trainer.max_training_steps": spec.steps,
        "trainer.ckpt_interval": spec.save_every,
        "trainer.ckpt_path": launch.out,
        "trainer.max_prompt_length": launch.prompt_tokens,
        "trainer.policy.model.path": launch.model,
        "trainer.policy.optimizer_config.lr": spec.learning_rate,
        "trainer.policy.optimizer_config.max_grad_norm": spec.clip_norm,
        "trainer.placement.policy_num_nodes": launch.nodes,
        "trainer.placement.policy_num_gpus_per_node": launch.gpus,
        "trainer.seed": spec.seed,
        "trainer.logger": "console",
        "generator.n_samples_per_prompt": spec.group,
        f"{sampling}.temperature": spec.temperature,
        f"{sampling}.top_p": spec.top_p,
        f"{sampling}.top_k": -1,
        f"{sampling}.max_generate_length": spec.max_new_tokens,
        "generator.inference_engine.backend": "vllm",
        "generator.inference_engine.num_engines": parts(launch.world, launch.tensor_parallel, "GPUs in engines"),
        "generator.inference_engine.tensor_parallel_size": launch.tensor_parallel,
        "data.train_data": [launch.data],
        "data.val_data": [launch.data],
        "environment.env_class": "maxproof",
        # Each waiting answer holds a thread: judges are asked for all answers of a step at once.
        "environment.skyrl_gym.max_env_workers": spec.samples,
    }
    notes = (
        *ratio_notes(spec),
        *_filter_notes(spec),
        std_note(spec, "1e-06"),
        "Tokens are normalised per group (prompt_mean), as in the paper; groups that are masked, not replaced, still "
        "count in the mean over groups.",
        'An answer that can\'t be scored ends the run: SkyRL has no "not scored", and a zero would be a lie.',
        "Point data.val_data to the validation split.",
        "Releases after 0.3.0 add cispo.cispo_anchor; its default, old, is what is meant here.",
    )
    comment = (f"CISPO with importance weights in [{spec.low:g}, {spec.high:g}].", f"Options as in {VERSION}.")
    script = shell_text(comment, ["python3", SKYRL_FILE], hydra_overrides(options))
    return DialectConfig("skyrl", VERSION, {"run_skyrl.sh": script, SKYRL_FILE: skyrl_text(launch)}, notes)


def _filter_notes(spec: CispoSpec) -> tuple[str, ...]:
    if spec.std_threshold == 0:
        return ()
    return (
        f"WARNING: SkyRL masks groups by the spread of rewards, max - min <= {2 * spec.std_threshold:g}: every group "
        f"that it masks has std <= {spec.std_threshold:g}, but a group with one outlier may pass. Only "
        "groups of std = 0 are replaced by new ones (dynamic_sampling).",
    )
