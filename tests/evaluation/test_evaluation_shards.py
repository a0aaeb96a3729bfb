"""Shards are disjoint, and together the whole; what does not belong together is not merged."""

from __future__ import annotations

from pathlib import Path

import pytest
from eval_fakes import asked, dataset, make, model, oracle_settings
from hypothesis import given
from hypothesis import strategies as st

from maxproof.evaluation.dataset.folder import Unit, open_eval
from maxproof.evaluation.dataset.report import write_report
from maxproof.evaluation.dataset.result import collect
from maxproof.evaluation.dataset.runner import work
from maxproof.evaluation.dataset.shards import Shard, merge, read_shard
from maxproof.evaluation.dataset.units import HUMAN_GRADES
from maxproof.evaluation.oracle.human_grades import HumanGrade, grades_text, read_grades
from maxproof.models.mock import MockServer
from maxproof.problems import InputError


@given(st.integers(1, 12), st.integers(1, 30))
def test_shards_are_disjoint_and_together_the_whole(count: int, problems: int) -> None:
    class Folder:
        def __init__(self) -> None:
            self.problems = {f"P{n}": None for n in range(problems)}

        def units(self) -> tuple[Unit, ...]:
            return tuple(Unit(problem, seed) for seed in (0, 1) for problem in self.problems)

    folder = Folder()
    parts = [Shard(index, count).units(folder) for index in range(1, count + 1)]  # type: ignore[arg-type]
    assert sorted((u.problem, u.seed) for part in parts for u in part) == sorted(
        (u.problem, u.seed) for u in folder.units()
    )


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/9999999"])
def test_a_bad_shard_is_one_clear_line(text: str) -> None:
    with pytest.raises(InputError, match="expected I/N"):
        read_shard(text)


async def test_two_shards_merged_are_the_unsharded_result(tmp_path: Path) -> None:
    problems = dataset(3)
    async with MockServer(model()) as search, MockServer(model(2)) as oracle:
        wanted = asked(problems, search.base_url, oracle_settings(oracle.base_url), method="one_shot", seeds=(0, 1))
        whole = make(tmp_path / "whole", problems, wanted)
        await work(whole, whole.units())
        shards = [make(tmp_path / name, problems, wanted) for name in ("a", "b")]
        for index, folder in enumerate(shards, 1):
            await work(folder, Shard(index, 2).units(folder))
        shared = make(tmp_path / "shared", problems, wanted)
        for index in (2, 1):
            await work(shared, Shard(index, 2).units(shared))

    merged = merge([folder.path for folder in shards], tmp_path / "merged")
    assert (merged.taken, merged.missing, merged.unfinished, merged.duplicates) == (6, (), (), ())
    results = []
    for path in (whole.path, tmp_path / "merged", shared.path):
        result = await collect(open_eval(path))
        write_report(path, result)
        results.append([(u.problem, u.seed, u.candidates, u.picked, u.stop) for u in result.units])
    assert results[0] == results[1] == results[2]
    # The merged folder is whole: everything in it can be made again from its journals.
    before = (tmp_path / "merged" / "report.md").read_bytes()
    write_report(tmp_path / "merged", await collect(open_eval(tmp_path / "merged"), replay=True))
    assert (tmp_path / "merged" / "report.md").read_bytes() == before
    assert merge([folder.path for folder in shards], tmp_path / "merged").taken == 0


async def test_the_grades_of_people_are_joined(tmp_path: Path) -> None:
    problems = dataset(4)
    async with MockServer(model()) as search:
        wanted = asked(problems, search.base_url, method="one_shot", seeds=(0,)).model_copy(
            update={"oracle": "grades", "statistic": "median"}
        )
        shards = [make(tmp_path / name, problems, wanted) for name in ("a", "b")]
        for index, folder in enumerate(shards, 1):
            own = [unit.problem for unit in Shard(index, 2).units(folder)]
            rows = [HumanGrade(problem, 2.0 + index, attempt=0) for problem in own]
            both = [HumanGrade("P0", 1.0, attempt=0)] * 2  # two graders who agree, in both files
            (folder.path / HUMAN_GRADES).write_text(grades_text((*rows, *both)))
            await work(folder, Shard(index, 2).units(folder))
    merged = merge([folder.path for folder in shards], tmp_path / "all")
    assert (merged.taken, merged.unfinished) == (4, ())
    result = await collect(open_eval(tmp_path / "all"))
    assert [unit.picked_points for unit in result.units] == [1.0, 4.0, 3.0, 4.0]
    rows = [row for row in read_grades(tmp_path / "all" / HUMAN_GRADES) if row.problem == "P0"]
    assert sorted(row.points for row in rows) == [1.0, 1.0, 3.0]
    # A grade that was corrected in a shard is the one that counts.
    (shards[1].path / HUMAN_GRADES).write_text(grades_text((HumanGrade("P1", 6.0, attempt=0),)))
    merge([folder.path for folder in shards], tmp_path / "all")
    assert (await collect(open_eval(tmp_path / "all"))).units[1].picked_points == 6.0


async def test_missing_and_double_units_are_told(tmp_path: Path) -> None:
    problems = dataset(4)
    async with MockServer(model()) as search:
        wanted = asked(problems, search.base_url, method="one_shot")
        a, b = (make(tmp_path / name, problems, wanted) for name in ("a", "b"))
        await work(a, Shard(1, 3).units(a))  # P0, P3
        await work(b, [Unit("P0", 0), Unit("P1", 0)])
    merged = merge([a.path, b.path], tmp_path / "all")
    assert merged.missing == (Unit("P2", 0),)
    assert merged.duplicates == ((Unit("P0", 0), a.path),)
    assert merged.taken == 3


async def test_what_differs_is_named(tmp_path: Path) -> None:
    problems = dataset(2)
    wanted = asked(problems, "http://127.0.0.1:9/v1")
    a = make(tmp_path / "a", problems, wanted)
    rounds = wanted.settings.search.model_copy(update={"rounds": 9})
    other = wanted.model_copy(update={"settings": wanted.settings.model_copy(update={"search": rounds})})
    b = make(tmp_path / "b", problems, other)
    with pytest.raises(InputError, match=r"settings\.search\.rounds differ"):
        merge([a.path, b.path], tmp_path / "all")
    fewer = dataset(1)
    c = make(tmp_path / "c", fewer, asked(fewer, "http://127.0.0.1:9/v1"))
    with pytest.raises(InputError, match="dataset differ"):
        merge([a.path, c.path], tmp_path / "all")
    with pytest.raises(InputError, match="one of the shards"):
        merge([a.path], a.path)
