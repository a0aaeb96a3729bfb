"""Many problems in one process: full endpoints, one budget, nothing paid twice, the same result in any order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from eval_fakes import SEARCH, OracleScript, asked, dataset, make, model, oracle_settings

from maxproof.evaluation.dataset.folder import EvalFolder, Unit, open_eval
from maxproof.evaluation.dataset.report import result_json, summary_lines, write_report
from maxproof.evaluation.dataset.result import EvalResult, Used, collect
from maxproof.evaluation.dataset.runner import open_worker, queue_of, run_units, work
from maxproof.evaluation.dataset.tables import tables_of
from maxproof.evaluation.dataset.unit_files import read_grades_file, write_grades_file
from maxproof.models.mock import FaultPlan, Latency, MockReply, MockRequest, MockServer, SimulatedModel
from maxproof.models.settings import BudgetSettings
from maxproof.models.types import Stop, StopKind

FAST = Latency(median_s=0.004, sigma=0.5)
DERIVED = ("result.json", "report.html", "report.md")


async def both(folder: EvalFolder) -> tuple[Stop, EvalResult]:
    return await work(folder, folder.units()), await collect(open_eval(folder.path))


def comparable(result: EvalResult) -> str:
    """Everything that was measured, but for what names this run's servers."""
    value = result_json(result, tables_of(result))
    return json.dumps({key: value[key] for key in ("tables", "units", "states")})


async def test_every_problem_is_run_and_graded_once(tmp_path: Path) -> None:
    problems = dataset(5)
    async with MockServer(model()) as search, MockServer(model(2)) as oracle:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, oracle_settings(oracle.base_url)))
        stop, result = await both(folder)
        assert not stop
        assert result.states == {"done": 5, "stopped": 0, "not_run": 0}
        asked_search, asked_oracle = search.stats.requests, oracle.stats.requests
        distinct = {(unit.problem, c.proof) for unit in result.units for c in unit.candidates}
        assert asked_oracle == len(distinct)
        for unit in result.units:
            assert unit.loss is not None
            assert unit.loss >= 0
            rounds = [unit.best_after(number) or 0 for number in range(unit.rounds + 1)]
            assert rounds == sorted(rounds)
        assert sum(unit.search.calls for unit in result.units) == asked_search
        assert sum(unit.oracle.calls for unit in result.units) == asked_oracle

        await work(folder, folder.units())
        assert (search.stats.requests, oracle.stats.requests) == (asked_search, asked_oracle)


async def test_derived_files_follow_from_the_journals_alone(tmp_path: Path) -> None:
    problems = dataset(3)
    async with MockServer(model()) as search, MockServer(model(2)) as oracle:
        wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), seeds=(0, 1))
        folder = make(tmp_path / "e", problems, wanted)
        await work(folder, folder.units())
    folder = open_eval(folder.path)
    write_report(folder.path, await collect(folder))
    first = [(folder.path / name).read_bytes() for name in DERIVED]
    for unit in folder.units():
        folder.unit(unit).outcome.unlink()
        folder.unit(unit).grades.unlink()
    write_report(folder.path, await collect(folder))
    assert [(folder.path / name).read_bytes() for name in DERIVED] == first


async def test_the_result_does_not_depend_on_the_order_in_which_problems_run(tmp_path: Path) -> None:
    problems = dataset(4)
    found = []
    async with MockServer(model(), latency=FAST) as search, MockServer(model(2)) as oracle:
        for name, concurrency in (("a", 3), ("b", 64)):
            wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), concurrency=concurrency)
            folder = make(tmp_path / name, problems, wanted)
            units = folder.units()
            await work(folder, units if name == "a" else units[::-1])
            found.append(comparable(await collect(open_eval(folder.path))))
    assert _without_tokens(found[0]) == _without_tokens(found[1])


def _without_tokens(text: str) -> list[object]:
    value = json.loads(text)
    return [
        [(c["id"], c["proof"], c["points"], c["fitness"]) for c in unit["candidates"]] + [unit["picked"], unit["stop"]]
        for unit in value["units"]
    ]


