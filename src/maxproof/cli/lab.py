"""`maxproof lab`: the proof world, and the study of the whole pipeline in it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.cli.lab_world import grade, problems
from maxproof.cli.train_options import resumable

if TYPE_CHECKING:
    from maxproof.evaluation.lab.stages import Stage, StageState

lab_app = typer.Typer(
    help="A small proof world with an exact oracle: its problems, and the whole pipeline run and measured in it.",
    no_args_is_help=True,
)
lab_app.command()(problems)
lab_app.command()(grade)

PLAIN_EVERY_S = 30.0


class _View(Protocol):
    def __call__(self, now: Sequence[StageState]) -> None: ...


@lab_app.command()
def run(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the run; one that exists is gone on with.")],
    profile: Annotated[
        str | None, typer.Option("--profile", help="standard (default for a new run) or tiny.", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes at once, one thread each. Default: the cores.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of the world, the models and the searches; 0 for a new run.")
    ] = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Run the whole pipeline: base model, proof RL under two kinds of reward, experts, merge, searches, report.

    Everything is trained and measured here, on the CPU. A run that was stopped goes on where it was.
    """
    with reporting(as_json), resumable(as_json):
        from maxproof.evaluation.lab.pipeline import RUN, read_lab, run_lab, stages
        from maxproof.evaluation.lab.profile import profile_named
        from maxproof.evaluation.lab.report import write_report

        chosen = None
        if profile is not None or seed is not None or not (out / RUN).exists():
            chosen = profile_named(profile or "standard")
            if seed is not None:
                chosen = chosen.model_copy(update={"seed": seed})
        count = workers or len(os.sched_getaffinity(0))
        plan = stages(chosen if chosen is not None else read_lab(out))
        with _view(plan, count, as_json=as_json, quiet=quiet) as view:
            run_lab(out, chosen, count, view)
        paths = write_report(out)
        if as_json:
            typer.echo(json.dumps({"run": str(out), "report": [str(path) for path in paths]}))
        else:
            typer.echo(f"Report: {', '.join(str(path) for path in paths)}")


@lab_app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a lab run.")],
    as_json: Annotated[bool, typer.Option("--json", help="All measured numbers as JSON on stdout.")] = False,
) -> None:
    """Write the report of RUN again (report.html, report.md) from what is measured so far."""
    with reporting(as_json):
        from maxproof.evaluation.lab.report import write_report
        from maxproof.evaluation.lab.results import read_results

        paths = write_report(run)
        if as_json:
            typer.echo(json.dumps(read_results(run).to_json(), indent=2))
        else:
            for path in paths:
                typer.echo(path)


@contextmanager
def _view(stages: Sequence[Stage], workers: int, *, as_json: bool, quiet: bool) -> Iterator[_View]:
    """Shows on standard error how the stages stand: a live table, plain lines, JSON lines, or nothing."""
    import time

    from maxproof.evaluation.lab.stages import remaining_s

    last = 0.0

    def seldom(now: Sequence[StageState]) -> bool:
        nonlocal last
        if time.monotonic() - last < PLAIN_EVERY_S and any(s.state != "done" for s in now):
            return False
        last = time.monotonic()
        return True

    def line(now: Sequence[StageState]) -> str:
        left = remaining_s(stages, now, workers)
        running = "; ".join(f"{s.name}: {s.text}" for s in now if s.state == "running") or "waiting"
        eta = f", about {left / 60:.0f} min left" if left is not None else ""
        return f"{sum(s.state == 'done' for s in now)} of {len(now)} stages done{eta}. {running}"

    if quiet:
        yield lambda now: None
    elif as_json:

        def tell(now: Sequence[StageState]) -> None:
            if seldom(now):
                event = {"event": "stages", "done": [s.name for s in now if s.state == "done"], "text": line(now)}
                print(json.dumps(event), file=sys.stderr)

        yield tell
    elif not sys.stderr.isatty():

        def say(now: Sequence[StageState]) -> None:
            if seldom(now):
                print(line(now), file=sys.stderr)

        yield say
    else:
        from rich.console import Console
        from rich.live import Live

        from maxproof.evaluation.lab.view import stage_table

        with Live(console=Console(stderr=True), refresh_per_second=2) as live:
            yield lambda now: live.update(stage_table(now, remaining_s(stages, now, workers)))
