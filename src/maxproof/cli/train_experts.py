"""`maxproof train verifier` and `maxproof train fixer`: the experts made from the by-products of proof RL.

What does the work, and torch, is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli import train_options as t
from maxproof.cli.errors import ExitCode, needs_extra, reporting
from maxproof.cli.loop import run_async
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.training.settings import SftSettings


def verifier(
    model: t.Model,
    harvest: t.Harvest,
    out: t.Out,
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    sft_steps: t.SftSteps = None,
    sft_learning_rate: t.SftRate = None,
    sft_batch: t.SftBatch = None,
    rl: Annotated[bool, typer.Option("--rl/--no-rl", help="RL after the SFT warm-up.")] = True,
    steps: t.Steps = None,
    prompts: t.Prompts = None,
    group: t.Group = None,
    learning_rate: t.LearningRate = None,
    seed: t.Seed = None,
    threads: t.Threads = 1,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Verifier expert: SFT on a harvest, then RL with R = 0.7 R_error + 0.3 R_verdict; measured on its held-out split.

    The same command again goes on with the run.
    """
    with reporting(as_json), t.resumable(as_json):
        from maxproof.cli.train_settings import split_assignments, train_settings
        from maxproof.training.verifier_expert import VerifierExpertSettings

        of_train, others = split_assignments(assignments)
        if others:
            raise InputError(f"expected train.KEY=VALUE, got {others[0]!r}", field="--set")
        flags: dict[str, object] = {
            "steps": steps,
            "prompts": prompts,
            "group": group,
            "learning_rate": learning_rate,
            "seed": seed,
        }
        cispo = train_settings(config, of_train | {key: value for key, value in flags.items() if value is not None})
        settings = VerifierExpertSettings(
            sft=_sft(VerifierExpertSettings().sft, sft_steps, sft_learning_rate, sft_batch), rl=cispo if rl else None
        )
        with needs_extra("train", "training"):
            from maxproof.cli import train_experts_work as work
        work.use_threads(threads)
        watch = work.Watch(as_json=as_json, quiet=quiet)
        done = run_async(work.train_verifier_expert(model, harvest, settings, cispo.seed, out, watch))
        typer.echo(json.dumps(done.to_json(), indent=2) if as_json else done.to_text())


def fixer(
    model: t.Model,
    harvest: t.Harvest,
    out: t.Out,
    student: Annotated[
        Path | None,
        typer.Option("--student", metavar="CHECKPOINT", help="What is trained, where that is not the sampler itself."),
    ] = None,
    problems: Annotated[
        Path | None,
        typer.Option("--problems", metavar="FILE", help="The harvest's problems, for judges with a rubric."),
    ] = None,
    judges: t.JudgesOption = "endpoints",
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    base_url: o.BaseUrl = None,
    judge_model: t.JudgeModel = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    triples: Annotated[int | None, typer.Option("--triples", min=1, help="Flawed proofs at most.")] = None,
    corrections: Annotated[int, typer.Option("--corrections", min=1, max=1024, help="Sampled a flawed proof.")] = 6,
    accept: Annotated[
        Literal["no_errors", "minor_gaps"], typer.Option("--accept", help="The worst verdict that is accepted.")
    ] = "no_errors",
    keep: Annotated[int, typer.Option("--keep", min=1, help="Different repairs of one flawed proof at most.")] = 2,
    sft_steps: t.SftSteps = None,
    sft_learning_rate: t.SftRate = None,
    sft_batch: t.SftBatch = None,
    output_tokens: t.OutputTokens = None,
    seed: t.Seed = None,
    threads: t.Threads = 1,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Fixer expert: sampled repairs of a harvest's flawed proofs, SFT on those the judges accept.

    The same command again goes on with the run. Exit codes: 5 when a budget ended it.
    """
    with reporting(as_json), t.resumable(as_json):
        from maxproof.training.fixer import FixerSettings

        defaults = FixerSettings()
        sampling = defaults.sampling
        if output_tokens is not None:
            if output_tokens < 1:
                raise InputError(f"expected at least 1, got {output_tokens}", field="--output-tokens")
            sampling = sampling.model_copy(update={"max_new_tokens": output_tokens})
        settings = FixerSettings(
            triples=triples,
            corrections=corrections,
            accept=accept,
            keep=keep,
            sampling=sampling,
            sft=_sft(defaults.sft, sft_steps, sft_learning_rate, sft_batch),
        )
        endpoints = None
        if judges == "endpoints":
            budget = o.limit_flags(None, None, max_calls, max_tokens, max_cost, deadline)
            endpoints = o.settings_from(config, None, assignments, budget, base_url=base_url, model=judge_model)
        with needs_extra("train", "training"):
            from maxproof.cli import train_experts_work as work
        work.use_threads(threads)
        watch = work.Watch(as_json=as_json, quiet=quiet)
        plan = work.FixerPlan(model, harvest, out, student, problems, judges, endpoints, settings, seed or 0)
        done = run_async(work.train_fixer_expert(plan, watch))
        typer.echo(json.dumps(done.to_json(), indent=2) if as_json else done.to_text())
        if done.stopped:
            raise typer.Exit(ExitCode.BUDGET)


def _sft(defaults: SftSettings, steps: int | None, learning_rate: float | None, batch: int | None) -> SftSettings:
    """The defaults with what is given. Raises InputError."""
    if learning_rate is not None and not 0 < learning_rate < float("inf"):
        raise InputError(f"expected a number above 0, got {learning_rate}", field="--sft-learning-rate")
    given = {"steps": steps, "learning_rate": learning_rate, "batch": batch}
    return defaults.model_copy(update={key: value for key, value in given.items() if value is not None})
