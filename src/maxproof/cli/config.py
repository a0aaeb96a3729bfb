"""Where settings come from, and in which order.

    built-in defaults < the `effort` of maxproof.toml < maxproof.toml < `--effort` < other flags

So a preset named in the file is a base that the file's own values refine, while `--effort` on the command line
replaces the file's search sizes, and any single flag beats both. The environment (OPENAI_BASE_URL, OPENAI_API_KEY,
OPENAI_MODEL) provides an endpoint only when neither file nor flags name one; keys are only ever named, never read here.

A flag that names a base URL makes that server the only endpoint: no role stays on another one by accident, and no
model name or price of the old server is carried over.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from maxproof.cli.config_errors import Locate, check_values, invalid, setting_error
from maxproof.cli.errors import NoModel
from maxproof.cli.schema import SettingPath, dotted, field_at
from maxproof.models.settings import ROLES
from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.text import read_text
from maxproof.problems.toml import line_of, parse_toml
from maxproof.search.settings import RunSettings

DEFAULT_FILE = Path("maxproof.toml")
MAX_FILE_BYTES = 1024 * 1024
OPENAI_URL = "https://api.openai.com/v1"

# Sizes of the search. `paper` has the published ones, which are the defaults.
EFFORTS: Mapping[str, Mapping[str, int]] = {
    "quick": {"candidates": 4, "verifications": 2, "rounds": 1, "parents": 2},
    "standard": {"candidates": 16, "verifications": 4, "rounds": 4, "parents": 4},
    "paper": {"candidates": 32, "verifications": 4, "rounds": 10, "parents": 4},
}
_ENDPOINT_NAME = re.compile(r"[A-Za-z0-9_-]+")

Table = dict[str, object]


def load_config(
    path: Path | None,
    *,
    effort: str | None = None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> RunSettings:
    """The settings of a run, with an endpoint for each role.

    Args:
        path: the configuration file; None: `maxproof.toml` in the working directory if there is one.
        effort: `quick`, `standard` or `paper`.
        overrides: dotted setting -> value (`{"search.candidates": 8}`). A string is read as what the setting holds,
            `none` lifts a limit.
        environ: the environment; None: the process's own.

    Raises InputError for anything wrong in file or flags, NoModel when nothing names an endpoint.
    """
    flags = dict(overrides or {})
    if path is None and DEFAULT_FILE.exists():
        path = DEFAULT_FILE
    text = read_text(path, MAX_FILE_BYTES) if path is not None else ""
    data: Table = parse_toml(text, Place(path)) if path is not None else {}

    def locate(setting: SettingPath) -> Place | None:
        # What a flag says is not the file's fault; nor is a table, such as parents > candidates, that a flag touches.
        if path is None or any(f"{key}.".startswith(f"{dotted(setting)}.") for key in flags):
            return None
        lines = (line_of(text, setting[:end]) for end in range(len(setting), 0, -1))
        return Place(path, next((line for line in lines if line is not None), None))

    data.pop("train", None)  # what `maxproof train` reads
    data.pop("oracle", None)  # what `maxproof eval` reads
    base = _preset(data.pop("effort", None), "effort", locate)
    search = _table(data, ("search",), locate)
    data["search"] = {**base, **search, **_preset(effort, "--effort", _nowhere)}
    _provide_endpoint(data, flags, os.environ if environ is None else environ, locate)
    _apply(data, flags, locate)
    return _validated(data, locate)


def with_overrides(settings: RunSettings, overrides: Mapping[str, object]) -> RunSettings:
    """`settings` changed by flags, each as for `load_config`. Raises InputError."""
    data: Table = settings.model_dump(mode="json")
    _apply(data, overrides, _nowhere)
    return _validated(data, _nowhere)


def flatten(settings: RunSettings) -> dict[str, str]:
    """Every setting by its dotted name, as text for display; "" is unset. Equal texts mean equal settings."""
    found: dict[str, str] = {}

    def add(value: object, path: str) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
        if items is None or not value:
            found[path] = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        else:
            for name, item in items:
                add(item, f"{path}.{name}" if path else str(name))

    add(settings.model_dump(mode="json"), "")
    return found


def _nowhere(_: SettingPath) -> None:
    return None


def _preset(name: object, field: str, locate: Locate) -> Mapping[str, int]:
    if name is None:
        return {}
    if not isinstance(name, str) or name not in EFFORTS:
        hint = nearest(str(name), EFFORTS) or None
        raise setting_error(f"expected {', '.join(EFFORTS)}; got {name!r}", (field,), locate, hint)
    return EFFORTS[name]


def _table(data: Table, path: SettingPath, locate: Locate) -> Table:
    """The table at `path`, made if there is none. Raises InputError if something else stands there."""
    table = data
    for end, part in enumerate(path, 1):
        value = table.setdefault(str(part), {})
        if not isinstance(value, dict):
            raise setting_error("expected a table", path[:end], locate)
        table = value
    return table


def _provide_endpoint(data: Table, flags: dict[str, object], environ: Mapping[str, str], locate: Locate) -> None:
    """Puts the endpoint that flags or environment name into `data`; aims flags for `default` at the only endpoint."""
    endpoints = _table(data, ("endpoints",), locate)
    of_default = [key for key in flags if key.startswith("endpoints.default.")]
    if "endpoints.default.base_url" in flags:
        endpoints.clear()
        for _, table in _bound(data, locate):
            table.pop("endpoint", None)
            table.pop("model", None)
    elif not endpoints and not any(key.startswith("endpoints.") and key.endswith(".base_url") for key in flags):
        endpoints["default"] = _environment_endpoint(flags, environ)
    elif of_default and "default" not in endpoints:
        if len(endpoints) > 1:
            raise InputError(
                f"several endpoints and none is named default: {', '.join(endpoints)}",
                field=of_default[0],
                hint="name the one that is meant, with --set endpoints.NAME.OPTION=VALUE",
            )
        (only,) = endpoints
        for key in of_default:
            flags[key.replace("default", only, 1)] = flags.pop(key)


def _environment_endpoint(flags: Mapping[str, object], environ: Mapping[str, str]) -> Table:
    url = environ.get("OPENAI_BASE_URL") or (OPENAI_URL if environ.get("OPENAI_API_KEY") else "")
    model = environ.get("OPENAI_MODEL", "")
    if not url:
        raise NoModel(
            "no model is configured",
            hint="name a server with --base-url URL --model NAME or in maxproof.toml; or set OPENAI_BASE_URL or "
            "OPENAI_API_KEY; or use the embedded model: maxproof models get smollm2, then --local smollm2",
        )
    if url == OPENAI_URL and not model and "endpoints.default.model" not in flags:
        raise NoModel(f"no model is named for {url}", hint="name one with --model or OPENAI_MODEL")
    return {"base_url": url, "model": model}


def _bound(data: Table, locate: Locate) -> Iterator[tuple[SettingPath, Table]]:
    """The tables that may name an endpoint: of the roles, then of the judges."""
    roles = _table(data, ("roles",), locate)
    for role in roles:
        yield ("roles", role), _table(data, ("roles", role), locate)
    judges = _table(data, ("verifier",), locate).get("judges")
    for index, judge in enumerate(judges if isinstance(judges, list) else []):
        if isinstance(judge, dict):
            yield ("verifier", "judges", index), judge


def _apply(data: Table, flags: Mapping[str, object], locate: Locate) -> None:
    """Sets each flag's setting in `data`."""
    for key, value in flags.items():
        *table, name = key.split(".")
        _table(data, tuple(table), locate)[name] = _typed(key, value) if isinstance(value, str) else value


