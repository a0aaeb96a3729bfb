"""TOML whose errors and keys have line numbers."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from maxproof.problems.errors import Place

_AT = re.compile(r" ?\(at line (\d+), column \d+\)$| ?\(at end of document\)$")


def parse_toml(text: str, place: Place, hint: str | None = None) -> dict[str, object]:
    """TOML text that starts at `place` as a dictionary. A syntax error is an InputError with its line."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise place.error("TOML nested too deeply") from None
    except ValueError as error:
        message = str(error)
        found = _AT.search(message)
        first = place.line or 1
        at = int(found[1]) - 1 if found and found[1] else text.rstrip("\n").count("\n") if found else 0
        raise Place(place.file, first + at).error(f"not TOML: {_AT.sub('', message)}", hint=hint) from None


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The 1-based line on which the statement starts that brings the key `path` into `text`; None if none does.

    `text` must be valid TOML. `path` has keys, and indices of arrays: `("verifier", "judges", 1, "mode")`.
    """
    lines = text.split("\n")

    def parsed(count: int) -> tuple[int, object]:
        """The longest beginning of at most `count` lines that holds whole statements, and its data."""
        for end in range(count, 0, -1):
            try:
                return end, tomllib.loads("\n".join(lines[:end]))
            except ValueError:
                continue
        return 0, {}

    # tomllib keeps no lines, but a longer beginning only has more keys, so bisection finds where a key comes in.
    last = bisect_left(range(len(lines) + 1), True, key=lambda count: _has(parsed(count)[1], path))
    return parsed(last - 1)[0] + 1 if 0 < last <= len(lines) else None


def _has(data: Any, path: Sequence[str | int]) -> bool:
    try:
        for part in path:
            data = data[part]
    except (KeyError, IndexError, TypeError):
        return False
    return True
