"""Every cheat is refused and every honest proof accepted, by each checker that this machine has."""

from pathlib import Path

import pytest
from formal_cheats import CHEATS, GREEDY, OUTSIDE, PUBLISHED, UNPROVED, WRONG
from formal_cheats_subtle import SUBTLE
from formal_dafny import needs_dafny
from formal_honest import HONEST, RIGHT

from maxproof.formal.checkers.choose import open_checker
from maxproof.formal.checkers.types import Limits
from maxproof.formal.load import problem_from_text
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.types import SolutionState

CHECKERS = [
    "embedded",
    pytest.param("dafny-2.3", marks=[needs_dafny, pytest.mark.slow]),
]
LIMITS = Limits(resource=3_000_000, seconds=5.0, wall_seconds=30.0)


async def states(checker_name, problem, submissions, limits=LIMITS):
    found = {}
    async with open_checker(checker_name, workers=1) as checker:
        for name, text in submissions.items():
            verdict = await check_solution(problem, text, checker, limits)
            found[name] = verdict.state
    return found


def test_the_corpora_are_as_large_as_promised():
    assert len(CHEATS) - len(PUBLISHED) >= 30
    assert len(HONEST) >= 23
    assert len(OUTSIDE) >= 5
    assert len(UNPROVED) >= 30


@pytest.mark.parametrize("checker_name", CHECKERS)
async def test_every_cheat_is_refused(checker_name):
    problem = problem_from_text(WRONG, Path("wrong.dfy"))
    found = await states(checker_name, problem, CHEATS)
    assert [name for name, state in found.items() if state is SolutionState.ACCEPTED] == []
    crashed = [name for name, state in found.items() if state is SolutionState.TOOL_ERROR]
    # Dafny 2.3 ends in an internal error for a termination measure that is an infinite set.
    assert set(crashed) <= ({"recursion set inf"} if checker_name == "dafny-2.3" else set())


@pytest.mark.parametrize("checker_name", CHECKERS)
async def test_every_honest_proof_is_accepted(checker_name):
    problem = problem_from_text(RIGHT, Path("right.dfy"))
    found = await states(checker_name, problem, HONEST)
    assert {name: state for name, state in found.items() if state is not SolutionState.ACCEPTED} == {}


@pytest.mark.slow
@pytest.mark.parametrize("checker_name", ["embedded", pytest.param("dafny-2.3", marks=needs_dafny)])
async def test_every_subtle_cheat_is_refused(checker_name):
    found = await states(checker_name, problem_from_text(WRONG, Path("wrong.dfy")), SUBTLE)
    assert [name for name, state in found.items() if state is SolutionState.ACCEPTED] == []
    crashed = [name for name, state in found.items() if state is SolutionState.TOOL_ERROR]
    # Dafny 2.3 ends in an internal error for a termination measure that is an infinite set.
    assert set(crashed) <= ({"recursion set inf"} if checker_name == "dafny-2.3" else set())


@pytest.mark.slow
@pytest.mark.parametrize("checker_name", ["embedded", pytest.param("dafny-2.3", marks=needs_dafny)])
async def test_greedy_submissions_end_at_the_limits(checker_name):
    problem = problem_from_text(WRONG, Path("wrong.dfy"))
    limits = Limits(resource=3_000_000, seconds=3.0, wall_seconds=8.0, memory_mb=1024)
    found = await states(checker_name, problem, GREEDY, limits)
    assert [name for name, state in found.items() if state is SolutionState.ACCEPTED] == []
    crashed = [name for name, state in found.items() if state is SolutionState.TOOL_ERROR]
    # Dafny 2.3 ends in an internal error for a termination measure that is an infinite set.
    assert set(crashed) <= ({"recursion set inf"} if checker_name == "dafny-2.3" else set())
