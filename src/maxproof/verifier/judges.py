"""Layer 3: asks the judges (MaxProof section 2.2).

A judge is asked for all wanted samples of a candidate at once, so that a server that can draw several samples from one
prompt gets one request. A reply that can't be used is asked for once more, with a note what was wrong with it; the
reply itself is not shown again, since it may quote the candidate outside its fence. What still can't be used, like a
call that failed, is "not scored" with its reason. A sample that was not run at all (a budget is spent) is missing from
the result.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from maxproof.models.call_key import inputs_digest
from maxproof.models.template import load_template
from maxproof.models.types import (
    Answer,
    AnswerState,
    Call,
    CallAddress,
    Caller,
    CallFailed,
    CallNotRun,
    Message,
    NoAnswer,
)
from maxproof.problems import Problem
from maxproof.verifier.judge_reply import JudgeReply, ReplyFault, parse_reply
from maxproof.verifier.settings import JudgeSettings, PointsMap, VerifierSettings
from maxproof.verifier.types import MAX_POINTS, JudgeView, ScoreState, Verdict

PACKAGE = "maxproof.verifier"
FREE = JudgeSettings(name="free", mode="free")


@dataclass(frozen=True, slots=True)
class Case:
    """What the judges of one candidate are shown.

    Attributes:
        candidate: its id.
        digest: hex digest that fixes `text()`, known without building it.
        text: the candidate's text after layer 2; called only when some answer is not in the journal.
        tagged: whether `text()` or the problem holds tags like those of a reply, which a judge may quote; asked only
            when a reply is read.
    """

    problem: Problem
    candidate: int
    digest: str
    text: Callable[[], str]
    tagged: Callable[[], bool]


def applicable_judges(settings: VerifierSettings, problem: Problem) -> tuple[JudgeSettings, ...]:
    """The judges that can judge this problem, in configured order.

    A rubric judge needs a rubric or a reference solution. If that leaves none, a rubric-free judge named `free` is
    asked.
    """
    guided = bool(problem.rubric or problem.reference)
    return tuple(judge for judge in settings.judges if guided or judge.mode == "free") or (FREE,)


def judge_calls(settings: VerifierSettings, problem: Problem) -> int:
    """Judge calls of one verification, re-asks not counted."""
    return len(applicable_judges(settings, problem))


def points_of(reply: JudgeReply, mode: str, points: PointsMap) -> float:
    """Points 0..7: the verdict's in the map; 7 iff `no_errors`.

    A rubric judge's score refines that, clipped to what the two neighbouring verdicts are worth, and to 6 below
    `no_errors`.
    """
    mapped: float = getattr(points, reply.verdict.value)
    if reply.verdict is Verdict.NO_ERRORS or reply.score is None or mode != "rubric":
        return mapped
    order = list(Verdict)
    place = order.index(reply.verdict)
    worse = order[min(place + 1, len(order) - 1)]
    low: float = getattr(points, worse.value) if worse is not reply.verdict else 0.0
    high: float = getattr(points, order[place - 1].value)
    high = high if high < MAX_POINTS else max(mapped, MAX_POINTS - 1)
    return min(max(reply.score, low), high)


async def ask_judge(
    caller: Caller, judge: JudgeSettings, case: Case, samples: Sequence[int], points: PointsMap
) -> dict[int, JudgeView]:
    """One judge's view for each sample; a sample whose call was not run is missing."""
    outcomes = await _ask(caller, judge, case, samples, None)
    again: dict[ReplyFault, list[int]] = defaultdict(list)
    for sample, outcome in outcomes.items():
        # A reply that met the token limit would meet it again.
        if isinstance(outcome, ReplyFault) and outcome is not ReplyFault.TRUNCATED:
            again[outcome].append(sample)
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_ask(caller, judge, case, repeated, fault)) for fault, repeated in again.items()]
    for task in asked:
        outcomes |= task.result()
    return {
        sample: _view(judge, outcome, points)
        for sample, outcome in outcomes.items()
        if not isinstance(outcome, CallNotRun)
    }


async def _ask(
    caller: Caller, judge: JudgeSettings, case: Case, samples: Sequence[int], fault: ReplyFault | None
) -> dict[int, JudgeReply | ReplyFault | NoAnswer]:
    calls = [_call(judge, case, sample, fault) for sample in samples]
    answers = await caller.ask_samples(calls)
    return {sample: _read(answer, case) for sample, answer in zip(samples, answers, strict=True)}


def _call(judge: JudgeSettings, case: Case, sample: int, fault: ReplyFault | None) -> Call:
    template = load_template(PACKAGE, f"judge-{judge.mode}")
    problem = case.problem
    shown: dict[str, str | None] = {"problem": problem.statement}
    if judge.mode == "rubric":
        shown |= {
            "reference": problem.reference or None,
            "rubric": problem.rubric or None,
            "answer": problem.answer or None,
        }
    note = None if fault is None else fault.value

    def prompt() -> tuple[Message, ...]:
        return template.render({**shown, "candidate": case.text()}, {"fault": note})

    return Call(
        address=CallAddress("judge", "verify", case.candidate, sample, judge.name, attempt=0 if fault is None else 1),
        template=template.id,
        inputs=inputs_digest(*shown.values(), case.digest, note),
        prompt=prompt,
    )


def _read(answer: Answer | NoAnswer, case: Case) -> JudgeReply | ReplyFault | NoAnswer:
    """The reply in an answer. A cut one never passes: what was cut off could have taken the verdict back."""
    if isinstance(answer, NoAnswer):
        return answer
    if answer.state is AnswerState.REFUSED:
        return ReplyFault.REFUSED
    cut = answer.state is AnswerState.TRUNCATED
    if answer.unclosed_thinking:
        return ReplyFault.TRUNCATED if cut else ReplyFault.UNCLOSED_THINKING
    if not answer.text.strip():
        return ReplyFault.TRUNCATED if cut else ReplyFault.EMPTY
    reply = parse_reply(answer.text, tagged=case.tagged, thinking=answer.reasoning)
    if cut and (isinstance(reply, ReplyFault) or reply.verdict is Verdict.NO_ERRORS):
        return ReplyFault.TRUNCATED
    return reply


def _view(judge: JudgeSettings, outcome: JudgeReply | ReplyFault | NoAnswer, points: PointsMap) -> JudgeView:
    if isinstance(outcome, JudgeReply):
        value = points_of(outcome, judge.mode, points)
        state = ScoreState.PASSED if value == MAX_POINTS else ScoreState.FAILED
        return JudgeView(judge.name, judge.mode, state, value, outcome.verdict, outcome.errors, outcome.assessment)
    if isinstance(outcome, CallFailed):
        reason = f"no answer ({outcome.kind}): {outcome.message}"
    elif outcome is ReplyFault.TRUNCATED:
        reason = f"the reply can't be used: {outcome}; raise the judge's max_tokens"
    else:
        reason = f"the reply can't be used, nor could the first one: {outcome}"
    return JudgeView(judge.name, judge.mode, ScoreState.NOT_SCORED, None, None, reason=reason)
