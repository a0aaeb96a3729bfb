"""Passes over terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from maxproof.formal.lean.terms import Term, Truth, Var
from maxproof.formal.syntax.ast import Position


def rebuild(term: Any, change: Any) -> Any:
    """`term` with `change` applied to each of its parts that is a term or a type; itself if nothing changed."""
    changes: dict[str, Any] = {}
    for item in fields(term):
        old = getattr(term, item.name)
        if isinstance(old, tuple):
            new: Any = tuple(change(o) if _is_part(o) else o for o in old)
            if any(a is not b for a, b in zip(old, new, strict=True)):
                changes[item.name] = new
        elif _is_part(old):
            new = change(old)
            if new is not old:
                changes[item.name] = new
    return replace(term, **changes) if changes else term


def _is_part(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, Position)


def substitute(term: Term, values: Mapping[int, Term]) -> Term:
    """`term` with variables (by index) replaced. Indices are unique in a statement, so nothing is captured."""

    def change(part: Any) -> Any:
        if isinstance(part, Var):
            return values.get(part.index, part)
        return rebuild(part, change)

    return change(term)  # type: ignore[no-any-return]


def free_of(term: Term, index: int) -> bool:
    """Whether `term` doesn't depend on the variable `index`."""
    return substitute(term, {index: Truth(True)}) == term


def size(value: Any) -> int:
    """Number of nodes of a term, of Lean or of Dafny."""
    total = 0
    stack: list[Any] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack += node
        elif _is_part(node):
            total += 1
            stack += (getattr(node, f.name) for f in fields(node))
    return total
