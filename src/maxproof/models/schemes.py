"""Models that run inside this process, by the scheme of their base URL: `local:smollm2` is one.

    register_scheme("lab:", open_lab)

An opener loads a model while its context is open, and gives a function that connects one endpoint to it; endpoints with
the same base URL share the model. Whoever puts the program together registers what lies above this package.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from maxproof.models.chat import ChatEndpoint, EndpointCheck
from maxproof.models.settings import EndpointSettings


class OpenEndpoint(ChatEndpoint, Protocol):
    """An endpoint in use: it answers calls, and tells whether it can."""

    async def check(self, model: str) -> EndpointCheck:
        """One small live call. Never raises `CallFailed`."""
        ...


Connect = Callable[[str, EndpointSettings, int], AbstractAsyncContextManager[OpenEndpoint]]
"""(endpoint's name, its settings, the run's seed) -> the endpoint."""

Opener = Callable[[str], AbstractContextManager[Connect]]
"""What follows the scheme -> the model behind it, loaded. Raises InputError when it can't be."""


def _open_local(address: str) -> AbstractContextManager[Connect]:
    from maxproof.models.local import open_local  # with it comes the HTTP client, which takes long to import

    return open_local(address)


_OPENERS: dict[str, Opener] = {"local:": _open_local}


def register_scheme(scheme: str, opener: Opener) -> None:
    """Makes base URLs that begin with `scheme` (its colon included) mean `opener`. The last registration counts."""
    _OPENERS[scheme] = opener


def schemes() -> tuple[str, ...]:
    """The schemes of models inside this process."""
    return tuple(_OPENERS)


def openers() -> dict[str, Opener]:
    """The opener of each scheme, for another process to register."""
    return dict(_OPENERS)


def is_embedded(base_url: str) -> bool:
    """The model of this base URL runs inside this process: it needs no key, and costs nothing."""
    return base_url.startswith(schemes())


def opener_of(base_url: str) -> tuple[Opener, str] | None:
    """What opens the model of an embedded base URL, and what follows its scheme; None for a server's."""
    for scheme, opener in _OPENERS.items():
        if base_url.startswith(scheme):
            return opener, base_url.removeprefix(scheme)
    return None
