"""Solving linear equations claim by claim, the right way or with wrong habits that are carried on.

Habits, and where they come up:

- `lost_sign`: a term moves to the other side and keeps its sign;
- `subtracts_coefficient`: `a x = c` gives `x = c - a` instead of `x = c / a`;
- `partial_expansion`: `a (x + b)` gives `a x + b`;
- `mismatched_sides` (elimination): the left sides are subtracted and the right sides added, or the other way round;
- `scales_left_only` (elimination): an equation is multiplied on its left side only;
- `drops_constant` (substitution): of `y = m x + b` only `m x` is put in for y.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from maxproof.lab.forms import (
    Form,
    Term,
    added,
    has_brackets,
    is_collected,
    number_form,
    scaled,
    substituted,
    write,
    write_number,
)
from maxproof.lab.linear_rules import lone_variable, multiplied_out

HABITS: dict[str, tuple[str, ...]] = {
    "isolation": ("lost_sign", "subtracts_coefficient", "partial_expansion"),
    "elimination": ("mismatched_sides", "scales_left_only", "lost_sign", "subtracts_coefficient"),
    "substitution": ("partial_expansion", "drops_constant", "lost_sign", "subtracts_coefficient"),
}
"""Every technique with its habits."""

Sides = tuple[Form, Form]


class Work:
    """The claims so far, and how they are made. Sides are kept as written."""

    def __init__(self, habits: frozenset[str]) -> None:
        self.habits = habits
        self.claims: list[str] = []

    def claim(self, sides: Sides) -> Sides:
        self.claims.append(f"{write(sides[0])} = {write(sides[1])}.")
        return sides

    def answer(self, values: dict[str, Fraction]) -> tuple[str, ...]:
        """The claims, with the final sentence."""
        if len(values) == 1:
            text = write_number(next(iter(values.values())))
        else:
            text = " and ".join(f"{name} = {write_number(values[name])}" for name in sorted(values))
        return (*self.claims, f"The answer is {text}.")

    def isolate(self, sides: Sides, name: str) -> Fraction:
        """From an equation with one variable to its value: multiply out, collect, move, divide."""
        for index in (0, 1):
            if has_brackets(sides[index]):
                sides = self.claim(_replaced(sides, index, self._multiplied_out(sides[index])))
            if not is_collected(sides[index]):
                sides = self.claim(_replaced(sides, index, _tidy(sides[index])))
        home = 0 if _coefficient(sides[0], name) else 1
        if constant := _coefficient(sides[home]):
            sides = self._move(sides, home, number_form(constant))
        if elsewhere := _coefficient(sides[1 - home], name):
            sides = self._move(sides, 1 - home, Form((Term(elsewhere, (name,)),)))
        coefficient, value = _coefficient(sides[home], name), _coefficient(sides[1 - home])
        if coefficient != 1:
            # Only a wrong habit can have made the variable vanish; then the rest is taken for its value.
            wrong = "subtracts_coefficient" in self.habits or not coefficient
            value = value - coefficient if wrong else value / coefficient
            unknown, known = Form((Term(Fraction(1), (name,)),)), number_form(value)
            self.claim((unknown, known) if home == 0 else (known, unknown))
        return value

    def _multiplied_out(self, form: Form) -> Form:
        if "partial_expansion" not in self.habits:
            return multiplied_out(form)
        terms: list[Term] = []
        for term in form.terms:
            match term.factors:
                case (Form(inner),):
                    terms += [Term(term.coefficient * inner[0].coefficient, inner[0].factors), *inner[1:]]
                case _:
                    terms.append(term)
        return Form(tuple(terms))

    def _move(self, sides: Sides, index: int, term: Form) -> Sides:
        """Takes a term from one side to the other."""
        kept = _tidy(added(sides[index], scaled(term, Fraction(-1))))
        sign = 1 if "lost_sign" in self.habits else -1
        reached = _tidy(added(sides[1 - index], scaled(term, Fraction(sign))))
        return self.claim((kept, reached) if index == 0 else (reached, kept))

    def standard(self, sides: Sides) -> Sides:
        """Variables to the left, numbers to the right, term by term."""
        for term in sides[1].terms:
            if term.factors:
                sides = self._move(sides, 1, Form((term,)))
        if constant := _coefficient(sides[0]):
            sides = self._move(sides, 0, number_form(constant))
        return sides

    def times(self, sides: Sides, factor: Fraction) -> Sides:
        """Both sides times a number; nothing is claimed for 1."""
        if factor == 1:
            return sides
        right = sides[1] if "scales_left_only" in self.habits else scaled(sides[1], factor)
        return self.claim((scaled(sides[0], factor), right))

    def combine(self, first: Sides, second: Sides, sign: int) -> Sides:
        """first + sign * second."""
        right_sign = -sign if "mismatched_sides" in self.habits else sign
        left = _tidy(added(first[0], scaled(second[0], Fraction(sign))))
        return self.claim((left, _tidy(added(first[1], scaled(second[1], Fraction(right_sign))))))


def isolation(sides: Sides, name: str, habits: frozenset[str]) -> tuple[str, ...]:
    """Solves one equation in one variable."""
    work = Work(habits)
    return work.answer({name: work.isolate(sides, name)})


def elimination(system: Sequence[Sides], names: Sequence[str], habits: frozenset[str]) -> tuple[str, ...]:
    """Solves two equations in two variables, one of which is in both: standard form, scale, combine, put back."""
    work = Work(habits)
    first, second = (work.standard(sides) for sides in system)
    gone = min(sorted(names, reverse=True), key=lambda name: _scalings(first, second, name))
    kept = next(name for name in names if name != gone)
    factors = _factors(first, second, gone)
    upper, lower = work.times(first, factors[0]), work.times(second, factors[1])
    sign = -1 if _coefficient(upper[0], gone) == _coefficient(lower[0], gone) else 1
    found = work.isolate(work.combine(upper, lower, sign), kept)
    # An equation without the variable that is found, if there is one, needs nothing put in.
    source = min((first, second), key=lambda sides: bool(_coefficient(sides[0], kept)))
    if _coefficient(source[0], kept):
        source = work.claim((substituted(source[0], kept, number_form(found)), source[1]))
    return work.answer({kept: found, gone: work.isolate(source, gone)})


def _factors(first: Sides, second: Sides, name: str) -> tuple[Fraction, Fraction]:
    """What to multiply by so that the coefficients of a variable become equal or opposite."""
    upper, lower = abs(_coefficient(first[0], name)), abs(_coefficient(second[0], name))
    if upper.denominator == lower.denominator == 1:
        common = lcm(int(upper), int(lower))
        return common / upper, common / lower
    return lower, upper


def _scalings(first: Sides, second: Sides, name: str) -> int:
    """How many equations must be multiplied to eliminate a variable; 3 if it isn't in both."""
    if not (_coefficient(first[0], name) and _coefficient(second[0], name)):
        return 3
    return sum(factor != 1 for factor in _factors(first, second, name))


