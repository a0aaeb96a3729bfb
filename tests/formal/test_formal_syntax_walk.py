"""Free names, renaming without capture, and trees with something replaced."""

import pytest

from maxproof.formal.syntax.ast import IntLiteral, Name, Position
from maxproof.formal.syntax.parse import parse_expression, parse_program, parse_statements
from maxproof.formal.syntax.printer import print_expression, print_statements
from maxproof.formal.syntax.walk import children, descendants, map_expressions, moved, names_used, rename


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f(x) + y.re", {"f", "x", "y"}),
        ("forall x: int | p(x) :: x > y", {"p", "y"}),
        ("forall x: complex {:trigger f(x)} :: true", {"complex", "f"}),
        ("set x | x in s :: g(x)", {"s", "g"}),
        ("(x: int) requires q(x) => x + y", {"q", "y"}),
        ("var x := x; x", {"x"}),
        ("var x :| x > y; x", {"y"}),
        ("match v { case C(x, y) => x + z case _ => w }", {"v", "C", "z", "w"}),
        ("(x => x)(x)", {"x"}),
        ("{} + {1}", set()),
    ],
)
def test_free_names(text, names):
    assert names_used(parse_expression(text)) == names


def test_a_variable_is_known_after_its_statement_only():
    first, *_ = (names_used(parse_program(f"lemma L() {{ {body} }}")) for body in ("assert x; var x := y; assert x;",))
    assert first == {"x", "y"}
    assert names_used(parse_program("lemma L() { var x := y; { assert x; } }")) == {"y"}
    assert names_used(parse_program("lemma L() { { var x := 1; } assert x; }")) == {"x"}


def test_parameters_and_results_are_bound():
    program = parse_program(
        "lemma L(x: int) returns (r: int) requires p(x) ensures q(r) decreases x { r := L(x - 1); }"
        " function f(x: int): (y: int) ensures y > z { g(x) }"
    )
    assert names_used(program) == {"p", "q", "L", "z", "g", "r"} - {"r"}


def test_renaming_touches_free_names_only():
    tree = parse_expression("L(x) && forall x: int :: L(x) > x && z.L")
    assert print_expression(rename(tree, {"L": "M", "x": "y"})) == "M(y) && (forall x: int :: M(x) > x && z.L)"


def test_renaming_captures_nothing():
    tree = parse_expression("forall y: int :: x < y")
    renamed = rename(tree, {"x": "y"})
    assert print_expression(renamed) == "forall y': int :: y < y'"
    statements = parse_program("lemma L() { var y := 1; assert x < y; }")["L"].body
    block = rename(parse_program("lemma L() { { var y := 1; assert x < y; } }"), {"x": "y"})["L"].body[0]
    assert print_statements(block.body) == "var y' := 1;\nassert y < y';\n"
    assert len(statements) == 2


def test_expressions_are_replaced_from_inside_out():
    tree = parse_program("lemma L() ensures x + 0 > 0 { assert x == 0; }")
    changed = map_expressions(tree, lambda e: IntLiteral(7) if e == Name("x") else e)
    assert changed == parse_program("lemma L() ensures 7 + 0 > 0 { assert 7 == 0; }")
    assert map_expressions(tree, lambda e: e) == tree


def test_places_move_together():
    tree = moved(parse_statements("assert x;")[0], lambda at: Position(at.line + 10, at.column))
    assert tree.at == Position(11, 1)
    assert tree.condition.at == Position(11, 8)


def test_descendants_come_in_source_order():
    tree = parse_expression("a + b * c")
    assert [node.name for node in descendants(tree) if isinstance(node, Name)] == ["a", "b", "c"]
    assert len(list(children(tree))) == 2
