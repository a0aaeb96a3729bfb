"""Types while they are inferred: sorts with unknowns in them, solved by unification.

`nat` has the values of `int`, so unification takes the two as one, and an unknown is always solved to a type without
`nat`. Where a value is a natural number by its declaration is kept beside: in the declared sorts themselves, which the
built terms carry upwards, and for a variable without a written type in how it is used (`Variable.sort`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, cast

from maxproof.formal.embedded.core import (
    INT,
    NAT,
    Basic,
    DataOf,
    FunctionOf,
    SeqOf,
    SetOf,
    Sort,
    TupleOf,
)
from maxproof.formal.embedded.core.show import show_sort


@dataclass(eq=False, slots=True)
class Unknown:
    """A type that is not known yet.

    Attributes:
        error: stands for a mistake already reported.
        natural: it was put equal to nat somewhere, though its solution is int.
    """

    solution: Type | None = None
    error: bool = False
    natural: bool = False


Type: TypeAlias = Basic | SetOf | SeqOf | TupleOf | FunctionOf | DataOf | Unknown
"""A sort in whose parts unknowns may stand."""


def head(type_: Type) -> Type:
    """`type_` with solved unknowns at its root replaced."""
    while isinstance(type_, Unknown) and type_.solution is not None:
        type_ = type_.solution
    return type_


def _root(type_: Type) -> Unknown | None:
    """The unknown that stands for all that were put equal to `type_`; None if it is none."""
    root = None
    while isinstance(type_, Unknown):
        root = type_
        if type_.solution is None:
            break
        type_ = type_.solution
    return root


def erase(type_: Type) -> Type:
    """`type_` without its subset types: int (marked as natural) for nat, and every function total."""
    match type_:
        case Basic():
            return Unknown(INT, natural=True) if type_ == NAT else type_
        case SetOf():
            return set_of(erase(type_.element), type_.finite)
        case SeqOf():
            return seq_of(erase(type_.element))
        case TupleOf():
            return tuple_of(tuple(map(erase, type_.items)))
        case FunctionOf():
            return function_of(tuple(map(erase, type_.params)), erase(type_.result))
    return type_


def set_of(element: Type, finite: bool = True) -> SetOf:
    return SetOf(cast(Sort, element), finite)


def seq_of(element: Type) -> SeqOf:
    return SeqOf(cast(Sort, element))


def tuple_of(items: tuple[Type, ...]) -> TupleOf:
    return TupleOf(cast(tuple[Sort, ...], items))


def function_of(params: tuple[Type, ...], result: Type, total: bool = True) -> FunctionOf:
    return FunctionOf(cast(tuple[Sort, ...], params), cast(Sort, result), total)


def unify(a: Type, b: Type) -> bool:
    """Makes the two equal up to subset types by solving unknowns; False if they can't be (some may be solved then)."""
    root_a, root_b = _root(a), _root(b)
    if root_a is not None and root_a is root_b:
        return True
    if root_a is not None and root_a.solution is None:
        return _solve(root_a, root_b or b)
    if root_b is not None and root_b.solution is None:
        return _solve(root_b, root_a or a)
    a, b = head(a), head(b)
    match a, b:
        case Basic(), Basic():
            same = a == b or {a, b} == {INT, NAT}
            if same:
                _share_naturalness(root_a, root_b, NAT in (a, b))
            return same
        case DataOf(), DataOf():
            return a == b
        case SetOf(), SetOf():
            return a.finite == b.finite and unify(a.element, b.element)
        case SeqOf(), SeqOf():
            return unify(a.element, b.element)
        case TupleOf(), TupleOf():
            return len(a.items) == len(b.items) and all(map(unify, a.items, b.items))
        case FunctionOf(), FunctionOf():
            same = len(a.params) == len(b.params) and all(map(unify, a.params, b.params))
            return same and unify(a.result, b.result)
    return False


def _solve(unknown: Unknown, type_: Type) -> bool:
    type_ = erase(type_)
    if _occurs(unknown, type_):
        return False
    if isinstance(type_, Unknown):
        type_.error = type_.error or unknown.error
        type_.natural = type_.natural or unknown.natural
    unknown.solution = type_
    return True


def _share_naturalness(a: Unknown | None, b: Unknown | None, natural: bool) -> None:
    """Two solved unknowns (or one, and a written type) become one class."""
    for root in (a, b):
        if root is not None:
            root.natural = root.natural or natural
    if a is not None and b is not None:
        b.natural = b.natural or a.natural
        a.solution = b


def _occurs(unknown: Unknown, type_: Type) -> bool:
    return any(part is unknown for part in parts(type_))


def parts(type_: Type) -> list[Type]:
    """`type_` and every type inside it, unknowns replaced where solved."""
    found: list[Type] = []
    pending: list[Type] = [type_]
    while pending:
        top = head(pending.pop())
        found.append(top)
        pending.extend(_inside(top))
    return found


