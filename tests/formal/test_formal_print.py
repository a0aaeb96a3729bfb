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
    program = parse_program("function f(x: int): int { x } ghost predicate p(x: int) { x > 0 } function method g(): int")
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


@needs_dafny
@settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck))
@given(st.lists(programs(), min_size=6, max_size=6))
def test_dafny_reads_the_tree_that_was_printed(tmp_path_factory, trees):
    """Dafny 2.3 prints what it parsed; that must parse to our tree."""
    folder = tmp_path_factory.mktemp("dprint")
    declarations = tuple(
        declaration.__class__(**{**_fields(declaration), "name": f"{declaration.name}{number}"})
        for number, tree in enumerate(trees)
        for declaration in tree.declarations
    )
    (folder / "in.dfy").write_text(print_program(Program(declarations), Dialect.DAFNY_2_3).text)
    command = ["dafny", "/noResolve", "/compile:0", "/printMode:Everything", "/dprint:out.dfy", "in.dfy"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (folder / "out.dfy").exists(), done.stdout
    assert parse_program((folder / "out.dfy").read_text()) == Program(declarations)


def _fields(declaration):
    return {name: getattr(declaration, name) for name in type(declaration).__slots__ if hasattr(declaration, name)} | {
        "at": declaration.at
    }
