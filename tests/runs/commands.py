"""The `maxproof` command and the mock server as processes of their own, as a user has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
PROBLEM = EXAMPLES / "odd-sum.md"


def environment() -> dict[str, str]:
    """Without any endpoint or key of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return {**kept, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "maxproof.cli.main", *map(str, arguments)]


def maxproof(*arguments: object, cwd: Path | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=environment(),
        check=False,
    )


@contextmanager
def mock_server(*options: object) -> Iterator[str]:
    """The base URL of a `maxproof mock` that ends with the block."""
    server = subprocess.Popen(
        command("mock", "--port", 0, *options), stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def server_stats(base_url: str) -> dict[str, Any]:
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats", timeout=10) as reply:
        return json.load(reply)


def small(base_url: str, *more: object) -> Sequence[object]:
    """Options of a search that takes a second."""
    return ("--base-url", base_url, "-N", 6, "-K", 2, "-R", 2, "-M", 2, "--output-tokens", 4000, *more)
