"""Reading Dafny: precedence, every construct of the fragment, and a clear line for everything else."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.syntax.ast import (
    Apply,
    Binary,
    Calc,
    Comparison,
    Comprehension,
    ForallStmt,
    Function,
    IfCases,
    IfStmt,
    IntLiteral,
    LambdaExpr,
    LetExpr,
    Member,
    Name,
    Position,
    RealLiteral,
    Slice,
    StmtExpr,
    Unary,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_expression, parse_program, parse_statements
from maxproof.formal.syntax.tokens import tokenize
from maxproof.formal.syntax.walk import descendants


def same(left, right):
    assert parse_expression(left) == parse_expression(right)


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a <==> b ==> c", "a <==> (b ==> c)"),
        ("a ==> b ==> c", "a ==> (b ==> c)"),
        ("a <== b <== c", "(a <== b) <== c"),
        ("a && b ==> c || d", "(a && b) ==> (c || d)"),
        ("&& a && b", "a && b"),
        ("a ==> && b && c", "a ==> (b && c)"),
        ("!a && b", "(!a) && b"),
        ("a == b && c", "(a == b) && c"),
        ("x + y * z < w", "(x + (y * z)) < w"),
        ("x - y - z", "(x - y) - z"),
        ("x * y as real", "x * (y as real)"),
        ("-x as real", "(-x) as real"),
        ("-x.re", "-(x.re)"),
        ("!x in s", "(!x) in s"),
        ("forall k :: a ==> b", "forall k :: (a ==> b)"),
        ("a && forall k :: b && c", "a && (forall k :: (b && c))"),
        ("k => k + 1", "(k) => (k + 1)"),
        ("if a then x else y + 1", "if a then x else (y + 1)"),
        ("var u := x; u + 1", "var u := x; (u + 1)"),
        ("set k | a && b :: k + 1", "set k | (a && b) :: (k + 1)"),
        ("f(x)(y)[z].0", "(((f(x))(y))[z]).0"),
    ],
)
def test_precedence(text, grouped):
    same(text, grouped)


def test_comparisons_chain_in_one_node():
    chain = parse_expression("x < y <= z == w")
    assert isinstance(chain, Comparison)
    assert chain.ops == ("<", "<=", "==")
    assert len(chain.operands) == 4


@pytest.mark.parametrize("text", ["a < b > c", "a != b != c", "a in s in t", "s !! t !! u", "a < b in s"])
def test_other_comparisons_don_t_chain(text):
    with pytest.raises(DafnySyntaxError, match="can't be chained"):
        parse_expression(text)


@pytest.mark.parametrize("text", ["a && b || c", "a || b && c", "&& a || b", "a ==> b <== c", "a <== b ==> c"])
def test_mixtures_need_parentheses(text):
    with pytest.raises(DafnySyntaxError, match="parentheses"):
        parse_expression(text)


def test_numbers():
    assert parse_expression("1_000") == IntLiteral(1000)
    assert parse_expression("0xFf") == IntLiteral(255)
    assert parse_expression("0.250") == RealLiteral(Fraction(1, 4))
    assert parse_expression("t.0.1") == Member(Member(Name("t"), "0"), "1")
    assert isinstance(parse_expression("s[0..1]"), Slice)


def test_calls_and_assertions_inside_expressions():
    value = parse_expression("L(x); assert a; calc { x; y; } z")
    kinds = []
    while isinstance(value, StmtExpr):
        kinds.append(type(value.statement).__name__)
        value = value.value
    assert kinds == ["CallStmt", "Assert", "Calc"]
    assert value == Name("z")


def test_a_call_ends_a_statement_where_one_stands():
    assert len(parse_statements("var u := f(x); L(u);")) == 2


def test_comprehensions_without_a_range_range_over_everything():
    found = parse_expression("iset k: int :: k * k")
    assert isinstance(found, Comprehension)
    assert found == parse_expression("iset k: int | true :: k * k")


def test_lambdas_and_lets():
    assert isinstance(parse_expression("(x: int, y) requires x > 0 => x + y"), LambdaExpr)
    found = parse_expression("var u, w := 1, 2; u + w")
    assert isinstance(found, LetExpr)
    assert len(found.values) == 2
    assert parse_expression("(x)") == Name("x")


def test_statements():
    found = parse_statements(
        """
        calc <= { x; { L(); } y; == { } { } z; }
        forall (k: int | k > 0) ensures P(k) { }
        if k :| P(k) { } else if a { } else { }
        if { case a => assert b; case k: int :| P(k) => }
        match v { case C(x, _) => assert a; case _ => }
        """
    )
    calc, forall, choice, cases, _match = found
    assert isinstance(calc, Calc)
    assert calc.op == "<="
    assert calc.ops == (None, "==")
    assert [len(hint) for hint in calc.hints] == [1, 2]
    assert isinstance(forall, ForallStmt)
    assert isinstance(choice, IfStmt)
    assert choice.binders[0].name == "k"
    assert isinstance(cases, IfCases)
    assert len(cases.cases) == 2


def test_a_hint_under_the_last_line_is_still_checked():
    (calc,) = parse_statements("calc < { x; y; { assert a; } }")
    assert len(calc.lines) == 3
    assert calc.ops == (None, "==")
    assert calc.lines[1] == calc.lines[2]


def test_clauses_in_any_order():
    program = parse_program(
        "lemma L(x: int) ensures a decreases x, 1 requires b; ensures c requires l: d {}"
        " function f(x: int): (r: int) ensures r > 0 requires x > 0 { x }"
        " predicate p(): (b: bool) { true }"
        " datatype d = A | B(x: int, y: real)"
    )
    lemma = program["L"]
    assert [len(lemma.requires), len(lemma.ensures), len(lemma.decreases)] == [2, 2, 2]
    assert lemma.requires[1].label == "l"
    function = program["f"]
    assert isinstance(function, Function)
    assert function.result_name == "r"
    assert program["p"].result_name == "b"
    assert program["d"].constructors[1].fields[1].name == "y"


def test_no_body_is_not_an_empty_body():
    program = parse_program("lemma A() lemma B() {}")
    assert program["A"].body is None
    assert program["B"].body == ()


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("lemma L(x: int)\n  ensures x +\n;{}", 3, 1, "found ';', expected an expression"),
        ("lemma L(x int) {}", 1, 11, "found 'int', expected ':'"),
        ("lemma L() { assert x }", 1, 22, "expected ';' or 'by'"),
        ("lemma L() {\n  var x = 3;\n}", 2, 9, "found '=', expected ';', ':=' or ':|'"),
        ("lemma if() {}", 1, 7, "found the reserved word 'if', expected the lemma's name"),
        ("lemma L() {} lemma L() {}", 1, 14, "'L' is declared twice, first in line 1"),
        ("lemma L() {", 1, 12, "found the end of the text"),
        ("lemma L() { lemma M() {} }", 1, 13, "is a '}' missing before it?"),
        ("lemma L() assert true;", 1, 11, "expected '{' before the lemma's body"),
        ("lemma L() ensures x ≤ y {}", 1, 21, "'≤', which is written '<='"),
        ("lemma L() { assert x = y; }", 1, 22, "found '='"),
        ("/* open", 1, 1, "comment without its closing"),
        ('lemma {:a "open} L() {}', 1, 11, "string without its closing quote"),
    ],
)
def test_errors_name_place_and_expectation(text, line, column, message):
    with pytest.raises(DafnySyntaxError) as caught:
        parse_program(text)
    assert caught.value.at == Position(line, column)
    assert message in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "module M { }",
        'include "a.dfy"',
        "import opened M",
        "class C { }",
        "method M() { }",
        "newtype n = int",
        "type t = int",
        "const c: int := 3",
        "lemma L<T>(x: T) {}",
        "lemma L(x: Option<int>) {}",
        "lemma L(s: multiset<int>) {}",
        "lemma L(m: map<int, int>) {}",
        "lemma L(c: char) {}",
        "lemma L(b: bv8) {}",
        "lemma L(a: array<int>) {}",
        "lemma L() modifies x {}",
        "function f(): int reads x { 1 }",
        "least predicate p() { true }",
        "twostate lemma L() {}",
        "lemma L() decreases * {}",
        "lemma L() { print 1; }",
        'lemma L() { assert "a" == "b"; }',
        "lemma L() { assert 'a' == 'b'; }",
        "lemma L() { assert old(x) == x; }",
        "lemma L() { assert multiset{1} == multiset{1}; }",
        "lemma L() { var x := *; }",
        "lemma L() { if * { } }",
        "lemma L() { var (a, b) := p; }",
        "lemma L() { label l: assert a; }",
        "lemma L() { var x :| assume a; }",
        "lemma L() { x.(f := 1); }",
        "lemma L() { match v { case 0 => } }",
        "lemma L() { assert real(x) == r; }",
        "datatype d = A { function f(): int { 1 } }",
        "lemma L() { for k := 0 to 3 { } }",
    ],
)
def test_what_lies_outside_is_named(text):
    with pytest.raises(DafnySyntaxError, match=r"not supported: .+; .+"):
        parse_program(text)


def test_a_forall_statement_must_be_proved():
    with pytest.raises(DafnySyntaxError, match="proof of the forall statement"):
        parse_statements("forall k ensures k > 0; assert a;")


def test_words_in_comments_and_strings_leave_no_token():
    tokens = tokenize('// assume\n/* axiom /* assume */ */ x "assume" @"a""b"')
    assert [(token.kind, token.text) for token in tokens] == [
        ("name", "x"),
        ("string", "assume"),
        ("string", 'a\\"b'),
        ("end", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * 5_000 + "x" + ")" * 5_000,
        "!" * 100_000 + "x",
        "+".join(["x"] * 50_000),
        "x ==> " * 50_000 + "x",
        "[" * 5_000 + "]" * 5_000,
        "f(" * 5_000 + ")" * 5_000,
        "if a then " * 5_000,
        "forall x :: " * 5_000 + "x",
        "x" + "[0]" * 50_000,
        "y => " * 5_000 + "y",
        "x as real" + " as real" * 50_000,
        "|" * 10_001,
        "match x { case A => " * 5_000,
        "(x: " + "seq<" * 5_000,
        "9" * 5_000,
        "/*" * 100_000,
    ],
)
def test_hostile_expressions_end_in_a_refusal(text):
    with pytest.raises(DafnySyntaxError):
        parse_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "if a { } else " * 50_000,
        "if a {" * 10_000,
        "calc { x; {" * 10_000,
        "assert x by {" * 10_000,
        "match x { case A => " * 10_000,
        "forall x { " * 10_000,
    ],
)
def test_hostile_statements_end_in_a_refusal(text):
    with pytest.raises(DafnySyntaxError):
        parse_statements(text)


def test_a_long_flat_text_is_no_problem():
    assert len(parse_statements("assert x == x;" * 5_000)) == 5_000


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60) | st.text(alphabet="(){}[]<>=!&|:;,.+-*/ \nxyforall{:@\"'0", max_size=80))
def test_any_text_gives_a_tree_or_a_syntax_error(text):
    places = []
    for parse in (parse_program, parse_expression, parse_statements):
        try:
            parse(text)
        except DafnySyntaxError as error:
            places.append(error.at)
    assert min(places, default=Position(1, 1)) >= Position(1, 1)


def test_nodes_know_where_they_begin():
    text = "lemma L(x: int)\n  ensures f(x) +\n    y * 2 > 0\n{ }"
    places = {type(node): node.at for node in descendants(parse_program(text)) if isinstance(node, Binary | Apply)}
    assert places[Apply] == Position(2, 11)
    assert parse_expression("a\n + -b").right.at == Position(2, 4)
    assert isinstance(parse_expression("a\n + -b").right, Unary)
