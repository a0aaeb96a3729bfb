"""Statuses apart: a vacuous statement never counts as solved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maxproof.formal.error_classes import ErrorClass
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


def test_pass_at_k_is_over_what_was_judged() -> None:
    cut = Attempt("b", "guided", 2, SolutionState.TOOL_ERROR, errors=(ErrorClass.TYPES,))
    attempts = [
        *(attempt("a", seed, seed == 0, method="guided") for seed in range(3)),
        *(attempt("b", seed, False, method="guided") for seed in range(2)),
        cut,
        replace(attempt("c", 0, True, method="guided"), errors=(ErrorClass.TYPES, ErrorClass.SYNTAX)),
    ]
    problems = summarise_problems(PROBLEMS, attempts, {"c": Status.VACUOUS})
    (every,) = [summary for summary in summarise_methods(problems, attempts) if summary.split == ALL]
    # `c` says nothing, `d` was not tried, `b` has two verdicts.
    assert [(one.k, one.problems) for one in every.pass_at] == [(1, 2), (2, 2)]
    assert [one.rate.value for one in every.pass_at] == pytest.approx([1 / 6, 1 / 3])
    assert every.errors == {ErrorClass.SYNTAX: 1, ErrorClass.TYPES: 2}
    assert list(every.errors) == [ErrorClass.SYNTAX, ErrorClass.TYPES]
    assert every.unscored == 1
    assert [(p.accepted, p.attempts) for p in problems] == [(1, 3), (0, 2), (1, 1), (0, 0)]


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
