"""What `maxproof train prover` does: its problems, its judges, its progress, and the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maxproof.cli.lab_problems import problems_of_lab
from maxproof.cli.train_judges import MAX_CALLS_AT_ONCE, BudgetSpent, open_judges, until_stopped
from maxproof.cli.train_watch import Watch, decimals, step_json
from maxproof.lab.canonical import canonical
from maxproof.lab.dialogue import prove_prompt
from maxproof.lab.oracle import true_score
from maxproof.models.caller import JournaledCaller
from maxproof.models.template import visible
from maxproof.problems import InputError, Problem
from maxproof.problems.load import load_problems
from maxproof.search.settings import RunSettings
from maxproof.training.checkpoint import load_checkpoint
from maxproof.training.model import use_threads
from maxproof.training.reward import VerifierReward
from maxproof.training.rl import train_rl
from maxproof.training.rl_folder import CHECKPOINT, ROLLOUTS
from maxproof.training.rl_report import StepReport
from maxproof.training.settings import CispoSettings
from maxproof.training.types import Task

__all__ = ["Trained", "Watch", "problems_of_file", "problems_of_lab", "train_prover", "use_threads"]


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
                f"Reward {decimals(self.first.reward_mean)} at step {self.first.step + 1}, "
                f"{decimals(self.last.reward_mean)} at step {self.last.step + 1}"
            )
            if self.last.oracle_mean is not None:
                lines.append(f"Oracle {decimals(self.first.oracle_mean)}, then {decimals(self.last.oracle_mean)}")
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
        watch.step(report)

    stopped = ""
    async with open_judges(judges, endpoints, settings.seed, out, "train prover") as (verifier, caller):
        scores = VerifierReward(
            verifier,
            lambda _: caller,
            found,
            limit=MAX_CALLS_AT_ONCE,
            oracle=lambda problem, text: true_score(problem.statement, text),
        )
        try:
            await train_rl(start, tasks, until_stopped(scores, caller), settings, out, observe=observe)
        except BudgetSpent as error:
            stopped = str(error)
        if isinstance(caller, JournaledCaller):
            await caller.finish(stopped or "trained")
    done = load_checkpoint(out / CHECKPOINT).meta.step
    return Trained(out, done, reports[0] if reports else None, reports[-1] if reports else None, stopped)
