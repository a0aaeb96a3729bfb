"""Whole blocks at once: from parsed columns, of JSON or Parquet, to the monitor's columns, by polars expressions.

`json_frame` parses a block of lines strictly: any value of another type than the column's makes it refuse the whole
block, which `read.py` then takes line by line. `raw_columns` picks and scales; `finish` says which rows can't be used
and splits thinking off the text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any, cast

import polars as pl

from maxproof.monitor.fields import JUDGE, SCORES, FieldMap, Source
from maxproof.monitor.rows import Row
from maxproof.monitor.types import ROUNDING
from maxproof.problems.errors import InputError

_JUDGES = pl.List(pl.Struct({"judge": pl.String, "score": pl.Float64}))
_MESSAGES = pl.List(pl.Struct({"role": pl.String, "content": pl.String, "reasoning_content": pl.String}))
RAW: Mapping[str, pl.DataType] = {
    "problem": pl.String(),
    "step": pl.Float64(),
    "text": pl.String(),
    "group": pl.Float64(),
    "sample": pl.Float64(),
    "thinking": pl.String(),
    "train_reward": pl.Float64(),
    "oracle": pl.Float64(),
    "judges": _JUDGES,
    "is_proof": pl.Boolean(),
}
"""Before `finish`."""
SCHEMA: Mapping[str, pl.DataType] = {**RAW, "step": pl.Int64(), "group": pl.Int64(), "sample": pl.Int64()}
"""Canonical, see `types.py`. `judges` has the scored ones only."""

_NUMBER = r"(-?[0-9][0-9.eE+-]*|null)"
_NAME = r'"([^"\\\x00-\x1f]*)"'
_PAIR = rf"{_NAME}: {_NUMBER}"
_OBJECT = rf"^\{{(?:{_PAIR}(?:, {_PAIR})*)?\}}$"


_NAN = re.compile(rb'("[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")|(?<![\w.+-])NaN(?![\w.+-])')
_NO_TEXT = r'^(?:\{"|\[[\[{"0-9]|(?:\{\}|\[\]|true|false|-?[0-9][0-9.eE+-]*)$)'
"""What polars makes of a JSON value that is no text looks so; a text may look so too."""


class Refused(Exception):
    """The block has to be read line by line."""


def json_frame(data: bytes, first: Mapping[str, Any], fields: FieldMap) -> pl.DataFrame:
    """A block of JSON lines as raw columns.

    Args:
        first: the object of its first line, which tells lists of messages from texts.

    Raises Refused.
    """
    tree: dict[str, Any] = {}
    for column, source in fields.columns.items():
        node = tree
        for part in source.parts[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise Refused
        if isinstance(node.setdefault(source.parts[-1], {}), dict) and node[source.parts[-1]]:
            raise Refused  # one column is inside of what another reads whole
        node[source.parts[-1]] = _json_type(column, source, first)
    if b"NaN" in data:  # as `json` and pandas write a score that was not given; polars takes JSON only
        data = _NAN.sub(lambda found: found[1] or b"null", data)
    try:
        parsed = pl.read_ndjson(io.BytesIO(data), schema={name: _struct(node) for name, node in tree.items()})
        raw = raw_columns(parsed, fields)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, InputError):
        raise Refused from None
    if b"\\ud" in data or b"\\uD" in data:  # half of a surrogate pair can come out as NUL
        texts = pl.col("problem", "text", "thinking").str.contains("\0", literal=True).any()
        if any(raw.select(texts).row(0)):
            raise Refused
    return raw


def _json_type(column: str, source: Source, first: Mapping[str, Any]) -> pl.DataType:
    value: Any = first
    for part in source.parts:
        value = value.get(part) if isinstance(value, Mapping) else None
    if source.convert:
        return _MESSAGES if isinstance(value, list) else pl.String()
    if column == "judges":
        return pl.String()
    score = column in SCORES or column.startswith(JUDGE)
    return pl.Boolean() if score and isinstance(value, bool) else pl.Float64() if score else RAW[column]


def _struct(node: Any) -> pl.DataType:
    return pl.Struct({name: _struct(inner) for name, inner in node.items()}) if isinstance(node, dict) else node


def rows_frame(rows: list[Row]) -> pl.DataFrame:
    """Rows of `rows.canonical_row` as raw columns."""
    return pl.DataFrame([{name: row.get(name) for name in RAW} for row in rows], schema=RAW)


def raw_columns(frame: pl.DataFrame, fields: FieldMap) -> pl.DataFrame:
    """Picks, converts and scales the columns; one that the frame lacks is null.

    Raises InputError for a column of a wrong type, Refused for JSON values that only a reading line by line can tell.
    """
    picked: dict[str, pl.Expr] = {}
    judges: list[pl.Expr] = []
    for column, source in fields.columns.items():
        found = _pick(frame, source)
        if found is None:
            continue
        expr, dtype = found
        if column.startswith(JUDGE):
            name = column.removeprefix(JUDGE)
            score = _scaled(_score(expr, dtype, column), source)
            judges.append(pl.struct(pl.lit(name).alias("judge"), score.alias("score")))
        elif column == "judges":
            picked[column] = _judges(frame, expr, dtype, source)
        elif column in ("text", "thinking", "problem"):
            picked[column] = _text(frame, expr, dtype, column, source)
        elif column == "is_proof":
            if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
                raise InputError(f"expected true or false, found {dtype}", field=source.path)
            picked[column] = expr.cast(pl.Boolean)
        elif column in ("group", "sample") and not dtype.is_numeric():
            continue  # a trainer's own ids
        elif column in SCORES:
            picked[column] = _scaled(_score(expr, dtype, source.path), source)
        else:
            picked[column] = _scaled(_number(expr, dtype, source.path), source)
    if judges:
        picked["judges"] = pl.concat_list(judges).list.filter(pl.element().struct.field("score").is_not_null())
    return frame.select(picked.get(name, pl.lit(None)).cast(dtype).alias(name) for name, dtype in RAW.items())


def finish(raw: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The canonical rows, and (row, reason) of those that can't be used.

    NaN for a score means that it was not given. Thinking in think tags within the text is split off as
    `maxproof.models.reply.split_thinking` does; a lone closing tag ends thinking where the row has no thinking of its
    own.
    """
    scores = pl.col("train_reward", "oracle").fill_nan(None)
    raw = raw.with_columns(scores).with_row_index("row")
    step = pl.col("step")
    outside = [
        (column, (pl.col(column) < -ROUNDING) | (pl.col(column) > 1 + ROUNDING))
        for column in ("train_reward", "oracle")
    ]
    judge = pl.col("judges").list.eval(pl.element().struct.field("score"))
    outside.append(("judges", (judge.list.min() < -ROUNDING) | (judge.list.max() > 1 + ROUNDING)))
    reason = (
        pl.when(pl.col("text").is_null())
        .then(pl.lit("no text"))
        .when(pl.col("problem").is_null())
        .then(pl.lit("no problem"))
        .when(step.is_null())
        .then(pl.lit("no step"))
        .when(~((step >= 0) & (step < 2**53) & (step == step.floor())))
        .then(pl.lit("step is not a whole number from 0 on"))
    )
    for column, beyond in outside:
        reason = reason.when(beyond).then(pl.lit(f"{column} outside 0..1"))
    raw = raw.with_columns(reason=reason.otherwise(None))
    bad = raw.filter(pl.col("reason").is_not_null()).select("row", "reason")
    good = raw.filter(pl.col("reason").is_null()) if bad.height else raw
    index = [
        pl.when((pl.col(name) >= 0) & (pl.col(name) == pl.col(name).floor())).then(pl.col(name)).alias(name)
        for name in ("group", "sample")
    ]
    good = good.with_columns(*index, pl.col("train_reward", "oracle").clip(0.0, 1.0))
    return split_thinking(good.select(*SCHEMA).cast(pl.Schema(SCHEMA))), bad


