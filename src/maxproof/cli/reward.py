"""`maxproof reward serve`: the verifier as a reward over HTTP, for any trainer.

What does the work is imported when the command runs: the command line starts without it.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import needs_extra, reporting
from maxproof.cli.loop import run_async
from maxproof.cli.train_options import JudgeModel, JudgesOption
from maxproof.problems import InputError

reward_app = typer.Typer(help="The verifier as a reward for trainers. Needs the extra serve.", no_args_is_help=True)

_PROBLEMS, _SERVER = "Problems", "Server"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@reward_app.callback()
def _group() -> None:
    """Keeps `serve` a command of the group, though it is the only one."""


@reward_app.command()
def serve(
    problems: Annotated[
        Path | None,
        typer.Option("--problems", metavar="FILE", help=".jsonl, .json or .csv.", rich_help_panel=_PROBLEMS),
    ] = None,
    lab: Annotated[
        str | None,
        typer.Option(
            "--lab",
            metavar="SPLIT:COUNT:SEED",
            help="Problems of the lab instead: train:2000:0.",
            rich_help_panel=_PROBLEMS,
        ),
    ] = None,
    judges: JudgesOption = "endpoints",
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    base_url: o.BaseUrl = None,
    judge_model: JudgeModel = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the lab's judges.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder of the journal: what it holds is never paid for again."),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="0.0.0.0: all interfaces. It asks for no password.", rich_help_panel=_SERVER)
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="0: any free one.", rich_help_panel=_SERVER)
    ] = 8300,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Judge calls in flight, over all requests.", rich_help_panel=_SERVER)
    ] = 32,
    queue: Annotated[
        int, typer.Option("--queue", min=1, help="Rollouts in flight, over all requests.", rich_help_panel=_SERVER)
    ] = 8192,
    body_mib: Annotated[
        int, typer.Option("--body-mib", min=1, help="The largest request, MiB.", rich_help_panel=_SERVER)
    ] = 64,
    grace: Annotated[
        int, typer.Option("--grace", min=0, help="Seconds for running requests at the end.", rich_help_panel=_SERVER)
    ] = 60,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Log warnings only.")] = False,
) -> None:
    """Serve rewards at POST /v1/rewards, with /health and /metrics, until Ctrl-C or SIGTERM.

    Prints its URL. Problems may also be stated in a request, then none need be named here.
    """
    with reporting():
        if problems is not None and lab is not None:
            raise InputError("expected either --problems FILE or --lab SPLIT:COUNT:SEED", field="--problems")
        with needs_extra("serve", "the reward server"):
            from maxproof.cli import reward_work as work
        endpoints = None
        if judges == "endpoints":
            if out is None:
                raise InputError("expected a folder for the journal of the judges' calls", field="--out")
            budget = o.limit_flags(None, None, max_calls, max_tokens, max_cost, None)
            endpoints = o.settings_from(config, None, assignments, budget, base_url=base_url, model=judge_model)
        known = work.problems_by_id(problems, lab)
        _log(quiet)
        if host not in LOOPBACK and not quiet:
            typer.echo("maxproof: warning: whoever reaches this port can make the judges work", err=True)
        server = work.Server(host, port, limit, queue, body_mib * 1024 * 1024, grace)
        with suppress(KeyboardInterrupt):  # how a server ends
            run_async(work.serve(known, judges, endpoints, seed, out, server, ready=typer.echo))


def _log(quiet: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        format="%(asctime)s %(name)s: %(message)s",
        level=logging.WARNING if quiet else logging.INFO,
    )
