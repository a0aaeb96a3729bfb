"""`maxproof calibrate`: a verifier's card on graded proofs.

What does the work is imported when the command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import reporting
from maxproof.cli.train_options import JudgesOption
from maxproof.problems import InputError

_CARD = "Card"


def calibrate(
    proofs: Annotated[
        Path | None,
        typer.Argument(metavar="PROOFS", help="Graded proofs: .jsonl, .json or .csv.", show_default=False),
    ] = None,
    problems: Annotated[
        Path | None,
        typer.Option("--problems", metavar="FILE", help="Their problems, with reference and rubric for the judges."),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option("--verdicts", metavar="FILE", help="Verdicts that are there already: no judge is asked."),
    ] = None,
    transcripts: Annotated[
        Path | None,
        typer.Option("--transcripts", metavar="FILE", help="Logs of a verify-and-repair loop, in place of PROOFS."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder of card and journal. Default: runs/calibrate-NUMBER.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--verifications", "-K", min=1, help="Of each proof. Default 4.")
    ] = None,
    judges: JudgesOption = "endpoints",
    right_at: Annotated[
        float | None,
        typer.Option("--right-at", help="Points that make a proof right. Default 7.", rich_help_panel=_CARD),
    ] = None,
    pass_at: Annotated[
        float | None,
        typer.Option("--pass-at", help="Points that a judge passes with. Default 7.", rich_help_panel=_CARD),
    ] = None,
    mean_at: Annotated[
        float | None,
        typer.Option(
            "--mean-at", help="Points that the mean over judges passes with. Default 3.5.", rich_help_panel=_CARD
        ),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", help="Of the intervals. Default 0.95.", rich_help_panel=_CARD)
    ] = None,
    length_bins: Annotated[
        int | None, typer.Option("--length-bins", help="Groups by length. Default 3.", rich_help_panel=_CARD)
    ] = None,
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
    seed: o.Seed = None,
    as_json: Annotated[bool, typer.Option("--json", help="The card as JSON on stdout.")] = False,
    quiet: o.Quiet = False,
) -> None:
    """Measure how a verifier errs on graded proofs: false positives and negatives, correlation, length, style, K.

    The configured judges are asked, or their verdicts replayed. Writes card.md, card.html, card.json, verdicts.jsonl.
    """
    with reporting(as_json) as report:
        from maxproof.cli import calibrate_work as work
        from maxproof.search.run_folder import new_run_path

        if (proofs is None) == (transcripts is None):
            raise InputError("expected either PROOFS or --transcripts FILE", field="PROOFS")
        if transcripts is not None and (verdicts is not None or problems is not None):
            raise InputError("transcripts bring their own verdicts and problems", field="--transcripts")
        settings = work.card_settings(
            {
                "right_at": right_at, "pass_at": pass_at, "mean_at": mean_at, "confidence": confidence,
                "length_bins": length_bins, "seed": seed,
            }
        )  # fmt: skip
        asked = transcripts is None and verdicts is None
        models = None
        if asked and judges == "endpoints":
            limits = o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline)
            sampling: dict[str, object] = {"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens}
            models = o.settings_from(
                config, None, assignments, {**limits, "search.seed": seed, "search.verifications": samples},
                base_url=base_url, model=model, local=local, role_flags=sampling,
            )  # fmt: skip
        source = work.Source(proofs, problems, verdicts, transcripts)
        loaded = work.load(source, settings)
        folder = out if out is not None else new_run_path(Path("runs"), "calibrate")
        report.again = f"every finished call is kept: the same command with --out {folder} goes on"
        done = work.calibrated(
            loaded, settings, folder, judges, models, samples, seed or 0, quiet=quiet, as_json=as_json
        )
        if as_json:
            typer.echo(json.dumps({"out": str(folder), "stopped": done.stop.reason, **done.card.to_json()}, indent=2))
        elif not quiet:
            typer.echo(done.to_text(folder))
        elif done.stop:
            typer.echo(done.stopped(folder), err=True)
        raise typer.Exit(done.exit_code)
