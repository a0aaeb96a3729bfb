"""Declarations and whole programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from maxproof.formal.syntax.ast.expressions import Attribute, Binder, Expr, Node, Type
from maxproof.formal.syntax.ast.statements import Clause, Stmt


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function or predicate. `body` is None where there is none; `result_name` is "" for an unnamed result.

    `ghost` is what the source says of it; in this fragment every function is a ghost, and each dialect's printer writes
    it so.
    """

    name: str
    params: tuple[Binder, ...]
    result: Type
    body: Expr | None
    result_name: str = ""
    requires: tuple[Clause, ...] = ()
    ensures: tuple[Clause, ...] = ()
    decreases: tuple[Expr, ...] = ()
    predicate: bool = False
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Lemma(Node):
    """`body` is None for a lemma without one (an axiom), an empty tuple for `{}`."""

    name: str
    params: tuple[Binder, ...]
    body: tuple[Stmt, ...] | None
    results: tuple[Binder, ...] = ()
    requires: tuple[Clause, ...] = ()
    ensures: tuple[Clause, ...] = ()
    decreases: tuple[Expr, ...] = ()
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Constructor(Node):
    name: str
    fields: tuple[Binder, ...]


@dataclass(frozen=True, slots=True)
class Datatype(Node):
    name: str
    constructors: tuple[Constructor, ...]
    attributes: tuple[Attribute, ...] = ()


Declaration: TypeAlias = Function | Lemma | Datatype


@dataclass(frozen=True, slots=True)
class Program:
    """Declarations in order. Names are unique over all of them."""

    declarations: tuple[Declaration, ...]

    def __getitem__(self, name: str) -> Declaration:
        """Raises KeyError for an unknown name."""
        for declaration in self.declarations:
            if declaration.name == name:
                return declaration
        raise KeyError(name)

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        return tuple(d for d in self.declarations if isinstance(d, Lemma))
