"""The learned library on disk: shared by processes, whole after a kill, harmless whatever stands in it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from formal_learned import FOUR, learned

from maxproof.formal.learned.library import MAX_LEMMAS, LearnedLibrary
from maxproof.formal.learned.snapshot import read_snapshot, write_snapshot
from maxproof.problems import InputError


def test_a_library_keeps_one_lemma_for_each_statement(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "learned.sqlite"
    again = replace(FOUR, problem="later")
    with LearnedLibrary(path) as library:
        library.add([FOUR, again])
        library.add([again])
    with LearnedLibrary(path) as library:
        assert library.lemmas() == (FOUR,)


def test_a_library_of_unknown_origin_offers_what_is_sound_in_form_only(tmp_path: Path) -> None:
    path = tmp_path / "learned.sqlite"
    with LearnedLibrary(path) as library:
        library.add([FOUR])
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO lemmas VALUES ('k', 'lemma x() ensures false', 'p', 'm', 'c')")
        connection.execute("INSERT INTO lemmas VALUES (x'00', x'ff', 'p', 'm', 'c')")
    connection.close()
    with LearnedLibrary(path) as library:
        assert library.lemmas() == (FOUR,)


def test_a_full_library_takes_no_more(tmp_path: Path) -> None:
    path = tmp_path / "learned.sqlite"
    with LearnedLibrary(path) as library:
        with sqlite3.connect(path) as connection:
            rows = ((str(i), "", "p", "m", "c") for i in range(MAX_LEMMAS - 1))
            connection.executemany("INSERT INTO lemmas VALUES (?, ?, ?, ?, ?)", rows)
        connection.close()
        library.add([FOUR, learned("lemma six(n: nat) ensures ipow(6, n) % 5 == 1 {}")])
        with sqlite3.connect(path) as connection:
            assert connection.execute("SELECT COUNT(*) FROM lemmas").fetchone() == (MAX_LEMMAS,)
        connection.close()


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b""])
def test_a_damaged_library_is_one_clear_line(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "learned.sqlite"
    path.write_bytes(damage)
    if not damage:  # an empty file is an empty library
        with LearnedLibrary(path) as library:
            assert library.lemmas() == ()
        return
    with pytest.raises(InputError, match=r"learned\.sqlite: can't be used"):
        LearnedLibrary(path)


_WRITER = """
import sys
from pathlib import Path
from maxproof.formal.learned.canonical import statement_key
from maxproof.formal.learned.generalise import named
from maxproof.formal.learned.lemma import program_text, read_lemma
from maxproof.formal.learned.library import LearnedLibrary
from maxproof.formal.syntax.parse import parse_program
with LearnedLibrary(Path(sys.argv[1])) as library:
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        declarations = parse_program(f"lemma l(n: nat) ensures ipow({number}, n) * n >= 0 {{}}").declarations
        key = statement_key(declarations[0])
        library.add([read_lemma(key, program_text(named(declarations, key)), "p", "m", "c")])
        print(key, flush=True)
"""


def writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_writers_at_the_same_time_and_a_kill_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "learned.sqlite"
    finite = [writer(path, 2, 40), writer(path, 20, 60)]
    killed = writer(path, 100, 100_000)
    assert killed.stdout is not None
    seen = {killed.stdout.readline().strip() for _ in range(10)}
    os.kill(killed.pid, signal.SIGKILL)
    seen |= set(killed.stdout.read().splitlines()[:-1])
    killed.wait()
    for process in finite:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        seen |= set(out.split())
    with LearnedLibrary(path) as library:
        kept = {lemma.key for lemma in library.lemmas()}
    assert len(kept) >= 58 + 10
    assert seen <= kept | {""}


def test_a_snapshot_is_what_was_offered(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    write_snapshot(path, [FOUR])
    assert read_snapshot(path) == (FOUR,)
    path.write_text("[1]")
    with pytest.raises(InputError, match="is damaged"):
        read_snapshot(path)
