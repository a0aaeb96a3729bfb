"""A verifier's card: every figure against its closed form, and against judges whose faults are set."""

from __future__ import annotations

import json
from itertools import combinations, product
from math import comb, prod, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxproof.evaluation.calibrate.card import MAJORITY, MEAN, MIN, make_card
from maxproof.evaluation.calibrate.correlation import panel_errors, phi_of
from maxproof.evaluation.calibrate.draws import all_pass, draws, most_pass, shown
from maxproof.evaluation.calibrate.rates import area, by_problem_interval, measure, rule_rates, sweep
from maxproof.evaluation.calibrate.report import card_sections, title_of
from maxproof.evaluation.calibrate.run import verify_graded
from maxproof.evaluation.calibrate.types import (
    CardSettings,
    Evidence,
    Graded,
    Judged,
    Sample,
    by_judge,
    by_majority,
    by_mean,
    by_min,
)
from maxproof.lab.judges import JudgeFaults, LabJudges
from maxproof.lab.types import OracleReport, SentenceReport, StepVerdict
from maxproof.models.types import CallNotRun
from maxproof.report.blocks import to_html, to_markdown
from maxproof.statistics import joint_error_rate, wilson
from maxproof.verifier.settings import BadCaseSettings, JudgeSettings, NormaliserSettings, VerifierSettings
from maxproof.verifier.types import Verdict


def passing(*outcomes: bool | None, judge: str = "a") -> tuple[Sample, ...]:
    """One sample of one judge for each outcome."""
    return tuple(Sample({judge: None if outcome is None else 7.0 * outcome}) for outcome in outcomes)


def judged(id: str, right: bool, samples: tuple[Sample, ...], problem: str = "", **more: object) -> Judged:
    return Judged(id, problem or id, right, samples, **more)  # type: ignore[arg-type]


# --- rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "minimum", "mean", "majority"),
    [
        ({"a": 7.0, "b": 7.0, "c": 7.0}, 7.0, 7.0, 7.0),
        ({"a": 7.0, "b": 1.0, "c": 7.0}, 1.0, 5.0, 7.0),
        ({"a": 7.0, "b": 1.0, "c": None}, 1.0, None, None),
        ({"a": 7.0, "b": 7.0, "c": None}, None, None, 7.0),
        ({"a": 0.0, "b": 1.0, "c": None}, 0.0, None, 0.0),
        ({"a": 7.0, "b": 0.0}, 0.0, 3.5, 0.0),
        ({"a": None}, None, None, None),
    ],
)
def test_rules_on_one_sample(
    points: dict[str, float | None], minimum: float | None, mean: float | None, majority: float | None
) -> None:
    sample = Sample(points)
    assert by_min(7)(sample) == minimum
    assert by_mean(sample) == mean
    assert by_majority(7)(sample) == majority


def test_what_layer_1_stops_fails_for_the_panel_and_for_no_judge() -> None:
    sample = Sample({}, filtered=True)
    assert by_min(7)(sample) == by_mean(sample) == by_majority(7)(sample) == 0.0
    assert by_judge("a")(sample) is None
    card = make_card(Evidence((judged("p", False, (sample, *passing(True))),), "t"))
    assert card.rule("a").not_scored_wrong == 0
    assert card.rule("a").false_positive.rate.total == 1
    assert card.rule(MIN).false_positive.rate.total == 2
    assert card.counts.filtered_wrong == 1


# --- rates ------------------------------------------------------------------------------------------------------------


def test_rates_count_judgements_and_leave_out_what_is_not_scored() -> None:
    proofs = (
        judged("w", False, passing(True, False, None, False)),
        judged("r", True, passing(True, None, None, False)),
    )
    rates = rule_rates("a", by_judge("a"), 7, proofs, 0.95, 0)
    assert (rates.false_positive.rate.successes, rates.false_positive.rate.total) == (1, 3)
    assert (rates.false_negative.rate.successes, rates.false_negative.rate.total) == (1, 2)
    assert (rates.wrong_passes.rate.successes, rates.wrong_passes.rate.total) == (1, 2)
    assert (rates.not_scored_wrong, rates.not_scored_right) == (1, 2)


