"""The phrase lists that the features count: data files that a user can add to.

    hand_waving.txt, self_correction.txt   a phrase a line
    templates.txt                          NAME = REGULAR EXPRESSION a line

`#` begins a comment line; blank lines are skipped. A phrase matches in any case, as whole words, with any white space
between its words; one with Chinese characters matches anywhere. Regular expressions are Rust's (linear in time), with
`^` and `$` at line ends, in any case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from maxproof.problems.errors import InputError, nearest
from maxproof.problems.text import read_text

_NAMES = ("hand_waving.txt", "self_correction.txt", "templates.txt")
_MAX_BYTES = 256 * 1024
_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is counted: `hand_waving` in the visible text, `self_correction` in the thinking. `templates`: (name,
    regular expression) of marks of structure in the visible text."""

    hand_waving: tuple[str, ...]
    self_correction: tuple[str, ...]
    templates: tuple[tuple[str, str], ...]


def load_phrases(extra: Path | None = None) -> Phrases:
    """The shipped lists, and on top those of the folder `extra`, whose files have the same names; none is required.

    A template of a shipped name replaces the shipped one. Raises InputError for a folder without any such file, for a
    line that is no entry, and for a bad expression.
    """
    shipped = files("maxproof.monitor").joinpath("phrases")
    texts = {name: [(name, shipped.joinpath(name).read_text(encoding="utf-8"))] for name in _NAMES}
    if extra is not None:
        for path in _extra_files(extra):
            texts[path.name].append((str(path), read_text(path, _MAX_BYTES)))
    templates: dict[str, str] = {}
    for file, text in texts["templates.txt"]:
        templates.update(_templates(file, text))
    return Phrases(
        hand_waving=_phrases(texts["hand_waving.txt"]),
        self_correction=_phrases(texts["self_correction.txt"]),
        templates=tuple(templates.items()),
    )


def pattern(phrases: tuple[str, ...]) -> str:
    """One regular expression for all phrases, the longest first, to be searched in a text in lower case.

    Lower case rather than `(?i)`: with so many alternatives that is twenty times slower.
    """
    by_edges: dict[tuple[str, str], list[str]] = {}
    for phrase in sorted(phrases, key=lambda one: (-len(one), one)):
        edges = (_edge(phrase[0]), _edge(phrase[-1])) if not _HAN.search(phrase) else ("", "")
        by_edges.setdefault(edges, []).append(r"\s+".join(_escaped(word) for word in phrase.split()))
    return "|".join(f"{left}(?:{'|'.join(found)}){right}" for (left, right), found in by_edges.items())


def _edge(letter: str) -> str:
    return r"(?-u:\b)" if letter.isalnum() else ""  # Unicode's `\b` is slow in texts that are not all ASCII


def template_pattern(expression: str) -> str:
    """The expression as it is searched."""
    return f"(?im){expression}"


def _escaped(word: str) -> str:
    return re.sub(r"[^\w\s]", lambda mark: f"\\{mark[0]}" if mark[0].isascii() else mark[0], word)


def _extra_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError("no such folder", file=folder)
    found = sorted(path for path in folder.iterdir() if path.suffix == ".txt")
    for path in found:
        if path.name not in _NAMES:
            raise InputError(
                f"not a list of phrases, expected {', '.join(_NAMES)}",
                file=path,
                hint=nearest(path.name, _NAMES) or None,
            )
    if not found:
        raise InputError(f"no list of phrases, expected {', '.join(_NAMES)}", file=folder)
    return found


def _lines(text: str) -> list[tuple[int, str]]:
    numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]


def _phrases(texts: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.lower() for _, text in texts for _, line in _lines(text)))


def _templates(file: str, text: str) -> dict[str, str]:
    import polars as pl

    found = {}
    for number, line in _lines(text):
        name, equals, expression = (part.strip() for part in line.partition("="))
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_]*", name) or not expression:
            raise InputError("expected NAME = REGULAR EXPRESSION, the name in a-z, 0-9, _", file=file, line=number)
        try:
            pl.Series([""]).str.contains(template_pattern(expression))
        except pl.exceptions.ComputeError as error:
            said = " ".join(str(error).split())
            raise InputError(f"not a regular expression: {said}", file=file, line=number) from None
        found[name] = expression
    return found
