"""The compact format in which a small model is asked and answers: six tasks, both ways, as plain text.

    <prove> STATEMENT <sep>                                  -> the proof, one sentence a line
    <verify> STATEMENT <sep> 1: ... 2: ... <sep>             -> 1 ok 2 false 3 note 4 missing has_errors
    <patch> STATEMENT <sep> 1: ... 2: ... <sep> 2 false <sep>      -> a whole new proof
    <rewrite> STATEMENT <sep> 1: ... 2: ... <sep>            -> a proof by another technique
    <summarise> STATEMENT <sep> 1: ... 2: ... <sep> 2 false <sep>  -> by isolation ; false at 2
    <rank> STATEMENT <sep> 1: ... 2: ... <sep> 1: ... <sep>  -> first | second

An answer's text has no end token: the tokenizer adds it, and the readers forgive one.

Marks: every sentence is `ok`, `false` (unreadable counts as that), `leap` or `note` (it claims nothing); after the last
sentence its successor's number may be `missing`: the goal isn't reached. The verdict's word comes last. `no_errors`
holds exactly when no sentence is false, a leap or missing; an answer that breaks this can't be read.

Whatever comes from outside goes through `canonical`, so it can hold neither a special token nor a tag of a reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from maxproof.lab.canonical import MAX_CHARS, canonical, token_count
from maxproof.lab.types import OracleReport, StepVerdict
from maxproof.verifier.types import LocatedError, Verdict

TASKS = ("prove", "verify", "patch", "rewrite", "summarise", "rank")

MAX_STATEMENT_TOKENS = 48
MAX_PROOF_TOKENS = 130
"""Tokens of a proof in a prompt with its numbering: two such proofs fit into a ranking prompt of 330."""
MAX_SENTENCES = 32


class Mark(StrEnum):
    """What a verifier says of one sentence."""

    OK = "ok"
    FALSE = "false"
    LEAP = "leap"
    NOTE = "note"
    MISSING = "missing"  # of the sentence after the last: the goal isn't reached

    @property
    def is_error(self) -> bool:
        return self in (Mark.FALSE, Mark.LEAP, Mark.MISSING)


DESCRIPTIONS = {
    Mark.FALSE: "This claim is false: it does not follow from what is established.",
    Mark.LEAP: "This is a leap: it is not shown, steps before it are left out.",
    Mark.MISSING: "The goal is not reached: the proof ends before what was asked for is established.",
}
"""The description of an error in a reply, by its mark; `mark_of` reads them back."""

CLIPPED = "The text goes on past what can be read here: nothing of the rest counts as shown."

_MARK_OF_STEP = {
    StepVerdict.VALID: Mark.OK,
    StepVerdict.LEAP: Mark.LEAP,
    StepVerdict.FALSE: Mark.FALSE,
    StepVerdict.UNREADABLE: Mark.FALSE,
    StepVerdict.FILLER: Mark.NOTE,
}


@dataclass(frozen=True, slots=True)
class Critique:
    """What a verifier says of a proof.

    Attributes:
        marks: one for each sentence, in order; then `MISSING` if the goal isn't reached.
        verdict: `no_errors` iff no mark is an error.
        errors: the located errors, in order; the location is the sentence.
    """

    marks: tuple[Mark, ...]
    verdict: Verdict
    errors: tuple[LocatedError, ...]


def proof_lines(proof: str) -> tuple[tuple[str, ...], bool]:
    """The sentences of a proof that fit into a prompt, and whether that is all of them."""
    lines = [line for line in canonical(proof).split("\n") if line]
    kept: list[str] = []
    room = MAX_PROOF_TOKENS
    for line in lines[:MAX_SENTENCES]:
        room -= token_count(line) + 2
        if room < 0:
            break
        kept.append(line)
    return tuple(kept), len(kept) == len(lines) and len(proof) <= MAX_CHARS


# --- prompts ----------------------------------------------------------------------------------------------------------


def prove_prompt(statement: str) -> str:
    """Asks for a proof of `statement`."""
    return f"<prove> {_statement(statement)} <sep>"


def verify_prompt(statement: str, proof: str) -> str:
    """Asks for the marks of `proof`."""
    return f"<verify> {_statement(statement)} <sep> {numbered(proof)} <sep>"


def patch_prompt(statement: str, proof: str, marks: Sequence[Mark]) -> str:
    """Asks for `proof` with the marked errors repaired."""
    return f"<patch> {_statement(statement)} <sep> {numbered(proof)} <sep> {error_marks(marks)} <sep>"


def rewrite_prompt(statement: str, proof: str) -> str:
    """Asks for a proof by another technique than that of `proof`."""
    return f"<rewrite> {_statement(statement)} <sep> {numbered(proof)} <sep>"


def summarise_prompt(statement: str, proof: str, marks: Sequence[Mark]) -> str:
    """Asks for the technique of `proof` and its first error."""
    return f"<summarise> {_statement(statement)} <sep> {numbered(proof)} <sep> {error_marks(marks)} <sep>"


def rank_prompt(statement: str, first: str, second: str) -> str:
    """Asks which of two proofs is more correct."""
    return f"<rank> {_statement(statement)} <sep> {numbered(first)} <sep> {numbered(second)} <sep>"


_HEADER = re.compile(r"^Step [0-9]{1,3}: (?=.)")


def numbered(proof: str) -> str:
    """The proof's sentences as `1: ... 2: ...`, as far as they fit; `...` at the end says that there are more.

    A header `Step 3: ` gives way to the sentence's number.
    """
    lines, whole = proof_lines(proof)
    parts = [f"{number}: {_HEADER.sub('', line)}" for number, line in enumerate(lines, 1)]
    return " ".join(parts if whole else [*parts, "..."])


def error_marks(marks: Sequence[Mark]) -> str:
    """The marks that are errors, as `2 false 4 leap`; `none` if there is none."""
    return " ".join(f"{number} {mark}" for number, mark in enumerate(marks, 1) if mark.is_error) or "none"


def _statement(statement: str) -> str:
    words = canonical(statement).split()
    kept: list[str] = []
    room = MAX_STATEMENT_TOKENS
    for word in words:
        room -= token_count(word)
        if room < 0:
            break
        kept.append(word)
    return " ".join(kept)


# --- answers ----------------------------------------------------------------------------------------------------------


def proof_answer(proof: str) -> str:
    """A proof as an answer."""
    return canonical(proof)


def read_proof(answer: str) -> str:
    """The proof that an answer is; "" for an empty one."""
    return canonical(_without_end(answer))


def marks_of_report(report: OracleReport) -> tuple[Mark, ...]:
    """The right marks of a proof. The report must be that of its `canonical` text, unclipped.

    They are those of the oracle's sentences, then `MISSING` if no false one explains that the goal isn't reached, or
    nothing else why the proof isn't right.
    """
    marks = tuple(_MARK_OF_STEP[sentence.verdict] for sentence in report.sentences)
    wrong = report.verdict is not Verdict.NO_ERRORS
    stops = not report.goal and Mark.FALSE not in marks
    unexplained = not any(mark.is_error for mark in marks)
    return (*marks, Mark.MISSING) if wrong and (stops or unexplained) else marks


def critique_answer(marks: Sequence[Mark], verdict: Verdict) -> str:
    """Any marks with any verdict as an answer: what a taught verifier says need not be right."""
    return " ".join([*(f"{number} {mark}" for number, mark in enumerate(marks, 1)), str(verdict)])


def read_marks(answer: str, proof: str) -> Critique | None:
    """The critique that a verify answer is; None if it isn't one.

    It must mark every sentence of the prompt once and in order, and its verdict must agree with its marks. Of a proof
    that didn't fit into the prompt the rest counts as not shown: an error is added, and the verdict is at best
    `has_errors`.
    """
    words = _without_end(answer).split()
    lines, whole = proof_lines(proof)
    if len(words) % 2 == 0 or words[-1] not in set(Verdict):
        return None
    numbers, names = words[0:-1:2], words[1:-1:2]
    if numbers != [str(number) for number in range(1, len(numbers) + 1)] or not set(names) <= set(Mark):
        return None
    marks = tuple(Mark(name) for name in names)
    extra = (Mark.MISSING,) if marks[-1:] == (Mark.MISSING,) else ()
    if len(marks) != len(lines) + len(extra) or Mark.MISSING in marks[: len(lines)]:
        return None
    verdict = Verdict(words[-1])
    if (verdict is Verdict.NO_ERRORS) == any(mark.is_error for mark in marks):
        return None
    return critique(marks, verdict, lines) if whole else _of_clipped(marks, verdict, lines)


def critique(marks: tuple[Mark, ...], verdict: Verdict, lines: Sequence[str]) -> Critique:
    """A critique with its errors located: the location is the sentence, of a missing goal the last one."""
    last = lines[-1] if lines else ""
    errors = tuple(
        LocatedError(last if mark is Mark.MISSING else line, DESCRIPTIONS[mark])
        for mark, line in zip(marks, (*lines, last), strict=False)
        if mark.is_error
    )
    return Critique(marks, verdict, errors)


def _of_clipped(marks: tuple[Mark, ...], verdict: Verdict, lines: Sequence[str]) -> Critique:
    if verdict in (Verdict.NO_ERRORS, Verdict.MINOR_GAPS):
        verdict = Verdict.HAS_ERRORS
    if Mark.MISSING not in marks:
        marks = (*marks, Mark.MISSING)
    errors = critique(marks, verdict, lines).errors
    return Critique(marks, verdict, (*errors[:-1], LocatedError(errors[-1].location, CLIPPED)))


def summary_answer(technique: str, marks: Sequence[Mark]) -> str:
    """The technique and the first error, as `by isolation ; false at 2`; `no issue` without one."""
    first = next((f"{mark} at {number}" for number, mark in enumerate(marks, 1) if mark.is_error), "no issue")
    return f"by {technique} ; {first}"


_SUMMARY = re.compile(r"by ([a-z_]{1,40}) ; (no issue|(?:false|leap|missing) at \d{1,2})")


def read_summary(answer: str) -> str | None:
    """The summary that an answer is, as a sentence part without special signs; None if it isn't one."""
    found = _SUMMARY.fullmatch(_without_end(answer))
    return f"by {found.group(1).replace('_', ' ')}; {found.group(2)}" if found else None


