"""The top level: what is declared, with which types, before any body is looked at."""

from __future__ import annotations

from collections.abc import Mapping

from maxproof.formal.checkers.types import Diagnostic
from maxproof.formal.embedded.core import (
    CoreConstructor,
    CoreDatatype,
    DataOf,
    FunctionOf,
    SeqOf,
    SetOf,
    Sort,
    TupleOf,
)
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.scope import Case, Signature, Signatures, Unit
from maxproof.formal.embedded.resolve.types import Type, Unknown
from maxproof.formal.syntax import ast


def signatures(program: ast.Program, problems: list[Diagnostic], cases: Mapping[type, Case]) -> Signatures:
    """Everything declared in `program`. Reports names declared twice, unknown types, and datatypes without a value."""
    known = Signatures()
    unit = Unit(known, cases, problems)
    seen: set[str] = set()
    for declaration in program.declarations:
        if declaration.name in seen:
            unit.report(f"{declaration.name} is declared twice", declaration.at)
        seen.add(declaration.name)
        if isinstance(declaration, ast.Datatype):
            known.datatypes[declaration.name] = CoreDatatype(declaration.name, ())
    for declaration in program.declarations:
        if isinstance(declaration, ast.Datatype):
            _datatype(unit, declaration)
    for declaration in program.declarations:
        if isinstance(declaration, ast.Datatype):
            _check_values(unit, declaration)
            continue
        if declaration.name in known.constructors:
            unit.report(f"{declaration.name} is a constructor already", declaration.at)
        params = tuple([_type(unit, binder) for binder in declaration.params])
        if isinstance(declaration, ast.Function):
            result = unit.type(result_type(declaration))
            signature = Signature("function", params, (result,), bool(declaration.requires))
        else:
            signature = Signature("lemma", params, tuple([_type(unit, binder) for binder in declaration.results]))
        known.callables.setdefault(declaration.name, signature)
    return known


def result_type(function: ast.Function) -> ast.Type:
    return ast.NamedType("bool", at=function.at) if function.predicate else function.result


def _type(unit: Unit, binder: ast.Binder) -> Type:
    if binder.type is None:
        unit.report(f"the type of {binder.name} must be written, as in {binder.name}: int", binder.at)
        return Unknown(error=True)
    return unit.type(binder.type)


def _datatype(unit: Unit, declaration: ast.Datatype) -> None:
    known = unit.signatures
    constructors: list[CoreConstructor] = []
    types: dict[str, Type] = {}
    for written in declaration.constructors:
        if any(written.name == other.name for other in constructors):
            unit.report(f"constructor {written.name} is declared twice", written.at)
        fields: list[tuple[str, Sort]] = []
        for place, binder in enumerate(written.fields):
            name = binder.name or str(place)
            sort = _type(unit, binder)
            if name in dict(fields):
                unit.report(f"field {name} is declared twice", binder.at)
            elif types.setdefault(name, sort) != sort and not isinstance(sort, Unknown):
                unit.report(f"field {name} has another type in another constructor", binder.at)
            if not isinstance(sort, Unknown):
                fields.append((name, sort))
        constructors.append(CoreConstructor(written.name, tuple(fields)))
    known.datatypes[declaration.name] = CoreDatatype(declaration.name, tuple(constructors))
    for constructor in constructors:
        known.constructors.setdefault(constructor.name, []).append((declaration.name, constructor))


def _check_values(unit: Unit, declaration: ast.Datatype) -> None:
    """It must have a finite value, and may contain itself only directly or in sequences and tuples."""
    datatypes = unit.signatures.datatypes
    for constructor in datatypes[declaration.name].constructors:
        for _, sort in constructor.fields:
            if _hidden(sort, declaration.name, datatypes, False, frozenset()):
                raise Unsupported(f"datatype {declaration.name} inside a set or a function of itself", declaration.at)
    inhabited: set[str] = set()
    size = -1
    while size < len(inhabited):
        size = len(inhabited)
        for name, datatype in datatypes.items():
            if any(all(_has_value(sort, inhabited) for _, sort in c.fields) for c in datatype.constructors):
                inhabited.add(name)
    if declaration.name not in inhabited:
        unit.report(f"datatype {declaration.name} has no value: each constructor needs another one", declaration.at)


def _has_value(sort: Sort, inhabited: set[str]) -> bool:
    match sort:
        case DataOf():
            return sort.name in inhabited
        case TupleOf():
            return all(_has_value(item, inhabited) for item in sort.items)
        case FunctionOf():
            return _has_value(sort.result, inhabited)
    return True


def _hidden(
    sort: Sort, name: str, datatypes: Mapping[str, CoreDatatype], inside: bool, seen: frozenset[tuple[str, bool]]
) -> bool:
    """The datatype `name` is reached from `sort` through a set or a function."""
    match sort:
        case SetOf():
            return _hidden(sort.element, name, datatypes, True, seen)
        case FunctionOf():
            return any(_hidden(part, name, datatypes, True, seen) for part in (*sort.params, sort.result))
        case SeqOf():
            return _hidden(sort.element, name, datatypes, inside, seen)
        case TupleOf():
            return any(_hidden(item, name, datatypes, inside, seen) for item in sort.items)
        case DataOf():
            if sort.name == name and inside:
                return True
            if (sort.name, inside) in seen:
                return False
            seen = seen | {(sort.name, inside)}
            fields = [part for constructor in datatypes[sort.name].constructors for _, part in constructor.fields]
            return any(_hidden(part, name, datatypes, inside, seen) for part in fields)
    return False
