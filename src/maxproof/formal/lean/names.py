"""Lean's names as Dafny's: `h₀` → `h0`, `x'` → `x_prime`, `σ` → `sigma`, apart from every name that is taken."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import Final

from maxproof.formal.syntax.words import is_reserved

_GREEK: Final = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "mu", "nu", "xi"),
    *("omicron", "pi", "rho", "sigma", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
_LETTERS: Final = {
    **dict(zip("αβγδεζηθικμνξοπρςστυφχψω", _GREEK, strict=True)),
    **dict(zip("ΓΔΘΞΦΨΩ", ("Gamma", "Delta", "Theta", "Xi", "Phi", "Psi", "Omega"), strict=True)),
}


def legal(name: str, taken: Collection[str]) -> str:
    """A Dafny identifier for a Lean name: never reserved, nor one of `taken`."""
    letters = "".join(_letter(c) for c in name.strip("«»"))
    if not letters or not (letters[0].isalpha()):
        letters = f"v{letters}"
    candidate, count = letters, 0
    while candidate in taken or is_reserved(candidate):
        count += 1
        candidate = f"{letters}_{count}"
    return candidate


def _letter(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() or char == "_" else "_prime" if char == "'" else "_"
    if char in _LETTERS:
        return _LETTERS[char]
    plain = unicodedata.normalize("NFKD", char)
    return "".join(c for c in plain if c.isascii() and c.isalnum()) or "_"
