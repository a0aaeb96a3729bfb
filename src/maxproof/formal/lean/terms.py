"""Lean statements after elaboration: every name bound, every coercion explicit, every term typed.

The reading of a statement is settled here; `lower` and `emit` only say it again in Dafny, and `reading` evaluates it
with Lean's semantics. Types of terms may be `Meta` only while the elaborator works.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from maxproof.formal.syntax.ast import NOWHERE, Position

# Types


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number type by its Lean name, or `Prop`."""

    name: Literal["ℕ", "ℤ", "ℚ", "ℝ", "ℂ", "ℝ≥0", "ℕ+", "Prop"]

    def __str__(self) -> str:
        return self.name


NAT, INT, RAT, REAL, COMPLEX = Scalar("ℕ"), Scalar("ℤ"), Scalar("ℚ"), Scalar("ℝ"), Scalar("ℂ")
NNREAL, PNAT, PROP = Scalar("ℝ≥0"), Scalar("ℕ+"), Scalar("Prop")


@dataclass(frozen=True, slots=True)
class ZMod:
    """Integers modulo `modulus`, a term of type ℕ."""

    modulus: Term

    def __str__(self) -> str:
        return "ZMod"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A function type, curried as in Lean."""

    domain: Type
    codomain: Type

    def __str__(self) -> str:
        return f"({self.domain} → {self.codomain})"


@dataclass(frozen=True, slots=True)
class SetType:
    """`Set element`, or `Finset element`."""

    element: Type
    finite: bool

    def __str__(self) -> str:
        return f"{'Finset' if self.finite else 'Set'} {self.element}"


@dataclass(frozen=True, slots=True)
class ListType:
    element: Type

    def __str__(self) -> str:
        return f"List {self.element}"


@dataclass(frozen=True, slots=True)
class ProductType:
    """`A × B × ...`, two or more items."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return " × ".join(map(str, self.items))


@dataclass(frozen=True, slots=True)
class EquivType:
    """A bijection with its inverse, `A ≃ B`."""

    domain: Type
    codomain: Type

    def __str__(self) -> str:
        return f"{self.domain} ≃ {self.codomain}"


@dataclass(frozen=True, slots=True)
class Meta:
    """A type not known yet."""

    index: int

    def __str__(self) -> str:
        return "a type that nothing determines"


Type: TypeAlias = Scalar | ZMod | Arrow | SetType | ListType | ProductType | EquivType | Meta

# Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var(Placed):
    """A variable; `index` is unique in its statement, `name` as Lean writes it."""

    index: int
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Number(Placed):
    value: Fraction
    type: Type


@dataclass(frozen=True, slots=True)
class Cast(Placed):
    """The standard embedding of `value` into `type`."""

    value: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Arith(Placed):
    """Both operands and the result are of `type`; - is truncated on ℕ and ℝ≥0, / on ℕ and ℤ rounds (Euclid)."""

    op: Literal["+", "-", "*", "/", "%"]
    left: Term
    right: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Negate(Placed):
    value: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Inverse(Placed):
    value: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Power(Placed):
    """`base ^ exponent`; the exponent's type (ℕ, ℤ, ℝ) says which power it is."""

    base: Term
    exponent: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Compare(Placed):
    """Operands of one type; = and ≠ on any, the others on ordered types."""

    op: Literal["=", "≠", "<", "≤", ">", "≥"]
    left: Term
    right: Term
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Connective(Placed):
    op: Literal["∧", "∨", "→", "↔"]
    left: Term
    right: Term
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Not(Placed):
    value: Term
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Truth(Placed):
    value: bool
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Quantify(Placed):
    kind: Literal["∀", "∃", "∃!"]
    var: Var
    body: Term
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Fold(Placed):
    """`∑ var ∈ domain, body` or the product."""

    kind: Literal["∑", "∏"]
    var: Var
    domain: Term
    body: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Constant(Placed):
    """A function or constant of Mathlib applied to all its arguments; `name` is a key of `constants.KNOWN`."""

    name: str
    args: tuple[Term, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Invoke(Placed):
    """A function term applied to one or more arguments."""

    function: Term
    args: tuple[Term, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Lambda(Placed):
    """`type` is the Arrow from `var.type` to `body.type`."""

    var: Var
    body: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Member(Placed):
    """`collection` is a set, a finite set or a list."""

    element: Term
    collection: Term
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Subset(Placed):
    left: Term
    right: Term
    proper: bool
    type: Type = PROP


@dataclass(frozen=True, slots=True)
class Comprehension(Placed):
    """`{var | body}`, or `{var ∈ domain | body}`, also for `Finset.filter`."""

    var: Var
    domain: Term | None
    body: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Display(Placed):
    """`{a, b}` or `[a, b]`, by `type`."""

    items: tuple[Term, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Interval(Placed):
    """`low`/`high` None: unbounded on that side."""

    low: Term | None
    high: Term | None
    low_open: bool
    high_open: bool
    type: Type


@dataclass(frozen=True, slots=True)
class SetOperation(Placed):
    op: Literal["∪", "∩", "\\"]
    left: Term
    right: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Preimage(Placed):
    function: Term
    set: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Image(Placed):
    """`f '' s`; with `set` None the range of f."""

    function: Term
    set: Term | None
    type: Type


@dataclass(frozen=True, slots=True)
class ToFinset(Placed):
    """A set that a hypothesis says is finite, as a finite set."""

    set: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Tuple(Placed):
    items: tuple[Term, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Component(Placed):
    """Item `index` (from 0) of a tuple; or the function (0) or inverse (1) of an equivalence."""

    value: Term
    index: int
    type: Type


@dataclass(frozen=True, slots=True)
class If(Placed):
    condition: Term
    then: Term
    otherwise: Term
    type: Type


Term: TypeAlias = (
    Var
    | Number
    | Cast
    | Arith
    | Negate
    | Inverse
    | Power
    | Compare
    | Connective
    | Not
    | Truth
    | Quantify
    | Fold
    | Constant
    | Invoke
    | Lambda
    | Member
    | Subset
    | Comprehension
    | Display
    | Interval
    | SetOperation
    | Preimage
    | Image
    | ToFinset
    | Tuple
    | Component
    | If
)


@dataclass(frozen=True, slots=True)
class FiniteSet:
    """The hypothesis that a set is finite (`Fintype ↑s`), with the name it was given."""

    name: str
    set: Term


@dataclass(frozen=True, slots=True)
class Statement:
    """An elaborated theorem: for all `params`, the `hypotheses` imply the `conclusion`."""

    name: str
    params: tuple[Var, ...]
    hypotheses: tuple[Term | FiniteSet, ...]
    conclusion: Term
