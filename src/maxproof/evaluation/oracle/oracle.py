"""The oracle: what a proof is really worth, 0..7 points, by somebody whom the search never asks.

Three kinds. A *judge* is a model under its own prompt, at its own endpoint, with its own journal, that sees reference
solution and grading scheme (`JudgeOracle`). The *lab's* is exact and reads the lab's problems only (`LabOracle`).
*Human grades* come from a file (`human_grades.py`). A fourth kind, `none`, grades nothing.

A proof that could not be graded has no points. That is a third state and never a zero: it is counted apart.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Protocol

from maxproof.evaluation.oracle.reply import OracleFault, holds_points, read_points
from maxproof.evaluation.oracle.settings import ROLE, OracleSettings, Statistic
from maxproof.lab.domains import read_question
from maxproof.lab.oracle import grade as lab_grade
from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import Answer, Call, CallAddress, Caller, CallFailed, CallNotRun, Message, NoAnswer
from maxproof.problems import Problem

PACKAGE = "maxproof.evaluation.oracle"


@dataclass(frozen=True, slots=True)
class Grade:
    """What the oracle says of one proof.

    Attributes:
        points: 0..7, `statistic` of the samples that could be read; None: not graded.
        samples: points by sample, None where that sample could not be read or failed.
        reason: why it is not graded, or why samples are missing; "" if all are there.
        final: asking again changes nothing; false if a budget or a dead endpoint stood in the way.
    """

    points: float | None
    samples: tuple[float | None, ...] = ()
    reason: str = ""
    final: bool = True


class Oracle(Protocol):
    """Grades proofs of any problem."""

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        """`attempts`: the ids of those that have this text, the lowest first. Never raises `NoAnswer`."""
        ...


def proof_digest(text: str) -> str:
    """SHA-256 (hex) of a proof: equal texts are graded once."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def combine(samples: Sequence[float | None], statistic: Statistic) -> float | None:
    """The mean or median of what was graded; None if nothing was."""
    known = [points for points in samples if points is not None]
    if not known:
        return None
    return fmean(known) if statistic == "mean" else float(median(known))


class JudgeOracle:
    """A model as the oracle, asked through a caller of its own."""

    def __init__(self, caller: Caller, settings: OracleSettings) -> None:
        self._caller = caller
        self._settings = settings

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        """All samples at once; those that can't be read are asked once more."""
        if not text.strip():
            return Grade(0.0, (0.0,) * self._settings.samples)  # an empty proof proves nothing: no call for that
        shown = (problem.statement, problem.reference, problem.rubric, problem.answer, text)
        tagged = any(holds_points(part) for part in shown if part)
        wanted = range(self._settings.samples)
        results = await self._ask(problem, attempts[0], text, wanted, None, tagged)
        again: dict[OracleFault, list[int]] = {}
        for sample, result in results.items():
            # A reply that met the token limit would meet it again.
            if isinstance(result, OracleFault) and result is not OracleFault.TRUNCATED:
                again.setdefault(result, []).append(sample)
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(self._ask(problem, attempts[0], text, samples, fault, tagged))
                for fault, samples in again.items()
            ]
        for task in asked:
            results |= task.result()
        samples = tuple(float(r) if isinstance(r := results[k], int) else None for k in wanted)
        missing = [result for result in results.values() if not isinstance(result, int)]
        return Grade(
            combine(samples, self._settings.statistic),
            samples,
            "; ".join(dict.fromkeys(map(_reason, missing))),
            final=not any(isinstance(result, CallNotRun) for result in missing),
        )

    async def _ask(
        self,
        problem: Problem,
        attempt: int,
        text: str,
        samples: Sequence[int],
        fault: OracleFault | None,
        tagged: bool,
    ) -> dict[int, int | OracleFault | NoAnswer]:
        template = load_template(PACKAGE, "oracle")
        note = None if fault is None else fault.value
        shown: dict[str, str | None] = {
            "problem": problem.statement,
            "reference": problem.reference or None,
            "rubric": problem.rubric or None,
            "answer": problem.answer or None,
            "solution": text,
        }

        def prompt() -> tuple[Message, ...]:
            return template.render(shown, {"fault": note})

        inputs = inputs_digest(*shown.values(), note)
        calls = [
            Call(CallAddress(ROLE, "grade", attempt, sample, attempt=fault is not None), template.id, inputs, prompt)
            for sample in samples
        ]
        answers = await self._caller.ask_samples(calls)
        return {
            sample: read_points(answer, tagged=tagged) if isinstance(answer, Answer) else answer
            for sample, answer in zip(samples, answers, strict=True)
        }


class LabOracle:
    """The lab's exact oracle: costs nothing, and reads only the lab's problems."""

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        question = await asyncio.to_thread(read_question, problem.statement)
        if question is None:
            return Grade(None, (), "this is no problem of the lab: its oracle can't read the statement")
        report = await asyncio.to_thread(lab_grade, question, text)
        return Grade(float(report.points), (float(report.points),))


class NoOracle:
    """Grades nothing, and says so."""

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        return Grade(None, (), "no oracle was asked", final=False)


def _reason(result: OracleFault | NoAnswer) -> str:
    if isinstance(result, OracleFault):
        if result is OracleFault.TRUNCATED:
            return f"the reply can't be used: {result}; raise the oracle's max_tokens"
        return f"the reply can't be used, nor could the first one: {result}"
    if isinstance(result, CallFailed):
        return f"no answer ({result.kind}): {result.message}"
    return f"not asked: {result}"
