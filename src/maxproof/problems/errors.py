"""The one exception for a user's mistake: it is printed as one clear line, never as a traceback."""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """Bad input from the user.

    Args:
        message: what is wrong and what was expected.
        file: the file at fault, if any.
        line: its 1-based line, if known.
        field: the field, column, option or key at fault, if any.
        hint: what to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.file = str(file) if file is not None else None
        self.line = line
        self.field = field
        self.hint = hint
        super().__init__(self.__str__())

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = self.file + (f":{self.line}" if self.line is not None else "") + ": "
        if self.field is not None:
            place += f"{self.field}: "
        return f"{place}{self.message}" + (f" ({self.hint})" if self.hint else "")
