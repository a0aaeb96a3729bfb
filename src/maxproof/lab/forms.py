"""Formulas as written: sums of terms that keep their order and their brackets.

    form = read_form("3 (x - 2) + 1")
    polynomial_of(form)                      # 3 x - 5, expanded and collected
    write(form)                              # "3 (x - 2) + 1", the canonical text
    read_relation("3 (x - 2) + 1 = 4")

So "expanded" and "collected" can be told from "to be expanded". Only this is done while reading: numbers within one
product are multiplied, a sum in brackets that is added as it stands loses them, and terms with coefficient 0 go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from maxproof.lab.expressions import MAX_CHARS, Binary, Negative, Node, Number, Variable, parse
from maxproof.lab.polynomials import MAX_TERMS, Monomial, Polynomial, TooLarge, bounded, powered, variable

MAX_FACTORS = 24


@dataclass(frozen=True, slots=True)
class Form:
    """A sum as written. `terms` in order; no terms is 0."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A product: a coefficient that is not 0, and factors (variables, sums in brackets), repeated for powers."""

    coefficient: Fraction
    factors: tuple[str | Form, ...] = ()


@lru_cache(maxsize=4096)
def form_of(node: Node) -> Form | None:
    """The form of a tree; None when it divides by zero or by a variable, or is beyond the limits."""
    try:
        return _form(node)
    except (TooLarge, ZeroDivisionError):
        return None


def read_form(text: str) -> Form | None:
    """`parse` and `form_of` at once."""
    node = parse(text)
    return None if node is None else form_of(node)


def number_form(value: Fraction | int) -> Form:
    """The form of a number."""
    return Form((Term(Fraction(value)),)) if value else Form(())


def _form(node: Node) -> Form:
    match node:
        case Number(value):
            return number_form(value)
        case Variable(name):
            return Form((Term(Fraction(1), (name,)),))
        case Negative(inner):
            return times(number_form(-1), _form(inner))
        case Binary("+", left, right):
            return added(_form(left), _form(right))
        case Binary("-", left, right):
            return added(_form(left), times(number_form(-1), _form(right)))
        case Binary("*", left, right):
            return times(_form(left), _form(right))
        case Binary("/", left, right):
            divisor = polynomial_of(_form(right))
            if divisor is None or (quotient := divisor.constant()) is None:
                raise TooLarge
            return times(_form(left), number_form(1 / quotient))
        case Binary(_, left, Number(exponent)):
            base = _form(left)
            if len(base.terms) == 1 and not base.terms[0].factors:
                return number_form(powered(base.terms[0].coefficient, exponent))
            result = number_form(1)
            for _ in range(exponent):
                result = _multiplied(result, base)
            return _flattened(result)
    raise TooLarge


def added(first: Form, second: Form) -> Form:
    """The terms of both, one after the other. Raises TooLarge."""
    if len(first.terms) + len(second.terms) > MAX_TERMS:
        raise TooLarge
    return Form(first.terms + second.terms)


def times(first: Form, second: Form) -> Form:
    """The product as written: numbers are multiplied, sums stay in brackets. Raises TooLarge."""
    return _flattened(_multiplied(first, second))


def _multiplied(first: Form, second: Form) -> Form:
    # One term, whose factors may be sums with coefficient 1: not flattened, so that powers of sums keep their base.
    if not first.terms or not second.terms:
        return Form(())
    coefficient = Fraction(1)
    factors: tuple[str | Form, ...] = ()
    for form in (first, second):
        if len(form.terms) == 1:
            coefficient *= form.terms[0].coefficient
            factors += form.terms[0].factors
        else:
            factors = (*factors, form)
    if len(factors) > MAX_FACTORS:
        raise TooLarge
    return Form((Term(bounded(coefficient), factors),))


def _flattened(form: Form) -> Form:
    if len(form.terms) == 1 and form.terms[0].coefficient == 1 and len(form.terms[0].factors) == 1:
        (factor,) = form.terms[0].factors
        if isinstance(factor, Form):
            return factor
    return form


def substituted(form: Form, name: str, value: Form) -> Form:
    """Every occurrence of a variable replaced, nothing expanded or collected. Raises TooLarge."""
    result = Form(())
    for term in form.terms:
        product = number_form(term.coefficient)
        for factor in term.factors:
            if isinstance(factor, Form):
                product = _multiplied(product, substituted(factor, name, value))
            elif factor == name:
                product = _multiplied(product, value)
            else:
                product = _multiplied(product, Form((Term(Fraction(1), (factor,)),)))
        result = added(result, _flattened(product))
    return result


def scaled(form: Form, number: Fraction) -> Form:
    """Every term multiplied by a number that is not 0. Raises TooLarge."""
    result = Form(())
    for term in form.terms:
        result = added(result, _flattened(Form((Term(bounded(term.coefficient * number), term.factors),))))
    return result


