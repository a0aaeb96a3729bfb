"""The one exception for a user's mistake: it is printed as one clear line, never as a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something stands: the 1-based line, or the path of a JSON item such as `[3]`, where known."""

    file: str | Path
    line: int | None = None
    item: str = ""

    def error(self, message: str, *, field: str | None = None, hint: str | None = None) -> InputError:
        """An `InputError` that names this place."""
        name = ".".join(part for part in (self.item, field) if part)
        return InputError(message, file=self.file, line=self.line, field=name or None, hint=hint)

    def __str__(self) -> str:
        return f"line {self.line}" if self.line is not None else f"item {self.item}"


def nearest(name: str, names: Iterable[str], count: int = 1) -> str:
    """A hint with up to `count` of `names` that are closest to `name`, case ignored; "" when none is close."""
    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=count)
    return f"did you mean {' or '.join(by_folded[folded] for folded in close)}?" if close else ""
