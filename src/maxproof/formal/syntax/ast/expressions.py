"""Places, types and expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from maxproof.formal.syntax.ast.statements import Stmt


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a node begins in its source: 1-based line and column. (0, 0) for a node that no text gave."""

    line: int = 0
    column: int = 0


NOWHERE = Position()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the source."""

    at: Position = field(default=NOWHERE, compare=False, repr=False)


# Types


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`int`, `nat`, `real`, `bool`, `set<T>`, `iset<T>`, `seq<T>`, or the name of a datatype."""

    name: str
    args: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class TupleType(Node):
    """`(T, U)`: two or more items."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class FunctionType(Node):
    """`T -> U` (total), `T --> U` (partial) or `T ~> U` (partial, may read the heap)."""

    params: tuple[Type, ...]
    result: Type
    arrow: Literal["->", "-->", "~>"] = "->"


Type: TypeAlias = NamedType | TupleType | FunctionType


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """A bound variable or a parameter; `type` is None where it was left to inference."""

    name: str
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`{:name args}` or `@name(args)`; a string argument is kept as a `StringLiteral`."""

    name: str
    args: tuple[Expr, ...] = ()
    form: Literal["brace", "at"] = "brace"


# Expressions


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    value: int


@dataclass(frozen=True, slots=True)
class RealLiteral(Node):
    """A decimal such as `0.25`, held exactly."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class StringLiteral(Node):
    """Occurs as an attribute's argument only."""

    value: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: Literal["!", "-"]
    operand: Expr


@dataclass(frozen=True, slots=True)
class Cardinality(Node):
    """`|s|` of a set or a sequence."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic and logic. Comparisons are `Comparison`."""

    op: Literal["<==>", "==>", "<==", "&&", "||", "+", "-", "*", "/", "%"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`a < b <= c`: len(ops) == len(operands) - 1 >= 1."""

    operands: tuple[Expr, ...]
    ops: tuple[Literal["==", "!=", "<", "<=", ">", ">=", "in", "!in", "!!"], ...]


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """A call of a function, lemma, constructor or function value."""

    function: Expr
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`e.name`: a datatype's field, a tuple's `.0`, a constructor test `.C?`, or a real's `.Floor`."""

    value: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Index(Node):
    value: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`s[low..high]`; a missing end is None."""

    value: Expr
    low: Expr | None
    high: Expr | None


@dataclass(frozen=True, slots=True)
class Update(Node):
    """`s[index := item]`."""

    value: Expr
    index: Expr
    item: Expr


@dataclass(frozen=True, slots=True)
class TupleExpr(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SetDisplay(Node):
    """`{a, b}` or `iset{a, b}`."""

    items: tuple[Expr, ...]
    finite: bool = True


@dataclass(frozen=True, slots=True)
class SeqDisplay(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SeqInit(Node):
    """`seq(length, function)`."""

    length: Expr
    function: Expr


@dataclass(frozen=True, slots=True)
class IfExpr(Node):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class LetExpr(Node):
    """`var x, y := a, b; body`, or with `such_that`: `var x :| P; body` (then `values` holds the one predicate)."""

    binders: tuple[Binder, ...]
    values: tuple[Expr, ...]
    body: Expr
    such_that: bool = False


@dataclass(frozen=True, slots=True)
class LambdaExpr(Node):
    """`(x: int) requires P => body`."""

    params: tuple[Binder, ...]
    body: Expr
    requires: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantifier(Node):
    """`forall x: int, y {:trigger f(x)} | range :: body`."""

    kind: Literal["forall", "exists"]
    binders: tuple[Binder, ...]
    body: Expr
    range: Expr | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """`set x: int | range :: term` (or iset); `term` is None where it is the bound variable itself."""

    binders: tuple[Binder, ...]
    range: Expr
    term: Expr | None = None
    finite: bool = True
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class AsExpr(Node):
    """`e as real`."""

    value: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class MatchCase(Node):
    """`case C(x, y) => body` (statements in a match statement); `constructor` is "_" for the wildcard."""

    constructor: str
    binders: tuple[Binder, ...]
    body: Expr | tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class MatchExpr(Node):
    value: Expr
    cases: tuple[MatchCase, ...]


@dataclass(frozen=True, slots=True)
class StmtExpr(Node):
    """`assert P; e` or `L(x); e` inside an expression."""

    statement: Stmt
    value: Expr


Expr: TypeAlias = (
    IntLiteral
    | RealLiteral
    | BoolLiteral
    | StringLiteral
    | Name
    | Unary
    | Cardinality
    | Binary
    | Comparison
    | Apply
    | Member
    | Index
    | Slice
    | Update
    | TupleExpr
    | SetDisplay
    | SeqDisplay
    | SeqInit
    | IfExpr
    | LetExpr
    | LambdaExpr
    | Quantifier
    | Comprehension
    | AsExpr
    | MatchExpr
    | StmtExpr
)
