"""Options of the formal commands, and what they mean as settings.

What does the work is imported when a command runs: the command line starts without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from maxproof.problems import InputError
from maxproof.problems.errors import nearest

if TYPE_CHECKING:
    from maxproof.formal.settings import FormalSettings

_LIMITS = "Limits of one check"

ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A .dfy file with one lemma whose body is empty.")]
ProblemSet = Annotated[
    Path, typer.Argument(metavar="SET", help="A folder of .dfy files, one such file, or a .jsonl of them.")
]
CheckerName = Literal["embedded", "dafny", "dafny-2.3", "dafny-4"]
Checker = Annotated[
    CheckerName, typer.Option("--checker", help="Who checks proofs; dafny is the newest that is installed.")
]
Certify = Annotated[
    bool, typer.Option("--certify", help="Check accepted proofs again with an installed Dafny, in a fresh process.")
]
Confirm = Annotated[
    CheckerName | None,
    typer.Option("--confirm", help="A second checker that the symbolic prover's proofs should pass too."),
]
Methods = Annotated[
    str | None,
    typer.Option("--methods", help="Which of empty, symbolic, guided, population; with commas.", show_default=False),
]
Learn = Annotated[bool, typer.Option("--learn", help="Keep lemmas of accepted proofs, and offer them.")]
Corrections = Annotated[
    int | None,
    typer.Option("--corrections", min=0, help="guided: corrections of each attempt. Default 3.", show_default=False),
]
Workers = Annotated[int, typer.Option("--workers", "-j", min=0, help="Checks at once; 0: one for each processor.")]
Resource = Annotated[
    int | None,
    typer.Option("--resource", min=1, help="Solver units for an obligation (Z3 rlimit).", rich_help_panel=_LIMITS),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", help="Solver seconds for an obligation.", rich_help_panel=_LIMITS),
]
Wall = Annotated[
    float | None, typer.Option("--wall", help="Seconds of a whole check; then it is killed.", rich_help_panel=_LIMITS)
]
Memory = Annotated[int | None, typer.Option("--memory", help="MB of one solver process.", rich_help_panel=_LIMITS)]

_FLAGS = {"resource": "--resource", "seconds": "--seconds", "wall_seconds": "--wall", "memory_mb": "--memory"}


def formal_settings(
    values: dict[str, object],
    resource: int | None = None,
    seconds: float | None = None,
    wall: float | None = None,
    memory: int | None = None,
) -> FormalSettings:
    """The settings that the flags mean; None stands for the default. Raises InputError for a value that can't be."""
    from pydantic import ValidationError

    from maxproof.formal.settings import FormalSettings

    limits = {"resource": resource, "seconds": seconds, "wall_seconds": wall, "memory_mb": memory}
    given = {name: value for name, value in limits.items() if value is not None}
    chosen = {name: value for name, value in values.items() if value is not None}
    try:
        return FormalSettings.model_validate({**chosen, "limits": given})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][-1])
        raise InputError(first["msg"], field=_FLAGS.get(name, name)) from None


def method_names(text: str) -> list[str]:
    """`empty,symbolic` -> its names. Raises InputError for an unknown one."""
    from maxproof.formal.settings import METHODS

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            hint = nearest(name, METHODS) or f"there are {', '.join(METHODS)}"
            raise InputError(f"no method is called {name!r}", field="--methods", hint=hint)
    if not names:
        raise InputError("names no method", field="--methods", hint=f"there are {', '.join(METHODS)}")
    return list(dict.fromkeys(names))
