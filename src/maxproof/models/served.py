"""Which model a server without a configured one gives a run: asked for once, kept, and looked for again on a resume.

The journal's key needs the name. Were it left open, a server that comes back with another model would go on with the
run as if nothing had changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from maxproof.models.chat import ChatEndpoint
from maxproof.models.types import CallFailed


class ServedModels:
    """The first models of the servers of one run.

    Args:
        known: by endpoint, the names that earlier sessions kept.
        keep: is told each new name (endpoint, model) before a call is made with it.
    """

    def __init__(
        self, clients: Mapping[str, ChatEndpoint], known: Mapping[str, str], keep: Callable[[str, str], None]
    ) -> None:
        self._clients = clients
        self._unchecked = dict(known)
        self._names = dict(known)
        self._keep = keep
        self._turn = asyncio.Lock()

    async def name(self, endpoint: str) -> str:
        """The endpoint's model. Raises CallFailed when the server does not say."""
        async with self._turn:
            if endpoint not in self._names:
                name = await self._clients[endpoint].first_model()
                self._keep(endpoint, name)
                self._names[endpoint] = name
            return self._names[endpoint]

    async def changed(self, endpoint: str) -> str:
        """Why the run can't go on at this endpoint: its server has other models now. "" if it has not, or won't say."""
        if endpoint not in self._unchecked:
            return ""
        async with self._turn:
            name = self._unchecked.get(endpoint, "")
            try:
                listed = await self._clients[endpoint].models() if name else []
            except CallFailed:
                return ""
            if listed and name not in listed:
                return (
                    f"endpoint {endpoint} does not serve {name!r} any more, with which this run was made, "
                    f"but {listed[0]!r}: bring it back, or ask all again with --set endpoints.{endpoint}.model=NAME"
                )
            self._unchecked.pop(endpoint, None)
            return ""
