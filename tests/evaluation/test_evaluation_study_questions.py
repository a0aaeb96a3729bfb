"""What the simulated study must show, and that it can be run, saved and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

np = pytest.importorskip("numpy", reason="needs the extra study")

from study_closed_forms import pass_all  # noqa: E402

from maxproof.cli.main import app  # noqa: E402
from maxproof.evaluation.study.estimates import difference, in_words, mean_interval, ratio_interval  # noqa: E402
from maxproof.evaluation.study.model import Draws, Model  # noqa: E402
from maxproof.evaluation.study.parameters import SimulatorSettings  # noqa: E402
from maxproof.evaluation.study.policies import search  # noqa: E402
from maxproof.evaluation.study.questions import ASKINGS, KEYS, Turn, turn_in_words  # noqa: E402
from maxproof.evaluation.study.report import FILES, read_study, study_sections, write_study  # noqa: E402
from maxproof.evaluation.study.runs import BLOCK, Run, blocks, evaluate  # noqa: E402
from maxproof.evaluation.study.simulated import SIZES as STUDY_SIZES  # noqa: E402
from maxproof.evaluation.study.simulated import StudySize, simulate  # noqa: E402
from maxproof.evaluation.study.types import Arm, Curve, Difference, Question, StudyResult  # noqa: E402
from maxproof.evaluation.study.verifier_rates import rate_curves  # noqa: E402
from maxproof.evaluation.study.ways import Way, runs_of  # noqa: E402
from maxproof.problems import InputError  # noqa: E402
from maxproof.report.blocks import to_html, to_markdown  # noqa: E402
from maxproof.search.settings import SearchSettings  # noqa: E402

SIZES = SearchSettings()
WRONG_ONLY = {
    "skill": -1.5,
    "difficulty_spread": 0.0,
    "gap_width": 0.0,
    "error_width": 9.0,
    "blocked": 1.0,
    "slip": 0.0,
}
"""Every proof has errors: 1 point."""


def run(simulator: SimulatorSettings, problems: int = 1500, seed: int = 0, **sizes: object) -> object:
    return search(Model(simulator, Draws(seed, 0, problems)), SIZES.model_copy(update=sizes))


# What any simulated noisy verifier must show (the project's property 13)


def test_minimum_over_k_lowers_false_positives_and_raises_false_negatives() -> None:
    simulator = SimulatorSettings(rho=0.0, blind_spot=0.0, pass_gap=0.3, pass_error=0.3, pass_wrong=0.3)
    positives, negatives = rate_curves({"independent": simulator}, 16, (1, 2, 4, 8), [0], 400)
    for curve, direction, expected in (
        (positives, -1, lambda k: 0.3**k),
        (negatives, 1, lambda k: 1 - 0.95**k),
    ):
        values = [value for _, value, _, _ in curve.lines["independent"]]
        assert all((after - before) * direction > 0 for before, after in pairwise(values))
        for k, value, low, high in curve.lines["independent"]:
            half = max(high - low, 2e-4)
            assert abs(value - expected(k)) < half, (curve.title, k)


def test_correlated_noise_shrinks_the_gain_of_the_minimum() -> None:
    settings = {
        f"{rho}": SimulatorSettings(rho=rho, blind_spot=0.0, pass_gap=0.3, pass_error=0.3, pass_wrong=0.3)
        for rho in (0.0, 0.5, 0.95)
    }
    positives, _ = rate_curves(settings, 16, (1, 4), [0], 400)
    gains = [lines[0][1] - lines[1][1] for lines in positives.lines.values()]
    assert gains[0] > gains[1] + 0.02 > gains[2] + 0.06
    for name, lines in positives.lines.items():
        assert lines[1][1] == pytest.approx(pass_all(0.3, 4, float(name)), abs=0.012)


def test_two_perfect_never_stop_wrongly_where_one_does_not() -> None:
    simulator = SimulatorSettings(skill=-2)
    one, two, three = (run(simulator, stop_at_perfect=count) for count in (1, 2, 3))
    assert not (two.wrong_stop & ~one.wrong_stop).any()
    assert not (three.wrong_stop & ~two.wrong_stop).any()
    assert one.wrong_stop.mean() > two.wrong_stop.mean() + 0.01


def test_wrong_stops_of_independent_judges_follow_the_binomial_law() -> None:
    simulator = SimulatorSettings(**WRONG_ONLY, rho=0.0, blind_spot=0.0, pass_error=0.5)
    rate, proofs, problems = 0.5**4, 8, 4000
    for count in (1, 2):
        found = run(simulator, problems, candidates=proofs, rounds=1, parents=1, stop_at_perfect=count, finalists=2)
        none = (1 - rate) ** proofs
        expected = 1 - none - (proofs * rate * (1 - rate) ** (proofs - 1) if count == 2 else 0)
        assert found.wrong_stop.mean() == pytest.approx(expected, abs=4 * (expected / problems) ** 0.5)


def test_tournament_helps_when_the_rankers_errors_are_its_own_and_hurts_when_they_are_the_verifiers() -> None:
    weak = {"ranker_accuracy": 0.6, "rho": 0.9}
    own, same = (run(SimulatorSettings(**weak, ranker_rho=rho), 2000) for rho in (0.0, 1.0))
    assert difference("t", "a", own.picked, own.argmax).low > 0
    assert difference("t", "a", same.picked, same.argmax).high < 0


# The study


def test_every_question_is_answered_saved_and_read_again(tmp_path: Path) -> None:
    result = simulate(SimulatorSettings(), SIZES, STUDY_SIZES["small"], seed=3)
    assert [question.key for question in result.questions] == list(KEYS)
    assert "summaries" not in KEYS
    for question in result.questions:
        used = ", ".join(f"{arm.budget:.1f} ({arm.name})" for arm in question.arms)
        assert f"Calls a problem: {used}." in question.answer
        for arm in question.arms:
            assert arm.low <= arm.value <= arm.high
            assert arm.count == 800
        assert question.curves
    scaffolds = next(q for q in result.questions if q.key == "scaffolds")
    assert all(arm.budget <= scaffolds.arms[0].budget for arm in scaffolds.arms)
    paths = write_study(tmp_path / "made", result)
    assert [path.name for path in paths] == list(FILES)
    assert read_study(paths[0]) == result
    page = paths[1].read_text()
    assert page.count("<figure") == sum(len(q.curves) for q in result.questions)
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_question_has_the_same_numbers_alone_and_again() -> None:
    size = StudySize(50, 1)
    alone = simulate(SimulatorSettings(), SIZES, size, 0, ["perfect"])
    both = simulate(SimulatorSettings(), SIZES, size, 0, ["lazy", "perfect"])
    assert alone.questions == both.questions[1:]
    assert alone.questions != simulate(SimulatorSettings(), SIZES, size, 1, ["perfect"]).questions


def test_lazy_and_eager_differ_in_verifications_only() -> None:
    (question,) = simulate(SimulatorSettings(), SIZES, StudySize(60, 1), 0, ["lazy"]).questions
    assert "the same proof on every problem" in question.answer
    lazy, eager = question.arms
    assert lazy.value < eager.value
    assert lazy.more["points"] == eager.more["points"]


def test_arms_are_what_their_names_say_whatever_the_search_is_set_to() -> None:
    sizes = SearchSettings(fitness="mean", lazy=False, offspring="patch")
    for asking in ASKINGS:
        for way in asking.ways:
            assert runs_of(way, SimulatorSettings(), sizes)
    size = StudySize(60, 1)
    aggregation, offspring = simulate(SimulatorSettings(), sizes, size, 0, ["aggregation", "offspring"]).questions
    assert aggregation.arms[0].value != aggregation.arms[1].value
    assert offspring.arms[0].value != offspring.arms[1].value


def test_a_panel_of_judges_is_studied_over_every_correlation() -> None:
    panel = SimulatorSettings(judges=3, rho_judges=0.3)
    (question,) = simulate(panel, SIZES, StudySize(30, 1), 0, ["samples"]).questions
    assert question.curves[0].title == "by rho"
    independent = rate_curves(
        {"none": panel.model_copy(update={"rho": 0.0, "rho_judges": 0.0, "blind_spot": 0.0})}, 16, (1,), [0], 400
    )
    alarms = independent[1].lines["none"][0]
    assert alarms[2] < 1 - 0.95**3 < alarms[3]


def test_intervals_of_arms_stay_within_what_can_be() -> None:
    perfect = SimulatorSettings(skill=10, difficulty_spread=0, blocked=0)
    for question in simulate(perfect, SIZES, StudySize(20, 1), 0, ["selection", "perfect"]).questions:
        most = 1 if question.key == "perfect" else 7
        bounds = [(arm.low, arm.high) for arm in question.arms]
        levels = [curve for curve in question.curves if not curve.title.startswith("paired")]
        bounds += [point[2:] for curve in levels for line in curve.lines.values() for point in line]
        assert all(0 <= low <= high <= most for low, high in bounds)


def test_unknown_and_unmodelled_questions_are_told() -> None:
    with pytest.raises(InputError, match="unknown question 'laazy'"):
        simulate(SimulatorSettings(), SIZES, StudySize(10, 1), 0, ["laazy"])
    with pytest.raises(InputError, match="not modelled"):
        simulate(SimulatorSettings(), SIZES, StudySize(10, 1), 0, ["summaries"])
    with pytest.raises(InputError, match=r"0\.35 does not go.*equal_budget"):
        simulate(SimulatorSettings(slip=0.4), SIZES, StudySize(10, 1), 0, ["equal_budget"])


def test_blocks_cover_all_problems() -> None:
    assert blocks([4, 5], BLOCK + 3) == [(4, 0, BLOCK), (4, 1, 3), (5, 0, BLOCK), (5, 1, 3)]
    with pytest.raises(ValueError, match="0 problems"):
        blocks([1], 0)


def test_a_limit_needs_its_run_first() -> None:
    first, second = runs_of(Way("", "mean_pool"), SimulatorSettings(), SIZES)
    with pytest.raises(ValueError, match="has not run"):
        evaluate([second, first], [0], 10)
    with pytest.raises(ValueError, match="one name"):
        evaluate([first, Run(first.name, first.settings, second.policy)], [0], 10)


def test_all_askings_compare_arms_that_they_have() -> None:
    for asking in ASKINGS:
        names = {way.name for way in asking.ways}
        assert {name for pair in asking.against for name in pair} <= names
        for sweep in asking.sweeps:
            assert set(sweep.ways) <= names
            assert sweep.parameter in SimulatorSettings.model_fields


# Words and numbers


def test_intervals() -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0])
    mean, low, high = mean_interval(values)
    assert (mean, high - mean) == pytest.approx((0.5, 1.96 * np.std(values, ddof=1) / 2), abs=1e-4)
    assert mean - low == pytest.approx(high - mean)
    same = mean_interval(np.full(100, 7.0), 7.0)
    assert same[0] == 7.0
    assert same[1] < 7.0 < same[2]
    with pytest.raises(ValueError, match="no values"):
        mean_interval(np.array([]))
    assert ratio_interval(np.zeros(3), np.zeros(3)) is None
    ratio = ratio_interval(np.array([1.0, 0.0, 2.0]), np.array([2.0, 2.0, 2.0]))
    assert ratio is not None
    assert ratio[0] == pytest.approx(0.5)


def test_an_answer_says_when_there_is_nothing_to_say() -> None:
    assert in_words(Difference("A", "B", 0.1, 0.05, 0.15)) == "A has 0.10 more points than B (0.05 to 0.15)"
    assert in_words(Difference("A", "B", -0.1, -0.15, -0.05)) == "A has 0.10 less points than B (0.05 to 0.15)"
    assert in_words(Difference("A", "B", 0.1, -0.05, 0.25)) == "A and B can't be told apart (+0.10, -0.05 to +0.25)"
    assert in_words(Difference("A", "B", 0.01, 0.001, 0.02)) == "A has 0.010 more points than B (0.001 to 0.020)"
    assert in_words(Difference("A", "B", -0.5, -1.0, 0.0)) == "A and B can't be told apart (-0.50, -1.00 to +0.00)"
    share = Difference("A", "B", 0.054, 0.038, 0.069)
    expected = "A has 5.4 percentage points more wrong stops than B (3.8 to 6.9)"
    assert in_words(share, "wrong stops", percent=True) == expected
    turn = Turn("rho", ((0.0, Difference("A", "B", 1, 0.5, 2)), (1.0, Difference("A", "B", 0, -1, 1))))
    assert turn_in_words(turn) == "Over rho, A against B: more at 0; not told apart at 1."


# The report


def measured() -> StudyResult:
    arm = Arm("<b>MaxProof</b>", 5.0, 4.0, 6.0, 1234.5, 20, {"false_stop_rate": 0.25, "best_in_archive": 5.5})
    other = Arm("one | proof", 4.0, 3.0, 5.0, 1.0, 20)
    question = Question(
        "summaries", "Summaries", "Do they help?", "mean points", "tokens a problem", (arm, other),
        (Difference(arm.name, other.name, 1.0, -0.5, 2.5),), (), "Nothing can be said.",
    )  # fmt: skip
    return StudyResult("measured", "model X", 1, {"command": "maxproof study x.jsonl", "N": "32"}, (question,), 12.0)


def test_measured_results_are_reported_too(tmp_path: Path) -> None:
    result = measured()
    sections = study_sections(result)
    html, text = to_html("k", "t", "s", sections), to_markdown("t", "s", sections)
    assert "<b>MaxProof</b>" not in html
    assert "measured on a real model" in text
    assert "25.0%" in text
    assert "one \\| proof" in text
    assert "+1.000 [-0.500, +2.500]" in text
    assert "maxproof study x.jsonl" in text
    assert "simulated" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no study"),
        ("[" * 100_000, "no study"),
        ('{"kind": "guessed"}', "no study"),
    ],
)
def test_a_damaged_study_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_study(path)


@pytest.mark.parametrize(("number", "said"), [("1e999", "not finite"), ("-1e300", "out of range")])
def test_a_study_with_numbers_that_nothing_can_have_is_refused(tmp_path: Path, number: str, said: str) -> None:
    path, *_ = write_study(tmp_path, measured())
    path.write_text(path.read_text().replace("1234.5", number))
    with pytest.raises(InputError, match=said):
        read_study(path)


def test_curves_without_enough_points_are_left_out() -> None:
    result = measured()
    curve = Curve("by rho", "rho", {"A": ((0.0, 1.0, 0.5, 1.5),)})
    question = replace(result.questions[0], curves=(curve,))
    html = to_html("k", "t", "s", study_sections(replace(result, questions=(question,))))
    assert "<figure" not in html


# The command


def test_command_runs_saves_and_reads_again(tmp_path: Path) -> None:
    out = tmp_path / "study"
    options = ["--problems", "40", "--seeds", "1", "--questions", "perfect,lazy", "--set", "simulator.rho=0.25"]
    done = CliRunner().invoke(app, ["study", *options, "--set", "search.rounds=2", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["settings"]["simulator.rho"] == "0.25"
    assert told["settings"]["search.rounds"] == "2"
    assert "--set search.rounds=2" in told["settings"]["command"]
    saved = read_study(out / "result.json")
    assert [question["key"] for question in told["questions"]] == [question.key for question in saved.questions]
    again = CliRunner().invoke(app, ["study", "--from", str(out / "result.json"), "--out", str(tmp_path / "again")])
    assert again.exit_code == 0
    assert (tmp_path / "again" / "report.html").read_bytes() == (out / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "simulator.roh=1"], "did you mean rho?"),
        (["--set", "simulator.rho=2"], "simulator.rho"),
        (["--set", "search.votes=2"], "odd"),
        (["--set", "search.votes=65"], "at most 63"),
        (["--seed", "-1"], "search.seed"),
        (["--equal", "calls"], "--equal: does nothing here"),
        (["--max-calls", "3"], "--max-calls: does nothing here"),
        (["problems.jsonl"], "--problems: is the simulator's"),
        (["--from", "result.json"], "--problems: does nothing with --from"),
        (["--set", "budget.max_calls=2"], "unknown setting"),
        (["--questions", "nothing"], "unknown question"),
        (["--set", "search.candidates=5000"], "at most 4,000"),
        (["--set", "search.finalists=9", "--set", "search.candidates=8"], "9 finalists"),
    ],
)
def test_command_refuses_what_it_does_not_know(tmp_path: Path, options: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["study", *options, "--out", str(tmp_path / "x"), "--problems", "4"])
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (tmp_path / "x").exists()


def test_parameters_are_listed() -> None:
    done = CliRunner().invoke(app, ["study", "--parameters", "--json"])
    listed = json.loads(done.stdout)
    assert listed.keys() == {f"simulator.{name}" for name in SimulatorSettings.model_fields}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--model", "lab"], 2, "no oracle is named"),
        (["--model", "lab", "--oracle", "lab", "--questions", "sumaries"], 2, "did you mean summaries?"),
        (["--model", "lab", "--oracle", "lab", "--id", "other"], 2, "no problem with id"),
        ([], 4, "no model is configured"),
    ],
)
def test_a_real_study_refuses_before_it_makes_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "problems.jsonl").write_text(json.dumps({"id": "one", "statement": "Show that 1 = 1."}) + "\n")
    done = CliRunner().invoke(app, ["study", "problems.jsonl", *options])
    assert done.exit_code == code, done.output
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_model_without_problems_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "--model", "lab", "--out", str(tmp_path / "x")])
    assert done.exit_code == 2
    assert "no DATASET" in done.stderr
