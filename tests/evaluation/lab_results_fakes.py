"""Made-up results of a lab study, in the form that its stages write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maxproof.evaluation.lab.arms import tally
from maxproof.evaluation.lab.pipeline import RUN, stages
from maxproof.evaluation.lab.profile import LabProfile, profile_named
from maxproof.evaluation.lab.results import LabResults
from maxproof.evaluation.lab.searches import OUTCOMES
from maxproof.evaluation.lab.stages import RESULT, stage_folder
from maxproof.statistics import mean_pass_at_k, wilson

PROBLEMS, SAMPLES = 10, 8
PROFILE = profile_named("tiny").model_copy(update={"rl_seeds": 2, "samples": SAMPLES})


def mean_rate(value: float, half: float = 0.05) -> dict[str, float]:
    return {"value": value, "low": max(0.0, value - half), "high": min(1.0, value + half)}


def measured(passes: int, greedy: int = 0) -> dict[str, Any]:
    """A prover whose samples pass `passes` times of 8 on each of 10 problems, greedy on `greedy` of them."""
    return {
        "problems": PROBLEMS,
        "samples": SAMPLES,
        "greedy": asdict(wilson(greedy, PROBLEMS)),
        "best_at": {str(k): asdict(mean_pass_at_k([(SAMPLES, passes)] * PROBLEMS, k)) for k in (1, 2, 4, 8)},
        "greedy_points": 0.7 * greedy,
        "sampled_points": 7 * passes / SAMPLES,
        "by_technique": {"sums/pairing": (PROBLEMS, greedy, passes / SAMPLES, PROBLEMS if passes else 0)},
        "greedy_by_problem": [int(i < greedy) for i in range(PROBLEMS)],
        "passes_by_problem": [passes] * PROBLEMS,
        "seconds": 1.0,
    }


def arm(
    name: str,
    seed: int,
    starts: tuple[float, float, int],
    ends: tuple[float, float, int],
    headers: tuple[float, float] = (0.0, 0.0),
) -> dict[str, Any]:
    """An arm of RL: (train score, oracle score, false positives of 100) in its first and in its last 12 steps.

    `headers`: share of texts with headers, likewise.
    """
    curve = []
    for step in range(24):
        train, oracle, wrong = starts if step < 12 else ends
        curve.append({"step": step, **tally([(None, None, "x")]), "samples": 100, "not_scored": 1, "train": train})
        curve[-1] |= {"oracle": oracle, "false_positives": wrong, "passes": 10, "headers": headers[step >= 12]}
    judged = {
        **tally([(1.0, 0.0, "We are given"), (1.0, 1.0, "x")]),
        "by_problem": {key: mean_rate(0.5) for key in ("train", "oracle", "false_positives")},
    }
    return {"arm": name, "seed": seed, "curve": curve, "heldout": {"biased": judged, "panel": judged}, "seconds": 2.0}


def verifier(reward: float, *, oracle: bool = True) -> dict[str, Any]:
    agreement = {
        "accuracy": asdict(wilson(7, 10)),
        "false_positives": asdict(wilson(1, 5)),
        "false_negatives": asdict(wilson(0, 0)),
    }
    one = {
        **{key: mean_rate(reward) for key in ("reward", "r_error", "r_verdict")},
        "unreadable": asdict(wilson(0, 10)),
        "by_judge": agreement,
        "by_oracle": agreement if oracle else None,
    }
    return {"examples": 10, "greedy": one, "sampled": one, "judge_by_oracle": agreement if oracle else None}


def fixer(right: float) -> dict[str, Any]:
    one = {key: mean_rate(right) for key in ("accepted", "any_accepted", "right", "any_right")}
    one["wrongly_accepted"] = asdict(wilson(1, 10))  # type: ignore[assignment]
    return {"triples": 10, "samples": 4, "greedy": one, "sampled": one}


def figures(prover: float, reward: float, right: float) -> dict[str, Any]:
    return {
        "prover": {"best_at": {"1": mean_rate(prover)}},
        "verifier": verifier(reward)["greedy"],
        "fixer": fixer(right),
    }


def settings(method: str, scale: float = 1.0) -> dict[str, Any]:
    return {"method": method, "weights": [1.0, 0.5, 0.5], "density": 0.7, "scale": scale}


def merge(merged: tuple[float, float, float] = (0.4, 0.4, 0.4)) -> dict[str, Any]:
    return {
        "tries": [
            {"settings": settings("linear"), "score": 0.3, **figures(0.3, 0.3, 0.3)},
            {"settings": settings("ties", 1.6), "score": 0.4, **figures(*merged)},
        ],
        "chosen": settings("ties", 1.6),
        "measured": {
            "base": figures(0.2, 0.2, 0.2),
            "prover": figures(0.5, 0.2, 0.3),
            "verifier": figures(0.2, 0.6, 0.2),
            "fixer": figures(0.3, 0.2, 0.2),
            "merged, linear": figures(0.3, 0.3, 0.3),
            "merged, ties": figures(*merged),
        },
        "seconds": 3.0,
    }


def method(picked: float, best: float | None = None, **others: Any) -> dict[str, Any]:
    best = picked if best is None else best
    spent = {"calls": 10, "prompt_tokens": 100, "completion_tokens": 50}
    common = {"picked": picked, "argmax": picked, "best": best, "best_by_round": [0.0, best], "passed": picked > 0}
    return {**common, "origin": "generate", "candidates": 4, "stop": "rounds", **spent, **others}


def searched(rows: Sequence[tuple[float, float, float]]) -> tuple[dict[str, Any], ...]:
    """Rows of (best-of-N, best-of-N at equal budget, search): points of what is returned."""
    return tuple(
        {
            "problem": f"p{number:03d}",
            "technique": "sums/pairing",
            "level": 1,
            "one_shot": 0.0,
            "best_of": method(one),
            "best_of_equal": method(equal),
            "maxproof": method(full, origin="patch"),
        }
        for number, (one, equal, full) in enumerate(rows)
    )


def everything(**changed: Any) -> dict[str, Any]:
    """A result for each stage; keywords, with _ for -, change some."""
    results: dict[str, Any] = {
        "base": {"parameters": 1000, "vocabulary": 300, "seconds": 5.0},
        "measure-base": measured(2, 2),
        "measure-panel-0": measured(6, 8),
        **{f"biased-{seed}": arm("biased", seed, (0.5, 0.4, 5), (0.9, 0.3, 40), (0.1, 0.4)) for seed in (0, 1)},
        **{f"panel-{seed}": arm("panel", seed, (0.4, 0.4, 5), (0.6, 0.6, 5)) for seed in (0, 1)},
        "harvest": {"kept": 3, "seconds": 0.1},
        "verifier": {
            "examples": 30,
            "base": verifier(0.2),
            "warm_up": verifier(0.4),
            "expert": verifier(0.6),
            "seconds": 2.0,
        },
        "fixer": {
            "counts": {"triples": 5, "corrections": 20, "repairs": 7},
            "base": fixer(0.2),
            "prover": fixer(0.3),
            "expert": fixer(0.5),
            "seconds": 2.0,
        },
        "merge": merge(),
    }
    return {**results, **{name.replace("_", "-"): value for name, value in changed.items()}}


def results_of(
    results: dict[str, Any], rows: Sequence[dict[str, Any]] = (), profile: LabProfile = PROFILE
) -> LabResults:
    waiting = tuple(stage.name for stage in stages(profile) if stage.name not in results)
    return LabResults(profile, results, tuple(rows), tuple(rows[:1]), {"maxproof": "0"}, waiting)


def write_run(folder: Path, results: dict[str, Any], rows: Sequence[dict[str, Any]] = ()) -> None:
    """A run folder as the stages leave it."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"profile": PROFILE.model_dump(mode="json"), "versions": {"maxproof": "0"}}
    (folder / RUN).write_text(json.dumps(kept), encoding="utf-8")
    for name, result in results.items():
        stage_folder(folder, name).mkdir(parents=True, exist_ok=True)
        (stage_folder(folder, name) / RESULT).write_text(json.dumps(result), encoding="utf-8")
    if rows:
        shard = stage_folder(folder, "search-0")
        shard.mkdir(parents=True, exist_ok=True)
        (shard / OUTCOMES).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
