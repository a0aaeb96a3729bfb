"""The work behind `maxproof study`: the simulated study, and the one on a real model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import typer
from pydantic import BaseModel, ValidationError

from maxproof.cli.errors import ExitCode, needs_extra
from maxproof.cli.eval_settings import oracle_settings
from maxproof.cli.eval_watch import calls_text, view_for
from maxproof.cli.eval_work import chosen_problems
from maxproof.cli.loop import run_async
from maxproof.cli.options import parse_assignments
from maxproof.evaluation.study.arms import Question
from maxproof.evaluation.study.types import StudyResult
from maxproof.models.types import Stop, StopKind
from maxproof.problems import InputError
from maxproof.problems.errors import nearest
from maxproof.search.run_folder import new_run_path
from maxproof.search.settings import RunSettings, SearchSettings

Progress = Callable[[int, int], None]
Settings = TypeVar("Settings", bound=BaseModel)
_OUTPUT = ("out", "as_json", "quiet")
_ONLY_SIMULATED = ("size", "problems")
_SIZES = ("candidates", "verifications", "rounds", "parents", "finalists", "votes", "stop_at_perfect")
_SIMULATOR = (*_ONLY_SIMULATED, "questions", "seeds", "seed", "assignments", *_SIZES)
"""The options that the simulator has."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The options of the simulated study."""

    size: str
    problems: int | None
    seeds: int | None
    questions: str | None
    assignments: list[str] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """The options of the study on a real model, beside those of the models, the search and its budget."""

    dataset: Path
    ids: tuple[str, ...]
    first: int | None
    seeds: int
    questions: str | None
    equal: Literal["calls", "tokens"]
    grade: Literal["archive", "picked"]
    oracle: Literal["judge", "lab"] | None
    oracle_flags: Mapping[str, object]
    config: Path | None


def simulated(wanted: Simulated, *, quiet: bool) -> StudyResult:
    """Raises InputError."""
    _need_numpy()
    from maxproof.evaluation.study.parameters import SimulatorSettings
    from maxproof.evaluation.study.questions import KEYS
    from maxproof.evaluation.study.simulated import SIZES, simulate

    tables: dict[str, dict[str, object]] = {"simulator": {}, "search": {}}
    for key, value in parse_assignments(wanted.assignments).items():
        table, _, name = key.partition(".")
        if table not in tables:
            raise InputError(f"unknown setting {key!r}", field="--set", hint="known: simulator.NAME, search.NAME")
        tables[table][name] = value
    simulator = _validated(SimulatorSettings, "simulator", tables["simulator"])
    search = _validated(SearchSettings, "search", tables["search"])
    size = SIZES[wanted.size]
    size = replace(size, problems=wanted.problems or size.problems, seeds=wanted.seeds or size.seeds)
    keys = KEYS if wanted.questions is None else _keys(wanted.questions)
    with _progress(quiet) as progress:
        return simulate(simulator, search, size, search.seed, keys, progress)


def measured(
    wanted: Measured, out: Path | None, settings: RunSettings, *, as_json: bool, quiet: bool
) -> tuple[StudyResult, Stop, Path]:
    """Runs what is not finished of the study in `out`. Returns what is known, what ended it early, and the folder.

    Raises InputError.
    """
    with needs_extra("study", "maxproof study"):
        import numpy  # noqa: F401
    _need_numpy()
    from maxproof.evaluation.study.real import StudyProgress, run_study
    from maxproof.evaluation.study.real_answers import study_result
    from maxproof.evaluation.study.real_folder import RealStudySettings, create_study

    questions = get_args(Question)
    chosen = questions if wanted.questions is None else _keys(wanted.questions)
    for key in chosen:
        if key not in questions:
            hint = nearest(key, questions) or f"known: {', '.join(questions)}"
            raise InputError(f"unknown question {key!r}", field="--questions", hint=hint)
    oracle = None
    if wanted.oracle != "lab":
        oracle = oracle_settings(wanted.config, wanted.oracle_flags)
        if oracle is None:
            raise InputError(
                "who grades? no oracle is named",
                field="--oracle",
                hint="name a server of its own with --oracle-base-url and --oracle-model or in [oracle], or give "
                "--oracle lab",
            )
    study = RealStudySettings.model_validate(
        {
            "questions": chosen,
            "seeds": tuple(range(settings.search.seed, settings.search.seed + wanted.seeds)),
            "budget": wanted.equal,
            "grade": wanted.grade,
        }
    )
    problems = chosen_problems(wanted.dataset, wanted.ids, wanted.first)
    path = out if out is not None else new_run_path(Path("runs"), "study")
    folder = create_study(path, problems, settings, study, "lab" if oracle is None else "judge", oracle)

    def lines(now: StudyProgress) -> list[str]:
        told = [f"{now.done} of {now.units} problems done, {now.open} at work", f"arms: {calls_text(now.arms)}"]
        return told if now.oracle is None else [*told, f"oracle: {calls_text(now.oracle)}"]

    with view_for(as_json=as_json, quiet=quiet, lines=lines) as view:
        stop = run_async(run_study(folder, view.watch))
    return study_result(folder), stop, path


def exit_code(result: StudyResult, stop: Stop) -> ExitCode:
    """0: all that was asked is measured."""
    if stop.kind is StopKind.BUDGET:
        return ExitCode.BUDGET
    if stop.kind is StopKind.ENDPOINT:
        return ExitCode.NO_MODEL
    return ExitCode.PASSED if result.questions else ExitCode.NOT_SCORED


def parameter_list() -> dict[str, tuple[float, str]]:
    """The simulator's parameters by their name for `--set`: default and what it is."""
    from maxproof.evaluation.study.parameters import SimulatorSettings

    defaults = SimulatorSettings()
    return {
        f"simulator.{name}": (getattr(defaults, name), info.description or "")
        for name, info in SimulatorSettings.model_fields.items()
    }


def refuse_options_that_do_nothing(context: typer.Context, *, saved: bool, dataset: bool) -> None:
    """Raises InputError for an option that was given and would be passed over."""
    for option, name in _given(context):
        if name in _OUTPUT or name == "saved":
            continue
        field = "DATASET" if option.param_type_name == "argument" else option.opts[0]
        if saved:
            raise InputError("does nothing with --from, which only writes a saved study's report again", field=field)
        if dataset and name in _ONLY_SIMULATED:
            hint = "--first and --id choose problems"
            raise InputError("is the simulator's: it does nothing with a DATASET", field=field, hint=hint)
        if not dataset and name not in _SIMULATOR:
            raise InputError(
                "does nothing here: there is no DATASET, and the simulator has no such option", field=field
            )


def command_line(context: typer.Context) -> str:
    """The command that makes the same study again: every option that was given, but for those of its output."""
    parts = ["maxproof", "study"]
    for option, name in _given(context):
        if name in _OUTPUT:
            continue
        value = context.params[name]
        if option.param_type_name == "argument":
            parts.insert(2, str(value))
        elif value is True:
            parts.append(option.opts[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else (value,):
                parts += [option.opts[0], str(one)]
    return shlex.join(parts)


def _given(context: typer.Context) -> Iterator[tuple[Any, str]]:
    """Each option or argument that the command line has, and its name."""
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            yield option, name


def _need_numpy() -> None:
    """Raises InputError without the extra."""
    with needs_extra("study", "maxproof study"):
        import numpy  # noqa: F401


def _keys(questions: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key.strip() for key in questions.split(",")))


def _validated(kind: type[Settings], table: str, values: Mapping[str, object]) -> Settings:
    """Raises InputError."""
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


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """A bar on standard error where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task: Any = bar.add_task("simulating", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
