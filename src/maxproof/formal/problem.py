"""A formal problem: one Dafny lemma with an empty body, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from maxproof.formal.syntax.ast import Declaration, Lemma


@dataclass(frozen=True, slots=True)
class FormalProblem:
    """What is to be proved.

    Attributes:
        lemma: the statement. Its body is empty.
        definitions: other declarations of the problem file that the statement needs (functions, datatypes).
        source: the text it was read from, as it stands in the file.
        file: that file; None for a problem made in memory.
        split: `test`, `valid` or another name of a part of a set; "" if it has none.
        domain: the field of mathematics, e.g. `number theory`; "" if unknown.
        origin: for a translated statement, the SHA-256 of the Lean source it came from; "" otherwise.
    """

    lemma: Lemma
    definitions: tuple[Declaration, ...] = ()
    source: str = ""
    file: Path | None = field(default=None, compare=False)
    split: str = ""
    domain: str = ""
    origin: str = ""

    @property
    def name(self) -> str:
        return self.lemma.name
