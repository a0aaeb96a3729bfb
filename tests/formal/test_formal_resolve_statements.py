"""Statements in single assignment: versions, joins after branches, calculations, calls, and what is refused."""

import pytest

from maxproof.formal.embedded.core import (
    INT,
    NAT,
    AssertStep,
    Branch,
    Builtin,
    CalcStep,
    CallStep,
    ChooseStep,
    Define,
    ForallStep,
    Op,
    ReturnStep,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import defined, free_variables, subnodes
from maxproof.formal.embedded.errors import ResolutionError
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.syntax.parse import parse_program

CONTEXT = """
datatype List = Nil | Cons(head: int, tail: List)
datatype Single = Single(value: int)
predicate p(x: int)
lemma fact(x: int)
lemma root(x: int) returns (r: nat)
lemma two(x: int) returns (r: int, s: int)
"""


def lemma(body: str, results: str = ""):
    text = f"{CONTEXT} lemma statement(x: int, y: int, s: set<int>, l: List) {results} {{ {body} }}"
    return resolve(parse_program(text)).lemmas["statement"]


def steps(body: str, results: str = ""):
    return lemma(body, results).body


def errors(body: str, results: str = "") -> list[str]:
    with pytest.raises(ResolutionError) as caught:
        lemma(body, results)
    return [problem.message for problem in caught.value.diagnostics]


X, Y = Var("x", INT), Var("y", INT)


def test_each_assignment_makes_a_new_version():
    found = steps("var k := x; k := k + 1; assert k > y;")
    assert [(step.var.name, show(step.value)) for step in found[:2]] == [("k", "x"), ("k#1", "k + 1")]
    assert show(found[2].condition) == "y < k#1"


def test_parallel_assignment_reads_the_old_versions():
    found = steps("var a, b := x, y; a, b := b, a;")
    assert [(step.var.name, show(step.value)) for step in found[2:]] == [("a#1", "b"), ("b#1", "a")]


def test_versions_meet_after_a_branch():
    found = steps("var k := 0; if x > 0 { k := 1; } else if x == 0 { k := 2; } assert k >= 0;")
    branch = found[1]
    assert isinstance(branch, Branch)
    assert branch.exclusive
    ends = [arm[2][-1] for arm in branch.arms] + [branch.otherwise[-1]]
    assert {step.var.name for step in ends} == {"k#3"}
    assert [show(step.value) for step in ends] == ["k#1", "k#2", "k"]
    assert show(found[2].condition) == "0 <= k#3"


def test_what_no_arm_assigns_is_not_renamed():
    found = steps("var k := 0; if x > 0 { var j := 1; assert j > k; } assert k == 0;")
    assert found[1].otherwise == ()
    assert show(found[2].condition) == "k == 0"


def test_an_arm_that_returns_takes_no_part_in_the_meeting():
    found = lemma("if x > 0 { r := 1; return; } else { r := 2; } r := r + 1;", "returns (r: int)")
    branch = found.body[0]
    assert isinstance(branch.arms[0][2][-1], ReturnStep)
    assert [show(value) for value in branch.arms[0][2][-1].values] == ["r#1"]
    assert show(branch.otherwise[-1].value) == "r#2"
    assert found.finals == (Var("r#4", INT),)


def test_guarded_alternatives_and_chosen_witnesses():
    cases, chosen = steps("if { case x > 0 => fact(x); case x < 1 => } if k :| p(k) { fact(k); }")
    assert (cases.exclusive, cases.otherwise, len(cases.arms)) == (False, None, 2)
    guard, bound, body = chosen.arms[0]
    assert (show(guard), bound, show(body[0].args[0])) == ("p(k)", (Var("k", INT),), "k")
    assert chosen.otherwise == ()


def test_match_is_a_branch_over_constructor_tests():
    (branch,) = steps("match l { case Nil => fact(0); case Cons(k, rest) => fact(k); }")
    assert [show(guard) for guard, _, _ in branch.arms] == ["l.Nil?"]
    assert [show(step.value) for step in branch.otherwise[:2]] == ["l.head", "l.tail"]


def test_a_match_of_one_constructor_needs_no_test():
    found = steps("match Single(x) { case Single(k) => fact(k); }")
    assert [type(step) for step in found] == [Define, Define, CallStep]


def test_blocks_keep_assignments_and_hide_declarations():
    found = steps("var k := 0; { var j := 1; k := j; } var j := 2; assert k == j;")
    assert show(found[-1].condition) == "k#1 == j#1"


def test_choice_and_lemma_results():
    found = steps("var k: nat :| k > x; k := root(k); var a, b := two(x); fact(a);")
    assert found[0] == ChooseStep((Var("k", NAT),), Builtin(Op.LT, (X, Var("k", NAT)), found[0].predicate.sort))
    assert found[1] == CallStep("root", (Var("k", NAT),), (Var("k#1", NAT),))
    assert found[2] == CallStep("two", (X,), (Var("a", INT), Var("b", INT)))


def test_results_take_the_lemmas_types():
    (call, _) = steps("var k := root(x); assert k >= 0;")
    assert call.outs == (Var("k", NAT),)


def test_a_variable_without_a_value_is_any_value():
    found = steps("var k: int; assert k == k; if x > 0 { k := 1; }")
    assert free_variables(found[0]) == (Var("k", INT),)
    assert Var("k", INT) not in defined(found)
    result = lemma("", "returns (r: int)")
    assert result.finals == result.results


def test_return_gives_values():
    assert steps("return x, y;", "returns (a: int, b: int)") == (ReturnStep((X, Y)),)


def test_proofs_of_assertions_and_forall_statements():
    by, every = steps("assert p(x) by { fact(x); } forall k | k in s ensures p(k) { fact(k); }")
    assert isinstance(by, AssertStep)
    assert by.by == (CallStep("fact", (X,)),)
    assert isinstance(every, ForallStep)
    assert (show(every.range), [show(claim) for claim in every.ensures]) == ("k in s", ["p(k)"])


def test_labels_and_reveal_leave_nothing():
    assert len(steps("assert here: x == x; reveal here;")) == 1


def calculation(text: str) -> CalcStep:
    (found,) = steps(text)
    assert isinstance(found, CalcStep)
    return found


@pytest.mark.parametrize(
    ("lines", "conclusion"),
    [
        ("x; y; 3;", "x == 3"),
        ("x; < y; == 3;", "x < 3"),
        ("x; <= y; < 3;", "x < 3"),
        ("x; != y; == 3;", "x != 3"),
        ("x; > y; >= 3;", "3 < x"),
        ("p(x); <==> p(y); ==> p(3);", "p(x) ==> p(3)"),
        ("p(x); <== p(y); == p(3);", "p(3) ==> p(x)"),
        ("p(x); == p(y); <==> p(3);", "p(x) == p(3)"),
        ("s; < s + {x}; <= s + {x, y};", "s < s + {x, y}"),
    ],
)
def test_what_a_calculation_gives(lines, conclusion):
    found = calculation(f"calc {{ {lines} }}")
    assert show(found.conclusion) == conclusion
    assert len(found.relations) == 2


def test_a_calculations_own_operator():
    found = calculation("calc <= { x; y; { fact(x); fact(y); } 3; }")
    assert [show(relation) for relation in found.relations] == ["x <= y", "y <= 3"]
    assert [len(hint) for hint in found.hints] == [0, 2]


def test_short_calculations_conclude_nothing():
    assert calculation("calc { }").conclusion is None
    assert calculation("calc { x; }").conclusion is None


@pytest.mark.parametrize(
    "lines",
    [
        "x; < y; > 3;",
        "x; != y; != 3;",
        "x; <= y; != 3;",
        "p(x); ==> p(y); <== p(3);",
        "x; < y; >= 3;",
        "s; <= s; != s;",
    ],
)
def test_relations_that_give_nothing_together(lines):
    (message,) = errors(f"calc {{ {lines} }}")
    assert "can't continue a calculation" in message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x := 3;", "x can't be assigned here: it is a parameter"),
        ("k := 3;", "unknown variable k"),
        ("var total := 1; totl := 2;", "unknown variable totl: did you mean total?"),
        ("var k := 1; var k := 2;", "k is declared twice"),
        ("var a, a := 1, 2;", "a is declared twice"),
        ("var k := fact(x);", "fact has 0 results, 1 taken"),
        ("two(x);", "two has 2 results, 0 taken"),
        ("p(x);", "p is not a lemma"),
        ("facct(x);", "unknown lemma facct: did you mean fact?"),
        ("fact(x, y);", "fact takes 1 argument, got 2"),
        ("fact(true);", "wrong type of argument 1 of fact: expected int, found bool"),
        ("if x { }", "wrong type of the condition of if: expected bool, found int"),
        ("assert x;", "wrong type of an assertion: expected bool, found int"),
        ("assume x == y;", "assume proves nothing: it is not accepted"),
        ("var k: int := true;", "wrong type of k: expected int, found bool"),
        ("var k := 1; k := 1.0;", "wrong type of k: expected int, found real"),
        ("var k := 1; assert true by { k := 2; }", "k can't be assigned here: it is declared outside of this proof"),
        ("var k := 1; calc { 1; { k := 2; } 1; }", "k can't be assigned here: it is declared outside of this proof"),
        ("var k := 1; forall j: int { k := j; }", "k can't be assigned here: it is declared outside of this proof"),
        ("forall j: int { j := 1; }", "j can't be assigned here: it is bound, not declared with var"),
        ("forall j: int { return; }", "return is not allowed inside a proof of one step"),
        ("return 1;", "0 results expected, got 1"),
        ("match l { case Nil => }", "missing case: Cons"),
        ("match l { case Nil => case Nil => case _ => }", "constructor Nil has a case already"),
        ("match l { case _ => case Nil => }", "this case is never reached"),
        ("match l { case Nil => case Cons(k) => }", "Cons has 2 fields, the case 1"),
        ("match l { case Nil => case Conss(a, b) => case _ => }", "List has no constructor Conss: did you mean Cons?"),
        ("assert fact(x) == 1;", "fact is a lemma: call it in a statement"),
    ],
)
def test_mistakes(body, message):
    assert message in errors(body)


def test_all_mistakes_are_told_in_the_order_of_the_text():
    assert errors("assert true && x; z := 1; assert fals; var k: nt := 1;") == [
        "wrong type of an operand of &&: expected bool, found int",
        "unknown variable z",
        "unknown name fals",
        "unknown type nt: did you mean nat?",
    ]


def test_names_stay_unique_in_a_body():
    found = lemma(
        """
        var k := x;
        if p(k) { var k := y; k := k + 1; forall k | p(k) ensures k == k { var k := 2; } } else { k := 3; }
        assert forall k :: p(k) ==> exists k :: p(k);
        """
    )
    names: list[str] = [var.name for var in defined(found.body)]
    for step in found.body:
        for node in subnodes(step):
            names.extend(var.name for var in getattr(node, "vars", ()))
    joined = {"k#4"}  # the common version that both arms define
    assert len(names) == len(set(names)) or {name for name in names if names.count(name) > 1} <= joined
