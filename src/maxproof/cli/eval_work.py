"""The work behind `maxproof eval`: what is asked, the run, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import typer

from maxproof import __version__
from maxproof.cli.errors import ExitCode, NoModel, needs_extra
from maxproof.cli.eval_settings import oracle_settings
from maxproof.cli.eval_watch import view_for
from maxproof.cli.loop import run_async
from maxproof.evaluation.dataset.folder import (
    GIVEN,
    Asked,
    EvalFolder,
    Unit,
    create_eval,
    differences,
    open_eval,
)
from maxproof.evaluation.dataset.forecast import EvalForecast, eval_forecast
from maxproof.evaluation.dataset.given import read_proofs
from maxproof.evaluation.dataset.report import result_json, summary_lines, write_report
from maxproof.evaluation.dataset.result import EvalResult, collect
from maxproof.evaluation.dataset.runner import NoAnswerAtAll, Watch, work
from maxproof.evaluation.dataset.shards import merge, read_shard
from maxproof.evaluation.dataset.units import HUMAN_GRADES
from maxproof.evaluation.description import dataset_digest, folder_name
from maxproof.evaluation.oracle.human_grades import grades_text, read_grades
from maxproof.evaluation.oracle.settings import OracleKind, OracleSettings
from maxproof.models.bindings import resolve_bindings
from maxproof.models.call_key import inputs_digest
from maxproof.models.prices import check_priced
from maxproof.models.template import visible
from maxproof.models.types import Stop, StopKind
from maxproof.problems import InputError, Problem
from maxproof.problems.errors import nearest
from maxproof.problems.load import load_problems
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import RunSettings

SHOWN = 10
"""Runs that are named, at most; the others are counted."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of `maxproof eval DATASET`, beside those of the models, the search and its budget."""

    dataset: Path
    method: str
    proofs: Path | None
    verify: bool
    seeds: int
    oracle: Literal["judge", "lab", "none"] | None
    oracle_flags: Mapping[str, object]
    grades: Path | None
    grade: Literal["archive", "picked"]
    ids: tuple[str, ...]
    first: int | None
    config: Path | None
    shard: str | None
    ray: str | None
    ray_workers: int | None
    forecast_only: bool


def start(
    wanted: Wanted, out: Path | None, settings: Callable[[], RunSettings], *, as_json: bool, quiet: bool
) -> ExitCode:
    """Makes the evaluation or opens the one that is there, runs it, and writes its report. Raises InputError."""
    problems = chosen_problems(wanted.dataset, wanted.ids, wanted.first)
    proofs = None
    if wanted.proofs is not None:
        given = read_proofs(wanted.proofs, {problem.id for problem in load_problems(wanted.dataset)})
        problems = tuple(problem for problem in problems if problem.id in given)
        if not problems:
            raise InputError("holds no proof of the chosen problems", file=wanted.proofs)
        proofs = {problem.id: given[problem.id] for problem in problems}
    shard = read_shard(wanted.shard) if wanted.shard is not None else None
    asked = _asked(wanted, problems, proofs, settings)
    path = out if out is not None else _default_out(wanted)
    here = problems if shard is None else problems[shard.index - 1 :: shard.count]
    forecast = eval_forecast(asked, here, proofs)
    if wanted.forecast_only:
        typer.echo(json.dumps(asdict(forecast)) if as_json else _forecast_text(forecast))
        return ExitCode.PASSED
    folder = _open(path, asked, problems, proofs)
    if wanted.grades is not None:
        write_atomically(path / HUMAN_GRADES, grades_text(read_grades(wanted.grades)))
    if not quiet:
        told = json.dumps({"event": "forecast", **asdict(forecast)}) if as_json else _forecast_text(forecast)
        typer.echo(told, err=True)
    units = shard.units(folder) if shard is not None else folder.units()
    try:
        with view_for(as_json=as_json, quiet=quiet) as view:
            stop = _run(folder, units, wanted, view.watch)
    except NoAnswerAtAll as error:
        raise NoModel(error.message, file=error.file, field=error.field, hint=error.hint) from None
    return _finish(open_eval(path), units, stop, as_json=as_json)


