"""`[oracle]` of `maxproof.toml`, and the options that stand for its settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from maxproof.cli.config import DEFAULT_FILE, MAX_FILE_BYTES
from maxproof.cli.config_errors import check_values
from maxproof.cli.schema import SettingPath, dotted
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.problems.errors import InputError, Place, nearest
from maxproof.problems.text import read_text
from maxproof.problems.toml import line_of, parse_toml

TABLE = "oracle"


def oracle_settings(path: Path | None, flags: Mapping[str, object]) -> OracleSettings | None:
    """Defaults < `[oracle]` of the file < flags; None where neither names a server.

    Args:
        path: the configuration file; None: `maxproof.toml` in the working directory if there is one.
        flags: dotted setting of `[oracle]` (`budget.max_calls`) -> value; None is not given. A base URL given here is
            another server: the file's model, prices and key are not carried over.

    Raises InputError, with file and line where the file is at fault.
    """
    if path is None and DEFAULT_FILE.exists():
        path = DEFAULT_FILE
    text = read_text(path, MAX_FILE_BYTES) if path is not None else ""
    data = parse_toml(text, Place(path)).get(TABLE, {}) if path is not None else {}
    given = {key: value for key, value in flags.items() if value is not None}

    def locate(setting: SettingPath) -> Place | None:
        name = dotted(setting[1:])
        if path is None or any(f"{key}.".startswith(f"{name}.") for key in given):
            return None
        return Place(path, line_of(text, setting))

    def fault(setting: SettingPath, message: str, hint: str | None = None) -> InputError:
        place = locate(setting)
        if place is None:
            return InputError(message, field=dotted(setting), hint=hint)
        return place.error(message, field=dotted(setting), hint=hint)

    if not isinstance(data, dict):
        raise fault((TABLE,), "expected a table")
    if "base_url" in given:
        for name in ("base_url", "model", "api_key_env", "prices", "extra_body"):
            data.pop(name, None)
    for key, value in given.items():
        *tables, name = key.split(".")
        table = data
        for part in tables:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise fault((TABLE, part), "expected a table")
        table[name] = value
    if "base_url" not in data:
        if data and given:
            raise InputError(
                "names no server for the oracle", field=f"{TABLE}.base_url", hint="give --oracle-base-url or set it"
            )
        return None
    check_values(data, (TABLE,), locate)
    try:
        return OracleSettings.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = (TABLE, *first["loc"])
        if first["type"] == "extra_forbidden":
            names = [*OracleSettings.model_fields]
            raise fault(
                place, "unknown setting", nearest(str(place[-1]), names) or f"known: {', '.join(names)}"
            ) from None
        raise fault(place, first["msg"].removeprefix("Value error, ")) from None


def split_assignments(assignments: list[str] | None) -> tuple[dict[str, object], list[str]]:
    """`--set` of `oracle.KEY=VALUE` as flags of `oracle_settings`, and the others as they are. Raises InputError."""
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
            found[name] = text.strip()
    return found, others
