"""The mock server in a process of its own, so that its CPU and memory are not the client's."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from maxproof.models.mock import Features, Latency, MockServer, Script, SimulatedModel, Stats


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The loop that every benchmark and the server run on: uvloop's where it is installed, as in the command."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class MockProcess:
    """A running server in another process."""

    def __init__(self, base_url: str, pipe: Connection) -> None:
        self.base_url = base_url
        self._pipe = pipe

    def stats(self) -> Stats:
        """What the server has seen so far."""
        self._pipe.send("stats")
        stats: Stats = self._pipe.recv()
        return stats


@contextmanager
def mock_process(
    script: Script | None = None, *, latency: Latency | None = None, features: Features | None = None
) -> Iterator[MockProcess]:
    """Starts a server and ends it afterwards. The arguments travel by pickle."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve,
        args=(theirs, script or SimulatedModel(), latency or Latency(), features or Features()),
        daemon=True,
    )
    process.start()
    try:
        yield MockProcess(ours.recv(), ours)
    finally:
        ours.send("stop")
        process.join(10)
        process.kill()


def _serve(pipe: Connection, script: Script, latency: Latency, features: Features) -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_answer_commands(pipe, MockServer(script, latency=latency, features=features)))


async def _answer_commands(pipe: Connection, server: MockServer) -> None:
    loop = asyncio.get_running_loop()
    commands: asyncio.Queue[str] = asyncio.Queue()
    loop.add_reader(pipe.fileno(), lambda: commands.put_nowait(pipe.recv()))
    async with server:
        pipe.send(server.base_url)
        while await commands.get() == "stats":
            pipe.send(server.stats)
