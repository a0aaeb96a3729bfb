"""The exact oracle: what a text proves, sentence by sentence, and its points.

Each sentence's claim is judged by the question in order, with what is established so far. *Progress* is a valid claim
that establishes something new, or that first states the goal; repeating what is known is valid, but no progress. A
*gap* is a leap or an unreadable sentence. *Needed* is the number of claims of the shortest own solution.

| points | verdict | when |
|---|---|---|
| 7 | no_errors | goal reached, nothing false, no gap |
| 6, 5 | minor_gaps | goal reached, nothing false, 1 or 2 gaps, and they are less than half of all new claims |
| 2 | has_errors | goal reached, and more gaps than that, but some progress, or something false later on |
| 2 | has_errors | goal not reached (before the first false claim), progress at least half of what is needed |
| 1 | has_errors | less than that: some progress before the first false claim, or the bare right answer |
| 0 | fundamentally_wrong | no progress up to the first false claim or the end: empty, unreadable, wrong at once |

The goal counts as reached only by a claim that states it rightly and has no false claim before it. Sentences that claim
nothing are not counted, nor are repetitions, so openers, headers, connectives, hand-waving phrases, remarks and closing
sections that repeat change nothing. A false claim counts wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from maxproof.lab.domains import read_question
from maxproof.lab.language import sentences
from maxproof.lab.types import OracleReport, Question, SentenceReport, StepVerdict
from maxproof.verifier.types import MAX_POINTS, Verdict

MAX_MINOR_GAPS = 2


@dataclass(slots=True)
class _Tally:
    """Counts up to the first false claim, and whether there was one."""

    progress: int = 0
    gaps: int = 0
    goal: bool = False
    false: bool = False


def grade(question: Question, text: str) -> OracleReport:
    """Reads and judges a text by the scheme above. Pure; never raises on any text."""
    state = question.start()
    tally = _Tally()
    reports: list[SentenceReport] = []
    for sentence in sentences(text):
        if not sentence.claim:
            reports.append(SentenceReport(sentence.text, StepVerdict.FILLER))
            continue
        judgement = question.judge(state, sentence.claim)
        if judgement is None:
            reports.append(SentenceReport(sentence.text, StepVerdict.UNREADABLE, "can't be read as a claim"))
            tally.gaps += 1
            continue
        reports.append(SentenceReport(sentence.text, judgement.verdict, judgement.description))
        if judgement.verdict is StepVerdict.FALSE:
            tally.false = True
            continue
        reached = judgement.goal and not tally.goal
        if not tally.false:
            tally.goal |= judgement.goal
            if judgement.verdict is StepVerdict.LEAP:
                tally.gaps += 1
            elif reached or judgement.state != state:
                tally.progress += 1
        state = judgement.state
    verdict, points = _score(tally, needed(question))
    return OracleReport(verdict, points, tuple(reports), tally.goal)


def grade_statement(statement: str, text: str) -> OracleReport:
    """`grade` for the question that a statement asks. Raises ValueError if no domain reads the statement."""
    question = read_question(statement)
    if question is None:
        raise ValueError(f"no domain reads the statement {statement[:100]!r}")
    return grade(question, text)


def true_verdict(statement: str, text: str) -> Verdict | None:
    """The verdict of a text; None for a statement that is none of the lab's."""
    question = read_question(statement)
    return None if question is None else grade(question, text).verdict


def true_score(statement: str, text: str) -> float | None:
    """The points of a text over the most there are, 0..1; None for a statement that is none of the lab's."""
    question = read_question(statement)
    return None if question is None else grade(question, text).points / MAX_POINTS


@lru_cache(maxsize=4096)
def needed(question: Question) -> int:
    """The number of claims of the question's shortest own solution."""
    return min(len(question.solve(technique)) for technique in question.techniques)


def _score(tally: _Tally, claims_needed: int) -> tuple[Verdict, float]:
    enough = 2 * tally.progress >= claims_needed
    if tally.goal and not tally.false:
        if not tally.gaps:
            return Verdict.NO_ERRORS, float(MAX_POINTS)
        if tally.gaps <= MAX_MINOR_GAPS and tally.gaps < tally.progress:
            return Verdict.MINOR_GAPS, float(MAX_POINTS - tally.gaps)
    if (tally.goal and tally.progress) or enough:
        return Verdict.HAS_ERRORS, 2.0
    if tally.goal or tally.progress:
        return Verdict.HAS_ERRORS, 1.0
    return Verdict.FUNDAMENTALLY_WRONG, 0.0
