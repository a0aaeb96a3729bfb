"""Opens what answers calls: a client for each endpoint in use, and the embedded model behind it where one is named."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from maxproof.models.client import ChatClient
from maxproof.models.local import LOCAL_SCHEME, LocalServer
from maxproof.models.settings import EndpointSettings
from maxproof.models.weights import find_weights
from maxproof.problems import InputError


def check_keys(endpoints: Mapping[str, EndpointSettings], environ: Mapping[str, str] = os.environ) -> None:
    """Raises InputError if a variable that was named for an endpoint's key is not set.

    The default's may be unset: many servers need no key.
    """
    default = EndpointSettings.model_fields["api_key_env"].default
    for name, settings in endpoints.items():
        if settings.api_key_env != default and not environ.get(settings.api_key_env, "").strip():
            raise InputError(
                f"the environment variable {settings.api_key_env} is not set",
                field=f"endpoints.{name}.api_key_env",
                hint="put the key of this endpoint into it; nothing was asked",
            )


@asynccontextmanager
async def open_clients(
    endpoints: Mapping[str, EndpointSettings], seed: int = 0
) -> AsyncIterator[dict[str, ChatClient]]:
    """A client for each endpoint, by name. Endpoints that name the same embedded model share one server.

    Raises InputError when an embedded model is not there or its extra is not installed.
    """
    async with AsyncExitStack() as stack:
        servers: dict[str, LocalServer] = {}
        clients: dict[str, ChatClient] = {}
        for name, settings in endpoints.items():
            base_url = None
            if settings.base_url.startswith(LOCAL_SCHEME):
                weights = settings.base_url.removeprefix(LOCAL_SCHEME)
                if weights not in servers:
                    servers[weights] = stack.enter_context(LocalServer(find_weights(weights)))
                base_url = servers[weights].base_url
            clients[name] = await stack.enter_async_context(ChatClient(name, settings, base_url=base_url, seed=seed))
        yield clients
