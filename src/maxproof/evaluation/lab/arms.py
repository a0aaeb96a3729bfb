"""Stages `biased-S` and `panel-S`: proof RL from the same base under one biased judge, and under the four layers.

The oracle's score of every rollout is recorded and never touches the reward. What is reported of each step: mean train
reward and oracle score (0..1), the joint false-positive rate (train >= 0.7 and oracle <= 0.3, both inclusive; MaxProof
section 2.5), and how many rollouts wear which style.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from maxproof.evaluation.lab.base import CHECKPOINT, heldout, training
from maxproof.evaluation.lab.measure import prove
from maxproof.evaluation.lab.profile import LabProfile
from maxproof.evaluation.lab.stages import Place, Result, Tell
from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.generate import LabProblem
from maxproof.lab.judges import BIASED, BIASED_VERIFIER, PANEL, JudgeFaults, LabJudges
from maxproof.lab.oracle import true_score
from maxproof.lab.style import style_of
from maxproof.statistics import wilson
from maxproof.training.reward import VerifierReward
from maxproof.training.rollouts import RolloutRecord, read_rollouts
from maxproof.training.types import Rollout, Task
from maxproof.training.verifier_expert import clustered_mean
from maxproof.verifier.settings import VerifierSettings

ARMS: dict[str, tuple[VerifierSettings, dict[str, JudgeFaults]]] = {
    "biased": (BIASED_VERIFIER, dict(BIASED)),
    "panel": (VerifierSettings(), dict(PANEL)),
}
FALSE_POSITIVE_TRAIN, FALSE_POSITIVE_ORACLE = 0.7, 0.3
STYLES = ("given", "opener", "headers", "verification", "characters")
WINDOW = 10
"""Steps at the start and at the end of RL over which rates are counted: enough samples for an interval."""


def reward_of(arm: str, problems: Iterable[LabProblem], seed: int) -> VerifierReward:
    """The reward of an arm; the oracle is recorded beside it."""
    settings, faults = ARMS[arm]
    judges = LabJudges(faults, seed)
    return VerifierReward(
        settings,
        lambda problem: judges,
        [p.problem for p in problems],
        limit=256,
        oracle=lambda problem, text: true_score(problem.statement, text),
    )


def train(place: Place, profile: LabProfile, tell: Tell) -> Result:
    """One arm with one seed. The argument is `ARM:SEED`."""
    from maxproof.training.checkpoint import load_checkpoint, save_checkpoint
    from maxproof.training.model import use_threads
    from maxproof.training.rl import train_rl
    from maxproof.training.rl_report import StepReport

    use_threads(1)
    arm, _, text = place.stage.argument.partition(":")
    seed = int(text)
    settings = profile.prover.model_copy(update={"seed": profile.seed * 100 + seed})
    problems = training(profile)
    tasks = [Task(p.problem.id, prove_prompt(p.problem.statement)) for p in problems]

    def observe(report: StepReport) -> None:
        share = (report.step + 1) / settings.steps
        reward = "not scored" if report.reward_mean is None else f"reward {report.reward_mean:.2f}"
        tell(share * 0.9, f"step {report.step + 1} of {settings.steps}, {reward}")

    base = load_checkpoint(place.folder("base") / CHECKPOINT)
    judged_by = reward_of(arm, problems, seed)
    trained = asyncio.run(train_rl(base, tasks, judged_by, settings, place.own / "rl", observe=observe))
    save_checkpoint(place.own / CHECKPOINT, trained)
    tell(0.9, "judges held-out proofs")
    held = heldout(profile, profile.problems)
    texts = prove(trained, held, profile.prover.sampling, profile.seed, 4)
    return {
        "arm": arm,
        "seed": seed,
        "curve": curve(read_rollouts(place.own / "rl" / "rollouts.jsonl")),
        "heldout": {name: asyncio.run(judged(name, held, texts, seed)) for name in ARMS},
    }


async def judged(arm: str, problems: Sequence[LabProblem], texts: Sequence[Sequence[str]], seed: int) -> dict[str, Any]:
    """What an arm's reward says of held-out proofs, beside the oracle.

    Returns: a `tally`, and `by_problem`: train score, oracle score and joint false-positive rate as means with 95 %
    intervals over problems.
    """
    rollouts = [
        Rollout(0, p.problem.id, group, sample, "", text)
        for group, (p, row) in enumerate(zip(problems, texts, strict=True))
        for sample, text in enumerate(row)
    ]
    rewards = await reward_of(arm, problems, seed + 1000)(rollouts)
    rows = [(r.value, r.parts.get("oracle"), t.text) for r, t in zip(rewards, rollouts, strict=True)]
    clusters: dict[int, list[tuple[float, float]]] = {}
    for rollout, (train, oracle, _) in zip(rollouts, rows, strict=True):
        if train is not None and oracle is not None:
            clusters.setdefault(rollout.group, []).append((train, oracle))
    groups = list(clusters.values())
    means = {
        "train": clustered_mean([[train for train, _ in group] for group in groups]),
        "oracle": clustered_mean([[oracle for _, oracle in group] for group in groups]),
        "false_positives": clustered_mean([[float(is_false_positive(*pair)) for pair in group] for group in groups]),
    }
    return {**tally(rows), "by_problem": {name: asdict(value) for name, value in means.items()}}


def curve(records: Iterable[RolloutRecord]) -> list[dict[str, Any]]:
    """One `tally` a step, with its step."""
    found = []
    for step, members in groupby(records, key=lambda record: record.step):
        rows = [(r.train_reward, r.oracle, r.text) for r in members]
        found.append({"step": step, **tally(rows)})
    return found


def tally(rows: Sequence[tuple[float | None, float | None, str]]) -> dict[str, Any]:
    """Figures of some rollouts: (train reward, oracle score, text), both 0..1 or None.

    Returns: samples; not_scored; train and oracle (means over those with both); false_positives and false_negatives as
    counts of the joint events (train >= 0.7 and oracle <= 0.3; train < 0.7 and oracle = 1), passes of the oracle;
    share of all texts, scored or not, with "we are given", an opener, headers, a closing section; mean characters.
    """
    scored = [(train, oracle, text) for train, oracle, text in rows if train is not None and oracle is not None]
    styles = [style_of(text) for _, _, text in rows]
    size = max(1, len(scored))
    return {
        "samples": len(scored),
        "not_scored": len(rows) - len(scored),
        "train": sum(train for train, _, _ in scored) / size,
        "oracle": sum(oracle for _, oracle, _ in scored) / size,
        "passes": sum(oracle == 1 for _, oracle, _ in scored),
        "false_positives": sum(is_false_positive(train, oracle) for train, oracle, _ in scored),
        "false_negatives": sum(train < FALSE_POSITIVE_TRAIN and oracle == 1 for train, oracle, _ in scored),
        "given": _share("we are given" in text[:80].lower() for _, _, text in rows),
        "opener": _share(bool(style.opener) for style in styles),
        "headers": _share(style.headers for style in styles),
        "verification": _share(style.verification for style in styles),
        "characters": sum(len(text) for _, _, text in rows) / max(1, len(rows)),
    }


def is_false_positive(train: float, oracle: float) -> bool:
    """The joint event of the paper's false-positive rate, bounds inclusive; scores 0..1."""
    return train >= FALSE_POSITIVE_TRAIN and oracle <= FALSE_POSITIVE_ORACLE


def window(points: Sequence[dict[str, Any]], *, end: bool) -> dict[str, Any]:
    """The first or the last `WINDOW` steps of a curve: counts added up, means weighted by what they are means of.

    Of a curve shorter than two windows it is a half, so that start and end share no step.
    """
    size = max(1, min(WINDOW, len(points) // 2))
    chosen = points[-size:] if end else points[:size]
    samples = sum(p["samples"] for p in chosen)
    added = {key: sum(p[key] for p in chosen) for key in ("false_positives", "false_negatives", "passes", "not_scored")}
    means = {key: sum(p[key] * p["samples"] for p in chosen) / max(1, samples) for key in ("train", "oracle")}
    means |= {
        key: sum(p[key] * (p["samples"] + p["not_scored"]) for p in chosen) / max(1, samples + added["not_scored"])
        for key in STYLES
    }
    rate = wilson(added["false_positives"], samples)
    return {"samples": samples, **added, **means, "false_positive_rate": asdict(rate)}


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / max(1, len(values))
