"""Runs the application until it is told to stop: no new connections then, and what is being judged gets its answer."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from maxproof.problems import InputError

BACKLOG = 4096


LAST_S = 5
"""Seconds for connections to close after that; a client that never finishes its request is cut off."""


async def listen(
    app: Starlette, host: str, port: int, *, grace_s: int, ending: asyncio.Event, ready: Callable[[str], None]
) -> None:
    """Serves until cancelled.

    Args:
        port: 0 is any free one.
        grace_s: seconds that running requests have then, before `ending` is set.
        ready: is told the server's URL once it listens.

    Raises InputError if it can't listen there.
    """
    _raise_file_limit()
    with _bound(host, port) as listener:
        server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                backlog=BACKLOG,
                timeout_graceful_shutdown=grace_s + LAST_S,
            )
        )
        name, bound = listener.getsockname()[:2]
        ready(f"http://{f'[{name}]' if ':' in name else name}:{bound}")  # it listens: connections wait from now on
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await asyncio.wait({serving}, timeout=grace_s)
            ending.set()
            await serving
            raise


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs the event loop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't listen on {host}:{port}: {reason}", field="--port") from None
    with listener:
        yield listener


def _raise_file_limit() -> None:
    """A trainer may ask for every answer on a connection of its own, thousands at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))
