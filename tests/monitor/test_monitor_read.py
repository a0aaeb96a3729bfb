"""Files, of whatever state, become canonical frames."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pl = pytest.importorskip("polars", reason="needs the extra monitor")

from monitor_files import GOOD, OWN, read, rows_of, skipped_of, written  # noqa: E402

from maxproof.models.reply import split_thinking  # noqa: E402
from maxproof.monitor import blocks as blocks_module  # noqa: E402
from maxproof.monitor.columnar import SCHEMA  # noqa: E402
from maxproof.monitor.columnar import split_thinking as split_columns  # noqa: E402
from maxproof.monitor.read import (  # noqa: E402
    Tail,
    frame_of,
    read_batches,
    rollout_files,
    top_fields,
)
from maxproof.problems import InputError  # noqa: E402


def test_all_columns_are_there_whatever_the_file_has(tmp_path: Path) -> None:
    (batch,) = read(written(tmp_path / "a.jsonl", [GOOD]))
    assert dict(batch.frame.schema) == dict(SCHEMA)
    assert batch.frame.to_dicts() == [
        {**dict.fromkeys(SCHEMA), **GOOD},
    ]


def test_bad_lines_cost_only_themselves_and_are_counted_with_their_place(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.jsonl",
        [
            GOOD,
            "",
            "{not json",
            "[1]",
            {**GOOD, "train_reward": "0.5"},
            {**GOOD, "text": None},
            {**GOOD, "step": -1},
            {**GOOD, "step": 1.5},
            {**GOOD, "step": "two"},
            {**GOOD, "problem": None},
            {**GOOD, "text": ["a"]},
            {**GOOD, "is_proof": "yes"},
            {**GOOD, "judges": "high"},
            "[" * 100_000,
            '{"a":' + "[" * 5000 + "]" * 5000 + "}",
            {**GOOD, "train_reward": 10**400},
            {**GOOD, "step": 2},
            "{torn",
        ],
        end="",
    )
    batches = read(path)
    assert [row["step"] for row in rows_of(batches)] == [1, 2]
    assert skipped_of(batches) == {
        "not JSON": (1, f"{path}:3"),
        "not a JSON object": (1, f"{path}:4"),
        "train_reward is not a number": (2, f"{path}:5"),
        "no text": (1, f"{path}:6"),
        "step is not a whole number from 0 on": (3, f"{path}:7"),
        "no problem": (1, f"{path}:10"),
        "text is not a string": (1, f"{path}:11"),
        "is_proof is not true, false or null": (1, f"{path}:12"),
        "judges is not an object of scores": (1, f"{path}:13"),
        "JSON nested too deeply": (2, f"{path}:14"),
        "torn last line": (1, f"{path}:18"),
    }


@pytest.mark.parametrize("value", [12, -0.5, True, {}, [], {"a": 1}, [1], ["a"], [[1]], [{"role": "assistant"}]])
def test_a_value_that_is_no_text_is_not_taken_for_one(tmp_path: Path, value: object) -> None:
    path = written(tmp_path / "a.jsonl", [{**GOOD, "text": value}, {**GOOD, "thinking": value}])
    assert skipped_of(read(path)) == {
        "text is not a string": (1, f"{path}:1"),
        "thinking is not a string": (1, f"{path}:2"),
    }
    path = written(tmp_path / "b.jsonl", [{**GOOD, "text": json.dumps(value)}])
    assert [row["text"] for row in rows_of(read(path))] == [json.dumps(value)]


def test_places_are_right_in_a_block_that_is_read_at_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [GOOD, "", "", {**GOOD, "step": None}, GOOD, {**GOOD, "step": None}])
    assert skipped_of(read(path)) == {"no step": (2, f"{path}:4")}


def test_not_utf_8_is_one_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"text": "\xff"}\n' + json.dumps(GOOD).encode() + b"\n")
    batches = read(path)
    assert len(rows_of(batches)) == 2
    assert skipped_of(batches) == {"not UTF-8": (1, f"{path}:2")}


def test_a_last_line_without_an_end_is_read_if_it_is_whole(tmp_path: Path) -> None:
    batches = read(written(tmp_path / "a.jsonl", [GOOD, {**GOOD, "step": 2}], end=""))
    assert [row["step"] for row in rows_of(batches)] == [1, 2]
    assert skipped_of(batches) == {}


@pytest.mark.parametrize(("text", "skipped"), [("\n \n", []), ('{"pro', ["torn last line"]), ("x\n", ["not JSON"])])
def test_a_file_without_a_row_is_no_error(tmp_path: Path, text: str, skipped: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    batches = read(path)
    assert rows_of(batches) == []
    assert list(skipped_of(batches)) == skipped
    with pytest.raises(InputError, match="no row in it"):
        top_fields(path)


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + (json.dumps(GOOD) + "\r\n").encode() * 2)
    assert len(rows_of(read(path))) == 2


def test_a_score_that_was_not_given_is_null(tmp_path: Path) -> None:
    rows = [{**GOOD, "train_reward": float("nan")}, {**GOOD, "train_reward": None, "oracle": 1}]
    assert [row["train_reward"] for row in rows_of(read(written(tmp_path / "a.jsonl", rows)))] == [None, None]


def test_nan_is_null_wherever_it_stands_and_costs_no_slow_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ['a NaN, "NaN"', "x\\", '": NaN, ', "NaN"]
    lines = [json.dumps({**GOOD, "text": text, "train_reward": float("nan"), "oracle": 0.5}) for text in texts]
    lines += [json.dumps({**GOOD, "text": float("nan")}), '{"problem": "p", "step":NaN,"text":"t"}']
    lines += [json.dumps({**GOOD, "judges": {"a": float("nan"), "b": 0.5}})]
    path = written(tmp_path / "a.jsonl", lines)
    by_row = frame_of([json.loads(line) for line in lines], OWN)
    monkeypatch.setattr("maxproof.monitor.read.parse_line", lambda line: pytest.fail("read line by line"))
    monkeypatch.setattr("maxproof.monitor.read._first_fields", lambda path: dict.fromkeys(GOOD, True))
    monkeypatch.setattr("maxproof.monitor.read._first_object", lambda block: GOOD)
    batches = read(path)
    assert [(row["text"], row["train_reward"], row["oracle"]) for row in rows_of(batches)[:4]] == [
        (text, None, 0.5) for text in texts
    ]
    assert rows_of(batches) == by_row.frame.to_dicts()
    assert skipped_of(batches) == {"no text": (1, f"{path}:5"), "no step": (1, f"{path}:6")}
    assert set(by_row.skipped) == {"no text", "no step"}


@pytest.mark.parametrize("value", [1.7, -0.5, float("inf")])
def test_a_score_outside_the_range_is_an_error_that_names_it(tmp_path: Path, value: float) -> None:
    path = written(tmp_path / "a.jsonl", [GOOD, {**GOOD, "train_reward": value}])
    with pytest.raises(InputError, match=r"a\.jsonl:2: train_reward: .*--map train_reward="):
        read(path)


def test_a_judges_score_outside_the_range_is_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.jsonl:1: judges: "):
        read(written(tmp_path / "a.jsonl", [{**GOOD, "judges": {"a": 7}}]))


def test_scores_are_scaled(tmp_path: Path) -> None:
    rows = [{**GOOD, "train_reward": 7, "oracle": -1, "judges": {"a": 3.5, "b": None}}]
    (row,) = rows_of(
        read(
            written(tmp_path / "a.jsonl", rows),
            "train_reward=train_reward:0..7",
            "oracle=oracle:-1..1",
            "judges=judges:0..7",
        )
    )
    assert (row["train_reward"], row["oracle"], row["judges"]) == (1.0, 0.0, [{"judge": "a", "score": 0.5}])


def test_judges_with_changing_keys_and_odd_names(tmp_path: Path) -> None:
    rows = [
        {**GOOD, "judges": {"a": 1, "b": 0.5}},
        {**GOOD, "judges": {}},
        {**GOOD, "judges": {"c": None}},
        {**GOOD, "judges": None},
        GOOD,
    ]
    plain = rows_of(read(written(tmp_path / "a.jsonl", rows)))
    assert [row["judges"] for row in plain] == [
        [{"judge": "a", "score": 1.0}, {"judge": "b", "score": 0.5}],
        [],
        [],
        None,
        None,
    ]
    odd = rows_of(read(written(tmp_path / "b.jsonl", [{**GOOD, "judges": {'a"b\\c\n': 0.5}}])))
    assert odd[0]["judges"] == [{"judge": 'a"b\\c\n', "score": 0.5}]


def test_judges_with_fields_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [{**GOOD, "s": {"x": 1}, "t": 0.25}, {**GOOD, "s": {"x": None}, "t": 0.5}])
    rows = rows_of(read(path, "judges.one=s.x", "judges.two=t"))
    assert rows[0]["judges"] == [{"judge": "one", "score": 1.0}, {"judge": "two", "score": 0.25}]
    assert rows[1]["judges"] == [{"judge": "two", "score": 0.5}]


def test_a_field_that_appears_late_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maxproof.monitor.read.blocks", partial(blocks_module.blocks, size=300))
    rows: list[Mapping[str, Any]] = [{**GOOD, "step": step} for step in range(40)]
    path = written(tmp_path / "a.jsonl", [*rows, {**GOOD, "step": 40, "oracle": 1, "thinking": "hm", "is_proof": True}])
    batches = read(path)
    assert len(batches) > 3
    last = rows_of(batches)[-1]
    assert (last["step"], last["oracle"], last["thinking"], last["is_proof"]) == (40, 1.0, "hm", True)


def test_a_line_without_end_is_given_up_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "MAX_LINE_BYTES", 2000)
    monkeypatch.setattr("maxproof.monitor.read.blocks", partial(blocks_module.blocks, size=500))
    path = written(tmp_path / "a.jsonl", [GOOD, {**GOOD, "text": "x" * 9000}, {**GOOD, "step": 2}])
    batches = read(path)
    assert [row["step"] for row in rows_of(batches)] == [1, 2]
    assert skipped_of(batches) == {"line too long": (1, f"{path}:2")}


def test_hostile_texts_are_kept_as_they_are(tmp_path: Path) -> None:
    texts = ["a\0b", "\u202eevil\u2066", "5MB " * 1_250_000, "", "{}", '{"role": "assistant"}', "\U0001f600\uffff"]
    path = written(tmp_path / "a.jsonl", [{**GOOD, "text": text} for text in texts])
    assert [row["text"] for row in rows_of(read(path))] == texts


def test_halves_of_surrogate_pairs_are_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [{**GOOD, "text": "a\ud800b"}])
    assert [row["text"] for row in rows_of(read(path))] == ["a?b"]


def test_compressed_files_and_folders_in_natural_order(tmp_path: Path) -> None:
    line = json.dumps(GOOD).encode() + b"\n"
    for step in (10, 9):
        (tmp_path / f"step_{step}").mkdir()
    (tmp_path / "step_10" / "rows.jsonl.gz").write_bytes(gzip.compress(line))
    (tmp_path / "step_9" / "rows.jsonl.zst").write_bytes(zstandard.compress(line))
    (tmp_path / "step_9" / "eval_rows.jsonl").write_bytes(line)
    (tmp_path / "notes.txt").write_text("x")
    assert [path.parent.name for path in rollout_files([tmp_path])] == ["step_9", "step_10"]
    assert len(rows_of(read(tmp_path))) == 2


def test_a_broken_archive_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(GOOD).encode() * 100)[:-20])
    with pytest.raises(InputError, match=r"a\.jsonl\.gz"):
        read(path)


def test_of_a_run_folder_only_its_log_is_read(tmp_path: Path) -> None:
    written(tmp_path / "rollouts.jsonl", [GOOD])
    written(tmp_path / "other.jsonl", [{"x": 1}])
    assert rollout_files([tmp_path]) == (tmp_path / "rollouts.jsonl",)


@pytest.mark.parametrize(("name", "message"), [("gone.jsonl", "no such file"), ("a.csv", "unknown kind of file")])
def test_what_is_no_file_of_rollouts(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rollout_files([tmp_path / name])


def test_a_folder_without_rollouts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rollouts in it"):
        rollout_files([tmp_path])


# --- live and growing -------------------------------------------------------------------------------------------------


def test_live_rows_are_never_an_error() -> None:
    batch = frame_of([GOOD, {**GOOD, "train_reward": 3.0}, {**GOOD, "text": None}, {**GOOD, "text": "a\ud800"}], OWN)
    assert [row["text"] for row in batch.frame.to_dicts()] == [GOOD["text"], "a?"]
    assert {reason: skipped.first for reason, skipped in batch.skipped.items()} == {
        "train_reward outside 0..1": "batch:2",
        "no text": "batch:3",
    }
    assert frame_of([], OWN).frame.schema == SCHEMA


def test_a_growing_file_is_read_by_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    tail = Tail(path, OWN)
    assert list(tail.read()) == []
    line = json.dumps(GOOD).encode() + b"\n"
    path.write_bytes(line + line[:10])
    assert len(rows_of(list(tail.read()))) == 1
    assert (tail.offset, tail.line) == (len(line), 2)
    assert list(tail.read()) == []
    path.write_bytes(line + line + b"bad\n")
    batches = list(tail.read())
    assert len(rows_of(batches)) == 1
    assert skipped_of(batches) == {"not JSON": (1, f"{path}:3")}
    assert not tail.replaced()
    path.write_bytes(line)
    assert tail.replaced()


def test_what_cant_be_followed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be followed"):
        Tail(tmp_path / "a.jsonl.gz", OWN)


# --- two ways, one result ---------------------------------------------------------------------------------------------

_score = st.none() | st.floats(0, 1) | st.sampled_from([0, 1])
_row = st.fixed_dictionaries(
    {"problem": st.text(max_size=5) | st.integers(0, 9), "step": st.integers(0, 3), "text": st.text(max_size=20)},
    optional={
        "thinking": st.none() | st.text(max_size=10),
        "train_reward": _score,
        "oracle": _score,
        "judges": st.none() | st.dictionaries(st.text(max_size=3), _score, max_size=3),
        "is_proof": st.none() | st.booleans(),
        "group": st.none() | st.integers(0, 5),
        "unused": st.recursive(st.none() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=2)),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(_row, max_size=8), size=st.integers(20, 400))
def test_blocks_rows_and_parquet_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], size: int
) -> None:
    whole = written(tmp_path / "a.jsonl", rows)
    first = json.dumps({**GOOD, "step": 9})
    whole.write_text(first + "\n" + whole.read_text(encoding="utf-8"), encoding="utf-8")
    expected = frame_of([json.loads(first), *rows], OWN)
    assert not expected.skipped
    with monkeypatch.context() as patch:
        patch.setattr("maxproof.monitor.read.blocks", partial(blocks_module.blocks, size=size))
        cut = pl.concat(batch.frame for batch in read_batches([whole], OWN))
    assert cut.to_dicts() == expected.frame.to_dicts()
    expected.frame.write_parquet(tmp_path / "a.parquet")
    again = pl.concat(batch.frame for batch in read_batches([tmp_path / "a.parquet"], OWN))
    assert again.to_dicts() == expected.frame.to_dicts()


_piece = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</thinking>", "<THINK>", "\n", " ", "\t", "a", "b.", "<", "\x1c"]
)


@settings(max_examples=400, deadline=None)
@given(text=st.lists(_piece, max_size=9).map("".join), own=st.none() | st.just("own"))
def test_think_tags_are_split_as_everywhere_else(text: str, own: str | None) -> None:
    frame = pl.DataFrame(
        [{**dict.fromkeys(SCHEMA), "problem": "p", "step": 0, "text": text, "thinking": own}], schema=SCHEMA
    )
    visible, thinking, unclosed = split_thinking(text, lone_close=own is None)
    (found,) = split_columns(frame).to_dicts()
    assert found["text"].strip() == visible.strip()
    words = " ".join(thinking.split())
    for tag in ("<think>", "</think>", "<thinking>", "</thinking>", "<THINK>"):
        words = words.replace(tag, " ")
    if thinking or unclosed:
        assert (found["thinking"] or "").split() == [*([own] if own else []), *words.split()]
    else:
        assert found["thinking"] == own or not (found["thinking"] or "").removeprefix(own or "").strip()
