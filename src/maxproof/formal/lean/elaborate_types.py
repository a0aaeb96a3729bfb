"""Lean types as written, to types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    PROP,
    RAT,
    REAL,
    Arrow,
    EquivType,
    ListType,
    ProductType,
    SetType,
    Term,
    Type,
    ZMod,
)
from maxproof.formal.lean.tree import Application, Ident, Infix, Syntax

_SCALARS: Final[dict[str, Type]] = {
    **{"ℕ": NAT, "Nat": NAT, "ℤ": INT, "Int": INT, "ℚ": RAT, "Rat": RAT, "ℝ": REAL, "Real": REAL},
    **{"ℂ": COMPLEX, "Complex": COMPLEX, "NNReal": NNREAL, "ℝ≥0": NNREAL, "ℕ+": PNAT, "PNat": PNAT, "Prop": PROP},
}
_UNSUPPORTED: Final = (
    *("Type", "Type*", "Sort", "Fin", "Polynomial", "Matrix", "Option", "Multiset", "Bool", "String", "ENNReal"),
    *("EReal", "Subtype", "Vector", "Filter", "Subgroup", "Ideal", "MeasureTheory", "Unit", "Char", "Float"),
)


def is_type(syntax: Syntax) -> bool:
    """Whether `syntax` is written as a type of data (and not as a proposition)."""
    match syntax:
        case Ident(name):
            return name in _SCALARS or name in _UNSUPPORTED
        case Application(Ident(name), _):
            return name in ("Set", "Finset", "List", "ZMod", "Equiv") or name in _UNSUPPORTED
        case Infix("→", left, right):
            return is_type(left) and is_type(right)
        case Infix("×" | "≃"):
            return True
    return False


def elaborate_type(syntax: Syntax, natural: Callable[[Syntax], Term]) -> Type:
    """The type that `syntax` denotes; `natural` elaborates a term of type ℕ (the modulus of a ZMod).

    Raises:
        NotTranslated: a type outside the fragment.
    """
    match syntax:
        case Ident(name) if name in _SCALARS:
            return _SCALARS[name]
        case Application(Ident("Set" | "Finset" as kind), (element,)):
            return SetType(elaborate_type(element, natural), kind == "Finset")
        case Application(Ident("List"), (element,)):
            return ListType(elaborate_type(element, natural))
        case Application(Ident("Equiv"), (domain, codomain)) | Infix("≃", domain, codomain):
            return EquivType(elaborate_type(domain, natural), elaborate_type(codomain, natural))
        case Application(Ident("ZMod"), (modulus,)):
            return ZMod(natural(modulus))
        case Infix("→", domain, codomain):
            return Arrow(elaborate_type(domain, natural), elaborate_type(codomain, natural))
        case Infix("×", left, right):
            rest = elaborate_type(right, natural)
            items = rest.items if isinstance(rest, ProductType) and isinstance(right, Infix) else (rest,)
            return ProductType((elaborate_type(left, natural), *items))
        case Application(Ident(name), _) | Ident(name):
            raise NotTranslated(f"the type `{name}`", syntax.at)
    raise NotTranslated("a type of this form", syntax.at)
