"""What `maxproof train verifier` and `maxproof train fixer` do: the training, its progress, and what it came to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from maxproof.cli.train_judges import MAX_CALLS_AT_ONCE, BudgetSpent, open_judges, until_stopped
from maxproof.cli.train_watch import Watch
from maxproof.lab.canonical import canonical
from maxproof.lab.generate import lab_problem
from maxproof.lab.oracle import true_verdict
from maxproof.models.caller import JournaledCaller
from maxproof.models.template import visible
from maxproof.problems import InputError, Problem, load_problems
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings
from maxproof.statistics import MeanRate, Rate
from maxproof.training.checkpoint import load_checkpoint, save_checkpoint
from maxproof.training.fixer import FixerEvaluation, FixerSettings, RepairCounts, evaluate_fixer, train_fixer
from maxproof.training.harvest import Triple
from maxproof.training.harvest_files import read_harvest, read_triples
from maxproof.training.model import use_threads
from maxproof.training.reward import VerifierReward
from maxproof.training.verifier_expert import (
    VerifierEvaluation,
    VerifierExpertSettings,
    VerifierFigures,
    all_in_marks,
    evaluate_verifier,
    train_verifier,
)

__all__ = ["FixerPlan", "Watch", "train_fixer_expert", "train_verifier_expert", "use_threads"]

CHECKPOINT, EVALUATION = "checkpoint", "evaluation.json"


@dataclass(frozen=True, slots=True)
class VerifierDone:
    """A trained verifier expert; figures on the held-out split, None where that has no example."""

    out: Path
    examples: int
    before: VerifierEvaluation | None
    after: VerifierEvaluation | None

    def to_json(self) -> dict[str, Any]:
        return {
            "run": str(self.out),
            "checkpoint": str(self.out / CHECKPOINT),
            "examples": self.examples,
            "before": self.before.to_json() if self.before else None,
            "after": self.after.to_json() if self.after else None,
        }

    def to_text(self) -> str:
        lines = [f"Trained on {self.examples} examples"]
        if self.before is None or self.after is None:
            lines.append("Not measured: the harvest has no held-out example")
        else:
            lines.append(f"On {self.after.examples} held-out examples, before -> after, with 95 % intervals:")
            for name in ("greedy", "sampled"):
                lines += _verifier_lines(name, getattr(self.before, name), getattr(self.after, name))
        return visible("\n".join([*lines, f"Model: {self.out / CHECKPOINT}"]))


@dataclass(frozen=True, slots=True)
class FixerPlan:
    """What `maxproof train fixer` was asked for; see its options."""

    model: Path
    harvest: Path
    out: Path
    student: Path | None
    problems: Path | None
    judges: str
    endpoints: RunSettings | None
    settings: FixerSettings
    seed: int


@dataclass(frozen=True, slots=True)
class FixerDone:
    """A trained fixer expert; figures on held-out triples, None where there are none.

    `stopped`: the budget that ended the run before it was trained or measured, "" if none did.
    """

    out: Path
    counts: RepairCounts | None
    before: FixerEvaluation | None
    after: FixerEvaluation | None
    stopped: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "run": str(self.out),
            "checkpoint": str(self.out / CHECKPOINT) if (self.out / CHECKPOINT).exists() else None,
            "counts": asdict(self.counts) if self.counts else None,
            "before": self.before.to_json() if self.before else None,
            "after": self.after.to_json() if self.after else None,
            "stopped": self.stopped,
        }

    def to_text(self) -> str:
        lines = [counts_text(self.counts)] if self.counts else []
        if self.before is not None and self.after is not None:
            lines.append(
                f"On {self.after.triples} held-out flawed proofs of {self.after.problems} problems, before -> after:"
            )
            for name in ("greedy", "sampled"):
                before, after = getattr(self.before, name), getattr(self.after, name)
                lines.append(f"  {name}: accepted {_rate(before.accepted)} -> {_rate(after.accepted)}")
                if before.right is not None and after.right is not None:
                    lines.append(f"  {name}: right by the oracle {_rate(before.right)} -> {_rate(after.right)}")
        elif not self.stopped:
            lines.append("Not measured: the harvest has no held-out flawed proof")
        if self.stopped:
            lines.append(f"Stopped: {self.stopped}. The same command with a larger budget goes on.")
        if (self.out / CHECKPOINT).exists():
            lines.append(f"Model: {self.out / CHECKPOINT}")
        return visible("\n".join(lines))


async def train_verifier_expert(
    model: Path, harvest: Path, settings: VerifierExpertSettings, seed: int, out: Path, watch: Watch
) -> VerifierDone:
    """Trains, or goes on, and measures the start and the result on the held-out split.

    Raises what `read_harvest`, `train_verifier` and `save_checkpoint` raise.
    """
    examples = read_harvest(harvest, "train")
    held_out = read_harvest(harvest, "validation")
    start = load_checkpoint(model)
    trained = await train_verifier(start, examples, settings, out, seed, progress=watch.sft, observe=watch.step)
    save_checkpoint(out / CHECKPOINT, trained)
    before = after = None
    if held_out:
        watch.note("measures on the held-out examples")
        before = await evaluate_verifier(start, held_out, true_verdict, seed=seed)
        after = await evaluate_verifier(trained, held_out, true_verdict, seed=seed)
    done = VerifierDone(out, len(all_in_marks(examples)), before, after)
    write_atomically(out / EVALUATION, json.dumps(done.to_json(), indent=2) + "\n")
    return done


async def train_fixer_expert(plan: FixerPlan, watch: Watch) -> FixerDone:
    """Samples repairs, trains, and measures the student before and after on held-out triples.

    Raises what `read_triples`, `train_fixer` and `save_checkpoint` raise, and NoModel when an endpoint is gone.
    """
    triples = read_triples(plan.harvest, "train")
    held_out = read_triples(plan.harvest, "validation")
    start = load_checkpoint(plan.model)
    student = load_checkpoint(plan.student) if plan.student is not None else start
    problems = problems_of((*triples, *held_out), plan.problems)
    counts: list[RepairCounts] = []
    before = after = None
    stopped = ""

    def tell(found: RepairCounts) -> None:
        counts.append(found)
        watch.note(counts_text(found))

    async with open_judges(plan.judges, plan.endpoints, plan.seed, plan.out, "train fixer") as (verifier, caller):
        scores = VerifierReward(verifier, lambda _: caller, problems.values(), limit=MAX_CALLS_AT_ONCE)
        score = until_stopped(scores, caller)
        watch.note("samples corrections")
        try:
            trained = await train_fixer(
                start,
                triples,
                score,
                plan.settings,
                plan.out,
                plan.seed,
                student=student,
                progress=watch.sft,
                tell=tell,
            )
            save_checkpoint(plan.out / CHECKPOINT, trained)
            if held_out:
                watch.note("measures on the held-out flawed proofs")
                # Rollouts of the training have step 0: no held-out candidate shares an address with one of them.
                before, after = [
                    await evaluate_fixer(one, held_out, score, plan.settings, plan.seed, step=step, oracle=true_verdict)
                    for step, one in ((1, student), (3, trained))
                ]
        except BudgetSpent as error:
            stopped = str(error)
        if isinstance(caller, JournaledCaller):
            await caller.finish(stopped or "trained")
    done = FixerDone(plan.out, counts[0] if counts else None, before, after, stopped)
    write_atomically(plan.out / EVALUATION, json.dumps(done.to_json(), indent=2) + "\n")
    return done


def problems_of(triples: Sequence[Triple], path: Path | None) -> dict[str, Problem]:
    """The problems of these triples: those of `path` by id, problems of the lab by their id, else the bare statement.

    Raises InputError for a triple whose problem `path` doesn't have.
    """
    given = {problem.id: problem for problem in load_problems(path)} if path is not None else None
    found: dict[str, Problem] = {}
    for triple in triples:
        if triple.problem in found:
            continue
        if given is not None and triple.problem not in given:
            raise InputError(f"no problem {triple.problem!r}, which the harvest has", file=path, field="--problems")
        found[triple.problem] = given[triple.problem] if given is not None else _stated(triple)
    return found


def _stated(triple: Triple) -> Problem:
    """The lab's own problem, with rubric and reference, where id and statement are its; else the statement alone."""
    domain, technique, level, seed = (*triple.problem.split("-"), "", "", "")[:4]
    if level.isdecimal() and seed.isdecimal() and max(len(level), len(seed)) <= 12:
        try:
            made = lab_problem(domain, technique, int(level), int(seed)).problem
        except (KeyError, ValueError):
            made = None
        if made is not None and made.id == triple.problem and canonical(made.statement) == canonical(triple.statement):
            return made
    return Problem(triple.problem, triple.statement)


