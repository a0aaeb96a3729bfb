"""Mistakes in declarations, and the order in which mistakes are told."""

import pytest

from maxproof.formal.embedded.errors import ResolutionError
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.parse import parse_program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("function k(x: int, x: int): int", "x is bound twice"),
        ("function k(x: int): (x: int)", "x is a parameter already"),
        ("lemma k(x: int) returns (x: int)", "x is a parameter already"),
        ("datatype D = C(x: int) | C(y: int)", "constructor C is declared twice"),
        ("datatype D = C(x: int, x: int)", "field x is declared twice"),
        ("datatype D = C(x: int) | E(x: real)", "field x has another type"),
        ("datatype D = C(d: D)", "datatype D has no value"),
        ("datatype D = C(e: E) datatype E = F(d: D)", "datatype D has no value"),
        ("datatype D = C function C(): int", "C is a constructor already"),
        ("datatype D = C(x: int) | E datatype F = C(y: int) lemma k(d: D) ensures d == C(1)", "write D.C"),
        ("function k(): itn", "unknown type itn: did you mean int?"),
        ("function k(): int { true }", "wrong type of the body of k: expected int, found bool"),
        ("function k(): int requires 1 { 1 }", "wrong type of requires: expected bool, found int"),
        ("function k(x: int): int ensures k(x) { 1 }", "wrong type of ensures: expected bool, found int"),
        ("predicate k() { 1 }", "wrong type of the body of k: expected bool, found int"),
    ],
)
def test_mistakes_in_declarations(text, message):
    with pytest.raises(ResolutionError) as caught:
        resolve(parse_program(text))
    assert any(message in problem.message for problem in caught.value.diagnostics)


def test_hand_made_trees_get_the_parsers_checks_too():
    twice = ast.Program((ast.Lemma("k", (), ()), ast.Lemma("k", (), ())))
    with pytest.raises(ResolutionError, match="k is declared twice"):
        resolve(twice)
    pairs = ast.NamedType("set", (ast.NamedType("int"), ast.NamedType("int")))
    with pytest.raises(ResolutionError, match="set takes one type"):
        resolve(ast.Program((ast.Lemma("k", (ast.Binder("s", pairs),), ()),)))


def test_mistakes_of_all_declarations_are_told_with_their_places():
    with pytest.raises(ResolutionError) as caught:
        resolve(parse_program("function k(): int { x }\nlemma l(x: int)\n  ensures y == x\n{ z := 1; }"))
    found = [(problem.message, problem.at.line, problem.at.column) for problem in caught.value.diagnostics]
    assert found == [("unknown name x", 1, 21), ("unknown name y", 3, 11), ("unknown variable z", 4, 3)]


def test_recursive_datatypes_through_sequences_and_each_other():
    resolve(parse_program("datatype Tree = Node(children: seq<Tree>) datatype A = A1 | A2(b: B) datatype B = B1(a: A)"))