@lru_cache(maxsize=8192)
def canonical(form: Form) -> Form:
    """The same form with terms and factors in a fixed order: two texts that differ only by order agree."""
    terms = []
    for term in form.terms:
        factors = tuple(canonical(factor) if isinstance(factor, Form) else factor for factor in term.factors)
        terms.append(Term(term.coefficient, tuple(sorted(factors, key=_factor_key))))
    return Form(tuple(sorted(terms, key=lambda term: (tuple(map(_factor_key, term.factors)), term.coefficient))))


def _factor_key(factor: str | Form) -> tuple[int, str]:
    return (0, factor) if isinstance(factor, str) else (1, write(factor))


def has_brackets(form: Form) -> bool:
    """Whether something is left to expand."""
    return any(isinstance(factor, Form) for term in form.terms for factor in term.factors)


def is_collected(form: Form) -> bool:
    """Whether nothing is left to do: no brackets, no two like terms."""
    kinds = [tuple(sorted(map(str, term.factors))) for term in form.terms]
    return not has_brackets(form) and len(set(kinds)) == len(kinds)


# --- writing ----------------------------------------------------------------------------------------------------------


def write_number(value: Fraction | int) -> str:
    """`3`, `-3/4`."""
    return str(Fraction(value))


def write(form: Form) -> str:
    """The canonical text, in the order of the terms: `-3 x^2 + 1/2 x - 2 (y + 1)`.

    A leading minus is glued to a number, so -x is `-1 x` (at a line start `- x` would be an item of a list).
    """
    if not form.terms:
        return "0"
    parts: list[str] = []
    for term in form.terms:
        negative = term.coefficient < 0
        if not parts:
            parts.append(_write_term(term.coefficient, term.factors))
        else:
            parts.append("-" if negative else "+")
            parts.append(_write_term(abs(term.coefficient), term.factors))
    return " ".join(parts)


def _write_term(coefficient: Fraction, factors: Iterable[str | Form]) -> str:
    written: list[str] = []
    counts: dict[str, int] = {}
    for factor in factors:
        text = factor if isinstance(factor, str) else f"({write(factor)})"
        counts[text] = counts.get(text, 0) + 1
    for text, count in counts.items():
        written.append(text if count == 1 else f"{text}^{count}")
    if not written:
        return write_number(coefficient)
    return " ".join(written if coefficient == 1 else [write_number(coefficient), *written])


def shape(form: Form) -> str:
    """The form without its numbers: `+n x -n`, units apart."""
    parts = []
    for term in form.terms:
        size = "" if term.factors and abs(term.coefficient) == 1 else "n" if term.coefficient.denominator == 1 else "q"
        inner = " ".join(factor if isinstance(factor, str) else f"({shape(factor)})" for factor in term.factors)
        parts.append(f"{'-' if term.coefficient < 0 else '+'}{size} {inner}".strip())
    return " ".join(parts) or "0"


# --- from and to polynomials ------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def polynomial_of(form: Form) -> Polynomial | None:
    """The form expanded and collected; None beyond the limits."""
    try:
        return _polynomial(form)
    except TooLarge:
        return None


def _polynomial(form: Form) -> Polynomial:
    total = Polynomial()
    for term in form.terms:
        product = Polynomial.of({(): term.coefficient})
        for factor in term.factors:
            product = product * (_polynomial(factor) if isinstance(factor, Form) else variable(factor))
        total = total + product
    return total


def collected(polynomial: Polynomial) -> Form:
    """The form in which a polynomial is written: higher degrees first, then by variables, the constant last."""

    def order(item: tuple[Monomial, Fraction]) -> tuple[int, tuple[tuple[str, int], ...]]:
        return -sum(exponent for _, exponent in item[0]), tuple((name, -exponent) for name, exponent in item[0])

    return Form(
        tuple(
            Term(value, tuple(name for name, exponent in monomial for _ in range(exponent)))
            for monomial, value in sorted(polynomial.terms, key=order)
        )
    )


# --- relations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relation:
    """`left symbol right`, the symbol one of = >= <=."""

    left: Form
    symbol: str
    right: Form


_RELATION = re.compile(r"([^=<>]+)(>=|<=|=)([^=<>]+)")


@lru_cache(maxsize=4096)
def read_relation(text: str) -> Relation | None:
    """One relation between two expressions; None for anything else, chains included. Never raises."""
    if len(text) > 2 * MAX_CHARS:
        return None
    found = _RELATION.fullmatch(text)
    if found is None:
        return None
    left, right = read_form(found.group(1)), read_form(found.group(3))
    return None if left is None or right is None else Relation(left, found.group(2), right)


def write_relation(relation: Relation) -> str:
    """The canonical text, without a full stop."""
    return f"{write(relation.left)} {relation.symbol} {write(relation.right)}"
