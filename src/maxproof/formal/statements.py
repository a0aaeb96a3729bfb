"""What a statement is worth before anybody proves it: does it resolve, is it well-formed, vacuous, plainly false?

A checker is asked twice: for the statement with an empty body, and for `false` in place of its conclusion. Where the
second is proved the statement is vacuous; a confirmed counterexample to it is a model of the hypotheses; a confirmed
counterexample to the first refutes the statement. The problem's own definitions are checked with the statement: a wrong
contract among them would make anything provable.

    await statement_statuses(problems, attempts, [checker], limits)    # those of a run that aren't sound
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from maxproof.formal.checkers.types import (
    Checker,
    CheckResult,
    CheckState,
    CheckTask,
    Limits,
    ObligationKind,
    ObligationResult,
    ObligationState,
)
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.solution.wrap import Wrapped, wrap
from maxproof.formal.syntax.ast import BoolLiteral, Clause, Datatype

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
    result = await checker.check(_statement_task(problem), limits)
    absurd = await checker.check(_absurd_task(problem), limits)
    return Examined(
        checker=str(checker.tool),
        resolves=_resolves(result),
        well_formed=_well_formed(problem, result),
        empty_proof=result.state,
        false_follows=absurd.state is CheckState.PROVED,
        model=_confirmed(problem, absurd.obligations),
        counterexample=_confirmed(problem, result.obligations),
        reason=result.reason,
    )


@dataclass(frozen=True, slots=True)
class Statuses:
    """What was found of several statements.

    Attributes:
        found: the vacuous, refuted and ill-formed ones, by name, in the order of the problems.
        unanswered: those of the others for which a checker failed: they should be asked again.
    """

    found: Mapping[str, Status]
    unanswered: frozenset[str] = frozenset()


async def statement_statuses(
    problems: Sequence[FormalProblem],
    accepted: Mapping[str, Collection[str]],
    checkers: Sequence[Checker],
    limits: Limits,
) -> Statuses:
    """Which problems of a run have a statement that is vacuous, refuted or ill-formed.

    Where a proof was accepted the statement is well-formed and not refuted: only whether `false` follows is asked, with
    the empty body and with each accepted proof, whose hints may be what it takes to see the contradiction.
    Where none was, `false` doesn't follow in the checker's reach: only the statement itself is asked.

    Args:
        accepted: the accepted proofs of the problems that have any.
        limits: of each check.
    """

    async def one(problem: FormalProblem) -> tuple[Status, bool]:
        if proofs := accepted.get(problem.name):
            answers = [await _false_follows(problem, proofs, checker, limits) for checker in checkers]
            vacuous = CheckState.PROVED in answers
            return (Status.VACUOUS if vacuous else Status.OPEN), CheckState.TOOL_ERROR in answers
        results = [await checker.check(_statement_task(problem), limits) for checker in checkers]
        failed = any(result.state is CheckState.TOOL_ERROR for result in results)
        if any(_resolves(r) is False or _well_formed(problem, r) is False for r in results):
            return Status.ILL_FORMED, failed
        return (Status.REFUTED if any(_confirmed(problem, r.obligations) for r in results) else Status.OPEN), failed

    async with asyncio.TaskGroup() as group:
        tasks = {problem.name: group.create_task(one(problem)) for problem in problems}
    answers = {name: task.result() for name, task in tasks.items()}
    return Statuses(
        {name: status for name, (status, _) in answers.items() if status is not Status.OPEN},
        frozenset(name for name, (status, failed) in answers.items() if status is Status.OPEN and failed),
    )


async def _false_follows(
    problem: FormalProblem, proofs: Collection[str], checker: Checker, limits: Limits
) -> CheckState:
    """`PROVED` if `checker` derives `false` from the hypotheses, `TOOL_ERROR` if it failed at a question instead."""
    states = [_answer((await checker.check(_absurd_task(problem), limits)).state)]
    for proof in dict.fromkeys(proofs):
        if CheckState.PROVED in states:
            break
        wrapped = wrap(problem, proof)
        if isinstance(wrapped, Wrapped):
            states.append(await _absurd_proof(wrapped, checker, limits))
    return max(states, key=(CheckState.FAILED, CheckState.TOOL_ERROR, CheckState.PROVED).index)


def _answer(state: CheckState) -> CheckState:
    """Whatever isn't proved and no failure of the tool says the same: `FAILED`."""
    return state if state in (CheckState.PROVED, CheckState.TOOL_ERROR) else CheckState.FAILED


async def _absurd_proof(wrapped: Wrapped, checker: Checker, limits: Limits) -> CheckState:
    """`PROVED` if an accepted proof shows `false` as well as its conclusion; else `FAILED` or `TOOL_ERROR`.

    The contradiction may come out in a helper lemma that states only what is wanted of it. So every lemma is tried:
    those that show `false` themselves conclude it for the others. All of them are proved as they stand, and no measure
    changes, so that this is as sound as the proof itself.
    """
    absurd: set[str] = set()
    failed = False
    while True:
        before = len(absurd)
        for name in wrapped.own_lemmas:
            if name in absurd:
                continue
            result = await checker.check(assemble(wrapped.absurd(absurd | {name}), [name]), limits)
            failed = failed or result.state is CheckState.TOOL_ERROR
            if result.state is CheckState.PROVED:
                absurd.add(name)
        if wrapped.lemma in absurd:
            return CheckState.PROVED
        if len(absurd) == before:
            return CheckState.TOOL_ERROR if failed else CheckState.FAILED


def _statement_task(problem: FormalProblem) -> CheckTask:
    return assemble((*problem.definitions, problem.lemma), [problem.name, *_definitions(problem)])


def _absurd_task(problem: FormalProblem) -> CheckTask:
    probe = replace(problem.lemma, ensures=(Clause(BoolLiteral(False)),))
    return assemble((*problem.definitions, probe), [problem.name])


def _definitions(problem: FormalProblem) -> list[str]:
    return [one.name for one in problem.definitions if not isinstance(one, Datatype)]


def _resolves(result: CheckResult) -> bool | None:
    ended = result.state is CheckState.TIMEOUT and not result.obligations
    if ended or result.state in (CheckState.UNSUPPORTED, CheckState.TOOL_ERROR):
        return None
    return result.state is not CheckState.ILL_FORMED


def _well_formed(problem: FormalProblem, result: CheckResult) -> bool | None:
    """Whether statement and definitions have a meaning; None if open.

    A checker that tells of failed obligations only shows well-formedness by naming no such one.
    """
    if result.state in (CheckState.ILL_FORMED, CheckState.UNSUPPORTED, CheckState.TOOL_ERROR):
        return None
    if any(o.state is ObligationState.REFUTED and not _of_meaning(problem, o) for o in result.obligations):
        return False
    if result.state is CheckState.TIMEOUT and not result.obligations:
        return None
    unproved = [o for o in result.obligations if o.state is not ObligationState.PROVED]
    return True if all(_of_meaning(problem, o) for o in unproved) else None


def _of_meaning(problem: FormalProblem, obligation: ObligationResult) -> bool:
    """Whether it is what the statement claims; everything else is about whether there is a claim at all."""
    return obligation.kind in _MEANING and obligation.lemma in ("", problem.name)


def _confirmed(problem: FormalProblem, obligations: Sequence[ObligationResult]) -> Mapping[str, str]:
    """The first confirmed counterexample to what a statement claims."""
    for obligation in obligations:
        if obligation.state is ObligationState.REFUTED and obligation.confirmed and _of_meaning(problem, obligation):
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
