"""What can be wrong with a setting, as one line that says where, what was expected and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from maxproof.cli.schema import SettingPath, dotted, field_at, model_at, tables_with
from maxproof.models.schemes import is_embedded
from maxproof.problems.errors import InputError, Place, nearest

Locate = Callable[[SettingPath], Place | None]

_EXPECTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text in quotes",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "model_type": "a table",
    "mapping_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list of tables",
    "too_short": "at least {min_length} entry",
    "string_pattern_mismatch": "text that matches {pattern}",
    "missing": "a value: it is required",
}
_KEY_NAME = re.compile(r".*(key|token|secret|password)|bearer|authorization")
_LOOKS_LIKE_KEY = re.compile(
    r"\s*(?:(?:bearer|basic)\s+\S+|(?:sk-|sk_|rk-|gsk_|hf_|xai-|nvapi-|AIza|pplx-|csk-|fw_|r8_|ghp_)[\w-]{12,})\s*",
    re.IGNORECASE,
)
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USE_ENVIRONMENT = "put it in an environment variable and name that one with api_key_env"
_MAX_SHOWN = 60


def setting_error(message: str, path: SettingPath, locate: Locate, hint: str | None = None) -> InputError:
    """An InputError about the setting at `path`, with file and line where `locate` knows them."""
    place = locate(path)
    field = dotted(path) or None
    if place is None:
        return InputError(message, field=field, hint=hint)
    return place.error(message, field=field, hint=hint)


def invalid(error: ValidationError, data: Mapping[str, object], locate: Locate) -> InputError:
    """The first fault that pydantic found in `data`, and how many settings more are at fault."""
    faults: dict[SettingPath, list[tuple[str, Mapping[str, object], object]]] = {}
    for detail in error.errors(include_url=False):
        path = _path_in(data, detail["loc"], detail["type"])
        faults.setdefault(path, []).append((detail["type"], detail.get("ctx", {}), detail["input"]))
    path, found = next(iter(faults.items()))
    more = f" [and {len(faults) - 1} more]" if len(faults) > 1 else ""
    kind, context, value = found[0]
    if kind == "extra_forbidden":
        return setting_error(f"unknown setting{more}", path, locate, _known_names(path))
    if kind == "value_error":
        return setting_error(f"{context['error']}{more}", path, locate)
    wanted = [_EXPECTED[name].format(**ctx) for name, ctx, _ in found if name in _EXPECTED]
    if not wanted:
        return setting_error(f"not valid: {kind}{more}", path, locate)
    got = "" if kind == "missing" else f", got {_shown(value)}"
    return setting_error(f"expected {' or '.join(wanted)}{got}{more}", path, locate, _meaning(path))


def check_values(value: object, path: SettingPath, locate: Locate) -> None:
    """Refuses what no setting may hold: keys, dates, infinities, text that can't be written as UTF-8.

    A key is never repeated in the message. Raises InputError.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            if _KEY_NAME.fullmatch(re.sub(r"[\W_]", "", name).casefold()) and isinstance(item, str):
                raise setting_error("keys don't belong in settings", (*path, name), locate, _USE_ENVIRONMENT)
            check_values(item, (*path, name), locate)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_values(item, (*path, index), locate)
    elif isinstance(value, str):
        _check_text(value, path, locate)
    elif isinstance(value, float) and value - value != 0:
        raise setting_error("expected a finite number", path, locate)
    elif value is not None and not isinstance(value, int | float):
        raise setting_error(f"expected text, a number or true/false, got a {type(value).__name__}", path, locate)


def _check_text(text: str, path: SettingPath, locate: Locate) -> None:
    if _LOOKS_LIKE_KEY.fullmatch(text):
        raise setting_error("this looks like an API key", path, locate, _USE_ENVIRONMENT)
    if path[-1:] == ("api_key_env",) and not _ENVIRONMENT_NAME.fullmatch(text):
        raise setting_error("expected the name of an environment variable, such as OPENAI_API_KEY", path, locate)
    if (path[:1] == ("endpoints",) and path[2:] == ("base_url",)) or path == ("oracle", "base_url"):
        authority = text.partition("://")[2].partition("/")[0]
        if "@" in authority or "?" in text:
            raise setting_error("a base URL has no user, password or query", path, locate, _USE_ENVIRONMENT)
        if not (text.startswith(("http://", "https://")) or is_embedded(text)):
            raise setting_error("expected http://..., https://..., local:NAME or lab:", path, locate)
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise setting_error("expected text in UTF-8", path, locate)


def _path_in(data: object, location: tuple[int | str, ...], kind: str) -> SettingPath:
    """`location` without the parts by which pydantic tells the members of a union apart."""
    path: list[str | int] = []
    for part in location:
        if isinstance(data, Mapping) and part in data:
            data = data[str(part)]
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            if kind == "missing":
                path.append(part)
            break
        path.append(part)
    return tuple(path)


def _known_names(path: SettingPath) -> str:
    model = model_at(path[:-1])
    names = list(model.model_fields) if model is not None else []
    if len(path) == 1:
        names.append("effort")
    elsewhere = tables_with(str(path[-1]))
    if len(path) == 1 and elsewhere:
        return f"it belongs in {' or '.join(f'[{table}]' for table in elsewhere)}"
    return nearest(str(path[-1]), names) or f"known: {', '.join(names)}"


def _meaning(path: SettingPath) -> str | None:
    field = field_at(path) if path else None
    return field.description if field is not None else None


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
