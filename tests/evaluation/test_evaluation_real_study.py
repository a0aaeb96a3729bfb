"""The study on real models: arms, budgets, resuming, what is said where something is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from method_fakes import PROBLEM, SMALL, VERIFIER, Scripted, World

from maxproof.evaluation.oracle.oracle import Grade, LabOracle
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.models.journal import Journal
from maxproof.models.mock import FaultPlan, MockServer, SimulatedModel
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.models.types import StopKind
from maxproof.problems import InputError, Problem
from maxproof.search.settings import RunSettings, SearchSettings

np = pytest.importorskip("numpy", reason="needs the extra study")

from maxproof.evaluation.study.arms import (  # noqa: E402
    ALL_SAMPLES,
    BEST_OF,
    REFERENCE,
    ArmPlan,
    Question,
    all_arms,
    kept_calls,
    question_arms,
    sizes,
)
from maxproof.evaluation.study.intervals import bootstrap  # noqa: E402
from maxproof.evaluation.study.real import StudyProgress, run_study, unit_records  # noqa: E402
from maxproof.evaluation.study.real_answers import best, points, study_result  # noqa: E402
from maxproof.evaluation.study.real_folder import (  # noqa: E402
    RealStudySettings,
    StudyFolder,
    create_study,
    open_study,
)
from maxproof.evaluation.study.unit import UnitRecord, grade_all, run_arms, wanted  # noqa: E402

QUESTIONS: tuple[Question, ...] = get_args(Question)
TINY = SearchSettings(candidates=4, verifications=2, rounds=2, parents=1, finalists=2, votes=1)
PROBLEMS = [Problem("one", "Show that 2 is prime."), Problem("two", "Show that 3 is prime.")]


# --- arms -------------------------------------------------------------------------------------------------------------


def test_the_reference_runs_first_and_each_arm_after_its_budget() -> None:
    plans = all_arms(QUESTIONS, SearchSettings(), (1, 2, 8))
    names = [plan.name for plan in plans]
    assert names[0] == REFERENCE
    assert len(set(names)) == len(names)
    for place, plan in enumerate(plans):
        assert not plan.limit_of or plan.limit_of in names[:place]
    assert {plan.method for plan in plans} == {"search", "one_shot", "best_of", "verify_repair", "pool", "knockout"}


def test_arms_differ_from_the_published_search_in_one_thing() -> None:
    search = SearchSettings(seed=3)
    for question in QUESTIONS:
        for plan in question_arms(question, search, (1,)):
            settings = sizes(plan, search, 700)
            assert settings.seed == 3
            changed = {n for n in SearchSettings.model_fields if getattr(settings, n) != getattr(search, n)}
            assert changed <= {*plan.changes, plan.grows}
            SearchSettings.model_validate(settings.model_dump())


def test_an_arm_that_is_the_reference_is_the_reference() -> None:
    counts = question_arms("samples", SearchSettings(), (1, 4, 4))
    assert [plan.name for plan in counts] == ["K = 1", REFERENCE]
    stops = question_arms("perfect", SearchSettings(stop_at_perfect=1), ())
    assert [plan.name for plan in stops] == [REFERENCE, "stop at 2 perfect"]


@pytest.mark.parametrize("method", ["search", "best_of", "verify_repair", "pool", "knockout", "one_shot"])
def test_more_is_kept_with_more_judges(method: str) -> None:
    one, three = (kept_calls(method, SearchSettings(), judges, "calls") for judges in (1, 3))
    assert 0 <= one <= three
    assert kept_calls("search", SearchSettings(), 1, "calls") == 9 + 12
    assert kept_calls("search", SearchSettings(), 1, "tokens") == 18 + 12


# --- one unit ---------------------------------------------------------------------------------------------------------


class Count:
    """An oracle that grades by the quality in the text, and not at all where it says so."""

    def __init__(self, missing: int | None = None) -> None:
        self.texts: list[str] = []
        self._missing = missing

    async def grade(self, problem: Problem, attempts: Sequence[int], text: str) -> Grade:
        self.texts.append(text)
        quality = int(text.rsplit("quality ", 1)[1][0]) if "quality " in text else 0
        return Grade(None) if quality == self._missing else Grade(float((0, 1, 6, 7)[quality]))


async def unit(seed: int, order: int | None = None) -> tuple[Any, Any, Scripted]:
    scripted = Scripted(World(seed, noise=0.4, unreadable=0.05, failing=0.02), order)
    plans = all_arms(QUESTIONS, SMALL, (1, 3))
    records, texts = await run_arms(PROBLEM, plans, SMALL, VERIFIER, scripted, "tokens")
    return records, texts, scripted


async def test_arms_share_calls_and_none_spends_much_more_than_its_budget() -> None:
    over = []
    for seed in range(6):
        records, _, scripted = await unit(seed)
        plans = all_arms(QUESTIONS, SMALL, (1, 3))
        distinct = len({(c.address, c.template, c.inputs) for c in scripted.asked})
        assert distinct < sum(record.spent.calls for record in records.values()) / 2
        for plan in plans:
            if plan.limit_of:
                limit = records[plan.limit_of].spent.tokens
                over.append(records[plan.name].spent.tokens / limit - 1)
    assert max(over) < 0.5
    assert sum(over) / len(over) < 0.1


async def test_a_unit_does_not_depend_on_the_order_in_which_calls_finish() -> None:
    for seed in range(3):
        records, texts, _ = await unit(seed)
        again, texts_again, _ = await unit(seed, order=seed + 100)
        assert records == again
        assert texts.keys() == texts_again.keys()


async def test_lazy_and_all_samples_decide_alike() -> None:
    for seed in range(5):
        records, _, _ = await unit(seed)
        lazy, eager = records[REFERENCE], records[ALL_SAMPLES]
        assert lazy.decisions == eager.decisions != ""
        assert lazy.verifications <= eager.verifications == eager.verifications_eager


async def test_every_proof_is_graded_once_and_no_grade_is_no_zero() -> None:
    records, texts, _ = await unit(1)
    oracle = Count(missing=2)
    digests = wanted(records, archive=True)
    grades, final = await grade_all(oracle, PROBLEM, digests, texts)
    assert final
    assert len(oracle.texts) == len(set(oracle.texts)) == len(texts)
    assert None in grades.values()
    record = UnitRecord("p", 0, records, grades)
    ungraded = [n for n, arm in records.items() if arm.picked is not None and grades[arm.picked] is None]
    assert all(points(name)(record) is None for name in ungraded)
    assert best(REFERENCE)(record) is None
    assert len(wanted(records, archive=False)) < len(digests)


# --- whole studies ----------------------------------------------------------------------------------------------------


def settings(url: str, **more: Any) -> RunSettings:
    return RunSettings(endpoints={"default": EndpointSettings(base_url=url)}, search=TINY, verifier=VERIFIER, **more)


def make(path: Path, url: str, study: RealStudySettings | None = None, **more: Any) -> StudyFolder:
    study = study or RealStudySettings(samples=(1,))
    oracle = OracleSettings(base_url=url, model="oracle")
    return create_study(path, PROBLEMS, settings(url, **more), study, "judge", oracle)


def calls_in(folder: StudyFolder) -> int:
    total = 0
    for unit in folder.units():
        for path in (unit.journal, unit.oracle_journal):
            with Journal.replay(path) as journal:
                total += sum(1 for _ in journal.calls("1"))
    return total


def oracle_script(request: Any) -> Any:
    """The simulated model, whose oracle gives full points to proofs with an even number of characters."""
    from maxproof.models.mock import MockReply

    text = request.block("solution")
    if text is None:
        return MODEL(request)
    return MockReply(f"<points>{7 if len(text) % 2 == 0 else 1}</points>")


MODEL = SimulatedModel(seed=5, quality=0.8, steps=4, proof_chars=200, false_positive=0.2)


async def test_a_study_answers_every_question_and_a_second_session_asks_nothing(tmp_path: Path) -> None:
    async with MockServer(oracle_script) as server:
        folder = make(tmp_path / "study", server.base_url, RealStudySettings(samples=(1,), seeds=(0, 1)))
        seen: list[StudyProgress] = []
        assert not await run_study(folder, lambda progress: seen.append(progress()))
        assert (seen[0].units, seen[0].done) == (4, 0)
        made = server.stats.by_task.total()
        assert not await run_study(open_study(folder.path))
        assert server.stats.by_task.total() == made
    result = study_result(folder)
    assert result.kind == "measured"
    assert result.settings["units finished"] == "4 of 4"
    assert result.subject == "mock"
    assert [question.key for question in result.questions] == list(QUESTIONS)
    for question in result.questions:
        assert question.answer[0].isupper()
        assert ("Used of its limit" in question.answer) == (question.key not in ("selection", "perfect", "lazy"))
        assert question.arms
        for arm in question.arms:
            assert arm.low <= arm.value <= arm.high
            assert arm.count == 4
            assert arm.budget > 0
    assert study_result(open_study(folder.path)) == result


async def test_a_stopped_study_goes_on_and_ends_as_one_that_never_stopped(tmp_path: Path) -> None:
    async with MockServer(oracle_script) as server:
        whole = make(tmp_path / "whole", server.base_url, RealStudySettings(samples=(1,), at_once=1))
        assert not await run_study(whole)
        stopped = make(tmp_path / "stopped", server.base_url, budget=BudgetSettings(max_calls=40))
        stop = await run_study(stopped)
        assert stop.kind is StopKind.BUDGET
        assert unit_records(stopped) == []
        assert study_result(stopped).questions == ()
        asked = server.stats.by_task.total()
        resumed = make(tmp_path / "stopped", server.base_url)
        assert not await run_study(resumed)
        assert server.stats.by_task.total() - asked <= calls_in(whole) - 30
    assert unit_records(resumed) == unit_records(whole)
    assert calls_in(resumed) == calls_in(whole)


async def test_questions_and_seeds_may_be_added(tmp_path: Path) -> None:
    async with MockServer(oracle_script) as server:
        first = RealStudySettings(questions=("equal_budget",), samples=(1,))
        assert not await run_study(make(tmp_path / "study", server.base_url, first))
        asked = server.stats.by_task.total()
        more = make(tmp_path / "study", server.base_url, RealStudySettings(samples=(1,), seeds=(0, 1)))
        assert unit_records(more) == []
        assert not await run_study(more)
        grown = server.stats.by_task.total() - asked
        whole = make(tmp_path / "whole", server.base_url, RealStudySettings(samples=(1,), seeds=(0, 1)))
        assert not await run_study(whole)
        assert server.stats.by_task.total() - asked - grown > grown
    assert unit_records(more) == unit_records(whole)
    assert calls_in(more) == calls_in(whole)
    assert len(unit_records(more)) == 4


async def test_a_killed_study_goes_on(tmp_path: Path) -> None:
    async with MockServer(oracle_script) as server:
        whole = make(tmp_path / "whole", server.base_url)
        await run_study(whole)
        killed = make(tmp_path / "killed", server.base_url)
        work = asyncio.create_task(run_study(killed))
        await asyncio.sleep(0.3)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not await run_study(killed)
    assert unit_records(killed) == unit_records(whole)


async def test_a_dead_endpoint_stops_the_study_and_nothing_is_said(tmp_path: Path) -> None:
    async with MockServer(oracle_script, faults=FaultPlan.parse(["500@after=15"])) as server:
        endpoint = EndpointSettings(base_url=server.base_url, model="mock", timeout_s=0.3)
        asked = settings(server.base_url).model_copy(update={"endpoints": {"default": endpoint}})
        oracle = OracleSettings(base_url=server.base_url, model="oracle", timeout_s=0.3)
        study = RealStudySettings(questions=("equal_budget",))
        folder = create_study(tmp_path / "study", PROBLEMS, asked, study, "judge", oracle)
        stop = await run_study(folder)
    assert stop.kind is StopKind.ENDPOINT
    assert unit_records(folder) == []


def test_another_study_in_the_folder_is_refused(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    make(tmp_path, url)
    make(tmp_path, url, RealStudySettings(samples=(1,), at_once=3), budget=BudgetSettings(max_calls=7))
    slower = {"default": EndpointSettings(base_url=url, timeout_s=7, concurrency=2)}
    asked = settings(url).model_copy(update={"endpoints": slower, "search": TINY.model_copy(update={"seed": 3})})
    oracle = OracleSettings(base_url=url, model="oracle")
    create_study(tmp_path, PROBLEMS, asked, RealStudySettings(samples=(1, 8), seeds=(0, 1)), "judge", oracle)
    changed = settings(url).model_copy(update={"search": TINY.model_copy(update={"rounds": 1})})
    with pytest.raises(InputError, match=r"with another search\.rounds, study\.budget"):
        create_study(tmp_path, PROBLEMS, changed, RealStudySettings(budget="calls"), "judge", oracle)
    with pytest.raises(InputError, match="with another dataset"):
        create_study(tmp_path, PROBLEMS[:1], settings(url), RealStudySettings(), "judge", oracle)
    with pytest.raises(InputError, match="two problems have the id"):
        create_study(tmp_path / "b", [PROBLEMS[0]] * 2, settings(url), RealStudySettings(), "lab")
    with pytest.raises(InputError, match="at least one problem"):
        create_study(tmp_path / "c", [], settings(url), RealStudySettings(), "lab")
    with pytest.raises(InputError, match="endpoint of its own"):
        create_study(tmp_path / "d", PROBLEMS, settings(url), RealStudySettings(), "judge")
    with pytest.raises(InputError, match="has no study"):
        open_study(tmp_path / "nowhere")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 9}', '{"format": 1}', "[" * 100_000])
def test_a_damaged_study_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(InputError):
        open_study(tmp_path)


def test_a_damaged_unit_is_one_clear_line(tmp_path: Path) -> None:
    folder = make(tmp_path, "http://127.0.0.1:9/v1")
    unit = folder.units()[0]
    unit.path.mkdir(parents=True)
    unit.record.write_text('{"problem": 3')
    with pytest.raises(InputError, match="is damaged"):
        unit_records(folder)


async def test_the_lab_study_runs_offline(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.lab.generate import problems
    from maxproof.models.schemes import register_scheme
    from maxproof.models.settings import RoleSettings
    from maxproof.training.lab_endpoint import open_lab

    register_scheme("lab:", open_lab)
    asked = RunSettings(
        endpoints={"default": EndpointSettings(base_url="lab:")},
        roles={name: RoleSettings(max_tokens=144) for name in ("generator", "refiner", "judge", "ranker")},
        search=TINY,
        verifier=VERIFIER,
    )
    chosen = [made.problem for made in problems("test", 1, 0)]
    study = RealStudySettings(questions=("scaffolds",))
    folder = create_study(tmp_path / "study", chosen, asked, study, "lab")
    assert not await run_study(folder)
    result = study_result(folder)
    assert result.subject.startswith("lab-")
    for record in unit_records(folder):
        assert set(record.arms) == {plan.name for plan in folder.plans}
        assert None not in record.grades.values()
    oracle = LabOracle()
    assert (await oracle.grade(replace(chosen[0], statement="2 + 2?"), [0], "text")).points is None


async def test_what_the_endpoint_says_of_a_problem_it_refuses_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.models.schemes import register_scheme
    from maxproof.training.lab_endpoint import open_lab

    register_scheme("lab:", open_lab)
    asked = RunSettings(endpoints={"default": EndpointSettings(base_url="lab:")}, search=TINY, verifier=VERIFIER)
    folder = create_study(tmp_path / "study", PROBLEMS, asked, RealStudySettings(questions=("scaffolds",)), "lab")
    stop = await run_study(folder)
    assert stop.kind is StopKind.ENDPOINT
    assert stop.reason.startswith("2 problems have calls that were not answered, the last: ")
    assert "this is no problem of the lab, and the lab's model can't prove anything else" in stop.reason


# --- intervals --------------------------------------------------------------------------------------------------------


def test_seeds_of_one_problem_count_as_one_draw() -> None:
    rng = np.random.default_rng(1)
    alike = [[float(value)] * 20 for value in rng.normal(size=30)]
    free = [list(map(float, row)) for row in rng.normal(size=(30, 20))]
    _, low, high = bootstrap(alike)
    _, low_free, high_free = bootstrap(free)
    assert high - low > 3 * (high_free - low_free)


def test_equal_values_have_an_interval_and_no_values_have_none() -> None:
    mean, low, high = bootstrap([[7.0], [7.0, 7.0]], 7)
    assert mean == 7
    assert low < 7 < high
    assert bootstrap([[1.0], [], [3.0]])[0] == 2
    with pytest.raises(ValueError, match="no values"):
        bootstrap([[], []])


@pytest.mark.parametrize(("problems", "least"), [(40, 0.89), (6, 0.89), (3, 0.7)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(problems: int, least: float) -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        values = rng.normal(size=(problems, 1))
        _, low, high = bootstrap([list(map(float, row)) for row in values])
        held += low <= 0 <= high
    assert least <= held / 300 <= 0.995


def test_arm_names_that_reports_rely_on() -> None:
    names = {plan.name for plan in all_arms(QUESTIONS, SearchSettings(), ())}
    assert {REFERENCE, BEST_OF, ALL_SAMPLES} <= names
    assert ArmPlan("x", "search").limit_of == REFERENCE
