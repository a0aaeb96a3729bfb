"""Stages `base` and `measure-*`: the base model, and what each prover is worth."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from maxproof.evaluation.lab.measure import measure_prover
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.lab.generate import LabProblem, problems

CHECKPOINT = "checkpoint"
TEACHER_SEED, HELDOUT_SEED, VALIDATION_SEED = 1, 2, 3


def train(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Makes the tokenizer and trains the base model on the taught corpus."""
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
    return {"parameters": parameter_count(trained.model), "vocabulary": len(tokenizer)}


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
