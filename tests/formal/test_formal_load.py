"""Problem files: what is read, and one clear line for what can't be."""

import json

import pytest

from maxproof.formal.load import load_formal_problem, load_formal_problems
from maxproof.problems import InputError

SQUARE = "lemma Square(x: int)\n  ensures x * x >= 0\n{\n}\n"


def test_the_problem_is_the_lemma_with_an_empty_body(tmp_path):
    file = tmp_path / "square.dfy"
    file.write_text(
        "// SHA-256 of the Lean statement: " + "ab" * 32 + "\nfunction f(x: int): int { x }\n"
        "lemma helper(x: int) ensures f(x) == x { assert f(x) == x; }\n" + SQUARE
    )
    problem = load_formal_problem(file)
    assert problem.name == "Square"
    assert [definition.name for definition in problem.definitions] == ["f", "helper"]
    assert problem.file == file
    assert problem.origin == "ab" * 32
    assert problem.source == file.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.dfy:1:1: no lemma with an empty body"),
        ("function f(): int { 1 }", "no lemma with an empty body"),
        ("lemma A() { assert true; }", "no lemma with an empty body (the problem is the lemma with the body {})"),
        ("lemma A() {}\nlemma B() {}", "p.dfy:2:1: two lemmas with an empty body, 'A' and 'B', expected one"),
        ("lemma A() {}\n lemma A() {}", "p.dfy:2:2: 'A' is declared twice"),
        ("lemma A()\n  ensures x +;\n{}", "p.dfy:2:14: found ';', expected an expression"),
        ("lemma A()", "p.dfy:1:1: lemma 'A' has no body"),
        ("function f(): int lemma A() {}", "p.dfy:1:1: 'f' has no body"),
        ("lemma A(s: set<int>)\n  ensures s == {}\n", "p.dfy:2:16: lemma 'A' has no body: this {} was read as an expr"),
        ("lemma A(s: set<int>) requires s == {}\n  ensures s <= s", "p.dfy:1:1: lemma 'A' has no body ("),
        ("lemma A(x: int)\n  ensures f(x) == 0 {}", "p.dfy:2:11: "),
        ("lemma A(x: int)\n  ensures x == 1.0 {}", "p.dfy:2:"),
        ("function f(x: int): int {\n  x && true\n}\nlemma A(x: int) ensures f(x) == 0 {}", "p.dfy:2:"),
        ("\nlemma gcd(x: int) ensures x == x {}", "p.dfy:2:1: 'gcd' is a name of the prelude"),
        ("datatype d = One |\n  Complex(x: int)\nlemma A() {}", "p.dfy:2:3: 'Complex' is a name of the prelude"),
        ("datatype d = One | Two\nlemma One() {}", "p.dfy:2:1: 'One' is a name of the prelude or declared twice"),
        ("method M() {} lemma A() {}", "not supported: 'method' declarations; write a lemma"),
    ],
)
def test_bad_files_are_one_line(tmp_path, text, message):
    (tmp_path / "p.dfy").write_text(text)
    with pytest.raises(InputError) as caught:
        load_formal_problem(tmp_path / "p.dfy")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_read_in_order_with_splits(tmp_path):
    for folder, name in (("valid", "B"), ("test", "A"), ("", "C")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.dfy").write_text(SQUARE.replace("Square", name))
    (tmp_path / "notes.txt").write_text("nothing")
    found = load_formal_problems(tmp_path).problems
    assert [(problem.name, problem.split) for problem in found] == [("C", ""), ("A", "test"), ("B", "valid")]


def test_a_folder_without_problems(tmp_path):
    with pytest.raises(InputError, match=r"no \.dfy file in the folder"):
        load_formal_problems(tmp_path)


def test_bad_files_of_a_set_are_named_and_the_others_read(tmp_path):
    (tmp_path / "a.dfy").write_text(SQUARE)
    (tmp_path / "b.dfy").write_text(SQUARE)
    (tmp_path / "c.dfy").write_text("lemma A(")
    (tmp_path / "d.dfy").write_bytes(b"\xff\xfe")
    (tmp_path / "e.dfy").write_text("lemma E(x: int)\n  ensures nothing(x)\n{}")
    (tmp_path / "f.dfy").write_text(SQUARE.replace("Square", "Last"))
    found = load_formal_problems(tmp_path)
    assert [problem.name for problem in found.problems] == ["Square", "Last"]
    duplicate, syntax, encoding, name = found.unreadable
    assert duplicate.startswith(f"{tmp_path}/b.dfy: problem 'Square' is there twice, first in {tmp_path}/a.dfy")
    assert syntax.startswith(f"{tmp_path}/c.dfy:1:9: ")
    assert encoding.startswith(f"{tmp_path}/d.dfy")
    assert name.startswith(f"{tmp_path}/e.dfy:2:11: ")
    assert "nothing" in name


def test_a_set_of_which_nothing_can_be_read_is_an_error(tmp_path):
    (tmp_path / "a.dfy").write_text("lemma A(")
    with pytest.raises(InputError, match=r"a\.dfy:1:9: "):
        load_formal_problems(tmp_path)


def test_records(tmp_path):
    file = tmp_path / "set.jsonl"
    lines = [
        json.dumps({"dafny": SQUARE, "name": "Square", "split": "test", "domain": "algebra", "origin": "o"}),
        "",
        json.dumps({"dafny": SQUARE.replace("Square", "Other")}),
    ]
    file.write_text("\n".join(lines))
    first, second = load_formal_problems(file).problems
    assert (first.name, first.split, first.domain, first.origin) == ("Square", "test", "algebra", "o")
    assert (second.name, second.split) == ("Other", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "set.jsonl:1: no JSON"),
        ("[" * 100_000, "set.jsonl:1: no JSON"),
        ("[]", "set.jsonl:1: expected a JSON object"),
        ("{}", "set.jsonl:1: dafny: missing"),
        ('{"dafny": 3}', "set.jsonl:1: dafny: expected a text"),
        ('{"dafny": "lemma A("}', "set.jsonl:1: dafny: 1:9: found the end of the text"),
        (json.dumps({"dafny": "lemma A(x: int)\n ensures y {}"}), "set.jsonl:1: dafny: 2:10: "),
        (json.dumps({"dafny": SQUARE, "name": "Q"}), "the problem is named 'Square', expected 'Q'"),
    ],
)
def test_bad_records_are_one_line(tmp_path, line, message):
    (tmp_path / "set.jsonl").write_text(line + "\n")
    with pytest.raises(InputError) as caught:
        load_formal_problems(tmp_path / "set.jsonl")
    assert message in str(caught.value)


def test_a_file_names_its_domain(tmp_path):
    file = tmp_path / "square.dfy"
    file.write_text(f"// domain: inequalities\n{SQUARE}")
    assert load_formal_problem(file).domain == "inequalities"
    file.write_text(SQUARE)
    assert load_formal_problem(file).domain == ""
