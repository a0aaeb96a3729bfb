"""From a trainer's field names to the monitor's columns.

A `FieldMap` says, for each column of `types.py`, which field of a rollout file holds it. `MAPS` has those of the
trainers that this project knows; `parse_map` puts a user's own on top; `detect_map` picks the ready map that fits.

What a trainer writes changes from version to version: each map says what it was checked against, and a field that is
absent leaves its column empty, which switches off only the signals that need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from maxproof.monitor.types import OPTIONAL, REQUIRED
from maxproof.problems.errors import InputError, nearest

COLUMNS = (*REQUIRED, *OPTIONAL)
SCORES = ("train_reward", "oracle", "judges")
JUDGE = "judges."
"""`judges.NAME` is the score of one judge that has a field of its own."""

Convert = Literal["", "reply", "reasoning", "question", "sampled_reply", "sampled_reasoning", "weighted_sum"]
ROW_BY_ROW = ("sampled_reply", "sampled_reasoning", "weighted_sum")
"""Converters for which rows are read one by one: what they read has no fixed columns."""
_RANGE = re.compile(r"(?P<path>.+):(?P<low>-?[\d.]+)\.\.(?P<high>-?[\d.]+)")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a column comes from.

    Attributes:
        path: the field; dots lead into nested objects, unless `whole`. "*" (only for a train reward): the one field
            with numbers that the map does not know.
        low, high: the range of a score, which is mapped to 0..1; the ends need not be ordered by size.
        convert: what is made of the field. `reply`: the content of the last assistant message of a list of messages;
            a text is taken as it is. `reasoning`: that message's `reasoning_content`. `question`: the content of the
            last user message. `sampled_reply`, `sampled_reasoning`: the same of the last node that a model wrote in a
            list of {message, sampled}. `weighted_sum`: of an object of {score, weight}.
        whole: the dots belong to the name of one field, as in flattened tables.
    """

    path: str
    low: float = 0.0
    high: float = 1.0
    convert: Convert = ""
    whole: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's names."""
        return (self.path,) if self.whole else tuple(self.path.split("."))


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Attributes:
    name: of the ready map it is, or is built on.
    columns: sources by column; `judges.NAME` for a judge with a field of its own.
    fits: top-level fields by which files of this kind are known.
    known: further top-level fields that such files have and the monitor has no use for.
    step_from_name: a pattern with one group, the step, searched in the file's name and then in its folders', the
        nearest first; "" if a field has the step.
    asked: the columns that the user mapped: their fields must be there.
    """

    name: str
    columns: Mapping[str, Source]
    fits: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    step_from_name: str = ""
    asked: frozenset[str] = field(default_factory=frozenset)

    @property
    def row_by_row(self) -> bool:
        """The rows must be read one by one."""
        return any(source.convert in ROW_BY_ROW for source in self.columns.values())

    def top_fields(self) -> tuple[str, ...]:
        """The top-level fields that are read, each once."""
        return tuple(dict.fromkeys(source.parts[0] for source in self.columns.values()))


def _own() -> FieldMap:
    """`rollouts.jsonl` of this project's trainers (`training/rollouts.py`), and any file with the monitor's names."""
    columns = {name: Source(name) for name in COLUMNS}
    return FieldMap("maxproof", columns, fits=frozenset(REQUIRED))


def _trl() -> FieldMap:
    """TRL's `completions/completions_00010.parquet`, written with `log_completions=True`.

    Checked against TRL 1.16, `trainer/grpo_trainer.py`: step, prompt, completion, one column for each reward function
    under its name, extra columns, advantage. A reward that a function did not give is NaN. With one reward function its
    column is the train reward; with several, name one: `--map train_reward=NAME`.
    """
    return FieldMap(
        "trl",
        {
            "problem": Source("prompt", convert="question"),
            "step": Source("step"),
            "text": Source("completion", convert="reply"),
            "thinking": Source("completion", convert="reasoning"),
            "train_reward": Source("*"),
        },
        fits=frozenset({"step", "prompt", "completion", "advantage"}),
        known=frozenset({"images"}),
    )


def _verl() -> FieldMap:
    """verl's `{step}.jsonl` in `trainer.rollout_data_dir`.

    Checked against `verl/trainer/ppo/ray_trainer.py` (`_dump_generations`): input, output, gts, score, step, and the
    reward function's extra fields. `score` is what the reward function gave: where that isn't 0..1, map it with its
    range, e.g. `--map train_reward=score:-1..1`.
    """
    return FieldMap(
        "verl",
        {
            "problem": Source("input"),
            "step": Source("step"),
            "text": Source("output"),
            "train_reward": Source("score"),
        },
        fits=frozenset({"input", "output", "score"}),
        step_from_name=r"^(\d+)\.jsonl",
    )


def _slime() -> FieldMap:
    """slime's `--save-debug-rollout-data data_{rollout_id}.pt`, and dumps of its samples as JSONL.

    Checked against `slime/utils/types.py` (`Sample.to_dict`): group_index, index, prompt, response, reward, status,
    metadata. A reward with parts needs its key: `--map train_reward=reward.KEY`.
    """
    return FieldMap(
        "slime",
        {
            "problem": Source("prompt", convert="question"),
            "step": Source("rollout_id"),
            "group": Source("group_index"),
            "sample": Source("index"),
            "text": Source("response"),
            "train_reward": Source("reward"),
        },
        fits=frozenset({"prompt", "response", "reward", "response_length"}),
        step_from_name=r"(\d+)\.(?:pt|jsonl)",
    )


def _prime_rl() -> FieldMap:
    """prime-rl's `rollouts/step_N/*rollouts.jsonl` before traces.

    Checked against `verifiers/types.py` (`RolloutOutput`) and `prime_rl/orchestrator/vf_utils.py` (`save_rollouts`):
    example_id, prompt, completion, reward, metrics, info.
    """
    return FieldMap(
        "prime-rl",
        {
            "problem": Source("example_id"),
            "step": Source("step"),
            "text": Source("completion", convert="reply"),
            "thinking": Source("completion", convert="reasoning"),
            "train_reward": Source("reward"),
        },
        fits=frozenset({"example_id", "completion", "reward"}),
        step_from_name=r"step_(\d+)",
    )


def _prime_rl_trace() -> FieldMap:
    """prime-rl's traces, `rollouts/step_N/*.jsonl`, also gzipped.

    Checked against `verifiers/v1/trace.py` (`Trace.to_record`, version 1) and `v1/graph.py`: task.key, nodes of
    {message, sampled}, rewards of {score, weight}. The text is that of the last message that the model wrote.
    """
    return FieldMap(
        "prime-rl-trace",
        {
            "problem": Source("task.key"),
            "step": Source("step"),
            "text": Source("nodes", convert="sampled_reply"),
            "thinking": Source("nodes", convert="sampled_reasoning"),
            "train_reward": Source("rewards", convert="weighted_sum"),
        },
        fits=frozenset({"task", "nodes", "rewards"}),
        step_from_name=r"step_(\d+)",
    )


MAPS: Mapping[str, FieldMap] = {
    ready.name: ready for ready in (_own(), _trl(), _verl(), _slime(), _prime_rl(), _prime_rl_trace())
}


def ready_map(name: str) -> FieldMap:
    """The ready map of that name. Raises InputError that names the nearest one."""
    if name not in MAPS:
        raise InputError(
            f"no ready map {name!r}, there are {', '.join(MAPS)}", field="--map", hint=nearest(name, MAPS) or None
        )
    return MAPS[name]


def parse_map(entries: Sequence[str], base: FieldMap | None = None) -> FieldMap:
    """A map from entries as of `--map`, each on top of what came before.

    Args:
        entries: `COLUMN=FIELD`, for a score also `COLUMN=FIELD:LOW..HIGH`, `COLUMN=` to leave a column out; or the name
            of a ready map, which is then the base.
        base: what the entries go on top of; the monitor's own names if None.

    Raises InputError for an unknown column or map, naming the nearest, and for what is no entry.
    """
    fields = base if base is not None else MAPS["maxproof"]
    for entry in entries:
        column, equals, path = (part.strip() for part in entry.partition("="))
        if not equals:
            fields = ready_map(column)
            continue
        _check_column(column, entry)
        columns = dict(fields.columns)
        columns.pop(column, None)
        if column == "judges":
            columns = {name: source for name, source in columns.items() if not name.startswith(JUDGE)}
        elif column.startswith(JUDGE):
            columns.pop("judges", None)
        if path:
            columns[column] = _source(column, path, fields)
        asked = fields.asked | {column} if path else fields.asked - {column}
        fields = replace(fields, columns=columns, asked=asked)
    return fields


def detect_map(fields: Iterable[str]) -> FieldMap:
    """The one ready map that fits files with these top-level fields.

    Where the fields of one map are among those of another, the fuller one counts. Raises InputError when none or
    several fit, saying what there is and how to map it.
    """
    present = frozenset(fields)
    fitting = [ready for ready in MAPS.values() if ready.fits <= present]
    fullest = [one for one in fitting if not any(one.fits < other.fits for other in fitting)]
    if len(fullest) == 1:
        return fullest[0]
    names = ", ".join(sorted(present)[:30]) or "none"
    hint = "map them, e.g. --map problem=prompt --map text=response --map train_reward=score, or name a ready map: "
    if fullest:
        said = f"the fields fit several ready maps ({', '.join(one.name for one in fullest)}); fields: {names}"
        raise InputError(said, field="--map", hint=f"name one: --map {fullest[0].name}")
    raise InputError(f"the fields fit no ready map: {names}", field="--map", hint=hint + ", ".join(MAPS))


def resolve(fields: FieldMap, present: Mapping[str, bool]) -> FieldMap:
    """The map for one file: "*" is replaced, a field whose name has dots is found, what the file must have is checked.

    Args:
        present: the file's top-level fields, and whether each holds numbers.

    Raises InputError for a required or asked-for field that is missing, naming the nearest.
    """
    columns = dict(fields.columns)
    for column, source in fields.columns.items():
        if source.path == "*":
            used = {other.parts[0] for other in columns.values()}
            rest = [
                name for name, numbers in present.items() if numbers and name not in used | fields.fits | fields.known
            ]
            if len(rest) > 1:
                raise InputError(
                    f"which of the fields {', '.join(sorted(rest))} is it?",
                    field=column,
                    hint=f"say so: --map {column}={sorted(rest)[0]}",
                )
            columns.pop(column)
            if rest:
                columns[column] = replace(source, path=rest[0], whole=True)
        elif "." in source.path and source.path in present:
            columns[column] = replace(source, whole=True)
    for column in (*REQUIRED, *sorted(fields.asked)):
        if column == "step" and fields.step_from_name and "step" not in fields.asked:
            continue
        path = columns[column].parts[0] if column in columns else None
        if path is None or path not in present:
            there = ", ".join(sorted(present)[:30])
            near = nearest(path or column, present)
            raise InputError(
                f"no field {path or column!r} in the file; it has {there}",
                field=column,
                hint=near or f"say which field it is: --map {column}=FIELD",
            )
    return replace(fields, columns=columns)


def _check_column(column: str, entry: str) -> None:
    if column in COLUMNS or (column.startswith(JUDGE) and len(column) > len(JUDGE)):
        return
    raise InputError(
        f"unknown column {column!r} in {entry!r}, expected one of {', '.join(COLUMNS)} or judges.NAME",
        field="--map",
        hint=nearest(column, COLUMNS) or None,
    )


def _source(column: str, path: str, fields: FieldMap) -> Source:
    convert: Convert = ""
    if column in ("text", "problem"):
        convert = "reply" if column == "text" else "question"
    scaled = _RANGE.fullmatch(path)
    if scaled is None:
        return Source(path, convert=convert)
    if column not in SCORES and not column.startswith(JUDGE):
        raise InputError(f"only a score has a range: {column}={path}", field="--map")
    try:
        low, high = float(scaled["low"]), float(scaled["high"])
    except ValueError:
        raise InputError(f"not a range of numbers: {column}={path}", field="--map") from None
    if low == high:
        raise InputError(f"an empty range: {column}={path}", field="--map")
    return Source(scaled["path"], low, high)
