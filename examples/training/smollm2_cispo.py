"""Proof RL on a real language model, on a CPU: SmolLM2-135M, LoRA, TRL's CISPO, the four-layer verifier as the reward.

    pip install 'maxproof[train,hf]'
    maxproof models get smollm2
    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python examples/training/smollm2_cispo.py --out adapter

Each step samples `--prompts` x 4 answers to problems of the lab and trains on them twice (two mini-batches, so that the
importance ratio is not always 1). It is real and slow, and far too short to teach the model anything: what it shows is
that every part fits, from the chat template to the masked reward. It prints each answer with what the judges and the
exact oracle say, then what was measured as JSON.

For a model of your own on a GPU, start from the same three parts: the options from
`maxproof train config --trainer trl`, `server_reward()` with a running `maxproof reward serve`, and rows with a column
`problem_id`.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import yaml
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer

from maxproof.lab.generate import problems
from maxproof.lab.judges import PANEL, LabJudges
from maxproof.lab.oracle import grade_statement
from maxproof.models.weights import find_weights, weights_folder
from maxproof.problems import Problem
from maxproof.training.dialects.spec import Launch, spec_of
from maxproof.training.dialects.trl import to_trl
from maxproof.training.model import use_threads
from maxproof.training.reward import VerifierReward
from maxproof.training.settings import CispoSettings, SamplingSettings
from maxproof.training.trl import local_reward, text_of
from maxproof.verifier import VerifierSettings

GROUP, MINIBATCHES = 4, 2
TECHNIQUES = ("isolation", "euclid")
DRAWN, SHOTS = 600, 4


def hugging_face_folder() -> Path:
    """The folder of SmolLM2 in Hugging Face's layout (540 MB), made from the GGUF file at the first call."""
    target = weights_folder() / "smollm2-hf"
    if target.is_dir():
        return target
    gguf = find_weights("smollm2")
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # The weights are plain by now, but the configuration still calls them quantised: that can't be saved or trained.
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(loaded.state_dict())
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=target.parent) as folder:
        model.save_pretrained(Path(folder) / "model")
        tokenizer.save_pretrained(Path(folder) / "model")
        (Path(folder) / "model").rename(target)
    return target


def rows_and_problems(count: int, seed: int) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Chats with SHOTS worked examples of the same technique before the problem, and the problems asked.

    The easiest there are, one step and the answer: where no answer of a group is ever better than another, nothing can
    be learned.
    """
    by_technique = defaultdict(list)
    for made in problems("train", DRAWN, seed, levels=(1,)):
        reference = made.problem.reference or ""
        if made.technique in TECHNIQUES and len(reference.splitlines()) == 2:
            by_technique[made.technique].append(made.problem)
    rows, asked = [], []
    for index in range(count):
        known = by_technique[TECHNIQUES[index % len(TECHNIQUES)]]
        problem = known[SHOTS + index // len(TECHNIQUES)]
        chat = []
        for shot in known[:SHOTS]:
            chat += [
                {"role": "user", "content": shot.statement},
                {"role": "assistant", "content": shot.reference},
            ]
        rows.append({"prompt": [*chat, {"role": "user", "content": problem.statement}], "problem_id": problem.id})
        asked.append(problem)
    return rows, asked


def arguments(steps: int, prompts: int, new_tokens: int, seed: int, out: Path) -> GRPOConfig:
    """The options that `maxproof train config --trainer trl` writes, and what this machine needs."""
    settings = CispoSettings(
        steps=steps,
        prompts=prompts,
        group=GROUP,
        minibatches=MINIBATCHES,
        learning_rate=1e-4,
        save_every=steps,
        seed=seed,
        sampling=SamplingSettings(max_new_tokens=new_tokens, temperature=0.8, top_p=1.0),
    )
    launch = Launch("model", "data", out=str(out), gpus=1, micro_batch=prompts * GROUP // MINIBATCHES)
    options = yaml.safe_load(to_trl(spec_of(settings), launch).files["trl_cispo.yaml"])
    for name in ("model_name_or_path", "dataset_name", "reward_funcs"):  # for TRL's command line
        del options[name]
    here = {"use_cpu": True, "bf16": False, "report_to": "none", "logging_steps": 1, "save_strategy": "no"}
    return GRPOConfig(**(options | here))


def run(steps: int, prompts: int, new_tokens: int, seed: int, out: Path) -> dict[str, Any]:
    """Trains, prints the answers, saves the adapter in `out`, and returns what was measured."""
    use_threads(1)
    started = time.monotonic()
    folder = hugging_face_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    loaded_s = time.monotonic() - started

    rows, asked = rows_and_problems(steps * prompts, seed)
    judges = LabJudges(PANEL, seed)
    reward = local_reward(VerifierReward(VerifierSettings(), lambda _: judges, asked), eos_ids=[tokenizer.eos_token_id])
    by_id = {problem.id: problem for problem in asked}
    answers: list[dict[str, Any]] = []

    @functools.wraps(reward)
    async def told(**columns: Any) -> list[float | None]:
        rewards = await reward(**columns)
        for name, completion, tokens, value in zip(
            columns["problem_id"], columns["completions"], columns["completion_ids"], rewards, strict=True
        ):
            text = text_of(completion)
            oracle = grade_statement(by_id[name].statement, text).points / 7
            answers.append({"tokens": len(tokens), "reward": value, "oracle": oracle})
            print(f"reward {value}  oracle {oracle:.2f}  {len(tokens)} tokens  {by_id[name].statement}  {text!r}")
        return rewards

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=told,
        args=arguments(steps, prompts, new_tokens, seed, out),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    adapter = {name: weight for name, weight in trainer.model.named_parameters() if weight.requires_grad}
    before = {name: weight.detach().clone() for name, weight in adapter.items()}
    started = time.monotonic()
    trainer.train()
    trained_s = time.monotonic() - started
    trainer.save_model(str(out))
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    return {
        "steps": steps,
        "optimiser_steps": trainer.state.global_step,
        "trainable_parameters": sum(weight.numel() for weight in adapter.values()),
        "largest_change": max(float((weight.detach() - before[name]).abs().max()) for name, weight in adapter.items()),
        "finite": all(bool(weight.isfinite().all()) for weight in adapter.values()),
        "answers": answers,
        "groups_without_spread": [entry.get("frac_reward_zero_std") for entry in logged],
        "cut_share": [entry.get("completions/clipped_ratio") for entry in logged],
        "losses": [entry["loss"] for entry in logged],
        "loading_s": round(loaded_s, 1),
        "training_s": round(trained_s, 1),
        "peak_rss_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2, help="batches of answers")
    parser.add_argument("--prompts", type=int, default=2, help="problems a step")
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="where the adapter is saved")
    given = parser.parse_args()
    print(json.dumps(run(given.steps, given.prompts, given.new_tokens, given.seed, given.out), indent=2))


if __name__ == "__main__":
    main()