def _run(folder: EvalFolder, units: Sequence[Unit], wanted: Wanted, watch: Watch) -> Stop:
    if wanted.ray is None:
        return run_async(work(folder, units, watch))
    with needs_extra("ray", "an evaluation on a cluster"):
        from maxproof.evaluation.dataset.ray_backend import RayCluster, work_on_ray
    return work_on_ray(folder, units, RayCluster(wanted.ray, wanted.ray_workers), watch)


def merge_shards(shards: Sequence[Path], out: Path, *, as_json: bool) -> ExitCode:
    """Joins shards and writes the report of the whole. Raises InputError."""
    merged = merge(shards, out)
    for unit, path in merged.duplicates[:SHOWN]:
        _say(f"{unit.problem}, seed {unit.seed}: in several shards; that of {path} counts")
    for unit in merged.missing[:SHOWN]:
        _say(f"{unit.problem}, seed {unit.seed}: in no shard")
    for name, found in (("in several shards", merged.duplicates), ("in no shard", merged.missing)):
        if len(found) > SHOWN:
            _say(f"... and {len(found) - SHOWN} more {name}")
    if merged.unfinished:
        _say(f"{len(merged.unfinished)} runs are not finished: maxproof eval with --out {out} goes on with them")
    return _finish(merged.folder, merged.folder.units(), Stop(), as_json=as_json)


def report_again(path: Path, *, replay: bool, as_json: bool) -> ExitCode:
    """Writes the derived files again from what is recorded. Raises InputError."""
    folder = open_eval(path)
    return _finish(folder, folder.units(), Stop(), as_json=as_json, replay=replay)


def chosen_problems(dataset: Path, ids: Sequence[str], first: int | None) -> tuple[Problem, ...]:
    """Those with `ids`, or all, but at most `first`; the dataset must be readable as far as it is needed.

    Raises InputError.
    """
    found = tuple(islice(load_problems(dataset), first if not ids else None))
    if ids:
        known = [problem.id for problem in found]
        for name in ids:
            if name not in known:
                raise InputError(
                    f"no problem with id {name!r} among {len(known)}", file=dataset, field="--id",
                    hint=nearest(name, known, count=3) or None,
                )  # fmt: skip
        found = tuple(problem for problem in found if problem.id in ids)[:first]
    if not found:
        raise InputError("no problem in the file", file=dataset)
    return found


def _asked(
    wanted: Wanted,
    problems: Sequence[Problem],
    proofs: Mapping[str, Sequence[str]] | None,
    settings: Callable[[], RunSettings],
) -> Asked:
    """Raises InputError: no oracle is named, a budget that can't trip, a role without an endpoint."""
    method = GIVEN if proofs is not None else wanted.method
    kind, oracle = _oracle(wanted)
    # Given proofs that are not verified need no model.
    run = settings() if method != GIVEN or wanted.verify else RunSettings()
    if method != GIVEN or wanted.verify:
        bindings = resolve_bindings(run.endpoints, run.roles, run.verifier.judges)
        if run.budget.max_cost is not None:
            check_priced(bindings.endpoints)
    if oracle is not None and oracle.budget.max_cost is not None:
        check_priced({"oracle": oracle})
    statistic = str(wanted.oracle_flags.get("statistic") or (oracle.statistic if oracle is not None else "mean"))
    inputs = {}
    if proofs is not None:
        inputs["proofs"] = inputs_digest(*(text for name, texts in proofs.items() for text in (name, *texts)))
    return Asked.model_validate(
        {
            "maxproof": __version__,
            "dataset": wanted.dataset.name,
            "digest": dataset_digest(problems),
            "problems": len(problems),
            "method": method,
            "seeds": tuple(range(run.search.seed, run.search.seed + wanted.seeds)),
            "grade": wanted.grade,
            "verify": wanted.verify,
            "settings": run,
            "oracle": kind,
            "oracle_settings": oracle,
            "statistic": statistic,
            "inputs": inputs,
        }
    )


