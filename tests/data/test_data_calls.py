"""Many records through one journal: order, bounds, resuming, and that nothing is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from data_model_fakes import PLACE, record

from maxproof.cli.config import load_config
from maxproof.cli.data_models_work import Done, Files, read_examples, run_step
from maxproof.cli.errors import ExitCode
from maxproof.models.mock import FaultPlan, MockServer, SimulatedModel
from maxproof.problems import InputError
from maxproof.problems.data.files import Reject, rejects_path
from maxproof.problems.data.record import DataRecord
from maxproof.problems.data.taxonomy import load_taxonomy
from maxproof.problems.errors import Place
from maxproof.training.data.annotate import AnnotateSettings, Annotator
from maxproof.training.data.calls import Unused, record_number, run_records


async def test_results_come_in_order_whatever_finishes_first() -> None:
    async def work(row: DataRecord) -> DataRecord | Unused:
        await asyncio.sleep(0 if int(row.id) % 3 else 0.002)
        return Unused("odd") if int(row.id) % 2 else row

    kept: list[str] = []

    def keep(place: Place, row: DataRecord | Reject) -> None:
        kept.append(f"{row.id}{'!' * isinstance(row, Reject)}")

    await run_records(((PLACE, record(str(n))) for n in range(20)), work, keep, window=7)
    assert kept == [f"{n}{'!' * (n % 2)}" for n in range(20)]


async def test_no_more_than_a_window_is_under_way_or_read() -> None:
    under_way = most = read = 0
    kept: list[str | None] = []

    def rows() -> Iterator[tuple[Place, DataRecord]]:
        nonlocal read
        for number in range(50):
            read += 1
            assert read - len(kept) <= 6  # the window and the one in hand
            yield PLACE, record(str(number))

    async def work(row: DataRecord) -> DataRecord:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return row

    await run_records(rows(), work, lambda place, row: kept.append(row.id), window=5)
    assert len(kept) == 50
    assert most == 5


async def test_bad_rows_pass_through_in_their_place() -> None:
    bad = Reject(PLACE, "no JSON", "{")
    kept: list[object] = []

    async def work(row: DataRecord) -> DataRecord:
        return row

    rows: list[tuple[Place, DataRecord | Reject]] = [(PLACE, record("a")), (PLACE, bad), (PLACE, record("b"))]
    await run_records(rows, work, lambda place, row: kept.append(row), window=2)
    assert kept[1] is bad
    assert len(kept) == 3


async def test_a_bug_in_the_work_ends_the_run() -> None:
    async def work(row: DataRecord) -> DataRecord:
        raise RuntimeError("bug")

    with pytest.raises(ExceptionGroup):
        await run_records([(PLACE, record("a"))] * 3, work, lambda place, row: None, window=1)


def test_numbers_of_records_depend_on_nothing_else() -> None:
    assert record_number(record("a")) == record_number(record("a", reference="r"))
    assert len({record_number(record(str(n)), sample) for n in range(100) for sample in range(5)}) == 500
    assert 0 <= record_number(record("a")) < 2**62


# --- with a server ----------------------------------------------------------------------------------------------------


def write_records(path: Path, count: int) -> Path:
    path.write_text("".join(record(f"r{n}").model_dump_json(exclude_defaults=True) + "\n" for n in range(count)))
    return path


async def annotate(files: Files, base_url: str, **settings: object) -> Done:
    overrides = {
        "endpoints.default.base_url": base_url, "endpoints.default.model": "mock",
        "endpoints.default.timeout_s": 20, "roles.annotator.max_tokens": 1000,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }  # fmt: skip
    models = load_config(None, overrides=overrides, environ={})
    taxonomy = load_taxonomy()
    return await run_step(
        "annotate",
        files,
        models,
        lambda caller: Annotator(AnnotateSettings(replies=1), taxonomy, caller).annotate,
        window=8,
        quiet=True,
    )


def files_in(folder: Path, count: int = 20) -> Files:
    return Files(write_records(folder / "in.jsonl", count), folder / "out.jsonl", folder / "calls")


def port_of(server: MockServer) -> int:
    return int(server.base_url.split(":")[2].split("/")[0])


async def test_a_finished_call_is_never_paid_again(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    async with MockServer(SimulatedModel(seed=1)) as server:
        first = await annotate(files, server.base_url)
        text, asked = files.out.read_text(), server.stats.requests
        again = await annotate(files, server.base_url)
    assert first.exit_code == again.exit_code == ExitCode.PASSED
    assert (first.written, first.rejected, asked) == (20, 0, 20)
    assert server.stats.requests == asked
    assert again.calls is not None
    assert again.calls.replayed == 20
    assert files.out.read_text() == text


async def test_a_cancelled_run_goes_on_where_it_was(tmp_path: Path) -> None:
    files = files_in(tmp_path, 30)
    async with MockServer(SimulatedModel(seed=1), faults=FaultPlan.parse(["hang@after=12"])) as server:
        port = port_of(server)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await annotate(files, server.base_url)
    assert not files.out.exists()
    async with MockServer(SimulatedModel(seed=1), port=port) as server:
        done = await annotate(files, server.base_url)
        assert server.stats.requests == 30 - 12
        text = files.out.read_text()
        await annotate(Files(files.records, tmp_path / "out2.jsonl", tmp_path / "fresh"), server.base_url)
    assert done.written == 30
    assert text == (tmp_path / "out2.jsonl").read_text()


async def test_a_failed_call_is_a_reject_and_is_asked_again(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    faults = FaultPlan.parse(["400@every=5"])
    async with MockServer(SimulatedModel(seed=1), faults=faults, port=0) as server:
        port = port_of(server)
        done = await annotate(files, server.base_url, budget__max_failures=100)
    assert done.rejected > 0
    assert done.written + done.rejected == 20
    lines = [json.loads(line) for line in rejects_path(files.out).read_text().splitlines()]
    assert all("no answer" in line["reason"] and line["raw"]["id"] == line["id"] for line in lines)
    async with MockServer(SimulatedModel(seed=1), port=port) as server:
        again = await annotate(files, server.base_url)
        assert server.stats.requests == done.rejected
    assert (again.written, again.rejected) == (20, 0)
    assert not rejects_path(files.out).exists()


async def test_a_budget_leaves_the_rest_in_the_reject_file(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    async with MockServer(SimulatedModel(seed=1)) as server:
        done = await annotate(files, server.base_url, budget__max_calls=7)
        assert (done.written, done.rejected, done.exit_code) == (7, 13, ExitCode.BUDGET)
        assert "max_calls = 7" in done.to_text()
        more = await annotate(files, server.base_url, budget__max_calls=30)
        assert (more.written, more.exit_code) == (20, ExitCode.PASSED)
        assert server.stats.requests == 20


async def test_a_journal_of_another_step_is_refused(tmp_path: Path) -> None:
    files = files_in(tmp_path, 1)
    async with MockServer(SimulatedModel(seed=1)) as server:
        await annotate(files, server.base_url)
        models = load_config(None, overrides={"endpoints.default.base_url": server.base_url}, environ={})

        async def same(row: DataRecord) -> DataRecord:
            return row

        with pytest.raises(InputError, match="'data annotate', not of 'data filter'"):
            await run_step("filter", files, models, lambda caller: same, window=1, quiet=True)


def test_examples_come_from_records_and_from_problems(tmp_path: Path) -> None:
    table = tmp_path / "e.csv"
    table.write_text(
        "Problem ID,Problem,Solution,Grading guidelines\np1,Prove it.,Clear.,(Partial) x\np2,Show it.,,y\n"
    )
    assert [example.rubric for example in read_examples(table, None)] == ["(Partial) x", "y"]
    assert [example.id for example in read_examples(table, "p2")] == ["p2"]
    with pytest.raises(InputError, match="no example has the id 'p3'"):
        read_examples(table, "p3")
    shipped = Path(__file__).parents[2] / "examples" / "data" / "scheme-examples.jsonl"
    assert all(sum(line.points for line in example.scheme) == 7 for example in read_examples(shipped, None))
