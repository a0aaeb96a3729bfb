"""Ranges from conditions hold every solution."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.embedded.core import BOOL, INT, NAT, REAL, Builtin, CoreProgram, Int, Op, Real, Sort, Term, Var
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, NotComputable

CORE = CoreProgram({}, {}, {})
X, Y, Z = Var("x", INT), Var("y", INT), Var("z", NAT)
SPAN = range(-7, 8)


def _both(op: Op, left: Term, right: Term, sort: Sort) -> Term:
    return Builtin(op, (left, right), sort)


def _square(term: Term) -> Term:
    return Builtin(Op.MUL, (term, term), INT)


TERMS = st.recursive(
    st.sampled_from([X, Y, Z]) | st.integers(-6, 6).map(Int),
    lambda inner: (
        st.builds(lambda op, a, b: _both(op, a, b, INT), st.sampled_from([Op.ADD, Op.SUB, Op.MUL]), inner, inner)
        | inner.map(_square)
        | inner.map(lambda term: Builtin(Op.NEG, (term,), INT))
        | st.builds(lambda a, d: _both(Op.DIV, a, Int(d), INT), inner, st.integers(1, 5))
        | st.builds(lambda a, d: _both(Op.MOD, a, Int(d), INT), inner, st.integers(1, 5))
    ),
    max_leaves=5,
)
CONDITIONS = st.recursive(
    st.builds(lambda op, a, b: _both(op, a, b, BOOL), st.sampled_from([Op.LE, Op.LT, Op.EQ]), TERMS, TERMS),
    lambda inner: (
        st.builds(lambda op, a, b: _both(op, a, b, BOOL), st.sampled_from([Op.AND, Op.OR, Op.IMPLIES]), inner, inner)
        | inner.map(lambda term: Builtin(Op.NOT, (term,), BOOL))
    ),
    max_leaves=4,
)


@given(st.lists(CONDITIONS, min_size=1, max_size=3))
@settings(max_examples=400, deadline=None)
def test_no_solution_is_cut_off(conditions: list[Term]) -> None:
    evaluator = Evaluator(CORE)
    evaluator.start(Budget())
    scene = evaluator.scene((X, Y, Z), conditions)
    box = scene.domain.box(scene.frame)
    possible = scene.domain.narrowed(box)
    for x, y, z in itertools.product(SPAN, SPAN, range(8)):
        scene.frame[:3] = [x, y, z]
        try:
            if not all(check(scene.frame) for check in scene.checks):
                continue
        except NotComputable:
            continue
        assert possible
        for value, (low, high) in zip((x, y, z), box.ranges, strict=True):
            assert low is None or low <= value
            assert high is None or value <= high


@given(st.lists(CONDITIONS, min_size=1, max_size=2))
@settings(max_examples=150, deadline=None)
def test_candidates_hold_every_solution(conditions: list[Term]) -> None:
    evaluator = Evaluator(CORE)
    try:
        found = evaluator.candidates((X, Y, Z), conditions, Budget(steps=100_000), 2000)
    except NotComputable:
        return
    if found is None:
        return
    scene = evaluator.scene((X, Y, Z), conditions)
    for values in itertools.product(SPAN, SPAN, range(8)):
        scene.frame[:3] = values
        try:
            solves = all(check(scene.frame) for check in scene.checks)
        except NotComputable:
            continue
        assert not solves or values in found


A, B = Var("a", REAL), Var("b", REAL)
REAL_TERMS = st.recursive(
    st.sampled_from([A, B]) | st.fractions(-4, 4, max_denominator=3).map(Real),
    lambda inner: (
        st.builds(lambda op, a, b: _both(op, a, b, REAL), st.sampled_from([Op.ADD, Op.SUB, Op.MUL]), inner, inner)
        | inner.map(lambda term: Builtin(Op.MUL, (term, term), REAL))
        | st.builds(lambda a, d: _both(Op.DIV, a, Real(Fraction(d)), REAL), inner, st.integers(1, 4))
    ),
    max_leaves=5,
)


@given(
    st.lists(
        st.builds(
            lambda op, a, b: _both(op, a, b, BOOL), st.sampled_from([Op.LE, Op.LT, Op.EQ]), REAL_TERMS, REAL_TERMS
        ),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=300, deadline=None)
def test_no_real_solution_is_cut_off(conditions: list[Term]) -> None:
    evaluator = Evaluator(CORE)
    evaluator.start(Budget())
    scene = evaluator.scene((A, B), conditions)
    box = scene.domain.box(scene.frame)
    possible = scene.domain.narrowed(box)
    points = [Fraction(n, d) for n in range(-6, 7) for d in (1, 2, 3)]
    for a, b in itertools.product(points, points):
        scene.frame[:2] = [a, b]
        if all(check(scene.frame) for check in scene.checks):
            assert possible
            for value, (low, high) in zip((a, b), box.ranges, strict=True):
                assert low is None or low <= value
                assert high is None or value <= high


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([_both(Op.LE, _square(X), Int(9), BOOL)], [(x,) for x in range(-3, 4)]),
        ([_both(Op.LT, Int(3), X, BOOL), _both(Op.LE, X, Int(5), BOOL)], [(4,), (5,)]),
        ([_both(Op.EQ, _both(Op.MOD, Int(6), X, INT), Int(0), BOOL)], [(x,) for x in range(-6, 7)]),
        ([_both(Op.EQ, _both(Op.ADD, _both(Op.MUL, Int(3), X, INT), Int(1), INT), Int(7), BOOL)], [(2,)]),
    ],
)
def test_what_is_found(conditions: list[Term], expected: list[tuple[int]]) -> None:
    assert Evaluator(CORE).candidates((X,), conditions, Budget(), 100) == expected
