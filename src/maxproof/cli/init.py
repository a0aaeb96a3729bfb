"""`maxproof init`: a `maxproof.toml` that explains every setting, made from the settings models so it can't go stale.

In the text, prose lines start with `# ` and settings with `#name` or `#[name`: taking the `#` away from all of the
latter gives a file that loads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from maxproof.cli.config import DEFAULT_FILE, EFFORTS
from maxproof.cli.errors import reporting
from maxproof.cli.schema import is_container, nested_model
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.models.settings import ROLES, BudgetSettings, EndpointSettings, RoleSettings
from maxproof.problems.errors import InputError
from maxproof.search.settings import SearchSettings
from maxproof.training.settings import CispoSettings
from maxproof.verifier.settings import JudgeSettings, VerifierSettings, default_judges

# What is shown for settings that are unset by default, or that have no default.
EXAMPLES: Mapping[str, object] = {
    "base_url": "http://localhost:8000/v1",
    "requests_per_minute": 600,
    "tokens_per_minute": 200_000,
    "hedge_after_s": 300,
    "cached_input": 0.0,
    "model": "NAME",
    "name": "free",
    "endpoint": "default",
    "temperature": 1.0,
    "max_tokens": 32_768,
    "max_calls": 1000,
    "max_cost": 5.0,
    "deadline_s": 3600,
}

_HEAD = """\
# Settings of MaxProof. A line that starts with "#name" shows the default, or an example where it says "unset" or
# "required": take the "#" away to change it (and from the "#[table]" above it, if there is one). Flags beat this file.
# API keys never belong here: an endpoint names the environment variable that holds its key."""
_EFFORT = "# Sizes of the search, which [search] below refines and --effort replaces:"
_ABOUT: Mapping[str, str] = {
    "endpoints.default": """\
# An OpenAI-compatible server: a service, vLLM, SGLang, llama.cpp, Ollama. There may be several, each with a name of its
# own; the one named default serves every role that names no other. Without any, OPENAI_BASE_URL, OPENAI_API_KEY and
# OPENAI_MODEL are used.""",
    "endpoints.default.prices": "# Money per million tokens, in any one currency: for forecast, totals and max_cost.",
    f"roles.{ROLES[0]}": "# Which endpoint serves a role, and how it samples there. Every role has these options.",
    "search": "# The search: candidates, refinement rounds, tournament.",
    "verifier.bad_case": "# Layer 1 of the verifier: what fails a proof before any judge is asked.",
    "verifier.normaliser": "# Layer 2: style is taken out, content stays.",
    "verifier.points": "# Points of each verdict, 0 to 7.",
    "train": "# Proof RL: maxproof train prover, and by maxproof train config for other trainers. Not in searches.",
    "train.sampling": "# How rollouts are drawn.",
    "oracle": "# Who grades in maxproof eval: a server of its own, which the searches never ask. Not in searches.",
    "oracle.prices": "# Money per million tokens.",
    "oracle.budget": "# Limits of the grading alone.",
    "budget": "# Limits of a whole run, resumed sessions included. When one is reached, nothing new starts.",
}
_JUDGES = (
    "# Layer 3: the judges, each a table of its own. A proof has the least points that any gives. The default three:"
)


def config_text() -> str:
    """The text of a `maxproof.toml` with every setting, its meaning and its default."""
    blocks = [_HEAD, "\n".join([_EFFORT, *_efforts(), '#effort = "paper"'])]
    blocks += _tables("endpoints.default", EndpointSettings)
    blocks += _tables(f"roles.{ROLES[0]}", RoleSettings)
    blocks.append("\n".join(f'[roles.{role}]\n#endpoint = "default"' for role in ROLES[1:]))
    blocks += _tables("search", SearchSettings)
    blocks += _tables("verifier", VerifierSettings)
    first, *others = default_judges()
    blocks.append("\n".join([_JUDGES, "#[[verifier.judges]]", *_options(JudgeSettings, first)]))
    blocks += [f'#[[verifier.judges]]\n#name = "{judge.name}"\n#mode = "{judge.mode}"' for judge in others]
    blocks += _tables("budget", BudgetSettings)
    blocks += _tables("train", CispoSettings)
    blocks += _tables("oracle", OracleSettings)
    return "\n\n".join(blocks) + "\n"


def init(
    path: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it.")] = DEFAULT_FILE,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Write a maxproof.toml that explains every setting."""
    with reporting():
        write_config(path, force)
        typer.echo(str(path))


def write_config(path: Path, force: bool = False) -> None:
    """Writes `config_text` to `path`. Raises InputError if it exists and `force` is off, or can't be written."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(config_text())
    except FileExistsError:
        raise InputError("there is a file already", file=path, hint="--force replaces it") from None
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=path) from None


def _efforts() -> Iterator[str]:
    for name, sizes in EFFORTS.items():
        yield f"#   {name}: {', '.join(f'{size} = {value}' for size, value in sizes.items())}"


def _tables(name: str, model: type[BaseModel]) -> Iterator[str]:
    """One block for the table `name`, and one for each table inside it."""
    options = list(_options(model))
    if options:
        about = [_ABOUT[name]] if name in _ABOUT else []
        # An empty table does no harm, and its header shows where an option belongs; but an endpoint needs a base URL.
        header = f"#[{name}]" if name.startswith(("endpoints.", "oracle")) else f"[{name}]"
        yield "\n".join([*about, header, *options])
    for key, field in model.model_fields.items():
        nested = nested_model(field.annotation)
        if nested is not None and not is_container(field.annotation):
            yield from _tables(f"{name}.{key}", nested)


def _options(model: type[BaseModel], shown: BaseModel | None = None) -> Iterator[str]:
    """Meaning and value of each plain option of a table; the values are those of `shown`, else the defaults."""
    for key, field in model.model_fields.items():
        if nested_model(field.annotation) is not None:
            continue
        value = getattr(shown, key) if shown is not None else _default(field)
        state = "required" if field.is_required() else "unset" if value is None else ""
        if meaning := "; ".join(part for part in (field.description, *_limits(field), state) if part):
            yield f"# {meaning}"
        yield f"#{key} = {_toml(EXAMPLES[key] if value is None else value)}"


def _default(field: FieldInfo) -> object:
    return None if field.is_required() else field.get_default(call_default_factory=True)


def _limits(field: FieldInfo) -> Iterator[str]:
    """The values a field takes beyond its type, in words."""
    for annotation in (field.annotation, *get_args(field.annotation)):
        if get_origin(annotation) is Literal and len(get_args(annotation)) > 1:
            yield " | ".join(str(choice) for choice in get_args(annotation))
    for name, words in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
        for limit in field.metadata:
            if (value := getattr(limit, name, None)) is not None:
                yield f"{words} {value}"


def _toml(value: object) -> str:
    # The defaults are texts, numbers, booleans and empty tables, which JSON writes as TOML does.
    return json.dumps(value)