class Barrier:
    """Answers nothing until so many calls wait, again and again: a run that keeps fewer in flight never ends."""

    def __init__(self, wanted: int, total: int) -> None:
        self._wanted, self._left = wanted, total
        self._waiting = 0
        self._open = asyncio.Event()

    async def __call__(self, request: MockRequest) -> MockReply:
        self._waiting += 1
        if self._waiting >= min(self._wanted, self._left):
            self._left -= self._waiting
            self._waiting = 0
            self._open.set()
            self._open = asyncio.Event()
        else:
            await self._open.wait()
        return MockReply(f"Proof of {request.key}.")


async def test_the_endpoint_is_kept_full_across_problems(tmp_path: Path) -> None:
    """One-shot asks one call a problem: only many problems at once can fill the endpoint."""
    problems = dataset(40)
    async with MockServer(Barrier(12, 40)) as search, asyncio.timeout(60):
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, method="one_shot", concurrency=12))
        _, result = await both(folder)
        assert search.stats.peak_in_flight == 12
        assert result.states["done"] == 40


async def test_no_more_problems_are_opened_than_keep_it_full(tmp_path: Path) -> None:
    problems = dataset(30)
    wide = SEARCH.model_copy(update={"candidates": 8})
    async with MockServer(model(), latency=Latency(median_s=0.02, sigma=0.1)) as search:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, search=wide, concurrency=8))
        most = 0
        async with open_worker(folder, folder.units()) as worker:
            counted = worker.run

            async def run(unit: Unit, **options: object) -> bool:
                nonlocal most
                most = max(most, worker.searching + 1)
                return await counted(unit, **options)  # type: ignore[arg-type]

            worker.run = run  # type: ignore[method-assign]
            await run_units(worker, queue_of(folder.units()[:12]), asyncio.Event())
        # Eight calls of one problem fill the endpoint; a round's tail lets a few others in, never all of them.
        assert 1 <= most <= 9


async def test_the_budget_is_one_for_all_problems_and_sessions(tmp_path: Path) -> None:
    problems = dataset(8)
    async with MockServer(model()) as search, MockServer(model(2)) as oracle:
        wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), budget=BudgetSettings(max_calls=50))
        folder = make(tmp_path / "e", problems, wanted)
        stop, result = await both(folder)
        assert stop.kind is StopKind.BUDGET
        assert search.stats.requests <= 50
        assert result.states["done"] < 8
        assert result.states["not_run"] > 0
        for unit in result.units:
            if unit.state == "stopped":
                assert "max_calls = 50" in unit.reason
            if unit.candidates:  # what is there is graded, and a tournament was held
                assert unit.picked_points is not None

        stop, _ = await both(folder)
        assert stop.kind is StopKind.BUDGET
        assert search.stats.requests <= 50

        more = folder.asked.settings.model_copy(update={"budget": BudgetSettings()})
        folder = folder.save(folder.asked.model_copy(update={"settings": more}))
        stop, result = await both(folder)
        assert not stop
        assert result.states["done"] == 8
        paid = search.stats.requests
    async with MockServer(model()) as search:  # the same again without a budget pays as much
        other = make(tmp_path / "f", problems, asked(problems, search.base_url))
        await work(other, other.units())
        # The tournaments of the stopped runs were for other finalists: their calls come on top.
        assert search.stats.requests <= paid <= search.stats.requests + 8 * 3


async def test_a_dead_endpoint_ends_the_run_and_the_next_session_finishes_it(tmp_path: Path) -> None:
    problems = dataset(8)
    dead = FaultPlan.parse(["401@after=60"])
    async with MockServer(model(), faults=dead) as search:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url))
        stop, result = await both(folder)
        assert stop.kind is StopKind.ENDPOINT
        assert result.states["done"] < 8
        done = {unit.problem for unit in result.units if unit.state == "done"}
        port = int(search.base_url.rsplit(":", 1)[1].split("/")[0])
    async with MockServer(model(), port=port) as search:
        stop, result = await both(folder)
        assert not stop
        assert result.states["done"] == 8
        # No failure of the outage has become a fact about a proof.
        assert all(c.fitness is not None for unit in result.units if unit.problem not in done for c in unit.candidates)
        assert all(not unit.reason for unit in result.units)


