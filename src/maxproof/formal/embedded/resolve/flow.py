"""Where a statement stands: the variables in sight, the version that each has there, and what may be assigned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from maxproof.formal.embedded.core import (
    Step,
)
from maxproof.formal.embedded.resolve.scope import Version
from maxproof.formal.embedded.resolve.types import Variable

Steps: TypeAlias = Callable[[], list[Step]]
"""Builds the steps of a statement once all types are settled; to be called in program order."""


@dataclass(eq=False, slots=True)
class Scope:
    """Where a statement stands.

    Attributes:
        names: the source variables that can be seen.
        current: the core name that each of them has now. One without a value yet has a name that no step defines.
        assignable: those that statements here may assign to.
        results: the lemma's results where `return` is allowed.
        ended: what follows is never reached.
        own: names declared in this very block.
    """

    names: dict[str, Variable]
    current: dict[Variable, str]
    assignable: frozenset[Variable] = frozenset()
    results: tuple[Variable, ...] | None = None
    ended: bool = False
    own: set[str] = field(default_factory=set)

    def env(self) -> dict[str, Version]:
        return {name: Version(variable, self.current[variable]) for name, variable in self.names.items()}

    def inner(self, locked: bool = False) -> Scope:
        """A block inside this one; `locked`: it may neither assign to variables out here nor return."""
        if locked:
            return Scope(dict(self.names), dict(self.current))
        return Scope(dict(self.names), dict(self.current), self.assignable, self.results)

    def declare(self, version: Version) -> None:
        variable = version.variable
        self.names[variable.name] = variable
        self.current[variable] = version.name
        self.own.add(variable.name)
        if variable.kind in ("local", "result"):
            self.assignable |= {variable}


def nothing() -> list[Step]:
    return []
