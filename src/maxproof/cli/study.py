"""`maxproof study`: what the search is worth, on a simulator with set errors or on real models.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.cli.train_options import resumable

_SIMULATED, _MEASURED, _ORACLE = "Without DATASET: the simulator", "With DATASET: a real model", "With DATASET: oracle"


def study(
    context: typer.Context,
    dataset: Annotated[
        Path | None,
        typer.Argument(metavar="[DATASET]", help="Problems: .jsonl, .csv, .json or .md. Without it: the simulator."),
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option("--questions", metavar="KEY,...", help="Only these. An unknown one lists what there is."),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, max=1_000, help="How many: SEED, SEED+1, ...")] = None,
    seed: o.Seed = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="search.candidates=16, ...; without DATASET simulator.rho=0.5, ...; with it any of maxproof.toml.",
        ),
    ] = None,
    saved: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Only write the report of a saved result.json again.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The folder. Default: runs/study-NUMBER. A study of DATASET that is there is gone on with.",
        ),
    ] = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    size: Annotated[
        Literal["small", "full"],
        typer.Option("--size", help="400 problems and 2 seeds, or 10,000 and 3.", rich_help_panel=_SIMULATED),
    ] = "small",
    problems: Annotated[
        int | None, typer.Option("--problems", min=2, max=1_000_000, rich_help_panel=_SIMULATED)
    ] = None,
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters",
            help="Only list the simulator's parameters and their defaults.",
            rich_help_panel=_SIMULATED,
        ),
    ] = False,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Only this problem. Repeatable.", rich_help_panel=_MEASURED)
    ] = None,
    first: Annotated[
        int | None, typer.Option("--first", min=1, help="Only so many problems.", rich_help_panel=_MEASURED)
    ] = None,
    equal: Annotated[
        Literal["calls", "tokens"],
        typer.Option("--equal", help="The unit in which budgets are equal.", rich_help_panel=_MEASURED),
    ] = "tokens",
    oracle: Annotated[
        Literal["judge", "lab"] | None,
        typer.Option(
            "--oracle",
            help="judge: a model ([oracle] or --oracle-base-url). lab: the exact one of the lab's problems.",
            rich_help_panel=_ORACLE,
        ),
    ] = None,
    oracle_base_url: Annotated[
        str | None, typer.Option("--oracle-base-url", help="The oracle's own endpoint.", rich_help_panel=_ORACLE)
    ] = None,
    oracle_model: Annotated[
        str | None, typer.Option("--oracle-model", help="Its model.", rich_help_panel=_ORACLE)
    ] = None,
    oracle_samples: Annotated[
        int | None, typer.Option("--oracle-samples", min=1, help="Times it grades each proof.", rich_help_panel=_ORACLE)
    ] = None,
    grade: Annotated[
        Literal["archive", "picked"],
        typer.Option("--grade", help="Which proofs it grades: all, or only returned ones.", rich_help_panel=_ORACLE),
    ] = "archive",
    config: o.ConfigPath = None,
    effort: o.Effort = None,
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
    votes: o.Votes = None,
    stop_at_perfect: o.StopAt = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
) -> None:
    """Ask what the search is worth: at equal budget, part by part, and beside the scaffolds in use.

    Without DATASET the answers come from a simulator of provers, verifiers and rankers whose errors are set and
    correlated: they show what follows from its assumptions (docs/study.md). With it, from a real model, graded by a
    separate oracle; the same command again goes on. Budgets are for the whole study, all sessions together.
    """
    with reporting(as_json), resumable(as_json):
        from maxproof.cli import study_work as work
        from maxproof.evaluation.study.report import COMMAND, read_study, write_study
        from maxproof.models.types import Stop
        from maxproof.search.run_folder import new_run_path

        if parameters:
            listed = work.parameter_list()
            texts = {name: {"default": value, "description": said} for name, (value, said) in listed.items()}
            lines = "\n".join(f"{name}={value:g}\n    {said}" for name, (value, said) in listed.items())
            typer.echo(json.dumps(texts, indent=1) if as_json else lines)
            return
        work.refuse_options_that_do_nothing(context, saved=saved is not None, dataset=dataset is not None)
        flags = {
            "search.candidates": candidates,
            "search.verifications": verifications,
            "search.rounds": rounds,
            "search.parents": parents,
            "search.finalists": finalists,
            "search.votes": votes,
            "search.stop_at_perfect": stop_at_perfect,
        }
        stop = Stop()
        if saved is not None:
            result = read_study(saved)
        elif dataset is None:
            given = [f"{name}={value}" for name, value in flags.items() if value is not None]
            if seed is not None:
                given.append(f"search.seed={seed}")
            simulated = work.Simulated(size, problems, seeds, questions, [*given, *(assignments or [])])
            result = work.simulated(simulated, quiet=quiet or as_json)
        else:
            from maxproof.cli.eval_settings import split_assignments

            oracle_flags, others = split_assignments(assignments)
            oracle_flags |= {"base_url": oracle_base_url, "model": oracle_model, "samples": oracle_samples}
            limits = o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline)
            settings = o.settings_from(
                config,
                effort,
                others,
                {**limits, **flags, "search.seed": seed},
                base_url=base_url,
                model=model,
                local=local,
                role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
            )
            measured = work.Measured(
                dataset, tuple(ids or ()), first, seeds or 1, questions, equal, grade, oracle, oracle_flags, config
            )
            result, stop, out = work.measured(measured, out, settings, as_json=as_json, quiet=quiet)
        if saved is None:
            result = replace(result, settings={COMMAND: work.command_line(context), **result.settings})
        paths = write_study(out if out is not None else new_run_path(Path("runs"), "study"), result)
        if as_json:
            typer.echo(json.dumps({**asdict(result), "files": [str(path) for path in paths]}, indent=1))
        else:
            for question in result.questions:
                typer.echo(f"{question.title}\n  {question.answer}\n")
            if stop:
                typer.echo(f"Ended early: {stop.reason}. The same command goes on.", err=True)
            typer.echo(f"Report: {', '.join(str(path) for path in paths)}", err=True)
        raise typer.Exit(work.exit_code(result, stop))
