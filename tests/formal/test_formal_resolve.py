"""What each construct becomes in the core: names, operators, binders, declarations."""

from fractions import Fraction

import pytest

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    Choose,
    DataOf,
    Field,
    FunctionOf,
    FunctionValue,
    Int,
    Lambda,
    Let,
    Op,
    Quant,
    Real,
    SetOf,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import subnodes
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.parse import parse_program

CONTEXT = """
datatype List = Nil | Cons(head: int, tail: List)
datatype Complex = Complex(re: real, im: real)
function f(n: nat): int
function g(x: int): nat requires x > 0
predicate p(x: int)
function seven(): int { 7 }
"""
PARAMS = (
    "x: int, y: int, n: nat, a: real, b: real, s: set<int>, t: set<int>, u: iset<int>, w: seq<int>, v: seq<int>, "
    "l: List, z: Complex, h: int -> int, pair: (int, real), q: bool"
)
X, Y, N = Var("x", INT), Var("y", INT), Var("n", NAT)
A, B = Var("a", REAL), Var("b", REAL)
S, T = Var("s", SetOf(INT)), Var("t", SetOf(INT))


def term(text: str, context: str = CONTEXT):
    program = resolve(parse_program(f"{context} lemma statement({PARAMS}) ensures {text}"))
    return program.lemmas["statement"].ensures[0]


def op(name: Op, *args, sort=BOOL):
    return Builtin(name, args, sort)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x != y", op(Op.NOT, op(Op.EQ, X, Y))),
        ("x > y", op(Op.LT, Y, X)),
        ("x >= y", op(Op.LE, Y, X)),
        ("x !in s", op(Op.NOT, op(Op.IN, X, S))),
        ("0 < x <= y", op(Op.AND, op(Op.LT, Int(0), X), op(Op.LE, X, Y))),
        ("s !! t", op(Op.DISJOINT, S, T)),
        ("s < t", op(Op.PROPER_SUBSET, S, T)),
        ("s >= t", op(Op.SUBSET, T, S)),
        ("a < b", op(Op.LT, A, B)),
        ("a == 1.50", op(Op.EQ, A, Real(Fraction(3, 2)))),
        ("x as real == a", op(Op.EQ, op(Op.TO_REAL, X, sort=REAL), A)),
        ("a as int == x", op(Op.EQ, op(Op.TO_INT, A, sort=INT), X)),
        ("a.Floor == x", op(Op.EQ, op(Op.FLOOR, A, sort=INT), X)),
        ("n as int == x as int", op(Op.EQ, N, X)),
        ("-n == -3", op(Op.EQ, op(Op.NEG, N, sort=INT), op(Op.NEG, Int(3), sort=INT))),
        ("s + t == s * t - s", op(Op.EQ, op(Op.UNION, S, T, sort=S.sort), None)),
        ("seven() == 7", op(Op.EQ, Call("seven", (), INT), Int(7))),
        ("(q <== x == y) <==> q", op(Op.IFF, op(Op.IMPLIES, op(Op.EQ, X, Y), Var("q", BOOL)), Var("q", BOOL))),
    ],
)
def test_operators(text, expected):
    found = term(text)
    if expected.args[-1] is None:  # only the left side is spelled out
        assert found.args[0] == expected.args[0]
        assert [node.op for node in subnodes(found.args[1]) if isinstance(node, Builtin)] == [Op.MINUS, Op.INTERSECT]
    else:
        assert found == expected


def test_sequences_have_their_own_operators():
    found = [
        node.op
        for node in subnodes(term("w + v <= w[1..] + v[..x] && w[x] == |w[0 := y]| && w < v"))
        if isinstance(node, Builtin)
    ]
    assert found.count(Op.CONCAT) == 2
    assert found.count(Op.SLICE) == 2
    assert found.count(Op.PREFIX) == 2  # < is a prefix that is not equal
    assert {Op.AT, Op.SEQ_UPDATE, Op.CARD} <= set(found)


def test_missing_ends_of_a_slice_are_the_ends_of_the_sequence():
    whole = term("w[..] == v").args[0]
    assert show(whole) == "w[0..|w|]"


def test_conjunctions_are_flat():
    assert len(term("x == 1 && (y == 2 && q) && x < y").args) == 4