def read_choice(answer: str) -> Literal["first", "second"] | None:
    """The choice that a rank answer is; None if it isn't one."""
    word = _without_end(answer)
    return "first" if word == "first" else "second" if word == "second" else None


def _without_end(answer: str) -> str:
    return answer.strip().removesuffix("<end>").strip()


# --- to and from the replies of full-size models ----------------------------------------------------------------------


def critique_reply(critique: Critique) -> str:
    """The critique in the form that judges reply in (`verifier/judge_reply.py` reads it)."""
    assessment = [f"Sentence {number}: {mark}." for number, mark in enumerate(critique.marks, 1)]
    errors = [
        f'{number}. Location: "{error.location}"\n   Description: {error.description}'
        for number, error in enumerate(critique.errors, 1)
    ]
    return "\n".join(
        [
            "<assessment>",
            *(assessment or ["There is no sentence to read."]),
            "</assessment>",
            "<errors>",
            *(errors or ["none"]),
            "</errors>",
            f"<verdict>{critique.verdict}</verdict>",
        ]
    )


def summary_reply(answer: str) -> str:
    """A summarise answer in the form that the summariser replies in; an unreadable one as it is, without brackets."""
    return f"<summary>{read_summary(answer) or canonical(answer)}</summary>"


def choice_reply(answer: str) -> str:
    """A rank answer in the form that the ranker replies in; "" for an unreadable one."""
    choice = read_choice(answer)
    return f"<choice>{choice}</choice>" if choice else ""


