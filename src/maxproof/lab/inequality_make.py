"""Drawing true inequalities: templates by technique and level, small numbers."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from maxproof.lab.forms import Form, Relation, Term, collected
from maxproof.lab.inequality_work import term, total, value

NAMES = ("x", "y", "k", "n")
PAIRS = (("x", "y"), ("k", "n"), ("n", "x"))
"""Two variables of a question, in alphabetical order."""
TURNED_SHARE = 0.25
"""Share of the statements that are written with <=."""


def draw(rng: Random, technique: str, level: int) -> Relation:
    """A true inequality, which may have another level: the caller draws again then."""
    match technique:
        case "completing_the_square":
            left, right = _one_variable(rng, level)
        case "sum_of_squares":
            left, right = _squares(rng) if level <= 2 else _two_variables(rng, level)
        case _:
            left, right = _products(rng, level)
    return Relation(right, "<=", left) if rng.random() < TURNED_SHARE else Relation(left, ">=", right)


def _number(rng: Random, most: int, least: int = 1) -> int:
    return rng.choice((1, -1)) * rng.randint(least, most)


def _slack(rng: Random) -> int:
    return rng.choice((0, 0, rng.randint(1, 4)))


def _mixed(rng: Random, form: Form) -> Form:
    """The same terms, now and then in another order with a positive one first."""
    if rng.random() < 0.6:
        return form
    terms = list(form.terms)
    rng.shuffle(terms)
    return Form(tuple(sorted(terms[:2], key=_sign)) + tuple(terms[2:]))


def _sign(each: Term) -> bool:
    return each.coefficient < 0


def _square(name: str, shift: int | Fraction) -> Form:
    base = total(term(1, name), term(shift))
    return term(1, base, base)


def _one_variable(rng: Random, level: int) -> tuple[Form, Form]:
    name = rng.choice(NAMES)
    leading = 1 if level <= 2 or (level == 3 and rng.random() < 0.3) else rng.randint(2, 3)
    shift = Fraction(_number(rng, 4)) if rng.random() < 0.8 else Fraction(2 * _number(rng, 4) + 1, 2)
    least = 0 if level == 1 else rng.choice((0, rng.randint(1, 4), _number(rng, 4)))
    polynomial = value(_square(name, shift)).scaled(Fraction(leading)) + value(term(least))
    right = term(least - (0 if level == 1 else _slack(rng)))
    if level == 4:
        moved = term(_number(rng, 4), name)
        polynomial, right = polynomial + value(moved), total(moved, right)
    return _mixed(rng, collected(polynomial)), right


def _squares(rng: Random) -> tuple[Form, Form]:
    first, second = rng.choice(PAIRS)
    parts: list[Form] = []
    for name, other in ((first, second), (second, first)):
        shifted = total(term(1, name), term(_number(rng, 4)))
        joined = total(term(1, name), term(_number(rng, 3), other))
        base = rng.choice((shifted, shifted, joined, term(1, name)))
        inner = base if len(base.terms) > 1 else name
        parts.append(term(rng.choice((1, 1, rng.randint(2, 3))), inner, inner))
    least = rng.choice((0, rng.randint(1, 4)))
    rng.shuffle(parts)
    return total(*parts, term(least)), term(least - _slack(rng))


def _two_variables(rng: Random, level: int) -> tuple[Form, Form]:
    first, second = rng.choice(PAIRS)
    least = rng.choice((0, rng.randint(1, 4)))
    if rng.random() < 0.4:
        base = total(term(1, first), term(_number(rng, 4), second))
        rest = rng.choice((1, rng.randint(2, 3)))
        polynomial = value(term(1, base, base)) + value(total(term(rest, second, second), term(least)))
    else:
        shifts = [_number(rng, 4), _number(rng, 4)]
        if level == 3:
            shifts[rng.randrange(2)] = 0
        squares = [value(_square(name, shift)) for name, shift in zip((first, second), shifts, strict=True)]
        polynomial = squares[0] + squares[1] + value(term(least))
    return _mixed(rng, collected(polynomial)), term(least - _slack(rng))


def _products(rng: Random, level: int) -> tuple[Form, Form]:
    first, second = rng.choice(PAIRS)
    scale = 1 if level == 1 else rng.randint(2, 3)
    u, v = (first, second) if level >= 3 or rng.random() < 0.7 else (rng.choice(NAMES), "")
    left, right = _product(rng, u, v, scale)
    if level == 3:
        bound = term(_number(rng, 4))
        return total(left, bound), total(right, bound)
    if level == 4:
        more, less = _product(rng, first, "", rng.choice((1, 2, 3)))
        left, right = collected(value(left) + value(more)), total(right, less)
    return _mixed(rng, left), right


def _product(rng: Random, u: str, v: str, scale: int) -> tuple[Form, Form]:
    """`s m^2 u^2 + s n^2 v^2` and `2 s m n u v`."""
    m, n = rng.randint(1, 2), _number(rng, 3)
    far = (v,) if v else ()
    return (
        total(term(scale * m * m, u, u), term(scale * n * n, *far, *far)),
        term(2 * scale * m * n, u, *far),
    )
