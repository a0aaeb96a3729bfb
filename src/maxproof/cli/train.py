"""`maxproof train`: the experts. `prover` is proof RL with the four-layer verifier as its reward.

What does the work, and torch, is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli import train_options as t
from maxproof.cli.errors import ExitCode, needs_extra, reporting
from maxproof.cli.loop import run_async
from maxproof.cli.train_config import train_config
from maxproof.cli.train_experts import fixer, verifier
from maxproof.problems import InputError

train_app = typer.Typer(help="Train the experts: prover, verifier, fixer. Needs the extra train.", no_args_is_help=True)


@train_app.command()
def prover(
    model: t.Model,
    out: t.Out,
    problems: Annotated[
        Path | None, typer.Option("--problems", metavar="FILE", help="Problems to train on: .jsonl, .json, .csv.")
    ] = None,
    lab: Annotated[
        str | None,
        typer.Option("--lab", metavar="SPLIT:COUNT:SEED", help="Problems of the lab instead: train:2000:0."),
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
    steps: t.Steps = None,
    prompts: t.Prompts = None,
    group: t.Group = None,
    learning_rate: t.LearningRate = None,
    output_tokens: t.OutputTokens = None,
    seed: t.Seed = None,
    threads: t.Threads = 1,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Proof RL (CISPO) from CHECKPOINT, rewarded by the verifier. The same command again goes on with the run.

    Exit codes: 4 when no judge can be asked any more, 5 when a budget ended it.
    """
    with reporting(as_json), t.resumable(as_json):
        from maxproof.cli.train_settings import split_assignments, train_settings

        if problems is not None and lab is not None:
            raise InputError("expected either --problems FILE or --lab SPLIT:COUNT:SEED", field="--problems")
        of_train, others = split_assignments(assignments)
        flags: dict[str, object] = {
            "steps": steps,
            "prompts": prompts,
            "group": group,
            "learning_rate": learning_rate,
            "seed": seed,
            "sampling.max_new_tokens": output_tokens,
        }
        settings = train_settings(config, of_train | {key: value for key, value in flags.items() if value is not None})
        with needs_extra("train", "training"):
            from maxproof.cli import train_work as work
        if lab is not None:
            found = work.problems_of_lab(lab)
        elif problems is not None:
            found = work.problems_of_file(problems)
        else:
            raise InputError("no problems to train on", hint="name --problems FILE or --lab SPLIT:COUNT:SEED")
        endpoints = None
        if judges == "endpoints":
            budget = o.limit_flags(None, None, max_calls, max_tokens, max_cost, deadline)
            endpoints = o.settings_from(config, None, others, budget, base_url=base_url, model=judge_model)
        work.use_threads(threads)
        watch = work.Watch(as_json=as_json, quiet=quiet)
        done = run_async(work.train_prover(model, found, settings, out, judges, endpoints, watch))
        typer.echo(json.dumps(done.to_json(), indent=2) if as_json else done.to_text())
        if done.stopped:
            raise typer.Exit(ExitCode.BUDGET)


train_app.command()(verifier)
train_app.command()(fixer)
train_app.command("config")(train_config)
