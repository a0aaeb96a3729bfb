"""Units are handed out once each; idle workers take from slow ones; nothing of a lost worker is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maxproof.evaluation.dataset.board import MAX_LOSSES, Board
from maxproof.evaluation.dataset.folder import Unit


def units(count: int) -> list[Unit]:
    return [Unit(f"P{number}", 0) for number in range(count)]


def test_a_worker_takes_its_own_first_then_the_end_of_the_longest_queue() -> None:
    a, b, c, d, e = units(5)
    board = Board([[a], [b, c], [d, e]])
    assert board.take(0) == a
    assert board.take(1) == b
    assert board.take(0) == e  # of the third, which has most
    assert board.state().stolen == 1
    assert [board.take(0), board.take(0)] == [c, d]
    assert board.take(2) is None
    assert (board.state().waiting, board.state().running) == (0, 5)


def test_what_a_lost_worker_had_taken_waits_again_at_the_head_of_its_shard() -> None:
    a, b, c = units(3)
    board = Board([[a, b, c], []])
    assert [board.take(0), board.take(0)] == [a, b]
    board.finish(0, a)
    assert board.lose(0) == [b]
    assert (board.state().waiting, board.state().running) == (2, 0)
    assert [board.take(0), board.take(1)] == [b, c]


def test_a_unit_that_goes_down_with_every_worker_is_given_up() -> None:
    (a,) = units(1)
    board = Board([[a]])
    for _ in range(MAX_LOSSES):
        assert board.take(0) == a
        board.lose(0)
    assert board.take(0) is None
    assert board.state().given_up == (a,)


@given(st.integers(1, 5), st.integers(0, 20), st.lists(st.tuples(st.sampled_from("tfl"), st.integers(0, 4))))
def test_every_unit_is_waiting_or_with_one_worker_or_finished_or_given_up(
    workers: int, count: int, steps: list[tuple[str, int]]
) -> None:
    every = units(count)
    board = Board([every[index::workers] for index in range(workers)])
    held: dict[int, list[Unit]] = {index: [] for index in range(workers)}
    finished: list[Unit] = []
    for step, number in steps:
        worker = number % workers
        if step == "t":
            unit = board.take(worker)
            if unit is not None:
                assert all(unit not in units for units in held.values())
                assert unit not in finished
                held[worker].append(unit)
        elif step == "f" and held[worker]:
            finished.append(held[worker].pop())
            board.finish(worker, finished[-1])
        elif step == "l":
            assert board.lose(worker) == held[worker]
            held[worker].clear()
    state = board.state()
    assert state.running == sum(map(len, held.values()))
    assert state.waiting + state.running + len(finished) + len(state.given_up) == count
