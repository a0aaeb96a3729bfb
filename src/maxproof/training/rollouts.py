"""`rollouts.jsonl`: every rollout of a training run with all that was said of it, one JSON object a line.

The monitor, the harvest of the verifier and the fixer, and a resumed run read it. Lines are in the order of (step,
group, sample), each once. All fields of `RolloutRecord` are there in every line; null is "unknown" or "not scored",
never zero. A last line that was torn by a crash is no record, and a writer that goes on cuts it off.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from maxproof.problems import InputError
from maxproof.problems.text import read_lines
from maxproof.training.types import Reward, Rollout
from maxproof.verifier.bad_case import without_thinking
from maxproof.verifier.types import Draft, JudgeView, ScoreState, Verdict, Verification

MAX_LINE_BYTES = 16 * 1024 * 1024
ORACLE, IS_PROOF = "oracle", "is_proof"
"""`Reward.parts` that have fields of their own here."""


class ErrorRecord(BaseModel):
    """One error that a judge located: `location` quotes or names a step, `description` says what is wrong there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    location: str
    description: str


class RolloutRecord(BaseModel):
    """One line.

    Attributes:
        problem: the task's id. step: 0-based training step. group: 0-based index of the prompt in its step. sample:
            0..G-1 in the group.
        prompt: what the model was asked, in its own format.
        text: the visible answer. thinking: think blocks split off it, "" if none.
        finished: the answer ended by itself; false when the token limit cut it.
        train_reward: 0..1, what training used; null is not scored.
        oracle: 0..1 by an outside measure that training never saw; null without one.
        judges: each judge's score 0..1 by its name, null where that judge is not scored; empty when layer 1 stopped
            the answer or no verifier was asked.
        parts: further figures of the reward by name, each 0..1.
        is_proof: the problem asks for a proof (true) or has a short final answer (false); null if unknown.
        state: `passed` (full reward), `failed`, or `not_scored`.
        points: 0..7, the minimum over the judges; null when not scored or no verifier was asked.
        verdict: of the judge that realises the minimum, `fundamentally_wrong` when layer 1 stopped the answer; else
            null.
        judge: the name of the judge that realises the minimum; "" if none. The next three are that judge's.
        critique: its verdict, errors and assessment as one text for the refiner; the evidence of layer 1 if that
            stopped the answer.
        errors: the errors it located. assessment: its reading of the proof, step by step.
        bad_cases: names of the layer 1 rules that fired.
        normaliser: the layer 2 method that made the text its judges saw (`rule`, `model`, `none`); "" if none did.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    problem: str
    step: int = Field(ge=0)
    group: int = Field(ge=0)
    sample: int = Field(ge=0)
    prompt: str
    text: str
    thinking: str
    finished: bool
    train_reward: float | None = Field(ge=0, le=1)
    oracle: float | None = Field(ge=0, le=1)
    judges: Mapping[str, float | None]
    parts: Mapping[str, float]
    is_proof: bool | None
    state: ScoreState
    points: float | None = Field(ge=0, le=7)
    verdict: Verdict | None
    judge: str
    critique: str
    errors: tuple[ErrorRecord, ...]
    assessment: str
    bad_cases: tuple[str, ...]
    normaliser: str

    @model_validator(mode="after")
    def _consistent(self) -> RolloutRecord:
        if (self.train_reward is None) != (self.state is ScoreState.NOT_SCORED):
            raise ValueError(f"state is {self.state.value} and train_reward is {self.train_reward}")
        return self


def record_of(rollout: Rollout, reward: Reward) -> RolloutRecord:
    """The record of a rewarded rollout.

    Without a verification (another reward than the verifier) the state is passed iff the reward is 1. Raises InputError
    for a reward that is not in 0..1.
    """
    split = without_thinking(Draft(_text(rollout.text)))
    parts = dict(reward.parts)
    oracle, is_proof = parts.pop(ORACLE, None), parts.pop(IS_PROOF, None)
    verification = reward.verification
    decisive = _decisive(verification) if verification else None
    try:
        return RolloutRecord(
            problem=rollout.task,
            step=rollout.step,
            group=rollout.group,
            sample=rollout.sample,
            prompt=_text(rollout.prompt),
            text=split.text,
            thinking=split.reasoning,
            finished=rollout.finished,
            train_reward=reward.value,
            oracle=oracle,
            judges={view.judge: _score(view) for view in verification.judges} if verification else {},
            parts=parts,
            is_proof=None if is_proof is None else is_proof > 0.5,
            state=_state(reward),
            points=verification.points if verification else None,
            verdict=verification.verdict if verification else None,
            judge=decisive.judge if decisive else "",
            critique=_text(verification.critique) if verification else "",
            errors=tuple(
                ErrorRecord(location=_text(error.location), description=_text(error.description))
                for error in (decisive.errors if decisive else ())
            ),
            assessment=_text(decisive.assessment) if decisive else "",
            bad_cases=tuple(hit.rule for hit in verification.bad_cases) if verification else (),
            normaliser=verification.normalisation.method if verification and verification.normalisation else "",
        )
    except ValidationError as error:
        raise InputError(
            f"the reward of a rollout can't be used: {_first(error)[1]}", field=_first(error)[0] or "reward"
        ) from None


def read_rollouts(path: Path) -> Iterator[RolloutRecord]:
    """Streams a file's records. A torn last line is left out.

    Raises InputError (file, line, field) for a line that is no record, and for a file that can't be read.
    """
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if not line.endswith("\n"):
            return
        if line.strip():
            yield _parse(line, path, number)


class RolloutLog:
    """Appends the rollouts of whole steps, durably.

    A run that goes on from `step` does its last steps again. What they recorded is handed out by `recorded`, so that no
    reward is asked for twice, and stays in the file as long as the steps come out the same; the first that doesn't cuts
    off what is recorded from there on.

    Raises InputError when the file holds a bad line, or steps before `step` come after later ones.
    """

    def __init__(self, path: Path, step: int) -> None:
        self._path = path
        self._ahead: defaultdict[int, list[RolloutRecord]] = defaultdict(list)
        self._starts: dict[int, int] = {}
        end = self._scan(step) if path.exists() else 0
        with path.open("ab") as file:
            file.truncate(end)  # a torn last line

    def recorded(self, step: int) -> Sequence[RolloutRecord]:
        """What an earlier session recorded of `step`, maybe not all of it."""
        return self._ahead.get(step, ())

    def write(self, step: int, records: Sequence[RolloutRecord]) -> None:
        """Makes all records of `step` durable. Steps must come in order. Raises OSError."""
        if self._ahead.get(step) == list(records):
            self._ahead.pop(step)
            return
        with self._path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            if ahead := [start for known, start in self._starts.items() if known >= step]:
                file.truncate(min(ahead))
                file.seek(0, os.SEEK_END)
            file.write(b"".join(_line(record) for record in records))
            file.flush()
            os.fsync(file.fileno())
        self._ahead.clear()
        self._starts.clear()

    def _scan(self, step: int) -> int:
        """Fills what is recorded from `step` on; the number of bytes of whole lines."""
        end, last = 0, -1
        for number, line in read_lines(self._path, MAX_LINE_BYTES):
            if not line.endswith("\n"):
                break
            record = _parse(line, self._path, number)
            if record.step < last:
                raise InputError(f"step {record.step} after {last}", file=self._path, line=number, field="step")
            last = record.step
            if record.step >= step:
                self._starts.setdefault(record.step, end)
                self._ahead[record.step].append(record)
            end += len(line.encode())
        return end


def _parse(line: str, path: Path, number: int) -> RolloutRecord:
    try:
        return RolloutRecord.model_validate_json(line, strict=True)
    except ValidationError as error:
        field, message = _first(error)
        raise InputError(message, file=path, line=number, field=field or None) from None


def _first(error: ValidationError) -> tuple[str, str]:
    """The field and the message of a validation's first complaint."""
    details = error.errors(include_url=False, include_input=False)[0]
    return ".".join(str(part) for part in details["loc"]), details["msg"]


def _line(record: RolloutRecord) -> bytes:
    return json.dumps(record.model_dump(mode="json"), allow_nan=False).encode() + b"\n"


def _text(text: str) -> str:
    """Without halves of surrogate pairs, which no JSON reader has to accept."""
    return text.encode("utf-8", "replace").decode()


def _state(reward: Reward) -> ScoreState:
    if reward.value is None:
        return ScoreState.NOT_SCORED
    return ScoreState.PASSED if reward.value == 1 else ScoreState.FAILED


def _score(view: JudgeView) -> float | None:
    return None if view.points is None else view.points / 7


def _decisive(verification: Verification) -> JudgeView | None:
    """The judge whose points are the verification's: the first at the minimum, as in layer 4."""
    if verification.points is None:
        return None
    return next((view for view in verification.judges if view.points == verification.points), None)
