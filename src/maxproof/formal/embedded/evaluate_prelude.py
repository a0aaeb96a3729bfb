"""The prelude's own declarations, to tell them from a program's functions that only have their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from maxproof.formal.embedded.core import CoreFunction
from maxproof.formal.embedded.resolve import resolve
from maxproof.formal.prelude.load import prelude


@cache
def prelude_functions() -> Mapping[str, CoreFunction]:
    """The prelude's functions by name, resolved."""
    return {name: _essence(function) for name, function in resolve(prelude().definitions).functions.items()}


def is_prelude_function(declared: CoreFunction) -> bool:
    """Whether it is the prelude's function of that name, word for word (places and layout apart)."""
    return _essence(declared) == prelude_functions().get(declared.name)


def _essence(function: CoreFunction) -> CoreFunction:
    return replace(function, trusted=True)
