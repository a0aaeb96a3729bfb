"""Opens what answers calls: a client for each endpoint in use, or the model inside this process that it names."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from maxproof.models.client import ChatClient
from maxproof.models.schemes import Connect, OpenEndpoint, opener_of
from maxproof.models.settings import EndpointSettings
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
) -> AsyncIterator[dict[str, OpenEndpoint]]:
    """A client for each endpoint, by name. Endpoints that name the same embedded model share it.

    Raises InputError when an embedded model is not there or its extra is not installed.
    """
    async with AsyncExitStack() as stack:
        embedded: dict[str, Connect] = {}
        clients: dict[str, OpenEndpoint] = {}
        for name, settings in endpoints.items():
            found = opener_of(settings.base_url)
            if found is None:
                clients[name] = await stack.enter_async_context(ChatClient(name, settings, seed=seed))
                continue
            opener, address = found
            if settings.base_url not in embedded:
                embedded[settings.base_url] = stack.enter_context(opener(address))
            clients[name] = await stack.enter_async_context(embedded[settings.base_url](name, settings, seed))
        yield clients
