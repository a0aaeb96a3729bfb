"""The prelude's own declarations, to tell them from a program's functions that only have their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from maxproof.formal.embedded.core import Call, CoreFunction, FunctionValue
from maxproof.formal.embedded.core.walk import subnodes
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.prelude.load import prelude


@cache
def prelude_functions() -> Mapping[str, CoreFunction]:
    """The prelude's functions by name, resolved."""
    return {name: _essence(function) for name, function in resolve(prelude().definitions).functions.items()}


@cache
def _needed(name: str) -> tuple[str, ...]:
    """The prelude's functions that the meaning of one of them depends on, itself included."""
    found: dict[str, None] = {}
    pending = [name]
    while pending:
        top = pending.pop()
        if top in found or top not in prelude_functions():
            continue
        found[top] = None
        body = prelude_functions()[top].body
        if body is not None:
            pending += [node.name for node in subnodes(body) if isinstance(node, Call | FunctionValue)]
    return tuple(found)


def is_prelude_function(name: str, functions: Mapping[str, CoreFunction]) -> bool:
    """Whether `name` means among `functions` what it means in the prelude: it and all that its body depends on are
    declared word for word as there (places and layout apart)."""
    known = prelude_functions()
    return name in known and all(
        other in functions and _essence(functions[other]) == known[other] for other in _needed(name)
    )


def _essence(function: CoreFunction) -> CoreFunction:
    return replace(function, trusted=True)
