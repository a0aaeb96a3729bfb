"""From a record's keys and values to a `Problem`: field names, their common aliases, and what a value may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from maxproof.problems.errors import Place, nearest
from maxproof.problems.problem import Problem
from maxproof.problems.text import unix_newlines

FIELDS = tuple(field.name for field in fields(Problem))
MAX_FIELD_CHARS = 200_000  # prompts clip longer text, and a clipped statement is another problem
MAX_ID_CHARS = 200

# Names that data sets use for our fields; case, spaces, hyphens and underscores make no difference.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("problem id", "question id", "uuid", "key"),
    "statement": ("problem", "question", "problem statement", "informal statement"),
    "reference": ("solution", "reference solution", "reference proof", "proof", "informal proof"),
    "rubric": ("grading guidelines", "grading guideline", "grading scheme", "marking scheme", "rubrics"),
    "answer": ("short answer", "final answer", "reference answer"),
    "domain": ("category", "subject", "topic"),
    "level": ("difficulty",),
    "source": ("origin",),
}
_SAME_CHARS = re.compile(r"[\s_-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _folded(key: str) -> str:
    return _SAME_CHARS.sub(" ", key.strip()).casefold()


_FIELD_OF = {_folded(name): field for field in FIELDS for name in (field, *ALIASES[field])}


def by_field(raw: Mapping[str, object], place: Place) -> dict[str, tuple[str, object]]:
    """Field -> (key as the file spells it, value), for the keys of `raw` that name a field. Other keys are left out.

    Our own name wins over an alias. Raises InputError when two aliases claim one field with different values.
    """
    found: dict[str, tuple[str, object]] = {}
    for key, value in raw.items():
        field = _FIELD_OF.get(_folded(key))
        if field is None or _blank(value):
            continue
        earlier = found.get(field)
        if earlier is None or _folded(key) == field:
            found[field] = (key, value)
        elif _folded(earlier[0]) != field and earlier[1] != value:
            raise place.error(
                f"{earlier[0]!r} and {key!r} both give the {field}", hint=f"name the one that counts {field!r}"
            )
    return found


def record_id(raw: Mapping[str, object], place: Place, default: str) -> str:
    """The record's id: one line of 1 to MAX_ID_CHARS characters. Raises InputError."""
    key, value = by_field(raw, place).get("id", ("id", default))
    text = _text(key, value, place)
    if text is None or not printable_id(text):
        raise place.error(f"expected one line of 1 to {MAX_ID_CHARS} characters", field=key)
    return text


def printable_id(text: str) -> bool:
    """Whether `text` can be an id: one line of 1 to MAX_ID_CHARS characters, none of them a control character."""
    return bool(text.strip()) and not _CONTROL.search(text) and len(text) <= MAX_ID_CHARS


def to_problem(raw: Mapping[str, object], place: Place, id: str) -> Problem:
    """The problem that a record holds.

    Raises InputError: no statement (naming the key that was probably meant), wrong types, text that is too long.
    """
    found = by_field(raw, place)
    texts = {field: _text(key, value, place) for field, (key, value) in found.items() if field != "id"}
    statement = texts.pop("statement", None)
    if statement is None:
        raise place.error("no statement", hint=_statement_hint(raw))
    return Problem(id=id, statement=statement, **texts)


def check_keys(raw: Mapping[str, object], place: Place, allowed: tuple[str, ...]) -> None:
    """Raises InputError for a key that is not exactly one of `allowed`, with the nearest one."""
    for key in raw:
        if key not in allowed:
            meant = _FIELD_OF.get(_folded(key))
            hint = f"did you mean {meant}?" if meant in allowed else nearest(key, allowed)
            raise place.error("unknown field", field=key, hint=hint or f"known: {', '.join(allowed)}")


def id_from(path: Path) -> str:
    """The id of a problem that states none: the file's name without its suffix, made printable."""
    return (_CONTROL.sub("_", path.stem.encode("utf-8", "replace").decode()) or "problem")[:MAX_ID_CHARS]


def _blank(value: object) -> bool:
    # NaN is what data frames write for a missing value.
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _text(key: str, value: object, place: Place) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise place.error(f"expected text, got {_kind(value)}", field=key)
    text = unix_newlines(str(value)).strip()
    if len(text) > MAX_FIELD_CHARS:
        raise place.error(f"{len(text):,} characters, expected at most {MAX_FIELD_CHARS:,}", field=key)
    if "\0" in text or _SURROGATE.search(text):
        raise place.error("holds a NUL character or half of a surrogate pair, expected text", field=key)
    return text or None


def _kind(value: object) -> str:
    kinds = {bool: "true or false", list: "a list", dict: "an object"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _statement_hint(raw: Mapping[str, object]) -> str:
    names = ("statement", *ALIASES["statement"])
    for key in raw:
        if _FIELD_OF.get(_folded(key)) is None and (hint := nearest(_folded(key), names)):
            return f"found {key!r}, {hint}"
    return f"expected one of {', '.join(names)}"
