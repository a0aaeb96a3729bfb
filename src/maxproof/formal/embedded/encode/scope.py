"""Which declared functions a question may use, and how.

A function's body and postconditions may be used only by declarations that it doesn't itself depend on: otherwise a
function that doesn't terminate, or a false postcondition, would prove itself. So a declaration under check sees nothing
of the functions that reach it (itself included); what it may assume of its own recursive calls is among the hypotheses.
"""

from __future__ import annotations

from collections.abc import Iterable

from maxproof.formal.embedded.core import (
    Call,
    CallStep,
    Choose,
    CoreFunction,
    CoreLemma,
    CoreProgram,
    FunctionValue,
    Quant,
    SetComp,
    Sort,
    Var,
)
from maxproof.formal.embedded.core.walk import Node, subnodes

INLINE_NODES = 80  # a longer body stays a call


class Scope:
    """What the declaration called `current` may use of the functions of `core`."""

    def __init__(self, core: CoreProgram, current: str) -> None:
        self._core = core
        self._uses: dict[tuple[str, bool], frozenset[str]] = {}
        self._reached: dict[tuple[str, bool], frozenset[str]] = {}
        self._current = current
        self._inline: dict[str, bool] = {}
        self._made = 0

    def usable(self, name: str) -> bool:
        """The function's body and postconditions may be used."""
        return self._current != name and self._current not in self._reach(name)

    def recursive(self, name: str) -> bool:
        """The function's body depends on the function."""
        return name in self._reach(name, bodies=True)

    def inline(self, name: str) -> bool:
        """The function's body is short and has no quantifier, so calls are best replaced by it."""
        known = self._inline.get(name)
        if known is None:
            body = self._core.functions[name].body
            known = body is not None and not self.recursive(name)
            if known and body is not None:
                for number, node in enumerate(subnodes(body)):
                    if number > INLINE_NODES or isinstance(node, Quant | SetComp | Choose):
                        known = False
                        break
            self._inline[name] = known
        return known

    def fresh(self, base: str, sort: Sort) -> Var:
        """A variable with a name that no program has."""
        self._made += 1
        return Var(f"{base.split('#', 1)[0]}#s{self._made}", sort)

    def _reach(self, name: str, bodies: bool = False) -> frozenset[str]:
        """Declarations that `name` depends on over any steps; with `bodies`, through function bodies alone."""
        known = self._reached.get((name, bodies))
        if known is None:
            found: set[str] = set()
            pending = list(self._direct(name, bodies))
            while pending:
                top = pending.pop()
                if top not in found:
                    found.add(top)
                    pending += self._direct(top, bodies)
            known = self._reached[name, bodies] = frozenset(found)
        return known

    def _direct(self, name: str, bodies: bool) -> frozenset[str]:
        known = self._uses.get((name, bodies))
        if known is None:
            declaration = self._core.functions.get(name) or self._core.lemmas.get(name)
            known = frozenset(names(_roots(declaration, bodies))) if declaration else frozenset()
            self._uses[name, bodies] = known
        return known


def _roots(declaration: CoreFunction | CoreLemma, bodies: bool) -> list[Node]:
    if isinstance(declaration, CoreFunction):
        body = () if declaration.body is None else (declaration.body,)
        return [*body] if bodies else [*body, *declaration.requires, *declaration.ensures, *declaration.decreases]
    steps = declaration.body or ()
    return [*steps, *declaration.requires, *declaration.ensures, *declaration.decreases]


def names(roots: Iterable[Node]) -> set[str]:
    """Functions and lemmas that are named in `roots`."""
    found: set[str] = set()
    for root in roots:
        for node in subnodes(root):
            if isinstance(node, Call | CallStep | FunctionValue):
                found.add(node.name)
    return found
