"""Which declarations depend on which, and which of them call each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from maxproof.formal.embedded.core import Call, CallStep, CoreProgram, FunctionValue
from maxproof.formal.embedded.core.walk import Node, subnodes


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Functions and lemmas of a program and what they name, found as it is asked for."""

    program: CoreProgram
    _named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _recursive: dict[str, bool] = field(default_factory=dict)

    def named_by(self, name: str) -> tuple[str, ...]:
        """What the declaration's clauses and body name, each once, in order."""
        known = self._named.get(name)
        if known is None:
            found: dict[str, None] = {}
            for root in _roots(name, self.program):
                for node in subnodes(root):
                    if isinstance(node, Call | CallStep | FunctionValue):
                        found.setdefault(node.name)
            known = self._named[name] = tuple(found)
        return known

    def recursive(self, name: str) -> bool:
        """The declaration depends on itself, directly or through others."""
        known = self._recursive.get(name)
        if known is None:
            known = self._recursive[name] = bool(self.group_of(name))
        return known

    def group_of(self, name: str) -> frozenset[str]:
        """Declarations that depend on `name` and that `name` depends on, itself included; empty where it isn't
        recursive."""
        callers: dict[str, set[str]] = {}
        pending = [name]
        seen = {name}
        while pending:
            caller = pending.pop()
            for callee in self.named_by(caller):
                callers.setdefault(callee, set()).add(caller)
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        group: set[str] = set()
        pending = list(callers.get(name, ()))
        while pending:
            top = pending.pop()
            if top not in group:
                group.add(top)
                pending += callers.get(top, ())
        return frozenset(group)


def _roots(name: str, program: CoreProgram) -> tuple[Node, ...]:
    function = program.functions.get(name)
    if function is not None:
        body: tuple[Node, ...] = () if function.body is None else (function.body,)
        return (*function.requires, *function.ensures, *function.decreases, *body)
    lemma = program.lemmas[name]
    return (*lemma.requires, *lemma.ensures, *lemma.decreases, *(lemma.body or ()))
