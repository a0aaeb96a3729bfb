"""Walking syntax trees: what a node holds, which names it uses, trees with something replaced."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from maxproof.formal.syntax.ast import Node, Program

_fields: dict[type, tuple[str, ...]] = {}


def fields(kind: type[Node] | type[Program]) -> tuple[str, ...]:
    """The names of a node class's fields except its place, in source order."""
    found = _fields.get(kind)
    if found is None:
        found = tuple(field.name for field in dataclasses.fields(kind) if field.name != "at")
        _fields[kind] = found
    return found


def children(node: Node | Program) -> Iterator[Node]:
    """The nodes directly under `node`, in the order of its fields."""
    for name in fields(type(node)):
        value = getattr(node, name)
        if not isinstance(value, str):
            yield from _nodes(value)


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
