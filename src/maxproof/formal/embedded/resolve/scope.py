"""Where a declaration is resolved: the signatures, the names taken, the errors found, the questions that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from maxproof.formal.checkers.types import Diagnostic
from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    CoreConstructor,
    CoreDatatype,
    DataOf,
    Sort,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import fresh_name
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.types import (
    Type,
    Unknown,
    Variable,
    function_of,
    mistaken,
    seq_of,
    set_of,
    show_type,
    solved,
    tuple_of,
    unify,
)
from maxproof.formal.syntax import ast
from maxproof.formal.syntax.ast import Position
from maxproof.problems.errors import nearest

MAX_NESTING = 200
"""Levels of nesting that terms may have: every later walk recurses over them."""


MAX_SIZE = 200_000
"""Terms that one declaration may have, counted as trees."""


class Signature(NamedTuple):
    """A function or lemma as its callers see it."""

    kind: str  # function or lemma
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    partial: bool = False  # it has preconditions


@dataclass(slots=True)
class Signatures:
    """Everything that is declared at the top level, by name."""

    datatypes: dict[str, CoreDatatype] = field(default_factory=dict)
    constructors: dict[str, list[tuple[str, CoreConstructor]]] = field(default_factory=dict)
    callables: dict[str, Signature] = field(default_factory=dict)

    def names(self) -> set[str]:
        return {*self.datatypes, *self.constructors, *self.callables}


@dataclass(eq=False, slots=True)
class Version:
    """A variable between two assignments. `name` is its name in the core."""

    variable: Variable
    name: str

    def var(self, at: Position) -> Var:
        return Var(self.name, self.variable.settled(), at=at)


Env: TypeAlias = Mapping[str, Version]


class Typed(NamedTuple):
    """A resolved expression: its type, and how to build its term once all types are settled."""

    type: Type
    build: Callable[[], Term]


Case: TypeAlias = Callable[["Unit", Env, Any, Type | None], Typed]
"""Resolves one kind of expression; the last argument is the type that its place expects, if known."""


@dataclass(eq=False, slots=True)
class Unit:
    """The declaration being resolved.

    Attributes:
        cases: how each kind of expression is resolved.
        used: names of the core variables made so far.
        variables: every source variable with its place.
        depth: how deep the expression or statement at hand is nested.
        size: terms made so far, where a term that will stand in several places counts as often: `copies` at the moment.
        result_call: in a function's postconditions, its name, parameters and result: its own call with just these
            parameters means the result.
        open: questions that wait for a type: each returns True once it is answered, and reports when `final`.
    """

    signatures: Signatures
    cases: Mapping[type, Case]
    problems: list[Diagnostic]
    used: set[str] = field(default_factory=set)
    open: list[Callable[[bool], bool]] = field(default_factory=list)
    variables: list[tuple[Variable, Position]] = field(default_factory=list)
    depth: int = 0
    size: int = 0
    copies: int = 1
    result_call: tuple[str, tuple[Variable, ...], Version] | None = None

    @contextmanager
    def copied(self, times: int) -> Iterator[None]:
        """What is inferred inside will stand in the core `times` times."""
        before = self.copies
        self.copies *= times
        try:
            yield
        finally:
            self.copies = before

    def report(self, message: str, at: Position) -> None:
        problem = Diagnostic(message, at)
        if problem not in self.problems:
            self.problems.append(problem)

    def mistake(self, message: str, at: Position) -> Typed:
        """Reports it; the result agrees with every type, so that one mistake gives one message."""
        self.report(message, at)
        return Typed(Unknown(error=True), _unbuilt)

    def fresh(self, name: str) -> str:
        """A name no other variable of this declaration has: `name` itself while it is free."""
        new = fresh_name(name, self.used) if name in self.used else name
        self.used.add(new)
        return new

    def agree(self, found: Type, expected: Type, at: Position, what: str = "") -> None:
        """Unifies them, or reports that they differ."""
        if not unify(found, expected) and not (mistaken(found) or mistaken(expected)):
            of = f" of {what}" if what else ""
            self.report(f"wrong type{of}: expected {show_type(expected)}, found {show_type(found)}", at)

    def later(self, question: Callable[[bool], bool]) -> None:
        """Asks now, and again whenever more is known."""
        if not question(False):
            self.open.append(question)

    def settle(self) -> None:
        """Answers what can be answered by now."""
        progress = True
        while progress and self.open:
            waiting = [question for question in self.open if not question(False)]
            progress = len(waiting) < len(self.open)
            self.open = waiting

    def finish(self) -> None:
        """Answers all questions; those that can't be are reported. Then every variable has a sort."""
        self.settle()
        for question in self.open:
            question(True)
        self.open = []
        unclear = [pair for pair in self.variables if pair[0].unclear()]
        if unclear and not self.problems:
            name = unclear[0][0].name
            raise Unsupported(f"the type of {name}, which is left open (write it, as in {name}: int)", unclear[0][1])
        for variable, at in self.variables:
            if not solved(variable.type) and not mistaken(variable.type):
                self.report(f"the type of {variable.name} can't be inferred: write it, as in {variable.name}: int", at)

    def variable(self, binder: ast.Binder, kind: str) -> Variable:
        """A new source variable with its written type, or an unknown one."""
        written = binder.type is not None
        type_: Type = Unknown() if binder.type is None else self.type(binder.type)
        variable = Variable(binder.name, type_, written, kind)
        self.variables.append((variable, binder.at))
        return variable

    def bind(self, env: Env, binders: Iterable[ast.Binder], kind: str) -> tuple[dict[str, Version], list[Version]]:
        """`env` with `binders` in it, and their versions in order. `_` binds nothing that can be named."""
        inner = dict(env)
        versions: list[Version] = []
        for binder in binders:
            version = Version(self.variable(binder, kind), self.fresh(binder.name))
            if binder.name != "_":
                if any(binder.name == other.variable.name for other in versions):
                    self.report(f"{binder.name} is bound twice", binder.at)
                inner[binder.name] = version
            versions.append(version)
        return inner, versions

    def type(self, written: ast.Type) -> Type:
        """The sort of a written type; reports unknown names and wrong numbers of arguments."""
        match written:
            case ast.TupleType():
                return tuple_of(tuple(map(self.type, written.items)))
            case ast.FunctionType():
                if written.arrow == "~>":
                    raise Unsupported("a function that reads the heap (~>)", written.at)
                params = tuple(map(self.type, written.params))
                return function_of(params, self.type(written.result), written.arrow == "->")
        args = tuple(map(self.type, written.args))
        name = written.name
        if name in ("set", "iset", "seq"):
            if len(args) != 1:
                self.report(f"{name} takes one type, as in {name}<int>", written.at)
                return Unknown(error=True)
            return seq_of(args[0]) if name == "seq" else set_of(args[0], name == "set")
        if name in _OUTSIDE:
            raise Unsupported(f"type {name}", written.at)
        known = _BASIC.get(name) or (DataOf(name) if name in self.signatures.datatypes else None)
        if known is None:
            hint = nearest(name, [*_BASIC, "set", "iset", "seq", *self.signatures.datatypes])
            self.report(joined(f"unknown type {name}", hint), written.at)
            return Unknown(error=True)
        if args:
            self.report(f"{name} takes no types", written.at)
        return known


def joined(message: str, hint: str) -> str:
    return f"{message}: {hint}" if hint else message


def _unbuilt() -> Term:
    raise AssertionError("a term with a reported mistake is never built")


_BASIC: dict[str, Sort] = {"int": INT, "nat": NAT, "real": REAL, "bool": BOOL}
_OUTSIDE = {"multiset", "map", "imap", "char", "string", "object", "array", "ORDINAL", "bv", "array2"}
