"""`value.name`: fields of datatypes, items of tuples, constructor tests, `.Floor`."""

from __future__ import annotations

from collections.abc import Iterator

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    REAL,
    Builtin,
    CoreDatatype,
    DataOf,
    Field,
    Is,
    Op,
    Sort,
    Term,
    TupleOf,
)
from maxproof.formal.embedded.resolve.scope import Typed, Unit, joined
from maxproof.formal.embedded.resolve.types import Type, Unknown, head, show_type
from maxproof.formal.syntax.ast import Position
from maxproof.problems.errors import nearest


def member(unit: Unit, value: Typed, name: str, at: Position) -> Typed:
    """The type of `value` may become known later, so the result's is an unknown until then."""
    result = Unknown()

    def question(final: bool) -> bool:
        type_ = head(value.type)
        if isinstance(type_, Unknown):
            if final and not type_.error:
                unit.report(f"the type of what .{name} is taken of can't be inferred", at)
            return type_.error
        found = _member_type(unit, type_, name)
        if isinstance(found, str):
            unit.report(found, at)
            found = Unknown(error=True)
        unit.agree(found, result, at, f"the member {name}")
        return True

    unit.later(question)

    def build() -> Term:
        whole = value.build()
        match whole.sort:
            case TupleOf(items=items):
                return Field(whole, name, items[int(name)], at=at)
            case DataOf(name=datatype):
                if name.endswith("?"):
                    return Is(whole, name[:-1], at=at)
                return Field(whole, name, dict(fields(unit.signatures.datatypes[datatype]))[name], at=at)
        return Builtin(Op.FLOOR, (whole,), INT, at=at)

    return Typed(result, build)


def fields(datatype: CoreDatatype) -> Iterator[tuple[str, Sort]]:
    for constructor in datatype.constructors:
        yield from constructor.fields


def _member_type(unit: Unit, type_: Type, name: str) -> Type | str:
    """The type of the member, or what is wrong."""
    if type_ == REAL and name == "Floor":
        return INT
    if isinstance(type_, TupleOf):
        if name.isdecimal() and name.isascii() and len(name) < 4 and int(name) < len(type_.items):
            return type_.items[int(name)]
        return f"{show_type(type_)} has no item {name}"
    if isinstance(type_, DataOf):
        datatype = unit.signatures.datatypes[type_.name]
        if any(name == f"{constructor.name}?" for constructor in datatype.constructors):
            return BOOL
        known = dict(fields(datatype))
        return known.get(name) or joined(f"{type_.name} has no member {name}", nearest(name, known))
    return f"{show_type(type_)} has no member {name}"
