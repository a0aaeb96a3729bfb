"""The symbolic prover's strategies: what they propose is accepted by the checker, and what is false is not proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.formal.checkers.types import CheckState, Limits
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.algebra import algebra
from maxproof.formal.prover.cases import cases, factor_splits, integer_bounds
from maxproof.formal.prover.certificates import combination, contradiction, plain
from maxproof.formal.prover.compute import compute
from maxproof.formal.prover.induction import induction
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.library import library
from maxproof.formal.prover.minimise import minimised
from maxproof.formal.prover.polynomials import System, conjuncts
from maxproof.formal.prover.question import Proposal, Question, Strategy, question_of
from maxproof.formal.prover.strategies import STRATEGIES
from maxproof.formal.solution.check import solution_task
from maxproof.formal.syntax.ast import Lemma
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=5_000_000)


def lemma(text: str) -> Lemma:
    (declaration,) = parse_program(text).declarations
    assert isinstance(declaration, Lemma)
    return declaration


def question(text: str) -> Question:
    found = lemma(text)
    return question_of(FormalProblem(found), resolve(assemble([found], (found.name,)).program))


def accepted(text: str, proposal: Proposal) -> bool:
    task = solution_task(FormalProblem(lemma(text)), proposal.submission)
    return check_here(task, LIMITS).state is CheckState.PROVED


PROVED: list[tuple[Strategy, str]] = [
    (algebra, "lemma a(x: real, y: real) requires x + y == 7.0 && x * y == 10.0 && x < y ensures x == 2.0 {}"),
    (algebra, "lemma a(f: real -> real) requires forall x: real :: f(x + 1.0) == 2.0 * f(x) requires f(0.0) == 3.0 "
              "ensures f(4.0) == 48.0 {}"),
    (algebra, "lemma a(x: real, y: real) ensures x * x + y * y >= 2.0 * x * y {}"),
    (algebra, "lemma a(x: real, y: real, z: real) requires x > 0.0 && y > 0.0 && z > 0.0 "
              "ensures 9.0 * x * y * z <= (x + y + z) * (x * y + y * z + z * x) {}"),
    (algebra, "lemma a(x: real) requires x >= 0.0 && sqrt(x) == 3.0 ensures x == 9.0 {}"),
    (algebra, "lemma a(n: int) requires n * n == 49 && n > 0 ensures n == 7 {}"),
    (cases, "lemma a(x: real) requires x * x - 5.0 * x + 6.0 == 0.0 ensures x == 2.0 || x == 3.0 {}"),
    (cases, "lemma a(n: int) requires 0 <= n < 7 && n * n % 7 == 2 ensures n == 3 || n == 4 {}"),
    (compute, "lemma a() ensures gcd(180, 168) == 12 && factorial(5) == 120 {}"),
    (compute, "lemma a() ensures isum(1, 5, (k: int) => k * k) == 30 {}"),
    (induction, "lemma a(n: nat) ensures 2 * isum(0, n + 1, (k: int) => k) == n * (n + 1) {}"),
    (induction, "lemma a(n: nat) requires n >= 4 ensures ipow(2, n) >= n * n {}"),
    (library, "lemma a(x: real) requires x >= 0.0 && sqrt(x) == 3.0 ensures x == 9.0 {}"),
]  # fmt: skip


@pytest.mark.parametrize(("strategy", "text"), PROVED, ids=[f"{s.__name__}-{i}" for i, (s, _) in enumerate(PROVED)])
def test_a_strategy_proposes_an_accepted_proof(strategy: Strategy, text: str) -> None:
    proposals = list(strategy(question(text)))
    assert proposals
    assert any(accepted(text, proposal) for proposal in proposals)


FALSE = [
    "lemma a(x: real, y: real) requires x + y == 7.0 && x * y == 10.0 ensures x == 2.0 {}",
    "lemma a(x: real, y: real) ensures x * x + y * y > 2.0 * x * y {}",
    "lemma a(n: int) requires n * n == 49 ensures n == 7 {}",
    "lemma a(n: int) requires 0 <= n < 7 && n * n % 7 == 2 ensures n == 3 {}",
    "lemma a(n: nat) ensures ipow(2, n) >= n * n {}",
    "lemma a() ensures gcd(180, 168) == 6 {}",
]


@pytest.mark.parametrize("text", FALSE)
def test_what_is_false_is_not_proved_by_any_proposal(text: str) -> None:
    asked = question(text)
    for strategy in STRATEGIES:
        assert not any(accepted(text, proposal) for proposal in strategy(asked))


COEFFICIENT = st.integers(-3, 3)


@st.composite
def linear_systems(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    rows = draw(st.lists(st.lists(COEFFICIENT, min_size=4, max_size=4), min_size=1, max_size=4))
    weights = draw(st.lists(COEFFICIENT, min_size=len(rows), max_size=len(rows)))
    return rows, weights


def sides(row: list[int]) -> str:
    a, b, c, d = row
    return f"{a} * x + {b} * y * y + {c} * x * y == {d}"


@settings(max_examples=40, deadline=None)
@given(linear_systems())
def test_a_combination_is_found_and_adds_up(case: tuple[list[list[int]], list[int]]) -> None:
    rows, weights = case
    wanted = [sum(w * row[i] for w, row in zip(weights, rows, strict=True)) for i in range(4)]
    text = f"lemma a(x: int, y: int) requires {' && '.join(map(sides, rows))} ensures {sides(wanted)} {{}}"
    asked = question(text)
    system = System((*asked.hypotheses, *asked.goals))
    facts = [plain(fact) for fact in system.facts(asked.hypotheses)]
    goal = system.fact(asked.conclusions[0])
    assert goal is not None
    assert combination(facts, goal.poly) is not None
    off = goal.poly + system.ring(1)
    used = combination(facts, off)
    assert used is None or all(summand in facts for summand in used)


def test_no_contradiction_from_what_can_hold() -> None:
    asked = question("lemma a(x: real, y: real) requires x >= 1.0 && y >= 2.0 && x + y >= 3.0 ensures x == y {}")
    system = System(asked.hypotheses)
    assert contradiction([plain(fact) for fact in system.facts(asked.hypotheses)]) is None
    asked = question("lemma a(x: real, y: real) requires x >= 1.0 && y >= 2.0 && x + y < 3.0 ensures x == y {}")
    system = System(asked.hypotheses)
    used = contradiction([plain(fact) for fact in system.facts(asked.hypotheses)])
    assert used is not None
    assert len(used) == 3


def test_bounds_and_factors() -> None:
    asked = question("lemma a(n: int, m: int) requires 2 * n > 5 && 3 * n <= 20 && n * m - m == 0 ensures n == m {}")
    system = System(asked.hypotheses)
    facts = system.facts(asked.hypotheses)
    (bounds,) = integer_bounds(system, facts).values()
    assert bounds == (3, 6)
    (split,) = factor_splits(system, facts)
    assert sorted(case.condition for case in split.cases) == ["(m) == 0", "(n - 1) == 0"]


def test_terms_are_simplified() -> None:
    asked = question(
        "lemma a(n: int, f: int -> int) ensures f(n + 3 - 1) == f(2 * 3 - 6) && ((k: int) => k + 1)(4) == n {}"
    )
    shown = [simplified(part) for part in conjuncts(asked.goals[0])]
    first, second = shown
    assert "n + 2" in repr_of(first)
    assert "f(0)" in repr_of(first)
    assert repr_of(second) == "5 == n"


def repr_of(term: object) -> str:
    from maxproof.formal.embedded.core.show import show

    return show(term)  # type: ignore[arg-type]


def test_conjuncts_are_flat() -> None:
    asked = question("lemma a(x: int) ensures x == 1 && (x == 2 && x == 3) {}")
    assert len(list(conjuncts(asked.goals[0]))) == 3


@given(st.sets(st.integers(0, 11)), st.integers(0, 40))
async def test_minimised_keeps_what_is_needed(needed: set[int], checks: int) -> None:
    lines = tuple(str(number) for number in range(12))
    asked: list[tuple[str, ...]] = []

    async def accepts(part: tuple[str, ...]) -> bool:
        asked.append(part)
        return all(str(number) in part for number in needed)

    kept = await minimised(lines, accepts, checks)
    assert all(str(number) in kept for number in needed)
    assert len(asked) <= checks
    if checks == 40:
        assert kept == tuple(str(number) for number in sorted(needed))


def test_proposals_are_the_same_every_time() -> None:
    text = PROVED[3][1]

    def made() -> Iterator[tuple[str, ...]]:
        for strategy in STRATEGIES:
            yield from (proposal.lines for proposal in strategy(question(text)))

    assert list(made()) == list(made())


async def test_a_guard_that_is_not_needed_goes() -> None:
    async def accepts(part: tuple[str, ...]) -> bool:
        return part in ((needed, guarded), (needed, "double(n);"))

    needed, guarded = "if n > 0 { half(n - 1); }", "if n >= 0 && n < 9 { double(n); }"
    assert await minimised((needed, guarded), accepts, 20) == (needed, "double(n);")