def test_every_binder_gets_a_name_of_its_own():
    found = term("(forall x :: x > y ==> exists x :: x < y) && (forall k :: k > x) && (forall k :: k < x)")
    bound = [var.name for node in subnodes(found) if isinstance(node, Quant) for var in node.vars]
    assert bound == ["x#1", "x#2", "k", "k#1"]
    assert show(found.args[0]) == "forall x#1: int :: y < x#1 ==> (exists x#2: int :: x#2 < y)"


def test_local_variables_hide_declarations():
    assert term("forall p :: p > 0 || p < x").body.args[0] == op(Op.LT, Int(0), Var("p", INT))


def test_quantifiers_keep_range_and_triggers():
    found = term("forall k: nat {:trigger f(k)} {:trigger p(k), k in s} | k in s :: f(k) > 0")
    k = Var("k", NAT)
    call, inside = Call("f", (k,), INT), op(Op.IN, k, S)
    assert found == Quant("forall", (k,), inside, op(Op.LT, Int(0), call), ((call,), (Call("p", (k,), BOOL), inside)))


def test_names_of_functions_are_values():
    found = term("f == f && g == g && h == h")
    assert found.args[0].args[0] == FunctionValue("f", FunctionOf((NAT,), INT))
    assert found.args[1].args[0] == FunctionValue("g", FunctionOf((INT,), NAT, total=False))


def test_lambdas_with_a_precondition_are_partial():
    found = term("((k: int) requires k > 0 requires k < 9 => g(k))(x) == 1").args[0].function
    assert isinstance(found, Lambda)
    assert found.sort == FunctionOf((INT,), NAT, total=False)
    assert show(found.requires) == "0 < k && k < 9"


def test_lets_bind_one_variable_each_and_read_values_outside():
    found = term("(var x, y := y, x; x - y) == 0").args[0]
    assert found == Let(
        Var("x#1", INT), Y, Let(Var("y#1", INT), X, op(Op.SUB, Var("x#1", INT), Var("y#1", INT), sort=INT))
    )


def test_a_let_keeps_what_is_known_of_its_value():
    assert term("(var k := n; k) == 0").args[0].var.sort == NAT
    assert term("(var k := n + 1; k) == 0").args[0].var.sort == INT
    assert term("(var k: nat := x; k) == 0").args[0].var.sort == NAT


def test_such_that():
    found = term("(var k: nat :| k > x; k) == 0").args[0]
    k = Var("k", NAT)
    assert found == Choose((k,), op(Op.LT, X, k), k)


def test_conversion_to_nat_asks_for_a_natural_number():
    found = term("x as nat == 3").args[0]
    assert isinstance(found, Let)
    assert (found.var.sort, found.value, found.body) == (NAT, X, found.var)
    assert term("n as nat == 3").args[0] == N


def test_datatypes():
    found = term("l.Cons? && l.head == x && l == List.Cons(x, Nil) && z.re == Complex(a, b).im && pair.1 == a")
    assert show(found).startswith("l.Cons? && l.head == x && l == Cons(x, Nil) && z.re == Complex(a, b).im")
    assert found.args[4].args[0] == Field(Var("pair", pair_sort()), "1", REAL)


def pair_sort():
    return resolve(parse_program("function k(): (int, real)")).functions["k"].result.sort


def test_match_tests_constructors_in_turn_and_the_last_case_needs_none():
    found = term("(match l case Nil => 0 case Cons(k, _) => k) == x").args[0]
    assert show(found) == "if l.Nil? then 0 else var k := l.head; k"
    assert show(term("(match l case Cons(k, rest) => k case _ => 0) == x").args[0]) == (
        "if l.Cons? then var k := l.head; var rest := l.tail; k else 0"
    )


def test_a_matched_value_is_computed_once():
    found = term("(match Cons(x, l) case Nil => 0 case Cons(k, _) => k) == x").args[0]
    assert isinstance(found, Let)
    assert found.var.sort == DataOf("List")


