"""Tables: what is measured is counted rightly, and what is not graded is never a zero."""

from __future__ import annotations

from random import Random

import pytest
from eval_fakes import asked, dataset, oracle_settings
from hypothesis import given
from hypothesis import strategies as st

from maxproof.evaluation.bootstrap import mean_interval, ratio_interval
from maxproof.evaluation.dataset.published import comparable, competition
from maxproof.evaluation.dataset.report import sections, subtitle, summary_lines
from maxproof.evaluation.dataset.result import Candidate, EvalResult, UnitResult, Used
from maxproof.evaluation.dataset.tables import tables_of
from maxproof.problems import Problem
from maxproof.report.blocks import to_html, to_markdown

PROBLEMS = dataset(3)
URL = "http://127.0.0.1:9/v1"


def unit(problem: str, *points: float | None, seed: int = 0, **more: object) -> UnitResult:
    """A unit whose candidate i is of round i; it picks the first and likes the ones with 7."""
    candidates = tuple(
        Candidate(i, i, "generate", 7.0 if p == 7 else 1.0, f"{problem}{i}", p) for i, p in enumerate(points)
    )
    values: dict[str, object] = {
        "domain": "algebra", "level": "easy", "state": "done", "candidates": candidates,
        "picked": 0 if candidates else None, "argmax": None, "rounds": max(0, len(points) - 1), "stop": "rounds",
        "search": Used(2, 0, 100, 0.5), "oracle": Used(1, 0, 10, None),
    }  # fmt: skip
    return UnitResult(problem, seed, **{**values, **more})  # type: ignore[arg-type]


def whole(*units: UnitResult, seeds: tuple[int, ...] = (0,)) -> EvalResult:
    wanted = asked(PROBLEMS, URL, seeds=seeds)
    return EvalResult(wanted, units, {problem.id: problem for problem in PROBLEMS})


def test_points_loss_and_rounds() -> None:
    found = tables_of(whole(unit("P0", 2, 6, 1), unit("P1", 7, 7, 7), unit("P2", 0, 1)))
    assert found.whole.picked.value == 3
    assert found.whole.best.value == pytest.approx(14 / 3)
    assert found.whole.loss.value == pytest.approx(5 / 3)
    assert found.whole.solved.value == pytest.approx(1 / 3)
    # P2 has ended after round 1 and keeps its value.
    assert [mean.value for mean in found.by_round] == [3, pytest.approx(14 / 3), pytest.approx(14 / 3)]
    assert found.search == Used(6, 0, 300, 1.5)
    assert found.oracle.cost is None


def test_what_is_not_graded_is_left_out_and_counted() -> None:
    found = tables_of(whole(unit("P0", None, 6), unit("P1", 7), unit("P2")))
    assert found.whole.picked.value == 7
    assert found.whole.picked.problems == 1
    assert (found.whole.ungraded, found.whole.no_proof) == (1, 1)
    assert (found.candidates, found.graded) == (3, 2)
    text = "\n".join(summary_lines(whole(unit("P0", None, 6)), tables_of(whole(unit("P0", None, 6)))))
    assert "none is a zero" in text


def test_nothing_graded_is_no_number_at_all() -> None:
    value = whole(unit("P0", None), unit("P1", None))
    found = tables_of(value)
    assert found.whole.picked.value is None
    assert found.whole.solved.value is None
    assert "Picked proof: –" in "\n".join(summary_lines(value, found))


def test_units_that_did_not_run_are_in_no_mean() -> None:
    idle = UnitResult("P1", 0, None, None, "not_run")
    found = tables_of(whole(unit("P0", 5), idle))
    assert (found.whole.problems, found.whole.picked.value) == (1, 5)


def test_the_verifier_against_the_oracle() -> None:
    called = [
        Candidate(0, 0, "g", 7.0, "a", 7), Candidate(1, 0, "g", 7.0, "b", 2), Candidate(2, 0, "g", 7.0, "c", 6),
        Candidate(3, 0, "g", 1.0, "d", 7), Candidate(4, 0, "g", 1.0, "e", 0), Candidate(5, 0, "g", None, "f", 7),
        Candidate(6, 0, "g", 7.0, "h", None),
    ]  # fmt: skip
    check = tables_of(whole(unit("P0", candidates=tuple(called), picked=0))).verifier
    assert (check.perfect, check.right, check.wrong) == (3, 1, 1)
    assert (check.rejected, check.missed) == (2, 1)
    assert check.false_positive.value == pytest.approx(2 / 3)
    assert check.false_negative.value == pytest.approx(1 / 2)
    assert (check.not_graded, check.no_view) == (1, 1)


