"""`maxproof prove` and `maxproof resume`: from a problem to one proof with the evidence for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from maxproof import __version__
from maxproof.cli import formal_options as f
from maxproof.cli import options as o
from maxproof.cli.config import flatten, with_overrides
from maxproof.cli.errors import ExitCode, NoModel, reporting
from maxproof.cli.formal_work import go_on, start_one
from maxproof.cli.loop import run_async
from maxproof.cli.verify import verify_run
from maxproof.formal.folder import is_formal_run, open_formal_run
from maxproof.models.types import StopKind
from maxproof.problems import InputError
from maxproof.problems.load import load_problem
from maxproof.report.live import observer_for
from maxproof.report.outputs import view_of, write_outputs
from maxproof.report.text import render_forecast, render_outcome, to_json
from maxproof.search.forecast import forecast
from maxproof.search.run import ProveOutcome, reusable, run_prove
from maxproof.search.run_folder import RunFolder, create_run, new_run_path, open_run
from maxproof.search.settings import RunSettings

FORMAL_SUFFIX = ".dfy"


def prove(
    problem: o.ProblemPath,
    problem_id: o.ProblemId = None,
    out: o.Out = None,
    config: o.ConfigPath = None,
    effort: o.Effort = None,
    assignments: o.Set = None,
    forecast_only: Annotated[
        bool, typer.Option("--forecast", help="Only say what the run would cost; no call is made.")
    ] = False,
    base_url: o.BaseUrl = None,
    model: o.Model = None,
    local: o.Local = None,
    temperature: o.Temperature = None,
    top_p: o.TopP = None,
    output_tokens: o.OutputTokens = None,
    concurrency: o.Concurrency = None,
    timeout: o.Timeout = None,
    candidates: o.Candidates = None,
    verifications: o.Verifications = None,
    rounds: o.Rounds = None,
    parents: o.Parents = None,
    finalists: o.Finalists = None,
    finalist_mode: o.FinalistMode = None,
    votes: o.Votes = None,
    stop_at_perfect: o.StopAt = None,
    eager: o.Eager = False,
    seed: o.Seed = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    checker: f.Checker = "embedded",
    certify: f.Certify = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Search for a proof of PROBLEM and return it with the evidence for it.

    A .dfy file is a formal problem: the symbolic prover tries it, then the search with the checker in the judges' place
    where a model is configured.
    """
    with reporting(as_json) as report:
        formal = problem.suffix.lower() == FORMAL_SUFFIX
        settings = _settings_if_configured(
            formal,
            config,
            effort,
            assignments,
            {
                **o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline),
                "search.candidates": candidates,
                "search.verifications": verifications,
                "search.rounds": rounds,
                "search.parents": parents,
                "search.finalists": finalists,
                "search.finalist_mode": finalist_mode,
                "search.votes": votes,
                "search.stop_at_perfect": stop_at_perfect,
                "search.lazy": False if eager else None,
                "search.seed": seed,
            },
            base_url=base_url,
            model=model,
            local=local,
            role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
        )
        if formal or settings is None:
            methods = ["symbolic", "population"] if settings is not None else ["symbolic"]
            asked = f.formal_settings(
                {"methods": methods, "checker": checker, "certify": certify, "first_success": True}
            )
            formal_run = start_one(problem, out, asked, settings)
            report.run = formal_run.path
            raise typer.Exit(go_on(formal_run, as_json=as_json, quiet=quiet))
        found = load_problem(problem, problem_id)
        estimate = forecast(found, settings)
        if forecast_only:
            typer.echo(json.dumps(estimate.to_json(), indent=2) if as_json else render_forecast(estimate))
            return
        path = out if out is not None else new_run_path(Path("runs"), found.id)
        folder = create_run(path, "prove", found, settings, __version__)
        report.run = folder.path
        if not quiet:
            told = json.dumps({"event": "forecast", **estimate.to_json()}) if as_json else render_forecast(estimate)
            typer.echo(told, err=True)
        raise typer.Exit(_search(folder, as_json=as_json, quiet=quiet))


def _settings_if_configured(
    formal: bool,
    config: Path | None,
    effort: str | None,
    assignments: list[str] | None,
    flags: dict[str, object],
    *,
    base_url: str | None,
    model: str | None,
    local: str | None,
    role_flags: dict[str, object],
) -> RunSettings | None:
    """The settings; None for a formal problem that no model was configured for. Raises InputError."""
    try:
        return o.settings_from(
            config, effort, assignments, flags, base_url=base_url, model=model, local=local, role_flags=role_flags
        )
    except NoModel:
        if not formal:
            raise
        return None


def resume(
    run: o.RunPath,
    assignments: o.Set = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Go on with RUN: finished calls come from its journal, only what is missing is asked and paid.

    A budget given here replaces the run's own, and --set changes any other setting (none lifts a limit). What a change
    makes unusable among the recorded calls is said before anything is asked.
    """
    with reporting(as_json) as report:
        if is_formal_run(run):
            formal = open_formal_run(run)
            report.run = formal.path
            raise typer.Exit(go_on(formal, as_json=as_json, quiet=quiet))
        folder = open_run(run)
        report.run = folder.path
        if folder.lost_journal:
            raise InputError(
                "its journal.sqlite is gone, though it has worked: all would be asked and paid for again",
                file=folder.path,
                hint="restore journal.sqlite from a copy, or start a new run with maxproof prove",
            )
        flags = o.limit_flags(None, None, max_calls, max_tokens, max_cost, deadline)
        changes = {key: value for key, value in flags.items() if value is not None} | o.parse_assignments(assignments)
        if changes:
            folder = _change(folder, changes, quiet=quiet)
        if folder.kind == "verify":
            raise typer.Exit(verify_run(folder, as_json=as_json, quiet=quiet))
        raise typer.Exit(_search(folder, as_json=as_json, quiet=quiet))


def _change(folder: RunFolder, changes: dict[str, object], *, quiet: bool) -> RunFolder:
    settings = with_overrides(folder.settings, changes)
    o.check_usable(settings)  # before the run saves it: a run that can't go on could not be shown either
    before, after = flatten(folder.settings), flatten(settings)
    names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    changed = folder.with_settings(settings)
    if not quiet:
        for name in names:
            typer.echo(f"{name}: {before.get(name) or 'none'} -> {after.get(name) or 'none'}", err=True)
        recorded, stale = reusable(changed)
        if stale:
            typer.echo(f"{stale} of {recorded} recorded calls can't be reused under these settings", err=True)
    return changed


def _search(folder: RunFolder, *, as_json: bool, quiet: bool) -> ExitCode:
    with observer_for(as_json=as_json, quiet=quiet) as observer:
        outcome = run_async(run_prove(folder, observe=observer, watch=observer.watch))
    view = view_of(folder, outcome, flatten(folder.settings))
    write_outputs(folder.path, view)
    typer.echo(json.dumps(to_json(view), indent=2) if as_json else render_outcome(view))
    if not as_json:
        typer.echo(f"Report: {folder.path / 'report.html'}", err=True)
    return exit_code(outcome)


def exit_code(outcome: ProveOutcome) -> ExitCode:
    """0 if the returned proof passed; else why there is none: budget, model, or a search that came to its end."""
    if outcome.result.passed:
        return ExitCode.PASSED
    return {StopKind.BUDGET: ExitCode.BUDGET, StopKind.ENDPOINT: ExitCode.NO_MODEL}.get(
        outcome.account.stop.kind, ExitCode.NOT_PASSED
    )
