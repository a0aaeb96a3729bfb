"""What a statement is worth before anybody proves it: does it resolve, is it well-formed, vacuous, plainly false?

A checker is asked twice: for the statement with an empty body, and for `false` in place of its conclusion. Where the
second is proved the statement is vacuous; a confirmed counterexample to it is a model of the hypotheses; a confirmed
counterexample to the first refutes the statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
)
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.syntax.ast import BoolLiteral, Clause

AUDIT_RESOURCE: Final = 2_000_000  # units an obligation: whether `false` follows is mostly no, which takes all of them
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


async def examine(problem: FormalProblem, checker: Checker, limits: Limits) -> Examined:
    """Asks `checker` both questions about the statement."""
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


def status_of(examined: Sequence[Examined]) -> Status:
    """What the checkers together found: `ill_formed`, `vacuous` or `refuted` where that was shown, else `open`."""
    if any(e.resolves is False or e.well_formed is False for e in examined):
        return Status.ILL_FORMED
    if any(e.false_follows for e in examined):
        return Status.VACUOUS
    return Status.REFUTED if any(e.counterexample for e in examined) else Status.OPEN


def satisfiable(problem: FormalProblem, examined: Sequence[Examined]) -> bool | None:
    """True with a model of the hypotheses (or without any), False if `false` follows from them, None if open."""
    if any(e.false_follows for e in examined):
        return False
    return True if not problem.lemma.requires or any(e.model for e in examined) else None
