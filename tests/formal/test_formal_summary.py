"""Statuses apart: a vacuous statement never counts as solved."""

from __future__ import annotations

from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Status
from maxproof.formal.solution.types import SolutionState
from maxproof.formal.summary import ALL, summarise_methods, summarise_problems
from maxproof.formal.syntax.ast import Lemma

PROBLEMS = [
    FormalProblem(Lemma("a", (), ()), split="test"),
    FormalProblem(Lemma("b", (), ()), split="test"),
    FormalProblem(Lemma("c", (), ()), split="valid"),
    FormalProblem(Lemma("d", (), ()), split="valid"),
]


def attempt(problem: str, seed: int, accepted: bool, solution: str = "{}", method: str = "empty") -> Attempt:
    state = SolutionState.ACCEPTED if accepted else SolutionState.UNPROVED
    return Attempt(problem, method, seed, state, solution, checks=1, seconds=0.5)


def test_statuses_rates_and_unstable_problems() -> None:
    attempts = [
        attempt("a", 0, True),
        attempt("a", 1, False),
        attempt("b", 0, False),
        attempt("b", 1, False),
        attempt("c", 0, True),
        attempt("c", 1, True),
        attempt("d", 0, True),
    ]
    problems = summarise_problems(PROBLEMS, attempts, {"c": Status.VACUOUS})
    assert [p.status for p in problems] == [Status.SOLVED, Status.OPEN, Status.VACUOUS, Status.SOLVED]
    assert [p.unstable for p in problems] == [True, False, False, False]
    test, valid, every = summarise_methods(problems, attempts)
    assert (test.split, valid.split, every.split) == ("test", "valid", ALL)
    assert (test.solved.successes, test.solved.total, test.unstable) == (1, 2, ("a",))
    assert (valid.solved.successes, valid.solved.total, valid.counts[Status.VACUOUS]) == (1, 1, 1)
    assert (every.solved.successes, every.solved.total) == (2, 3)
    assert (every.solved_of_all.successes, every.solved_of_all.total) == (2, 4)
    assert (every.checks, every.seconds) == (7, 3.5)


def test_the_shortest_accepted_solution_is_the_best() -> None:
    attempts = [attempt("a", 0, True, "{ assert true; }"), attempt("a", 1, True, "{}"), attempt("a", 2, False, "")]
    (summary, *_) = summarise_problems(PROBLEMS, attempts, {})
    assert summary.best is attempts[1]


def test_methods_are_kept_apart() -> None:
    attempts = [attempt("a", 0, False), attempt("a", 0, True, method="symbolic")]
    problems = summarise_problems(PROBLEMS[:2], attempts, {})
    assert [(p.method, p.problem, p.status) for p in problems] == [
        ("empty", "a", Status.OPEN),
        ("empty", "b", Status.OPEN),
        ("symbolic", "a", Status.SOLVED),
        ("symbolic", "b", Status.OPEN),
    ]
    assert problems[1].best is None
