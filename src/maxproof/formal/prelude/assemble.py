"""Self-contained programs: declarations with just what they use of the prelude, so that checkers get short files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from maxproof.formal.checkers.types import CheckTask
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Attribute, Datatype, Declaration, Lemma, Program
from maxproof.formal.syntax.walk import names_used
from maxproof.problems import InputError


def assemble(declarations: Sequence[Declaration], targets: Iterable[str]) -> CheckTask:
    """The task to verify `targets`: the part of the prelude that `declarations` and `targets` reach, then these.

    Prelude declarations come in the prelude's order. A lemma of the prelude that is no target is given without its
    proof, marked `{:axiom}`, and what only its proof uses is left out; functions stand as in the prelude.

    Args:
        targets: names from `declarations` or of the prelude (then that declaration is verified in full).

    Raises:
        InputError: a declaration has the name of another one or of the prelude, or a target is not declared.
    """
    known = _prelude_declarations()
    own = _names(declarations)
    clashes = sorted(own & known.names)
    if clashes:
        raise InputError(f"{clashes[0]} is a name of the prelude", hint="give the declaration another name")
    wanted = tuple(dict.fromkeys(targets))
    for name in wanted:
        if name not in own and name not in known.by_name:
            raise InputError(f"there is no declaration {name} to check")
    proved = frozenset(wanted)
    chosen: set[str] = set()
    waiting = [name for name in wanted if name in known.by_name]
    for declaration in declarations:
        waiting.extend(known.owners(names_used(declaration)))
    while waiting:
        name = waiting.pop()
        if name not in chosen:
            chosen.add(name)
            waiting.extend(known.reached(name, name in proved))
    used = tuple(known.given(name, name in proved) for name in known.by_name if name in chosen)
    return CheckTask(Program((*used, *declarations)), wanted)


def _names(declarations: Sequence[Declaration]) -> frozenset[str]:
    """Every name that they declare, datatypes' constructors included."""
    found: set[str] = set()
    for declaration in declarations:
        names = {declaration.name}
        if isinstance(declaration, Datatype):
            names |= {constructor.name for constructor in declaration.constructors}
        if found & names:
            raise InputError(f"{min(found & names)} is declared twice")
        found |= names
    return frozenset(found)


class _Known:
    """The prelude's declarations by name, in order, and what each of them needs."""

    def __init__(self, declarations: Sequence[Declaration]) -> None:
        self.by_name = {declaration.name: declaration for declaration in declarations}
        self.names = _names(declarations)
        self._owner = {name: name for name in self.by_name}
        for declaration in declarations:
            if isinstance(declaration, Datatype):
                self._owner |= {constructor.name: declaration.name for constructor in declaration.constructors}
        self._stated = {name: _stated(declaration) for name, declaration in self.by_name.items()}
        self._reached: dict[tuple[str, bool], tuple[str, ...]] = {}

    def owners(self, names: Iterable[str]) -> tuple[str, ...]:
        """The prelude's declarations that declare one of `names`."""
        return tuple(sorted({self._owner[name] for name in names if name in self._owner}))

    def given(self, name: str, proved: bool) -> Declaration:
        return self.by_name[name] if proved else self._stated[name]

    def reached(self, name: str, proved: bool) -> tuple[str, ...]:
        key = (name, proved)
        if key not in self._reached:
            self._reached[key] = self.owners(names_used(self.given(name, proved)))
        return self._reached[key]


def _stated(declaration: Declaration) -> Declaration:
    """A lemma without its proof; other declarations as they are."""
    if not isinstance(declaration, Lemma) or declaration.body is None:
        return declaration
    return replace(declaration, body=None, attributes=(*declaration.attributes, Attribute("axiom")))


@cache
def _prelude_declarations() -> _Known:
    known = prelude()
    return _Known((*known.definitions.declarations, *known.library.declarations))
