"""What the commands of `maxproof train` share: their options, and how they end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from maxproof.cli.errors import ExitCode

_TRAIN, _JUDGES = r"Training (\[train] of maxproof.toml)", "Judges"

Judges = Literal["lab-biased", "lab-panel", "endpoints"]

Model = Annotated[Path, typer.Option("--model", "-m", metavar="CHECKPOINT", help="The model to start from.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder of the run; the run in it goes on if there is one.")]
Harvest = Annotated[Path, typer.Option("--harvest", metavar="FOLDER", help="What `maxproof harvest` wrote.")]
JudgesOption = Annotated[
    Judges,
    typer.Option(
        "--judges", help="The configured models, or judges of the lab, with known faults.", rich_help_panel=_JUDGES
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="Default: the server's first.", rich_help_panel=_JUDGES)
]
Steps = Annotated[
    int | None, typer.Option("--steps", help="Batches. Default 60.", rich_help_panel=_TRAIN, show_default=False)
]
Prompts = Annotated[
    int | None,
    typer.Option("--prompts", help="Prompts a step. Default 16.", rich_help_panel=_TRAIN, show_default=False),
]
Group = Annotated[
    int | None,
    typer.Option("--group", help="G, rollouts a prompt. Default 8.", rich_help_panel=_TRAIN, show_default=False),
]
LearningRate = Annotated[
    float | None,
    typer.Option("--learning-rate", help="Default 0.0003.", rich_help_panel=_TRAIN, show_default=False),
]
OutputTokens = Annotated[
    int | None,
    typer.Option(
        "--output-tokens",
        help="The most one rollout may have. Default 128.",
        rich_help_panel=_TRAIN,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Default 0.", rich_help_panel=_TRAIN, show_default=False)
]
Threads = Annotated[
    int, typer.Option("--threads", min=1, help="Of torch; 1 is fastest for small models.", rich_help_panel=_TRAIN)
]
SftSteps = Annotated[int | None, typer.Option("--sft-steps", min=1, help="Default 300.", show_default=False)]
SftRate = Annotated[
    float | None, typer.Option("--sft-learning-rate", help="Of SFT. Default 0.0005.", show_default=False)
]
SftBatch = Annotated[
    int | None, typer.Option("--sft-batch", min=1, help="Examples a step of SFT. Default 48.", show_default=False)
]


@contextmanager
def resumable(as_json: bool) -> Iterator[None]:
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