async def test_an_endpoint_that_never_answers_is_told_however_few_the_calls(tmp_path: Path) -> None:
    problems = dataset(2)
    async with MockServer(model(), faults=FaultPlan.parse(["400"])) as search:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, method="one_shot"))
        stop, result = await both(folder)
        assert stop.kind is StopKind.ENDPOINT
        assert result.states["stopped"] == 2
    assert "can't be used: HTTP 400" in "\n".join(summary_lines(result, tables_of(result)))


@pytest.mark.parametrize("bad", [0, 2])
async def test_a_call_that_always_fails_is_its_own_fault_where_the_endpoint_answers_others(
    tmp_path: Path, bad: int
) -> None:
    problems = dataset(5)

    def script(request: object) -> object:
        from maxproof.models.mock import Fault, MockRequest

        assert isinstance(request, MockRequest)
        if f"number {bad}" in (request.block("problem") or ""):
            return Fault("status", status=400, message="no")
        return SimulatedModel(seed=1)(request)

    async with MockServer(script) as search:  # type: ignore[arg-type]
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, method="one_shot", concurrency=1))
        stop, result = await both(folder)
        assert not stop
        states = {unit.problem: (unit.state, len(unit.candidates)) for unit in result.units}
        assert states == {f"P{n}": ("done", 0 if n == bad else 1) for n in range(5)}


@pytest.mark.parametrize("faults", [["429@0.1,retry-after=0"], ["500@every=40", "half@every=55"]])
async def test_faults_change_no_result(tmp_path: Path, faults: list[str]) -> None:
    problems = dataset(3)
    found = []
    for name, plan in (("a", []), ("b", faults)):
        async with MockServer(model(), faults=FaultPlan.parse(plan)) as search, MockServer(model(2)) as oracle:
            folder = make(tmp_path / name, problems, asked(problems, search.base_url, oracle_settings(oracle.base_url)))
            await work(folder, folder.units())
            found.append(_without_tokens(comparable(await collect(open_eval(folder.path)))))
    assert found[0] == found[1]


async def test_what_a_spent_budget_left_unfinished_is_graded_when_it_goes_on(tmp_path: Path) -> None:
    problems = dataset(2)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        judge = oracle_settings(oracle.base_url)
        whole = make(tmp_path / "whole", problems, asked(problems, search.base_url, judge))
        _, expected = await both(whole)
        calls = sum(unit.search.calls for unit in expected.units)
        limited = asked(problems, search.base_url, judge, budget=BudgetSettings(max_calls=calls * 2 // 3))
        folder = make(tmp_path / "e", problems, limited)
        stop, early = await both(folder)
        assert stop.kind is StopKind.BUDGET
        assert any(unit.candidates and not unit.not_graded for unit in early.units)  # all of what it wrote was graded
        folder = folder.save(asked(problems, search.base_url, judge))
        stop, result = await both(folder)
        assert not stop
        # The tournaments of the early end were paid for beside.
        assert [replace(u, search=Used()) for u in result.units] == [replace(u, search=Used()) for u in expected.units]


async def test_proofs_that_came_after_the_last_grades_are_graded(tmp_path: Path) -> None:
    problems = dataset(2)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, oracle_settings(oracle.base_url)))
        _, expected = await both(folder)
        place = folder.unit(Unit("P0", 0))
        known = read_grades_file(place.grades)
        assert known is not None
        kept = dict(list(known.grades.items())[:1])
        write_grades_file(place.grades, replace(known, grades=kept))  # as a session leaves it that was ended early
        _, result = await both(folder)
        assert comparable(result) == comparable(expected)
