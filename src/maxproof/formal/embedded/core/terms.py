"""Sorts and terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from maxproof.formal.syntax.ast import NOWHERE, Position

if TYPE_CHECKING:
    from maxproof.formal.embedded.core.steps import Step


@dataclass(frozen=True, slots=True)
class Basic:
    """A built-in type. `nat` is the subset of int: same values, and a constraint wherever a value of it appears."""

    name: Literal["int", "nat", "real", "bool"]


INT, NAT, REAL, BOOL = Basic("int"), Basic("nat"), Basic("real"), Basic("bool")


@dataclass(frozen=True, slots=True)
class SetOf:
    element: Sort
    finite: bool = True


@dataclass(frozen=True, slots=True)
class SeqOf:
    element: Sort


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[Sort, ...]


@dataclass(frozen=True, slots=True)
class FunctionOf:
    """`total` is Dafny's `->`; a partial function (`-->`) carries a precondition that each call must meet."""

    params: tuple[Sort, ...]
    result: Sort
    total: bool = True


@dataclass(frozen=True, slots=True)
class DataOf:
    """A datatype, by name; its constructors are in `CoreProgram.datatypes`."""

    name: str


Sort: TypeAlias = Basic | SetOf | SeqOf | TupleOf | FunctionOf | DataOf


class Op(StrEnum):
    """Built-in operators. In brackets: argument sorts and result. Int stands for int and nat."""

    NEG = "neg"  # (Int) Int, (real) real
    ADD = "add"  # (Int, Int) Int, (real, real) real
    SUB = "sub"
    MUL = "mul"
    DIV = "div"  # Euclidean on Int (remainder in [0, |divisor|)), exact on real; the divisor must not be 0
    MOD = "mod"  # Euclidean, Int only; the divisor must not be 0
    LT = "lt"  # (Int, Int) or (real, real): bool; > and >= are written the other way round
    LE = "le"
    EQ = "eq"  # any two terms of one sort (int and nat count as one): bool; != is NOT of it
    NOT = "not"
    AND = "and"  # any number >= 2 of bool, read left to right: an operand may rely on those before it
    OR = "or"  # likewise: an operand may rely on those before it being false
    IMPLIES = "implies"  # (bool, bool); <== is written the other way round
    IFF = "iff"
    ITE = "ite"  # (bool, T, T) T
    TO_REAL = "to_real"  # (Int) real
    TO_INT = "to_int"  # (real) int: `as int`, defined only for an integral value
    FLOOR = "floor"  # (real) int
    IN = "in"  # (T, set or iset or seq of T) bool
    CARD = "card"  # (finite set or seq) nat
    SET = "set"  # display: (T, ...) set of T
    UNION = "union"
    INTERSECT = "intersect"
    MINUS = "minus"
    SUBSET = "subset"  # <= on sets
    PROPER_SUBSET = "proper_subset"
    DISJOINT = "disjoint"
    SEQ = "seq"  # display
    SEQ_INIT = "seq_init"  # (Int length, function from int) seq
    CONCAT = "concat"
    AT = "at"  # (seq, Int)
    SLICE = "slice"  # (seq, Int low, Int high)
    SEQ_UPDATE = "seq_update"  # (seq, Int, T) seq
    PREFIX = "prefix"  # <= on seqs
    TUPLE = "tuple"  # (T, U, ...) tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var(Placed):
    """A variable. Names are unique within a declaration (shadowing was renamed away), so substitution can't capture."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Int(Placed):
    value: int

    @property
    def sort(self) -> Sort:
        return INT


@dataclass(frozen=True, slots=True)
class Real(Placed):
    value: Fraction

    @property
    def sort(self) -> Sort:
        return REAL


@dataclass(frozen=True, slots=True)
class Bool(Placed):
    value: bool

    @property
    def sort(self) -> Sort:
        return BOOL


@dataclass(frozen=True, slots=True)
class Builtin(Placed):
    op: Op
    args: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class Call(Placed):
    """A call of a declared function: `name` is a key of `CoreProgram.functions`."""

    name: str
    args: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class Invoke(Placed):
    """A call of a function value."""

    function: Term
    args: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class FunctionValue(Placed):
    """A declared function used as a value."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Lambda(Placed):
    """`requires` is the conjunction of its preconditions (`Bool(True)` where there is none)."""

    params: tuple[Var, ...]
    body: Term
    sort: Sort
    requires: Term = Bool(True)


@dataclass(frozen=True, slots=True)
class Construct(Placed):
    """`C(args)` of a datatype."""

    constructor: str
    args: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class Field(Placed):
    """`value.name`: a datatype's field, or item number `name` ("0", "1", ...) of a tuple.

    For a datatype with several constructors it is defined only where the value was made by one that has the field.
    """

    value: Term
    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Is(Placed):
    """`value.C?`."""

    value: Term
    constructor: str

    @property
    def sort(self) -> Sort:
        return BOOL


@dataclass(frozen=True, slots=True)
class Quant(Placed):
    """`forall vars | range :: body`. The range is kept apart: its variables' nat constraints are not part of it.

    Attributes:
        triggers: each a tuple of terms that must all match, as the user wrote them; empty where the user wrote none.
    """

    kind: Literal["forall", "exists"]
    vars: tuple[Var, ...]
    range: Term
    body: Term
    triggers: tuple[tuple[Term, ...], ...] = ()

    @property
    def sort(self) -> Sort:
        return BOOL


@dataclass(frozen=True, slots=True)
class SetComp(Placed):
    """`set vars | range :: term`; `sort` is a `SetOf`."""

    vars: tuple[Var, ...]
    range: Term
    term: Term
    sort: Sort


@dataclass(frozen=True, slots=True)
class Let(Placed):
    """`var v := value; body`. One variable each."""

    var: Var
    value: Term
    body: Term

    @property
    def sort(self) -> Sort:
        return self.body.sort


@dataclass(frozen=True, slots=True)
class Choose(Placed):
    """`var vars :| predicate; body`."""

    vars: tuple[Var, ...]
    predicate: Term
    body: Term

    @property
    def sort(self) -> Sort:
        return self.body.sort


@dataclass(frozen=True, slots=True)
class Proved(Placed):
    """A statement in front of an expression (`assert P; e`): `value` may rely on what `statements` prove."""

    statements: tuple[Step, ...]
    value: Term

    @property
    def sort(self) -> Sort:
        return self.value.sort


Term: TypeAlias = (
    Var
    | Int
    | Real
    | Bool
    | Builtin
    | Call
    | Invoke
    | FunctionValue
    | Lambda
    | Construct
    | Field
    | Is
    | Quant
    | SetComp
    | Let
    | Choose
    | Proved
)
