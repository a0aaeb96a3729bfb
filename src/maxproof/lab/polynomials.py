"""Polynomials with exact rational coefficients, within limits that hostile input can't get past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

MAX_BITS = 256
"""Of a numerator or denominator."""
MAX_EXPONENT = 24
"""Of a total degree."""
MAX_TERMS = 120


class TooLarge(ValueError):
    """Beyond a limit of the expressions of this world."""


def bounded(number: Fraction) -> Fraction:
    """The number itself. Raises TooLarge beyond MAX_BITS."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise TooLarge
    return number


def powered(base: Fraction, exponent: int) -> Fraction:
    """A power, refused before it is computed. Raises TooLarge."""
    if exponent * max(base.numerator.bit_length(), base.denominator.bit_length()) > MAX_BITS:
        raise TooLarge
    return base**exponent


Monomial = tuple[tuple[str, int], ...]
"""(variable, exponent >= 1), by name; () is the constant."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Expanded and collected. `terms`: (monomial, coefficient that is not 0), sorted; equal polynomials are equal."""

    terms: tuple[tuple[Monomial, Fraction], ...] = ()

    @staticmethod
    def of(coefficients: Mapping[Monomial, Fraction | int]) -> Polynomial:
        """From monomials to coefficients. Raises TooLarge."""
        if len(coefficients) > MAX_TERMS:
            raise TooLarge
        kept = {monomial: bounded(Fraction(value)) for monomial, value in coefficients.items() if value}
        return Polynomial(tuple(sorted(kept.items())))

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, value in other.terms:
            total[monomial] = total.get(monomial, Fraction(0)) + value
        return Polynomial.of(total)

    def __neg__(self) -> Polynomial:
        return self.scaled(Fraction(-1))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, Fraction] = {}
        for first, value in self.terms:
            for second, factor in other.terms:
                monomial = _joined(first, second)
                total[monomial] = total.get(monomial, Fraction(0)) + value * factor
        return Polynomial.of(total)

    def scaled(self, number: Fraction) -> Polynomial:
        """Every coefficient times a number. Raises TooLarge."""
        return Polynomial.of({monomial: value * number for monomial, value in self.terms})

    def coefficient(self, monomial: Monomial = ()) -> Fraction:
        """The coefficient of a monomial, 0 if it does not occur."""
        return dict(self.terms).get(monomial, Fraction(0))

    def constant(self) -> Fraction | None:
        """The value of a polynomial without variables; None for others."""
        return self.coefficient() if all(not monomial for monomial, _ in self.terms) else None

    def degree(self) -> int:
        """The total degree; 0 for 0."""
        return max((sum(exponent for _, exponent in monomial) for monomial, _ in self.terms), default=0)

    def variables(self) -> frozenset[str]:
        """The variables that occur."""
        return frozenset(name for monomial, _ in self.terms for name, _ in monomial)

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        """The value at a point. Raises KeyError for a variable without a value, TooLarge."""
        total = Fraction(0)
        for monomial, value in self.terms:
            for name, exponent in monomial:
                value = bounded(value * powered(values[name], exponent))
            total = bounded(total + value)
        return total


def _joined(first: Monomial, second: Monomial) -> Monomial:
    exponents = dict(first)
    for name, exponent in second:
        exponents[name] = exponents.get(name, 0) + exponent
    if sum(exponents.values()) > MAX_EXPONENT:
        raise TooLarge
    return tuple(sorted(exponents.items()))


def variable(name: str) -> Polynomial:
    """The polynomial of one variable."""
    return Polynomial((((((name, 1),)), Fraction(1)),))
