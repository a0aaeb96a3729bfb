"""The `maxproof` command: what the subcommands are, and the streams they find."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated, cast

import typer

from maxproof import __version__
from maxproof.cli.calibrate import calibrate
from maxproof.cli.data import data_app
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.eval import eval_app
from maxproof.cli.formal import formal_app
from maxproof.cli.harvest import harvest
from maxproof.cli.init import init
from maxproof.cli.lab import lab_app
from maxproof.cli.merge import merge
from maxproof.cli.mock import mock
from maxproof.cli.models import models_app
from maxproof.cli.monitor import monitor
from maxproof.cli.prove import prove, resume
from maxproof.cli.reward import reward_app
from maxproof.cli.runs import report, show
from maxproof.cli.study import study
from maxproof.cli.train import train_app
from maxproof.cli.verify import verify
from maxproof.models.schemes import Connect, register_scheme
from maxproof.problems import InputError

# typer exports this one of its usage errors only; their common base is what is caught.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

_EPILOG = (
    "Exit codes: 0 a proof passed, or the work was done; 2 bad input; 3 no proof passed, or an alarm; 4 no model; "
    "5 budget spent; 6 not scored; 130 interrupted (resumable)."
)

app = typer.Typer(
    help="From a mathematical problem to a proof that can be trusted.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"maxproof {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _open_lab(folder: str) -> AbstractContextManager[Connect]:
    from maxproof.training.lab_endpoint import open_lab

    return open_lab(folder)


register_scheme("lab:", _open_lab)

app.command()(prove)
app.command()(verify)
app.command()(resume)
app.command()(show)
app.command()(report)
app.add_typer(formal_app, name="formal")
app.add_typer(train_app, name="train")
app.command()(harvest)
app.add_typer(reward_app, name="reward")
app.command()(merge)
app.command()(monitor)
app.add_typer(data_app, name="data")
app.add_typer(eval_app, name="eval")
app.command()(calibrate)
app.command()(study)
app.add_typer(lab_app, name="lab")
app.add_typer(models_app, name="models")
app.command()(init)
app.command()(mock)


def main() -> None:
    """The console script."""
    _prepare_streams()
    as_json = "--json" in sys.argv[1:]
    try:
        code = app(standalone_mode=False, prog_name="maxproof")
    except _UsageError as error:
        if not error.format_message().strip():  # a group without a command: its help was printed
            sys.exit(ExitCode.BAD_INPUT)
        place = _command_path(sys.argv[1:]) if error.ctx is None else error.ctx.command_path
        message = error.format_message().strip().replace(": Value error, ", ": ")
        with reporting(as_json):
            raise InputError(message, hint=f"{place} --help lists what there is") from None
    except typer.Abort:
        code = ExitCode.INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _command_path(words: Sequence[str]) -> str:
    """The command that `words` name, for a usage error that does not say: of an option that lacks its value."""
    commands, path = getattr(typer.main.get_command(app), "commands", {}), ["maxproof"]
    for word in words:
        if word not in commands:
            break
        path.append(word)
        commands = getattr(commands[word], "commands", {})
    return " ".join(path)


def _prepare_streams() -> None:
    """Output is never lost to a closed descriptor, nor stopped by a character that the terminal does not know."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:  # closed by the caller: the next file or socket opened would take its place
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
