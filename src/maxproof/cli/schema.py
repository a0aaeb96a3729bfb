"""What settings there are, read off the pydantic models: for messages, for `--set`, and for `maxproof init`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from maxproof.search.settings import RunSettings

SettingPath = tuple[str | int, ...]


def nested_model(annotation: object) -> type[BaseModel] | None:
    """The settings model inside an annotation such as `Prices | None` or `Mapping[str, RoleSettings]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := nested_model(arg)) is not None), None)


def is_container(annotation: object) -> bool:
    """Whether the next part of a path is a user's name (`endpoints.NAME`) or an index (`verifier.judges.0`)."""
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping | tuple)


def field_at(path: Sequence[str | int]) -> FieldInfo | None:
    """The field that a path such as `("endpoints", "default", "model")` names; None if there is none."""
    *table, name = path
    model = model_at(table)
    return model.model_fields.get(str(name)) if model is not None else None


def model_at(path: Sequence[str | int]) -> type[BaseModel] | None:
    """The model of the table at `path`, `()` being the whole file; None if no model describes it."""
    model: type[BaseModel] | None = RunSettings
    parts = iter(path)
    for part in parts:
        field = model.model_fields.get(str(part)) if model is not None else None
        if field is None:
            return None
        model = nested_model(field.annotation)
        if model is not None and is_container(field.annotation) and next(parts, None) is None:
            return None
    return model


def dotted(path: Sequence[str | int]) -> str:
    """The path as the user writes it: `endpoints.default.model`."""
    return ".".join(str(part) for part in path)


def tables_with(option: str, model: type[BaseModel] = RunSettings, table: str = "") -> list[str]:
    """The tables that have an option of this name, as `search` or `endpoints.NAME`."""
    found = [table] if table and option in model.model_fields else []
    for key, field in model.model_fields.items():
        nested = nested_model(field.annotation)
        if nested is not None:
            named = get_origin(field.annotation) in (dict, Mapping)
            path = [table, key, "NAME" if named else ""]
            found += tables_with(option, nested, ".".join(part for part in path if part))
    return found