# --- figures ---------------------------------------------------------------------------------------------------------


def counts_text(counts: RepairCounts) -> str:
    """What became of the corrections, in one line."""
    return (
        f"{counts.repairs} repairs of {counts.repaired} of {counts.triples} flawed proofs, from {counts.corrections} "
        f"corrections: {counts.rejected} rejected, {counts.unchanged} unchanged, {counts.not_scored} not scored, "
        f"{counts.repeated + counts.beyond_keep} more than are kept"
    )


def _verifier_lines(name: str, before: VerifierFigures, after: VerifierFigures) -> list[str]:
    pairs: list[tuple[str, Rate | MeanRate, Rate | MeanRate]] = [
        ("R", before.reward, after.reward),
        ("right verdict", before.by_judge.accuracy, after.by_judge.accuracy),
        ("false positives", before.by_judge.false_positives, after.by_judge.false_positives),
        ("false negatives", before.by_judge.false_negatives, after.by_judge.false_negatives),
        ("unreadable", before.unreadable, after.unreadable),
    ]
    if before.by_oracle is not None and after.by_oracle is not None:
        pairs += [
            ("false positives by the oracle", before.by_oracle.false_positives, after.by_oracle.false_positives),
            ("false negatives by the oracle", before.by_oracle.false_negatives, after.by_oracle.false_negatives),
        ]
    return [f"  {name}: {what} {_rate(old)} -> {_rate(new)}" for what, old, new in pairs]


def _rate(rate: Rate | MeanRate) -> str:
    if isinstance(rate, Rate) and not rate.total:
        return "none"
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
