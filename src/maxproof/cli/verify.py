"""`maxproof verify`: the four-layer verifier on a given proof.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maxproof import __version__
from maxproof.cli import options as o
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.loop import run_async

if TYPE_CHECKING:
    from maxproof.search.run import VerifyOutcome
    from maxproof.search.run_folder import RunFolder


def verify(
    problem: o.ProblemPath,
    proof: Annotated[Path, typer.Argument(metavar="PROOF", help="A text file; - for standard input.")],
    problem_id: o.ProblemId = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run folder. Default: runs/verify-PROBLEM-NUMBER.")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", "-k", min=1, help="Verifications; the lowest counts.")] = 1,
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    base_url: o.BaseUrl = None,
    model: o.Model = None,
    local: o.Local = None,
    temperature: o.Temperature = None,
    top_p: o.TopP = None,
    output_tokens: o.OutputTokens = None,
    concurrency: o.Concurrency = None,
    timeout: o.Timeout = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Verify PROOF of PROBLEM: verdict, points, located errors, each judge's view."""
    with reporting(as_json) as report:
        from maxproof.problems.load import load_problem, read_proof
        from maxproof.search.run_folder import create_run, new_run_path

        settings = o.settings_from(
            config,
            None,
            assignments,
            {
                **o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline),
                "search.verifications": samples,
            },
            base_url=base_url,
            model=model,
            local=local,
            role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
        )
        found = load_problem(problem, problem_id)
        text = read_proof(proof)
        path = out if out is not None else new_run_path(Path("runs"), f"verify-{found.id}")
        folder = create_run(path, "verify", found, settings, __version__, text)
        report.run = folder.path
        raise typer.Exit(verify_run(folder, as_json=as_json, quiet=quiet))


def verify_run(folder: RunFolder, *, as_json: bool, quiet: bool) -> ExitCode:
    """Runs, or goes on with, the verification of `folder`, and prints it."""
    from maxproof.report.live import observer_for
    from maxproof.search.run import run_verify

    with observer_for(as_json=as_json, quiet=quiet) as observer:
        outcome = run_async(run_verify(folder, watch=observer.watch))
    print_verifications(outcome, folder, as_json=as_json)
    if not (as_json or quiet):
        typer.echo(f"Run: {folder.path}", err=True)
    return verify_exit_code(outcome, folder.settings.search.verifications)


def print_verifications(outcome: VerifyOutcome, folder: RunFolder, *, as_json: bool) -> None:
    """On standard output: the verdict over all samples, then each of them, and what they cost."""
    from maxproof.models.template import visible
    from maxproof.report.summary import go_on_line
    from maxproof.report.text import render_verifications, verifications_json

    account, planned = outcome.account, folder.settings.search.verifications
    if as_json:
        value = verifications_json(outcome.verifications, planned, account.usage)
        typer.echo(json.dumps({"run": folder.name, **value, "stopped": account.stop.reason}, indent=2))
        return
    typer.echo(render_verifications(outcome.verifications, planned, account.usage, account.elapsed_s))
    if account.stop:
        typer.echo(visible(f"Not all verifications were run: {account.stop.reason}"), err=True)
    if len(outcome.verifications) < planned or account.stop:
        typer.echo(go_on_line(account.stop.kind, account.stop.reason, shlex.quote(str(folder.path))), err=True)


def verify_exit_code(outcome: VerifyOutcome, planned: int) -> ExitCode:
    """0 if all `planned` samples passed, 3 if one failed; else budget, model or not scored."""
    from maxproof.models.types import StopKind
    from maxproof.report.summary import overall

    state = overall(outcome.verifications, planned).state
    if state == "failed":
        return ExitCode.NOT_PASSED
    if outcome.account.stop.kind is StopKind.BUDGET:
        return ExitCode.BUDGET
    if outcome.account.stop.kind is StopKind.ENDPOINT:
        return ExitCode.NO_MODEL
    return ExitCode.PASSED if state == "passed" else ExitCode.NOT_SCORED
