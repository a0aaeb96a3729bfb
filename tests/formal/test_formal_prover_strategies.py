"""Sets, logarithms, closed forms, bounds, divisors, differences: accepted proofs, and nothing false proved."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Poly, Symbol

from maxproof.formal.checkers.types import CheckState, Limits
from maxproof.formal.embedded.checker import EmbeddedChecker, check_here
from maxproof.formal.embedded.core import REAL, Builtin, Call, Int, Op, Real, Var
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.bounds import bounds
from maxproof.formal.prover.cases import cases
from maxproof.formal.prover.closed_forms import Recurrence, closed_forms, polynomial_form
from maxproof.formal.prover.divisibility import divisibility
from maxproof.formal.prover.generate import generated
from maxproof.formal.prover.library import Evident
from maxproof.formal.prover.logarithms import logarithms
from maxproof.formal.prover.numerics import approximate
from maxproof.formal.prover.opened import opened
from maxproof.formal.prover.polynomials import System, factors_of
from maxproof.formal.prover.question import Proposal, Question, Strategy, dafny, ground_nodes, question_of
from maxproof.formal.prover.radicals import radicals
from maxproof.formal.prover.search import ProverSettings, SymbolicProver
from maxproof.formal.prover.sets import low_roots, sets
from maxproof.formal.prover.strategies import STRATEGIES
from maxproof.formal.solution.check import solution_task
from maxproof.formal.syntax.ast import Lemma
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=5_000_000)
SHORT = Limits(resource=500_000)


def problem(text: str) -> FormalProblem:
    (declaration,) = parse_program(text).declarations
    assert isinstance(declaration, Lemma)
    return FormalProblem(declaration)


def question(text: str) -> Question:
    asked = problem(text)
    return question_of(asked, resolve(assemble([asked.lemma], (asked.name,)).program))


def accepted(text: str, proposal: Proposal, limits: Limits = LIMITS) -> bool:
    return check_here(solution_task(problem(text), proposal.submission), limits).state is CheckState.PROVED


PROVED: list[tuple[Strategy, str]] = [
    (sets, "lemma a(s: set<int>) requires forall x: int :: x in s <==> 0 <= x && x * x < 20 ensures |s| == 5 {}"),
    (sets, "lemma a(s: set<int>) requires forall x: int :: x in s ==> x >= 0 "
           "requires forall n: nat :: n in s <==> 2.0 < sqrt(n as real) && sqrt(n as real) < 3.0 ensures |s| == 4 {}"),
    (sets, "lemma a(s: set<real>) requires forall x: real :: x in s <==> rabs(x - 1.0) == 4.0 "
           "ensures rset_rsum(s, (x: real) => x) == 2.0 {}"),
    (sets, "lemma a(f: real -> real, s: set<real>) requires forall x: real :: x < 0.0 ==> f(x) == x * x "
           "requires forall x: real :: x >= 0.0 ==> f(x) == 2.0 * x requires forall x: real :: x in s <==> f(x) == 9.0 "
           "ensures rset_rsum(s, (x: real) => x) == 1.5 {}"),
    (logarithms, "lemma a() ensures rdiv(log(125.0), log(5.0)) == 3.0 {}"),
    (logarithms, "lemma a(x: real, y: real) requires 0.0 < x && 0.0 < y && log(x * y) == 3.0 && log(x * x * y) == 5.0 "
                 "ensures log(x) == 2.0 {}"),
    (logarithms, "lemma a(x: real) requires rpow(3.0, x) * rpow(9.0, x) == 27.0 ensures x == 1.0 {}"),
    (closed_forms, "lemma a(u: int -> real, x: real) requires forall n: nat :: u(n + 2) - u(n + 1) == u(n + 1) - u(n) "
                   "requires u(0) == x && u(1) == x + 3.0 ensures u(200) == x + 600.0 {}"),
    (closed_forms, "lemma a(u: int -> int, n: nat) requires forall k: int :: k >= 1 ==> u(k + 1) == u(k) + 4 "
                   "requires u(1) == 2 && n >= 1 && u(n) == 802 ensures n == 201 {}"),
    (bounds, "lemma a(x: nat, y: nat) requires ipow(2, x) * ipow(5, y) == 500 ensures x + y == 5 {}"),
    (bounds, "lemma a(x: nat, y: nat) requires x * x + y * y == 130 && x < y ensures x == 3 || x == 7 {}"),
    (divisibility, "lemma a(n: nat) requires n > 0 ensures gcd(n + 3, 3 * n + 2) <= 7 {}"),
    (divisibility, "lemma a(m: int, x: int) requires 8 <= m <= 40 && (4 * x) % m == 1 && (x - 5) % m == 0 "
                   "ensures m == 19 {}"),
    (divisibility, "lemma a(x: int, y: int, z: int) requires x + y + z == 0 "
                   "ensures divides(x * y * z, x * x * x + y * y * y + z * z * z) {}"),
    (radicals, "lemma a() ensures sqrt(7.0 + 4.0 * sqrt(3.0)) == 2.0 + sqrt(3.0) {}"),
    (radicals, "lemma a() ensures rpow(11.0 + 6.0 * sqrt(2.0), 1.5) + rpow(11.0 - 6.0 * sqrt(2.0), 1.5) == 90.0 {}"),
    (opened, "lemma a(y: real) requires y > 2.0 ensures forall x: real :: x > 3.0 ==> x * y > 6.0 && x + y > 5.0 {}"),
    (opened, "lemma a(x: real) ensures x * x - 5.0 * x + 6.0 == 0.0 <==> x == 2.0 || x == 3.0 {}"),
    (opened, "lemma a(n: int) requires exists k: int :: k > 1 && n == k * k * k - k ensures n >= 6 {}"),
    (cases, "lemma a(a: nat, b: nat, c: real) requires a != b && prime(a) && prime(b) && a as real * a as real - "
            "15.0 * a as real + c == 0.0 && b as real * b as real - 15.0 * b as real + c == 0.0 ensures c == 26.0 {}"),
]  # fmt: skip


@pytest.mark.parametrize(("strategy", "text"), PROVED, ids=[f"{s.__name__}-{i}" for i, (s, _) in enumerate(PROVED)])
def test_a_strategy_proposes_an_accepted_proof(strategy: Strategy, text: str) -> None:
    proposals = list(strategy(question(text)))
    assert any(accepted(text, proposal) for proposal in proposals)


FALSE = [
    "lemma a(s: set<int>) requires forall x: int :: x in s <==> 0 <= x && x * x < 20 ensures |s| == 6 {}",
    "lemma a(s: set<real>) requires forall x: real :: x in s <==> rabs(x - 1.0) == 4.0 ensures 3.0 in s {}",
    "lemma a(x: real, y: real) requires log(x * y) == 3.0 && log(x) == 2.0 ensures log(y) == 2.0 {}",
    "lemma a(x: nat, y: nat) requires ipow(2, x) * ipow(5, y) == 500 ensures x + y == 4 {}",
    "lemma a(n: nat) requires n > 0 ensures gcd(n + 3, 3 * n + 2) <= 5 {}",
    "lemma a(x: int, y: int) ensures divides(x + y, x * x + y * y) {}",
    "lemma a() ensures sqrt(7.0 - 4.0 * sqrt(3.0)) == sqrt(3.0) - 2.0 {}",
    "lemma a(y: real) ensures forall x: real :: x > 3.0 ==> x * y > 6.0 {}",
    "lemma a(u: int -> int) requires forall k: int :: k >= 1 ==> u(k + 1) == u(k) + 4 requires u(1) == 2 "
    "ensures u(0) == -2 {}",
]


@pytest.mark.parametrize("text", FALSE)
def test_what_is_false_is_not_proved_by_any_proposal(text: str) -> None:
    asked = question(text)
    for strategy in (sets, logarithms, radicals, closed_forms, bounds, divisibility, opened):
        assert not any(accepted(text, proposal, SHORT) for proposal in strategy(asked))


WEIGHT = st.integers(-3, 3).map(Fraction)


@given(st.lists(WEIGHT, min_size=1, max_size=3), WEIGHT, st.lists(WEIGHT, min_size=3, max_size=3), st.integers(-2, 3))
def test_closed_forms_have_the_terms_of_the_recurrence(
    weights: list[Fraction], constant: Fraction, first: list[Fraction], start: int
) -> None:
    if weights[0] == 0:
        return
    found = Recurrence(Var("f", REAL), start, tuple(weights), constant, Int(0))
    forms = polynomial_form(found)
    if forms is None:
        return
    terms = first[: len(weights)]
    while len(terms) < 20:
        last = terms[-len(weights) :]
        terms.append(constant + sum((w * t for w, t in zip(weights, last, strict=True)), Fraction(0)))
    for k, term in enumerate(terms):
        symbols = [*terms[: len(weights)], Fraction(1)]
        assert term == sum(
            (value(form, start + k) * symbol for form, symbol in zip(forms, symbols, strict=True)), Fraction(0)
        )


def value(coefficients: Sequence[Fraction], at: int) -> Fraction:
    return sum((c * at**power for power, c in enumerate(coefficients)), Fraction(0))


def test_geometric_sequences_have_no_polynomial_form() -> None:
    assert polynomial_form(Recurrence(Var("f", REAL), 0, (Fraction(2),), Fraction(0), Int(0))) is None


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=3, max_size=5))
def test_roots_of_low_degree_factors_are_roots(coefficients: list[int]) -> None:
    x = Symbol("x")
    poly = Poly(coefficients, x)
    if poly.degree() < 1:
        return
    for root in low_roots(poly):
        at = approximate(root, {})
        assert at is not None
        assert abs(float(poly.eval(at))) < 1e-6


def test_floating_point_values_follow_the_library() -> None:
    x = Var("x", REAL)
    assert approximate(Call("sqrt", (x,), REAL), {"x": -4.0}) == 0.0
    assert approximate(Call("rdiv", (x, Real(Fraction(0))), REAL), {"x": 3.0}) == 0.0
    assert approximate(Call("unheard_of", (x,), REAL), {"x": 3.0}) is None
    assert approximate(Call("exp", (x,), REAL), {"x": 1e9}) is None


def test_factors_multiply_up() -> None:
    text = "lemma a(x: real, y: real, z: real) requires (x - y) * (x + y) * (x + y) == 0.0 ensures z == x {}"
    asked = question(text)
    system = System((*asked.hypotheses, *asked.goals))
    (fact,) = system.facts(asked.hypotheses)
    product = system.ring(1)
    for factor, times in factors_of(fact.poly):
        product *= factor**times
    assert product in (fact.poly, -fact.poly)
    assert factors_of(system.ring(3)) == []


def test_evident_comparisons() -> None:
    asked = question("lemma a(x: real, n: nat, y: real) requires 0.0 < x && 2 <= n ensures x * n as real > y {}")
    evident = Evident(asked)
    x, n, y = asked.lemma.params
    cast = Builtin(Op.TO_REAL, (n,), REAL)
    assert evident.positive(Builtin(Op.MUL, (x, cast), REAL))
    assert evident.positive(Call("rpow", (x, y), REAL))
    assert not evident.positive(y)
    assert not evident.positive(Builtin(Op.SUB, (x, x), REAL))


def test_terms_with_bound_variables_are_not_ground() -> None:
    asked = question("lemma a(n: int) ensures isum(0, n, (k: int) => factorial(k)) >= factorial(n) {}")
    calls = [show(node) for node in ground_nodes(asked.goals) if isinstance(node, Call) and node.name == "factorial"]
    assert calls == ["factorial(n)"]


def test_renamed_bound_variables_are_readable() -> None:
    assert dafny("forall x#1: int :: f(x#1, x#12)") == "forall x_1: int :: f(x_1, x_12)"


def test_generation_is_bounded_and_cheapest_first() -> None:
    asked = problem(PROVED[0][1])
    for strategy in STRATEGIES:
        made = generated(asked, strategy, 2)
        assert len(made) <= 2
        assert [proposal.cost for proposal in made] == sorted(proposal.cost for proposal in made)


def hangs(_: Question) -> list[Proposal]:
    while True:
        pass


def raises(_: Question) -> list[Proposal]:
    raise ZeroDivisionError


async def test_a_strategy_that_hangs_or_fails_costs_its_proposals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maxproof.formal.prover.search.GENERATION_SECONDS", 5.0)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    asked = problem("lemma a() ensures rdiv(log(125.0), log(5.0)) == 3.0 {}")
    checker = EmbeddedChecker(1)
    try:
        prover = SymbolicProver(checker, LIMITS, ProverSettings(checks=6), (hangs, raises, logarithms))
        attempt = await prover.attempt(asked, 0)
    finally:
        await checker.aclose()
    assert attempt.accepted
    assert "log" in attempt.solution
