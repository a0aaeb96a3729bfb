"""`maxproof data filter`: drops the problems that a baseline model solves reliably.

    result = await DifficultyFilter(settings, verifier_settings, caller).examine(record)

The model proves each problem up to `samples` times, one-shot. A proof counts as solved when all its verifications pass
and as failed when one fails; what was not scored counts as neither. By answer, where a record's short answer is a
number, the number in the model's box is compared instead.

A problem is dropped when its solve rate, or with `wilson` the lower end of that rate's interval, reaches `threshold`.
Sampling ends as soon as no outcome of the samples that are left could change that, but not before half of them are
scored; the rate that is kept then is that of the samples that were made, and no estimate of a rate over all. With
`all_samples` it is always the whole rate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import Template, load_template
from maxproof.models.types import Answer, AnswerState, Call, CallAddress, Caller, CallNotRun, NoAnswer
from maxproof.problems.data.files import provenance, settings_digest
from maxproof.problems.data.record import DataRecord
from maxproof.statistics import wilson
from maxproof.training.data.answers import boxed, number_in
from maxproof.training.data.calls import PACKAGE, Unused, record_number, unanswered
from maxproof.verifier import Verifier, VerifierSettings
from maxproof.verifier.types import Draft, ScoreState


class FilterSettings(BaseModel):
    """What is too easy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(8, ge=1, le=1024, description="k, proofs of each problem at most")
    threshold: float = Field(0.75, gt=0, le=1, description="a problem with this solve rate or a higher one is dropped")
    wilson: bool = Field(
        False, description="drop only what the interval's lower end puts there, rather than the rate itself"
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="of that interval")
    verifications: int = Field(1, ge=1, description="K, verifications of a proof; all must pass")
    by: Literal["proof", "answer"] = Field("proof", description="answer: by final answer where that is a number")
    all_samples: bool = Field(False, description="make all samples, also when the decision stands")


class Outcome(Enum):
    """Of one sample; NOT_SCORED says nothing about the problem."""

    SOLVED = "solved"
    FAILED = "failed"
    NOT_SCORED = "not scored"


@dataclass(frozen=True, slots=True)
class Tally:
    """Samples of one problem so far, by outcome."""

    solved: int = 0
    failed: int = 0
    not_scored: int = 0

    @property
    def scored(self) -> int:
        return self.solved + self.failed

    @property
    def made(self) -> int:
        return self.scored + self.not_scored

    def plus(self, outcome: Outcome) -> Tally:
        return Tally(
            self.solved + (outcome is Outcome.SOLVED),
            self.failed + (outcome is Outcome.FAILED),
            self.not_scored + (outcome is Outcome.NOT_SCORED),
        )


def too_easy(solved: int, scored: int, settings: FilterSettings) -> bool:
    """Whether a problem with `solved` of `scored` > 0 samples is dropped."""
    rate = wilson(solved, scored, settings.confidence)
    return (rate.low if settings.wilson else rate.value) >= settings.threshold


def decided(tally: Tally, settings: FilterSettings) -> bool | None:
    """Whether the problem is dropped, if the samples that are left can't change that; None while they can.

    They change it most if all of them solve it or all fail: the rate and its interval's lower end rise with each
    sample that is solved, and fall with each that fails. None too while fewer than half of the samples are scored.
    """
    left = settings.samples - tally.made
    if 2 * tally.scored < settings.samples:
        return None
    if too_easy(tally.solved, tally.scored + left, settings):
        return True
    return None if too_easy(tally.solved + left, tally.scored + left, settings) else False