def _oracle(wanted: Wanted) -> tuple[OracleKind, OracleSettings | None]:
    if wanted.grades is not None:
        if wanted.oracle is not None:
            raise InputError("is given beside --oracle; one of them grades", field="--grades")
        return "grades", None
    if wanted.oracle in ("lab", "none"):
        return wanted.oracle, None
    found = oracle_settings(wanted.config, wanted.oracle_flags)
    if found is None:
        raise InputError(
            "who grades? no oracle is named",
            field="--oracle",
            hint="name a server of its own with --oracle-base-url and --oracle-model or in [oracle]; or give --grades "
            "FILE, --oracle lab, or --oracle none to grade later",
        )
    return "judge", found


def _open(
    path: Path, asked: Asked, problems: Sequence[Problem], proofs: Mapping[str, Sequence[str]] | None
) -> EvalFolder:
    """The evaluation in `path`: a new one, or the same one with the limits, seeds and oracle of this command."""
    folder = open_eval(path) if (path / "eval.json").exists() else create_eval(path, asked, problems, proofs)
    names = differences(folder.asked, asked)
    if names:
        more = f" [and {len(names) - 6} more]" if len(names) > 6 else ""
        raise InputError(
            f"holds an evaluation with another {', '.join(names[:6])}{more}",
            file=path,
            hint="give the same options to go on with it, or another folder with --out",
        )
    known = folder.asked
    keeps_oracle = asked.oracle == "none" and known.oracle != "none"
    oracle = known if keeps_oracle else asked
    new = asked.model_copy(
        update={
            "maxproof": known.maxproof,
            "served": known.served,
            "seeds": max(known.seeds, asked.seeds, key=len),
            "oracle": oracle.oracle,
            "oracle_settings": oracle.oracle_settings,
            "statistic": oracle.statistic,
        }
    )
    return folder if new == known else folder.save(new)


def _default_out(wanted: Wanted) -> Path:
    method = "proofs" if wanted.proofs is not None else wanted.method.replace("_", "-")
    return Path("evals") / f"{folder_name(wanted.dataset.stem)}-{method}"


def _finish(folder: EvalFolder, units: Sequence[Unit], stop: Stop, *, as_json: bool, replay: bool = False) -> ExitCode:
    """Writes and prints the outcome; the exit code is that of `units`, which this process was to run."""
    result = run_async(collect(folder, replay=replay))
    tables = write_report(folder.path, result)
    if as_json:
        typer.echo(json.dumps(result_json(result, tables), indent=1))
    else:
        for line in summary_lines(result, tables):
            typer.echo(visible(line))
        if stop:
            _say(f"Ended early: {stop.reason}. The same command goes on, with more budget where one was reached")
        _say(f"Report: {folder.path / 'report.html'}")
    return exit_code(result, units, stop)


def exit_code(result: EvalResult, units: Sequence[Unit], stop: Stop) -> ExitCode:
    """0: all of `units` ran to their end and what the oracle was to grade is graded."""
    if stop.kind is StopKind.BUDGET:
        return ExitCode.BUDGET
    if stop.kind is StopKind.ENDPOINT:
        return ExitCode.NO_MODEL
    chosen = set(units)
    own = [unit for unit in result.units if Unit(unit.problem, unit.seed) in chosen]
    if any(unit.state != "done" for unit in own):
        return ExitCode.NOT_SCORED
    if result.asked.oracle == "none":
        return ExitCode.PASSED
    graded = result.asked.grade == "archive"
    lacking = any(unit.not_graded if graded else unit.picked_points is None for unit in own if unit.candidates)
    return ExitCode.NOT_SCORED if lacking else ExitCode.PASSED


def _forecast_text(told: EvalForecast) -> str:
    calls = "calls not known ahead" if told.search_calls is None else f"at most {told.search_calls:,} calls"
    tokens = "" if told.search_tokens is None else f", about {told.search_tokens:,} tokens"
    oracle = "calls not known ahead" if told.oracle_calls is None else f"at most {told.oracle_calls:,} calls"
    oracle = "" if told.oracle_calls == 0 else f"; oracle: {oracle}"
    return f"Forecast: {told.runs:,} runs, {calls}{tokens}{oracle}. Retries come on top."


def _say(line: str) -> None:
    typer.echo(visible(line), err=True)
