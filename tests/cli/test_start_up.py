"""What the command line brings with it: nothing that only some commands need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "z3", "sympy", "mpmath", "numpy", "aiohttp", "jinja2", "rich.progress", "rich.live", "latex2mathml", "nh3",
    "maxproof.formal", "maxproof.search.run", "maxproof.report", "maxproof.models.client", "maxproof.models.mock",
)  # fmt: skip


@pytest.mark.parametrize("module", ["maxproof", "maxproof.cli.main"])
def test_a_start_imports_no_solver_no_client_and_no_renderer(module: str) -> None:
    told = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=60, check=True)
    assert not set(HEAVY).intersection(done.stdout.split())
