"""The scheme of the oracle, and that style changes no points."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxproof.lab.domains import DOMAINS, MAX_STATEMENT_CHARS, read_question
from maxproof.lab.oracle import grade, grade_statement, needed
from maxproof.lab.style import render
from maxproof.lab.types import OracleReport, StepVerdict, Style
from maxproof.verifier.types import Verdict

STATEMENT = "Solve 2 (x + 3) + 4 = 16 + x."
PROOF = ["2 x + 6 + 4 = 16 + x.", "2 x + 10 = 16 + x.", "2 x = x + 6.", "x = 6.", "The answer is 6."]
CELLS = [(name, technique) for name, domain in DOMAINS.items() for technique in domain.techniques]


def graded(*claims: str) -> OracleReport:
    return grade_statement(STATEMENT, "\n".join(claims))


@pytest.mark.parametrize(
    ("claims", "points", "verdict"),
    [
        (PROOF, 7, Verdict.NO_ERRORS),
        (["Nice.", *PROOF, "### Verification", PROOF[3], PROOF[4]], 7, Verdict.NO_ERRORS),
        (PROOF[:1] + PROOF[2:], 6, Verdict.MINOR_GAPS),
        ([*PROOF[:3], "The answer is 6."], 6, Verdict.MINOR_GAPS),
        ([*PROOF, "Blue 7 is green."], 6, Verdict.MINOR_GAPS),
        ([*PROOF, "Blue 7 is green.", "Blue 8."], 5, Verdict.MINOR_GAPS),
        ([*PROOF, "Blue 7 is green.", "Blue 8.", "Blue 9."], 2, Verdict.HAS_ERRORS),
        ([PROOF[1], *PROOF[3:]], 2, Verdict.HAS_ERRORS),
        ([*PROOF, "x = 7."], 2, Verdict.HAS_ERRORS),
        ([*PROOF, "The answer is 7."], 2, Verdict.HAS_ERRORS),
        ([*PROOF[:3], "x = 7.", "The answer is 7."], 2, Verdict.HAS_ERRORS),
        (PROOF[:4], 2, Verdict.HAS_ERRORS),
        (PROOF[:1], 1, Verdict.HAS_ERRORS),
        ([PROOF[0], "2 x = 5."], 1, Verdict.HAS_ERRORS),
        (["The answer is 6."], 1, Verdict.HAS_ERRORS),
        (["Clearly, the answer is 6."], 1, Verdict.HAS_ERRORS),
        (["The answer is 7."], 0, Verdict.FUNDAMENTALLY_WRONG),
        (["2 x + 3 + 4 = 16 + x.", *PROOF], 0, Verdict.FUNDAMENTALLY_WRONG),
        ([], 0, Verdict.FUNDAMENTALLY_WRONG),
        (["Nice."], 0, Verdict.FUNDAMENTALLY_WRONG),
        ([STATEMENT, "2 (x + 3) + 4 = 16 + x."], 0, Verdict.FUNDAMENTALLY_WRONG),
        (["???? 7"], 0, Verdict.FUNDAMENTALLY_WRONG),
    ],
)
def test_the_scheme(claims: list[str], points: float, verdict: Verdict) -> None:
    report = graded(*claims)
    assert (report.points, report.verdict) == (points, verdict)


def test_sentences_are_reported_in_order() -> None:
    report = graded("Step 1: So 2 x + 10 = 16 + x. Nice.", "x = 7.", "Blue 7.")
    assert [each.verdict for each in report.sentences] == [
        StepVerdict.LEAP,
        StepVerdict.FILLER,
        StepVerdict.FALSE,
        StepVerdict.UNREADABLE,
    ]
    assert "x = 6" in report.sentences[2].description
    assert "7" in report.sentences[2].description
    assert not report.goal


def test_padding_with_what_is_known_changes_nothing() -> None:
    gappy = [PROOF[1], PROOF[2], PROOF[4]]
    padded = [PROOF[1], *[PROOF[1]] * 5, PROOF[2], *[PROOF[2]] * 5, "3 * 2 = 6.", PROOF[4], *[PROOF[4]] * 5]
    assert graded(*padded).points == graded(*gappy).points < 5


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(CELLS),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.builds(Style, st.integers(0, 6), st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    st.booleans(),
)
def test_style_never_changes_points(cell: tuple[str, str], level: int, seed: int, style: Style, wrong: bool) -> None:
    question = DOMAINS[cell[0]].generate(Random(seed), cell[1], level)
    claims = question.solve(cell[1], frozenset(question.habits(cell[1]) if wrong else ()))
    leaps = frozenset(range(0, len(claims), 2))
    plain = grade(question, "\n".join(claims))
    assert wrong or plain.points == 7
    for dressed in (render(claims, style, Random(seed)), render(claims, style, Random(seed), leaps)):
        assert grade(question, dressed).points == plain.points, dressed


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_statements_are_read_back(cell: tuple[str, str]) -> None:
    for level in (1, 2, 3, 4):
        question = DOMAINS[cell[0]].generate(Random(level), cell[1], level)
        assert read_question(f" {question.statement}\n") == question
        assert needed(question) <= len(question.solve(cell[1]))


@given(st.text(), st.sampled_from(CELLS))
def test_any_text_is_graded(text: str, cell: tuple[str, str]) -> None:
    question = DOMAINS[cell[0]].generate(Random(1), cell[1], 2)
    assert 0 <= grade(question, text).points < 7
    read_question(text)


@given(
    st.lists(st.sampled_from([*PROOF, "2 x + 3 + 4 = 16 + x.", "x = 7.", "The answer is 7.", "Blue 7."]), max_size=8)
)
def test_seven_points_need_everything_right(claims: list[str]) -> None:
    report = graded(*claims)
    flawless = report.goal and all(each.verdict is StepVerdict.VALID for each in report.sentences)
    assert (report.points == 7) == flawless


def test_unknown_statements() -> None:
    with pytest.raises(ValueError, match="no domain"):
        grade_statement("Paint it black.", "x = 2.")
    assert read_question("Solve " + " " * MAX_STATEMENT_CHARS + "x = 2.") is None
