"""One unit of a study on a real model: all arms on one problem with one seed, over one journal, then the grades.

Arms run one after another and share every answer; each pays for what it used. An arm that would have had to ask what
could not be asked (a budget of the whole study, a dead endpoint) leaves the unit unfinished, and nothing is said of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from maxproof.evaluation.methods import METHODS, unlimited
from maxproof.evaluation.methods.budget import Budget, MeteredCaller, Spent, Unit
from maxproof.evaluation.methods.outcome import outcome_of
from maxproof.evaluation.methods.search import searched
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.evaluation.oracle.oracle import Oracle, proof_digest
from maxproof.evaluation.study.arms import ArmPlan, kept_calls, sizes
from maxproof.models.types import Caller
from maxproof.problems import InputError, Problem
from maxproof.search.run_folder import write_atomically
from maxproof.search.settings import SearchSettings
from maxproof.search.types import SearchResult
from maxproof.verifier.judges import judge_calls
from maxproof.verifier.settings import VerifierSettings


@dataclass(frozen=True, slots=True)
class Written:
    """A proof of an arm: its id, the digest of its text, its round, and the fitness that the arm sees."""

    id: int
    proof: str
    round: int
    fitness: float | None


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """What one arm did on one problem.

    Attributes:
        picked, argmax: digests of proofs; None if there is none.
        decisions: digest of all decisions of a search: parents by round, stop, finalists, winner; "" for others.
        verifications, verifications_eager: of a search, run, and what all samples of the same candidates would be.
    """

    attempts: tuple[Written, ...]
    picked: str | None
    argmax: str | None
    passed: bool
    rounds: int
    stop: str
    spent: Spent
    decisions: str = ""
    verifications: int = 0
    verifications_eager: int = 0


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """All arms by name, and the oracle's points 0..7 by digest of the proof; None where it gave none."""

    problem: str
    seed: int
    arms: Mapping[str, ArmRecord]
    grades: Mapping[str, float | None]


async def run_arms(
    problem: Problem,
    plans: Sequence[ArmPlan],
    search: SearchSettings,
    verifier: VerifierSettings,
    caller: Caller,
    unit: Unit,
) -> tuple[dict[str, ArmRecord], dict[str, str]]:
    """Every arm's record by name, and the text of each proof by digest, in order of their first writing.

    `plans`: the reference first, each after the one that its budget comes from. `unit`: of the budgets.
    """
    records: dict[str, ArmRecord] = {}
    texts: dict[str, str] = {}
    for plan in plans:
        metered = MeteredCaller(caller)
        reference_calls = next(iter(records.values())).spent.calls if records else 0
        chosen = sizes(plan, search, reference_calls)
        left: Left = unlimited
        if plan.limit_of:
            limit = records[plan.limit_of].spent.amount(unit)
            kept = kept_calls(plan.method, chosen, judge_calls(verifier, problem), unit)
            left = Budget(unit, limit, kept).left(metered)
        result = None
        if plan.method == "search":
            result = await searched(problem, chosen, verifier, metered, left)
            outcome = outcome_of(result)
        else:
            outcome = await METHODS[plan.method](problem, chosen, verifier, metered, left)
        for attempt in outcome.attempts:
            texts.setdefault(proof_digest(attempt.text), attempt.text)
        records[plan.name] = _record(outcome, result, metered.spent)
    return records, texts


def wanted(records: Mapping[str, ArmRecord], *, archive: bool) -> list[str]:
    """Digests of the proofs to grade, each once: all, or only what an arm would return."""
    digests: dict[str, None] = {}
    for record in records.values():
        if archive:
            digests |= dict.fromkeys(written.proof for written in record.attempts)
        digests |= dict.fromkeys(digest for digest in (record.picked, record.argmax) if digest is not None)
    return list(digests)


async def grade_all(
    oracle: Oracle, problem: Problem, digests: Sequence[str], texts: Mapping[str, str]
) -> tuple[dict[str, float | None], bool]:
    """Points by digest, and whether all of that is final: asking again would change nothing.

    A proof is known to the oracle by a number from its digest, so that it is the same in every set of arms.
    """
    async with asyncio.TaskGroup() as group:
        tasks = {
            digest: group.create_task(oracle.grade(problem, [int(digest[:7], 16)], texts[digest])) for digest in digests
        }
    grades = {digest: task.result() for digest, task in tasks.items()}
    return {digest: grade.points for digest, grade in grades.items()}, all(g.final for g in grades.values())


def write_unit(path: Path, record: UnitRecord) -> None:
    """Raises OSError."""
    write_atomically(path, json.dumps(asdict(record), ensure_ascii=True) + "\n")


def read_unit(path: Path) -> UnitRecord | None:
    """None where there is none. Raises InputError if it is damaged."""
    try:
        return TypeAdapter(UnitRecord).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=path) from error
    except ValidationError as error:
        hint = "delete it: it is made again from the journals beside it"
        raise InputError(f"is damaged: {error.errors()[0]['msg']}", file=path, hint=hint) from error


def _record(outcome: Outcome, result: SearchResult | None, spent: Spent) -> ArmRecord:
    digests = {attempt.id: proof_digest(attempt.text) for attempt in outcome.attempts}
    return ArmRecord(
        attempts=tuple(Written(a.id, digests[a.id], a.round, a.fitness) for a in outcome.attempts),
        picked=None if outcome.picked is None else digests[outcome.picked],
        argmax=None if outcome.argmax is None else digests[outcome.argmax],
        passed=outcome.passed,
        rounds=outcome.rounds,
        stop=outcome.stop,
        spent=spent,
        decisions=_decisions(result) if result is not None else "",
        verifications=result.verifications_run if result is not None else 0,
        verifications_eager=result.verifications_eager if result is not None else 0,
    )


def _decisions(result: SearchResult) -> str:
    taken = [[list(r.parents) for r in result.rounds], str(result.stop), list(result.finalists), result.winner]
    return hashlib.sha256(json.dumps(taken).encode()).hexdigest()[:16]
