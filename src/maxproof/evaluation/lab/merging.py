"""Stage `merge`: the three experts become one model; weights are chosen on the validation split, all methods measured.

The validation score is the plain mean of three rates in 0..1: the prover's pass@1 (samples), the verifier's R (greedy)
and the fixer's success (samples), the first and the last by the oracle. Of each method the best try is then measured
on held-out problems, and the best of all is the merged model.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxproof.evaluation.lab.base import CHECKPOINT, heldout, validation
from maxproof.evaluation.lab.experts import fix_figures, judged_proofs
from maxproof.evaluation.lab.measure import measure_prover
from maxproof.evaluation.lab.pipeline import PROVER
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.lab.generate import LabProblem
from maxproof.lab.oracle import true_verdict
from maxproof.training.harvest import Harvested
from maxproof.training.merge.settings import MergeSettings

if TYPE_CHECKING:
    from maxproof.training.checkpoint import Checkpoint

EXPERTS = (PROVER, "verifier", "fixer")
MERGED = "merged"
SAMPLES = 4
"""Proofs a problem in each evaluation of a merge."""


def candidates(seed: int) -> tuple[MergeSettings, ...]:
    """What is tried, the simplest first."""
    equal = (1.0, 1.0, 1.0)
    tried = [MergeSettings(method="linear", weights=equal), MergeSettings(method="linear", weights=(2.0, 1.0, 1.0))]
    for weight in (0.4, 0.6, 0.8, 1.0):
        tried.append(MergeSettings(method="task_arithmetic", weights=(weight,) * 3))
    tried.append(MergeSettings(method="task_arithmetic", weights=(1.0, 0.6, 0.6)))
    for density in (0.3, 0.7):
        for scale in (1.0, 1.6):
            tried.append(MergeSettings(method="ties", weights=equal, density=density, scale=scale))
    for weight in (0.5, 0.8):
        tried.append(MergeSettings(method="dare_linear", weights=(weight,) * 3, density=0.7, seed=seed))
    for scale in (1.0, 1.6):
        tried.append(MergeSettings(method="dare_ties", weights=equal, density=0.7, scale=scale, seed=seed))
    return tuple(tried)


def run(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """Tries all candidates, keeps the best as `merged`, measures base, experts and the best of each method."""
    from maxproof.training.checkpoint import load_checkpoint
    from maxproof.training.merge.run import merge
    from maxproof.training.merge.weights import choose_weights
    from maxproof.training.model import use_threads

    use_threads(1)
    base = place.folder("base") / CHECKPOINT
    experts = [place.folder(name) / CHECKPOINT for name in EXPERTS]
    problems = validation(profile, profile.validation_problems)
    judged = judged_proofs(place, profile, problems)
    work = place.own / "tries"
    tried = candidates(profile.seed)
    made: dict[MergeSettings, dict[str, Any]] = {}

    def folder_of(settings: MergeSettings) -> Path:
        return work / f"{tried.index(settings):02d}"

    async def evaluate(settings: MergeSettings) -> float:
        tell(0.7 * len(made) / len(tried), f"try {len(made) + 1} of {len(tried)}: {settings.method}")
        shutil.rmtree(folder_of(settings), ignore_errors=True)
        merge(base, experts, folder_of(settings), settings)
        made[settings] = await figures(load_checkpoint(folder_of(settings)), problems, judged, profile)
        return score(made[settings])

    choice = asyncio.run(choose_weights(tried, evaluate))
    best_of = {m: max((t for t in choice.tries if t.candidate.method == m), key=_score) for m in _methods(tried)}
    held = heldout(profile, profile.problems)
    held_judged = judged_proofs(place, profile, held)
    measured: dict[str, Any] = {}
    models = {"base": base, **dict(zip(("prover", "verifier", "fixer"), experts, strict=True))}
    models |= {f"merged, {method}": folder_of(best.candidate) for method, best in best_of.items()}
    for number, (name, folder) in enumerate(models.items()):
        tell(0.7 + 0.28 * number / len(models), f"measures {name}")
        measured[name] = asyncio.run(figures(load_checkpoint(folder), held, held_judged, profile))
    shutil.rmtree(place.own / MERGED, ignore_errors=True)
    shutil.copytree(folder_of(choice.best.candidate), place.own / MERGED)
    return {
        "tries": [
            {"settings": t.candidate.model_dump(mode="json"), "score": t.score, **made[t.candidate]}
            for t in choice.tries
        ],
        "chosen": choice.best.candidate.model_dump(mode="json"),
        "measured": measured,
    }


async def figures(
    checkpoint: Checkpoint, problems: Sequence[LabProblem], judged: Harvested, profile: LabProfile
) -> dict[str, Any]:
    """A model in its three trades: the figures that merges are compared by, and the score's three parts."""
    from maxproof.training.verifier_expert import evaluate_verifier

    prover = measure_prover(checkpoint, problems, SAMPLES, profile.prover.sampling, profile.seed)
    verifier = (
        await evaluate_verifier(checkpoint, judged.examples, true_verdict, seed=profile.seed, samples=1)
    ).to_json()
    fixer = await fix_figures(checkpoint, judged.triples, problems, profile)
    return {"prover": prover.to_json(), "verifier": verifier["greedy"], "fixer": fixer}


def score(measured: dict[str, Any]) -> float:
    """The validation score, 0..1."""
    parts = trades(measured)
    return sum(parts.values()) / len(parts)


def trades(measured: dict[str, Any]) -> dict[str, float]:
    """The three rates in 0..1 that a model is merged for."""
    return {
        "prover": measured["prover"]["best_at"]["1"]["value"],
        "verifier": measured["verifier"]["reward"]["value"],
        "fixer": measured["fixer"]["sampled"]["right"]["value"],
    }


def _methods(tried: Sequence[MergeSettings]) -> list[str]:
    return list(dict.fromkeys(settings.method for settings in tried))


def _score(attempt: Any) -> float:
    return float(attempt.score or 0.0)
