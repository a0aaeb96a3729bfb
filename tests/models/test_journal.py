"""The journal's file: durable, written by one, readable by any, and never harmed by being opened."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from caller_fakes import bindings_of, call
from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.journal import Journal
from maxproof.models.journal_bodies import Exchange, pack_reply, split_request, unpack_answer
from maxproof.models.journal_rows import CallRecord
from maxproof.models.types import Answer, AnswerState, CallFailed, FailureKind, Usage
from maxproof.problems import InputError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "journal.sqlite"


@pytest.fixture(autouse=True)
def folder(path: Path) -> Path:
    path.parent.mkdir()
    return path.parent


def answer_record(key: bytes, answers: tuple[Answer, ...] = (Answer("text"),), index: int = 0) -> CallRecord:
    exchange = Exchange(b'{"messages":[{"content":"x"}],"seed":1}', b'{"choices":[]}', answers)
    return CallRecord(
        key, call(), bindings_of()["generator"], "sampler", answers[index], 1.0, 2.0, exchange=exchange, index=index
    )


def failure_record(key: bytes, *, provisional: bool = False) -> CallRecord:
    failure = CallFailed(FailureKind.TIMEOUT, "no answer", endpoint="default", attempts=2)
    return CallRecord(
        key, call(), bindings_of()["generator"], "sampler", failure, 1.0, 2.0, attempts=2, provisional=provisional
    )


def snapshot(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def answer_of(journal: Journal, key: bytes) -> Answer:
    stored = journal.find(key)
    assert stored is not None
    assert isinstance(stored.result, Answer)
    return stored.result


async def test_an_answer_comes_back_as_it_was(path: Path) -> None:
    full = Answer(
        "visible \ud800 ∀ε \x00 \u202e",
        AnswerState.TRUNCATED,
        "thinking\udfff",
        True,
        "length",
        Usage(7, 6, 5, 4, True),
        1.25,
        "model-x",
    )
    answers = (full, Answer("", AnswerState.EMPTY), Answer("третий", latency_s=0.1))
    with Journal.create(path, {}) as journal:
        await journal.record([answer_record(bytes([i]), answers, i) for i in range(3)])
        assert tuple(answer_of(journal, bytes([i])) for i in range(3)) == answers
    with Journal.replay(path) as journal:
        assert tuple(answer_of(journal, bytes([i])) for i in range(3)) == answers


async def test_raw_bodies_come_back_byte_for_byte(path: Path) -> None:
    record = answer_record(b"k")
    exchange = Exchange(b'\xff not json "messages": "}]', b"\x00\xfe", (Answer("text", reasoning="why"),))
    with Journal.create(path, {}) as journal:
        await journal.record([dataclasses.replace(record, exchange=exchange), failure_record(b"f")])
        assert journal.bodies(b"k") == (exchange.request_body, exchange.response_body)
        assert journal.bodies(b"f") == (b"", b"")
        assert journal.bodies(b"unknown") is None


@given(st.binary() | st.text(alphabet='"}]{messages: seed', max_size=60).map(lambda text: text.encode()))
def test_a_split_request_joins_to_itself(body: bytes) -> None:
    assert b"".join(split_request(body)) == body


any_text = st.text(alphabet=st.characters(), max_size=30)


@given(st.lists(st.tuples(any_text, any_text), max_size=5), st.binary())
def test_a_packed_reply_gives_back_every_answer(texts: list[tuple[str, str]], response: bytes) -> None:
    frame, spans = pack_reply([Answer(text, reasoning=reasoning) for text, reasoning in texts], response)
    assert [unpack_answer(frame, span) for span in spans] == texts
    assert frame.endswith(response)


async def test_a_prompt_is_stored_once_however_many_samples_it_has(path: Path) -> None:
    noise = os.urandom(30_000).hex()
    with Journal.create(path, {}) as journal:
        for seed in range(8):
            body = f'{{"model":"m","messages":[{{"role":"user","content":"{noise}"}}],"seed":{seed}}}'.encode()
            exchange = Exchange(body, b"{}", (Answer("a"),))
            key = bytes([seed])
            await journal.record([dataclasses.replace(answer_record(key), exchange=exchange)])
            assert journal.bodies(key) == (body, b"{}")
    assert len(snapshot(path.parent)[path.name]) < 160_000  # compressed hex is half as long: eight copies are 240 KB


async def test_rows_that_are_ready_together_share_a_commit(path: Path) -> None:
    with Journal.create(path, {}) as journal:
        commits = 0
        writer = journal._writer
        assert writer is not None
        commit = writer._commit

        def counted(changes: object) -> None:
            nonlocal commits
            commits += 1
            commit(changes)  # type: ignore[arg-type]

        writer._commit = counted  # type: ignore[method-assign, assignment]
        async with asyncio.TaskGroup() as group:
            for i in range(200):
                group.create_task(journal.record([answer_record(i.to_bytes(2, "big"))]))
        assert commits == 1
        assert len(list(journal.calls("key"))) == 200


async def test_a_cancelled_wait_does_not_take_the_row_back(path: Path) -> None:
    with Journal.create(path, {}) as journal:
        waiting = [asyncio.create_task(journal.record([answer_record(bytes([i]))])) for i in range(3)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
    with Journal.replay(path) as journal:
        assert len(list(journal.calls("key"))) == 3


WRITER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from test_journal import answer_record
    from maxproof.models.journal import Journal
    from maxproof.models.types import Answer

    async def write(journal, worker):
        for i in range(100000):
            key = worker * 100000 + i
            await journal.record([answer_record(key.to_bytes(4, "big"), (Answer(f"answer {key} " * 200),))])
            print(key, flush=True)

    async def main():
        journal = Journal.create(Path(sys.argv[1]), {})
        async with asyncio.TaskGroup() as group:
            for worker in range(8):
                group.create_task(write(journal, worker))

    asyncio.run(main())
    """
)


