"""The simulator's rates are those that are set, whatever the correlation, and follow closed forms where there are."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

np = pytest.importorskip("numpy", reason="needs the extra study")

from study_closed_forms import pass_all  # noqa: E402

from maxproof.evaluation.study.model import (  # noqa: E402
    ERROR,
    GAP,
    POINTS,
    RIGHT,
    TOP,
    WRONG,
    Draws,
    Model,
    Proofs,
    Purpose,
    cuts,
    outcome,
    patch_rates,
    quantile,
    verdict_rates,
)
from maxproof.evaluation.study.parameters import SimulatorSettings  # noqa: E402

N = 20_000
ROWS = np.arange(N)


def of_grade(grade: int, draws: Draws, blind: bool = False) -> Proofs:
    shape = (N, 1)
    return Proofs(
        np.full(shape, grade, dtype=np.int8),
        np.zeros(shape, dtype=np.int8),
        draws.columns(Purpose.SHARED, [0]),
        np.full(shape, blind),
        np.zeros(shape, dtype=np.int16),
    )


def reports(model: Model, proofs: Proofs, samples: int) -> np.ndarray:
    """(problems, samples) points."""
    z = [model.leniency(ROWS, [0], proofs.shared, sample) for sample in range(samples)]
    return model.report(proofs, np.stack(z, axis=-1))[:, 0]


def near(share: float, rate: float, count: int = N) -> bool:
    return abs(share - rate) < 4.5 * sqrt(max(rate * (1 - rate), 1 / count) / count)


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("grade", [RIGHT, GAP, ERROR, WRONG])
def test_one_sample_reports_each_grade_at_its_rate(grade: int, rho: float) -> None:
    chosen = SimulatorSettings(rho=rho)
    draws = Draws(1, 0, N)
    found = reports(Model(chosen, draws), of_grade(grade, draws), 1)
    for reported, rate in enumerate(verdict_rates(chosen)[grade]):
        assert near(float(np.mean(found == POINTS[reported])), rate)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_false_positives_of_the_minimum_follow_the_closed_form(rho: float, samples: int) -> None:
    chosen = SimulatorSettings(rho=rho, pass_error=0.3)
    draws = Draws(2, 0, N)
    found = reports(Model(chosen, draws), of_grade(ERROR, draws), samples)
    expected = pass_all(0.3, samples, rho)
    assert near(float(np.mean(found.min(axis=1) == TOP)), expected)
    if rho == 0:
        assert expected == pytest.approx(0.3**samples, abs=1e-6)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_false_negatives_of_the_minimum_follow_the_closed_form(rho: float) -> None:
    draws = Draws(3, 0, N)
    found = reports(Model(SimulatorSettings(rho=rho, false_alarm=0.2), draws), of_grade(RIGHT, draws), 4)
    assert near(float(np.mean(found.min(axis=1) < TOP)), 1 - pass_all(0.8, 4, rho))


@given(rate=st.floats(0.001, 0.999), samples=st.integers(1, 16), rho=st.floats(0, 0.99), more=st.floats(0, 0.009))
@settings(max_examples=40, deadline=None)
def test_closed_form_lies_between_independence_and_one_sample(
    rate: float, samples: int, rho: float, more: float
) -> None:
    found = pass_all(rate, samples, rho, steps=401)
    assert rate**samples - 1e-6 <= found <= rate + 1e-6
    assert pass_all(rate, samples, rho + more, steps=401) >= found - 1e-6


def test_judges_of_one_verification_correlate_less_than_samples_of_one_judge() -> None:
    draws = Draws(4, 0, N)
    proofs = of_grade(ERROR, draws)

    def all_pass(**changes: float) -> float:
        chosen = SimulatorSettings(pass_error=0.3, **changes)
        return float(np.mean(reports(Model(chosen, draws), proofs, 1)[:, 0] == TOP))

    assert near(all_pass(judges=3, rho=0.8, rho_judges=0.0), 0.3**3)
    assert near(all_pass(judges=3, rho=0.8, rho_judges=0.5), pass_all(0.3, 3, 0.5))


def test_a_blind_spot_is_passed_by_all_samples() -> None:
    draws = Draws(5, 0, N)
    found = reports(Model(SimulatorSettings(), draws), of_grade(WRONG, draws, blind=True), 4)
    assert (found == TOP).all()


def test_ranker_is_right_at_its_accuracy_and_falls_for_blind_spots_only_if_correlated() -> None:
    draws = Draws(6, 0, N)
    right, wrong = of_grade(RIGHT, draws), of_grade(ERROR, draws)
    ids = np.zeros((N, 1), dtype=np.int64), np.ones((N, 1), dtype=np.int64)

    def share_right(other: Proofs, **changes: float) -> float:
        chosen = SimulatorSettings(position_bias=0, **changes)
        model = Model(chosen, draws)
        own = Proofs(other.grade, other.route, draws.columns(Purpose.SHARED, [1]), other.blind, other.family)
        merits = tuple(model.merit(ROWS, c, p)[:, 0] for c, p in zip(ids, (right, own), strict=True))
        votes = model.prefers_left(ROWS, 0, 0, (merits[0], merits[1]), (ids[0][:, 0], ids[1][:, 0]), True)
        return float(np.mean(votes))

    assert near(share_right(wrong, ranker_accuracy=0.8, ranker_rho=0.0), 0.8)
    assert near(share_right(wrong, ranker_accuracy=0.8, ranker_rho=0.6, ranker_shared=0.9), 0.8)
    blind = of_grade(ERROR, draws, blind=True)
    assert near(share_right(blind, ranker_accuracy=0.8, ranker_rho=0.0), 0.8)
    assert near(share_right(blind, ranker_accuracy=0.8, ranker_rho=1.0), 0.5)


@pytest.mark.parametrize("grade", [RIGHT, GAP, ERROR, WRONG])
@pytest.mark.parametrize("critique_right", [0.0, 1.0])
def test_patch_changes_grades_at_its_rates(grade: int, critique_right: float) -> None:
    chosen = SimulatorSettings(critique_right=critique_right, blocked=0)
    draws = Draws(7, 0, N)
    found = Model(chosen, draws).patch(ROWS, [40], of_grade(grade, draws)).grade[:, 0]
    under_right, under_wrong = patch_rates(chosen)
    expected = (under_right if critique_right and grade != RIGHT else under_wrong)[grade]
    for after, rate in enumerate(expected):
        assert near(float(np.mean(found == after)), rate)


def test_no_patch_mends_a_blocked_route_and_rewrite_escapes_it() -> None:
    draws = Draws(8, 0, N)
    model = Model(SimulatorSettings(blocked=1.0, critique_right=1, patch_error=0.5), draws)
    assert (model.patch(ROWS, [40], of_grade(ERROR, draws)).grade >= ERROR).all()
    leaving = Model(SimulatorSettings(escape=1.0), draws)
    parents = leaving.fresh(ROWS, [0])
    assert (leaving.rewrite(ROWS, [41], parents).route != parents.route).all()
    staying = Model(SimulatorSettings(routes=1), draws)
    assert (staying.rewrite(ROWS, [41], staying.fresh(ROWS, [0])).route == 0).all()


def test_columns_do_not_depend_on_who_asks_first() -> None:
    one, other = Draws(9, 0, 50), Draws(9, 0, 50)
    one.columns(Purpose.QUALITY, range(8))
    assert (one.column(Purpose.QUALITY, 5) == other.column(Purpose.QUALITY, 5)).all()
    per_row = np.tile(np.array([[5, 3]]), (50, 1))
    assert (one.columns(Purpose.QUALITY, per_row) == other.columns(Purpose.QUALITY, [5, 3])).all()
    assert not (Draws(10, 0, 50).column(Purpose.QUALITY, 5) == one.column(Purpose.QUALITY, 5)).any()
    assert not (Draws(9, 1, 50).column(Purpose.QUALITY, 5) == one.column(Purpose.QUALITY, 5)).any()


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_outcomes_have_the_probabilities_of_their_cuts(weights: list[float]) -> None:
    rates = [weight / sum(weights) for weight in weights]
    z = Draws(11, 0, N).column(Purpose.DIFFICULTY, 0)
    found = outcome(z, cuts([rates])[0])
    for place, rate in enumerate(rates):
        assert near(float(np.mean(found == place)), rate)


def test_parameters_are_checked() -> None:
    assert quantile(0) == -float("inf")
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        SimulatorSettings(rho=1.5)
    with pytest.raises(ValidationError, match="exceeds rho"):
        SimulatorSettings(judges=3, rho=0.1, rho_judges=0.5)
    with pytest.raises(ValidationError, match="at most 1"):
        SimulatorSettings(pass_gap=0.9, slip=0.2)


def test_patches_on_one_problem_succeed_together_as_set() -> None:
    draws = Draws(12, 0, N)
    chosen = SimulatorSettings(critique_right=1, patch_gap=0.2, damage=0, blocked=0, patch_rho=0.75)
    parents = of_grade(GAP, draws)
    made = np.stack([Model(chosen, draws).patch(ROWS, [40 + k], parents).grade[:, 0] for k in range(4)], axis=1)
    assert near(float(np.mean(made[:, 0] == RIGHT)), 0.2)
    assert near(float(np.mean((made == RIGHT).any(axis=1))), 1 - pass_all(0.8, 4, 0.75))


def test_a_patch_has_a_share_of_its_parents_shared_error() -> None:
    model = Model(SimulatorSettings(inherits=0.5), Draws(0, 0, 4000))
    rows = np.arange(4000)
    parents = model.fresh(rows, range(2))
    one, other = (model.patch(rows, columns, parents) for columns in (range(10, 12), range(20, 22)))

    def correlation(left: Proofs, right: Proofs) -> float:
        return float(np.corrcoef(left.shared.ravel(), right.shared.ravel())[0, 1])

    assert correlation(one, parents) == pytest.approx(0.5**0.5, abs=0.03)
    assert correlation(one, other) == pytest.approx(0.5, abs=0.03)


def test_a_rewrite_that_need_not_leave_takes_any_route() -> None:
    model = Model(SimulatorSettings(escape=0.5, routes=2, route_decay=1), Draws(0, 0, 4000))
    rows = np.arange(4000)
    parents = model.fresh(rows, range(2))
    left = model.rewrite(rows, range(10, 12), parents).route != parents.route
    assert float(left.mean()) == pytest.approx(0.5 + 0.5 * 0.5, abs=0.03)
