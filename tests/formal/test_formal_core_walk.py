"""Walks over core terms: substitution never captures, rebuilding keeps everything, free variables in order."""

import pytest

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    Bool,
    Branch,
    Builtin,
    CalcStep,
    CallStep,
    Choose,
    ChooseStep,
    Define,
    ForallStep,
    FunctionOf,
    Int,
    Invoke,
    Lambda,
    Let,
    Op,
    Proved,
    Quant,
    ReturnStep,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.steps import AssertStep
from maxproof.formal.embedded.core.walk import (
    binders,
    children,
    conjunction,
    defined,
    disjunction,
    free_variables,
    fresh_name,
    rebuild,
    subnodes,
    substitute,
    transform,
)

X, Y, Z = (Var(name, INT) for name in "xyz")


def less(a: Term, b: Term) -> Builtin:
    return Builtin(Op.LT, (a, b), BOOL)


def add(a: Term, b: Term) -> Builtin:
    return Builtin(Op.ADD, (a, b), INT)


FUN = FunctionOf((INT,), INT)
NODES = [
    Quant("forall", (X,), less(X, Y), less(Y, X), ((add(X, Y), X), (Y,))),
    SetComp((X, Y), less(X, Z), add(X, Y), SetOf(INT)),
    Let(X, add(Y, Z), less(X, Z)),
    Choose((X, Y), less(X, Y), add(X, Y)),
    Lambda((X,), add(X, Y), FUN, less(X, Z)),
    Invoke(Lambda((X,), X, FUN), (Y,), INT),
    Proved((AssertStep(less(Y, Z), (AssertStep(Bool(True)),)), Define(X, Y)), add(X, X)),
    AssertStep(less(X, Y)),
    CalcStep((X, Y, Z), (less(X, Y), less(Y, Z)), ((AssertStep(less(Z, X)),), ()), less(X, Z)),
    CalcStep((X,), (), (), None),
    ForallStep((X,), less(X, Y), (less(Y, X), less(Z, X)), (AssertStep(less(X, Z)), CallStep("l", (X, Y)))),
    Branch(
        ((less(Y, Z), (), (AssertStep(Bool(True)),)), (less(X, Y), (X,), (CallStep("l", (X,)),))), (ReturnStep((Y,)),)
    ),
    Branch(((less(Y, Z), (), ()),), None, exclusive=False),
    ChooseStep((X, Y), less(X, Y)),
    CallStep("l", (Y, Z), (X,)),
    ReturnStep((X, Y)),
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_a_node_rebuilt_from_its_children_is_itself(node):
    assert rebuild(node, children(node)) == node


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_every_child_takes_part(node):
    """Each child replaced alone gives a different node, with the others as they were."""
    parts = children(node)
    for place in range(len(parts)):
        changed = list(parts)
        changed[place] = Int(77) if not hasattr(parts[place], "by") else AssertStep(Int(77))
        again = rebuild(node, changed)
        assert again != node
        assert list(children(again)) == changed


def test_free_variables_are_in_order_of_first_use_and_bound_ones_are_left_out():
    term = Quant("exists", (X,), less(Z, X), less(X, Y))
    assert free_variables(term) == (Z, Y)
    assert free_variables(Let(X, add(X, Y), X)) == (X, Y)
    assert free_variables(Proved((Define(X, Z),), add(X, Y))) == (Z, Y)


def test_substitution_is_simultaneous():
    assert substitute(add(X, Y), {"x": Y, "y": X}) == add(Y, X)


def test_a_bound_variable_is_not_replaced():
    term = Quant("forall", (X,), Bool(True), less(X, Y))
    assert substitute(term, {"x": Int(1)}) == term


@pytest.mark.parametrize(
    "term",
    [
        Quant("forall", (X,), Bool(True), less(X, Y), ((add(X, Y),),)),
        Lambda((X,), add(X, Y), FUN),
        SetComp((X,), less(X, Y), X, SetOf(INT)),
        Choose((X,), less(X, Y), X),
        Let(X, Int(1), add(X, Y)),
        Proved((Define(X, Int(1)), CallStep("l", (), (Z,))), add(add(X, Y), Z)),
    ],
    ids=lambda term: type(term).__name__,
)
def test_substitution_does_not_capture(term):
    replaced = substitute(term, {"y": add(X, Z)})
    assert {var.name for var in free_variables(replaced)} == {"x", "z"}
    assert not {"x"} & {var.name for var in binders(replaced)}
    assert free_variables(replaced) == (X, Z)


def test_a_let_value_is_outside_the_scope_of_its_variable():
    assert substitute(Let(X, add(X, Y), X), {"x": Int(3)}) == Let(X, add(Int(3), Y), X)


def test_a_renamed_variable_avoids_names_that_are_used_further_down():
    inner = Quant("exists", (Var("x#1", INT),), Bool(True), less(X, Var("x#1", INT)))
    term = Quant("forall", (X,), less(X, Y), inner)
    replaced = substitute(term, {"y": X})
    assert replaced.vars[0].name == "x#2"
    assert free_variables(replaced) == (X,)


def test_steps_are_renamed_together_with_what_uses_them():
    steps = (Define(X, Y), Branch(((less(X, Y), (), (Define(Z, X),)),), (Define(Z, Y),)), AssertStep(less(Z, X)))
    new = substitute(Proved(steps, Bool(True)), {"y": add(X, Z)}).statements
    assert {var.name for var in defined(new)} == {"x#1", "z#1"}
    assert new[2] == AssertStep(less(Var("z#1", INT), Var("x#1", INT)))
    assert new[0] == Define(Var("x#1", INT), add(X, Z))


def test_transform_reaches_the_terms_inside_proofs():
    term = Proved((AssertStep(less(X, Int(1))),), X)
    one_more = transform(term, lambda t: Int(t.value + 1) if isinstance(t, Int) else t)
    assert one_more == Proved((AssertStep(less(X, Int(2))),), X)


def test_conjunctions_and_disjunctions_are_flat_and_drop_what_says_nothing():
    a, b, c = less(X, Y), less(Y, Z), less(Z, X)
    assert conjunction([]) == Bool(True)
    assert disjunction([]) == Bool(False)
    assert conjunction([Bool(True), a]) == a
    assert conjunction([a, conjunction([b, c])]) == Builtin(Op.AND, (a, b, c), BOOL)
    assert conjunction([a, Bool(False)]) == Builtin(Op.AND, (a, Bool(False)), BOOL)
    assert disjunction([a, Bool(False), b]) == Builtin(Op.OR, (a, b), BOOL)


def test_fresh_names_keep_the_name_the_user_gave():
    assert fresh_name("x", ["y"]) == "x#1"
    assert fresh_name("x#1", ["x#1", "x#2"]) == "x#3"


def test_subnodes_come_in_the_order_of_the_text():
    assert [node for node in subnodes(add(add(X, Y), Z)) if isinstance(node, Var)] == [X, Y, Z]


def test_deep_terms_are_walked():
    term: Term = X
    for _ in range(600):
        term = add(term, Int(1))
    assert free_variables(substitute(term, {"x": Y})) == (Y,)