@given(st.lists(st.integers(0, 7), max_size=8), st.lists(st.integers(0, 7), max_size=8))
def test_area_is_the_share_of_pairs(right: list[int], wrong: list[int]) -> None:
    pairs = [1.0 if r > w else 0.5 if r == w else 0.0 for r, w in product(right, wrong)]
    found = area([float(r) for r in right], [float(w) for w in wrong])
    assert found == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


def test_an_interval_by_problem_only_where_it_says_something() -> None:
    assert measure([("p", True), ("q", False)], 0.95, 0).low is None  # one judgement each
    assert measure([("p", True), ("p", False)], 0.95, 0).low is None  # one problem
    assert measure([("p", True), ("q", True)], 0.95, 0).low is None
    found = measure([(str(n % 30), n % 30 < 6) for n in range(300)], 0.95, 0)
    assert found.low is not None
    assert found.high is not None
    # All ten judgements of a problem are the same: 30 things were seen and not 300.
    assert found.high - found.low > 2 * (found.rate.high - found.rate.low)


def test_a_rate_of_0_or_1_has_wilsons_interval_on_the_number_of_problems() -> None:
    rows = [(str(n % 5), False) for n in range(100)]
    none, all_ = measure(rows, 0.95, 0), measure([(name, True) for name, _ in rows], 0.95, 0)
    five = wilson(0, 5)
    assert none.bounds == (0.0, five.high)
    assert all_.bounds == pytest.approx((1 - five.high, 1.0))
    assert (none.rate.successes, none.rate.total) == (0, 100)
    # One problem, judged many times: one problem.
    assert measure([("p", False)] * 50, 0.95, 0).bounds == (0.0, wilson(0, 1).high)


def test_every_table_of_a_card_counts_problems_where_a_rate_is_0_or_1() -> None:
    proofs = tuple(
        judged(f"{right}{n}", right, tuple(Sample({"a": 7.0 * right, "b": 7.0 * right}) for _ in range(4)), f"p{n % 3}")
        for right in (True, False)
        for n in range(30)
    )
    card = make_card(Evidence(proofs, "t"))
    high = wilson(0, 3).high
    assert card.rule(MIN).false_positive.bounds == (0.0, high)
    assert {(row.min_positive.low, row.min_positive.high) for row in card.draws.rows} == {(0.0, high)}
    assert {(row.majority_negative.low, row.majority_negative.high) for row in card.draws.rows} == {(0.0, high)}
    assert [(at.false_positive.low, at.false_positive.high) for at in card.sweeps[MIN]] == [(0.0, high)]
    assert card.on_wrong is not None
    assert card.on_wrong.all_err.high == card.on_wrong.pairs[0].both.high == high


def test_few_problems_are_said_for_the_card_for_wrong_proofs_and_for_groups() -> None:
    def text(wrong: int, right: int, label: str = "") -> str:
        proofs = [judged(f"w{n}", False, passing(n % 2 == 0), label=label) for n in range(wrong)]
        proofs += [judged(f"r{n}", True, passing(True)) for n in range(right)]
        return to_markdown("t", "s", card_sections(make_card(Evidence(tuple(proofs), "t"))))

    assert "So few problems make" in text(4, 4)
    assert "The wrong proofs are of 4 problems" in text(4, 30)
    assert "The right proofs are of" not in text(4, 30)
    assert "The wrong" not in text(30, 30)
    groups = "With fewer than 20 problems intervals are rough"
    assert groups in text(4, 30, "mine")
    assert groups not in text(30, 30, "mine")


def test_both_intervals_by_problem_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(2)
    sums = {str(n): (float(random.random() < 0.3) * (n % 3 + 1), float(n % 3 + 1)) for n in range(400)}
    resampled = by_problem_interval(sums, 0.95, 0)
    monkeypatch.setattr("maxproof.evaluation.calibrate.rates.MANY_PROBLEMS", 100)
    linear = by_problem_interval(sums, 0.95, 0)
    assert linear.value == pytest.approx(resampled.value)
    for one, other in ((linear.low, resampled.low), (linear.high, resampled.high)):
        assert one == pytest.approx(other, abs=0.006)


