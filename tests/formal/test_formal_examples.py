"""The problems of examples/formal: each can be read, claims something, and has a proof that checkers accept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from formal_dafny import needs_dafny

pytest.importorskip("z3")

from maxproof.formal.checkers.choose import open_checker
from maxproof.formal.checkers.types import Limits
from maxproof.formal.load import load_formal_problems
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.solution.check import check_solution
from maxproof.formal.statements import statement_statuses

FOLDER = Path(__file__).parents[2] / "examples" / "formal"
SOLUTIONS = Path(__file__).parent / "solutions"
PROBLEMS = load_formal_problems(FOLDER).problems
DOMAINS = (
    "algebra",
    "number theory",
    "inequalities",
    "sums and induction",
    "sequences",
    "functional equations",
    "combinatorics",
    "sets",
    "complex numbers",
    "trigonometry and logarithms",
    "geometry by coordinates",
)


def domain(problem: FormalProblem) -> str:
    named = re.match(r"// domain: (.+)\n// \S.+\n", problem.source)
    return named[1] if named else ""


def solution(problem: FormalProblem) -> str:
    return (SOLUTIONS / f"{problem.name}.dfy").read_text("utf-8")


def verdicts(problems: Sequence[FormalProblem], checker: str) -> dict[str, str]:
    """By problem: `accepted`, or how the check of its solution ended and why."""

    async def run() -> dict[str, str]:
        found = {}
        async with open_checker(checker, 1) as opened:
            for problem in problems:
                verdict = await check_solution(problem, solution(problem), opened, Limits())
                found[problem.name] = " ".join((verdict.state.value, *(f.line for f in verdict.findings)))
        return found

    return asyncio.run(run())


def test_the_files_are_named_after_their_lemmas_and_say_what_they_are_about():
    assert [p.file.stem for p in PROBLEMS] == [p.name for p in PROBLEMS]
    assert {domain(p) for p in PROBLEMS} == set(DOMAINS)
    assert {f.stem for f in SOLUTIONS.glob("*.dfy")} == {p.name for p in PROBLEMS}


def test_the_guide_names_every_domain_and_problem():
    guide = (FOLDER / "README.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", guide, re.MULTILINE))
    named = {domain: set(re.findall(r"`(\w+)`", rows.get(domain, ""))) for domain in DOMAINS}
    assert named == {one: {p.name for p in PROBLEMS if domain(p) == one} for one in DOMAINS}


def test_no_statement_is_vacuous():
    async def statuses() -> dict[str, Status]:
        async with open_checker("embedded", 1) as checker:
            limits = Limits(resource=1_000_000, seconds=2.0, wall_seconds=20.0)
            found = await statement_statuses(PROBLEMS, {p.name: [solution(p)] for p in PROBLEMS}, [checker], limits)
            return found.found

    assert asyncio.run(statuses()) == {}


def test_the_embedded_checker_accepts_every_solution():
    assert verdicts(PROBLEMS, "embedded") == {p.name: "accepted" for p in PROBLEMS}


@needs_dafny
@pytest.mark.slow
def test_dafny_accepts_every_solution():
    assert verdicts(PROBLEMS, "dafny-2.3") == {p.name: "accepted" for p in PROBLEMS}
