"""Audits of translated statements: does each resolve, is it well-formed, can its hypotheses hold, is it plainly false?

What any statement is asked is in `maxproof.formal.statements`; here the Lean and the Dafny reading are compared on
random values besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.lean.agreement import Agreement, agreement
from maxproof.formal.lean.terms import Statement
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.statements import Examined, examine, satisfiable, status_of


@dataclass(frozen=True, slots=True)
class Audit:
    """What is known of one translated statement. `as_record` makes it JSON.

    Attributes:
        status: `vacuous`, `refuted` or `ill_formed` where that was shown, else `open`. A statement that holds is `open`
            here too: to be solved it needs an accepted proof.
        satisfiable: True with a model of the hypotheses (or without hypotheses), False if `false` follows from them,
            None if neither was found.
        compared, skipped, differences: the comparison of the Lean and the Dafny reading (see `agreement`).
    """

    name: str
    origin: str
    status: Status
    satisfiable: bool | None
    examined: tuple[Examined, ...]
    compared: int
    skipped: int
    differences: tuple[str, ...]

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


async def audit(
    problem: FormalProblem, statement: Statement, checkers: Sequence[Checker], limits: Limits | None = None
) -> Audit:
    """Audits one translated statement with each of `checkers`.

    Args:
        statement: what `problem` was translated from.
        limits: of each check; by default the checkers' own.
    """
    bounds = limits if limits is not None else Limits()
    examined = tuple([await examine(problem, checker, bounds) for checker in checkers])
    readings = agreement(statement, problem) if all(e.resolves is not False for e in examined) else Agreement()
    return Audit(
        name=problem.name,
        origin=problem.origin,
        status=status_of(examined),
        satisfiable=satisfiable(problem, examined),
        examined=examined,
        compared=readings.compared,
        skipped=readings.skipped,
        differences=tuple(readings.differences),
    )


def summary(audits: Sequence[Audit]) -> dict[str, int]:
    """Counts over a set: each status, statements with a model of their hypotheses, and those whose readings differ."""
    counts = Counter(str(a.status) for a in audits)
    return {
        "statements": len(audits),
        **{str(status): counts[str(status)] for status in Status if status is not Status.SOLVED},
        "satisfiable": sum(a.satisfiable is True for a in audits),
        "compared": sum(a.compared > 0 for a in audits),
        "readings_differ": sum(bool(a.differences) for a in audits),
    }
