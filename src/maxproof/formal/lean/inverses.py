"""Inverses in ZMod n.

Where n is prime, or the element is a literal coprime to n, the inverse is the one number in [0, n) that its equation
determines. It becomes a parameter with that equation as a precondition: a statement about all such numbers is one about
the inverse, since there is exactly one. Other inverses in ZMod are refused: what Mathlib gives for them has no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

from maxproof.formal.lean import dafny
from maxproof.formal.lean.dafny import binary, call, compare
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import Constant, Inverse, Term, ZMod
from maxproof.formal.syntax.ast import (
    Apply,
    Binder,
    Comparison,
    Expr,
    FunctionType,
    IfExpr,
    IntLiteral,
    Name,
    Quantifier,
)

LARGEST_PRIME_SEARCH = 1_000_000


@dataclass(slots=True)
class Inverses:
    """The inverses that a statement speaks of.

    Attributes:
        primes: terms that its hypotheses say are prime.
        params, requires: the parameters made for inverses, and the equations that determine them.
    """

    primes: tuple[Term, ...]
    params: list[Binder] = field(default_factory=list)
    requires: list[Expr] = field(default_factory=list)
    _known: dict[tuple[Expr | None, Expr], Name] = field(default_factory=dict)

    def of(self, value: Expr, modulus: Expr, inside: bool, term: Inverse, fresh: Callable[[str], str]) -> Expr:
        """The inverse of `value`; `inside`: it depends on a bound variable, so a function is needed.

        Raises:
            NotTranslated: nothing says that the inverse is determined.
        """
        assert isinstance(term.type, ZMod)
        element = dafny.constant(value)
        size = dafny.constant(modulus)
        unit = element is not None and size is not None and size > 1 and gcd(int(element), int(size)) == 1
        if not unit and not self._is_prime(term.type.modulus, size):
            raise NotTranslated("an inverse in ZMod that neither a prime modulus nor a unit determines", term.at)
        key = (None if inside else value, modulus)
        if key not in self._known:
            name = Name(fresh("inverse"))
            self._known[key] = name
            if inside:
                variable = Name("x" if name.name != "x" else "y")
                self.params.append(Binder(name.name, FunctionType((dafny.INT,), dafny.INT)))
                equation = _equation(variable, Apply(name, (variable,)), modulus, unit=False)
                self.requires.append(Quantifier("forall", (Binder(variable.name, dafny.INT),), equation))
            else:
                self.params.append(Binder(name.name, dafny.INT))
                self.requires.append(_equation(value, name, modulus, unit=unit))
        known = self._known[key]
        return Apply(known, (value,)) if inside else known

    def _is_prime(self, modulus: Term, size: Fraction | None) -> bool:
        if size is not None:
            number = int(size)
            return 1 < number <= LARGEST_PRIME_SEARCH and all(number % d for d in range(2, int(number**0.5) + 1))
        return modulus in self.primes


def prime_terms(hypotheses: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(h.args[0] for h in hypotheses if isinstance(h, Constant) and h.name == "Nat.Prime")


def _equation(value: Expr, inverse: Expr, modulus: Expr, *, unit: bool) -> Expr:
    within = Comparison((dafny.ZERO, inverse, modulus), ("<=", "<"))
    one = compare(_mod(binary("*", value, inverse), modulus), "==", IntLiteral(1))
    if unit:
        return binary("&&", within, one)
    zero = compare(_mod(value, modulus), "==", dafny.ZERO)
    return binary("&&", within, IfExpr(zero, compare(inverse, "==", dafny.ZERO), one))


def _mod(value: Expr, modulus: Expr) -> Expr:
    size = dafny.constant(modulus)
    return call("imod", value, modulus) if size is None or size == 0 else binary("%", value, modulus)
