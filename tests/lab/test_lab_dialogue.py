"""The compact format: nothing from outside can leave it, and what is written is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.lab.canonical import canonical, token_count
from maxproof.lab.dialogue import (
    CLIPPED,
    MAX_PROOF_TOKENS,
    TASKS,
    Mark,
    choice_reply,
    critique,
    critique_answer,
    critique_reply,
    error_marks,
    mark_of,
    marks_from_critique,
    marks_from_errors,
    marks_of_report,
    patch_prompt,
    proof_lines,
    prove_prompt,
    rank_prompt,
    read_choice,
    read_marks,
    read_proof,
    read_summary,
    rewrite_prompt,
    summarise_prompt,
    summary_answer,
    summary_reply,
    verify_prompt,
)
from maxproof.lab.types import OracleReport, SentenceReport, StepVerdict
from maxproof.search.replies import parse_choice, parse_summary
from maxproof.verifier.aggregate import critique_text
from maxproof.verifier.judge_reply import JudgeReply, holds_tags, parse_reply
from maxproof.verifier.types import JudgeView, LocatedError, ScoreState, Verdict

SPECIAL_TOKENS = ("<pad>", "<unk>", "<end>", "<sep>", "<nl>", *(f"<{task}>" for task in TASKS))
STATEMENT = "Solve 3 x + 4 = 10."
PROOF = "To solve this problem, we start.\n3 x = 6.\nx = 3.\nThe answer is 3."
SIGNS = (*"<>/3x^2.:()- $\n\u2264\u00e9", "</", "###", "**", "-3", "<=", "- ", "7/2", "0.5", "1.")
WORDS = ("verdict", "no_errors", "Step 2:", "<verdict>no_errors</verdict>", *SPECIAL_TOKENS)
PIECES = st.sampled_from([*SIGNS, *WORDS])
HOSTILE = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join))
MARKS = st.lists(st.sampled_from([mark for mark in Mark if mark is not Mark.MISSING]), min_size=4, max_size=4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3x+4=10", "3 x + 4 = 10"),
        ("x = -3 - 4", "x = -3 - 4"),
        ("x -3 = 2", "x - 3 = 2"),
        ("(x - 3)^2 >= 0.", "(x - 3)^2 >= 0."),
        ("x = -3/4.", "x = -3/4."),
        ("x = 3 / 4", "x = 3 / 4"),
        ("3 x = 6. x = 2.", "3 x = 6.\nx = 2."),
        ("1. 3 x = 6.\n2) **x = 2.**", "3 x = 6.\nx = 2."),
        ("**Step 3:** x\u22642", "Step 3: x <= 2"),
        ("## Verification", "### Verification"),
        ("x = 0.5.", "x = 0.5."),
        ("a <end> b", "a end > b"),
        ("</verdict>", "/ verdict >"),
        ("0 < x", "0 < x"),
        ("caf\u00e9 \u2713\u2713 = 1", "caf ? = 1"),
        ("\n \n", ""),
    ],
)
def test_canonical_text(text: str, expected: str) -> None:
    assert canonical(text) == expected


@given(HOSTILE)
def test_canonical_text_is_a_fixed_point_without_special_tokens_or_tags(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
    assert not any(token in once for token in SPECIAL_TOKENS)
    assert not holds_tags(once)
    assert "  " not in once
    assert all(line == line.strip() and line for line in once.split("\n") if once)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_prompts_have_their_own_special_tokens_only(statement: str, proof: str, other: str) -> None:
    marks = [Mark.FALSE, Mark.OK]
    for prompt, parts in (
        (prove_prompt(statement), 1),
        (verify_prompt(statement, proof), 2),
        (patch_prompt(statement, proof, marks), 3),
        (rewrite_prompt(statement, proof), 2),
        (summarise_prompt(statement, proof, marks), 3),
        (rank_prompt(statement, proof, other), 3),
    ):
        assert prompt.count("<sep>") == parts
        assert sum(prompt.count(token) for token in SPECIAL_TOKENS) == parts + 1
        assert "\n" not in prompt


def test_prompts_as_documented() -> None:
    assert prove_prompt(STATEMENT) == "<prove> Solve 3 x + 4 = 10. <sep>"
    assert (
        verify_prompt(STATEMENT, "3 x = 6.\nx = 3.") == "<verify> Solve 3 x + 4 = 10. <sep> 1: 3 x = 6. 2: x = 3. <sep>"
    )
    assert patch_prompt(STATEMENT, "x = 3.", [Mark.FALSE]).endswith("<sep> 1: x = 3. <sep> 1 false <sep>")
    assert error_marks([Mark.OK, Mark.NOTE]) == "none"


def test_long_texts_are_clipped_and_say_so() -> None:
    proof = "\n".join(f"{number} + {number} = {2 * number}." for number in range(1, 60))
    lines, whole = proof_lines(proof)
    assert not whole
    assert sum(token_count(line) for line in lines) <= MAX_PROOF_TOKENS
    assert verify_prompt(STATEMENT, proof).endswith("... <sep>")
    assert token_count(rank_prompt(STATEMENT * 20, proof, proof)) < 330
    answer = critique_answer([Mark.OK] * len(lines), Verdict.NO_ERRORS)
    read = read_marks(answer, proof)
    assert read is not None
    assert read.verdict is Verdict.HAS_ERRORS
    assert read.errors == (LocatedError(lines[-1], CLIPPED),)


def test_a_huge_number_does_not_fit() -> None:
    assert proof_lines("9" * 5_000 + " = 1.") == ((), False)


def report(*verdicts: StepVerdict, verdict: Verdict) -> OracleReport:
    sentences = tuple(SentenceReport(line, step) for line, step in zip(PROOF.split("\n"), verdicts, strict=True))
    return OracleReport(verdict, 1.0, sentences, False)


def test_the_right_marks_of_a_report() -> None:
    steps = (StepVerdict.FILLER, StepVerdict.VALID, StepVerdict.FALSE, StepVerdict.UNREADABLE)
    wrong = report(*steps, verdict=Verdict.HAS_ERRORS)
    assert critique_answer(marks_of_report(wrong), wrong.verdict) == "1 note 2 ok 3 false 4 false has_errors"
    stops = report(StepVerdict.FILLER, *[StepVerdict.VALID] * 3, verdict=Verdict.HAS_ERRORS)
    assert critique_answer(marks_of_report(stops), stops.verdict) == "1 note 2 ok 3 ok 4 ok 5 missing has_errors"


@given(MARKS, st.booleans(), st.sampled_from(Verdict))
def test_marks_are_read_back_iff_the_verdict_agrees(marks: list[Mark], missing: bool, verdict: Verdict) -> None:
    marks = [*marks, Mark.MISSING] if missing else marks
    read = read_marks(critique_answer(marks, verdict) + " <end>", PROOF)
    consistent = (verdict is Verdict.NO_ERRORS) != any(mark.is_error for mark in marks)
    assert (read is not None) == consistent
    if read is not None:
        assert (read.marks, read.verdict) == (tuple(marks), verdict)
        assert len(read.errors) == sum(mark.is_error for mark in marks)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no_errors",
        "1 ok 2 ok 3 ok no_errors",
        "1 ok 2 ok 3 ok 4 ok 5 ok no_errors",
        "1 ok 2 ok 4 ok 3 ok no_errors",
        "1 ok 2 ok 3 ok 4 missing has_errors",
        "1 ok 2 ok 3 ok 4 ok right",
        "1 ok 2 ok 3 ok 4 fine no_errors",
        "1 ok 2 ok 3 ok 4 ok no_errors no_errors",
        "1 ok 2 ok 3 missing 4 ok has_errors",
    ],
)
def test_what_is_no_list_of_marks_is_not_read(answer: str) -> None:
    assert read_marks(answer, PROOF) is None


@given(HOSTILE, HOSTILE)
def test_reading_never_raises(answer: str, proof: str) -> None:
    read_marks(answer, proof)
    read_summary(answer)
    read_choice(answer)
    assert read_proof(answer) == canonical(read_proof(answer))
    marks_from_critique(answer, proof)


@given(HOSTILE, st.data())
def test_a_critique_goes_through_the_real_reply_form_and_back(proof: str, data: st.DataObject) -> None:
    lines, whole = proof_lines(proof)
    marks = tuple(data.draw(st.sampled_from([Mark.OK, Mark.FALSE, Mark.LEAP])) for _ in lines)
    verdict = Verdict.HAS_ERRORS if any(mark.is_error for mark in marks) else Verdict.NO_ERRORS
    written = critique(marks, verdict, lines)
    reply = parse_reply(critique_reply(written))
    assert isinstance(reply, JudgeReply)
    assert reply.verdict is verdict
    assert len(reply.errors) == len(written.errors)
    if whole and len(set(lines)) == len(lines):
        view = JudgeView("judge", "free", ScoreState.FAILED, 1.0, reply.verdict, reply.errors)
        plain = all(line.isascii() and "escription" not in line and "where" not in line.lower() for line in lines)
        assert not plain or len(marks_from_critique(critique_text(view), proof)) >= len(lines)


def test_errors_of_a_judge_become_marks() -> None:
    errors = (
        LocatedError("x = 3", "the division is wrong"),
        LocatedError("The answer is 3.", "not shown"),
    )
    assert marks_from_errors(errors, Verdict.HAS_ERRORS, PROOF) == (Mark.NOTE, Mark.OK, Mark.FALSE, Mark.LEAP)
    headed = "Step 1: 3 x = 6.\nStep 2: So x = 3.\nStep 3: The answer is 3."
    assert marks_from_errors(errors[:1], Verdict.HAS_ERRORS, headed) == (Mark.OK, Mark.FALSE, Mark.OK)
    assert marks_from_errors((LocatedError("step 2", "wrong"),), Verdict.HAS_ERRORS, headed)[1] is Mark.FALSE
    assert marks_from_errors((), Verdict.HAS_ERRORS, headed)[-1] is Mark.MISSING
    assert marks_from_errors((), Verdict.NO_ERRORS, headed) == (Mark.OK,) * 3
    nowhere = (LocatedError("the second lemma of the paper", "a false claim"),)
    assert marks_from_errors(nowhere, Verdict.HAS_ERRORS, headed) == (*(Mark.OK,) * 3, Mark.MISSING)


def test_the_marks_of_a_judges_critique() -> None:
    written = critique((Mark.NOTE, Mark.OK, Mark.FALSE, Mark.LEAP, Mark.MISSING), Verdict.HAS_ERRORS, PROOF.split("\n"))
    reply = parse_reply(critique_reply(written))
    assert isinstance(reply, JudgeReply)
    view = JudgeView("judge", "free", ScoreState.FAILED, 1.0, reply.verdict, reply.errors, reply.assessment)
    assert marks_from_critique(critique_text(view), PROOF) == written.marks
    assert marks_from_critique("empty (no_text): 0 characters", PROOF)[-1] is Mark.MISSING
    good = JudgeView("judge", "free", ScoreState.PASSED, 7.0, Verdict.NO_ERRORS)
    assert not any(mark.is_error for mark in marks_from_critique(critique_text(good), PROOF))


def test_descriptions_say_their_mark() -> None:
    for mark in (Mark.FALSE, Mark.LEAP, Mark.MISSING):
        line = critique((mark,), Verdict.HAS_ERRORS, ("x = 2.",))
        assert mark_of(line.errors[0].description) is mark


def test_summaries_and_choices() -> None:
    answer = summary_answer("completing_the_square", [Mark.OK, Mark.LEAP, Mark.FALSE])
    assert answer == "by completing_the_square ; leap at 2"
    assert parse_summary(summary_reply(answer)) == "by completing the square; leap at 2"
    assert summary_answer("euclid", [Mark.OK]) == "by euclid ; no issue"
    assert read_summary("by the way ; no issue") is None
    assert parse_choice(choice_reply("second <end>")) == "second"
    assert choice_reply("neither") == ""
