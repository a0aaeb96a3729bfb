"""Rows of any format become records; bad rows, copies and ids given twice are told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from maxproof.problems import InputError
from maxproof.problems.data.build import BuildCounts, BuildSettings, build, input_files
from maxproof.problems.data.files import DataWriter, Reject, read_data, rejects_path
from maxproof.problems.data.record import DataRecord
from maxproof.problems.data.taxonomy import load_taxonomy

PROOFBENCH = Path(__file__).parents[3] / "shared" / "data" / "imo-proofbench.csv"
MINIF2F = Path(__file__).parents[3] / "shared" / "data" / "minif2f-lean4.jsonl"


def built(
    out: Path, *paths: Path, settings: BuildSettings | None = None, strict: bool = False
) -> tuple[list[DataRecord], list[dict[str, object]], BuildCounts]:
    files = input_files(paths)
    with DataWriter(out, inputs=files, strict=strict) as writer:
        counts = build(files, writer, load_taxonomy(), settings or BuildSettings())
    records = []
    for _, row in read_data(out):
        assert not isinstance(row, Reject)
        records.append(row)
    rejects = rejects_path(out)
    lines = rejects.read_text().splitlines() if rejects.exists() else []
    return records, [json.loads(line) for line in lines], counts


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_all_formats_give_the_same_record(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", {"id": "p", "Problem": "Prove it.", "Category": "NT", "tags": "Mod; magic"})
    (tmp_path / "b.csv").write_text(
        'id,problem,subject,techniques\np,Prove it.,Number Theory,"modular arithmetic, magic"\n'
    )
    (tmp_path / "c.json").write_text(
        '[{"id": "p", "question": "Prove it.", "domain": "number_theory", "techniques": ["residues", "magic"]}]'
    )
    records = []
    for name in ("a.jsonl", "b.csv", "c.json"):
        (record,), rejects, _ = built(tmp_path / "out" / f"{name}.jsonl", tmp_path / name)
        assert not rejects
        assert record.provenance[0].notes["techniques_given"] == "magic"
        assert str(record.provenance[0].notes["file"]).endswith(name)
        records.append(record.model_copy(update={"provenance": ()}))
    assert records == [records[0]] * 3
    assert (records[0].domain, records[0].techniques) == ("number theory", ("modular arithmetic",))


def test_a_folder_is_read_recursively_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "problems"
    for name, text in {
        "b/two.md": '+++\ndomain = "geometry"\nrubric = "1 point"\n+++\nSecond.',
        "a/one.md": "First.",
        "a/README.md": "About.",
        "a/.hidden.md": "Hidden.",
        "a/picture.png": "x",
        "b/bad.md": "+++\nno front\n+++\nText",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    records, rejects, _ = built(tmp_path / "out.jsonl", folder)
    assert [record.id for record in records] == ["one", "two"]
    assert (records[1].domain, records[1].rubric) == ("geometry", "1 point")
    assert [reject["line"] for reject in rejects] == [2]
    assert "no front" in str(rejects[0]["raw"])


def test_links_are_followed_once_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    raw, elsewhere = tmp_path / "raw", tmp_path / "elsewhere"
    raw.mkdir()
    elsewhere.mkdir()
    (elsewhere / "one.md").write_text("Prove one.")
    (raw / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(raw)
    (raw / "gone.md").symlink_to(tmp_path / "nowhere.md")
    records, rejects, _ = built(tmp_path / "out.jsonl", raw)
    assert [record.statement for record in records] == ["Prove one."]
    assert [(Path(str(reject["file"])).name, reject["reason"]) for reject in rejects] == [("gone.md", "no such file")]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "raw" / "closed").mkdir(parents=True)
    (tmp_path / "raw" / "one.md").write_text("Prove one.")
    (tmp_path / "raw" / "closed").chmod(0)
    with pytest.raises(InputError, match="closed: can't be read"):
        input_files([tmp_path / "raw"])


def test_a_scheme_is_kept_by_criterion_when_it_totals_seven(tmp_path: Path) -> None:
    whole = [{"points": 3, "criterion": "bound"}, {"score": 4, "description": "equality"}]
    path = jsonl(
        tmp_path / "a.jsonl",
        {"statement": "One.", "rubric": whole},
        {"statement": "Two.", "scheme": whole[:1]},
        {"statement": "Three.", "scheme": [{"points": -1, "criterion": "x"}]},
    )
    records, rejects, _ = built(tmp_path / "out.jsonl", path)
    assert [criterion.points for criterion in records[0].scheme] == [3, 4]
    assert records[0].rubric == "3 points: bound\n4 points: equality"
    assert (records[1].scheme, records[1].rubric) == ((), "3 points: bound")
    assert "scheme[0].points" in str(rejects[0]["reason"])


def test_bad_rows_are_kept_with_file_and_line_and_stop_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b'id,problem\na,Good one.\nb\nc,"broken" quote\nd,caf\xe9\ne,\nf,"Good\ntwo."\ng,"open\n')
    lines = tmp_path / "bad.jsonl"
    lines.write_bytes(b'{"id": "x", "problem": "Good three."}\n{"id": "y"\n[1]\n{"problem": 5}\n\xff\n')
    records, rejects, _ = built(tmp_path / "out.jsonl", bad, lines)
    assert [record.id for record in records] == ["a", "f", "x", "bad-4"]
    assert [(Path(str(reject["file"])).name, reject["line"]) for reject in rejects] == [
        ("bad.csv", 3), ("bad.csv", 4), ("bad.csv", 5), ("bad.csv", 6), ("bad.csv", 9),
        ("bad.jsonl", 2), ("bad.jsonl", 3), ("bad.jsonl", 5),
    ]  # fmt: skip
    assert all(reject["raw"] for reject in rejects)
    assert rejects[1]["raw"] == 'c,"broken" quote'
    with pytest.raises(InputError, match=r"bad\.csv:3"):
        built(tmp_path / "strict.jsonl", bad, strict=True)


def test_a_file_that_is_no_json_is_a_reject_and_a_missing_one_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    records, rejects, _ = built(tmp_path / "out.jsonl", tmp_path / "a.json")
    assert (records, len(rejects)) == ([], 1)
    for name, message in (("none.csv", "no such file"), ("out.parquet", "unknown suffix")):
        (tmp_path / "out.parquet").touch()
        with pytest.raises(InputError, match=message):
            input_files([tmp_path / name])


def test_copies_are_kept_once_and_named(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "a.jsonl",
        {"id": "first", "statement": r"Show that $\frac{1}{2} x \le y$."},
        {"id": "other", "statement": r"Show that $\frac{1}{3} x \le y$."},
        {"id": "copy", "statement": "Show that $1/2 a ≤ b$"},
    )
    records, rejects, counts = built(tmp_path / "out.jsonl", path)
    assert [record.id for record in records] == ["first", "other"]
    assert [(reject["id"], reject["reason"], reject["line"]) for reject in rejects] == [
        ("copy", "duplicate of first", 3)
    ]
    assert counts.duplicates == 1
    records, rejects, _ = built(tmp_path / "all.jsonl", path, settings=BuildSettings(keep_duplicates=True))
    assert len(records) == 3


def test_ids_given_twice_are_made_unique_and_the_given_one_noted(tmp_path: Path) -> None:
    one = jsonl(tmp_path / "one.jsonl", {"id": "1", "statement": "A one."}, {"id": "1", "statement": "A two."})
    two = jsonl(tmp_path / "two.jsonl", {"id": "1", "statement": "A three."}, {"id": "1", "statement": "A four."})
    records, _, counts = built(tmp_path / "out.jsonl", one, two)
    assert [record.id for record in records] == ["1", "one/1", "two/1", "two/1-4"]
    assert records[1].provenance[0].notes["id_given"] == "1"
    assert counts.renamed_ids == 3
    long = jsonl(tmp_path / "long.jsonl", *({"id": "x" * 200, "statement": f"Number {n}."} for n in range(3)))
    assert len(built(tmp_path / "l.jsonl", long)[0]) == 3


def test_records_are_built_again_with_all_they_have(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"id": "1", "statement": "One.", "domain": "cooking"})
    built(tmp_path / "b.jsonl", path)
    (record,), _, _ = built(tmp_path / "c.jsonl", tmp_path / "b.jsonl")
    assert record.domain == "unknown"
    assert [entry.step for entry in record.provenance] == ["build", "build"]
    assert record.provenance[0].notes["domain_given"] == "cooking"


def test_hostile_rows_are_rejects(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    depths = [*range(900, 1000, 3), 5_000, 100_000]
    lines = ['{"statement": "x", "provenance": %s%s}' % ("[" * depth, "]" * depth) for depth in depths]  # noqa: UP031
    lines += ['{"id": %s, "statement": "x"}' % ("9" * 10_000), '{"statement": "' + "x" * 300_000 + '"}']
    lines += [
        '{"statement": "x", "rubric": ["a", {}]}',
        '{"statement": "x", "tags": {"a": 1}}',
        '{"statement": "a\\u0000"}',
    ]
    path.write_text("\n".join(lines) + "\n")
    records, rejects, _ = built(tmp_path / "out.jsonl", path)
    assert (records, len(rejects)) == ([], len(lines))
    assert [reject["line"] for reject in rejects] == list(range(1, len(lines) + 1))


def test_text_that_is_no_text_is_a_reject_wherever_it_stands(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    raw.write_text(
        '{"id": "good", "statement": "Prove it."}\n'
        '{"id": "a", "statement": "One.", "tags": ["\\ud800"]}\n'
        '{"id": "b", "statement": "Two.", "tags": "x\\u0000"}\n'
        '{"id": "c", "statement": "Three.", "scheme": [{"points": 7, "criterion": "\\ud800"}]}\n'
    )
    records, rejects, _ = built(tmp_path / "out.jsonl", raw)
    assert [record.id for record in records] == ["good"]
    assert [reject["line"] for reject in rejects] == [2, 3, 4]


def test_missing_values_and_a_provenance_of_the_source_are_no_faults(tmp_path: Path) -> None:
    raw = jsonl(
        tmp_path / "raw.jsonl",
        {"statement": "One.", "scheme": None, "tags": None, "answer": float("nan"), "provenance": None},
        {"statement": "Two.", "scheme": "", "criteria": [], "provenance": "a contest"},
    )
    records, rejects, _ = built(tmp_path / "out.jsonl", raw)
    assert not rejects
    assert [(record.statement, record.answer, len(record.provenance)) for record in records] == [
        ("One.", None, 1), ("Two.", None, 1),
    ]  # fmt: skip


def test_a_reject_is_json_for_every_reader(tmp_path: Path) -> None:
    raw = jsonl(tmp_path / "raw.jsonl", {"id": "a", "level": float("inf")}, {"id": "b", "statement": "Two."})
    built(tmp_path / "out.jsonl", raw)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    (line,) = rejects_path(tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(json.loads(line, parse_constant=refuse)["raw"]) == {"id": "a", "level": float("inf")}


def test_real_problem_sets_are_built_whole(tmp_path: Path) -> None:
    if not PROOFBENCH.exists() or not MINIF2F.exists():
        pytest.skip("no shared data")
    records, rejects, _ = built(tmp_path / "out.jsonl", PROOFBENCH)
    assert (len(records), rejects) == (60, [])
    assert {record.domain for record in records} == {"algebra", "combinatorics", "geometry", "number theory"}
    assert all(record.reference and record.rubric for record in records)
    formal, rejects, _ = built(tmp_path / "formal.jsonl", MINIF2F)
    assert len(formal) + len(rejects) == 488