def killed_writer(path: Path, lines: int) -> list[int]:
    """Kills a writing process after so many acknowledged rows; returns their keys."""
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        acknowledged += process.stdout.readlines()
    return [int(line) for line in acknowledged if line.endswith("\n")]


@pytest.mark.parametrize("lines", [1, 40, 700])
def test_kill_9_loses_no_acknowledged_row(path: Path, lines: int) -> None:
    keys = killed_writer(path, lines)
    assert len(keys) >= lines
    before = snapshot(path.parent)
    with Journal.replay(path) as journal:
        for key in keys:
            assert answer_of(journal, key.to_bytes(4, "big")).text == f"answer {key} " * 200
    assert snapshot(path.parent) == before
    with Journal.resume(path) as journal:
        assert {int.from_bytes(row["key"], "big") for row in journal.calls("key")} >= set(keys)
    assert sorted(file.name for file in path.parent.iterdir()) == ["journal.sqlite", "journal.sqlite.lock"]


async def test_a_replay_reads_beside_a_living_writer(path: Path) -> None:
    with Journal.create(path, {}) as writer:
        await writer.record([answer_record(b"1")])
        with Journal.replay(path) as reader:
            assert answer_of(reader, b"1").text == "text"
            await writer.record([answer_record(b"2")])
            assert answer_of(reader, b"2").text == "text"


async def test_a_second_writer_is_refused_with_the_first_ones_process(path: Path) -> None:
    with Journal.create(path, {}):
        with pytest.raises(InputError, match=f"process {os.getpid()} is writing this run"):
            Journal.resume(path)
        script = f"from pathlib import Path; from maxproof.models.journal import *; Journal.resume(Path({str(path)!r}))"
        done = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stderr=subprocess.PIPE)
        _, error = await done.communicate()
        assert f"process {os.getpid()} is writing this run" in error.decode()
    Journal.resume(path).close()


async def test_an_existing_journal_is_not_made_again(path: Path) -> None:
    with Journal.create(path, {}) as journal:
        await journal.record([answer_record(b"1")])
    with pytest.raises(InputError, match="already"):
        Journal.create(path, {})
    with Journal.replay(path) as journal:
        assert answer_of(journal, b"1").text == "text"


def test_a_folder_that_cannot_be_written_is_one_line(path: Path) -> None:
    place = path.parent / "file"
    place.write_text("")
    with pytest.raises(InputError) as caught:
        Journal.create(place / "journal.sqlite", {})
    assert "\n" not in str(caught.value)


async def make_journal(path: Path, rows: int = 30) -> None:
    with Journal.create(path, {}) as journal:
        await journal.record([answer_record(bytes([i]), (Answer(os.urandom(2000).hex()),)) for i in range(rows)])


