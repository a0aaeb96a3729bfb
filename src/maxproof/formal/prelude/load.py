"""The prelude as syntax trees: the mathematics that problems are stated in and the lemmas that proofs may use.

`definitions.dfy` holds the functions, `library/*.dfy` the lemmas, `axioms.toml` says for everything without a proof
what it is and which book states it. To add lemmas, write them with proofs into a library file (a new file: name it in
`LIBRARY`, after those whose lemmas it calls).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from maxproof.formal.syntax.ast import Program
from maxproof.formal.syntax.parse import parse_program

LIBRARY: Final = (
    "certificates",
    "arithmetic",
    "divisibility",
    "reals",
    "inequalities",
    "divisors",
    "primes",
    "powers",
    "real_powers",
    "combinatorics",
    "sums",
    "products",
    "sets",
    "real_sets",
    "set_sizes",
    "logarithms",
    "trigonometry",
    "complex_numbers",
    "rationals",
    "limits",
)


@dataclass(frozen=True, slots=True)
class Axiom:
    """A declaration that is taken for true without proof.

    Attributes:
        name: a function or lemma without a body in the definitions or the library.
        group: the functions it is about: axioms of one group are asked for a contradiction together.
        says: the statement in usual notation.
        source: where it is proved: a book, and Mathlib's name for it.
    """

    name: str
    group: str
    says: str
    source: str


@dataclass(frozen=True, slots=True)
class Prelude:
    """Names are unique over `definitions` and `library` together."""

    definitions: Program
    library: Program
    axioms: tuple[Axiom, ...]


@cache
def prelude() -> Prelude:
    """Reads the package's own files once."""
    folder = files("maxproof.formal.prelude")
    library = [_program(folder / "library" / f"{name}.dfy") for name in LIBRARY]
    catalogue = tomllib.loads((folder / "axioms.toml").read_text("utf-8"))
    return Prelude(
        definitions=_program(folder / "definitions.dfy"),
        library=Program(tuple(declaration for program in library for declaration in program.declarations)),
        axioms=tuple(Axiom(name, **entry) for name, entry in catalogue.items()),
    )


def _program(file: Traversable) -> Program:
    return parse_program(file.read_text("utf-8"))
