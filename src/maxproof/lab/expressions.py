"""Exact expressions: what a formula of the controlled language says, and how it is written.

    node = parse("3 (x - 2) + 1")            # a tree, or None: never an exception
    evaluate(node, {"x": Fraction(2)})       # Fraction(1)
    form = form_of(node)                     # as written: a sum of terms, products of numbers worked out
    polynomial_of(form)                      # 3 x - 5, expanded and collected
    write(form)                              # "3 (x - 2) + 1", the canonical text

Grammar: sums of products of powers; integers, variables of one small letter, `+ - * / ^ ( )`; before a variable or a
bracket `*` may be left out. `1/2 x` is a half of x; `x / 2 y` is refused, as it can be read in two ways. All limits
(length, nesting, exponents, sizes of numbers, terms) end in None.

A `Form` keeps the written order and the brackets, so that "expanded" and "collected" can be told from "to be expanded".
Only this is done while reading: numbers within one product are multiplied, a sum in brackets that is added as it stands
loses them, and terms with coefficient 0 go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MAX_CHARS = 300
MAX_TOKENS = 160
MAX_DEPTH = 8
MAX_DIGITS = 9
MAX_EXPONENT = 24
MAX_FACTORS = 24
MAX_BITS = 256
MAX_TERMS = 120


class TooLarge(ValueError):
    """Beyond a limit of this file."""


# --- trees ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """An integer as written, without a sign."""

    value: int


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    inner: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """`operator` is one of + - * / ^; the exponent of ^ is a `Number`."""

    operator: str
    left: Node
    right: Node


Node = Number | Variable | Negative | Binary

_TOKEN = re.compile(r"[ \t]*([0-9]+|[a-z](?![A-Za-z])|[-+*/^()])")


def _tokens(text: str) -> list[str] | None:
    if len(text) > MAX_CHARS:
        return None
    text = text.strip(" \t")
    found: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(found) >= MAX_TOKENS:
            return None
        token = match.group(1)
        if token[0].isdigit() and len(token) > MAX_DIGITS:
            return None
        found.append(token)
        position = match.end()
    return found


class _Refused(Exception):
    """The text is not an expression."""


class _Parser:
    """Recursive descent; nesting is bounded by MAX_DEPTH, chains of signs by MAX_TOKENS."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def sum(self) -> Node:
        node = self.product()
        while self.peek() in ("+", "-"):
            node = Binary(self.take(), node, self.product())
        return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            following = self.peek()
            if following in ("*", "/"):
                node = Binary(self.take(), node, self.signed())
            elif following == "(" or following.isalpha():
                if _ends_in_quotient(node):
                    raise _Refused
                node = Binary("*", node, self.power())
            else:
                return node

    def signed(self) -> Node:
        negative = False
        while self.peek() == "-":
            self.take()
            negative = not negative
        node = self.power()
        return Negative(node) if negative else node

    def power(self) -> Node:
        node = self.atom()
        if self.peek() == "^":
            self.take()
            exponent = self.take()
            if not exponent.isdigit() or int(exponent) > MAX_EXPONENT:
                raise _Refused
            node = Binary("^", node, Number(int(exponent)))
        return node

    def atom(self) -> Node:
        token = self.take()
        if token.isdigit():
            return Number(int(token))
        if token.isalpha():
            return Variable(token)
        if token != "(" or self.depth >= MAX_DEPTH:
            raise _Refused
        self.depth += 1
        node = self.sum()
        self.depth -= 1
        if self.take() != ")":
            raise _Refused
        return node


def _ends_in_quotient(node: Node) -> bool:
    """`x / 2` before a variable could go on below the bar; `1/2` is a number."""
    if not (isinstance(node, Binary) and node.operator == "/"):
        return False
    left = node.left.inner if isinstance(node.left, Negative) else node.left
    return not (isinstance(left, Number) and isinstance(node.right, Number))


@lru_cache(maxsize=4096)
def parse(text: str) -> Node | None:
    """The tree of an expression; None for anything else, or beyond the limits. Never raises."""
    tokens = _tokens(text)
    if not tokens:
        return None
    parser = _Parser(tokens)
    try:
        node = parser.sum()
    except _Refused:
        return None
    return node if parser.position == len(tokens) else None


def variables(node: Node) -> frozenset[str]:
    """The names of the variables that occur."""
    match node:
        case Number():
            return frozenset()
        case Variable(name):
            return frozenset({name})
        case Negative(inner):
            return variables(inner)
        case Binary(_, left, right):
            return variables(left) | variables(right)


def evaluate(node: Node, values: Mapping[str, Fraction] | None = None) -> Fraction | None:
    """The exact value; None for an unknown variable, a division by zero, or numbers beyond MAX_BITS."""
    try:
        return _value(node, values or {})
    except (KeyError, ZeroDivisionError, TooLarge):
        return None


def _value(node: Node, values: Mapping[str, Fraction]) -> Fraction:
    match node:
        case Number(value):
            return Fraction(value)
        case Variable(name):
            return values[name]
        case Negative(inner):
            return -_value(inner, values)
        case Binary(operator, left, right):
            first, second = _value(left, values), _value(right, values)
            match operator:
                case "+":
                    return _bounded(first + second)
                case "-":
                    return _bounded(first - second)
                case "*":
                    return _bounded(first * second)
                case "/":
                    return _bounded(first / second)
                case _:
                    return _powered(first, int(second))


def _bounded(number: Fraction) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise TooLarge
    return number


def _powered(base: Fraction, exponent: int) -> Fraction:
    if exponent * max(base.numerator.bit_length(), base.denominator.bit_length()) > MAX_BITS:
        raise TooLarge
    return base**exponent


# --- forms: as written ------------------------------------------------------------------------------------------------


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
                return number_form(_powered(base.terms[0].coefficient, exponent))
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
    return Form((Term(_bounded(coefficient), factors),))


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
        result = added(result, _flattened(Form((Term(_bounded(term.coefficient * number), term.factors),))))
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


# --- polynomials ------------------------------------------------------------------------------------------------------

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
        kept = {monomial: _bounded(Fraction(value)) for monomial, value in coefficients.items() if value}
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
                value = _bounded(value * _powered(values[name], exponent))
            total = _bounded(total + value)
        return total


def _joined(first: Monomial, second: Monomial) -> Monomial:
    exponents = dict(first)
    for name, exponent in second:
        exponents[name] = exponents.get(name, 0) + exponent
    if sum(exponents.values()) > MAX_EXPONENT:
        raise TooLarge
    return tuple(sorted(exponents.items()))


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


def variable(name: str) -> Polynomial:
    """The polynomial of one variable."""
    return Polynomial((((((name, 1),)), Fraction(1)),))


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