@given(st.lists(st.lists(st.none() | st.integers(0, 7), max_size=4), min_size=1, max_size=3))
def test_the_best_by_round_never_falls(points: list[list[int | None]]) -> None:
    found = tables_of(whole(*(unit(f"P{n}", *row) for n, row in enumerate(points)))).by_round
    means = [mean.value for mean in found if mean.value is not None]
    assert means == sorted(means)


def test_a_method_without_a_view_calls_nothing_right_or_wrong() -> None:
    given_proof = Candidate(0, 0, "given", None, "digest", 7.0)
    one_shot = unit("P0", candidates=(given_proof,), picked=0)
    assert tables_of(whole(one_shot)).whole.passed.value is None
    assert tables_of(whole(one_shot, unit("P1", 7, passed=True))).whole.passed.value == 1


def test_runs_without_a_pick_are_counted() -> None:
    result = whole(unit("P0", 7, 1, picked=None), unit("P1", 6))
    found = tables_of(result)
    assert (found.whole.no_pick, found.whole.picked.value) == (1, 6)
    assert any("Without a pick: 1 runs" in line for line in summary_lines(result, found))


def test_what_a_judge_marks_by_nothing_is_told() -> None:
    problems = {"P0": Problem("P0", "Prove it."), "P1": Problem("P1", "Prove it.", rubric="(Partial) a step")}
    judged = asked(PROBLEMS, URL, oracle_settings(URL))
    result = EvalResult(judged, (unit("P0", 7), unit("P1", 7)), problems)
    assert any("there is none: 1 problems" in line for line in summary_lines(result, tables_of(result)))


def test_a_perfect_share_is_not_certain() -> None:
    mean = tables_of(whole(unit("P0", 7), unit("P1", 7), unit("P2", 7))).whole.solved
    assert mean.value == 1
    assert mean.low is not None
    assert mean.low < 0.5


def test_seeds_are_averaged_within_their_problem() -> None:
    units = [unit("P0", 7, seed=0), unit("P0", 1, seed=1), unit("P1", 0, seed=0)]
    found = tables_of(whole(*units, seeds=(0, 1)))
    assert found.whole.picked.value == 2
    assert found.seeds == ((0, 3.5, 2), (1, 1.0, 1))


@given(st.dictionaries(st.text(max_size=3), st.lists(st.floats(0, 7), min_size=1, max_size=3), min_size=2, max_size=6))
def test_the_interval_holds_the_mean_and_is_the_same_again(values: dict[str, list[float]]) -> None:
    found = mean_interval(values, resamples=200)
    assert found == mean_interval(dict(reversed(values.items())), resamples=200)
    if found.low is not None and found.high is not None and found.value is not None:
        assert found.low - 1e-9 <= found.high
        assert 0 <= found.low <= found.high <= 7
    one = mean_interval({"a": [1.0]})
    assert (one.value, one.low, one.high) == (1.0, None, None)


@pytest.mark.parametrize(("problems", "seeds"), [(10, 1), (12, 3), (40, 1), (40, 3)])
def test_the_interval_covers_as_often_as_it_says(problems: int, seeds: int) -> None:
    """Seeds of a problem are alike: its mean is drawn first."""
    random = Random(5)
    hits = 0
    for _ in range(300):
        means = [random.gauss(3, 1) for _ in range(problems)]
        sample = {str(i): [random.gauss(mean, 0.7) for _ in range(seeds)] for i, mean in enumerate(means)}
        found = mean_interval(sample, resamples=400)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 3 <= found.high
    assert 0.91 <= hits / 300 <= 0.98  # 0.95, within three standard errors of 300 trials


def test_a_rate_of_candidates_weighs_candidates() -> None:
    assert ratio_interval({"a": [(1, 10)], "b": [(1, 1)], "c": [(0, 0)]}).value == pytest.approx(2 / 11)
    assert ratio_interval({"a": [(0, 0)]}).value is None


def test_published_results_are_shown_only_beside_the_same_problems() -> None:
    six = [Problem(f"IMO 2025 P{n}", "Prove it.") for n in range(1, 7)]
    assert [published.name for published, _ in comparable(six)] == ["IMO 2025"]
    assert comparable(six[:5]) == []
    assert competition(Problem("x", "y", source="(Modified) IMO 2025, P1")) is None
    assert competition(Problem("x", "y", source="USAMO 2026, Problem 2")) == ("USAMO 2026", 2)


def test_no_text_of_a_dataset_breaks_the_report() -> None:
    hostile = "<script>alert(1)</script>|\n\u202e"
    value = EvalResult(
        asked(PROBLEMS, URL, dataset=hostile),
        (unit(hostile, None, 3, domain=hostile, level=hostile, stop=hostile, reason=hostile),),
        {hostile: Problem(hostile, "x")},
    )
    made = sections(value, tables_of(value))
    page = to_html("Evaluation", hostile, subtitle(value), made)
    assert "<script>" not in page
    assert "\u202e" not in page
    assert to_markdown("x", subtitle(value), made)
