"""`maxproof formal`: lemmas in Dafny, proofs checked by machine.

Solvers and the prover are imported by the commands that use them: the command line starts without them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from maxproof.cli import formal_options as f
from maxproof.cli import options as o
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.loop import run_async
from maxproof.models.template import visible
from maxproof.problems import InputError

formal_app = typer.Typer(
    help="Lemmas in Dafny, proofs checked by machine.", no_args_is_help=True, rich_markup_mode="rich"
)

PAPER_RUNS, PAPER_SECONDS = 5, 30.0  # the baseline of miniF2F-Dafny (arXiv 2512.10187)
PAPER_RESOURCE = 2_000_000_000  # about 200 s of Z3, below what its 32 bits hold: the seconds decide
PAPER_WALL = 10 * PAPER_SECONDS  # of a whole check, which has several obligations


@formal_app.command()
def check(
    problem: f.ProblemFile,
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="The lemma with its body, or a body alone; - for standard input.")
    ],
    checker: f.Checker = "embedded",
    certify: f.Certify = False,
    resource: f.Resource = None,
    seconds: f.Seconds = None,
    wall: f.Wall = None,
    memory: f.Memory = None,
    as_json: o.Json = False,
) -> None:
    """Check that SOLUTION proves PROBLEM; the statement is always PROBLEM's own.

    Exit codes: 0 proved (with --certify: and certified); 3 not proved, or the problem is vacuous; 6 the checker itself
    failed; 2 bad input.
    """
    with reporting(as_json):
        from maxproof.formal.checkers.types import CheckState
        from maxproof.formal.load import load_formal_problem
        from maxproof.formal.results import Status
        from maxproof.formal.single import check_text
        from maxproof.formal.solution.types import SolutionState
        from maxproof.problems.load import read_proof
        from maxproof.report.formal_text import render_verdict, verdict_json

        settings = f.formal_settings({"checker": checker, "certify": certify}, resource, seconds, wall, memory)
        verdict, status = run_async(check_text(load_formal_problem(problem), read_proof(solution), settings))
        typer.echo(json.dumps(verdict_json(verdict, status), indent=2) if as_json else render_verdict(verdict, status))
        if verdict.accepted:
            refused = verdict.certified is not None and verdict.certified.state is not CheckState.PROVED
            raise typer.Exit(ExitCode.NOT_PASSED if refused or status is not Status.SOLVED else ExitCode.PASSED)
        raise typer.Exit(ExitCode.NOT_SCORED if verdict.state is SolutionState.TOOL_ERROR else ExitCode.NOT_PASSED)


@formal_app.command()
def prove(
    problem: f.ProblemFile,
    methods: f.Methods = None,
    out: o.Out = None,
    checker: f.Checker = "embedded",
    confirm: f.Confirm = None,
    certify: f.Certify = False,
    learn: f.Learn = False,
    corrections: f.Corrections = None,
    workers: f.Workers = 0,
    resource: f.Resource = None,
    seconds: f.Seconds = None,
    wall: f.Wall = None,
    memory: f.Memory = None,
    config: o.ConfigPath = None,
    effort: o.Effort = None,
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
    """Prove PROBLEM: the symbolic prover first; where a model is configured, the population search after it.

    --methods names others. The first accepted proof ends it. As `maxproof prove PROBLEM.dfy`.
    """
    with reporting(as_json) as report:
        from maxproof.cli.formal_work import go_on, start_proof

        values: dict[str, object] = {
            "checker": checker,
            "confirm": confirm,
            "certify": certify,
            "learn": learn,
            "workers": workers,
            "guided": {} if corrections is None else {"corrections": corrections},
        }
        folder = start_proof(
            problem,
            out,
            f.method_names(methods) if methods is not None else None,
            f.formal_settings(values, resource, seconds, wall, memory),
            lambda: o.settings_from(
                config,
                effort,
                assignments,
                o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline),
                base_url=base_url,
                model=model,
                local=local,
                role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
            ),
        )
        report.run = folder.path
        raise typer.Exit(go_on(folder, as_json=as_json, quiet=quiet))


@formal_app.command()
def baseline(
    problems: f.ProblemSet,
    out: o.Out = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", min=1, help="Repetitions, each with its own solver seed. Default 1.", show_default=False
        ),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The published protocol: 5 runs of 30 solver seconds, which decide.")
    ] = False,
    checker: f.Checker = "embedded",
    workers: f.Workers = 0,
    resource: f.Resource = None,
    seconds: f.Seconds = None,
    wall: f.Wall = None,
    memory: f.Memory = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Try the empty proof on every problem of SET: what the checker proves by itself."""
    with reporting(as_json) as report:
        from maxproof.cli.formal_work import go_on, start

        values: dict[str, object] = {
            "methods": ["empty"],
            "repeats": PAPER_RUNS if paper and runs is None else runs,
            "checker": checker,
            "workers": workers,
        }
        if paper:
            seconds = PAPER_SECONDS if seconds is None else seconds
            resource = PAPER_RESOURCE if resource is None else resource
            wall = PAPER_WALL if wall is None else wall
        folder = start(problems, out, "baseline", f.formal_settings(values, resource, seconds, wall, memory))
        report.run = folder.path
        raise typer.Exit(go_on(folder, as_json=as_json, quiet=quiet))


