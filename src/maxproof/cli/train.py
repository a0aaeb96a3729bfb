"""`maxproof train`: the experts. `prover` is proof RL with the four-layer verifier as its reward.

What does the work, and torch, is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.loop import run_async
from maxproof.problems import InputError

train_app = typer.Typer(help="Train the experts: prover, verifier, fixer. Needs the extra train.", no_args_is_help=True)

Judges = Literal["lab-biased", "lab-panel", "endpoints"]
_TRAIN, _JUDGES = "Training ([train] of maxproof.toml)", "Judges"


@train_app.command()
def prover(
    model: Annotated[Path, typer.Option("--model", "-m", metavar="CHECKPOINT", help="The model to start from.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the run; the run in it goes on if there is one.")
    ],
    problems: Annotated[
        Path | None, typer.Option("--problems", metavar="FILE", help="Problems to train on: .jsonl, .json, .csv.")
    ] = None,
    lab: Annotated[
        str | None,
        typer.Option("--lab", metavar="SPLIT:COUNT:SEED", help="Problems of the lab instead: train:2000:0."),
    ] = None,
    judges: Annotated[
        Judges,
        typer.Option(help="The configured models, or judges of the lab, with known faults.", rich_help_panel=_JUDGES),
    ] = "endpoints",
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    base_url: o.BaseUrl = None,
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="Default: the server's first.", rich_help_panel=_JUDGES),
    ] = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Batches. Default 60.", rich_help_panel=_TRAIN, show_default=False)
    ] = None,
    prompts: Annotated[
        int | None,
        typer.Option("--prompts", help="Problems a step. Default 16.", rich_help_panel=_TRAIN, show_default=False),
    ] = None,
    group: Annotated[
        int | None,
        typer.Option("--group", help="G, rollouts a problem. Default 8.", rich_help_panel=_TRAIN, show_default=False),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option("--learning-rate", help="Default 0.0003.", rich_help_panel=_TRAIN, show_default=False),
    ] = None,
    output_tokens: Annotated[
        int | None,
        typer.Option(
            "--output-tokens", help="The most one rollout may have. Default 128.", rich_help_panel=_TRAIN,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Default 0.", rich_help_panel=_TRAIN, show_default=False)
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=1, help="Of torch; 1 is fastest for small models.", rich_help_panel=_TRAIN)
    ] = 1,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Proof RL (CISPO) from CHECKPOINT, rewarded by the verifier. The same command again goes on with the run."""
    with reporting(as_json), _resumable(as_json):
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
        try:
            from maxproof.cli import train_work as work
        except ImportError as error:
            if error.name is None or error.name.startswith("maxproof"):
                raise
            raise InputError(
                f"training needs {error.name}, which is not installed",
                hint="install it with: pip install 'maxproof[train]'",
            ) from None
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
        watch = work.watcher(as_json=as_json, quiet=quiet)
        done = run_async(work.train_prover(model, found, settings, out, judges, endpoints, watch))
        typer.echo(json.dumps(done.to_json(), indent=2) if as_json else done.to_text())
        if done.stopped:
            raise typer.Exit(ExitCode.BUDGET)


@contextmanager
def _resumable(as_json: bool) -> Iterator[None]:
    """Tells how to go on after an interrupt: a training run is resumed by its own command."""
    try:
        yield
    except KeyboardInterrupt:
        hint = "the finished steps are kept: the same command goes on"
        if as_json:
            event = {"event": "error", "exit_code": int(ExitCode.INTERRUPTED), "message": "interrupted", "hint": hint}
            typer.echo(json.dumps(event))
        else:
            typer.echo(f"maxproof: error: interrupted ({hint})", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