def test_a_sweep_has_the_rates_at_every_number_of_points() -> None:
    proofs = [
        judged("w", False, (Sample({"a": 6.0}), Sample({"a": 1.0}))),
        judged("r", True, (Sample({"a": 7.0}), Sample({"a": 6.0}))),
    ]
    rows = sweep(by_judge("a"), proofs, 0.95)
    assert [(row.points, row.false_positive.value, row.false_negative.value) for row in rows] == [
        (1.0, 1.0, 0.0),
        (6.0, 0.5, 0.0),
        (7.0, 0.0, 0.5),
    ]


# --- K ----------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 7), st.data())
def test_draws_of_k_are_those_of_all_subsets(total: int, data: st.DataObject) -> None:
    passes, k = data.draw(st.integers(0, total)), data.draw(st.integers(1, total))
    samples = [True] * passes + [False] * (total - passes)
    sets = list(combinations(samples, k))
    assert all_pass(passes, total, k) == pytest.approx(sum(all(some) for some in sets) / comb(total, k))
    assert most_pass(passes, total, k) == pytest.approx(sum(2 * sum(some) > k for some in sets) / comb(total, k))


def test_independent_samples_give_the_power_of_the_rate() -> None:
    random, p, q, most = Random(3), 0.4, 0.15, 5
    proofs = [
        judged(f"{right}-{n}", right, passing(*(random.random() < (1 - q if right else p) for _ in range(most))))
        for right in (False, True)
        for n in range(400)
    ]
    found = draws(proofs, by_min(7), 7, 0.999, 0)
    assert (found.wrong, found.right, found.left_out) == (400, 400, 0)
    for row in found.rows:
        for mean, truth in ((row.min_positive, p**row.k), (row.min_negative, 1 - (1 - q) ** row.k)):
            assert mean.low is not None
            assert mean.high is not None
            assert mean.low <= truth <= mean.high
        majority = sum(comb(row.k, j) * p**j * (1 - p) ** (row.k - j) for j in range(row.k // 2 + 1, row.k + 1))
        assert row.majority_positive.value == pytest.approx(majority, abs=0.06)
        assert row.independent_positive == pytest.approx(p**row.k, abs=0.06)


def test_samples_that_are_the_same_draw_gain_nothing() -> None:
    random = Random(0)
    proofs = [judged(str(n), False, passing(*[random.random() < 0.3] * 4)) for n in range(300)]
    rows = draws(proofs, by_min(7), 7, 0.95, 0).rows
    assert {row.min_positive.value for row in rows} == {rows[0].min_positive.value}
    assert rows[-1].independent_positive is not None
    assert rows[-1].independent_positive < 0.02


def test_every_k_is_measured_on_the_same_proofs() -> None:
    proofs = [
        judged("a", False, passing(True, True)),
        judged("b", False, passing(True)),
        judged("c", False, passing(True, None)),
    ]
    found = draws(proofs, by_min(7), 7, 0.95, 0)
    assert (found.wrong, found.left_out) == (1, 2)


# --- errors together --------------------------------------------------------------------------------------------------


def two_judges(rows: list[tuple[bool, bool]], right: bool = False) -> list[Judged]:
    return [judged(str(n), right, (Sample({"a": 7.0 * a, "b": 7.0 * b}),)) for n, (a, b) in enumerate(rows)]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_phi_is_pearsons_correlation(rows: list[tuple[bool, bool]]) -> None:
    n = len(rows)
    table = {(a, b): rows.count((a, b)) for a in (True, False) for b in (True, False)}
    p, q = sum(a for a, _ in rows) / n, sum(b for _, b in rows) / n
    spread = p * (1 - p) * q * (1 - q)
    found = phi_of(table)
    if spread == 0:
        assert found is None
    else:
        assert found == pytest.approx((rows.count((True, True)) / n - p * q) / spread**0.5)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_rho_recovers_the_shared_draws_and_models_the_panel(correlation: float) -> None:
    random, rates = Random(5), (0.4, 0.2)
    rows = []
    for _ in range(4000):
        common = random.random()
        drawn = [common if random.random() < correlation**0.5 else random.random() for _ in rates]
        rows.append((drawn[0] < rates[0], drawn[1] < rates[1]))
    found = panel_errors(two_judges(rows), ("a", "b"), False, 7, 0.95)
    (pair,) = found.pairs
    assert pair.rho == pytest.approx(correlation, abs=0.06)
    assert found.modelled_all == pytest.approx(found.all_err.value, abs=0.01)
    assert found.all_err.value == pytest.approx(joint_error_rate(rates, correlation), abs=0.02)
    assert found.independent_all == pytest.approx(0.08, abs=0.01)
    assert pair.low is not None
    assert pair.high is not None
    assert pair.phi is not None
    truth = correlation * (0.2 - 0.08) / (0.4 * 0.6 * 0.2 * 0.8) ** 0.5
    assert pair.low <= truth <= pair.high
    assert pair.high - pair.low < 0.08


def test_on_right_proofs_an_error_is_a_fail() -> None:
    found = panel_errors(two_judges([(True, False), (True, True)], right=True), ("a", "b"), True, 7, 0.95)
    assert (found.any_errs.successes, found.all_err.successes, found.any_errs.total) == (1, 0, 2)
    assert found.pairs[0].phi is None  # one of them never errs


# --- the whole card ---------------------------------------------------------------------------------------------------

RATES = {"one": 0.25, "two": 0.15}
ALARM, RHO = 0.1, 0.4


def lettered(statement: str, text: str) -> OracleReport:
    """An oracle that calls a text false iff it says so."""
    wrong = "F " in text
    step = SentenceReport(text, StepVerdict.FALSE if wrong else StepVerdict.VALID)
    return OracleReport(
        Verdict.FUNDAMENTALLY_WRONG if wrong else Verdict.NO_ERRORS, 0 if wrong else 7, (step,), not wrong
    )


async def test_the_card_recovers_the_faults_of_the_labs_judges() -> None:
    faults = {name: JudgeFaults(rate, 0.3, ALARM, correlation=RHO) for name, rate in RATES.items()}
    settings = VerifierSettings(
        bad_case=BadCaseSettings(min_chars=1),
        judges=tuple(JudgeSettings(name=name) for name in faults),
        normaliser=NormaliserSettings(method="none"),
    )
    proofs = [
        Graded(f"{right}-{n}", f"p{n}", right, f"{'T' if right else 'F'} x = {n}.", "Solve it.")
        for right in (False, True)
        for n in range(300)
    ]
    found = await verify_graded(proofs, {}, settings, 2, LabJudges(faults, 1, grade=lettered))
    card = make_card(Evidence(found, "the oracle"), CardSettings(confidence=0.99))
    for name, rate in RATES.items():
        low, high = card.rule(name).false_positive.bounds
        assert low <= rate <= high
        low, high = card.rule(name).false_negative.bounds
        assert low <= ALARM <= high
    low, high = card.rule(MIN).false_positive.bounds
    assert low <= joint_error_rate(list(RATES.values()), RHO) <= high
    low, high = card.rule(MIN).false_negative.bounds
    assert low <= 2 * ALARM - joint_error_rate([ALARM, ALARM], RHO) <= high
    assert card.on_wrong is not None
    assert card.on_wrong.pairs[0].rho == pytest.approx(RHO, abs=0.1)
    # Samples of one proof share draws as judges do: a second one gains less than independence would.
    second = card.draws.rows[1]
    assert second.min_positive.value is not None
    assert second.independent_positive is not None
    assert second.min_positive.value > second.independent_positive


async def test_what_was_not_run_is_missing_and_said() -> None:
    class Gone:
        async def ask(self, call: object) -> object:
            raise CallNotRun("gone")

        async def ask_samples(self, calls: list[object]) -> list[CallNotRun]:
            return [CallNotRun("gone") for _ in calls]

    proofs = [Graded("p", "q", True, "A proof of some length.", "Prove it.")]
    found = await verify_graded(proofs, {}, VerifierSettings(), 2, Gone())  # type: ignore[arg-type]
    card = make_card(Evidence(found, "t"))
    assert (card.counts.not_run, card.counts.right) == (1, 0)
    assert "1 proof without any verification" in to_markdown("t", "s", card_sections(card))


def test_slices_part_the_proofs_by_length_style_and_label() -> None:
    proofs = tuple(
        judged(
            str(n),
            False,
            passing(n >= 6),
            chars=10 * (n + 1),
            styles=frozenset({"bold"} if n >= 6 else ()),
            label="xy"[n % 2],
        )
        for n in range(9)
    )
    card = make_card(Evidence(proofs, "t"))
    assert [(s.proofs, s.false_positive.rate.value) for s in card.lengths] == [(3, 0.0), (3, 0.0), (3, 1.0)]
    assert [(s.name, s.proofs, s.false_positive.rate.value) for s in card.styles] == [
        ("with bold", 3, 1.0),
        ("without bold", 6, 0.0),
    ]
    assert [(s.name, s.proofs) for s in card.labels] == [("x", 5), ("y", 4)]


def test_proofs_of_one_length_are_never_parted() -> None:
    proofs = tuple(judged(str(n), False, passing(True), chars=5) for n in range(9))
    assert [s.proofs for s in make_card(Evidence(proofs, "t")).lengths] == [9]


def test_a_card_of_nothing_and_one_of_right_proofs_only_can_be_shown() -> None:
    for proofs in ((), (judged("r", True, passing(True, False)),), (judged("w", False, passing(None)),)):
        card = make_card(Evidence(proofs, "t"))
        sections = card_sections(card)
        assert json.loads(json.dumps(card.to_json()))["counts"]["right"] == card.counts.right
        assert "<h1" in to_html("k", "t", title_of(card), sections)
        assert "none" in to_markdown("t", "s", sections)
    assert card.to_json()["rules"][0]["false_positive"]["rate"]["value"] is None


def test_rules_and_report_name_every_rule() -> None:
    rows = [(True, False), (False, False), (True, True)] * 5
    card = make_card(Evidence((*two_judges(rows), *two_judges(rows, right=True)), "t"))
    assert [rule.name for rule in card.rules] == ["a", "b", MIN, MEAN, MAJORITY]
    text = to_markdown("t", "s", card_sections(card))
    assert "Errors made together" in text
    assert all(f"| {name} |" in text for name in ("a", "b", MIN, MEAN, MAJORITY))


def test_hostile_names_are_escaped() -> None:
    name = "<script>alert(1)</script>"
    card = make_card(Evidence((judged("w", False, passing(True, judge=name), label=name),), name))
    assert "<script>alert" not in to_html("k", "t", title_of(card), card_sections(card))


def test_many_samples_are_shown_at_few_numbers() -> None:
    assert shown(4) == (1, 2, 3, 4)
    assert shown(100) == (*range(1, 17), 32, 64, 100)
    assert shown(0) == ()


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0, 1))
def test_joint_errors_are_the_sum_over_who_shares_the_draw(rates: list[float], correlation: float) -> None:
    share, total = sqrt(correlation), 0.0
    for shared in product((False, True), repeat=len(rates)):
        drawn = [rate for rate, common in zip(rates, shared, strict=True) if common]
        own = [rate for rate, common in zip(rates, shared, strict=True) if not common]
        total += share ** len(drawn) * (1 - share) ** len(own) * min(drawn, default=1.0) * prod(own)
    assert joint_error_rate(rates, correlation) == pytest.approx(total, abs=1e-12)


def test_joint_errors_of_many_judges_are_quick() -> None:
    assert joint_error_rate([0.5] * 200, 0.0) == pytest.approx(0.5**200)
    assert joint_error_rate([0.3, *[0.5] * 200], 1.0) == pytest.approx(0.3)
