"""The steps of `maxproof data` that ask a model: `rubric`, `annotate` and `filter`.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import Report, reporting
from maxproof.cli.loop import run_async
from maxproof.problems import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from maxproof.models.caller import JournaledCaller
    from maxproof.search.settings import RunSettings
    from maxproof.training.data.calls import Work

    Settings = TypeVar("Settings", bound=BaseModel)

_WINDOW = 256

Records = Annotated[Path, typer.Argument(metavar="RECORDS", help="A .jsonl file of records.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The .jsonl file of the records after it.")]
Calls = Annotated[
    Path | None,
    typer.Option(
        "--calls", metavar="FOLDER", help="The journal: what it holds is never paid for again. Default: beside FILE."
    ),
]
Window = Annotated[int, typer.Option("--window", min=1, help="Records under way at a time.")]
Replies = Annotated[
    int | None, typer.Option("--replies", help="Replies asked for at most, until one can be used. Default 3.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Also where a record has it already.")]
AsJson = Annotated[bool, typer.Option("--json", help="The counts as JSON on stdout.")]


def rubric(
    records: Records,
    out: OutFile,
    examples: Annotated[
        Path,
        typer.Option(
            "--examples", metavar="FILE", help="1 to 8 problems with grading schemes by people: records, .csv, ..."
        ),
    ],
    example_ids: Annotated[
        str | None, typer.Option("--example-ids", metavar="IDS", help="Those of FILE that are used, with commas.")
    ] = None,
    without_reference: Annotated[
        bool, typer.Option("--without-reference", help="Also for problems without a reference solution.")
    ] = False,
    replies: Replies = None,
    replace: Replace = False,
    calls: Calls = None,
    window: Window = _WINDOW,
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
    as_json: AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Have a model write each problem's grading scheme, after a few that people wrote. Role: annotator."""
    with reporting(as_json) as report:
        from maxproof.cli.data_models_work import read_examples
        from maxproof.training.data.rubric import RubricSettings, RubricWriter

        values = {"replies": replies, "replace": replace, "without_reference": without_reference}
        settings = _settings(RubricSettings, values)
        limits = o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline)
        sampling: dict[str, object] = {"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens}
        models = o.settings_from(
            config, None, assignments, limits, base_url=base_url, model=model, local=local, role_flags=sampling
        )
        found = read_examples(examples, example_ids)
        _run(
            report, "rubric", records, out, calls, models, lambda caller: RubricWriter(settings, found, caller).write,
            window=window, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def annotate(
    records: Records,
    out: OutFile,
    taxonomy: Annotated[
        Path | None, typer.Option("--taxonomy", metavar="FILE", help="Domains and techniques. Default: our own.")
    ] = None,
    techniques: Annotated[int | None, typer.Option("--techniques", help="Of one problem at most. Default 3.")] = None,
    replies: Replies = None,
    replace: Replace = False,
    calls: Calls = None,
    window: Window = _WINDOW,
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
    as_json: AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Have a model name each problem's domain and techniques, from a taxonomy. Role: annotator."""
    with reporting(as_json) as report:
        from maxproof.problems.data.taxonomy import load_taxonomy
        from maxproof.training.data.annotate import AnnotateSettings, Annotator

        values = {"techniques": techniques, "replies": replies, "replace": replace}
        settings = _settings(AnnotateSettings, values)
        limits = o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline)
        sampling: dict[str, object] = {"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens}
        models = o.settings_from(
            config, None, assignments, limits, base_url=base_url, model=model, local=local, role_flags=sampling
        )
        known = load_taxonomy(taxonomy)
        _run(
            report, "annotate", records, out, calls, models, lambda caller: Annotator(settings, known, caller).annotate,
            window=window, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def filter_(
    records: Records,
    out: OutFile,
    samples: Annotated[
        int | None, typer.Option("--samples", "-k", help="Proofs of each problem at most. Default 8.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="A problem with this solve rate or a higher one is dropped. Default 0.75."),
    ] = None,
    wilson: Annotated[
        bool, typer.Option("--wilson", help="Drop only where the lower end of the rate's interval is that high.")
    ] = False,
    confidence: Annotated[float | None, typer.Option("--confidence", help="Of that interval. Default 0.95.")] = None,
    verifications: Annotated[
        int | None, typer.Option("--verifications", "-K", help="Of each proof; all must pass. Default 1.")
    ] = None,
    by: Annotated[
        Literal["proof", "answer"],
        typer.Option("--by", help="answer: compare final answers where a record's is a number, else verify."),
    ] = "proof",
    all_samples: Annotated[
        bool, typer.Option("--all-samples", help="Make all samples, also when the decision stands.")
    ] = False,
    calls: Calls = None,
    window: Window = _WINDOW,
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
    as_json: AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Drop the problems that a baseline model solves reliably. Roles: generator and judge."""
    with reporting(as_json) as report:
        from maxproof.training.data.filter import DifficultyFilter, FilterSettings

        values = {
            "samples": samples, "threshold": threshold, "wilson": wilson, "confidence": confidence,
            "verifications": verifications, "by": by, "all_samples": all_samples,
        }  # fmt: skip
        settings = _settings(FilterSettings, values)
        limits = o.limit_flags(concurrency, timeout, max_calls, max_tokens, max_cost, deadline)
        sampling: dict[str, object] = {"temperature": temperature, "top_p": top_p, "max_tokens": output_tokens}
        models = o.settings_from(
            config, None, assignments, {**limits, "search.seed": seed},
            base_url=base_url, model=model, local=local, role_flags=sampling,
        )  # fmt: skip
        _run(
            report, "filter", records, out, calls, models,
            lambda caller: DifficultyFilter(settings, models.verifier, caller).examine,
            window=window, as_json=as_json, quiet=quiet,
        )  # fmt: skip


def _run(
    report: Report,
    step: str,
    records: Path,
    out: Path,
    calls: Path | None,
    models: RunSettings,
    work_with: Callable[[JournaledCaller], Work],
    *,
    window: int,
    as_json: bool,
    quiet: bool,
) -> None:
    from maxproof.cli.data_models_work import Files, run_step
    from maxproof.problems.data.files import rejects_path

    files = Files(records, out, calls if calls is not None else out.with_name(out.stem + ".calls"))
    report.again = "every finished call is kept: the same command goes on"
    done = run_async(run_step(step, files, models, work_with, window=window, quiet=quiet or as_json))
    if done.only_bad_rows:
        raise InputError(
            f"none of {done.rejected:,} rows could be used; the first: {done.first[0]}", file=rejects_path(out)
        )
    if as_json:
        typer.echo(json.dumps(done.to_json(), indent=2))
    elif not quiet:
        typer.echo(done.to_text())
    raise typer.Exit(done.exit_code)


def _settings(kind: type[Settings], values: Mapping[str, object]) -> Settings:
    from pydantic import ValidationError

    try:
        return kind.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = "--" + "-".join(str(part) for part in first["loc"]).replace("_", "-")
        raise InputError(first["msg"].removeprefix("Value error, "), field=field) from None
