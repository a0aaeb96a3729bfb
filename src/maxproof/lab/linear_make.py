"""Drawing linear equations: templates by technique and level, small numbers, rational solutions."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from random import Random

from maxproof.lab.forms import Form, Relation, Term, added
from maxproof.lab.types import Question

SMALLEST, LARGEST = -40, 40
MAX_DENOMINATOR = 7
FRACTION_SHARE = 0.05
"""Share of the drawn questions whose solution is left to chance; most of those are fractions."""

_INTEGER = re.compile(r"-?[0-9]+")


def is_small(question: Question) -> bool:
    """Whether all integers of all texts, right and wrong, are in range and the answers' denominators are small."""
    for technique in question.techniques:
        habits = question.habits(technique)
        sets = [(), *((habit,) for habit in habits), *combinations(habits, 2), habits]
        for chosen in sets:
            claims = question.solve(technique, frozenset(chosen))
            if any(not SMALLEST <= int(number) <= LARGEST for claim in claims for number in _INTEGER.findall(claim)):
                return False
            if not chosen and any(int(part) > MAX_DENOMINATOR for part in re.findall(r"/([0-9]+)", claims[-1])):
                return False
    return all(SMALLEST <= int(number) <= LARGEST for number in _INTEGER.findall(question.statement))


def draw(rng: Random, technique: str, level: int) -> list[Relation]:
    """One or two equations, which may have another level or no single solution: the caller draws again then."""
    match technique:
        case "isolation":
            return [_one(rng, level)]
        case "elimination":
            pair = _eliminable(rng, level)
        case _:
            pair = _substitutable(rng, level)
    return pair[::-1] if rng.random() < 0.3 else pair


def _number(rng: Random, most: int = 4, least: int = 1) -> int:
    return rng.choice((1, -1)) * rng.randint(least, most)


def _term(coefficient: int | Fraction, *factors: str | Form) -> Form:
    return Form((Term(Fraction(coefficient), factors),)) if coefficient else Form(())


def _sum(*forms: Form) -> Form:
    total = Form(())
    for form in forms:
        total = added(total, form)
    return total


def _line(rng: Random, coefficient: int | Fraction, constant: int, name: str = "x") -> Form:
    """`a x + b`, now and then `b + a x`."""
    terms = (_term(coefficient, name), _term(constant))
    return _sum(*(terms[::-1] if constant > 0 and rng.random() < 0.2 else terms))


def _one(rng: Random, level: int) -> Relation:
    """An equation in x. The last number is fitted to a chosen whole solution, or left to chance."""
    most = 3 if level == 1 else 4
    x = _number(rng, most)
    a, b, c, d, e = (_number(rng, most) for _ in range(5))
    shape = rng.randrange(4)

    def bracket(factor: int, constant: int) -> Form:
        # A factor 1 would leave no brackets.
        return _term(factor if factor != 1 else 2, _line(rng, rng.choice((1, 1, 2, 3)), constant))

    match level, shape:
        case 1, 0 | 1:
            left, right = _line(rng, a, b), Form(())
        case 1, 2:
            left, right = _line(rng, 1, b), Form(())
        case 1, _:
            left, right = _line(rng, Fraction(1, rng.randint(2, 5)), b if rng.random() < 0.5 else 0), Form(())
        case 2, 0:
            left, right = bracket(a, b), Form(())
        case 2, 1:
            left, right = _sum(_term(a, "x"), _term(c, "x"), _term(b)), Form(())
        case 2, _:
            left, right = _line(rng, a, b), _term(c, "x")
        case 3, 0:
            left, right = bracket(a, b), _term(c, "x")
        case 3, 1:
            left, right = _sum(bracket(a, b), _term(c)), _term(d, "x")
        case 3, 2:
            left, right = _sum(bracket(a, b), _term(c, "x")), _term(d, "x")
        case 3, _:
            left, right = _sum(_term(a, "x"), _term(c, "x"), _term(b)), _term(d, "x")
        case _, 0 | 1:
            left, right = _sum(bracket(a, b), _term(c)), bracket(d, e)
        case _, _:
            left, right = bracket(a, b), _sum(bracket(c, d), _term(e, *(["x"] if shape == 2 else [])))
    wanted = _at(left, {"x": Fraction(x)}) - _at(right, {"x": Fraction(x)})
    last = _number(rng, 9) if rng.random() < FRACTION_SHARE else wanted
    right = _sum(right, _term(last))
    return Relation(right, "=", left) if rng.random() < 0.25 else Relation(left, "=", right)


def _at(form: Form, values: dict[str, Fraction]) -> Fraction:
    total = Fraction(0)
    for term in form.terms:
        product = term.coefficient
        for factor in term.factors:
            product *= values[factor] if isinstance(factor, str) else _at(factor, values)
        total += product
    return total


def _fitted(rng: Random, left: Form, values: dict[str, Fraction], free: bool) -> Relation:
    """`left = number`, with the number that fits the values, or any if free."""
    return Relation(left, "=", _term(_number(rng, 9) if free else _at(left, values)))


def _values(rng: Random, most: int = 4) -> dict[str, Fraction]:
    return {"x": Fraction(_number(rng, most)), "y": Fraction(_number(rng, most))}


def _eliminable(rng: Random, level: int) -> list[Relation]:
    values, free = _values(rng, 3 if level == 1 else 4), rng.random() < FRACTION_SHARE
    names = ["x", "y"] if rng.random() < 0.7 else ["y", "x"]  # the second is the one to go
    sign = rng.choice((1, -1))

    def pair(kept: int, gone: int) -> Form:
        terms = {names[0]: kept, names[1]: gone}
        return _sum(*(_term(terms[name], name) for name in ("x", "y")))

    a, b, c = _number(rng, 3), _number(rng, 3), _number(rng, 3, 2)
    match level:
        case 1:
            coefficients = (a, c), (0, sign * c)
        case 2:
            gone = rng.choice((1, c))
            coefficients = (a, gone), (b, sign * gone)
        case 3:
            coefficients = (a, c), (b, sign * c)
        case _:
            coefficients = (a, c), (b, _number(rng, 3, 2))
    first, second = coefficients
    return [_fitted(rng, pair(*first), values, free), _fitted(rng, pair(*second), values, False)]


def _substitutable(rng: Random, level: int) -> list[Relation]:
    values, free = _values(rng, 3 if level == 1 else 4), rng.random() < FRACTION_SHARE
    name, other = ("y", "x") if rng.random() < 0.7 else ("x", "y")
    m, c, a = _number(rng, 3), _number(rng, 3), _number(rng, 3)
    constant = values[name] - m * values[other]
    match level:
        case 1:
            expression, coefficients = _term(values[name]), {other: a, name: rng.choice((1, c))}
        case 2:
            expression, coefficients = _term(m, other), {other: a, name: rng.choice((1, c))}
            values[name] = m * values[other]
        case 3:
            expression = _sum(_term(m, other), _term(constant))
            coefficients = {other: a, name: rng.choice((1, c))}
        case _:
            expression = _sum(_term(m, other), _term(constant))
            coefficients = {other: a, name: _number(rng, 3, 2)}
    lone, target = _term(1, name), _sum(*(_term(coefficients[each], each) for each in ("x", "y")))
    given = Relation(expression, "=", lone) if rng.random() < 0.15 else Relation(lone, "=", expression)
    return [given, _fitted(rng, target, values, free)]
