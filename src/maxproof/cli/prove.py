"""`maxproof prove` and `maxproof resume`: from a problem to one proof with the evidence for it.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maxproof import __version__
from maxproof.cli import formal_options as f
from maxproof.cli import options as o
from maxproof.cli.config import flatten, with_overrides
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.loop import run_async
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings

if TYPE_CHECKING:
    from maxproof.search.run import ProveOutcome
    from maxproof.search.run_folder import RunFolder

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
    checker: Annotated[
        f.CheckerName | None, typer.Option("--checker", help=".dfy: who checks proofs. Default embedded.")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help=".dfy: check the proof again with an installed Dafny, in a fresh process.")
    ] = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Search for a proof of PROBLEM and return it with the evidence for it.

    A .dfy file is a formal problem: the symbolic prover tries it, then the search with the checker in the judges' place
    where a model is configured. `maxproof formal prove` has more options for it.
    """

    def settings() -> RunSettings:
        return o.settings_from(
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

    with reporting(as_json) as report:
        if problem.suffix.lower() == FORMAL_SUFFIX:
            from maxproof.cli.formal_work import go_on, start_proof

            if forecast_only or problem_id is not None:
                raise InputError("is not for a .dfy problem", field="--forecast" if forecast_only else "--id")
            wanted = f.formal_settings({"checker": checker, "certify": certify})
            formal_run = start_proof(problem, out, None, wanted, settings)
            report.run = formal_run.path
            raise typer.Exit(go_on(formal_run, as_json=as_json, quiet=quiet))
        if checker is not None or certify:
            field = "--certify" if certify else "--checker"
            raise InputError("is for a .dfy problem only", field=field)

        from maxproof.problems.load import load_problem
        from maxproof.report.text import render_forecast
        from maxproof.search.forecast import forecast
        from maxproof.search.run_folder import create_run, new_run_path

        chosen = settings()
        found = load_problem(problem, problem_id)
        estimate = forecast(found, chosen)
        if forecast_only:
            typer.echo(json.dumps(estimate.to_json(), indent=2) if as_json else render_forecast(estimate))
            return
        path = out if out is not None else new_run_path(Path("runs"), found.id)
        folder = create_run(path, "prove", found, chosen, __version__)
        report.run = folder.path
        if not quiet:
            told = json.dumps({"event": "forecast", **estimate.to_json()}) if as_json else render_forecast(estimate)
            typer.echo(told, err=True)
        raise typer.Exit(_search(folder, as_json=as_json, quiet=quiet))


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
        from maxproof.formal.folder import is_formal_run

        flags = o.limit_flags(None, None, max_calls, max_tokens, max_cost, deadline)
        changes = {key: value for key, value in flags.items() if value is not None} | o.parse_assignments(assignments)
        if is_formal_run(run):
            from maxproof.cli.formal_work import go_on
            from maxproof.formal.folder import open_formal_run

            formal = open_formal_run(run)
            report.run = formal.path
            if changes:
                formal = formal.with_settings(_changed(formal.settings, changes, quiet=quiet))
            raise typer.Exit(go_on(formal, as_json=as_json, quiet=quiet))

        from maxproof.cli.verify import verify_run
        from maxproof.search.run_folder import open_run

        folder = open_run(run)
        report.run = folder.path
        if folder.lost_journal:
            raise InputError(
                "its journal.sqlite is gone, though it has worked: all would be asked and paid for again",
                file=folder.path,
                hint="restore journal.sqlite from a copy, or start a new run with maxproof prove",
            )
        if changes:
            folder = _change(folder, changes, quiet=quiet)
        if folder.kind == "verify":
            raise typer.Exit(verify_run(folder, as_json=as_json, quiet=quiet))
        raise typer.Exit(_search(folder, as_json=as_json, quiet=quiet))


def _changed(before: RunSettings, changes: dict[str, object], *, quiet: bool) -> RunSettings:
    """The settings with the changes, which are told. Raises InputError."""
    after = with_overrides(before, changes)
    o.check_usable(after)  # before the run saves it: a run that can't go on could not be shown either
    old, new = flatten(before), flatten(after)
    for name in sorted(old.keys() | new.keys()) if not quiet else ():
        if old.get(name) != new.get(name):
            typer.echo(f"{name}: {old.get(name) or 'none'} -> {new.get(name) or 'none'}", err=True)
    return after


def _change(folder: RunFolder, changes: dict[str, object], *, quiet: bool) -> RunFolder:
    from maxproof.search.run import reusable

    changed = folder.with_settings(_changed(folder.settings, changes, quiet=quiet))
    if not quiet:
        recorded, stale = reusable(changed)
        if stale:
            typer.echo(f"{stale} of {recorded} recorded calls can't be reused under these settings", err=True)
    return changed


def _search(folder: RunFolder, *, as_json: bool, quiet: bool) -> ExitCode:
    from maxproof.report.live import observer_for
    from maxproof.report.outputs import view_of, write_outputs
    from maxproof.report.text import render_outcome, to_json
    from maxproof.search.run import run_prove

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
    from maxproof.models.types import StopKind

    if outcome.result.passed:
        return ExitCode.PASSED
    return {StopKind.BUDGET: ExitCode.BUDGET, StopKind.ENDPOINT: ExitCode.NO_MODEL}.get(
        outcome.account.stop.kind, ExitCode.NOT_PASSED
    )