def test_a_functions_own_call_in_its_postcondition_is_its_result():
    text = "function k(x: int, y: int): (r: nat) ensures k(x, y) >= r ensures k(y, x) > 0 { x * x }"
    function = resolve(parse_program(text)).functions["k"]
    assert function.result == Var("r", NAT)
    assert function.ensures[0] == op(Op.LE, function.result, function.result)
    assert function.ensures[1] == op(Op.LT, Int(0), Call("k", (Y, X), NAT))


def test_a_bound_variable_is_no_parameter_in_a_postcondition():
    text = "function k(x: int): int ensures forall x :: k(x) >= 0 { 0 }"
    function = resolve(parse_program(text)).functions["k"]
    assert any(isinstance(node, Call) for node in subnodes(function.ensures[0]))


def test_what_is_no_target_is_trusted():
    program = parse_program("function k(): int { 1 } lemma one() {} lemma two() {}")
    core = resolve(program, targets=("one",))
    assert (core.functions["k"].trusted, core.lemmas["one"].trusted, core.lemmas["two"].trusted) == (True, False, True)


def test_declarations_keep_attributes_measures_and_missing_bodies():
    core = resolve(
        parse_program(
            """
            function {:fuel 3} k(x: int): int decreases x, 2
            lemma {:induction x} one(x: int)
            lemma {:induction false} two(x: int) {}
            lemma three(x: int) requires x > 0 requires x > 1 {}
            """
        )
    )
    assert (core.functions["k"].fuel, core.functions["k"].body) == (3, None)
    assert core.functions["k"].decreases == (X, Int(2))
    assert (core.lemmas["one"].induction, core.lemmas["one"].body) == (("x",), None)
    assert (core.lemmas["two"].induction, core.lemmas["two"].body) == (False, ())
    assert core.lemmas["three"].induction is None
    assert len(core.lemmas["three"].requires) == 2


def test_predicates_are_functions_to_bool():
    assert resolve(parse_program(CONTEXT)).functions["p"].result.sort == BOOL


def test_terms_stand_where_the_text_has_them():
    core = resolve(parse_program("lemma one(x: int)\n  ensures x ==\n    2\n{}"))
    equal = core.lemmas["one"].ensures[0]
    assert equal.args[1].at == ast.Position(3, 5)
    assert core.lemmas["one"].at == ast.Position(1, 1)


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("function {:opaque} k(): int { 1 }", "{:opaque}"),
        ("function k(m: int ~> int): int", "~>"),
        ("datatype D = C(s: set<D>) | E", "inside a set"),
        ("datatype D = C(h: E -> int) | F datatype E = G(d: D)", "inside a set or a function"),
        ("lemma k() { while true {} }", "while"),
    ],
)
def test_outside_the_fragment(text, construct):
    with pytest.raises(Unsupported) as caught:
        resolve(parse_program(text))
    assert construct in caught.value.construct


def nested(template: str, inner: str, times: int) -> str:
    text = inner
    for _ in range(times):
        text = template.replace("@", text)
    return text


@pytest.mark.parametrize(
    "text",
    [
        nested("(q == (@) == q)", "q", 45),
        nested("(@)[1..]", "w", 60) + " == w",
        nested("(w < (if @ then w else v))", "q", 25),
        nested("(calc { @; q; } q)", "q", 30),
        "(" + nested("match l case Nil => 0 case Cons(k, r) => @", "1", 60) + ") == 1",
    ],
)
def test_terms_that_grow_when_lowered_end_in_a_refusal_or_a_small_term(text):
    """Lowering copies operands; many levels of it must not grow without a limit."""
    try:
        size = sum(1 for _ in subnodes(term(text)))
    except Unsupported:
        size = 0
    assert size < 1_000_000


def test_hand_made_trees_that_are_too_deep_are_refused():
    expr: ast.Expr = ast.Name("x")
    for _ in range(5000):
        expr = ast.Unary("-", expr)
    equal = ast.Comparison((expr, ast.IntLiteral(1)), ("==",))
    lemma = ast.Lemma("deep", (ast.Binder("x", ast.NamedType("int")),), (), ensures=(ast.Clause(equal),))
    with pytest.raises(Unsupported, match="nested deeper"):
        resolve(ast.Program((lemma,)))


def test_true_is_the_range_of_a_quantifier_without_one():
    assert term("forall k: int :: k == k").range == Bool(True)