_MISSING_WORDS = re.compile(r"\b(?:goal|final answer|never reach|not reach|does not conclude|past what)", re.IGNORECASE)
_LEAP_WORDS = re.compile(
    r"\b(?:leaps?|gaps?|left out|not shown|unproved|unproven|unjustified|not justified|without (?:proof|reason|steps?)"
    r"|skips?|skipped|missing|more than one)\b",
    re.IGNORECASE,
)


def mark_of(description: str) -> Mark:
    """What kind of error a description speaks of, by its words; `FALSE` if they don't say."""
    if _MISSING_WORDS.search(description):
        return Mark.MISSING
    return Mark.LEAP if _LEAP_WORDS.search(description) else Mark.FALSE


_AT = re.compile(r"^(?:step|sentence|line)?[ \t]*(\d{1,2})[.:]?$", re.IGNORECASE)
_LABEL = re.compile(r"^(?:Step \d{1,3}: |### )")


def marks_from_errors(errors: Sequence[LocatedError], verdict: Verdict, proof: str) -> tuple[Mark, ...]:
    """The marks that say what a judge's located errors say of `proof`.

    A location names a sentence by its number or quotes it, wholly or in part. Sentences without a number or a sign are
    `note` where nothing is wrong with them. An error that is at no sentence says that something is missing, as does a
    verdict below `no_errors` without any error.
    """
    lines, _ = proof_lines(proof)
    marks = [Mark.OK if _claims(line) else Mark.NOTE for line in lines]
    missing = False
    for error in errors:
        mark = mark_of(error.description)
        place = None if mark is Mark.MISSING else sentence_at(error.location, lines)
        if place is None:
            missing = True
        elif marks[place] is not Mark.FALSE:
            marks[place] = mark
    if missing or (verdict is not Verdict.NO_ERRORS and not any(mark.is_error for mark in marks)):
        marks.append(Mark.MISSING)
    return tuple(marks)


