"""What types say beyond the solver's sorts: natural numbers, finite sets, parts of tuples and datatypes.

And which datatypes the solver must be told of at once.
"""

from __future__ import annotations

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    Basic,
    Bool,
    Builtin,
    Call,
    Construct,
    CoreProgram,
    DataOf,
    Field,
    FunctionOf,
    Int,
    Invoke,
    Op,
    Quant,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.domains import base

FINITE = "finite#"  # (set) bool: the set is finite; no name of a program has a `#`


def constraint(value: Term, sort: Sort, core: CoreProgram, depth: int = 0) -> Term:
    """What holds of each value of `sort`, as a term over `value`; `Bool(True)` where the solver's sort says it all.

    `value` may be of a wider sort, so that its parts have the sorts that `value.sort` gives them, and the members of a
    set are taken from all whole numbers: a part that is called a natural number is taken for one.

    Raises Unsupported for a recursive datatype with constrained fields.
    """
    have = value.sort
    match sort:
        case Basic(name="nat"):
            return Builtin(Op.LE, (Int(0), value), BOOL)
        case Basic():
            return Bool(True)
        case SetOf(element=element, finite=finite):
            item = Var(f"item#{depth}", base(element))
            inner = constraint(item, element, core, depth + 1)
            parts = [Call(FINITE, (value,), BOOL)] if finite else []
            if inner != Bool(True):
                parts.append(_all((item,), Builtin(Op.IN, (item, value), BOOL), inner))  # type: ignore[arg-type]
            return conjunction(parts)
        case SeqOf(element=element):
            index = Var(f"index#{depth}", INT)
            own = have.element if isinstance(have, SeqOf) else element
            inner = constraint(Builtin(Op.AT, (value, index), own), element, core, depth + 1)
            if inner == Bool(True):
                return inner
            low = Builtin(Op.LE, (Int(0), index), BOOL)
            high = Builtin(Op.LT, (index, Builtin(Op.CARD, (value,), NAT)), BOOL)
            return _all((index,), conjunction([low, high]), inner)
        case FunctionOf(params=params, result=result, total=True):
            args = tuple(Var(f"argument{i}#{depth}", param) for i, param in enumerate(params))
            own = have.result if isinstance(have, FunctionOf) else result
            inner = constraint(Invoke(value, args, own), result, core, depth + 1)
            return inner if inner == Bool(True) else _all(args, Bool(True), inner)
        case TupleOf(items=items):
            pairs = zip(parts_of(value, core), items, strict=True)
            return conjunction(constraint(part, item, core, depth + 1) for part, item in pairs)
        case DataOf() if is_product(sort, core):
            fields = parts_of(value, core)
            return conjunction(constraint(part, part.sort, core, depth + 1) for part in fields)
        case DataOf(name=name):
            if _plain(name, core, frozenset()):
                return Bool(True)
            raise Unsupported(f"datatype {name} with constrained fields in several constructors", value.at)
    return Bool(True)


def _all(bound: tuple[Var, ...], bounds: Term, body: Term) -> Term:
    return Quant("forall", bound, bounds, body)


def is_product(sort: Sort, core: CoreProgram) -> bool:
    """A tuple, or a datatype with one constructor that doesn't contain itself."""
    if isinstance(sort, TupleOf):
        return True
    if not isinstance(sort, DataOf) or len(core.datatypes[sort.name].constructors) != 1:
        return False
    seen: set[str] = set()
    pending: list[Sort] = [s for _, s in core.datatypes[sort.name].constructors[0].fields]
    while pending:
        match pending.pop():
            case DataOf(name=name):
                if name == sort.name:
                    return False
                if name not in seen:
                    seen.add(name)
                    pending += [s for c in core.datatypes[name].constructors for _, s in c.fields]
            case TupleOf(items=items):
                pending += items
            case SetOf(element=element) | SeqOf(element=element):
                pending.append(element)
            case FunctionOf(params=params, result=result):
                pending += [*params, result]
    return True


def parts_of(value: Term, core: CoreProgram) -> list[Field]:
    """The fields of a product, as terms."""
    sort = value.sort
    if isinstance(sort, TupleOf):
        return [Field(value, str(i), item) for i, item in enumerate(sort.items)]
    assert isinstance(sort, DataOf)
    return [Field(value, name, field) for name, field in core.datatypes[sort.name].constructors[0].fields]


def assembled(parts: list[Term], sort: Sort, core: CoreProgram) -> Term:
    """The product with these fields."""
    if isinstance(sort, TupleOf):
        return Builtin(Op.TUPLE, tuple(parts), sort)
    assert isinstance(sort, DataOf)
    return Construct(core.datatypes[sort.name].constructors[0].name, tuple(parts), sort)


def _plain(name: str, core: CoreProgram, above: frozenset[str]) -> bool:
    """No value of the datatype is constrained anywhere inside."""
    if name in above:
        return True
    inner = above | {name}
    return all(_plain_sort(s, core, inner) for c in core.datatypes[name].constructors for _, s in c.fields)


def _plain_sort(sort: Sort, core: CoreProgram, above: frozenset[str]) -> bool:
    match sort:
        case Basic(name=name):
            return name != "nat"
        case SetOf(element=element, finite=finite):
            return not finite and _plain_sort(element, core, above)
        case SeqOf(element=element):
            return _plain_sort(element, core, above)
        case TupleOf(items=items):
            return all(_plain_sort(item, core, above) for item in items)
        case FunctionOf(result=result):
            return _plain_sort(result, core, above)
        case DataOf(name=name):
            return _plain(name, core, above)


def recursive_group(name: str, core: CoreProgram) -> list[str]:
    """The datatype `name` and those that contain it and are contained in it, which are declared at once.

    Raises Unsupported for one that contains itself by way of another type, as a sequence.
    """
    reached = _contained(name, core)
    group = [name, *(other for other in reached if other != name and name in _contained(other, core))]
    for member in group:
        for constructor in core.datatypes[member].constructors:
            for _, sort in constructor.fields:
                if not isinstance(sort, DataOf) and _datatypes_in(sort) & set(group):
                    raise Unsupported(f"datatype {name} that contains itself inside another type")
    return group


def _contained(name: str, core: CoreProgram) -> list[str]:
    """Names of the datatypes that a value of `name` may contain, sorted."""
    found: set[str] = set()
    pending = [name]
    while pending:
        for constructor in core.datatypes[pending.pop()].constructors:
            for _, sort in constructor.fields:
                fresh = _datatypes_in(sort) - found
                found |= fresh
                pending.extend(fresh)
    return sorted(found)


def _datatypes_in(sort: Sort) -> set[str]:
    match sort:
        case DataOf(name=inner):
            return {inner}
        case SetOf(element=element) | SeqOf(element=element):
            return _datatypes_in(element)
        case TupleOf(items=items):
            return set().union(*map(_datatypes_in, items))
        case FunctionOf(params=params, result=result):
            return set().union(*map(_datatypes_in, (*params, result)))
    return set()
