"""How benchmarks print: the machine, and tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

# Wide enough that no table is folded when the output goes to a file.
console = Console(width=max(120, Console().width), highlight=False)


def machine_line() -> str:
    """Processor, cores, memory, versions and the load of the last minute: without it no number means anything."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in _read("/proc/cpuinfo").splitlines()
            if line.startswith("model name")
        ),
        platform.processor() or "unknown processor",
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = " ".join(f"{name} {_version(name)}" for name in ("aiohttp", "openai", "uvloop"))
    return (
        f"machine: {cpu}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {versions}; load {os.getloadavg()[0]:.1f}"
    )


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> None:
    """Numbers to the right, the first column to the left."""
    table = Table(title=title, title_justify="left", caption=note or None, caption_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*map(_cell, row))
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
