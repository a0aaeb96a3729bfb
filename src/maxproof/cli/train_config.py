"""`maxproof train config`: the settings of proof RL in another trainer's words.

What does the work is imported when the command runs: the command line starts without it.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.training.dialects.spec import DialectConfig

_MACHINES = "Machines"


def train_config(
    trainer: Annotated[str, typer.Option("--trainer", help="trl, verl, slime, nemo-rl, skyrl or ms-swift.")],
    model: Annotated[str, typer.Option("--model", "-m", help="Folder or name of the model to train.")],
    data: Annotated[str, typer.Option("--data", help="The prompts, in the trainer's own format.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into; made if it is not there.")],
    checkpoints: Annotated[str, typer.Option("--checkpoints", help="Where the trainer saves.")] = "checkpoints",
    reward_url: Annotated[
        str, typer.Option("--reward-url", help="The reward server, as the trainer's workers reach it.")
    ] = "http://127.0.0.1:8300",
    nodes: Annotated[int, typer.Option("--nodes", min=1, rich_help_panel=_MACHINES)] = 1,
    gpus: Annotated[int, typer.Option("--gpus", min=1, help="On each node.", rich_help_panel=_MACHINES)] = 8,
    micro_batch: Annotated[
        int, typer.Option("--micro-batch", min=1, help="Sequences on a GPU at once.", rich_help_panel=_MACHINES)
    ] = 1,
    tensor_parallel: Annotated[
        int, typer.Option("--tensor-parallel", min=1, help="GPUs of one rollout engine.", rich_help_panel=_MACHINES)
    ] = 1,
    prompt_tokens: Annotated[int, typer.Option("--prompt-tokens", min=1, help="The longest prompt.")] = 1024,
    config: o.ConfigPath = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of \\[train], e.g. train.weight_high=4.0."),
    ] = None,
    as_json: o.Json = False,
) -> None:
    r"""Write \[train] of maxproof.toml as the configuration of another trainer, and say what differs."""
    with reporting(as_json):
        from maxproof.cli.train_settings import split_assignments, train_settings
        from maxproof.training.dialects.spec import Launch, spec_of
        from maxproof.training.dialects.trainers import translator

        translate = translator(trainer)
        ours, others = split_assignments(assignments)
        if others:
            raise InputError(f"expected train.KEY=VALUE, got {others[0]!r}", field="--set")
        launch = Launch(model, data, checkpoints, nodes, gpus, micro_batch, prompt_tokens, tensor_parallel, reward_url)
        found = translate(spec_of(train_settings(config, ours)), launch)
        paths = _write(found, out)
        if as_json:
            value = {"trainer": found.trainer, "version": found.version, "notes": found.notes}
            typer.echo(json.dumps({**value, "files": [str(path) for path in paths]}, indent=2))
            return
        typer.echo(f"Written for {found.version}: " + ", ".join(shlex.quote(str(path)) for path in paths))
        for note in found.notes:
            typer.echo(f"- {note}")


def _write(config: DialectConfig, out: Path) -> list[Path]:
    from maxproof.search.run_folder import write_atomically

    paths = [out / name for name in config.files]
    taken = [path for path in paths if path.exists() and path.read_bytes() != config.files[path.name].encode()]
    if taken:
        raise InputError("exists with other content", file=taken[0], hint="move it away, or name another --out")
    out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        write_atomically(path, config.files[path.name])
        if path.suffix == ".sh":
            path.chmod(path.stat().st_mode | 0o111)
    return paths
