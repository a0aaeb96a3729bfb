"""`maxproof eval`: a method on many problems, graded by a separate oracle.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.cli.train_options import resumable
from maxproof.problems import InputError

if TYPE_CHECKING:
    from maxproof.search.settings import RunSettings

_METHOD, _ORACLE, _WHICH = "Method", "Oracle", "Which problems"


class _DefaultRun(TyperGroup):
    """What is no subcommand is the dataset of `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


eval_app = typer.Typer(
    cls=_DefaultRun,
    help="Run a method on many problems and grade what it finds by a separate oracle: maxproof eval DATASET OPTIONS, "
    "which are those of maxproof eval run. "
    "(A dataset that is called run, merge or report: ./merge.)",
    no_args_is_help=True,
)

EvalPath = Annotated[Path, typer.Argument(metavar="EVAL", help="The folder of an evaluation.")]


@eval_app.command()
def run(
    dataset: Annotated[
        Path,
        typer.Argument(metavar="DATASET", help="Problems: .jsonl, .csv, .json or .md. IMO-ProofBench's CSV is one."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder; gone on with if it is there. Default: evals/DATASET-METHOD."),
    ] = None,
    method: Annotated[
        Literal["search", "one-shot", "best-of", "verify-repair", "pool", "knockout"] | None,
        typer.Option("--method", help="Default: search.", rich_help_panel=_METHOD),
    ] = None,
    proofs: Annotated[
        Path | None,
        typer.Option("--proofs", help="Given proofs instead: JSONL of problem, text.", rich_help_panel=_METHOD),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Verify the given proofs too.", rich_help_panel=_METHOD)
    ] = False,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", min=1, help="Runs of each problem, with seeds SEED, SEED+1, ...", rich_help_panel=_METHOD
        ),
    ] = 1,
    oracle: Annotated[
        Literal["judge", "lab", "none"] | None,
        typer.Option(
            "--oracle",
            help="judge: a model ([oracle] or --oracle-base-url). lab: the exact one of the lab's problems. none: "
            "grade later, by the same command with an oracle.",
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
    oracle_statistic: Annotated[
        Literal["mean", "median"] | None,
        typer.Option("--oracle-statistic", help="Of several grades; default mean.", rich_help_panel=_ORACLE),
    ] = None,
    grades: Annotated[
        Path | None,
        typer.Option(
            "--grades",
            help="Grades by people instead: CSV or JSONL of problem, proof or attempt, points.",
            rich_help_panel=_ORACLE,
        ),
    ] = None,
    grade: Annotated[
        Literal["archive", "picked"],
        typer.Option(
            "--grade", help="Which proofs the oracle grades: all, or only picked ones.", rich_help_panel=_ORACLE
        ),
    ] = "archive",
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Only this problem. Repeatable.", rich_help_panel=_WHICH)
    ] = None,
    first: Annotated[
        int | None, typer.Option("--first", min=1, help="Only so many, from the first.", rich_help_panel=_WHICH)
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="Only every N-th problem, from the I-th.", rich_help_panel=_WHICH),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Run on a Ray cluster: auto, HOST:PORT, or local. The folder must be the same on all nodes.",
            rich_help_panel=_WHICH,
        ),
    ] = None,
    ray_workers: Annotated[
        int | None,
        typer.Option(
            "--ray-workers", min=1, help="Processes, one CPU each. Default: one a node.", rich_help_panel=_WHICH
        ),
    ] = None,
    config: o.ConfigPath = None,
    effort: o.Effort = None,
    assignments: o.Set = None,
    forecast_only: Annotated[
        bool, typer.Option("--forecast", help="Only say what it may ask; no call is made, nothing is written.")
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
    votes: o.Votes = None,
    stop_at_perfect: o.StopAt = None,
    seed: o.Seed = None,
    max_calls: o.MaxCalls = None,
    max_tokens: o.MaxTokens = None,
    max_cost: o.MaxCost = None,
    deadline: o.Deadline = None,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Run a method on the problems of DATASET and grade its proofs. The same command again goes on.

    Budgets are for all problems and sessions together, and limit the method; [oracle.budget] limits the grading.
    """
    with reporting(as_json), resumable(as_json):
        from maxproof.cli.eval_settings import split_assignments
        from maxproof.cli.eval_work import Wanted, start

        oracle_flags, others = split_assignments(assignments)
        oracle_flags |= {
            "base_url": oracle_base_url, "model": oracle_model, "samples": oracle_samples, "statistic": oracle_statistic
        }  # fmt: skip
        if proofs is not None and method is not None:
            raise InputError("names a method, but the proofs are given", field="--method")
        if verify and proofs is None:
            raise InputError("is for given proofs (--proofs)", field="--verify")
        if ray_workers is not None and ray is None:
            raise InputError("is for a Ray cluster (--ray)", field="--ray-workers")

        def settings() -> RunSettings:
            return o.settings_from(
                config,
                effort,
                others,
                {
                    **o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline),
                    "search.candidates": candidates,
                    "search.verifications": verifications,
                    "search.rounds": rounds,
                    "search.parents": parents,
                    "search.finalists": finalists,
                    "search.votes": votes,
                    "search.stop_at_perfect": stop_at_perfect,
                    "search.seed": seed,
                },
                base_url=base_url,
                model=model,
                local=local,
                role_flags={"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens},
            )

        wanted = Wanted(
            dataset=dataset,
            method=(method or "search").replace("-", "_"),
            proofs=proofs,
            verify=verify,
            seeds=seeds,
            oracle=oracle,
            oracle_flags=oracle_flags,
            grades=grades,
            grade=grade,
            ids=tuple(ids or ()),
            first=first,
            config=config,
            shard=shard,
            ray=ray,
            ray_workers=ray_workers,
            forecast_only=forecast_only,
        )
        raise typer.Exit(start(wanted, out, settings, as_json=as_json, quiet=quiet))


@eval_app.command()
def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="SHARD...", help="Folders of the shards' evaluations.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the whole.")],
    as_json: o.Json = False,
) -> None:
    """Join the folders of shards. Shards of different evaluations are refused; what is missing or double is told."""
    with reporting(as_json):
        from maxproof.cli.eval_work import merge_shards

        raise typer.Exit(merge_shards(shards, out, as_json=as_json))


@eval_app.command()
def report(
    evaluation: EvalPath,
    replay: Annotated[bool, typer.Option("--replay", help="Make everything again from the journals.")] = False,
    as_json: o.Json = False,
) -> None:
    """Write EVAL's result.json, report.html and report.md again, with no network, and print the outcome."""
    with reporting(as_json):
        from maxproof.cli.eval_work import report_again

        raise typer.Exit(report_again(evaluation, replay=replay, as_json=as_json))