def set_pragma(path: Path, pragma: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA {pragma}")
    connection.commit()
    connection.close()


def damage(path: Path, how: str) -> str:
    """Damages the file; returns what the error must say."""
    size = path.stat().st_size
    if how == "newer":
        set_pragma(path, "user_version = 99")
        return "format 99"
    if how == "other program":
        set_pragma(path, "application_id = 1")
        return "another program"
    if how == "text":
        path.write_text("# notes\n" * 100)
        return "not a call journal"
    if how == "empty":
        path.write_bytes(b"")
        return "not a call journal"
    if how == "missing":
        path.unlink()
        return "no call journal here"
    if how == "header only":
        os.truncate(path, 100)
        return "damaged"
    if how == "half":
        os.truncate(path, size // 2)
        return "damaged"
    with open(path, "r+b") as file:  # overwritten inside
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    return "damaged"


@pytest.mark.parametrize(
    "how", ["newer", "other program", "text", "empty", "missing", "header only", "half", "overwritten"]
)
@pytest.mark.parametrize("opening", [Journal.resume, Journal.replay], ids=["resume", "replay"])
async def test_what_is_no_sound_journal_is_refused_and_left_as_it_is(path: Path, how: str, opening: object) -> None:
    await make_journal(path)
    expected = damage(path, how)
    before = snapshot(path.parent)
    with pytest.raises(InputError, match=expected) as caught:
        opening(path)  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    after = snapshot(path.parent)
    assert {name: data for name, data in after.items() if not name.endswith(".lock")} == {
        name: data for name, data in before.items() if not name.endswith(".lock")
    }


def test_a_killed_writers_file_cut_short_is_refused_and_left_as_it_is(path: Path) -> None:
    killed_writer(path, 700)
    assert path.with_name("journal.sqlite-wal").stat().st_size > 0
    os.truncate(path, 100)
    before = snapshot(path.parent)
    for opening in (Journal.replay, Journal.resume):
        with pytest.raises(InputError, match="damaged"):
            opening(path)
        kept = snapshot(path.parent)
        assert kept["journal.sqlite"] == before["journal.sqlite"]
        assert kept["journal.sqlite-wal"] == before["journal.sqlite-wal"]


async def test_a_full_disk_is_one_line_and_loses_nothing(path: Path) -> None:
    noise = os.urandom(400_000).hex()
    with Journal.create(path, {}) as journal:
        assert journal._writer is not None
        journal._writer._connection.execute("PRAGMA max_page_count = 30")
        await journal.record([answer_record(b"before")])
        with pytest.raises(InputError, match="cannot write the call journal: database or disk is full") as caught:
            await journal.record([answer_record(b"big", (Answer(noise),))])
        with pytest.raises(InputError):
            await journal.record([answer_record(b"after")])
    assert "\n" not in str(caught.value)
    with Journal.resume(path) as journal:
        assert answer_of(journal, b"before").text == "text"
        assert journal.find(b"big") is None
        await journal.record([answer_record(b"big", (Answer(noise),))])


async def test_provisional_failures_are_forgotten_by_the_next_session_that_records(path: Path) -> None:
    with Journal.create(path, {}) as journal:
        await journal.record([failure_record(b"p", provisional=True), failure_record(b"f"), answer_record(b"a")])
        assert journal.find(b"p") is not None
    with Journal.resume(path) as journal:
        assert journal.find(b"p") is None
        assert journal.find(b"f") is not None
    with Journal.replay(path) as journal:
        assert journal.find(b"p") is not None
    with Journal.resume(path) as journal:
        await journal.record([answer_record(b"b")])
    with Journal.replay(path) as journal:
        assert journal.find(b"p") is None


async def test_sessions_hold_their_times_and_outcome(path: Path) -> None:
    now = 100.0
    with Journal.create(path, {}, clock=lambda: now) as journal:
        now = 103.0
        await journal.record([answer_record(b"a")])
        now = 110.0
        await journal.end_session("done")
    now = 200.0
    with Journal.resume(path, clock=lambda: now) as journal:
        now = 201.0
        await journal.record(events=[("note", "x")])
        first, second = journal.sessions()
        assert journal.events("note") == ((2, "x"),)
    assert (first.started, first.last, first.outcome) == (100.0, 110.0, "done")
    assert (second.started, second.last, second.outcome) == (200.0, 201.0, "")


async def test_meta_is_kept(path: Path) -> None:
    Journal.create(path, {"problem": "digest"}).close()
    with Journal.replay(path) as journal:
        assert (journal.meta("problem"), journal.meta("other")) == ("digest", "")


async def test_a_journal_can_be_copied_to_another_place(path: Path, tmp_path: Path) -> None:
    await make_journal(path)
    copy = tmp_path / "a path with ?odd #signs% ü.sqlite"
    shutil.copy(path, copy)
    with Journal.replay(copy) as journal:
        assert len(list(journal.calls("key"))) == 30


async def test_a_row_that_waits_for_its_commit_is_written_when_the_journal_closes(path: Path) -> None:
    with Journal.create(path, {}) as journal:
        await journal.record([answer_record(b"0" * 32)])
        waiting = asyncio.create_task(journal.record([answer_record(b"1" * 32)]))  # held back: it follows a commit
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    problems: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))
    await asyncio.sleep(0.05)
    assert not problems
    with Journal.replay(path) as journal:
        assert sum(1 for _ in journal.calls("1")) == 2
