"""What `maxproof train prover` does: its problems, its judges, its progress, and the run itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from maxproof.cli.lab_problems import problems_of_lab
from maxproof.cli.train_judges import MAX_CALLS_AT_ONCE, BudgetSpent, open_judges, until_stopped
from maxproof.lab.canonical import canonical
from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.domains import read_question
from maxproof.lab.oracle import grade
from maxproof.models.caller import JournaledCaller
from maxproof.models.template import visible
from maxproof.problems import InputError, Problem
from maxproof.problems.load import load_problems
from maxproof.search.settings import RunSettings
from maxproof.training.checkpoint import load_checkpoint
from maxproof.training.model import use_threads
from maxproof.training.reward import VerifierReward
from maxproof.training.rl import CHECKPOINT, ROLLOUTS, train_rl
from maxproof.training.rl_report import StepReport
from maxproof.training.settings import CispoSettings
from maxproof.training.types import Task
from maxproof.verifier import MAX_POINTS

__all__ = ["Trained", "problems_of_file", "problems_of_lab", "train_prover", "use_threads", "watcher"]

Watch = Callable[[StepReport], None]


@dataclass(frozen=True, slots=True)
class Trained:
    """How the run stands. `first` and `last` are of this session, None if there was nothing left to do.

    `stopped`: the budget that ended it, "" if it came to its end.
    """

    out: Path
    steps: int
    first: StepReport | None
    last: StepReport | None
    stopped: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "run": str(self.out),
            "checkpoint": str(self.out / CHECKPOINT),
            "rollouts": str(self.out / ROLLOUTS),
            "steps": self.steps,
            "first": step_json(self.first) if self.first else None,
            "last": step_json(self.last) if self.last else None,
            "stopped": self.stopped,
        }

    def to_text(self) -> str:
        lines = []
        if self.first is not None and self.last is not None:
            lines.append(
                f"Reward {_number(self.first.reward_mean)} at step {self.first.step + 1}, "
                f"{_number(self.last.reward_mean)} at step {self.last.step + 1}"
            )
            if self.last.oracle_mean is not None:
                lines.append(f"Oracle {_number(self.first.oracle_mean)}, then {_number(self.last.oracle_mean)}")
        if self.stopped:
            lines.append(f"Stopped: {self.stopped}. The same command with a larger budget goes on.")
        lines += [f"{self.steps} steps done", f"Model: {self.out / CHECKPOINT}", f"Rollouts: {self.out / ROLLOUTS}"]
        return visible("\n".join(lines))


def problems_of_file(path: Path) -> list[Problem]:
    """The problems of a file. Raises InputError, also for a statement that the model's prompt can't hold whole."""
    found = list(load_problems(path))
    for problem in found:
        if prove_prompt(problem.statement) != f"<prove> {' '.join(canonical(problem.statement).split())} <sep>":
            raise InputError(f"problem {problem.id!r} is too long for the prompt of the lab's models", file=path)
    return found


async def train_prover(
    model: Path,
    found: Sequence[Problem],
    settings: CispoSettings,
    out: Path,
    judges: str,
    endpoints: RunSettings | None,
    watch: Watch,
) -> Trained:
    """Trains, or goes on.

    Args:
        judges: `lab-biased`, `lab-panel` or `endpoints`, whose settings `endpoints` has.

    Raises what `train_rl` raises, and NoModel when an endpoint is gone.
    """
    start = load_checkpoint(model)
    tasks = [Task(problem.id, prove_prompt(problem.statement)) for problem in found]
    reports: list[StepReport] = []

    def observe(report: StepReport) -> None:
        reports[1:] = [report] if reports else []
        if not reports:
            reports.append(report)
        watch(report)

    stopped = ""
    async with open_judges(judges, endpoints, settings.seed, out, "train prover") as (verifier, caller):
        scores = VerifierReward(verifier, lambda _: caller, found, limit=MAX_CALLS_AT_ONCE, oracle=lab_oracle)
        try:
            await train_rl(start, tasks, until_stopped(scores, caller), settings, out, observe=observe)
        except BudgetSpent as error:
            stopped = str(error)
        if isinstance(caller, JournaledCaller):
            await caller.finish(stopped or "trained")
    done = load_checkpoint(out / CHECKPOINT).meta.step
    return Trained(out, done, reports[0] if reports else None, reports[-1] if reports else None, stopped)


def lab_oracle(problem: Problem, text: str) -> float | None:
    """The exact oracle's score 0..1, None for a problem that is none of the lab's. It never reaches the reward."""
    question = read_question(problem.statement)
    return None if question is None else grade(question, text).points / MAX_POINTS


# --- progress ---------------------------------------------------------------------------------------------------------


def watcher(*, as_json: bool, quiet: bool) -> Watch:
    """Shows each step on standard error: a line on a terminal, a JSON line with `as_json`, else warnings only."""
    if as_json:
        return lambda report: print(json.dumps({"event": "step", **step_json(report)}), file=sys.stderr, flush=True)
    told = not quiet and sys.stderr.isatty()

    def tell(report: StepReport) -> None:
        if report.warning and not quiet:
            print(f"maxproof: warning: {report.warning}", file=sys.stderr)
        if told:
            print(step_text(report), file=sys.stderr)

    return tell


def step_json(report: StepReport) -> dict[str, Any]:
    """A step's figures."""
    weights = report.weights
    return {
        **asdict(report),
        "weights": {
            "tokens": weights.tokens,
            "share_below": weights.share_below,
            "share_above": weights.share_above,
            "mean_ratio": weights.mean_ratio,
            "approximate_kl": weights.mean_kl,
            "all_one": weights.all_one,
        },
    }


def step_text(report: StepReport) -> str:
    """A step in one line."""
    parts = [
        f"step {report.step + 1}/{report.steps}",
        f"reward {_number(report.reward_mean)}",
        *([f"oracle {_number(report.oracle_mean)}"] if report.oracle_mean is not None else []),
        f"pass {_number(report.pass_rate)}",
        f"groups {report.kept}/{report.groups}",
        *([f"not scored {report.rollouts - report.scored}"] if report.scored < report.rollouts else []),
        f"{report.length_mean:.0f} tokens",
        f"{report.sampling_s:.1f}+{report.reward_s:.1f}+{report.training_s:.1f} s",
        f"ETA {int(report.eta_s) // 60}:{int(report.eta_s) % 60:02}",
    ]
    return "  ".join(parts)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
