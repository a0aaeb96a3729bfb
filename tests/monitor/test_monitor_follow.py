"""A file is followed through whatever happens to it: nothing twice, nothing lost, and it is told."""

import json
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("polars", reason="needs the extra monitor")

import polars as pl

from maxproof.monitor.follow import Follower
from maxproof.monitor.phrases import load_phrases
from maxproof.problems import InputError


class _Followed:
    """A follower with what it noted."""

    def __init__(self, *paths: Path, map: tuple[str, ...] = ()) -> None:
        self.notes: list[str] = []
        self.follower = Follower(paths, map, load_phrases(), self.notes.append)

    def look(self) -> bool:
        return self.follower.look()

    @property
    def steps(self) -> tuple[int, ...]:
        return self.follower.stats.steps

    @property
    def rollouts(self) -> int:
        return self.follower.stats.rollouts


def _rows(step: int, count: int = 4, text: str = "We prove it. QED") -> str:
    rows = ({"problem": f"p{n}", "step": step, "text": f"{text} {n}", "train_reward": 0.5} for n in range(count))
    return "".join(json.dumps(row) + "\n" for row in rows)


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    followed = _Followed(path)
    assert not followed.look()
    assert followed.notes == [f"{path}: nothing there yet, waiting for it"]
    assert not followed.look()
    assert len(followed.notes) == 1
    for step in range(3):
        _append(path, _rows(step))
        assert followed.look()
        assert not followed.look()
        assert followed.rollouts == 4 * (step + 1)
    assert followed.steps == (0, 1, 2)


def test_a_torn_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    text = _rows(0, 2)
    followed = _Followed(path)
    for cut in (10, len(text) // 2 + 5, len(text) - 1):
        path.write_text(text[:cut])
        followed.look()
    assert followed.rollouts == 1
    path.write_text(text)
    followed.look()
    assert followed.rollouts == 2
    assert not followed.follower.skipped


def test_a_cut_file_that_goes_on_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(_rows(0) + _rows(1) + _rows(2))
    followed = _Followed(path)
    followed.look()
    path.write_text(_rows(0) + _rows(1))
    followed.look()
    steps = followed.steps
    assert steps == (0, 1)
    assert followed.notes == [f"{path}: was cut and goes on; reading everything again"]
    _append(path, _rows(2))
    followed.look()
    assert (followed.steps, followed.rollouts) == ((0, 1, 2), 12)


def test_steps_done_again_between_two_looks_count_once(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(_rows(0) + _rows(1) + _rows(2, 3))
    followed = _Followed(path)
    followed.look()
    path.write_text(_rows(0) + _rows(1) + _rows(2, 4, text="Another proof, longer than the first.") + _rows(3))
    followed.look()
    assert (followed.steps, followed.rollouts) == ((0, 1, 2, 3), 16)
    assert not followed.follower.skipped
    assert "reading everything again" in followed.notes[-1]


def test_a_rotated_file_adds_to_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(_rows(0) + _rows(1))
    followed = _Followed(path)
    followed.look()
    path.rename(tmp_path / "rollouts.jsonl.1")
    assert not followed.look()
    path.write_text(_rows(2))
    followed.look()
    assert (followed.steps, followed.rollouts) == ((0, 1, 2), 12)
    assert "begins with another line now" in followed.notes[-1]


def test_an_emptied_file_waits(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(_rows(0) + _rows(1))
    followed = _Followed(path)
    followed.look()
    path.write_text("")
    assert not followed.look()
    path.write_text(_rows(0)[:30])
    assert not followed.look()
    assert followed.rollouts == 8
    path.write_text(_rows(0))
    followed.look()
    assert (followed.steps, followed.rollouts) == ((0,), 4)


def test_a_folder_gets_new_files(tmp_path: Path) -> None:
    followed = _Followed(tmp_path / "dump", map=("verl",))
    assert not followed.look()
    (tmp_path / "dump").mkdir()
    assert not followed.look()
    for step in (9, 10):
        row = {"input": "p", "output": "a proof", "score": 1.0, "step": step}
        (tmp_path / "dump" / f"{step}.jsonl").write_text(json.dumps(row) + "\n")
        followed.look()
    assert followed.steps == (9, 10)


def test_parquet_is_read_once_when_it_rests(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    followed = _Followed(tmp_path)
    path.write_bytes(b"PAR1 not whole")
    assert not followed.look()
    pl.DataFrame({"problem": ["a"], "step": [3], "text": ["A proof."]}).write_parquet(path)
    assert not followed.look()
    assert followed.look()
    assert not followed.look()
    assert (followed.steps, followed.rollouts) == ((3,), 1)


def test_bad_lines_are_counted_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(_rows(0))
    followed = _Followed(path)
    followed.look()
    _append(path, "not json\n" + _rows(1))
    followed.look()
    (skipped,) = followed.follower.skipped.values()
    assert (skipped.count, skipped.first) == (1, f"{path}:5")
    assert followed.rollouts == 8


def test_what_no_later_look_would_mend_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(json.dumps({"step": 1, "answer": "x", "question": "y"}) + "\n")
    with pytest.raises(InputError, match="no ready map"):
        _Followed(path).look()


def test_a_look_ends_early_when_stopped_and_the_next_goes_on(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jsonl").write_text(_rows(ord(name)))
    stops = iter([False, False, True])
    follower = Follower([tmp_path], (), load_phrases(), print, lambda: next(stops, False))
    assert follower.look()
    assert follower.stats.rollouts == 4
    assert follower.look()
    assert follower.stats.rollouts == 12


def test_a_file_written_by_a_thread(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    text = "".join(_rows(step, 8) for step in range(30))

    def write() -> None:
        with path.open("w") as file:
            for start in range(0, len(text), 997):
                file.write(text[start : start + 997])
                file.flush()
                time.sleep(0.002)

    writer = threading.Thread(target=write)
    followed = _Followed(path)
    writer.start()
    while writer.is_alive():
        followed.look()
    followed.look()
    assert (followed.rollouts, followed.steps) == (240, tuple(range(30)))
