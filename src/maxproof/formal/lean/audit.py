"""Audits of translated statements: does each resolve, is it well-formed, can its hypotheses hold, is it plainly false?

A checker is asked twice about a statement: for the statement itself with an empty body, and for `false` in place of its
conclusion. What is proved of the second is vacuous; a confirmed counterexample to it is a model of the hypotheses; a
confirmed counterexample to the first refutes the statement. The two readings are compared on random values besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
)
from maxproof.formal.lean.agreement import Agreement, agreement
from maxproof.formal.lean.terms import Statement
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.syntax.ast import BoolLiteral, Clause

_MEANING: Final = (ObligationKind.POSTCONDITION, ObligationKind.TERMINATION)


@dataclass(frozen=True, slots=True)
class Examined:
    """What one checker said of a statement.

    Attributes:
        resolves: it parses, resolves and type-checks there; None if the checker can't read it, failed or was ended.
        well_formed: all its well-formedness obligations were proved; False if one was refuted, None if neither.
        empty_proof: how the check with an empty body ended.
        false_follows: `false` was proved from the hypotheses.
        model: values that meet all hypotheses, confirmed by exact evaluation; empty if none was found.
        counterexample: values that meet all hypotheses and not the conclusion, confirmed likewise; empty if none.
        reason: what the checker said of the statement, one line; "" if the empty body proves it.
    """

    checker: str
    resolves: bool | None
    well_formed: bool | None
    empty_proof: CheckState
    false_follows: bool
    model: Mapping[str, str] = field(default_factory=dict)
    counterexample: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


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
    examined = tuple([await _examine(problem, checker, bounds) for checker in checkers])
    readings = agreement(statement, problem) if all(e.resolves is not False for e in examined) else Agreement()
    return Audit(
        name=problem.name,
        origin=problem.origin,
        status=_status(examined),
        satisfiable=_satisfiable(problem, examined),
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


async def _examine(problem: FormalProblem, checker: Checker, limits: Limits) -> Examined:
    result = await checker.check(assemble((*problem.definitions, problem.lemma), [problem.name]), limits)
    probe = replace(problem.lemma, ensures=(Clause(BoolLiteral(False)),))
    absurd = await checker.check(assemble((*problem.definitions, probe), [problem.name]), limits)
    refuted = [o for o in result.obligations if o.state is ObligationState.REFUTED]
    return Examined(
        checker=str(checker.tool),
        resolves=_resolves(result),
        well_formed=_well_formed(result, refuted),
        empty_proof=result.state,
        false_follows=absurd.state is CheckState.PROVED,
        model=_confirmed(absurd.obligations),
        counterexample=_confirmed(result.obligations),
        reason=result.reason,
    )


def _resolves(result: CheckResult) -> bool | None:
    ended = result.state is CheckState.TIMEOUT and not result.obligations
    if ended or result.state in (CheckState.UNSUPPORTED, CheckState.TOOL_ERROR):
        return None
    return result.state is not CheckState.ILL_FORMED


def _well_formed(result: CheckResult, refuted: Sequence[ObligationResult]) -> bool | None:
    """A checker that tells of failed obligations only shows well-formedness by naming no such one."""
    if result.state in (CheckState.ILL_FORMED, CheckState.UNSUPPORTED, CheckState.TOOL_ERROR):
        return None
    if any(o.kind not in _MEANING for o in refuted):
        return False
    if result.state is CheckState.TIMEOUT and not result.obligations:
        return None
    unproved = [o for o in result.obligations if o.state is not ObligationState.PROVED]
    return None if any(o.kind not in _MEANING for o in unproved) else True


def _confirmed(obligations: Sequence[ObligationResult]) -> Mapping[str, str]:
    """The first confirmed counterexample to what a statement claims."""
    for obligation in obligations:
        if obligation.state is ObligationState.REFUTED and obligation.confirmed and obligation.kind in _MEANING:
            return dict(obligation.counterexample) or {"": "no variables"}
    return {}


def _status(examined: Sequence[Examined]) -> Status:
    if any(e.resolves is False or e.well_formed is False for e in examined):
        return Status.ILL_FORMED
    if any(e.false_follows for e in examined):
        return Status.VACUOUS
    return Status.REFUTED if any(e.counterexample for e in examined) else Status.OPEN


def _satisfiable(problem: FormalProblem, examined: Sequence[Examined]) -> bool | None:
    if any(e.false_follows for e in examined):
        return False
    return True if not problem.lemma.requires or any(e.model for e in examined) else None
