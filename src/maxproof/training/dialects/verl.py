"""verl: `policy_loss.loss_mode=cispo`, offsets from 1. Ray, vLLM and the reward server: the way to several machines.

    clipped_ratio = clamp(ratio, 1 - clip_ratio_low, 1 + clip_ratio_high)        (verl/trainer/ppo/core_algos.py)

The defaults, 0.2 and 0.2, would keep every weight within 0.8 and 1.2.
"""

from __future__ import annotations

from maxproof.training.dialects.hooks import REWARD_FILE, verl_text
from maxproof.training.dialects.spec import TOKEN_NOTE, CispoSpec, DialectConfig, Launch, parts, ratio_notes, std_note
from maxproof.training.dialects.text import Value, hydra_overrides, shell_text

VERSION = "verl 0.9.1"


def to_verl(spec: CispoSpec, launch: Launch) -> DialectConfig:
    """A script of Hydra overrides for `verl.trainer.main_ppo`, and the reward function's file beside it."""
    actor, rollout = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
    options: dict[str, Value] = {
        f"{actor}.policy_loss.loss_mode": "cispo",
        f"{actor}.clip_ratio_low": spec.offset_low,
        f"{actor}.clip_ratio_high": spec.offset_high,
        f"{actor}.loss_agg_mode": "token-mean",
        f"{actor}.use_kl_loss": False,
        f"{actor}.entropy_coeff": 0,
        f"{actor}.ppo_epochs": 1,
        # In prompts, not in rollouts: verl multiplies by rollout.n.
        f"{actor}.ppo_mini_batch_size": parts(spec.prompts, spec.minibatches, "prompts a step in mini-batches"),
        f"{actor}.ppo_micro_batch_size_per_gpu": launch.micro_batch,
        f"{actor}.optim.lr": spec.learning_rate,
        f"{actor}.grad_clip": spec.clip_norm,
        "algorithm.adv_estimator": "grpo",
        "algorithm.norm_adv_by_std_in_grpo": True,
        "algorithm.use_kl_in_reward": False,
        "algorithm.rollout_correction.rollout_is": None,
        "algorithm.filter_groups.enable": True,
        "algorithm.filter_groups.metric": "reward",
        "algorithm.filter_groups.max_num_gen_batches": spec.max_empty_batches,
        f"{rollout}.name": "vllm",
        f"{rollout}.n": spec.group,
        f"{rollout}.temperature": spec.temperature,
        f"{rollout}.top_p": spec.top_p,
        f"{rollout}.top_k": -1,
        f"{rollout}.seed": spec.seed,
        f"{rollout}.tensor_model_parallel_size": launch.tensor_parallel,
        f"{rollout}.log_prob_micro_batch_size_per_gpu": launch.micro_batch,
        "actor_rollout_ref.model.path": launch.model,
        "data.train_files": launch.data,
        "data.val_files": launch.data,
        "data.train_batch_size": spec.prompts,
        "data.max_prompt_length": launch.prompt_tokens,
        "data.max_response_length": spec.max_new_tokens,
        "data.seed": spec.seed,
        "reward.custom_reward_function.path": REWARD_FILE,
        "reward.custom_reward_function.name": "compute_score",
        "trainer.nnodes": launch.nodes,
        "trainer.n_gpus_per_node": launch.gpus,
        "trainer.total_training_steps": spec.steps,
        "trainer.save_freq": spec.save_every,
        "trainer.val_before_train": False,
        "trainer.default_local_dir": launch.out,
        "trainer.project_name": "maxproof",
        "trainer.experiment_name": "cispo",
        "trainer.logger": ["console"],
    }
    notes = (
        *ratio_notes(spec),
        *_filter_notes(spec),
        std_note(spec, "1e-06"),
        TOKEN_NOTE,
        f"max_num_gen_batches is ignored by verl's V1 trainer (trainer.use_v1, the default): {spec.max_empty_batches} "
        "empty batches in a row do not stop it there.",
        "The log-ratio is clamped to +-20 before the exponential: no effect on weights within the interval.",
        "Several machines: start the reward server where all of them reach it and set $MAXPROOF_REWARD_URL, then "
        "`ray start --head` on the first, `ray start --address=HEAD:6379` on the others, and this script on the first. "
        f"{REWARD_FILE} has to lie in the same folder on all of them.",
        'An answer that can\'t be scored ends the run: verl has no "not scored", and a zero would be a lie.',
        "data.val_files is required by verl; point it to the validation split.",
    )
    comment = (
        f"CISPO with importance weights in [{spec.low:g}, {spec.high:g}].",
        f"Options as in {VERSION}; run in the folder of {REWARD_FILE}, on the head node of the Ray cluster.",
    )
    script = shell_text(comment, ["python3", "-m", "verl.trainer.main_ppo"], hydra_overrides(options))
    # Workers on other machines start in other folders: the file is named by its whole path.
    script = script.replace(f"path={REWARD_FILE}", f'path="\\"$(pwd)/{REWARD_FILE}\\""')
    files = {"run_verl.sh": script, REWARD_FILE: verl_text(launch)}
    return DialectConfig("verl", VERSION, files, notes)


def _filter_notes(spec: CispoSpec) -> tuple[str, ...]:
    if spec.std_threshold == 0:
        return ()
    return (
        f"WARNING: verl drops groups whose rewards are all equal; the threshold {spec.std_threshold:g} can't be given. "
        "Groups of little spread, whose differences are mostly the judges' noise, are trained on with unit std.",
    )
