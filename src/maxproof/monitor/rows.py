"""One row, checked by hand: for lines that the columnar reader refuses, and for rows that a live trainer hands over.

A row becomes plain values under the monitor's names, or a reason why it can't be used. `columnar.py` does the same for
whole blocks of well-formed lines; both give the same columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from maxproof.monitor.fields import JUDGE, FieldMap, Source

Row = dict[str, Any]
_MAX_STEP = 2**53


class BadRow(Exception):
    """The row can't be used; the message is the reason, without what the row says."""


def parse_line(line: bytes) -> Mapping[str, Any]:
    """The object of a line. Raises BadRow."""
    try:
        parsed = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadRow("not UTF-8") from None
    except RecursionError:
        raise BadRow("JSON nested too deeply") from None
    except ValueError:
        raise BadRow("not JSON") from None
    if not isinstance(parsed, dict):
        raise BadRow("not a JSON object")
    return parsed


def canonical_row(found: Mapping[str, Any], fields: FieldMap) -> Row:
    """Plain values by column, scores on 0..1 (not yet checked against it). NaN is taken as null.

    Raises BadRow.
    """
    row: Row = {}
    judges: list[Row] | None = None
    for column, source in fields.columns.items():
        value = _walk(found, source.parts)
        if column.startswith(JUDGE):
            score = _score(value, source, column)
            judges = [*(judges or []), {"judge": clean(column.removeprefix(JUDGE)), "score": score}]
        elif column == "judges":
            judges = _judges(value, source)
        else:
            row[column] = _value(column, value, source)
    row["judges"] = None if judges is None else [judge for judge in judges if judge["score"] is not None]
    return row


def clean(text: str) -> str:
    """Without halves of surrogate pairs, which columns can't hold."""
    return text.encode("utf-8", "replace").decode()


def _walk(found: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return None if isinstance(found, float) and math.isnan(found) else found


def _value(column: str, value: Any, source: Source) -> Any:
    match column:
        case "text":
            text = _text(value, source, column)
            if text is None:
                raise BadRow("no text")
            return text
        case "thinking":
            return _text(value, source, column)
        case "problem":
            if isinstance(value, int | float) and not isinstance(value, bool):
                return str(value)
            return _text(value, source, column)
        case "step" | "group" | "sample":
            return _index(value, column)
        case "is_proof":
            if value is None or isinstance(value, bool):
                return value
            if value in (0, 1):
                return bool(value)
            raise BadRow("is_proof is not true, false or null")
        case _:
            return _score(value, source, column)


def _text(value: Any, source: Source, column: str) -> str | None:
    role = "user" if column == "problem" else "assistant"
    key = "reasoning_content" if source.convert in ("reasoning", "sampled_reasoning") else "content"
    if source.convert in ("sampled_reply", "sampled_reasoning"):
        nodes = value if isinstance(value, list) else []
        value = [node.get("message") for node in nodes if isinstance(node, Mapping) and node.get("sampled")]
        role = ""
    if value is None:
        return None
    if isinstance(value, str):
        return None if key == "reasoning_content" else clean(value)
    if source.convert and isinstance(value, Sequence):
        return _message(value, role, key)
    raise BadRow(f"{column} is not a string")


def _message(messages: Sequence[Any], role: str, key: str) -> str | None:
    """The `key` of the last message of that role, of any role for ""."""
    for message in reversed(messages):
        if isinstance(message, Mapping) and (not role or message.get("role") == role):
            content = message.get(key)
            if isinstance(content, list):  # parts, as for models that see images
                texts = [part.get("text") for part in content if isinstance(part, Mapping)]
                return clean("".join(text for text in texts if isinstance(text, str)))
            return clean(content) if isinstance(content, str) else None
    return None


def _index(value: Any, column: str) -> float | None:
    """A whole number; a trainer's own ids of groups, e.g. strings, are no index and are left out."""
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < _MAX_STEP
        and value == int(value)
    ):
        return float(value)
    if column != "step" or value is None:
        return None
    raise BadRow("step is not a whole number from 0 on")


def _number(value: Any, column: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float):  # true and false, as of a check that passes or fails, are 1 and 0
        raise BadRow(f"{column} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise BadRow(f"{column} is not a number") from None


def _score(value: Any, source: Source, column: str) -> float | None:
    if source.convert == "weighted_sum":
        if not isinstance(value, Mapping):
            return None
        parts = [part for part in value.values() if isinstance(part, Mapping)]
        if not parts:
            return None
        value = sum(
            (_number(part.get("score"), column) or 0.0) * (_number(part.get("weight", 1.0), column) or 0.0)
            for part in parts
        )
    number = _number(value, column)
    return None if number is None or math.isnan(number) else (number - source.low) / (source.high - source.low)


def _judges(value: Any, source: Source) -> list[Row] | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list) and all(isinstance(item, Mapping) and "judge" in item for item in value):
        pairs = [(item["judge"], item.get("score")) for item in value]
    else:
        raise BadRow("judges is not an object of scores")
    return [{"judge": clean(str(name)), "score": _score(score, source, "judges")} for name, score in pairs]