def _typed(key: str, text: str) -> object:
    """`text` as the setting `key` holds it: a TOML value where that fits, else the text itself."""
    field = field_at(key.split("."))
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = None if text == "none" else text
    if field is None:
        return value
    adapter = TypeAdapter(cast(Any, field.annotation))
    for candidate in (value, text):
        with suppress(ValidationError, TypeError):
            adapter.validate_json(json.dumps(candidate), strict=True)
            return candidate
    return value


def _validated(data: Table, locate: Locate) -> RunSettings:
    check_values(data, (), locate)
    _bind_roles(data, locate)
    try:
        # Through JSON, because strict validation of Python values would refuse a list where a tuple is meant.
        return RunSettings.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise invalid(error, data, locate) from None


def _bind_roles(data: Table, locate: Locate) -> None:
    """Gives each role an endpoint: its own, else `default`, else the only one. Raises InputError if none fits."""
    endpoints = _table(data, ("endpoints",), locate)
    for name in endpoints:
        if not _ENDPOINT_NAME.fullmatch(name):
            raise setting_error("expected a name of letters, digits, - and _", ("endpoints", name), locate)
    for name in _table(data, ("roles",), locate):
        if name not in ROLES:
            hint = nearest(name, ROLES) or f"known: {', '.join(ROLES)}"
            raise setting_error("unknown role", ("roles", name), locate, hint)
    fallback = "default" if "default" in endpoints else next(iter(endpoints)) if len(endpoints) == 1 else None
    for role in ROLES:
        path: SettingPath = ("roles", role)
        if _table(data, path, locate).setdefault("endpoint", fallback) is None:
            raise setting_error(
                f"not set, and none of the endpoints {', '.join(endpoints)} is named default",
                (*path, "endpoint"),
                locate,
                "name one default, or give each role its endpoint",
            )
    for path, table in _bound(data, locate):
        wanted = table.get("endpoint")
        if isinstance(wanted, str) and wanted not in endpoints:
            hint = nearest(wanted, endpoints) or f"configured: {', '.join(endpoints)}"
            raise setting_error(f"no endpoint is named {wanted!r}", (*path, "endpoint"), locate, hint)
