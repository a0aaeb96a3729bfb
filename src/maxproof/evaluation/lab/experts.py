"""Stages `harvest`, `verifier` and `fixer`: the by-products of proof RL, and the two experts trained on them.

Both start from the base model, as the proof expert does, so that their task vectors share an origin. Everything that is
measured uses proofs of held-out problems (test split, by structure), written by the base and by the proof expert and
judged by the same panel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from maxproof.evaluation.lab.arms import reward_of
from maxproof.evaluation.lab.base import CHECKPOINT, heldout, training
from maxproof.evaluation.lab.measure import prove
from maxproof.evaluation.lab.pipeline import PROVER
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.generate import LabProblem
from maxproof.lab.oracle import true_verdict
from maxproof.training.harvest import Harvested, HarvestSettings, Triple
from maxproof.training.rollouts import record_of
from maxproof.training.types import Rollout

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint

FOLDER = "harvest"
JUDGE_SEED = 77
"""Judges of held-out proofs draw their faults anew."""


def harvest(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Harvests the proof expert's rollouts."""
    from maxproof.training.harvest import harvest as harvested
    from maxproof.training.harvest_files import read_all_rollouts, rollout_files, write_harvest

    settings = HarvestSettings(seed=profile.seed, class_cap=4000)
    statements = {p.problem.id: p.problem.statement for p in training(profile)}
    found = harvested(read_all_rollouts(rollout_files([place.folder(PROVER) / "rl"])), settings, statements)
    write_harvest(place.own / FOLDER, found, settings, "records")
    return asdict(found.counts)


def train_verifier(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """SFT warm-up and RL of the verifier expert, measured beside the base and the warm-up."""
    from maxproof.training.checkpoint import load_checkpoint, save_checkpoint
    from maxproof.training.harvest_files import read_harvest
    from maxproof.training.model import use_threads
    from maxproof.training.rl_report import StepReport
    from maxproof.training.verifier_expert import VerifierExpertSettings, evaluate_verifier
    from maxproof.training.verifier_expert import train_verifier as train

    use_threads(1)
    base = load_checkpoint(place.folder("base") / CHECKPOINT)
    examples = read_harvest(place.folder("harvest") / FOLDER, "train")
    settings = VerifierExpertSettings(sft=profile.verifier_sft, rl=profile.verifier_rl)

    def progress(step: int, steps: int, loss: float, speed: float, eta_s: float) -> None:
        tell(0.4 * step / steps, f"SFT step {step} of {steps}, loss {loss:.3f}")

    def observe(report: StepReport) -> None:
        share = (report.step + 1) / profile.verifier_rl.steps
        tell(0.4 + 0.45 * share, f"RL step {report.step + 1}, R {report.reward_mean or 0:.2f}")

    expert = asyncio.run(
        train(base, examples, settings, place.own / "work", profile.seed, progress=progress, observe=observe)
    )
    save_checkpoint(place.own / CHECKPOINT, expert)
    tell(0.9, "measures")
    warm = load_checkpoint(place.own / "work" / "sft" / "checkpoint")
    held = judged_proofs(place, profile, heldout(profile, profile.problems)).examples
    return {
        "examples": len(examples),
        **{
            name: asyncio.run(evaluate_verifier(model, held, true_verdict, seed=profile.seed)).to_json()
            for name, model in (("base", base), ("warm_up", warm), ("expert", expert))
        },
    }


def train_fixer(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Corrections of harvested flawed proofs by the proof expert, accepted by its panel; SFT of the base on them."""
    from maxproof.training.checkpoint import load_checkpoint, save_checkpoint
    from maxproof.training.fixer import FixerSettings, RepairCounts
    from maxproof.training.fixer import train_fixer as train
    from maxproof.training.harvest_files import read_triples
    from maxproof.training.model import use_threads

    use_threads(1)
    base = load_checkpoint(place.folder("base") / CHECKPOINT)
    prover = load_checkpoint(place.folder(PROVER) / CHECKPOINT)
    triples = read_triples(place.folder("harvest") / FOLDER, "train")
    settings = FixerSettings(
        triples=profile.fixer_triples, corrections=profile.fixer_samples, sft=profile.fixer_sft,
        sampling=profile.prover.sampling,
    )  # fmt: skip
    counts: list[RepairCounts] = []

    def progress(step: int, steps: int, loss: float, speed: float, eta_s: float) -> None:
        tell(0.3 + 0.5 * step / steps, f"SFT step {step} of {steps}, loss {loss:.3f}")

    tell(0.05, "samples corrections")
    score = reward_of("panel", training(profile), profile.seed + JUDGE_SEED)
    out = place.own / "work"
    expert = asyncio.run(
        train(prover, triples, score, settings, out, profile.seed, student=base, progress=progress, tell=counts.append)
    )
    save_checkpoint(place.own / CHECKPOINT, expert)
    tell(0.9, "measures")
    problems = heldout(profile, profile.problems)
    held = judged_proofs(place, profile, problems).triples
    return {
        "counts": asdict(counts[0]),
        **{
            name: asyncio.run(fix_figures(model, held, problems, profile))
            for name, model in (("base", base), ("prover", prover), ("expert", expert))
        },
    }


def judged_proofs(place: Place, profile: LabProfile, problems: Sequence[LabProblem]) -> Harvested:
    """Proofs of these problems by base and proof expert, judged by the panel, with the min judge's critique.

    Repeated texts are dropped; no class is evened out, so that rates are those of the proofs that come up.
    """
    from maxproof.training.checkpoint import load_checkpoint
    from maxproof.training.harvest import harvest as harvested

    records = []
    for number, stage in enumerate(("base", PROVER)):
        model = load_checkpoint(place.folder(stage) / CHECKPOINT)
        texts = prove(model, problems, profile.prover.sampling, profile.seed + number, 2)
        rollouts = [
            Rollout(number, p.problem.id, group, sample, prove_prompt(p.problem.statement), text)
            for group, (p, row) in enumerate(zip(problems, texts, strict=True))
            for sample, text in enumerate(row)
        ]
        rewards = asyncio.run(reward_of("panel", problems, profile.seed + JUDGE_SEED)(rollouts))
        records += [record_of(rollout, reward) for rollout, reward in zip(rollouts, rewards, strict=True)]
    settings = HarvestSettings(validation_share=0, class_ratio=1e9, seed=profile.seed)
    return harvested(records, settings, {p.problem.id: p.problem.statement for p in problems})


async def fix_figures(
    model: Checkpoint, triples: Sequence[Triple], problems: Sequence[LabProblem], profile: LabProfile
) -> Result:
    """How often a model repairs held-out flawed proofs, by the panel and by the exact oracle."""
    from maxproof.training.fixer import FixerSettings, evaluate_fixer

    settings = FixerSettings(corrections=4, sampling=profile.prover.sampling)
    panel = reward_of("panel", problems, profile.seed + JUDGE_SEED)
    return (await evaluate_fixer(model, triples, panel, settings, profile.seed, oracle=true_verdict)).to_json()
