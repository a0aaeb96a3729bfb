"""Names of variables in a statement's tokens, so that renaming them changes nothing; used by `normal_form.py`.

A token of a variable starts with VARIABLE. `x_1`, ..., `x_k` are k variables of their own, as `x`, `y`, `z` would be,
if the letter appears with the indices 1 to k only, first in that order. Any other index is a number that counts: of a
sequence's terms `a_1` and `a_3`, or `a_1` and `a_n`.
"""

from __future__ import annotations

from collections.abc import Sequence

VARIABLE = "\x01"
"""Starts a token that names a variable; no text has it."""
ANY_VARIABLE = VARIABLE + "x"
MAX_INDEX_DIGITS = 2


def renamed(tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens with variables named by the order in which they first appear, and with one name for all of them."""
    joined = _with_indices(tokens)
    names: dict[str, str] = {}
    canonical = tuple(
        names.setdefault(token, f"{VARIABLE}{len(names) + 1}") if token[0] == VARIABLE else token for token in joined
    )
    return canonical, tuple(ANY_VARIABLE if token[0] == VARIABLE else token for token in joined)


def _with_indices(tokens: Sequence[str]) -> Sequence[str]:
    """`x`, `_`, `1` as one token for the letters of which that may be said."""
    highest: dict[str, int] = {}  # index so far of each letter; -1: it is no such letter
    for at, token in enumerate(tokens):
        if token[0] != VARIABLE or (known := highest.get(token, 0)) < 0:
            continue
        index = _index(tokens, at)
        highest[token] = max(known, index) if 1 <= index <= known + 1 else -1
    if all(last < 0 for last in highest.values()):
        return tokens
    joined: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token[0] == VARIABLE and highest[token] > 0:
            joined.append(f"{token}_{_index(tokens, at)}")
            at += 3
        else:
            joined.append(token)
            at += 1
    return joined


def _index(tokens: Sequence[str], at: int) -> int:
    """The number that is the index of the variable at `at`; 0: it has none."""
    if at + 2 >= len(tokens) or tokens[at + 1] != "_":
        return 0
    index = tokens[at + 2]
    return int(index) if index.isdecimal() and len(index) <= MAX_INDEX_DIGITS else 0
