"""Starting, going on with and reporting a formal run: one path for `prove`, `baseline`, `bench` and `resume`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import typer

from maxproof import __version__
from maxproof.cli.errors import ExitCode, NoModel
from maxproof.cli.loop import run_async
from maxproof.formal.checkers.choose import find_dafny
from maxproof.formal.folder import FormalFolder, create_formal_run
from maxproof.formal.load import load_formal_problem, load_formal_problems
from maxproof.formal.results import Attempt, Status
from maxproof.formal.run import run_formal
from maxproof.formal.settings import MODEL_METHODS, FormalSettings
from maxproof.formal.store import read_attempts
from maxproof.models.template import visible
from maxproof.models.types import StopKind
from maxproof.report.formal_live import progress
from maxproof.report.formal_outputs import write_formal_outputs
from maxproof.report.formal_text import render_proof, render_set, run_json
from maxproof.report.formal_view import FormalView, view_of_attempts
from maxproof.report.summary import go_on_line
from maxproof.search.run_folder import new_run_path
from maxproof.search.settings import RunSettings

FEW: Final = 60  # problems whose table goes to a file or pipe too


def start(
    problems: Path, out: Path | None, name: str, formal: FormalSettings, models: RunSettings | None = None
) -> FormalFolder:
    """Makes the folder of a run over a set of problems without those that can't be read.

    Raises InputError: none can be read, a checker that isn't there.
    """
    found = load_formal_problems(problems)
    run_async(_tools(formal))
    path = out if out is not None else new_run_path(Path("runs"), f"{name}-{problems.stem}")
    return create_formal_run(
        path, found.problems, formal, models or RunSettings(), __version__, unreadable=found.unreadable
    )


def start_proof(
    problem: Path,
    out: Path | None,
    methods: Sequence[str] | None,
    formal: FormalSettings,
    models: Callable[[], RunSettings],
) -> FormalFolder:
    """Makes the folder of a run that proves one problem.

    Args:
        methods: None: the symbolic prover, and the population search where a model is configured.
        models: who is asked; raises NoModel where none is configured.

    Raises InputError, also for a checker that isn't there; NoModel where one of `methods` needs a model.
    """
    found = load_formal_problem(problem)
    settings: RunSettings | None = None
    try:
        settings = models()
    except NoModel:
        if methods is not None and MODEL_METHODS.intersection(methods):
            raise
    chosen = methods or (["symbolic"] if settings is None else ["symbolic", "population"])
    changes: dict[str, object] = {"methods": chosen, "first_success": True}
    if formal.certify and not formal.confirm:
        changes["confirm"] = "dafny"  # so that the prover looks for a proof that can be certified
    asked = FormalSettings.model_validate({**formal.model_dump(), **changes})
    run_async(_tools(asked))
    path = out if out is not None else new_run_path(Path("runs"), found.name)
    return create_formal_run(path, [found], asked, settings or RunSettings(), __version__)


async def _tools(formal: FormalSettings) -> None:
    """Raises InputError for a checker that this machine lacks: before anything is done or paid."""
    wanted = {formal.checker, formal.confirm, "dafny" if formal.certify else ""} - {"", "embedded"}
    for name in sorted(wanted):
        await find_dafny(name)


def go_on(folder: FormalFolder, *, as_json: bool, quiet: bool) -> ExitCode:
    """Runs or resumes, writes the outputs and prints the outcome. Returns how the command should end.

    What could not be read of the set is told first, a line each.
    """
    for line in folder.unreadable:
        event = json.dumps({"event": "unreadable", "message": line})
        typer.echo(event if as_json else visible(f"Unreadable: {line}"), err=True)
    done = sum(attempt.scored for attempt in _stored(folder))
    with progress(folder, done, as_json=as_json, quiet=quiet) as observe:
        outcome = run_async(run_formal(folder, observe, observe.examined))
    view = view_of_attempts(outcome.folder, outcome.attempts, outcome.stop)
    write_formal_outputs(view)
    _print(view, as_json=as_json)
    if not as_json:
        if outcome.stop:
            typer.echo(visible(f"Not all was tried: {outcome.stop.reason}"), err=True)
            typer.echo(go_on_line(outcome.stop.kind, outcome.stop.reason, shlex.quote(str(folder.path))), err=True)
        typer.echo(f"Report: {folder.path / 'report.html'}", err=True)
    return exit_code(view)


def show_formal(folder: FormalFolder, *, as_json: bool) -> None:
    """Prints what the run has so far; nothing is run or written. Raises InputError."""
    _print(view_of_attempts(folder, _stored(folder)), as_json=as_json)


def write_formal(folder: FormalFolder) -> None:
    """Writes the run's outputs again from its attempts; nothing is run. Raises InputError."""
    write_formal_outputs(view_of_attempts(folder, _stored(folder)))


def _stored(folder: FormalFolder) -> list[Attempt]:
    return read_attempts(folder.attempts)[1] if folder.attempts.exists() else []


def _print(view: FormalView, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(run_json(view), indent=2))
    elif view.asks_for_a_proof:
        typer.echo(render_proof(view))
    else:
        each = len(view.folder.problems) <= FEW or sys.stdout.isatty()
        typer.echo(render_set(view, each_problem=each))


_STOPS: Final[Mapping[StopKind, ExitCode]] = {
    StopKind.BUDGET: ExitCode.BUDGET,
    StopKind.ENDPOINT: ExitCode.NO_MODEL,
    StopKind.JOURNAL: ExitCode.ERROR,
}


def exit_code(view: FormalView) -> ExitCode:
    """A run that asks for a proof succeeds if the problem is solved; one over a set if all of it was tried."""
    if view.asks_for_a_proof and view.count(Status.SOLVED):
        (entry,) = view.entries
        certified = entry.proof is not None and entry.proof.certified
        return ExitCode.PASSED if certified or not view.folder.formal.certify else ExitCode.NOT_PASSED
    if view.stop:
        return _STOPS[view.stop.kind]
    if not view.asks_for_a_proof:
        return ExitCode.PASSED
    return ExitCode.NOT_PASSED if any(attempt.scored for attempt in view.attempts) else ExitCode.NOT_SCORED
