"""`[train]` of `maxproof.toml`, and the options that stand for its settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from maxproof.cli.config import DEFAULT_FILE, MAX_FILE_BYTES
from maxproof.cli.config_errors import check_values
from maxproof.cli.schema import dotted
from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.text import read_text
from maxproof.problems.toml import line_of, parse_toml
from maxproof.training.settings import CispoSettings, SamplingSettings

TABLE = "train"


def train_settings(path: Path | None, flags: Mapping[str, object]) -> CispoSettings:
    """Defaults < `[train]` of the file < flags.

    Args:
        path: the configuration file; None: `maxproof.toml` in the working directory if there is one.
        flags: dotted setting of `[train]` (`sampling.temperature`) -> value; None is not given.

    Raises InputError, with file and line where the file is at fault.
    """
    if path is None and DEFAULT_FILE.exists():
        path = DEFAULT_FILE
    text = read_text(path, MAX_FILE_BYTES) if path is not None else ""
    data = parse_toml(text, Place(path)).get(TABLE, {}) if path is not None else {}
    given = {key: value for key, value in flags.items() if value is not None}

    def fault(setting: tuple[str | int, ...], message: str, hint: str | None = None) -> InputError:
        name = dotted(setting[1:])
        if path is None or any(f"{key}.".startswith(f"{name}.") for key in given):
            return InputError(message, field=dotted(setting), hint=hint)
        return Place(path, line_of(text, setting)).error(message, field=dotted(setting), hint=hint)

    if not isinstance(data, dict):
        raise fault((TABLE,), "expected a table")
    check_values(data, (TABLE,), lambda setting: Place(path, line_of(text, setting)) if path is not None else None)
    for key, value in given.items():
        *tables, name = key.split(".")
        table = data
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise fault((TABLE, part), "expected a table")
        table[name] = value
    try:
        return CispoSettings.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = (TABLE, *first["loc"])
        if first["type"] == "extra_forbidden":
            model = SamplingSettings if len(place) > 2 else CispoSettings
            hint = nearest(str(place[-1]), model.model_fields) or f"known: {', '.join(model.model_fields)}"
            raise fault(place, "unknown setting", hint) from None
        raise fault(place, first["msg"].removeprefix("Value error, ")) from None


def split_assignments(assignments: list[str] | None) -> tuple[dict[str, object], list[str]]:
    """`--set` of `train.KEY=VALUE` as flags of `train_settings`, and the others as they are. Raises InputError."""
    found: dict[str, object] = {}
    others: list[str] = []
    for assignment in assignments or []:
        key, equals, text = assignment.partition("=")
        name = key.strip().removeprefix(f"{TABLE}.")
        if name == key.strip():
            others.append(assignment)
            continue
        if not equals or not name:
            raise InputError(f"expected KEY=VALUE, got {assignment!r}", field="--set")
        try:
            found[name] = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            raise InputError(f"expected a number or true/false, got {text.strip()!r}", field=name) from None
    return found, others
