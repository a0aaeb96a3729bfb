"""Who runs which unit next when several workers share an evaluation: their shards first, then what others have left.

Pure bookkeeping, one for all workers. A worker takes units one by one; one that has none of its own left takes the last
of the longest queue (work stealing), so that no worker idles beside a slow one. What a lost worker had taken goes back:
its finished calls are in the units' journals, so whoever takes them next asks only for the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from maxproof.evaluation.dataset.folder import Unit

MAX_LOSSES = 3
"""A unit that was under way in so many lost workers is given up: it may be what kills them."""


@dataclass(frozen=True, slots=True)
class BoardState:
    """`waiting`: units that nobody has taken. `running`: units that are taken and not finished. `stolen`: units that
    were taken from another's shard. `given_up`: see MAX_LOSSES."""

    waiting: int
    running: int
    stolen: int
    given_up: tuple[Unit, ...]


class Board:
    """Units waiting, taken and done.

    Args:
        shards: the units of each worker, in the order in which they are to be run.
    """

    def __init__(self, shards: Sequence[Sequence[Unit]]) -> None:
        self._queues = [deque(units) for units in shards]
        self._taken: list[dict[Unit, None]] = [{} for _ in shards]
        self._losses: dict[Unit, int] = {}
        self._stolen = 0
        self._given_up: list[Unit] = []

    def take(self, worker: int) -> Unit | None:
        """The next unit for `worker`; None when none waits."""
        queue = self._queues[worker]
        if queue:
            unit = queue.popleft()
        else:
            longest = max(self._queues, key=len)
            if not longest:
                return None
            unit = longest.pop()
            self._stolen += 1
        self._taken[worker][unit] = None
        return unit

    def finish(self, worker: int, unit: Unit) -> None:
        """`worker` has ended its work on `unit`, whatever has come of it."""
        self._taken[worker].pop(unit, None)

    def lose(self, worker: int) -> list[Unit]:
        """`worker` is gone: what it had taken waits again, at the head of its shard. Returns these units."""
        lost = list(self._taken[worker])
        self._taken[worker].clear()
        for unit in reversed(lost):
            self._losses[unit] = self._losses.get(unit, 0) + 1
            if self._losses[unit] >= MAX_LOSSES:
                self._given_up.append(unit)
            else:
                self._queues[worker].appendleft(unit)
        return lost

    def state(self) -> BoardState:
        """How things stand."""
        waiting, running = sum(map(len, self._queues)), sum(map(len, self._taken))
        return BoardState(waiting, running, self._stolen, tuple(self._given_up))
