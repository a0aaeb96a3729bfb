"""Why a program can't be checked by the embedded checker: it is wrong, or it uses what the checker doesn't read."""

from __future__ import annotations

from maxproof.formal.checkers.types import Diagnostic
from maxproof.formal.syntax.ast import NOWHERE, Position


class ResolutionError(Exception):
    """Errors of names and types, all that were found. The message is the first one."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics


class Unsupported(Exception):
    """A construct outside the checker's fragment. Says nothing about whether the program is right."""

    def __init__(self, construct: str, at: Position = NOWHERE) -> None:
        super().__init__(f"not supported: {construct}")
        self.construct = construct
        self.at = at