def _inside(type_: Type) -> tuple[Type, ...]:
    match type_:
        case SetOf(element=element) | SeqOf(element=element):
            return (element,)
        case TupleOf():
            return type_.items
        case FunctionOf():
            return (*type_.params, type_.result)
    return ()


def solved(type_: Type) -> bool:
    return not any(isinstance(part, Unknown) for part in parts(type_))


def natural(type_: Type) -> bool:
    """A nat was lost in it: some part was put equal to nat, though unknowns are solved to int."""
    pending: list[Type] = [type_]
    while pending:
        top = pending.pop()
        root = _root(top)
        if root is not None and root.natural:
            return True
        pending.extend(_inside(head(top)))
    return False


def mistaken(type_: Type) -> bool:
    """It contains an unknown that stands for a reported mistake."""
    return any(isinstance(part, Unknown) and part.error for part in parts(type_))


def sort_of(type_: Type) -> Sort:
    """The sort that `type_` was solved to. Raises ValueError for a type that isn't `solved`."""
    if not solved(type_):
        raise ValueError("the type is not solved")
    return _filled(type_)


def join(a: Sort, b: Sort) -> Sort:
    """The smallest sort that holds the values of both, which are equal up to subset types."""
    if a == b:
        return a
    match a, b:
        case SetOf(), SetOf():
            return SetOf(join(a.element, b.element), a.finite)
        case SeqOf(), SeqOf():
            return SeqOf(join(a.element, b.element))
        case TupleOf(), TupleOf():
            return TupleOf(tuple(map(join, a.items, b.items)))
        case FunctionOf(), FunctionOf():
            params = tuple(map(_meet, a.params, b.params))
            return FunctionOf(params, join(a.result, b.result), a.total and b.total)
    return INT


def _meet(a: Sort, b: Sort) -> Sort:
    if a == b:
        return a
    match a, b:
        case SetOf(), SetOf():
            return SetOf(_meet(a.element, b.element), a.finite)
        case SeqOf(), SeqOf():
            return SeqOf(_meet(a.element, b.element))
        case TupleOf(), TupleOf():
            return TupleOf(tuple(map(_meet, a.items, b.items)))
        case FunctionOf(), FunctionOf():
            params = tuple(map(join, a.params, b.params))
            return FunctionOf(params, _meet(a.result, b.result), a.total or b.total)
    return NAT


def show_type(type_: Type) -> str:
    """As Dafny writes it; `?` for what is unknown."""
    return show_sort(_filled(type_))


def _filled(type_: Type) -> Sort:
    type_ = head(type_)
    match type_:
        case Unknown():
            return DataOf("?")
        case SetOf():
            return SetOf(_filled(type_.element), type_.finite)
        case SeqOf():
            return SeqOf(_filled(type_.element))
        case TupleOf():
            return TupleOf(tuple(map(_filled, type_.items)))
        case FunctionOf():
            return FunctionOf(tuple(map(_filled, type_.params)), _filled(type_.result), type_.total)
    return type_


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of the source: its type, and how it is used.

    Dafny decides between int and nat for a bound variable without a written type, by rules that look at each place
    where it stands. The clear cases are decided as there; for the others it must be written (`unclear`).

    Attributes:
        written: its type was written down, so that it stays as it is.
        kind: `parameter`, `result`, `local`, `lambda` (its parameter) or `bound` (by a quantifier, set or choice).
        places: where it stands by itself: handed to a parameter of type `nat` or `int`, `neutral` (no bearing on the
            type), `loose` (an int, unless another place wants a nat).
        uses, placed: how often it is named, and how often in such a place.
        sort: its final sort, once settled.
    """

    name: str
    type: Type
    written: bool
    kind: str
    places: set[str] = field(default_factory=set)
    uses: int = 0
    placed: int = 0
    sort: Sort | None = None

    def unclear(self) -> bool:
        """Its type was left open, and may be another one for Dafny than the one inferred here."""
        if self.written or self.kind not in ("bound", "lambda"):
            return False
        inner = parts(self.type)
        if any(isinstance(part, FunctionOf) for part in inner):
            return True
        if self.kind == "lambda" or "int" in self.places:
            return False
        if len(inner) > 1:
            return natural(self.type)
        if "nat" in self.places:
            return self.placed < self.uses or "loose" in self.places
        return self.placed < self.uses and natural(self.type)

    def settled(self) -> Sort:
        """The final sort. A bound variable without a written type is a nat where it is handed to nat parameters and
        never to int ones; otherwise an int. A lambda's parameter is never a nat unless it says so."""
        if self.sort is None:
            wanted = not self.written and self.kind == "bound" and "nat" in self.places and "int" not in self.places
            sort = sort_of(self.type)
            self.sort = NAT if wanted and sort == INT else sort
        return self.sort