def definition(system: Sequence[Sides]) -> tuple[int, str, bool] | None:
    """Where substitution starts: (index of the equation, the variable, whether it already stands alone there).

    None if no variable stands alone or has the coefficient 1 or -1 in an equation while the other equation has it too.
    """
    for index, sides in enumerate(system):
        for way in (sides, sides[::-1]):
            name = lone_variable(way[0])
            if name and not _coefficient(way[1], name) and _occurs(system[1 - index], name):
                return index, name, True
    for wanted in (1, -1):
        for index, sides in enumerate(system):
            for name in ("y", "x"):
                by_it = _coefficient(sides[0], name) == wanted and not _coefficient(sides[1], name)
                if by_it and _occurs(system[1 - index], name):
                    return index, name, False
    return None


def substitution(system: Sequence[Sides], names: Sequence[str], habits: frozenset[str]) -> tuple[str, ...]:
    """Solves two equations in two variables: one variable by the other, put in, solve, put back.

    Raises ValueError if `definition` finds no start.
    """
    start = definition(system)
    if start is None:
        raise ValueError("substitution has no start here")
    index, name, alone = start
    other = next(each for each in names if each != name)
    work = Work(habits)
    by_other = system[index]
    if not alone:
        for term in by_other[0].terms:
            if term.factors != (name,):
                by_other = work._move(by_other, 0, Form((term,)))
        by_other = work.times(by_other, 1 / _coefficient(by_other[0], name))
    elif lone_variable(by_other[0]) != name:
        by_other = (by_other[1], by_other[0])
    expression = by_other[1]
    put_in = expression
    if "drops_constant" in habits and _coefficient(expression, other):
        put_in = Form(tuple(term for term in expression.terms if term.factors))
    target = system[1 - index]
    target = work.claim((substituted(target[0], name, put_in), substituted(target[1], name, put_in)))
    found = work.isolate(target, other)
    values = {other: found}
    if _coefficient(expression, other):
        unknown = Form((Term(Fraction(1), (name,)),))
        worked = work.claim((unknown, substituted(expression, other, number_form(found))))
        values[name] = work.isolate(worked, name)
    else:
        values[name] = _coefficient(expression)
    return work.answer(values)


def _replaced(sides: Sides, index: int, form: Form) -> Sides:
    return (form, sides[1]) if index == 0 else (sides[0], form)


def _coefficient(form: Form, name: str = "") -> Fraction:
    """The coefficient of a variable, or the constant, of a linear form."""
    total = Fraction(0)
    for term in form.terms:
        match term.factors:
            case (Form() as inner,):
                total += term.coefficient * _coefficient(inner, name)
            case (each,) if each == name:
                total += term.coefficient
            case () if not name:
                total += term.coefficient
    return total


def _occurs(sides: Sides, name: str) -> bool:
    return any(_coefficient(side, name) for side in sides)


def _tidy(form: Form) -> Form:
    """A linear form without brackets, collected: variables by name, the constant last."""
    sums: dict[tuple[str | Form, ...], Fraction] = {}
    for term in form.terms:
        sums[term.factors] = sums.get(term.factors, Fraction(0)) + term.coefficient
    kinds = sorted(sums, key=lambda factors: (not factors, factors[:1]))
    return Form(tuple(Term(sums[factors], factors) for factors in kinds if sums[factors]))
