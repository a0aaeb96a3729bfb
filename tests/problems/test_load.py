"""Every format gives the same problem; every bad file is one clear line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from maxproof.problems import InputError, Problem, load_problem, load_problems
from maxproof.problems.records import READERS

DATA = Path(__file__).parents[3] / "shared" / "data"
PROBLEM = Problem(
    id="odd-sum",
    statement="Prove that\n$1 + 3 + \\dots + (2n-1) = n^2$.",
    reference="By induction.",
    rubric="1 point: base case.",
    domain="algebra",
    level="1",
)
FRONT = """+++
id = "odd-sum"
reference = "By induction."
rubric = "1 point: base case."
domain = "algebra"
level = 1
+++
"""
OWN = {
    "id": "odd-sum",
    "statement": PROBLEM.statement,
    "reference": "By induction.",
    "rubric": "1 point: base case.",
    "answer": " ",
    "domain": "algebra",
    "level": 1,
    "source": None,
    "tags": ["ignored"],
}
ALIASED = {
    "Problem ID": "odd-sum",
    "Problem": PROBLEM.statement,
    "SOLUTION": "By induction.",
    "grading_guidelines": "1 point: base case.",
    "Category": "algebra",
    "difficulty": "1",
}
BENCH = (
    "Problem ID,Problem,Solution,Grading guidelines,Category,Level,Short Answer,Source\r\n"
    'odd-sum,"Prove that\n$1 + 3 + \\dots + (2n-1) = n^2$.",By induction.,1 point: base case.,algebra,1, , \r\n'
    'other,"A ""quoted"" statement",,,,,,\r\n'
)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, id: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        load_problem(path, id)
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", FRONT + PROBLEM.statement),
        ("a.md", (FRONT + PROBLEM.statement).replace("\n", "\r\n")),
        ("a.md", "\ufeff\n" + FRONT + "\n" + PROBLEM.statement + "\n\n"),
        ("a.md", FRONT.replace("+++", "---") + PROBLEM.statement),
        ("a.TXT", FRONT + PROBLEM.statement),
        ("a.json", json.dumps(OWN)),
        ("a.json", json.dumps([OWN])),
        ("a.json", json.dumps(ALIASED)),
        ("a.jsonl", "\n" + json.dumps(ALIASED) + "\n\n"),
        ("a.jsonl", "\ufeff" + json.dumps(OWN)),
    ],
)
def test_every_format_gives_the_same_problem(tmp_path: Path, name: str, content: str) -> None:
    assert load_problem(write(tmp_path, name, content)) == PROBLEM


def test_the_benchmark_layout_with_one_record_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "bench.csv", BENCH)
    assert load_problem(path, "odd-sum") == PROBLEM
    assert load_problem(path, "other") == Problem("other", 'A "quoted" statement')
    assert [problem.id for problem in load_problems(path)] == ["odd-sum", "other"]


def test_the_real_benchmark() -> None:
    path = DATA / "imo-proofbench.csv"
    if not path.exists():
        pytest.skip("the IMO-ProofBench copy is not on this machine")
    problems = list(load_problems(path))
    assert len({problem.id for problem in problems}) == 60
    assert all(problem.reference and problem.rubric and problem.source for problem in problems)
    assert sum(problem.answer is None for problem in problems) == 33
    assert load_problem(path, problems[17].id) == problems[17]


def test_ids_default_to_the_file_name_and_line(tmp_path: Path) -> None:
    assert load_problem(write(tmp_path, "sum.md", "Prove it.")).id == "sum"
    path = write(tmp_path, "set.jsonl", '{"problem": "A"}\n\n{"problem": "B"}\n')
    assert [problem.id for problem in load_problems(path)] == ["set-1", "set-3"]
    assert load_problem(write(tmp_path, "one.json", '{"problem": "A"}')).id == "one"


def test_our_own_name_wins_over_an_alias(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '{"problem": "B", "statement": "A", "question": "C"}')
    assert load_problem(path).statement == "A"


def test_a_bad_record_elsewhere_does_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"id": "x", "statement": "A"}\n{"id": "y"}\n')
    assert load_problem(path, "x").statement == "A"
    assert message(path, "y").startswith("FILE:2: no statement")


def test_a_thematic_break_is_no_front_matter(tmp_path: Path) -> None:
    assert load_problem(write(tmp_path, "a.md", "---\nProve it.")).statement == "---\nProve it."


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "", "FILE: empty: expected the statement of a problem"),
        ("a.md", " \n\t\n", "FILE: empty"),
        ("a.md", FRONT, "FILE: no statement"),
        ("a.md", '+++\nid = "x"\nProve it.', "FILE:1: front matter has no closing '...' line"),
        ("a.md", "\n+++\nid = x\n+++\nProve it.", "FILE:3: not TOML: Invalid value"),
        ("a.md", '+++\nid = "x\n+++\nProve it.', "FILE:2: not TOML"),
        ("a.md", "---\ntitle: x\n---\nProve it.", "FILE:2: not TOML: .*TOML: KEY"),
        ("a.md", '+++\nrubrik = "x"\n+++\nProve it.', r"FILE: rubrik: unknown field \(did you mean rubric\?\)"),
        ("a.md", '+++\nsolution = "x"\n+++\nA.', r"FILE: solution: unknown field \(did you mean reference\?\)"),
        ("a.md", '+++\nstatement = "x"\n+++\nA.', r"FILE: statement: unknown field \(known: id, "),
        ("a.md", "+++\nlevel = [1]\n+++\nA.", "FILE: level: expected text, got a list"),
        ("a.md", "+++\nlevel = 1979-05-27\n+++\nA.", "FILE: level: expected text, got a date"),
        ("a.md", '+++\nid = "a\\nb"\n+++\nA.', "FILE: id: expected one line"),
        ("a.md", b"A\nB \xe9t\xe9", "FILE:2: not UTF-8: byte 0xe9 at offset 4 .save it as UTF-8"),
        ("a.md", "Prove it.".encode("utf-16"), "FILE: encoded in UTF-16, expected UTF-8"),
        ("a.md", "Prove it.".encode("utf-32"), "FILE: encoded in UTF-32, expected UTF-8"),
        ("a.md", "Prove it.".encode("utf-16-le"), "FILE:1: NUL byte at offset 1"),
        ("a.txt", "A\n\nB\0", "FILE:3: NUL byte at offset 4"),
        ("a.md", "x" * 200_001, "FILE: statement: 200,001 characters, expected at most 200,000"),
        ("a.md", "x" * (4 * 1024 * 1024 + 1), "FILE: larger than 4,194,304 bytes"),
        ("a.dfy", "method M() {}", "FILE: a formal problem: this version proves problems stated in words"),
        ("a.jsnl", "{}", r"FILE: unknown suffix '.jsnl', .*did you mean \.json"),
        ("a", "A", "FILE: unknown suffix '', expected one of .md, .txt"),
        ("a.json", "", "FILE: empty"),
        ("a.json", '{"a": 1,\n}', "FILE:2: not JSON: .* at column 1"),
        ("a.json", '{"problem": "A"}\n{"problem": "B"}', "FILE:2: not JSON: Extra data.*one object a line is .jsonl"),
        ("a.json", '"text"', "FILE: expected a JSON object with a statement"),
        ("a.json", "[]", "FILE: no problem in the file"),
        ("a.json", '[{"statement": "A"}, 3]', r"FILE: \[1\]: expected a JSON object"),
        ("a.json", "[" * 100_000, "FILE: JSON nested too deeply"),
        ("a.json", '{"statement": ' + "9" * 5000 + "}", "FILE: not usable JSON"),
        ("a.json", '{"statement": true}', "FILE: statement: expected text, got true or false"),
        ("a.json", '{"statement": {"a": 1}}', "FILE: statement: expected text, got an object"),
        ("a.json", '{"statement": "\\u0000"}', "FILE: statement: holds a NUL"),
        ("a.json", '{"statement": "\\ud800"}', "FILE: statement: holds a NUL character or half of a surrogate"),
        ("a.json", '{"statement": "A", "statement": "B"}', "FILE: statement: key given twice"),
        ("a.json", '{"problem": "A", "question": "B"}', "FILE: 'problem' and 'question' both give the statement"),
        ("a.json", '{"statment": "A"}', r"FILE: no statement \(found 'statment', did you mean statement\?\)"),
        ("a.json", '{"text": "A"}', r"FILE: no statement \(expected one of statement, problem, question"),
        ("a.json", '{"id": "", "statement": ""}', "FILE: no statement"),
        ("a.jsonl", "", "FILE: no problem in the file"),
        ("a.jsonl", '{"statement": "A"}\n{"statement"}', "FILE:2: not JSON"),
        ("a.jsonl", '{"statement": "A"}\n[1]', "FILE:2: expected a JSON object"),
        ("a.jsonl", b'{"statement": "A"}\n{"statement": "\xff"}', "FILE:2: not UTF-8: byte 0xff at offset 34"),
        ("a.jsonl", '{"id": 1, "problem": "A"}\n\n{"id": "1", "problem": "B"}', "FILE:3: id '1' .*line 1 and line 3"),
        ("a.jsonl", '{"id": true, "problem": "A"}', "FILE:1: id: expected text"),
        ("a.json", '[{"id": 1, "problem": "A"}, {"id": 1}]', r"FILE: \[1\]: id '1' .*item \[0\] and item \[1\]"),
        ("a.csv", "", "FILE: no problem in the file"),
        ("a.csv", "id,problem\n", "FILE: no problem in the file"),
        ("a.csv", "id,problem\nx,A\ny,B,C\n", "FILE:3: 3 cells, but the header names 2 columns"),
        ("a.csv", 'id,problem\nx,"A\nB"\ny,"C', "FILE:4: not CSV"),
        ("a.csv", 'id,problem\nx,"A"B"\n', "FILE:2: not CSV"),
        ("a.csv", "id,id,problem\nx,y,A\n", "FILE:1: id: column given twice"),
        ("a.csv", "id;problem\nx;A\n", "FILE:2: no statement"),
        ("a.csv", "id,problem\nx,A\n\nx,B\n", "FILE:4: id 'x' is given twice, in line 2 and line 4"),
        ("a.csv", "id,problem\nx," + "A" * 140_000, "FILE:2: a cell has more than 131,072 characters"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    text = message(write(tmp_path, name, content))
    assert re.match(expected, text), text


def test_which_problem_is_meant(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", "".join(f'{{"id": "P{n}", "problem": "A"}}\n' for n in range(1, 61)))
    assert message(path) == (
        "FILE: holds 60 problems, expected one (choose one with --id: P1, P2, P3, P4, P5, … (55 more))"
    )
    assert message(path, "p60x") == "FILE: no problem with id 'p60x' among 60 (did you mean P60 or P6?)"
    assert message(path, "zzz") == (
        "FILE: no problem with id 'zzz' among 60 (there are: P1, P2, P3, P4, P5, … (55 more))"
    )
    assert message(write(tmp_path, "sum.md", "A"), "som").startswith("FILE: no problem with id 'som' among 1")


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    assert message(tmp_path / "no.md") == "FILE: no such file"
    folder = tmp_path / "folder.md"
    folder.mkdir()
    assert message(folder) == "FILE: a directory, expected a file"
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    assert message(pipe) == "FILE: not a regular file"
    assert "can't be read" in message(tmp_path / ("n" * 300 + ".md"))
    with pytest.raises(InputError, match="not a file name"):
        load_problem(Path("a\0.md"))
    loop = tmp_path / "loop.md"
    loop.symlink_to(loop)
    assert "can't be read" in message(loop)


def test_loading_streams(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"problem": "A"}\nnot JSON\n')
    problems = load_problems(path)
    assert next(problems).statement == "A"
    with pytest.raises(InputError):
        next(problems)


PIECES = st.sampled_from(
    [
        b"+++\n",
        b"---\n",
        b'{"',
        b'"problem":',
        b'"id": "x"',
        b"[",
        b"]",
        b"}",
        b",",
        b'"',
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"problem,id\n",
        b"= 1",
        b"\\ud800",
        b"\xc3",
        b"1e999",
        b"NaN",
        b"a",
        b"\xe2\x80",
    ]
)
CONTENT = st.binary(max_size=200) | st.lists(PIECES, max_size=20).map(b"".join)


@pytest.mark.parametrize("suffix", READERS)
@given(content=CONTENT, id=st.none() | st.text(max_size=3))
@example(content=b'{"problem": 1e999}', id=None)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_crash_the_reader(tmp_path: Path, suffix: str, content: bytes, id: str | None) -> None:
    path = write(tmp_path, f"a{suffix}", content)
    try:
        problem = load_problem(path, id)
    except InputError as error:
        str(error)
    else:
        assert problem.statement.strip()
        problem.statement.encode()


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60).filter(
    str.strip
)


@given(statement=TEXT, reference=TEXT)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_json(tmp_path: Path, statement: str, reference: str) -> None:
    record = json.dumps({"statement": statement, "solution": reference})
    first = load_problem(write(tmp_path, "a.json", record))
    second = next(load_problems(write(tmp_path, "a.jsonl", record)))
    assert first.statement == second.statement == statement.replace("\r\n", "\n").replace("\r", "\n").strip()
    assert first.reference == second.reference
