"""The taxonomy: which domains there are, which techniques belong to them, and what sources call them.

    taxonomy = load_taxonomy()                      # the project's own, taxonomy.toml beside this file
    taxonomy.domain("Number-Theory")                # "number theory"
    taxonomy.technique("Hall's theorem")            # "matchings"

Another file of the same form can take its place; what is wrong with it is told with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from maxproof.problems.errors import InputError, Place
from maxproof.problems.text import read_text
from maxproof.problems.toml import line_of, parse_toml

UNKNOWN = "unknown"
"""The domain of a problem that belongs to none of the taxonomy's."""

OWN = Path(__file__).with_name("taxonomy.toml")
MAX_BYTES = 1024 * 1024
_SAME_CHARS = re.compile(r"[\s_-]+")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    description: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class Domain(_Entry):
    """A field of mathematics."""


class Technique(_Entry):
    """A way to solve problems; `domains`: where it is used, by name."""

    domains: tuple[str, ...] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    domain: tuple[Domain, ...] = Field(min_length=1)
    technique: tuple[Technique, ...] = ()


@dataclass(frozen=True)
class Taxonomy:
    """Domains and techniques in the order of their file."""

    domains: tuple[Domain, ...]
    techniques: tuple[Technique, ...]

    def domain(self, text: str) -> str:
        """The domain that `text` names or is an alias of, else UNKNOWN."""
        return self._domains.get(folded(text), UNKNOWN)

    def technique(self, text: str) -> str | None:
        """The technique that `text` names or is an alias of; None: none."""
        return self._techniques.get(folded(text))

    def techniques_of(self, domain: str) -> tuple[Technique, ...]:
        """The techniques of a domain (by its own name), in order; all of them for another name."""
        if all(domain != known.name for known in self.domains):
            return self.techniques
        return tuple(technique for technique in self.techniques if domain in technique.domains)

    @cached_property
    def _domains(self) -> dict[str, str]:
        return {key: entry.name for entry in self.domains for key in _names(entry)}

    @cached_property
    def _techniques(self) -> dict[str, str]:
        return {key: entry.name for entry in self.techniques for key in _names(entry)}


def folded(text: str) -> str:
    """What is compared of a name: no case, no hyphens, underscores or outer blanks."""
    return _SAME_CHARS.sub(" ", text.replace("’", "'")).strip().casefold()


def load_taxonomy(path: Path | None = None) -> Taxonomy:
    """The taxonomy of a file; the project's own by default.

    Raises InputError with the line: no TOML, an unknown field, a name or alias that two entries claim, a technique of
    an unknown domain, `unknown` as a domain's name.
    """
    path = path or OWN
    text = read_text(path, MAX_BYTES)
    raw = parse_toml(text, Place(path))
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = first["loc"]
        named = ".".join(str(part) for part in place) or None
        line = next((at for end in range(len(place), 0, -1) if (at := line_of(text, place[:end])) is not None), None)
        raise InputError(first["msg"], file=path, line=line, field=named) from None
    _check(file, path, text)
    return Taxonomy(file.domain, file.technique)


def _check(file: _File, path: Path, text: str) -> None:
    kinds: tuple[tuple[str, tuple[_Entry, ...]], ...] = (("domain", file.domain), ("technique", file.technique))
    for kind, entries in kinds:
        owner: dict[str, str] = {}
        for index, entry in enumerate(entries):
            for key in _names(entry):
                if key == UNKNOWN or not key:
                    raise _error(path, text, (kind, index), f"{entry.name!r}: no name can be {key!r}")
                if owner.setdefault(key, entry.name) != entry.name:
                    raise _error(path, text, (kind, index), f"{owner[key]!r} and {entry.name!r} both claim {key!r}")
            if any(other.name == entry.name for other in entries[:index]):
                raise _error(path, text, (kind, index), f"{entry.name!r} is given twice")
    names = {domain.name for domain in file.domain}
    for index, technique in enumerate(file.technique):
        if unknown := [name for name in technique.domains if name not in names]:
            raise _error(
                path,
                text,
                ("technique", index, "domains"),
                f"unknown domain {unknown[0]!r}: {', '.join(sorted(names))}",
            )


def _names(entry: _Entry) -> Iterator[str]:
    yield folded(entry.name)
    yield from map(folded, entry.aliases)


def _error(path: Path, text: str, place: Sequence[str | int], message: str) -> InputError:
    return InputError(message, file=path, line=line_of(text, place), field=".".join(map(str, place)))
