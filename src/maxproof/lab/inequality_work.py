"""Proving inequalities claim by claim, the right way or with wrong habits that are carried on.

Habits, and where they come up:

- `half_forgotten`: completing `x^2 + b x` gives `(x + b)^2` instead of `(x + b/2)^2`;
- `constant_kept`: the square is completed and nothing is subtracted for it;
- `sign_flipped`: completing `x^2 + b x` gives `(x - b/2)^2`;
- `square_lost`: "a square is at least 0" is said of what was squared;
- `unsquared_coefficient`: `(m x + n y)^2` gives `m x^2 + 2 m n x y + n y^2`;
- `scales_right_only`: an inequality is multiplied on its right side only.

A believer who doesn't arrive at the goal states it all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt

from maxproof.lab.forms import (
    Form,
    Relation,
    Term,
    added,
    collected,
    has_brackets,
    number_form,
    polynomial_of,
    scaled,
    write_relation,
)
from maxproof.lab.inequality_rules import ordered
from maxproof.lab.polynomials import Polynomial

HABITS: dict[str, tuple[str, ...]] = {
    "completing_the_square": ("half_forgotten", "constant_kept", "sign_flipped"),
    "sum_of_squares": ("square_lost", "half_forgotten", "constant_kept"),
    "scaling": ("unsquared_coefficient", "scales_right_only"),
}
"""Every technique with its habits."""

ZERO = Form(())


def term(coefficient: int | Fraction, *factors: str | Form) -> Form:
    """A form of one term; of none for 0."""
    return Form((Term(Fraction(coefficient), factors),)) if coefficient else ZERO


def total(*forms: Form) -> Form:
    """Forms one after the other."""
    result = ZERO
    for form in forms:
        result = added(result, form)
    return result


def value(form: Form) -> Polynomial:
    """The polynomial of a form of a question, which is small."""
    found = polynomial_of(form)
    assert found is not None, "forms of a question are small"
    return found


class Work:
    """The claims so far. Inequalities are kept as `left >= right`."""

    def __init__(self, goal: Relation, habits: frozenset[str]) -> None:
        self.goal = goal
        self.habits = habits
        self.claims: list[Relation] = []

    def say(self, left: Form, symbol: str, right: Form) -> None:
        """Claims a relation, once."""
        claim = Relation(left, symbol, right)
        if all(ordered(claim) != ordered(earlier) for earlier in self.claims):
            self.claims.append(claim)

    def finished(self) -> tuple[str, ...]:
        """The claims; the last one is the goal as the statement has it."""
        if ordered(self.claims[-1]) == ordered(self.goal):
            self.claims.pop()
        return tuple(f"{write_relation(claim)}." for claim in (*self.claims, self.goal))

    def square(self, base: Form) -> Form:
        """`base^2 >= 0`; gives the left side."""
        factor = base.terms[0].factors[0] if len(base.terms) == 1 else base
        left = base if "square_lost" in self.habits else term(1, factor, factor)
        self.say(left, ">=", ZERO)
        return left

    def multiple(self, factor: Fraction, left: Form) -> Form:
        """`factor left >= 0`, from `left >= 0`."""
        if factor == 1:
            return left
        product = scaled(left, factor) if len(left.terms) == 1 else term(factor, left)
        self.say(product, ">=", ZERO)
        return product

    def completed(self, name: str, coefficient: Fraction) -> tuple[Form, Fraction]:
        """For `x^2 + coefficient x`: what is squared, and what is subtracted for it."""
        half = coefficient if "half_forgotten" in self.habits else coefficient / 2
        subtracted = Fraction(0) if "constant_kept" in self.habits else half**2
        return total(term(1, name), term(-half if "sign_flipped" in self.habits else half)), subtracted

    def raised(self, left: Form, constant: Fraction) -> Form:
        """`left + constant >= constant`, from `left >= 0`."""
        if not constant:
            return left
        left = total(left, number_form(constant))
        self.say(left, ">=", number_form(constant))
        return left


def completing_the_square(goal: Relation, left: Form, right: Form, habits: frozenset[str]) -> tuple[str, ...]:
    """For one variable: `left` a quadratic, `right` a number and perhaps a multiple of the variable."""
    work = Work(goal, habits)
    (name,) = value(left).variables()
    elsewhere = value(right).coefficient(((name, 1),))
    quadratic = left if not elsewhere else collected(value(left) - value(term(elsewhere, name)))
    leading = value(quadratic).coefficient(((name, 2),))
    middle, constant = value(quadratic).coefficient(((name, 1),)) / leading, value(quadratic).coefficient()
    base, subtracted = work.completed(name, middle)
    squared = term(1, base, base)
    if leading != 1:
        short = total(term(1, name, name), term(middle, name))
        work.say(short, "=", total(squared, number_form(-subtracted)))
    least = constant - leading * subtracted
    work.say(quadratic, "=", total(term(leading, base, base), number_form(least)))
    work.raised(work.multiple(leading, work.square(base)), least)
    work.say(quadratic, ">=", number_form(least))
    bound = value(right).coefficient()
    if elsewhere and least != bound:
        work.say(quadratic, ">=", number_form(bound))
    return work.finished()


def sum_of_squares(goal: Relation, left: Form, right: Form, habits: frozenset[str]) -> tuple[str, ...]:
    """For squares in brackets, or a quadratic in two variables, one of which may be in a product with the other."""
    work = Work(goal, habits)
    if has_brackets(left):
        squares = [_root(each) for each in left.terms if each.factors]
        least = value(Form(tuple(each for each in left.terms if not each.factors))).coefficient()
    else:
        squares, least = _squares(work, left)
    parts = [(factor, work.square(base)) for factor, base in squares]
    sides = [work.multiple(factor, side) for factor, side in parts]
    together = sides[0]
    for side in sides[1:]:
        together = total(together, side)
        work.say(together, ">=", ZERO)
    work.raised(together, least)
    if least != value(right).coefficient() or not has_brackets(left):
        work.say(left, ">=", number_form(least))
    return work.finished()


def _root(each: Term) -> tuple[Fraction, Form]:
    """The coefficient and the base of a square."""
    factor = each.factors[0]
    return each.coefficient, factor if isinstance(factor, Form) else term(1, factor)


def _squares(work: Work, left: Form) -> tuple[list[tuple[Fraction, Form]], Fraction]:
    """Writes a quadratic as a sum of squares and a number; gives (coefficient, base) of each square, and the number."""
    polynomial = value(left)
    first, second = sorted(polynomial.variables())
    least = polynomial.coefficient()
    if cross := polynomial.coefficient(((first, 1), (second, 1))):
        half = cross if "half_forgotten" in work.habits else cross / 2
        base = total(term(1, first), term(half, second))
        rest = polynomial.coefficient(((second, 2),)) - (0 if "constant_kept" in work.habits else half**2)
        squares = [(Fraction(1), base), (rest, term(1, second))] if rest else [(Fraction(1), base)]
    else:
        squares, shifts = [], []
        for name in (first, second):
            base, subtracted = work.completed(name, polynomial.coefficient(((name, 1),)))
            squares.append((Fraction(1), base))
            least -= subtracted
            if len(base.terms) > 1:
                shifts.append((name, base, subtracted))
        for name, base, subtracted in shifts if len(shifts) > 1 else ():
            short = total(term(1, name, name), term(polynomial.coefficient(((name, 1),)), name))
            work.say(short, "=", total(term(1, base, base), number_form(-subtracted)))
    work.say(left, "=", total(*(_written(*each) for each in squares), number_form(least)))
    return squares, least


def _written(factor: Fraction, base: Form) -> Form:
    inner = base if len(base.terms) > 1 else base.terms[0].factors[0]
    return term(factor, inner, inner)


@dataclass(frozen=True, slots=True)
class Product:
    """`A u^2 + B v^2 >= C u v` as `scale (m u + n v)^2 >= 0`; v is "" for the number 1."""

    u: str
    v: str
    scale: int
    m: int
    n: int


def products(left: Polynomial, right: Polynomial) -> tuple[Product, ...] | None:
    """Takes squares and products of two variables apart; None if they are not of the form of `scaling`.

    One product, and perhaps the same number on both sides; or `x y` and `x` on the right and then the remaining
    squares to the left.
    """
    crosses = [monomial for monomial, _ in right.terms if monomial]
    squares = dict(left.terms)
    number = left.coefficient()
    if any(monomial and (len(monomial) > 1 or monomial[0][1] != 2) for monomial in squares):
        return None
    found: list[Product] = []
    for monomial in sorted(crosses, key=len, reverse=True):
        names = [name for name, _ in monomial] if len(monomial) == 2 else [monomial[0][0], ""]
        if any(exponent != 1 for _, exponent in monomial):
            return None
        u, v = names
        far: tuple[tuple[str, int], ...] = ((v, 2),) if v else ()
        near: tuple[tuple[str, int], ...] = ((u, 2),)
        cross = right.coefficient(monomial)
        if not squares.get(far):
            return None
        needed = cross**2 / (4 * squares[far])
        product = _product(u, v, needed, squares.pop(far), cross)
        if product is None or squares.get(near, 0) < needed:
            return None
        squares[near] -= needed
        found.append(product)
    rest = {monomial: amount for monomial, amount in squares.items() if amount}
    bound = right.coefficient()
    if any(rest.keys() - {()}) or not 1 <= len(found) <= 2 or (rest.get((), Fraction(0)) != bound):
        return None
    if bound and (any(not each.v for each in found) or number != bound):
        return None
    return tuple(found)


def _product(u: str, v: str, near: Fraction, far: Fraction, cross: Fraction) -> Product | None:
    if near.denominator > 1 or far.denominator > 1 or near <= 0 or far <= 0:
        return None
    scale = gcd(int(near), int(far))
    m, n = isqrt(int(near) // scale), isqrt(int(far) // scale)
    if m * m * scale != near or n * n * scale != far:
        return None
    return Product(u, v, scale, m, -n if cross > 0 else n)


def scaling(goal: Relation, parts: Sequence[Product], bound: Fraction, habits: frozenset[str]) -> tuple[str, ...]:
    """From each square, expanded, to an inequality between squares and products; scaled, added up."""
    work = Work(goal, habits)
    left, right = ZERO, ZERO
    for part in parts:
        more, less = _single(work, part)
        left, right = (_tidy(total(left, more)), _tidy(total(right, less))) if left.terms else (more, less)
        if part is not parts[0]:
            work.say(left, ">=", right)
    if bound:
        work.say(total(left, number_form(bound)), ">=", total(right, number_form(bound)))
    return work.finished()


def _single(work: Work, part: Product) -> tuple[Form, Form]:
    near, far = (part.u,), (part.v,) if part.v else ()
    base = total(term(part.m, *near), term(part.n, *far))
    work.square(base)
    power = 1 if "unsquared_coefficient" in work.habits else 2
    first, last = term(part.m**power, *near, *near), term(abs(part.n) ** power, *far, *far)
    cross = term(2 * part.m * part.n, *near, *far)
    work.say(total(first, cross, last), ">=", ZERO)
    left, right = total(first, last), scaled(cross, Fraction(-1))
    work.say(left, ">=", right)
    if part.scale != 1:
        left = left if "scales_right_only" in work.habits else scaled(left, Fraction(part.scale))
        right = scaled(right, Fraction(part.scale))
        work.say(left, ">=", right)
    return left, right


def _tidy(form: Form) -> Form:
    return collected(value(form))
