"""Records are streamed; a bad row is kept with file and line; the output appears whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.problems import InputError, load_problems
from maxproof.problems.data.files import (
    MAX_LINE_BYTES,
    DataWriter,
    Reject,
    make_parent,
    provenance,
    read_data,
    rejects_path,
    settings_digest,
)
from maxproof.problems.data.record import Criterion, DataRecord
from maxproof.problems.data.seen import SeenKeys, key_of

GOOD = b'{"id": "a", "statement": "Prove it."}\n'


def rows(path: Path) -> list[DataRecord | Reject]:
    return [row for _, row in read_data(path)]


def test_a_record_is_read_as_it_was_written_and_is_a_problem_too(tmp_path: Path) -> None:
    record = DataRecord(
        id="é", statement="Prove $1\n+1$.", scheme=(Criterion(points=7, criterion="all"),), techniques=("induction",),
        provenance=(provenance("build", {"x": 1}, file="a.csv", line=3),), split="test", domain="algebra",
    )  # fmt: skip
    out = tmp_path / "deep" / "out.jsonl"
    with DataWriter(out) as writer:
        writer.write(record)
        assert writer.read_back(0) == record
    assert rows(out) == [record]
    assert list(load_problems(out)) == [record.problem()]
    assert not rejects_path(out).exists()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"not json", "not JSON"),
        (b'{"id": "b"}', "statement: Field required"),
        (b'{"id": "b", "statement": "  "}', "statement: blank"),
        (b'{"id": "a", "statement": "again"}', "id 'a' is given twice"),
        (b'{"id": "b\\n", "statement": "x"}', "id: expected one line"),
        (b'{"id": "b", "statement": "x\\u0000"}', "NUL"),
        (b'{"id": "b", "statement": "x", "Problem": 3}', "maxproof data build"),
        (b'{"id": "b", "statement": "x", "scheme": [{"points": NaN, "criterion": "c"}]}', "scheme.0.points"),
        (b'{"id": "b", "statement": "' + b"x" * 200_001 + b'"}', "200,000"),
        (b'{"id": "b", "statement": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"x" * (MAX_LINE_BYTES + 5), "longer than"),
        (b'{"id": "b", "statement": "Prove it.", "statement": "Another."}', "statement: key given twice"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_its_line_and_stops_nothing(tmp_path: Path, row: bytes, reason: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD + b"\n" + row + b"\n" + GOOD.replace(b'"a"', b'"z"'))
    first, bad, last = rows(path)
    assert isinstance(first, DataRecord)
    assert isinstance(last, DataRecord)
    assert isinstance(bad, Reject)
    assert reason in bad.reason
    assert bad.place.line == 3
    assert json.loads(bad.to_json())["raw"]


def test_rejects_stand_beside_the_output_and_go_with_the_next_clean_run(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(GOOD + b'{"id": "b", "x": 1}\n')
    with DataWriter(out) as writer:
        for _, row in read_data(source):
            writer.reject(row) if isinstance(row, Reject) else writer.write(row)
    assert (writer.written, writer.rejected) == (1, 1)
    kept = json.loads(rejects_path(out).read_text())
    assert (kept["file"], kept["line"], kept["id"], kept["raw"]) == (str(source), 2, "b", {"id": "b", "x": 1})
    with DataWriter(out) as writer:
        pass
    assert not rejects_path(out).exists()


def test_nothing_appears_when_the_run_fails_and_strict_stops_at_the_first(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"no\n")
    (row,) = rows(source)
    assert isinstance(row, Reject)
    with pytest.raises(InputError, match=r"in\.jsonl:1: .*--strict"), DataWriter(out, strict=True) as writer:
        writer.reject(row)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_wrong_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="maxproof data build"):
        list(read_data(tmp_path / "x.csv"))
    with pytest.raises(InputError, match="no such file"):
        list(read_data(tmp_path / "x.jsonl"))
    with pytest.raises(InputError, match="jsonl"):
        DataWriter(tmp_path / "out.csv")
    with pytest.raises(InputError, match="also an input"):
        DataWriter(tmp_path / "a.jsonl", inputs=(tmp_path / "." / "a.jsonl",))
    (tmp_path / "b.rejects.jsonl").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a folder"):
        DataWriter(tmp_path / "b.jsonl")
    with pytest.raises(InputError, match="can't be written"):
        make_parent(tmp_path / "file" / "out.jsonl")


def test_progress_adds_up_to_the_files_size(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD + b"\n\nbad")
    read: list[int] = []
    list(read_data(path, read.append))
    assert sum(read) == path.stat().st_size


def test_the_digest_of_settings_is_of_their_values() -> None:
    assert settings_digest({"a": 1, "b": 2}) == settings_digest({"b": 2, "a": 1}) != settings_digest({"a": 1, "b": 3})


@given(st.lists(st.text(max_size=3)))
def test_seen_keys_are_a_dictionary_of_first_values(texts: list[str]) -> None:
    seen, expected = SeenKeys(), dict[str, int]()
    for number, text in enumerate(texts):
        assert seen.add(key_of(text), number) == (text not in expected)
        expected.setdefault(text, number)
    assert {text: seen.get(key_of(text)) for text in expected} == expected
    assert len(seen) == len(expected)
    assert seen.get(key_of("absent key")) is None


def test_seen_keys_grow() -> None:
    seen = SeenKeys()
    keys = [key_of(str(number)) for number in range(5000)]
    assert all(seen.add(key, number) for number, key in enumerate(keys))
    assert [seen.get(key) for key in keys] == list(range(5000))
