"""Strategies that write steps out for Dafny: it accepts what they propose, and refuses it for false statements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from formal_dafny import needs_dafny

from maxproof.formal.checkers.choose import open_checker
from maxproof.formal.checkers.types import Limits
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.compute import compute, isolated
from maxproof.formal.prover.finite import finite
from maxproof.formal.prover.question import Helper, Proposal, Question, Strategy, question_of
from maxproof.formal.prover.residues import residues
from maxproof.formal.prover.search import SymbolicProver
from maxproof.formal.prover.trace import Writer
from maxproof.formal.solution.check import check_solution
from maxproof.formal.syntax.ast import Lemma
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=None, seconds=10.0, wall_seconds=60.0)


def question(text: str) -> Question:
    (declaration,) = parse_program(text).declarations
    assert isinstance(declaration, Lemma)
    return question_of(FormalProblem(declaration), resolve(assemble([declaration], (declaration.name,)).program))


CASES: list[tuple[Strategy, str]] = [
    (residues, "lemma a(x: int, y: int) requires x % 11 == 3 && y % 11 == 5 ensures (x * x * y + 1) % 11 == 2 {}"),
    (residues, "lemma a() ensures ipow(3, 123456789) % 13 == 1 {}"),
    (residues, "lemma a(n: nat) ensures (ipow(3, n) + 1) % 13 != 0 {}"),
    (residues, "lemma a(x: int, y: int) ensures x * x != 3 * y + 2 {}"),
    (compute, "lemma a() ensures isum(0, 60, (k: int) => k * k) % 7 == 0 {}"),
    (compute, "lemma a() ensures |set x: int | 10 <= x < 120 && x % 9 == 4| == 12 {}"),
    (compute, "lemma a() ensures set_isum(divisors(60), (k: int) => k) == 168 {}"),
    (compute, "lemma a(v: int -> int) requires forall n: nat :: v(n) == 3 * n + 1 "
              "ensures isum(0, 120, (k: int) => v(k)) == 21540 {}"),
    (isolated, "lemma a(z: complex, w: complex) "
               "requires z == csub(Complex(3.0, 0.0), cmul(Complex(3.0, 0.0), Complex(0.0, 1.0))) "
               "requires w == cadd(Complex(4.0, 0.0), cmul(Complex(4.0, 0.0), Complex(0.0, 1.0))) "
               "ensures cmul(z, w) == Complex(24.0, 0.0) {}"),
    (finite, "lemma a(k: nat) requires k > 0 requires forall n: nat :: gcd(4 * n + k + 1, 4 * n + 2) == 1 "
             "ensures k >= 2 {}"),
]  # fmt: skip


@needs_dafny
@pytest.mark.parametrize(("strategy", "text"), CASES, ids=[f"{s.__name__}-{i}" for i, (s, _) in enumerate(CASES)])
def test_dafny_accepts_the_first_proposal_and_not_the_empty_proof(strategy: Strategy, text: str) -> None:
    asked = question(text)

    async def verdicts() -> tuple[bool, bool]:
        async with open_checker("dafny-2.3", workers=1) as checker:
            first = next(strategy(asked))
            empty = await check_solution(asked.problem, "{}", checker, Limits(resource=None, seconds=2.0))
            proved = await check_solution(asked.problem, first.submission, checker, LIMITS)
            return empty.accepted, proved.accepted

    assert asyncio.run(verdicts()) == (False, True)


FALSE = [
    (residues, "lemma a(x: int) requires x % 11 == 3 ensures (x * x) % 11 == 8 {}"),
    (residues, "lemma a() ensures ipow(3, 123456789) % 13 == 2 {}"),
    (compute, "lemma a() ensures isum(0, 10, (k: int) => k) == 46 {}"),
]


@needs_dafny
def test_dafny_refuses_every_proposal_for_a_false_statement() -> None:
    async def accepted() -> list[str]:
        async with open_checker("dafny-2.3", workers=1) as checker:
            return [
                text
                for strategy, text in FALSE
                for proposal in strategy(question(text))
                if (await check_solution(question(text).problem, proposal.submission, checker, LIMITS)).accepted
            ]

    assert asyncio.run(accepted()) == []


@needs_dafny
def test_a_proof_that_only_the_first_checker_accepts_is_passed_over() -> None:
    problem = question("lemma a() ensures ipow(7, 1001) % 10 == 7 {}").problem

    async def attempt() -> tuple[str, str]:
        async with open_checker("embedded", workers=1) as first, open_checker("dafny-2.3", workers=1) as second:
            prover = SymbolicProver(first, Limits(), strategies=(residues,), confirm=(second, LIMITS))
            made = await prover.attempt(problem, seed=0)
            return made.certified, made.solution

    certified, solution = asyncio.run(attempt())
    assert certified.startswith("dafny-2.3")
    assert "trace_square" in solution


def test_a_submission_has_the_helpers_that_are_called() -> None:
    one, two = Helper("one", "lemma one() {}"), Helper("two", "lemma two() { one(); }")
    other = Helper("other", "lemma other() {}")
    submission = Proposal("s", ("two();",), helpers=(one, two, other)).submission
    assert submission == f"{{\ntwo();\n}}\n\n{one.text}\n\n{two.text}"
    assert Proposal("s", ()).submission == "{}"


def test_helper_lemmas_take_no_name_of_the_library() -> None:
    known = prelude()
    names = {declaration.name for declaration in (*known.definitions.declarations, *known.library.declarations)}
    assert not [name for name in names if name.startswith("trace_")]


@pytest.mark.parametrize(
    "text",
    [
        "lemma a() ensures factorial(100000) > 0 {}",
        "lemma a() ensures ipow(2, 1000000000000000000000) % 7 == 2 {}",
        "lemma a() ensures isum(0, 1000000000, (k: int) => isum(0, k, (j: int) => j)) > 0 {}",
        "lemma a() ensures |divisors(1000000000000)| == 169 {}",
        "lemma a(x: int, y: int, z: int) ensures (x * x + y * y + z * z) % 1999 != 3 {}",
    ],
)
@pytest.mark.parametrize("strategy", [compute, isolated, residues, finite], ids=lambda strategy: strategy.__name__)
def test_what_is_too_large_is_left_alone(strategy: Strategy, text: str) -> None:
    proposals: Iterator[Proposal] = strategy(question(text))
    assert all(len(proposal.submission) < 200_000 for proposal in proposals)


def test_a_failed_computation_leaves_nothing_behind() -> None:
    asked = question("lemma a() ensures factorial(7) == 5040 && factorial(2000) > 0 {}")
    writer = Writer(asked)
    (goal,) = asked.conclusions[:1]
    assert writer.attempt(goal) is not None
    before = dict(writer.lines)
    assert writer.attempt(asked.conclusions[1]) is None
    assert writer.lines == before
