"""An event loop whose clock jumps to the next timer: minutes of waiting take no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing is left to wait for: the test would hang"
        self.now += max(0.0, timeout)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` on virtual time. Only for code without sockets and threads."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
