"""Many declarations in one run of Dafny 2.3, and what it says of each."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from maxproof.formal.checkers.dafny_program import Refused, dafny_program
from maxproof.formal.checkers.types import CheckTask
from maxproof.formal.syntax.dialect import Dialect

_VERIFYING = re.compile(r"^Verifying (?:CheckWellformed|Impl)\$\$_module\.__default\.(\S+) \.\.\.")
_OUTCOME = re.compile(r"^  \[[\d.]+ s, \d+ proof obligations?\]  (.*)$")
_ERROR = re.compile(r"^\S*?\((\d+),\d+\): Error.*?: (.*)$")


@dataclass
class Said:
    """What Dafny says of one declaration.

    Attributes:
        outcomes: `verified`, `error`, `errors`, `timed out`, ... for each of its procedures.
        messages: its errors.
    """

    outcomes: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        return bool(self.outcomes) and set(self.outcomes) == {"verified"}


def ask(task: CheckTask, folder: Path, seconds: float, each: int = 3) -> dict[str, Said]:
    """By declaration. Raises ValueError where Dafny can't read or resolve the program.

    Args:
        seconds: for everything; then Dafny is ended, and what it has not said is missing.
        each: soft limit of one procedure.
    """
    program = dafny_program(task, Dialect.DAFNY_2_3)
    if isinstance(program, Refused):
        raise ValueError(program.reason)
    file = folder / "batch.dfy"
    file.write_text(program.text)
    command = ["dafny", "/nologo", "/compile:0", "/trace", "/vcsCores:1", f"/timeLimit:{each}", "/errorLimit:9"]
    with (folder / "said").open("w+") as output:
        process = subprocess.Popen(
            [*command, str(file)], stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, process_group=0
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        lines = output.read().splitlines()
    if process.returncode == 2:
        raise ValueError("\n".join(line for line in lines if "Error" in line) + "\n" + program.text)
    told = _read(lines)
    if process.returncode in (0, 4):  # it came to the end; declarations with nothing to prove are not named
        for name in task.targets:
            told.setdefault(name, Said(["verified"]))
    return told


def _read(lines: Sequence[str]) -> dict[str, Said]:
    told: dict[str, Said] = {}
    own = Said()
    for line in lines:
        if found := _VERIFYING.match(line):
            own = told.setdefault(found[1].replace("__", "_"), Said())
        elif found := _OUTCOME.match(line):
            own.outcomes.append(found[1])
        elif found := _ERROR.match(line):
            own.messages.append(found[2])
    return told
