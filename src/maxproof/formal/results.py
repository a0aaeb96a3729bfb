"""What came of a formal problem: one attempt by one method, and the problem's status over all attempts.

A method takes a problem and gives an attempt; the empty proof, the symbolic prover, a model and the population search
are all methods, so that the baseline, the benchmark and `prove` treat them alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from maxproof.formal.error_classes import ErrorClass, error_class
from maxproof.formal.problem import FormalProblem
from maxproof.formal.solution.feedback import describe
from maxproof.formal.solution.types import SolutionState, SolutionVerdict

MAX_FINDINGS = 20
MAX_FINDING_CHARS = 400


class Status(StrEnum):
    """A problem's status. Reported apart always: a vacuous statement never counts as solved."""

    SOLVED = "solved"
    VACUOUS = "vacuous"  # its hypotheses contradict each other, so that anything follows
    REFUTED = "refuted"  # a confirmed counterexample meets all hypotheses
    ILL_FORMED = "ill_formed"  # the statement itself has no meaning everywhere (or doesn't resolve)
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of one method on one problem.

    Attributes:
        method: e.g. `empty`, `symbolic`, `guided`, `population`.
        seed: which repetition.
        state: how the solution check ended; `ACCEPTED` solves the problem (unless it is vacuous).
        solution: the submission that was accepted, else the best one; "" if there is none.
        checker: the tool that gave the verdict, with its versions.
        certified: the Dafny that accepted it too, with its versions; "" if none was asked or it didn't.
        proved, total: obligations of `solution`.
        checks: checks run, cached ones included.
        seconds: wall time.
        resource: solver resource units spent; 0 where the checker doesn't tell.
        calls, prompt_tokens, completion_tokens: what models were asked; 0 for methods without one.
        errors: what was wrong with each refused submission; the prover tells of its best one only.
        findings: what the check said of `solution`, a line each, at most `MAX_FINDINGS`; none if it is accepted.
        reason: one line: why it isn't accepted; "" if it is.
    """

    problem: str
    method: str
    seed: int
    state: SolutionState
    solution: str = ""
    checker: str = ""
    certified: str = ""
    proved: int = 0
    total: int = 1
    checks: int = 0
    seconds: float = 0.0
    resource: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    errors: tuple[ErrorClass, ...] = ()
    findings: tuple[str, ...] = ()
    reason: str = ""

    @property
    def accepted(self) -> bool:
        return self.state is SolutionState.ACCEPTED

    @property
    def scored(self) -> bool:
        """Whether it says anything of the problem: it wasn't cut short, and no tool failed."""
        return self.state is not SolutionState.TOOL_ERROR


def judged(attempt: Attempt, verdict: SolutionVerdict, solution: str) -> Attempt:
    """The attempt with the verdict on its solution."""
    wrong = error_class(verdict)
    return replace(
        attempt,
        state=verdict.state,
        errors=attempt.errors or ((wrong,) if wrong is not None else ()),
        solution=solution,
        proved=verdict.proved,
        total=verdict.total,
        findings=tuple(describe(finding)[:MAX_FINDING_CHARS] for finding in verdict.findings[:MAX_FINDINGS]),
        reason=verdict.reason,
    )


class Method(Protocol):
    """A way to prove formal problems."""

    @property
    def name(self) -> str: ...

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """Never raises for what the problem is: a failure is a state of the attempt."""
        ...
