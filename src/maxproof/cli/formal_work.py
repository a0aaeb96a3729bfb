"""Starting, going on with and reporting a formal run: one path for `prove`, `baseline`, `bench` and `resume`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from maxproof import __version__
from maxproof.cli.errors import ExitCode
from maxproof.cli.loop import run_async
from maxproof.formal.folder import FormalFolder, create_formal_run
from maxproof.formal.load import load_formal_problem, load_formal_problems
from maxproof.formal.results import Attempt, Status
from maxproof.formal.settings import FormalSettings
from maxproof.formal.store import read_attempts
from maxproof.formal.summary import MethodSummary, ProblemSummary, summarise_methods, summarise_problems
from maxproof.models.types import Stop, StopKind
from maxproof.search.run_folder import new_run_path
from maxproof.search.settings import RunSettings

FEW = 60  # problems whose table goes to a file or pipe too


def start(
    problems: Path, out: Path | None, name: str, formal: FormalSettings, settings: RunSettings | None
) -> FormalFolder:
    """Makes the folder of a run over a set of problems. Raises InputError."""
    found = load_formal_problems(problems)
    path = out if out is not None else new_run_path(Path("runs"), f"{name}-{problems.stem}")
    return create_formal_run(path, found, formal, settings or RunSettings(), __version__)


def start_one(problem: Path, out: Path | None, formal: FormalSettings, settings: RunSettings | None) -> FormalFolder:
    """Makes the folder of a run on one problem. Raises InputError."""
    found = load_formal_problem(problem)
    path = out if out is not None else new_run_path(Path("runs"), found.name)
    return create_formal_run(path, [found], formal, settings or RunSettings(), __version__)


def go_on(folder: FormalFolder, *, as_json: bool, quiet: bool) -> ExitCode:
    """Runs or resumes, writes the outputs and prints the outcome."""
    from maxproof.formal.run import run_formal
    from maxproof.report.formal_live import progress

    with progress(folder, as_json=as_json, quiet=quiet) as observe:
        outcome = run_async(run_formal(folder, observe))
    return tell(folder, outcome.attempts, outcome.stop, as_json=as_json)


def show_formal(folder: FormalFolder, *, as_json: bool) -> None:
    """Prints what the run has so far; nothing is run or written. Raises InputError."""
    _print(folder, _Outcome.of(folder, _stored(folder)), as_json=as_json)


def write_formal(folder: FormalFolder) -> None:
    """Writes the run's outputs again from its attempts; nothing is run. Raises InputError."""
    _write(folder, _Outcome.of(folder, _stored(folder)))


def tell(folder: FormalFolder, attempts: Sequence[Attempt], stop: Stop, *, as_json: bool) -> ExitCode:
    """Writes the outputs, prints the outcome, and says how the command should end."""
    outcome = _Outcome.of(folder, attempts)
    _write(folder, outcome)
    _print(folder, outcome, as_json=as_json)
    if not as_json:
        typer.echo(f"Report: {folder.path / 'report.html'}", err=True)
    return _exit_code([problem.status for problem in outcome.problems], len(folder.problems), stop)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A run's attempts with what they come to."""

    attempts: Sequence[Attempt]
    problems: list[ProblemSummary]
    methods: list[MethodSummary]

    @classmethod
    def of(cls, folder: FormalFolder, attempts: Sequence[Attempt]) -> _Outcome:
        problems = summarise_problems(folder.problems, attempts, folder.statements)
        return cls(attempts, problems, summarise_methods(problems, attempts))


def _stored(folder: FormalFolder) -> list[Attempt]:
    return read_attempts(folder.attempts)[1] if folder.attempts.exists() else []


def _write(folder: FormalFolder, outcome: _Outcome) -> None:
    from maxproof.report.formal_outputs import write_formal_outputs
    from maxproof.report.formal_text import run_json

    result = run_json(outcome.problems, outcome.methods, outcome.attempts)
    write_formal_outputs(folder, outcome.problems, outcome.methods, result)


def _print(folder: FormalFolder, outcome: _Outcome, *, as_json: bool) -> None:
    from maxproof.report.formal_text import render_methods, render_one, render_problems, run_json

    if as_json:
        typer.echo(json.dumps(run_json(outcome.problems, outcome.methods, outcome.attempts), indent=2))
    elif len(folder.problems) == 1:
        typer.echo(render_one(outcome.problems, outcome.attempts))
    else:
        if len(folder.problems) <= FEW or sys.stdout.isatty():
            typer.echo(render_problems(outcome.problems) + "\n")
        typer.echo(render_methods(outcome.methods))
        for summary in outcome.methods:
            if summary.unstable:
                typer.echo(f"unstable under {summary.method}: {', '.join(summary.unstable)}")


def _exit_code(statuses: Sequence[Status], problems: int, stop: Stop) -> ExitCode:
    """A run over a set did what was asked; a run on one problem succeeded if it was solved."""
    if stop:
        return {StopKind.BUDGET: ExitCode.BUDGET, StopKind.ENDPOINT: ExitCode.NO_MODEL}.get(stop.kind, ExitCode.ERROR)
    if problems > 1 or Status.SOLVED in statuses:
        return ExitCode.PASSED
    return ExitCode.NOT_PASSED
