"""Types that are still unknown, and what may be coerced to what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from maxproof.formal.lean.terms import (
    COMPLEX,
    INT,
    NAT,
    NNREAL,
    PNAT,
    RAT,
    REAL,
    Arrow,
    EquivType,
    ListType,
    Meta,
    ProductType,
    Scalar,
    SetType,
    Type,
    ZMod,
)

_COERCIONS: Final[dict[Scalar, tuple[Scalar, ...]]] = {
    PNAT: (NAT, INT, RAT, NNREAL, REAL, COMPLEX),
    NAT: (INT, RAT, NNREAL, REAL, COMPLEX),
    INT: (RAT, REAL, COMPLEX),
    RAT: (REAL, COMPLEX),
    NNREAL: (REAL, COMPLEX),
    REAL: (COMPLEX,),
}
NUMBERS: Final = (NAT, INT, RAT, REAL, COMPLEX, NNREAL, PNAT)


def is_number(type_: Type) -> bool:
    return isinstance(type_, ZMod) or type_ in NUMBERS


def coerces(source: Type, target: Type) -> bool:
    """Whether Lean inserts a coercion from `source` to `target`, two different known types."""
    if isinstance(source, Scalar) and isinstance(target, Scalar):
        return target in _COERCIONS.get(source, ())
    if isinstance(target, ZMod):
        return source in (NAT, INT)
    if isinstance(source, SetType) and isinstance(target, SetType):
        return source.finite and not target.finite and source.element == target.element
    return False


@dataclass(slots=True)
class Unifier:
    """Assignments of type variables. A variable made by a numeral or an exponent falls back to ℕ, as in Lean."""

    _values: list[Type | None] = field(default_factory=list)
    _natural: list[bool] = field(default_factory=list)

    def fresh(self, *, natural: bool = False) -> Meta:
        self._values.append(None)
        self._natural.append(natural)
        return Meta(len(self._values) - 1)

    def resolve(self, type_: Type) -> Type:
        """`type_` with all that is known of it filled in."""
        match type_:
            case Meta(index):
                value = self._values[index]
                return type_ if value is None else self.resolve(value)
            case Arrow(domain, codomain):
                return Arrow(self.resolve(domain), self.resolve(codomain))
            case EquivType(domain, codomain):
                return EquivType(self.resolve(domain), self.resolve(codomain))
            case SetType(element, finite):
                return SetType(self.resolve(element), finite)
            case ListType(element):
                return ListType(self.resolve(element))
            case ProductType(items):
                return ProductType(tuple(self.resolve(i) for i in items))
        return type_

    def unify(self, left: Type, right: Type) -> bool:
        """Makes both equal if that can be; no coercions."""
        left, right = self.resolve(left), self.resolve(right)
        if left == right:
            return True
        if isinstance(left, Meta):
            return self._assign(left, right)
        if isinstance(right, Meta):
            return self._assign(right, left)
        match left, right:
            case (Arrow(a, b), Arrow(c, d)) | (EquivType(a, b), EquivType(c, d)):
                return self.unify(a, c) and self.unify(b, d)
            case (SetType(a, p), SetType(b, q)):
                return p == q and self.unify(a, b)
            case (ListType(a), ListType(b)):
                return self.unify(a, b)
            case (ProductType(xs), ProductType(ys)):
                return len(xs) == len(ys) and all(self.unify(x, y) for x, y in zip(xs, ys, strict=True))
        return False

    def _assign(self, meta: Meta, value: Type) -> bool:
        if _occurs(meta, value):
            return False
        if isinstance(value, Meta):
            self._natural[value.index] |= self._natural[meta.index]
        elif self._natural[meta.index] and not is_number(value):
            return False
        self._values[meta.index] = value
        return True

    def fall_back(self) -> None:
        """Gives ℕ to every variable that may fall back to it and is still unknown."""
        for index, value in enumerate(self._values):
            if value is None and self._natural[index]:
                self._values[index] = NAT


def _occurs(meta: Meta, type_: Type) -> bool:
    match type_:
        case Meta():
            return type_ == meta
        case Arrow(a, b) | EquivType(a, b):
            return _occurs(meta, a) or _occurs(meta, b)
        case SetType(element, _) | ListType(element):
            return _occurs(meta, element)
        case ProductType(items):
            return any(_occurs(meta, i) for i in items)
    return False