@formal_app.command()
def bench(
    problems: f.ProblemSet,
    methods: f.Methods = None,
    out: o.Out = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, help="Attempts of each method at a problem. Default 1.", show_default=False),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The published protocol for a model: guided, 4 attempts of up to 3 corrections, temperature 0.5, "
            "8,192 tokens an answer.",
        ),
    ] = False,
    checker: f.Checker = "embedded",
    confirm: f.Confirm = None,
    certify: f.Certify = False,
    learn: f.Learn = False,
    corrections: f.Corrections = None,
    workers: f.Workers = 0,
    resource: f.Resource = None,
    seconds: f.Seconds = None,
    wall: f.Wall = None,
    memory: f.Memory = None,
    config: o.ConfigPath = None,
    effort: o.Effort = None,
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
    """Run several methods on every problem of SET and print one table. Default: empty and symbolic; no model."""
    with reporting(as_json) as report:
        from maxproof.cli.formal_work import go_on, start
        from maxproof.formal.guided.protocol import paper_protocol
        from maxproof.formal.settings import MODEL_METHODS

        fixed = {
            "--runs": runs,
            "--corrections": corrections,
            "--temperature": temperature,
            "--output-tokens": output_tokens,
        }
        for flag, value in fixed.items() if paper else ():
            if value is not None:
                raise InputError("is fixed by --paper", field=flag, hint="leave one of them out")
        values: dict[str, object] = {
            "methods": f.method_names(methods or ("guided" if paper else "empty,symbolic")),
            "repeats": runs,
            "checker": checker,
            "confirm": confirm,
            "certify": certify,
            "learn": learn,
            "workers": workers,
            "guided": {} if corrections is None else {"corrections": corrections},
        }
        settings = f.formal_settings(values, resource, seconds, wall, memory)
        models = None
        if MODEL_METHODS.intersection(settings.methods):
            models = o.settings_from(
                config,
                effort,
                assignments,
                o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline),
                base_url=base_url,
                model=model,
                local=local,
                role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
            )
            if paper:
                settings, models = paper_protocol(settings, models)
        elif paper or base_url or model or local:
            raise InputError("no method here asks a model", hint="add one: --methods empty,symbolic,guided")
        folder = start(problems, out, "bench", settings, models)
        report.run = folder.path
        raise typer.Exit(go_on(folder, as_json=as_json, quiet=quiet))


@formal_app.command()
def translate(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A .jsonl of Lean 4 statements, a .lean file, or a folder of them.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder that gets one .dfy file for each statement.")],
    audit: Annotated[
        bool, typer.Option("--audit", help="Check each statement too: well-formed, not vacuous, not refuted.")
    ] = False,
    workers: f.Workers = 0,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Translate Lean 4 / Mathlib statements to Dafny lemmas; what can't be translated faithfully is refused by name."""
    with reporting(as_json):
        from maxproof.cli.formal_translate import translate_all

        translate_all(source, out, audit=audit, workers=workers, as_json=as_json, quiet=quiet)


@formal_app.command()
def checkers(as_json: o.Json = False) -> None:
    """List the checkers that this machine has."""
    with reporting(as_json):
        from maxproof.formal.checkers.choose import find_dafnys
        from maxproof.formal.embedded.checker import embedded_tool

        found = [embedded_tool()]
        try:
            found += [dafny.tool for dafny in run_async(find_dafnys())]
        except InputError as error:  # one that can't be used is no failure of the list
            typer.echo(visible(str(error)), err=True)
        if as_json:
            typer.echo(json.dumps([asdict(tool) for tool in found], indent=2))
        else:
            for tool in found:
                typer.echo(str(tool))
