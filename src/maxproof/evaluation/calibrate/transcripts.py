"""Logs of a verify-and-repair loop as a replayed verifier: JSONL rows `model`, `problem`, `seq`, `kind`, `text`.

Kinds, in the order of `seq` within one log (one model, one problem): `proof`; `verification`, a report on the latest
proof; `yes_no`, whether that report passes it. Each proof has as many samples as reports. Two judges are read from
each:

    report     what the report's own final verdict says: correct 7 points; only gaps in the justification 6; errors,
               invalid or incomplete 0; no final verdict: not scored
    yes-no     the answer drawn from the report: 7 or 0 points

The file has no outside grades. What stands in for them is where the log *settled*: the last proof of a log, if its last
answer is yes, counts as right, and every other one as wrong. So the false-positive rate is the share of passes of
proofs that the same verifier gave up later, and the false-negative rate of the yes-no judge is zero by construction,
since a single no gives a proof up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from maxproof.evaluation.calibrate.replay import judged
from maxproof.evaluation.calibrate.types import Evidence, Graded, Sample
from maxproof.problems import InputError
from maxproof.problems.errors import Place
from maxproof.problems.text import read_lines
from maxproof.verifier.types import MAX_POINTS

MAX_LINE_BYTES = 8 * 1024 * 1024
REPORT, YES_NO = "report", "yes-no"
GAPS_POINTS = 6.0
MAX_VERDICT_CHARS = 400

TRUTH = "Right: the proof on which a log settled. Wrong: every proof that was given up."
CAUTION = (
    "These logs hold no outside grades: the reference is what the same verifier settled on, so these are rates of "
    "changing its mind and not of being wrong. A false positive is a pass of a proof that was given up later. A single "
    "no gives a proof up, so false negatives of yes-no are zero by construction and say nothing; and as a no ends a "
    "proof's samples, those with many are few and chosen: the rates by K rest on these."
)

_VERDICT = re.compile(rf"final[ \t]+verdict[\s:*_#]{{0,20}}([^\n]{{1,{MAX_VERDICT_CHARS}}})", re.IGNORECASE)
_CORRECT = re.compile(
    r"\W*the\s+(?:solution|proof)\s+is\s+\W*(?:completely\s+|fully\s+|entirely\s+)?(?:correct|valid)\b(?!\s+but)", re.I
)
_WRONG = re.compile(r"\binvalid\b|\bincorrect\b|\bincomplete\b|\bcritical\s+errors?\b|\bwrong\b", re.IGNORECASE)
_GAPS = re.compile(r"\bgaps?\b", re.IGNORECASE)


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    model: str
    problem: str
    seq: int
    kind: Literal["proof", "verification", "yes_no"]
    text: str


@dataclass(slots=True)
class _Proof:
    model: str
    problem: str
    seq: int
    text: str
    samples: list[Sample] = field(default_factory=list)
    last_answer: bool | None = None


def stated_points(report: str) -> float | None:
    """The points that a report's final verdict amounts to, see above; None where none is read. Never raises."""
    found = _VERDICT.search(report)
    if found is None:
        return None
    verdict = found.group(1)
    if _CORRECT.match(verdict):
        return float(MAX_POINTS)
    if _WRONG.search(verdict):
        return 0.0
    return GAPS_POINTS if _GAPS.search(verdict) else None


def read_transcripts(path: Path) -> Evidence:
    """The proofs of all logs that have a verification.

    Raises InputError with the line: no such row, a report without a proof before it, no verified proof at all.
    """
    logs: dict[tuple[str, str], list[tuple[int, Place, _Row]]] = defaultdict(list)
    for number, line in read_lines(path, MAX_LINE_BYTES):
        if not line.strip():
            continue
        place = Place(path, number)
        try:
            row = _Row.model_validate_json(line.strip())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise place.error(first["msg"], field=".".join(map(str, first["loc"])) or None) from None
        logs[row.model, row.problem].append((row.seq, place, row))
    proofs: list[_Proof] = []
    unverified = 0
    settled: set[int] = set()
    for rows in logs.values():
        found = _read_log(sorted(rows, key=lambda entry: entry[0]))
        verified = [proof for proof in found if proof.samples]
        unverified += len(found) - len(verified)
        proofs += verified
        if found and found[-1].last_answer:
            settled.add(id(found[-1]))
    if not proofs:
        raise InputError("no verified proof in the logs", file=path)
    return Evidence(
        tuple(
            judged(
                Graded(
                    f"{proof.model}/{proof.problem}/{proof.seq}",
                    proof.problem,
                    id(proof) in settled,
                    proof.text,
                    label=proof.model,
                ),
                proof.samples,
            )
            for proof in proofs
        ),
        TRUTH,
        CAUTION,
        "reports of the logs, replayed",
        {"proofs without a verification": unverified} if unverified else {},
    )


def _read_log(rows: list[tuple[int, Place, _Row]]) -> list[_Proof]:
    proofs: list[_Proof] = []
    report: str | None = None
    for seq, place, row in rows:
        if row.kind == "proof":
            proofs.append(_Proof(row.model, row.problem, seq, row.text))
            report = None
        elif not proofs:
            raise place.error("no proof stands before it in its log", field="seq")
        elif row.kind == "verification":
            report = row.text
        else:
            answer = _answer(row.text)
            points = None if answer is None else float(MAX_POINTS if answer else 0)
            proofs[-1].samples.append(Sample({REPORT: stated_points(report or ""), YES_NO: points}))
            proofs[-1].last_answer = answer
            report = None
    return proofs


def _answer(text: str) -> bool | None:
    word = text.strip(" \t\r\n.*\"'`").casefold()
    return {"yes": True, "no": False}.get(word)
