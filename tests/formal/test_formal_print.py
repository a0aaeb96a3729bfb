"""Printed programs: they parse to the tree they came from, here and in Dafny itself."""

import subprocess
from fractions import Fraction

import pytest
from formal_dafny import needs_dafny
from formal_syntax_strategies import expressions, programs, statements
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxproof.formal.syntax.ast import (
    NOWHERE,
    Apply,
    Binary,
    ForallStmt,
    IntLiteral,
    Name,
    Position,
    Program,
    RealLiteral,
    StringLiteral,
    Unary,
)
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.parse import parse_expression, parse_program, parse_statements
from maxproof.formal.syntax.printer import print_expression, print_program, print_statements

QUICK = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


@QUICK
@given(expressions())
def test_an_expression_parses_to_itself(tree):
    assert parse_expression(print_expression(tree)) == tree


@QUICK
@given(statements())
def test_a_statement_parses_to_itself(tree):
    assert parse_statements(print_statements((tree,))) == (tree,)


@QUICK
@given(programs(), st.sampled_from(Dialect))
def test_a_program_parses_to_itself(tree, dialect):
    assert parse_program(print_program(tree, dialect).text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "a && b && c",
        "a ==> b ==> c",
        "(a ==> b) ==> c",
        "a && (b || c)",
        "a - (b - c)",
        "a < b <= c",
        "(a < b) == c",
        "-x * -y",
        "(-x).Floor",
        "-x.Floor",
        "!(a in s)",
        "f(k => k * k, 0)",
        "isum(0, n, (k: int) => k * k) == n",
        "forall x: int | x > 0 :: exists y: real :: y * y == x as real",
        "|s + {1, 2}| == 3",
        "|(|s| + 1)|",
        "set x: int | 0 <= x < n && x % 2 == 0 :: x / 2",
        "if x > 0 then x else if x < 0 then -x else 0",
        "(s[0], s[..n], s[1 := 2], t.0)",
        "(t.0).1",
        "Square(x); x * x",
        "0.125 + 3.0",
    ],
)
def test_parentheses_are_the_fewest(text):
    assert print_expression(parse_expression(text)) == text


def test_what_looks_like_type_arguments_gets_parentheses():
    assert print_expression(parse_expression("f(a < b, c > d)")) == "f((a < b), c > d)"


def test_numbers_that_no_text_gives_print_as_what_they_are():
    assert print_expression(IntLiteral(-3)) == "-3"
    assert print_expression(Binary("/", Name("x"), RealLiteral(Fraction(-1, 3)))) == "x / (-1.0 / 3.0)"
    assert print_expression(Unary("-", IntLiteral(-3))) == "-(-3)"


def test_a_string_can_t_end_early():
    with pytest.raises(ValueError, match="escaped"):
        print_expression(StringLiteral('" + assume false + "'))
    verbatim = 'lemma {:message @"a""\\\n", 1} L() {}'
    program = parse_program(verbatim)
    assert parse_program(print_program(program, Dialect.DAFNY_4).text) == program


def test_a_forall_statement_without_body_claims_nothing_unproved():
    statement = ForallStmt(parse_statements("forall x ensures x > 0 { }")[0].binders, None, (), None)
    assert print_statements((statement,)).endswith("{ }\n")


def test_functions_are_ghosts_in_both_dialects():
    program = parse_program(
        "function f(x: int): int { x } ghost predicate p(x: int) { x > 0 } function method g(): int"
    )
    assert print_program(program, Dialect.DAFNY_2_3).text.split("\n")[0] == "function f(x: int): int"
    assert "ghost predicate p(" in print_program(program, Dialect.DAFNY_4).text
    assert print_program(program, Dialect.DAFNY_4).text.count("ghost function") == 2


def test_at_attributes_keep_their_form_where_there_is_one():
    program = parse_program("@Induction(false) lemma L() {}")
    assert print_program(program, Dialect.DAFNY_4).text.startswith("@Induction(false)\nlemma L()")
    assert print_program(program, Dialect.DAFNY_2_3).text.startswith("lemma {:induction false} L()")


def test_origin_is_the_innermost_node():
    text = "lemma L(x: int)\n\n   ensures x + 1 > 0\n{ assert x ==\n   f(x\n * 2); }"
    printed = print_program(parse_program(text), Dialect.DAFNY_2_3)
    lines = printed.text.split("\n")

    def origin(needle):
        line = next(number for number, text in enumerate(lines) if needle in text)
        return printed.origin(line + 1, lines[line].index(needle) + 1)

    assert origin("ensures") == Position(3, 12)
    assert origin("1 > 0") == Position(3, 16)
    assert origin("assert") == Position(4, 3)
    assert origin("f(x") == Position(5, 4)
    assert origin("2)") == Position(6, 4)
    assert printed.origin(1000, 1) == NOWHERE


def test_deep_trees_print():
    tree = Name("x")
    for _ in range(190):
        tree = Apply(Name("f"), (tree,))
    assert print_expression(tree).count("(") == 190


TRICKY = [
    "a <==> b <==> c",
    "a ==> b ==> c",
    "(a ==> b) ==> c",
    "a <== b <== c",
    "a && b && c",
    "a || (b && c)",
    "a && b ==> c || d",
    "&& a && b",
    "x < y <= z == w",
    "x == y != z",
    "x > y >= z",
    "(x < y) == a",
    "x - y - z * -w",
    "x - (y - z)",
    "x / y / z % w",
    "-x as real * r",
    "-(x as real) < r",
    "x * y as real",
    "!a == b",
    "!(x in s)",
    "x !in s && y in s",
    "s !! t",
    "|s + t| + |t| - 1",
    "q[x..y][z] == q[..x][y := w][z..]",
    "p.0 + (p.1).0",
    "z.re == r.Floor as real",
    "v.A? && !v.B?",
    "f((x < y), z > w)",
    "f(x, (k: int) => k < y)",
    "forall k: int, m: int {:trigger f(k, m)} | k < m :: f(k, m) ==> exists n: int :: n > k",
    "a && (forall k: int :: k > x || k <= x) && b",
    "(set k: int | 0 <= k < x && k % 2 == 0 :: k / 2) == {}",
    "|set k: int | k in s| == 0",
    "iset{1} == (iset k: int | k == 1)",
    "if a then if b then x else y else z",
    "1 + (if a then x else y) == z",
    "var u := x; var w :| w > u; w == y",
    "(assert a; x) == y",
    "(match v { case A(k) => k case B => 0 }) == x",
    "0x1F == 3_1 && 0.250 == 1.5",
]


@needs_dafny
def test_dafny_reads_what_we_read(tmp_path):
    """Dafny 2.3 prints what it parsed of the text and of our printing of it: all three are one tree."""
    ours = Program(
        parse_program("".join(f"lemma L{n}() ensures {text} {{}}\n" for n, text in enumerate(TRICKY))).lemmas
    )
    raw = "".join(f"lemma R{n}()\n  ensures {text}\n{{\n}}\n" for n, text in enumerate(TRICKY))
    (tmp_path / "in.dfy").write_text(print_program(ours, Dialect.DAFNY_2_3).text + raw)
    command = ["dafny", "/noResolve", "/compile:0", "/printMode:Everything", "/dprint:out.dfy", "in.dfy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (tmp_path / "out.dfy").exists(), done.stdout
    theirs = parse_program((tmp_path / "out.dfy").read_text())
    for number, text in enumerate(TRICKY):
        read = ours[f"L{number}"].ensures
        assert theirs[f"L{number}"].ensures == read, text
        assert theirs[f"R{number}"].ensures == read, text
