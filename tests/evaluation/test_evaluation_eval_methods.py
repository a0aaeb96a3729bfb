"""Every method in an evaluation, given proofs, the oracle's own budget, and what a server serves."""

from __future__ import annotations

from pathlib import Path

import pytest
from eval_fakes import OracleScript, asked, dataset, make, model, oracle_settings

from maxproof.evaluation.dataset.folder import GIVEN, create_eval, open_eval
from maxproof.evaluation.dataset.result import collect
from maxproof.evaluation.dataset.runner import work
from maxproof.evaluation.dataset.tables import tables_of
from maxproof.evaluation.methods import METHODS
from maxproof.evaluation.oracle.told import oracle_lines, same_model
from maxproof.models.mock import Features, MockServer
from maxproof.models.settings import BudgetSettings
from maxproof.models.types import StopKind
from maxproof.problems import InputError
from maxproof.search.run import run_prove
from maxproof.search.run_folder import open_run


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_every_method_is_run_graded_and_replayed(tmp_path: Path, method: str) -> None:
    problems = dataset(2)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), method=method)
        folder = make(tmp_path / "e", problems, wanted)
        assert not await work(folder, folder.units())
    folder = open_eval(folder.path)
    live, again = await collect(folder), await collect(folder, replay=True)
    assert live == again
    assert live.states["done"] == 2
    for unit in live.units:
        assert unit.picked_points is not None
        assert all(candidate.points is not None for candidate in unit.candidates)


async def test_a_run_of_the_search_is_an_ordinary_run_folder(tmp_path: Path) -> None:
    problems = dataset(1)
    async with MockServer(model()) as search:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, seeds=(5,)))
        await work(folder, folder.units())
    run = open_run(folder.unit(folder.units()[0]).path)
    assert run.settings.search.seed == 5
    outcome = await run_prove(run, replay=True)
    (unit,) = (await collect(open_eval(folder.path))).units
    assert outcome.result.winner == unit.picked
    assert len(outcome.result.standings) == len(unit.candidates)
    assert not outcome.account.stop


async def test_given_proofs_are_verified_where_that_is_wanted(tmp_path: Path) -> None:
    problems = dataset(2)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        first = make(tmp_path / "s", problems, asked(problems, search.base_url, method="best_of"))
        await work(first, first.units())
        from maxproof.evaluation.dataset.unit_files import read_outcome_file

        texts = {}
        for unit in first.units():
            found = read_outcome_file(first.unit(unit).outcome)
            assert found is not None
            texts[unit.problem] = [attempt.text for attempt in found.outcome.attempts]
        wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), method=GIVEN, verify=True)
        folder = create_eval(tmp_path / "e", wanted, problems, texts)
        await work(folder, folder.units())
    result = await collect(open_eval(tmp_path / "e"))
    for one in result.units:
        assert one.picked == one.argmax is not None
        assert all(candidate.fitness is not None for candidate in one.candidates)
    assert result == await collect(open_eval(tmp_path / "e"), replay=True)


async def test_the_oracles_budget_is_its_own_and_grading_goes_on(tmp_path: Path) -> None:
    problems = dataset(3)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        little = oracle_settings(oracle.base_url, budget=BudgetSettings(max_calls=10))
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, little))
        stop = await work(folder, folder.units())
        assert stop.kind is StopKind.BUDGET
        assert oracle.stats.requests == 10
        paid = search.stats.requests
        result = await collect(open_eval(folder.path))
        found = tables_of(result)
        assert 0 < found.graded < found.candidates
        assert all(unit.picked is not None for unit in result.units)  # the search was not cut short

        folder = folder.save(folder.asked.model_copy(update={"oracle_settings": oracle_settings(oracle.base_url)}))
        assert not await work(folder, folder.units())
        assert search.stats.requests == paid
        found = tables_of(await collect(open_eval(folder.path)))
        assert found.graded == found.candidates
        assert oracle.stats.requests == found.oracle.calls


async def test_a_spent_budget_of_the_search_keeps_nothing_from_its_grades(tmp_path: Path) -> None:
    problems = dataset(4)
    async with MockServer(model()) as search, MockServer(OracleScript()) as oracle:
        spent = BudgetSettings(max_calls=2)
        wanted = asked(problems, search.base_url, method="one_shot", budget=spent, concurrency=1)
        folder = make(tmp_path / "e", problems, wanted)
        assert (await work(folder, folder.units())).kind is StopKind.BUDGET
        judged = {"oracle": "judge", "oracle_settings": oracle_settings(oracle.base_url)}
        folder = folder.save(folder.asked.model_copy(update=judged))
        assert (await work(folder, folder.units())).kind is StopKind.BUDGET
        assert search.stats.requests == 2
    found = tables_of(await collect(open_eval(folder.path)))
    assert (found.candidates, found.graded) == (2, 2)


async def test_unreadable_grades_are_counted_and_are_no_zeros(tmp_path: Path) -> None:
    problems = dataset(3)
    async with MockServer(model()) as search, MockServer(OracleScript(unreadable=3)) as oracle:
        folder = make(tmp_path / "e", problems, asked(problems, search.base_url, oracle_settings(oracle.base_url)))
        assert not await work(folder, folder.units())
        result = await collect(open_eval(folder.path))
        found = tables_of(result)
        assert found.graded < found.candidates
        lacking = [c for unit in result.units for c in unit.candidates if c.points is None]
        assert all("can't be used" in candidate.reason for candidate in lacking)
        assert all(int(candidate.proof, 16) % 3 == 0 for candidate in lacking)
        before = oracle.stats.requests
        await work(folder, folder.units())
        assert oracle.stats.requests == before  # what can't be read is not asked for ever


async def test_an_oracle_that_is_the_searchs_model_is_told_in_the_first_lines(tmp_path: Path) -> None:
    problems = dataset(1)
    url = "http://127.0.0.1:9/v1"
    own = asked(problems, url, oracle_settings(url, model="SIM"))
    assert "NOT INDEPENDENT" in same_model(own)
    assert same_model(asked(problems, url, oracle_settings(url, model="other"))) == ""
    assert "other" in oracle_lines(asked(problems, url, oracle_settings(url, model="other")))[0]
    unnamed = asked(problems, url, oracle_settings("http://127.0.0.1:8/v1", model=""))
    assert "NOT INDEPENDENT" in same_model(unnamed.model_copy(update={"served": {"oracle": "sim"}}))


async def test_a_server_that_comes_back_with_another_model_is_refused(tmp_path: Path) -> None:
    problems = dataset(2)
    async with MockServer(model(), features=Features(models=("first",))) as search:
        port = int(search.base_url.rsplit(":", 1)[1].split("/")[0])
        wanted = asked(problems, search.base_url, method="one_shot")
        bare = wanted.settings.endpoints["default"].model_copy(update={"model": ""})
        settings = wanted.settings.model_copy(update={"endpoints": {"default": bare}})
        folder = make(tmp_path / "e", problems, wanted.model_copy(update={"settings": settings}))
        await work(folder, folder.units()[:1])
    folder = open_eval(folder.path)
    assert folder.asked.served == {"default": "first"}
    async with MockServer(model(), features=Features(models=("second",)), port=port):
        with pytest.raises(InputError, match="does not serve 'first' any more"):
            await work(folder, folder.units())
