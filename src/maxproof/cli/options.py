"""Command-line options that several commands share, and what they mean as settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from maxproof.cli.config import load_config
from maxproof.models.bindings import resolve_bindings
from maxproof.models.prices import check_priced
from maxproof.models.settings import ROLES
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings

_MODELS, _SEARCH, _BUDGET = "Models", "Search", "Budget (of the whole run, resumed sessions included)"

ProblemPath = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A .md, .txt, .json, .jsonl or .csv file.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]
ProblemId = Annotated[str | None, typer.Option("--id", help="Which problem, when the file holds several.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The run folder. Default: runs/PROBLEM-NUMBER.")]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON on stdout, events as JSON lines on stderr.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no forecast.")]

ConfigPath = Annotated[
    Path | None, typer.Option("--config", "-c", help="Default: ./maxproof.toml, if there is one.", show_default=False)
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting of maxproof.toml, e.g. search.diversity_prefix=400."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="An OpenAI-compatible endpoint. [env: OPENAI_BASE_URL]", rich_help_panel=_MODELS),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="Default: the server's first. lab, or lab:FOLDER: the small model of the lab's problems.",
        rich_help_panel=_MODELS,
    ),
]
Local = Annotated[
    str | None,
    typer.Option("--local", help="The embedded model: smollm2, or a GGUF file.", rich_help_panel=_MODELS),
]
Temperature = Annotated[
    float | None, typer.Option("--temperature", help="For all roles. Default 1.0.", rich_help_panel=_MODELS)
]
TopP = Annotated[float | None, typer.Option("--top-p", help="For all roles. Default 0.95.", rich_help_panel=_MODELS)]
OutputTokens = Annotated[
    int | None,
    typer.Option("--output-tokens", help="The most one answer may have, thinking included.", rich_help_panel=_MODELS),
]
Concurrency = Annotated[
    str | None,
    typer.Option("--concurrency", help="Calls in flight: a number, or auto (default).", rich_help_panel=_MODELS),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds a whole call may take, retries included.", rich_help_panel=_MODELS),
]

Effort = Annotated[
    str | None,
    typer.Option("--effort", help="quick, standard or paper (the published size; default).", rich_help_panel=_SEARCH),
]
Candidates = Annotated[
    int | None, typer.Option("--candidates", "-N", help="Initial candidates.", rich_help_panel=_SEARCH)
]
Verifications = Annotated[
    int | None, typer.Option("--verifications", "-K", help="Verifications per candidate.", rich_help_panel=_SEARCH)
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", "-R", help="Refinement rounds at most.", rich_help_panel=_SEARCH)
]
Parents = Annotated[int | None, typer.Option("--parents", "-M", help="Parents a round.", rich_help_panel=_SEARCH)]
Finalists = Annotated[
    int | None, typer.Option("--finalists", help="Candidates in the tournament.", rich_help_panel=_SEARCH)
]
FinalistMode = Annotated[
    Literal["top", "perfect"] | None,
    typer.Option("--finalist-mode", help="After an early stop: the top ones, or the perfect.", rich_help_panel=_SEARCH),
]
Votes = Annotated[int | None, typer.Option("--votes", help="Votes per match; odd.", rich_help_panel=_SEARCH)]
StopAt = Annotated[
    int | None,
    typer.Option("--stop-at-perfect", help="Stop at this many perfect candidates.", rich_help_panel=_SEARCH),
]
Eager = Annotated[
    bool, typer.Option("--eager", help="Run every verification, also those that can't matter.", rich_help_panel=_SEARCH)
]
Seed = Annotated[int | None, typer.Option("--seed", help="For ties and sampling.", rich_help_panel=_SEARCH)]

MaxCalls = Annotated[int | None, typer.Option("--max-calls", rich_help_panel=_BUDGET)]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", help="In and out.", rich_help_panel=_BUDGET)]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="Needs prices.", rich_help_panel=_BUDGET)]
Deadline = Annotated[float | None, typer.Option("--deadline", help="Seconds of work.", rich_help_panel=_BUDGET)]


def settings_from(
    config: Path | None,
    effort: str | None,
    assignments: list[str] | None,
    flags: dict[str, object],
    *,
    base_url: str | None = None,
    model: str | None = None,
    local: str | None = None,
    role_flags: dict[str, object] | None = None,
) -> RunSettings:
    """Joins the configuration file, the preset and the flags; unset flags are None.

    Raises InputError.
    """
    if local is not None and base_url is not None:
        raise InputError("--local and --base-url name two endpoints; give one", field="--local")
    overrides: dict[str, object] = {key: value for key, value in flags.items() if value is not None}
    # A run folder may be resumed from elsewhere: a file is named by its whole path.
    url = base_url if local is None else f"local:{Path(local).resolve() if local.endswith('.gguf') else local}"
    if url is None and model is not None and (model == "lab" or model.startswith("lab:")):
        from maxproof.training.lab_endpoint import MAX_ANSWER_TOKENS

        # Its answers are never longer: the forecast and token budgets count with that.
        overrides.update({f"roles.{role}.max_tokens": MAX_ANSWER_TOKENS for role in ROLES})
        folder = model.removeprefix("lab").removeprefix(":")
        url, model = f"lab:{Path(folder).expanduser().resolve() if folder else ''}", None
    if url is not None:
        overrides["endpoints.default.base_url"] = url
    if model is not None:
        overrides["endpoints.default.model"] = model
    for key, value in (role_flags or {}).items():
        if value is not None:
            overrides.update({f"roles.{role}.{key}": value for role in ROLES})
    settings = load_config(config, effort=effort, overrides=overrides | parse_assignments(assignments))
    check_usable(settings)
    return settings


def check_usable(settings: RunSettings) -> None:
    """Raises InputError if a role or judge names an unknown endpoint, or a `max_cost` could never trip."""
    bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)
    if settings.budget.max_cost is not None:
        check_priced(bindings.endpoints)


def parse_assignments(assignments: list[str] | None) -> dict[str, object]:
    """`["search.seed=3"]` -> `{"search.seed": "3"}`. Raises InputError."""
    found: dict[str, object] = {}
    for assignment in assignments or []:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise InputError(f"expected KEY=VALUE, got {assignment!r}", field="--set")
        found[key.strip()] = text.strip()
    return found


def limit_flags(
    concurrency: str | None,
    timeout: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    deadline: float | None,
) -> dict[str, object]:
    """The flags of endpoint limits and budgets as settings. Raises InputError."""
    return {
        "endpoints.default.concurrency": concurrency_value(concurrency),
        "endpoints.default.timeout_s": timeout,
        "budget.max_calls": max_calls,
        "budget.max_tokens": max_tokens,
        "budget.max_cost": max_cost,
        "budget.deadline_s": deadline,
    }


def concurrency_value(text: str | None) -> int | str | None:
    """`auto`, a whole number of at least 1, or None.

    Raises InputError.
    """
    if text is None or text == "auto":
        return text
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise InputError(f"expected auto or a whole number of at least 1, got {text!r}", field="--concurrency")