def marks_from_critique(text: str, proof: str) -> tuple[Mark, ...]:
    """The marks of a critique as the refiner gets it (`verifier/aggregate.critique_text`). Never raises.

    A text in another form, such as the evidence of a layer 1 hit, says that something is missing.
    """
    body = text[:MAX_CHARS].partition("\nAssessment:\n")[0]
    errors = tuple(LocatedError(found["place"] or "", found["what"] or "") for found in _CRITIQUE_ITEM.finditer(body))
    clean = body.startswith(f"Verdict: {Verdict.NO_ERRORS}")
    return marks_from_errors(errors, Verdict.NO_ERRORS if clean else Verdict.HAS_ERRORS, proof)


_CRITIQUE_ITEM = re.compile(
    r"^\d{1,3}\. (?:At: (?P<place>[^\n]*)|No place given\.)(?:\n   (?P<what>[^\n]*))?$", re.MULTILINE
)


def sentence_at(location: str, lines: Sequence[str]) -> int | None:
    """The index of the sentence that a location means: by number, quoted, quoted in part, or most of its tokens."""
    number = _AT.match(location.strip())
    if number is not None:
        index = int(number.group(1)) - 1
        return index if 0 <= index < len(lines) else None
    quoted = _bare(canonical(location).replace("\n", " "))
    if not quoted:
        return None
    bare = [_bare(line) for line in lines]
    if quoted in bare:
        return bare.index(quoted)
    parts = [
        index
        for index, line in enumerate(bare)
        if line and (f" {quoted} " in f" {line} " or f" {line} " in f" {quoted} ")
    ]
    if parts:
        return max(parts, key=lambda index: (len(bare[index]), -index))
    wanted = set(quoted.split())
    shares = [len(wanted & set(line.split())) / len(wanted | set(line.split())) for line in bare]
    best = max(range(len(bare)), key=lambda index: (shares[index], -index), default=None)
    return best if best is not None and shares[best] >= 0.5 else None


def _bare(line: str) -> str:
    """A sentence without its header and its final point."""
    return _LABEL.sub("", line).removesuffix(".").strip()


def _claims(line: str) -> bool:
    return not line.startswith("###") and re.search(r"\d|[=<>]", _LABEL.sub("", line)) is not None
