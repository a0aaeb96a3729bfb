"""Which checkers this machine has, and how to open one.

    async with open_checker("dafny", workers=2) as checker:
        result = await checker.check(task, Limits())

`embedded` is always there. `dafny` is the newest Dafny that is installed; `dafny-2.3` and `dafny-4` ask for one of
them. A Dafny is the command that was named, or the one in MAXPROOF_DAFNY, or else `dafny` on the path and Debian's.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

from maxproof.formal.checkers.dafny4 import OLDEST, Dafny4Paths
from maxproof.formal.checkers.dafny4_server import Dafny4
from maxproof.formal.checkers.dafny23 import Dafny23, Dafny23Paths
from maxproof.formal.checkers.processes import run_tool
from maxproof.formal.checkers.types import Checker, Tool
from maxproof.problems import InputError

EMBEDDED: Final = "embedded"
CHECKERS: Final = (EMBEDDED, "dafny", "dafny-2.3", "dafny-4")
VARIABLE: Final = "MAXPROOF_DAFNY"
Installed: TypeAlias = Dafny23Paths | Dafny4Paths

_DEBIAN: Final = "/usr/bin/dafny"
_DEBIAN_Z3: Final = "/usr/bin/z3"
_HOW_TO_GET: Final = "apt-get install dafny (2.3), or https://github.com/dafny-lang/dafny/releases (4)"
_VERSION: Final = re.compile(r"^(?:Dafny )?(\d+)\.(\d+)\.(\d+)", re.MULTILINE)
_Z3_VERSION: Final = re.compile(r"Z3 version (\d+\.\d+\.\d+)")
_LAUNCHER: Final = re.compile(r"exec\s+(\S+)\s+(\S*/)Dafny\.exe")
_ASK_SECONDS: Final = 60.0
_ASK_MB: Final = 1024


async def find_dafnys(path: str | None = None) -> tuple[Installed, ...]:
    """Every Dafny that can be used, newest first.

    Args:
        path: the command to use; None: see the module.

    Raises:
        InputError: the command that was named isn't there, or is no Dafny that is supported.
    """
    named = path or os.environ.get(VARIABLE)
    if named:
        command = _command(named)
        if command is None:
            raise InputError(f"no command {named!r}", field=None if path else VARIABLE, hint="name an installed dafny")
        return (await _identified(command),)
    found: list[Installed] = []
    problem: InputError | None = None
    for command in dict.fromkeys(filter(None, (_command("dafny"), _command(_DEBIAN)))):
        try:
            found.append(await _identified(command))
        except InputError as error:
            problem = problem or error
    if not found and problem is not None:
        raise problem
    return tuple(sorted(found, key=lambda dafny: isinstance(dafny, Dafny23Paths)))


async def find_dafny(name: str = "dafny", path: str | None = None) -> Installed:
    """The newest Dafny of that name (`dafny`, `dafny-2.3` or `dafny-4`).

    Raises:
        InputError: there is none: what was found, and how to get it.
    """
    dafnys = await find_dafnys(path)
    wanted = {"dafny-2.3": Dafny23Paths, "dafny-4": Dafny4Paths}.get(name)
    for dafny in dafnys:
        if wanted is None or isinstance(dafny, wanted):
            return dafny
    if dafnys:
        raise InputError(f"no {name} found, but Dafny {dafnys[0].tool.version} at {dafnys[0].dafny}", hint=_HOW_TO_GET)
    raise InputError("no dafny found", hint=_HOW_TO_GET)


async def available_checkers(path: str | None = None) -> tuple[str, ...]:
    """The names that `open_checker` can open here, `dafny` aside. A Dafny that can't be used is left out."""
    try:
        dafnys = await find_dafnys(path)
    except InputError:
        dafnys = ()
    return (EMBEDDED, *dict.fromkeys(dafny.tool.name for dafny in dafnys))


@asynccontextmanager
async def open_checker(name: str, workers: int, path: str | None = None) -> AsyncIterator[Checker]:
    """A checker that runs up to `workers` checks at once; its processes end with the block.

    Raises:
        InputError: an unknown name, or a Dafny that isn't there.
    """
    checker = await _opened(name, workers, path)
    try:
        yield checker
    finally:
        await checker.aclose()


async def _opened(name: str, workers: int, path: str | None) -> Checker:
    if name not in CHECKERS:
        raise InputError(f"no checker {name!r}: expected one of {', '.join(CHECKERS)}")
    if name == EMBEDDED:
        from maxproof.formal.embedded.checker import EmbeddedChecker

        return EmbeddedChecker(workers)
    dafny = await find_dafny(name, path)
    return Dafny23(dafny, workers) if isinstance(dafny, Dafny23Paths) else Dafny4(dafny, workers)


def _command(name: str) -> str | None:
    """The absolute path of a command: a tool runs in a folder of its own."""
    found = shutil.which(name)
    return os.path.abspath(found) if found is not None else None


async def _identified(command: str) -> Installed:
    """Raises InputError for what is no supported Dafny."""
    # Dafny 2.3 doesn't know --version, but names its version before it complains of /version.
    for option in ("--version", "/version"):
        run = await run_tool([command, option], files={}, wall_seconds=_ASK_SECONDS, memory_mb=_ASK_MB)
        found = _VERSION.search(run.output)
        if found is not None:
            version = (int(found[1]), int(found[2]), int(found[3]))
            break
    else:
        raise InputError(f"{command} doesn't say which Dafny it is", hint=_HOW_TO_GET)
    written = ".".join(map(str, version))
    if version[:2] == (2, 3):
        # Not whatever z3 comes first on the path: a Python environment has one too, of another version.
        solver = shutil.which(_DEBIAN_Z3) or shutil.which("z3")
        if solver is None:
            raise InputError(f"Dafny {written} at {command} finds no z3", hint="apt-get install z3")
        tool = Tool("dafny-2.3", written, f"z3 {await _z3_version(solver)}")
        return Dafny23Paths(command, _server_command(Path(command)), solver, tool)
    if version >= OLDEST and version[0] == 4:
        return Dafny4Paths(command, version, Tool("dafny-4", written, "z3 bundled"))
    raise InputError(
        f"Dafny {written} at {command} is not supported: expected 2.3, or 4.3 and later 4.x", hint=_HOW_TO_GET
    )


def _server_command(dafny: Path) -> tuple[str, ...] | None:
    """How to start DafnyServer, which lies beside the program that Debian's script starts."""
    try:
        script = dafny.read_bytes()[:4096].decode(errors="replace")
    except OSError:
        return None
    found = _LAUNCHER.search(script)
    if found is None:
        return None
    launcher, server = shutil.which(found[1]), Path(f"{found[2]}DafnyServer.exe")
    return (launcher, str(server)) if launcher is not None and server.is_file() else None


async def _z3_version(command: str) -> str:
    run = await run_tool([command, "--version"], files={}, wall_seconds=_ASK_SECONDS, memory_mb=_ASK_MB)
    found = _Z3_VERSION.search(run.output)
    return found[1] if found is not None else "unknown"
