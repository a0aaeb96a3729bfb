"""The embedded model: llama.cpp inside this process (xllamacpp), behind its own OpenAI-compatible HTTP server.

An endpoint whose `base_url` is `local:NAME` or `local:/path/to/model.gguf` means this. The server listens on a free
loopback port; what is recorded is the `local:` address, which stays the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from maxproof.models.client import ChatClient
from maxproof.models.schemes import Connect
from maxproof.models.settings import EndpointSettings
from maxproof.models.weights import find_weights
from maxproof.problems import InputError

INSTALL_HINT = "in the checkout: pip install '.[local]'"


class LocalServer:
    """A GGUF model served while the context is open. Close its clients first: closing waits for open connections.

    Args:
        path: the GGUF file.
        threads: for computing; None: all of up to four cores, else half of them.
        slots: answers generated at once; further requests wait in the server.
        context: tokens of each slot, prompt and answer together; 8192 is what SmolLM2 was trained with. With four slots
            that takes about 1 GB of memory for SmolLM2-135M, most of it for the slots' caches.
    """

    def __init__(self, path: Path, *, threads: int | None = None, slots: int = 4, context: int = 8192) -> None:
        self._path = path
        self._threads = threads or _default_threads()
        self._slots = slots
        self._context = context
        self._server: Any = None

    @property
    def base_url(self) -> str:
        """Up to and including `/v1`; only inside the context."""
        if self._server is None:
            raise ValueError("the server is not open")
        return f"{self._server.listening_address}/v1"

    def __enter__(self) -> Self:
        """Loads the model: seconds, longer for a large file. Raises InputError if it or xllamacpp can't be loaded."""
        # Its OpenMP threads wait for each other in a busy loop by default: with all cores taken, another process then
        # slows them down many times. Read when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            import xllamacpp
        except ImportError as error:
            raise InputError(f"the embedded model needs xllamacpp: {error}", hint=INSTALL_HINT) from error
        if not self._path.is_file():
            raise InputError("no such GGUF file", file=self._path)
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.model_alias = {self._path.stem}  # what the server reports as the model: not a path of this machine
        params.n_parallel = self._slots
        params.n_ctx = self._slots * self._context
        params.cpuparams.n_threads = self._threads
        params.cpuparams_batch.n_threads = self._threads
        params.n_threads_http = 64  # a request that waits for a slot holds one
        params.cache_ram_mib = 128
        params.port = 0
        params.ui = False
        params.warmup = False
        params.verbosity = 0  # its log goes to our standard output and error
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:  # whatever the native code throws: the file is damaged or of an unknown kind
            raise InputError(f"llama.cpp can't load this model: {error}", file=self._path) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server = None  # its destructor stops the server


@contextmanager
def open_local(address: str) -> Iterator[Connect]:
    """The model named `address`, or of that GGUF file, served while the context is open.

    Raises InputError if it is not there or can't be loaded.
    """
    with LocalServer(find_weights(address)) as server:

        def connect(name: str, settings: EndpointSettings, seed: int) -> ChatClient:
            return ChatClient(name, settings, base_url=server.base_url, seed=seed)

        yield connect


def _default_threads() -> int:
    cores = len(os.sched_getaffinity(0))
    return cores if cores <= 4 else cores // 2
