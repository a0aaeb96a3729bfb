"""Nothing proved is false: generated questions against trying values. It fails if any rewriting, encoding or strategy
loses a case."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

pytest.importorskip("z3")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxproof.formal.checkers.types import Limits, ObligationState
from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Builtin,
    Call,
    CoreFunction,
    CoreProgram,
    FunctionOf,
    Int,
    Invoke,
    Lambda,
    Let,
    Obligation,
    Op,
    Quant,
    Real,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, Function, NotComputable
from maxproof.formal.embedded.solve.solver import solve
from maxproof.formal.syntax.ast import NOWHERE

LIMITS = Limits(resource=400_000, seconds=2.0)
X, Y, N = Var("x", INT), Var("y", INT), Var("n", NAT)
R = Var("r", REAL)
B = Var("b", BOOL)
F = Var("f", FunctionOf((INT,), INT))
S = Var("s", SetOf(INT))
K = Var("k", INT)


def op(kind: Op, *args: Term, sort: Any = INT) -> Builtin:
    return Builtin(kind, args, sort)


def _double() -> CoreFunction:
    body = op(Op.MUL, Int(2), X)
    return CoreFunction("double", (X,), Var("double#", INT), (), (), (), body)


def _steps() -> CoreFunction:
    """steps(n) is n(n+1)/2, by recursion."""
    less = Call("steps", (op(Op.SUB, N, Int(1)),), NAT)
    body = op(Op.ITE, op(Op.LE, N, Int(0), sort=BOOL), Int(0), op(Op.ADD, N, less))
    return CoreFunction("steps", (N,), Var("steps#", NAT), (), (), (N,), body)


CORE = CoreProgram({}, {"double": _double(), "steps": _steps()}, {})


def integers(depth: int, bound: tuple[Var, ...] = ()) -> st.SearchStrategy[Term]:
    leaves = st.one_of(st.integers(-4, 7).map(Int), st.sampled_from((X, Y, N, *bound)), st.sampled_from((X, *bound)))
    if depth == 0:
        return leaves
    inner = integers(depth - 1, bound)
    divisor = st.sampled_from((1, 2, 3, 4, -2, -3, 5)).map(Int)
    return st.one_of(
        leaves,
        st.builds(lambda o, a, b: op(o, a, b), st.sampled_from((Op.ADD, Op.SUB, Op.MUL)), inner, inner),
        st.builds(lambda o, a, b: op(o, a, b), st.sampled_from((Op.DIV, Op.MOD)), inner, divisor),
        st.builds(lambda c, a, b: op(Op.ITE, c, a, b), booleans(depth - 1, bound), inner, inner),
        st.builds(lambda a: Invoke(F, (a,), INT), inner),
        st.builds(lambda a: Call("double", (a,), INT), inner),
        st.builds(lambda a: Call("steps", (op(Op.MOD, a, Int(4)),), NAT), inner),
        st.builds(
            lambda a: op(Op.FLOOR, op(Op.DIV, op(Op.TO_REAL, a, sort=REAL), Real(Fraction(2)), sort=REAL)), inner
        ),
        st.builds(lambda v, b: Let(Var("l", INT), v, op(Op.ADD, Var("l", INT), b)), inner, inner),
        st.builds(lambda b, a: Invoke(Lambda((K,), b, F.sort), (a,), INT), integers(depth - 1, (K,)), inner)
        if not bound
        else inner,
    )


def reals(depth: int) -> st.SearchStrategy[Term]:
    leaves: st.SearchStrategy[Term] = st.one_of(
        st.sampled_from((R,)), st.fractions(-2, 2, max_denominator=3).map(Real), st.just(op(Op.TO_REAL, X, sort=REAL))
    )
    if depth == 0:
        return leaves
    inner = reals(depth - 1)
    return st.one_of(
        leaves,
        st.builds(
            lambda o, a, b: op(o, a, b, sort=REAL), st.sampled_from((Op.ADD, Op.SUB, Op.MUL, Op.DIV)), inner, inner
        ),
    )


def sets(depth: int) -> st.SearchStrategy[Term]:
    low = integers(0)
    leaves: st.SearchStrategy[Term] = st.one_of(
        st.just(S), st.lists(integers(0), max_size=3).map(lambda items: op(Op.SET, *items, sort=S.sort))
    )
    comprehension = st.builds(
        lambda a, width, c: SetComp(
            (K,),
            op(
                Op.AND,
                op(Op.LE, a, K, sort=BOOL),
                op(Op.LT, K, op(Op.ADD, a, Int(width)), sort=BOOL),
                c,
                sort=BOOL,
            ),
            K,
            S.sort,
        ),
        low,
        st.integers(0, 4),
        booleans(0, (K,)),
    )
    if depth == 0:
        return leaves
    return st.one_of(
        leaves,
        comprehension,
        st.builds(
            lambda o, a, b: op(o, a, b, sort=S.sort),
            st.sampled_from((Op.UNION, Op.INTERSECT, Op.MINUS)),
            sets(depth - 1),
            sets(depth - 1),
        ),
    )


def booleans(depth: int, bound: tuple[Var, ...] = ()) -> st.SearchStrategy[Term]:
    compare = st.sampled_from((Op.EQ, Op.LE, Op.LT))
    atoms: st.SearchStrategy[Term] = st.one_of(
        st.just(B),
        st.builds(lambda o, a, b: op(o, a, b, sort=BOOL), compare, integers(min(depth, 1), bound), integers(0, bound)),
    )
    if depth == 0:
        return atoms
    inner = booleans(depth - 1, bound)
    choices = [
        atoms,
        st.builds(lambda a: op(Op.NOT, a, sort=BOOL), inner),
        st.builds(
            lambda o, a, b: op(o, a, b, sort=BOOL), st.sampled_from((Op.AND, Op.OR, Op.IMPLIES, Op.IFF)), inner, inner
        ),
    ]
    quantified = st.builds(
        lambda kind, low, width, body: _bounded(kind, low, width, body),
        st.sampled_from(("forall", "exists")),
        integers(0, bound),
        st.integers(0, 4),
        booleans(depth - 1, (K,)),
    )
    choices.append(quantified)  # under a quantifier it binds the same name again
    if not bound:
        choices += [
            st.builds(lambda o, a, b: op(o, a, b, sort=BOOL), compare, reals(1), reals(1)),
            st.builds(lambda a, s: op(Op.IN, a, s, sort=BOOL), integers(0), sets(1)),
            st.builds(
                lambda o, a, b: op(o, a, b, sort=BOOL),
                st.sampled_from((Op.EQ, Op.SUBSET, Op.DISJOINT, Op.PROPER_SUBSET)),
                sets(1),
                sets(1),
            ),
            st.builds(lambda s, a: op(Op.LE, op(Op.CARD, s, sort=NAT), a, sort=BOOL), sets(1), integers(0)),
            st.builds(lambda s, a: op(Op.EQ, op(Op.CARD, s, sort=NAT), a, sort=BOOL), sets(1), integers(0)),
        ]
    return st.one_of(choices)


def _bounded(kind: Any, low: Term, width: int, body: Term) -> Quant:
    """`low` may name an outer variable that is called as the bound one; then it is read as the bound one."""
    high = op(Op.ADD, low, Int(width))
    return Quant(kind, (K,), op(Op.AND, op(Op.LE, low, K, sort=BOOL), op(Op.LT, K, high, sort=BOOL), sort=BOOL), body)


def _tables() -> list[Function]:
    return [
        Function(lambda args: args[0]),
        Function(lambda args: 1 - args[0] * args[0]),
        Function(lambda args: 5 if args[0] == 2 else -args[0] % 3),
    ]


VARS = (X, Y, N, R, B, F, S)
DOMAIN: dict[str, list[Any]] = {
    "x": [-3, -1, 0, 1, 2, 5],
    "y": [-2, 0, 3],
    "n": [0, 1, 4],
    "r": [Fraction(-1), Fraction(0), Fraction(3, 2)],
    "b": [False, True],
    "f": _tables(),
    "s": [frozenset(), frozenset({0, 1}), frozenset({-3, 2, 5})],
}


def counterexamples(hypotheses: tuple[Term, ...], goal: Term) -> dict[str, Any] | None:
    """Values from the domain at which the hypotheses are true and the goal is false."""
    evaluator = Evaluator(CORE)
    names = [v.name for v in VARS]
    code = [evaluator.expression(t, names) for t in (*hypotheses, goal)]
    for values in product(*(DOMAIN[name] for name in names)):
        try:
            if all(c.value(values, Budget(steps=20_000)) for c in code[:-1]) and not code[-1].value(
                values, Budget(steps=20_000)
            ):
                return dict(zip(names, values, strict=True))
        except NotComputable:
            continue
    return None


@pytest.mark.parametrize("depth", [1, 2])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_nothing_proved_is_false(depth: int, data: st.DataObject) -> None:
    hypotheses = tuple(data.draw(st.lists(booleans(depth), max_size=3)))
    goal = data.draw(booleans(depth))
    given_ = (op(Op.LE, Int(0), N, sort=BOOL), *hypotheses)
    obligation = Obligation("assertion", NOWHERE, VARS, given_, goal, "", "L")
    result = solve(CORE, obligation, LIMITS)
    if result.state is ObligationState.PROVED:
        assert counterexamples(given_, goal) is None, result.method
