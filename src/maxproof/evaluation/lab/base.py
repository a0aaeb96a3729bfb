"""Stages `base` and `measure-*`: the base model, and what each prover is worth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from statistics import mean
from typing import TYPE_CHECKING

from maxproof.evaluation.lab.measure import measure_prover
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.generate import LabProblem, problems
from maxproof.training.types import Example

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint

CHECKPOINT = "checkpoint"
TEACHER_SEED, HELDOUT_SEED, VALIDATION_SEED = 1, 2, 3
PROBE_STEPS = 15
"""Steps of supervised training that are timed."""


def train(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Makes the tokenizer, trains the base model on the taught corpus, and measures how fast all that is trained."""
    from maxproof.lab.teacher import TeacherSettings, corpus
    from maxproof.training.checkpoint import new_checkpoint, save_checkpoint
    from maxproof.training.model import parameter_count, use_threads
    from maxproof.training.sft import train_sft
    from maxproof.training.tokenizer import build_tokenizer

    use_threads(1)
    settings = TeacherSettings(levels=profile.levels, domains=profile.domains)
    tell(0.0, "writes the corpus")
    examples = list(islice(corpus(settings, profile.seed + TEACHER_SEED), profile.corpus))
    tokenizer = build_tokenizer(text for example in examples[:20_000] for text in (example.prompt, example.answer))
    start = new_checkpoint(profile.shape, tokenizer, profile.seed)

    def progress(step: int, steps: int, loss: float, speed: float, eta_s: float) -> None:
        tell(step / steps, f"step {step} of {steps}, loss {loss:.3f}, {speed:,.0f} tokens/s")

    trained = train_sft(start, examples, profile.base, place.own / "sft", profile.seed, progress=progress)
    save_checkpoint(place.own / CHECKPOINT, trained)
    tell(1.0, "measures speed")
    found = {"parameters": parameter_count(trained.model), "vocabulary": len(tokenizer)}
    return {**found, "speed": speed(trained, examples, profile)}


def speed(trained: Checkpoint, examples: Sequence[Example], profile: LabProfile) -> Result:
    """A probe of seconds: tokens a second beside the bound of arithmetic, on torch's threads.

    RL is timed on one step's prompts with made-up advantages, on which its speed does not depend.

    Returns: `gflops`, of a matrix product; `tokens_per_s` by `sft`, `rl_sampling`, `rl_training`, each `measured` and
    `bound`.
    """
    from maxproof.training.policy_update import Answered
    from maxproof.training.speed import (
        SAMPLING_PASSES,
        SFT_PASSES,
        bound_tokens_per_s,
        product_flops_per_s,
        rl_passes,
        rl_training_speed,
        sampling_speed,
        sft_speed,
    )

    rl = profile.prover
    probed = examples[: PROBE_STEPS * profile.base.batch]
    tasks = problems("train", rl.prompts, profile.seed, levels=profile.levels, domains=profile.domains)
    prompts = [prove_prompt(p.problem.statement) for p in tasks for _ in range(rl.group)]
    product = product_flops_per_s()
    sft = sft_speed(trained, probed, profile.base, PROBE_STEPS)
    sampling, answers = sampling_speed(trained, prompts, rl.sampling)
    encoded = trained.tokenizer.encode_batch(prompts, prompts=True)
    rollouts = [
        Answered(tuple(prompt), answer.ids, 1.0 - 2 * (index % 2))
        for index, (prompt, answer) in enumerate(zip(encoded, answers, strict=True))
    ]
    groups = [tuple(rollouts[start : start + rl.group]) for start in range(0, len(rollouts), rl.group)]
    texts = [f"{example.prompt} {example.answer}" for example in probed]
    trained_on = mean(map(len, trained.tokenizer.encode_batch(texts, prompts=True)))
    rolled_out = mean(len(one.prompt) + len(one.answer) for one in rollouts)
    rows = {
        "sft": (sft, trained_on, SFT_PASSES),
        "rl_sampling": (sampling, rolled_out, SAMPLING_PASSES),
        "rl_training": (rl_training_speed(trained, groups, rl), rolled_out, rl_passes(rl)),
    }
    return {
        "gflops": round(product / 1e9, 1),
        "tokens_per_s": {
            name: {
                "measured": round(speed),
                "bound": round(bound_tokens_per_s(trained.model, product, length / 2, passes)),
            }
            for name, (speed, length, passes) in rows.items()
        },
    }


def measure(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Measures one prover: the argument is `stage/folder` of its checkpoint."""
    from maxproof.training.checkpoint import load_checkpoint
    from maxproof.training.model import use_threads

    use_threads(1)
    checkpoint = load_checkpoint(place.run / "stages" / place.stage.argument)
    tell(0.1, "samples")
    sampling = profile.prover.sampling
    found = measure_prover(checkpoint, heldout(profile, profile.problems), profile.samples, sampling, profile.seed)
    return found.to_json()


@lru_cache(maxsize=4)
def heldout(profile: LabProfile, count: int) -> tuple[LabProblem, ...]:
    """Problems of the test split: the same ones in every stage."""
    return tuple(problems("test", count, profile.seed + HELDOUT_SEED, levels=profile.levels, domains=profile.domains))


@lru_cache(maxsize=4)
def validation(profile: LabProfile, count: int) -> tuple[LabProblem, ...]:
    """Problems of the validation split, on which choices are made."""
    return tuple(
        problems("validation", count, profile.seed + VALIDATION_SEED, levels=profile.levels, domains=profile.domains)
    )


@lru_cache(maxsize=2)
def training(profile: LabProfile) -> tuple[LabProblem, ...]:
    """Problems of the train split that RL draws from."""
    return tuple(
        problems("train", profile.train_problems, profile.seed, levels=profile.levels, domains=profile.domains)
    )
