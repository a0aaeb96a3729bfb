"""Mathlib's functions and predicates with one type each, and how short names resolve.

Those with a type parameter (`abs`, `Finset.sum`, ...) have rules of their own in `elaborate_polymorphic`; both kinds
are named in `KNOWN`, because a short name is understood only where exactly one of all known names can be meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from maxproof.formal.lean.terms import COMPLEX, INT, NAT, NNREAL, PROP, RAT, REAL, ListType, SetType, Type

_NATS: Final = SetType(NAT, finite=True)
_DIGITS: Final = ListType(NAT)


@dataclass(frozen=True, slots=True)
class Signature:
    """Explicit parameters and the result; no parameters: a constant."""

    params: tuple[Type, ...]
    result: Type


MONOMORPHIC: Final[dict[str, Signature]] = {
    **{f"Real.{name}": Signature((REAL,), REAL) for name in ("sqrt", "exp", "log", "sin", "cos", "tan")},
    "Real.pi": Signature((), REAL),
    "Real.logb": Signature((REAL, REAL), REAL),
    "NNReal.sqrt": Signature((NNREAL,), NNREAL),
    "Irrational": Signature((REAL,), PROP),
    **{f"Nat.{name}": Signature((NAT,), NAT) for name in ("factorial", "sqrt", "succ", "pred")},
    **{f"Nat.{name}": Signature((NAT, NAT), NAT) for name in ("gcd", "lcm", "choose")},
    "Nat.Prime": Signature((NAT,), PROP),
    "Nat.Coprime": Signature((NAT, NAT), PROP),
    "Nat.ModEq": Signature((NAT, NAT, NAT), PROP),
    "Int.ModEq": Signature((INT, INT, INT), PROP),
    "Nat.divisors": Signature((NAT,), _NATS),
    "Nat.properDivisors": Signature((NAT,), _NATS),
    "Nat.digits": Signature((NAT, NAT), _DIGITS),
    "Finset.range": Signature((NAT,), _NATS),
    "Int.gcd": Signature((INT, INT), NAT),
    "Int.lcm": Signature((INT, INT), NAT),
    "Int.natAbs": Signature((INT,), NAT),
    "Int.toNat": Signature((INT,), NAT),
    "Rat.num": Signature((RAT,), INT),
    "Rat.den": Signature((RAT,), NAT),
    "Complex.I": Signature((), COMPLEX),
    "Complex.re": Signature((COMPLEX,), REAL),
    "Complex.im": Signature((COMPLEX,), REAL),
    "Complex.abs": Signature((COMPLEX,), REAL),
    "Complex.normSq": Signature((COMPLEX,), REAL),
    "Complex.exp": Signature((COMPLEX,), COMPLEX),
}

POLYMORPHIC: Final = (
    *("abs", "norm", "max", "min", "id", "Even", "Odd", "IsLeast", "IsGreatest", "Set.range", "Set.univ"),
    *("Int.floor", "Int.ceil", "Int.fract", "Nat.floor", "Nat.ceil", "Nat.ofDigits", "Nat.cast", "Int.cast"),
    *("Finset.sum", "Finset.prod", "Finset.card", "Finset.filter", "Set.toFinset", "List.sum", "List.prod"),
    *("List.length", "List.Pairwise", "Filter.Tendsto", "Filter.atTop", "nhds", "Set.Nonempty", "Finset.Nonempty"),
    *("Function.Injective", "Function.Surjective", "StrictMono", "StrictAnti", "Monotone", "Antitone", "True", "False"),
    *(f"Finset.{k}" for k in ("Icc", "Ico", "Ioc", "Ioo")),
    *(f"Set.{k}" for k in ("Icc", "Ico", "Ioc", "Ioo", "Ici", "Ioi", "Iic", "Iio")),
)

KNOWN: Final = frozenset((*MONOMORPHIC, *POLYMORPHIC))

# Names outside the fragment that share a short name with one inside: meeting one of them is an ambiguity too.
_RIVALS: Final = frozenset(
    (
        *("Nat.log", "Nat.floor", "Nat.ceil", "Nat.cast", "Rat.floor", "Rat.ceil", "Int.sqrt", "Int.log"),
        *("NNReal.log", "Complex.log", "Complex.sin", "Complex.cos", "Complex.tan", "Complex.cosh", "Real.cosh"),
        *("gcd", "lcm", "choose", "Nat.digits", "Nat.card", "Nat.sum", "Nat.divisors"),
        *("Nat.Prime", "Prime", "Nat.even", "NNReal.exp", "Rat.sqrt"),
    )
)


def candidates(name: str, opened: Sequence[str]) -> tuple[str, ...]:
    """The full names that `name` may stand for where `opened` namespaces are open."""
    names = [name, *(f"{space}.{name}" for space in opened)]
    return tuple(dict.fromkeys(n for n in names if n in KNOWN or n in _RIVALS))
