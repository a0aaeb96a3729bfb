"""`maxproof study`: what the search is worth, on a simulator with set errors or on real models.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer
from pydantic import BaseModel

from maxproof.cli import options as o
from maxproof.cli.errors import needs_extra, reporting
from maxproof.problems import InputError
from maxproof.problems.errors import nearest
from maxproof.search.settings import SearchSettings

if TYPE_CHECKING:
    from maxproof.evaluation.study.parameters import SimulatorSettings
    from maxproof.evaluation.study.types import StudyResult

_SIMULATED = "Without DATASET: the simulator"
Progress = Callable[[int, int], None]
Settings = TypeVar("Settings", bound=BaseModel)


def study(
    questions: Annotated[
        str | None,
        typer.Option("--questions", metavar="KEY,...", help="Only these. An unknown one lists what there is."),
    ] = None,
    size: Annotated[
        Literal["small", "full"],
        typer.Option("--size", help="400 problems and 2 seeds, or 10,000 and 3.", rich_help_panel=_SIMULATED),
    ] = "small",
    problems: Annotated[
        int | None, typer.Option("--problems", min=2, max=10_000_000, rich_help_panel=_SIMULATED)
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, max=10_000, help="How many.", rich_help_panel=_SIMULATED)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first one.", rich_help_panel=_SIMULATED)] = 0,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="simulator.rho=0.5, search.candidates=16, ... --parameters lists the simulator's.",
        ),
    ] = None,
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters",
            help="Only list the simulator's parameters, as values for --set.",
            rich_help_panel=_SIMULATED,
        ),
    ] = False,
    saved: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Only write the report of a saved study.json again.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder. Default: runs/study-NUMBER.")] = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Ask what the search is worth: at equal budget, part by part, and beside the scaffolds in use.

    Without DATASET the answers come from a simulator of provers, verifiers and rankers whose errors are set and
    correlated: they show what follows from its assumptions (docs/study.md).
    """
    with reporting(as_json):
        with needs_extra("study", "maxproof study"):
            import numpy  # noqa: F401
        from maxproof.evaluation.study.report import read_study, write_study
        from maxproof.search.run_folder import new_run_path

        if parameters:
            typer.echo(_listed(as_json))
            return
        if saved is not None:
            result = read_study(saved)
        else:
            simulator, search = simulated_settings(assignments)
            command = _command(
                {"--size": size, "--problems": problems, "--seeds": seeds, "--seed": seed, "--questions": questions},
                assignments,
            )
            result = _simulate(simulator, search, size, problems, seeds, seed, questions, quiet=quiet or as_json)
            result = replace(result, settings={"command": command, **result.settings})
        paths = write_study(out if out is not None else new_run_path(Path("runs"), "study"), result)
        if as_json:
            typer.echo(json.dumps({**asdict(result), "files": [str(path) for path in paths]}, indent=2))
            return
        for question in result.questions:
            typer.echo(f"{question.title}\n  {question.answer}\n")
        typer.echo(f"Report: {', '.join(str(path) for path in paths)}")


def _simulate(
    simulator: SimulatorSettings,
    search: SearchSettings,
    size: str,
    problems: int | None,
    seeds: int | None,
    seed: int,
    questions: str | None,
    *,
    quiet: bool,
) -> StudyResult:
    from maxproof.evaluation.study.questions import KEYS
    from maxproof.evaluation.study.simulated import SIZES, simulate

    chosen = SIZES[size]
    chosen = replace(chosen, problems=problems or chosen.problems, seeds=seeds or chosen.seeds)
    keys = KEYS if questions is None else tuple(dict.fromkeys(key.strip() for key in questions.split(",")))
    with _progress(quiet) as progress:
        return simulate(simulator, search, chosen, seed, keys, progress)


def simulated_settings(assignments: list[str] | None) -> tuple[SimulatorSettings, SearchSettings]:
    """The simulator's and the search's settings from `--set`. Raises InputError."""
    from maxproof.evaluation.study.parameters import SimulatorSettings

    tables: dict[str, dict[str, object]] = {"simulator": {}, "search": {}}
    for key, value in o.parse_assignments(assignments).items():
        table, _, name = key.partition(".")
        if table not in tables:
            raise InputError(f"unknown setting {key!r}", field="--set", hint="known: simulator.NAME, search.NAME")
        tables[table][name] = value
    return (
        _validated(SimulatorSettings, "simulator", tables["simulator"]),
        _validated(SearchSettings, "search", tables["search"]),
    )


def _validated(kind: type[Settings], table: str, values: Mapping[str, object]) -> Settings:
    """Raises InputError."""
    from pydantic import ValidationError

    for name in values:
        if name not in kind.model_fields:
            hint = nearest(name, kind.model_fields) or f"known: {', '.join(kind.model_fields)}"
            raise InputError(f"unknown setting '{table}.{name}'", field="--set", hint=hint)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join([table, *map(str, first["loc"])])
        raise InputError(first["msg"].removeprefix("Value error, "), field=field) from error


def _listed(as_json: bool) -> str:
    """The parameters as lines for `--set`, or as JSON."""
    from maxproof.evaluation.study.parameters import SimulatorSettings

    defaults = SimulatorSettings()
    rows = {name: (getattr(defaults, name), info.description) for name, info in SimulatorSettings.model_fields.items()}
    if as_json:
        return json.dumps({f"simulator.{name}": {"default": v, "description": d} for name, (v, d) in rows.items()})
    return "\n".join(f"simulator.{name}={value:g}\n    {said}" for name, (value, said) in rows.items())


def _command(options: Mapping[str, object], assignments: list[str] | None) -> str:
    """The command that makes the same study again."""
    parts = ["maxproof", "study"]
    for name, value in options.items():
        parts += [name, str(value)] if value is not None else []
    for assignment in assignments or []:
        parts += ["--set", assignment]
    return shlex.join(parts)


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """A bar on standard error where that is a terminal."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
