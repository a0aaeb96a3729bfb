"""Layer 4: the minimum, the critique that belongs to it, the disagreement, the three states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.verifier import (
    MAX_POINTS,
    BadCaseHit,
    JudgeView,
    LocatedError,
    Normalisation,
    ScoreState,
    Verdict,
    critique_text,
)
from maxproof.verifier.aggregate import aggregate, filtered
from maxproof.verifier.judge_reply import JudgeReply
from maxproof.verifier.judges import points_of
from maxproof.verifier.settings import PointsMap

MAP = PointsMap()
ERROR = (LocatedError("line 2", "not shown"),)


def view(points: float | None, judge: str = "j") -> JudgeView:
    if points is None:
        return JudgeView(judge, "free", ScoreState.NOT_SCORED, None, None, reason="no answer")
    if points == MAX_POINTS:
        return JudgeView(judge, "free", ScoreState.PASSED, points, Verdict.NO_ERRORS)
    error = LocatedError(f"at {judge}", f"{points} points")
    return JudgeView(judge, "free", ScoreState.FAILED, points, Verdict.HAS_ERRORS, (error,), f"read by {judge}")


def views(*points: float | None) -> list[JudgeView]:
    return [view(value, f"j{index}") for index, value in enumerate(points)]


@pytest.mark.parametrize(
    ("points", "state", "lowest", "deciding", "disagreement"),
    [
        ((7, 7, 7), ScoreState.PASSED, 7, 0, 0),
        ((7, 1, 6), ScoreState.FAILED, 1, 1, 6),
        ((6, 1, 1), ScoreState.FAILED, 1, 1, 5),  # a tie goes to the first in configured order
        ((7, None, 7), ScoreState.NOT_SCORED, None, None, 0),
        ((7, None, 6), ScoreState.FAILED, 6, 2, 1),  # the missing judge can't undo a failure
        ((None, 0), ScoreState.FAILED, 0, 1, 0),
        ((None, None), ScoreState.NOT_SCORED, None, None, 0),
        ((7,), ScoreState.PASSED, 7, 0, 0),
    ],
)
def test_three_states(
    points: tuple[float | None, ...],
    state: ScoreState,
    lowest: float | None,
    deciding: int | None,
    disagreement: float,
) -> None:
    judges = views(*points)
    normalisation = Normalisation("rule")
    result = aggregate(3, judges, normalisation)
    assert (result.sample, result.state, result.points, result.disagreement) == (3, state, lowest, disagreement)
    assert result.critique == ("" if deciding is None else critique_text(judges[deciding]))
    assert result.verdict == (None if deciding is None else judges[deciding].verdict)
    assert result.judges == tuple(judges)
    assert result.normalisation is normalisation
    assert result.score == (None if lowest is None else lowest / 7)


@given(st.lists(st.one_of(st.none(), st.sampled_from([0.0, 1.0, 6.0, 7.0])), min_size=1, max_size=5))
def test_states_agree_with_their_definition(points: list[float | None]) -> None:
    result = aggregate(0, views(*points))
    scored = [value for value in points if value is not None]
    assert (result.state is ScoreState.FAILED) == any(value < MAX_POINTS for value in scored)
    assert (result.state is ScoreState.PASSED) == (scored == [MAX_POINTS] * len(points))
    assert (result.points is None) == (result.state is ScoreState.NOT_SCORED) == (result.critique == "")
    if result.points is not None:
        assert result.points == min(scored)
    assert result.disagreement == (max(scored) - min(scored) if scored else 0)


def test_a_filtered_candidate_has_zero_points_and_the_evidence() -> None:
    hits = (BadCaseHit("loop", "ngram_loop", "the same words"), BadCaseHit("empty", "empty_text", "nothing"))
    result = filtered(2, hits)
    assert (result.sample, result.state, result.points) == (2, ScoreState.FAILED, 0)
    assert result.critique == "loop (ngram_loop): the same words\nempty (empty_text): nothing"
    assert result.bad_cases == hits
    assert result.judges == ()
    assert result.normalisation is None


def test_critique_text() -> None:
    errors = (LocatedError("line 2", "not shown"), LocatedError("", "no case 3"))
    judged = JudgeView("j", "free", ScoreState.FAILED, 1, Verdict.HAS_ERRORS, errors, "Line by line.")
    assert critique_text(judged) == (
        "Verdict: has_errors\n\nErrors:\n1. At: line 2\n   not shown\n2. No place given.\n   no case 3\n\n"
        "Assessment:\nLine by line."
    )


@pytest.mark.parametrize(
    ("verdict", "score", "mode", "points"),
    [
        ("no_errors", None, "rubric", 7),
        ("no_errors", 7, "rubric", 7),
        ("minor_gaps", None, "rubric", 6),
        ("minor_gaps", 5, "rubric", 5),
        ("minor_gaps", 7, "rubric", 6),  # 7 is for no_errors alone
        ("minor_gaps", 0, "rubric", 1),
        ("has_errors", 3, "rubric", 3),
        ("has_errors", 7, "rubric", 6),
        ("has_errors", 0, "rubric", 0),
        ("fundamentally_wrong", 5, "rubric", 1),
        ("fundamentally_wrong", None, "rubric", 0),
        ("minor_gaps", 3, "free", 6),  # only a rubric judge's score is asked for
    ],
)
def test_points(verdict: str, score: float | None, mode: str, points: float) -> None:
    errors = () if verdict == "no_errors" else ERROR
    assert points_of(JudgeReply(Verdict(verdict), errors, "", score), mode, MAP) == points


@given(
    st.sampled_from(Verdict),
    st.one_of(st.none(), st.floats(0, 7)),
    st.sampled_from(["rubric", "free"]),
    st.lists(st.floats(0, 7, exclude_max=True), min_size=3, max_size=3),
)
def test_seven_points_iff_no_errors(verdict: Verdict, score: float | None, mode: str, low: list[float]) -> None:
    gaps, errors, wrong = sorted(low, reverse=True)
    points = PointsMap(minor_gaps=gaps, has_errors=errors, fundamentally_wrong=wrong)
    result = points_of(JudgeReply(verdict, (), "", score), mode, points)
    assert 0 <= result <= MAX_POINTS
    assert (result == MAX_POINTS) == (verdict is Verdict.NO_ERRORS)