_SPACE = r"[\s\x1c-\x1f--\n]*"
_BLOCK = rf"{_SPACE}<(?:think>.*?(?:</think>|\z)|thinking>.*?(?:</thinking>|\z))"
_THINKING = rf"(?is)(\A|\n)((?:{_BLOCK})+)"
_TAG = r"(?i)</?think(?:ing)?>"
_LONE = r"(?i)</think(?:ing)?>"


def split_thinking(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with thinking in think tags moved from `text` to `thinking`."""
    text = pl.col("text")
    tagged = frame.select(text.str.contains(r"(?i)</?think").any()).item() if frame.height else False
    if not tagged:
        return frame
    # a first block that chat templates open: mark its start, so that one expression finds all blocks
    lone = pl.col("thinking").is_null() & ~text.str.contains(_THINKING) & text.str.contains(_LONE)
    frame = frame.with_columns(
        text=pl.when(lone)
        .then(pl.lit("<think>") + text.str.replace(r"(?i)</think(?:ing)?>", "</think>"))
        .otherwise(text)
    )
    found = text.str.contains(_THINKING)
    thought = text.str.extract_all(_THINKING).list.join("\n").str.replace_all(_TAG, "\n").str.strip_chars()
    joined = pl.concat_str([pl.col("thinking").fill_null(""), thought], separator="\n\n").str.strip_chars()
    return frame.with_columns(
        text=pl.when(found).then(text.str.replace_all(_THINKING, "$1").str.strip_chars()).otherwise(text),
        thinking=pl.when(found).then(joined).otherwise(pl.col("thinking")),
    )


def _pick(frame: pl.DataFrame, source: Source) -> tuple[pl.Expr, pl.DataType] | None:
    """The expression of a path and its type; None if the frame lacks it."""
    top, *rest = source.parts
    if top not in frame.columns:
        return None
    expr, dtype = pl.col(top), frame.schema[top]
    for part in rest:
        if part not in _inner(dtype):
            return None
        expr, dtype = expr.struct.field(part), _inner(dtype)[part]
    return expr, dtype


def _inner(dtype: object) -> dict[str, pl.DataType]:
    """The fields of a struct by name; none of any other type."""
    return {one.name: cast(pl.DataType, one.dtype) for one in dtype.fields} if isinstance(dtype, pl.Struct) else {}


def _number(expr: pl.Expr, dtype: pl.DataType, field: str) -> pl.Expr:
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise InputError(f"expected numbers, found {dtype}", field=field)
    return expr.cast(pl.Float64).fill_nan(None)


def _score(expr: pl.Expr, dtype: pl.DataType, field: str) -> pl.Expr:
    """A number; true and false, as of a check that passes or fails, are 1 and 0."""
    return expr.cast(pl.Float64) if dtype == pl.Boolean else _number(expr, dtype, field)


def _scaled(expr: pl.Expr, source: Source) -> pl.Expr:
    return expr if (source.low, source.high) == (0.0, 1.0) else (expr - source.low) / (source.high - source.low)


def _text(frame: pl.DataFrame, expr: pl.Expr, dtype: pl.DataType, column: str, source: Source) -> pl.Expr:
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct):
        return _message(frame, expr, dtype.inner, column, source)
    if column == "problem" and dtype.is_integer():
        return expr.cast(pl.String)
    if dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        raise InputError(f"expected text, found {dtype}", field=source.path)
    if source.convert == "reasoning":
        return pl.lit(None, pl.String)
    expr = expr.cast(pl.String)
    if column != "problem" and frame.select(expr.str.contains(_NO_TEXT).any()).item():
        raise Refused
    return expr


def _message(frame: pl.DataFrame, expr: pl.Expr, inner: pl.Struct, column: str, source: Source) -> pl.Expr:
    names = _inner(inner)
    key = "reasoning_content" if source.convert == "reasoning" else "content"
    if names.get(key, pl.Null) == pl.Null:
        return pl.lit(None, pl.String)
    if names[key] != pl.String:
        raise InputError(f"expected messages with text, found {names[key]}", field=f"{source.path}.{key}")
    message = pl.element()
    role = "user" if column == "problem" else "assistant"
    if "role" in names:
        message = message.filter(message.struct.field("role") == role)
    content = expr.list.eval(message.struct.field(key)).list.last()
    if frame.select(content.str.starts_with('[{"').any()).item():
        raise Refused  # content in parts
    return content


def _judges(frame: pl.DataFrame, expr: pl.Expr, dtype: pl.DataType, source: Source) -> pl.Expr:
    if isinstance(dtype, pl.Struct):
        scores = [
            pl.struct(pl.lit(name).alias("judge"), _score(expr.struct.field(name), inner, source.path).alias("score"))
            for name, inner in _inner(dtype).items()
        ]
        listed = pl.concat_list(scores) if scores else pl.lit([], _JUDGES)
    elif dtype == pl.String:
        if not frame.select(expr.str.contains(_OBJECT).fill_null(True).all()).item():
            raise Refused
        pairs = expr.str.replace_all(_PAIR, '{"judge": "$1", "score": $2}')
        listed = pairs.str.replace(r"^\{", "[").str.replace(r"\}$", "]").str.json_decode(_JUDGES)
    elif isinstance(dtype, pl.List) and len(_inner(dtype.inner)) == 2:
        listed = expr.list.eval(pl.element().struct.rename_fields(["judge", "score"])).cast(_JUDGES)
    elif dtype == pl.Null:
        return pl.lit(None, _JUDGES)
    else:
        raise InputError(f"expected an object of scores by judge, found {dtype}", field=source.path)
    score = _scaled(pl.element().struct.field("score").fill_nan(None), source)
    both = pl.struct(pl.element().struct.field("judge"), score.alias("score"))
    return listed.list.eval(both.filter(score.is_not_null()))