class DifficultyFilter:
    """Examines records with one model and one verifier."""

    def __init__(self, settings: FilterSettings, verifier: VerifierSettings, caller: Caller) -> None:
        self._settings = settings
        self._verifier = verifier
        self._caller = caller
        self.digest = settings_digest(
            {"filter": settings.model_dump(mode="json"), "verifier": verifier.model_dump(mode="json")}
        )

    async def examine(self, record: DataRecord) -> DataRecord | Unused:
        """The record, with its rate and counts in its provenance; or why it does not go on: it is solved reliably, or
        fewer than half of its samples could be scored."""
        settings = self._settings
        number = number_in(record.answer) if settings.by == "answer" and record.answer else None
        score = self._by_proof(record) if number is None else _by_answer(number)
        template = load_template("maxproof.search", "generate") if number is None else load_template(PACKAGE, "answer")
        tally, dropped, models, reasons = Tally(), None, set[str](), set[str]()
        while tally.made < settings.samples and (dropped is None or settings.all_samples):
            wave = range(tally.made, tally.made + _wave(tally, settings))
            for answer, scored in await self._sampled(record, template, score, wave):
                if isinstance(scored, CallNotRun):
                    return unanswered(scored)
                tally = tally.plus(scored.outcome)
                reasons |= {scored.reason} - {""}
                models |= {answer.model} if isinstance(answer, Answer) else set()
            dropped = decided(tally, settings)
        counts = f"{tally.solved} solved, {tally.failed} failed, {tally.not_scored} not scored"
        if dropped is None:
            return Unused("; ".join([f"not scored: {counts} of {settings.samples} samples", *sorted(reasons)[:3]]))
        if dropped:
            return Unused(f"solved reliably: {counts}, of {settings.samples} samples at most")
        entry = provenance(
            "filter", self.digest, by="proof" if number is None else "answer", model=", ".join(sorted(models)),
            solve_rate=tally.solved / tally.scored, solved=tally.solved, failed=tally.failed,
            not_scored=tally.not_scored, samples=settings.samples,
        )  # fmt: skip
        return record.after(entry)

    async def _sampled(
        self, record: DataRecord, template: Template, score: _Score, wave: range
    ) -> list[tuple[Answer | NoAnswer, _Scored | CallNotRun]]:
        """The answers of samples and their outcomes, in order."""
        number, inputs = record_number(record), inputs_digest(record.problem().digest)
        calls = [
            Call(
                CallAddress("generator", "generate", number, sample),
                template.id,
                inputs,
                lambda: template.render({"problem": record.statement}),
            )
            for sample in wave
        ]
        answers = await self._caller.ask_samples(calls)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_scored(score, sample, answer)) for sample, answer in zip(wave, answers, strict=True)
            ]
        return [(answer, task.result()) for answer, task in zip(answers, tasks, strict=True)]

    def _by_proof(self, record: DataRecord) -> _Score:
        verifier = Verifier(self._verifier, self._caller, record.problem())

        async def score(sample: int, answer: Answer) -> _Scored | CallNotRun:
            draft = Draft(answer.text, answer.reasoning, answer.state, answer.unclosed_thinking)
            # One after the other: most proofs that fail do so at the first.
            for index in range(self._settings.verifications):
                found = await verifier.verify(record_number(record, sample + 1), draft, (index,))
                if index not in found:
                    return CallNotRun("a verification was not run, since a budget is spent or the endpoint is gone")
                if found[index].state is ScoreState.FAILED:
                    return _Scored(Outcome.FAILED)
                if found[index].state is ScoreState.NOT_SCORED:
                    return _Scored(
                        Outcome.NOT_SCORED, next((view.reason for view in found[index].judges if view.reason), "")
                    )
            return _Scored(Outcome.SOLVED)

        return score


@dataclass(frozen=True, slots=True)
class _Scored:
    """`reason`: why it is not scored."""

    outcome: Outcome
    reason: str = ""


_Score = Callable[[int, Answer], Awaitable[_Scored | CallNotRun]]


async def _scored(score: _Score, sample: int, answer: Answer | NoAnswer) -> _Scored | CallNotRun:
    if isinstance(answer, CallNotRun):
        return answer
    if isinstance(answer, NoAnswer):
        return _Scored(Outcome.NOT_SCORED, str(answer))
    return await score(sample, answer)


def _by_answer(number: Fraction) -> _Score:
    """A finished answer without a box gives no answer, so it fails; a box that holds no number can't be compared."""

    async def score(sample: int, answer: Answer) -> _Scored:
        if answer.state is not AnswerState.COMPLETE or answer.unclosed_thinking or (box := boxed(answer.text)) is None:
            return _Scored(Outcome.FAILED)
        found = number_in(box)
        if found is None:
            return _Scored(Outcome.NOT_SCORED, "an answer that is no number")
        return _Scored(Outcome.SOLVED if found == number else Outcome.FAILED)

    return score


def _wave(tally: Tally, settings: FilterSettings) -> int:
    """How many samples to make next: the first half can't be saved, and after it each may be the last."""
    if settings.all_samples:
        return settings.samples - tally.made
    return max(1, (settings.samples + 1) // 2 - tally.made)
