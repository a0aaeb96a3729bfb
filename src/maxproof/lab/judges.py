"""Judges of the proof world: they look at what the oracle finds, and overlook or imagine things at set rates.

    caller = LabJudges(PANEL, seed=0)
    verifier = Verifier(VerifierSettings(), caller, problem)

They stand for the language models that judge proofs in the published system, so they answer through the same prompts
and in the same form as those: the real templates, fences and parser are in between. They are never the oracle: a judge
without faults can't be made.

How a judge misjudges. The oracle's *issues* with a text are its false or unreadable sentences, its leaps, and a goal
that is not reached. Each is overlooked with a probability p of its kind, which a proof's dress shifts:
`logit p' = logit p + sum(bias of a part * how much of that part there is)`. A mistake that is carried on makes further
sentences false that follow from the first one: a judge who has overlooked a false sentence takes a later one for its
consequence with probability `carry`, else looks at it as at the first. What is not overlooked is listed and makes the
verdict. A text that the oracle has no issue with is faulted with probability `false_alarm`.

Correlation. With probability `sqrt(rho)` a judge decides on an issue by the draw that all judges of that text share,
else by one of its own; so two judges of equal rates have faults of correlation rho, whatever the sample. This is the
rule of the simulated model of `maxproof.models.mock` as well.

Every reply is a function of (seed, judge, statement, text, sample).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType

from maxproof.lab.oracle import grade_statement
from maxproof.lab.style import LONG_CHARS, style_of
from maxproof.lab.types import OracleReport, SentenceReport, StepVerdict
from maxproof.models.template import fenced_blocks
from maxproof.models.types import Answer, Call, CallFailed, FailureKind, NoAnswer, ask_one
from maxproof.verifier.judge_reply import holds_tags
from maxproof.verifier.settings import JudgeSettings, NormaliserSettings, VerifierSettings
from maxproof.verifier.types import Verdict

_MAX_LOCATION_CHARS = 200
_CACHED_TEXTS = 20_000


@dataclass(frozen=True, slots=True)
class JudgeFaults:
    """How one judge errs. Rates are probabilities; biases are shifts in log-odds of overlooking, >= 0 for a judge who
    falls for that part.

    Attributes:
        miss_false: of overlooking a false or unreadable sentence, or that the goal is not reached; in (0, 1).
        miss_leap: of overlooking a leap; in (0, 1).
        false_alarm: of faulting a text that is right; in [0, 1).
        carry: of taking a false sentence after an overlooked one for its consequence; in [0, 1).
        opener_bias, header_bias, verification_bias: for a text with an opening phrase, "Step N:" headers, a closing
            section that repeats.
        length_bias: for a text of `style.LONG_CHARS` characters or more; a shorter one has its share of it.
        correlation: rho in [0, 1], see the module's docstring.

    Raises ValueError for a number out of range.
    """

    miss_false: float
    miss_leap: float
    false_alarm: float
    carry: float = 0.8
    opener_bias: float = 0.0
    header_bias: float = 0.0
    length_bias: float = 0.0
    verification_bias: float = 0.0
    correlation: float = 0.3

    def __post_init__(self) -> None:
        if not (0 < self.miss_false < 1 and 0 < self.miss_leap < 1):
            raise ValueError("miss_false and miss_leap must lie in (0, 1): a judge who never errs is the oracle")
        if not (0 <= self.false_alarm < 1 and 0 <= self.carry < 1):
            raise ValueError("false_alarm and carry must lie in [0, 1)")
        if not 0 <= self.correlation <= 1:
            raise ValueError(f"correlation = {self.correlation} is not in [0, 1]")
        if not all(math.isfinite(getattr(self, field.name)) for field in fields(self)):
            raise ValueError("every number must be finite")


BIASED_VERIFIER = VerifierSettings(
    judges=(JudgeSettings(name="biased", mode="rubric"),), normaliser=NormaliserSettings(method="none")
)
"""One judge who sees the text as it was written: the reward that the published system had before its four layers."""

BIASED: Mapping[str, JudgeFaults] = MappingProxyType(
    {
        "biased": JudgeFaults(
            miss_false=0.15, miss_leap=0.5, false_alarm=0.05,
            opener_bias=0.8, header_bias=1.2, length_bias=1.5, verification_bias=1.5, correlation=0.0,
        )
    }
)  # fmt: skip
"""For `BIASED_VERIFIER`: of plain false claims it overlooks 15 %, of fully dressed ones 96 % (leaps: 50 %, 99 %)."""

PANEL: Mapping[str, JudgeFaults] = MappingProxyType(
    {
        "rubric": JudgeFaults(
            miss_false=0.10, miss_leap=0.30, false_alarm=0.03,
            opener_bias=0.4, header_bias=0.6, length_bias=0.75, verification_bias=0.75, correlation=0.3,
        ),
        "free": JudgeFaults(
            miss_false=0.15, miss_leap=0.15, false_alarm=0.05,
            opener_bias=0.4, header_bias=0.6, length_bias=0.75, verification_bias=0.75, correlation=0.3,
        ),
    }
)  # fmt: skip
"""For the default verifier (two rubric judges, one free one): each has half the bias of the biased judge."""


@dataclass(frozen=True, slots=True)
class _Issue:
    kind: StepVerdict
    location: str
    description: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """What there is to see in one text; `style` is how much there is of opener, headers, length, verification."""

    report: OracleReport
    issues: tuple[_Issue, ...]
    style: tuple[float, float, float, float]
    key: bytes


class LabJudges:
    """A `Caller` for the role `judge`.

    Args:
        faults: by judge name; a judge who is not named has those of its mode, `rubric` or `free`.
        seed: of all draws; judges of one panel share it.
        grade: the oracle: (statement, text) -> report; ValueError for a statement that is none of the lab's.

    A call that can't be answered (another role, no lab problem, a judge without faults) fails as `REJECTED`.
    """

    def __init__(
        self,
        faults: Mapping[str, JudgeFaults],
        seed: int = 0,
        *,
        grade: Callable[[str, str], OracleReport] = grade_statement,
    ) -> None:
        self._faults = faults
        self._seed = seed
        self._grade = grade
        self._read = lru_cache(maxsize=_CACHED_TEXTS)(self._read_text)

    async def ask(self, call: Call) -> Answer:
        """Raises CallFailed."""
        return await ask_one(self, call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        """One reply for each call, which share their prompt."""
        blocks = fenced_blocks(calls[0].prompt()) if calls else {}
        return [self._answer(call, blocks) for call in calls]

    def _answer(self, call: Call, blocks: Mapping[str, str]) -> Answer | NoAnswer:
        if call.address.role != "judge" or not {"problem", "candidate"} <= blocks.keys():
            return _rejected(f"lab judges can't answer the role {call.address.role}")
        name = call.address.judge
        mode = "rubric" if call.template.startswith("judge-rubric") else "free"
        faults = self._faults.get(name, self._faults.get(mode))
        if faults is None:
            return _rejected(f"no faults are set for the judge {name!r} or its mode")
        reading = self._read(blocks["problem"], blocks["candidate"])
        if reading is None:
            return _rejected("lab judges can judge problems of the lab only")
        return Answer(self._reply(faults, reading, name, call.address.sample), model=f"lab:{name}")

    def _read_text(self, statement: str, text: str) -> _Reading | None:
        try:
            report = self._grade(statement, text)
        except ValueError:
            return None
        style = style_of(text)
        parts = (
            float(bool(style.opener)),
            float(style.headers),
            min(1.0, len(text) / LONG_CHARS),
            float(style.verification),
        )
        key = hashlib.sha256(f"{len(statement)}\0{statement}\0{text}".encode("utf-8", "surrogatepass")).digest()
        return _Reading(report, _issues(report), parts, key)

    def _reply(self, faults: JudgeFaults, reading: _Reading, judge: str, sample: int) -> str:
        def draw(issue: str) -> float:
            own = f"{issue}\0{judge}\0{sample}"
            shared = self._draw(reading.key, f"which\0{own}") < math.sqrt(faults.correlation)
            return self._draw(reading.key, f"shared\0{issue}" if shared else f"own\0{own}")

        if not reading.issues:
            if draw("alarm") >= faults.false_alarm:
                return _form(reading, (), Verdict.NO_ERRORS)
            claims = [sentence.text for sentence in reading.report.sentences if sentence.verdict is StepVerdict.VALID]
            claim = claims[int(self._draw(reading.key, f"claim\0{judge}\0{sample}") * len(claims))] if claims else ""
            imagined = _Issue(StepVerdict.LEAP, claim, "this step is not justified well enough")
            return _form(reading, (imagined,), Verdict.MINOR_GAPS)
        biases = (faults.opener_bias, faults.header_bias, faults.length_bias, faults.verification_bias)
        shift = sum(bias * part for bias, part in zip(biases, reading.style, strict=True))
        rates = {
            kind: _shifted(faults.miss_leap if kind is StepVerdict.LEAP else faults.miss_false, shift)
            for kind in {issue.kind for issue in reading.issues}
        }
        seen: list[_Issue] = []
        believes_a_mistake = False
        for index, issue in enumerate(reading.issues):
            rate = rates[issue.kind]
            false = issue.kind is StepVerdict.FALSE
            if false and believes_a_mistake:
                rate += (1 - rate) * faults.carry
            if draw(str(index)) >= rate:
                seen.append(issue)
            else:
                believes_a_mistake |= false
        return _form(reading, seen, _verdict(reading, seen))

    def _draw(self, key: bytes, what: str) -> float:
        """Uniform in [0, 1)."""
        data = hashlib.blake2b(
            f"{self._seed}\0{what}".encode("utf-8", "surrogatepass"), key=key, digest_size=8
        ).digest()
        return int.from_bytes(data) / 2**64


def _issues(report: OracleReport) -> tuple[_Issue, ...]:
    """What the oracle has against a text; empty iff its verdict is `no_errors`."""
    if report.verdict is Verdict.NO_ERRORS:
        return ()
    kinds = (StepVerdict.FALSE, StepVerdict.LEAP, StepVerdict.UNREADABLE)
    found = [
        _Issue(sentence.verdict, sentence.text, _description(sentence))
        for sentence in report.sentences
        if sentence.verdict in kinds
    ]
    reached = report.goal or any(issue.kind is StepVerdict.FALSE for issue in found)
    if not reached or not found:
        last = report.sentences[-1].text if report.sentences else "the whole text"
        found.append(_Issue(StepVerdict.FALSE, last, "what was asked for is not reached"))
    return tuple(found)


def _description(sentence: SentenceReport) -> str:
    """What is the matter, with the kind said: whether something is false or only not shown is half of a critique."""
    said = sentence.description or f"this is {sentence.verdict}"
    return f"not shown: {said}" if sentence.verdict is StepVerdict.LEAP else said


def _verdict(reading: _Reading, seen: Sequence[_Issue]) -> Verdict:
    """The verdict of somebody who sees only these issues; never worse than the oracle's."""
    if not seen:
        return Verdict.NO_ERRORS
    order = list(Verdict)
    if all(issue.kind is not StepVerdict.FALSE for issue in seen):
        claims = sum(1 for sentence in reading.report.sentences if sentence.verdict is not StepVerdict.FILLER)
        few = len(seen) <= 2 and 2 * len(seen) < claims
        verdict = Verdict.MINOR_GAPS if few else Verdict.HAS_ERRORS
    else:
        first = next(issue for issue in reading.issues if issue.kind is StepVerdict.FALSE)
        verdict = Verdict.FUNDAMENTALLY_WRONG if first in seen else Verdict.HAS_ERRORS
    return min(verdict, max(reading.report.verdict, Verdict.MINOR_GAPS, key=order.index), key=order.index)


def _shifted(rate: float, shift: float) -> float:
    odds = math.log(rate / (1 - rate)) + shift
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def _form(reading: _Reading, issues: Sequence[_Issue], verdict: Verdict) -> str:
    claims = sum(1 for sentence in reading.report.sentences if sentence.verdict is not StepVerdict.FILLER)
    listed = "\n".join(
        f'{number}. Location: "{_quotable(issue.location)}"\n   Description: {_quotable(issue.description)}'
        for number, issue in enumerate(issues, 1)
    )
    return (
        f"<assessment>\nThe text makes {claims} claims; {len(issues)} of them can't be accepted.\n</assessment>\n"
        f"<errors>\n{listed or 'none'}\n</errors>\n<verdict>{verdict}</verdict>"
    )


def _quotable(text: str) -> str:
    """On one line, without quotation marks or tags that would be read as the reply's own."""
    text = " ".join(text[: 4 * _MAX_LOCATION_CHARS].split())[:_MAX_LOCATION_CHARS].replace('"', "'")
    return text.replace("<", "‹").replace(">", "›") if holds_tags(text) else text


def _rejected(message: str) -> CallFailed:
    return CallFailed(FailureKind.REJECTED, message, endpoint="lab")
