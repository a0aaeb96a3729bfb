"""Telescoping: terms written as a difference (or quotient) of neighbours, and what is left when all else cancels.

A *split* writes the term as U(k) - V(k), or U(k) / V(k) in a product, where one of the two is the other shifted by
`gap` places. Of a sum from a to b, with V(k) = U(k + gap), there is left U(a) + ... + U(a + gap - 1) minus
U(b + 1) - ... - U(b + gap); with U(k) = V(k + gap) it is the other way round. Identities in k are decided exactly, as
equality of rational functions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from maxproof.lab.expressions import Binary, Negative, Node, Number, Variable, evaluate, parse
from maxproof.lab.forms import form_of, polynomial_of, write
from maxproof.lab.polynomials import Polynomial, TooLarge

VARIABLE = "k"
MAX_GAP = 4
_K: tuple[tuple[str, int], ...] = ((VARIABLE, 1),)


@dataclass(frozen=True, slots=True)
class Split:
    """`base` is U if `forwards` (V is U shifted), else V (U is V shifted); `gap` is at least 1."""

    base: Node
    gap: int
    forwards: bool


@dataclass(frozen=True, slots=True)
class Ends:
    """What is left: the numbers that are added (multiplied), and those that are subtracted (divided by)."""

    plus: tuple[Fraction, ...]
    minus: tuple[Fraction, ...]


def rational(node: Node, shift: int = 0) -> tuple[Polynomial, Polynomial] | None:
    """Numerator and denominator at k + shift; None for other variables, a zero denominator, or beyond the limits."""
    try:
        return _rational(node, shift)
    except (TooLarge, KeyError, ZeroDivisionError):
        return None


def _constant(number: int) -> Polynomial:
    return Polynomial.of({(): number})


def _rational(node: Node, shift: int) -> tuple[Polynomial, Polynomial]:
    match node:
        case Number(number):
            return _constant(number), _constant(1)
        case Variable(name):
            if name != VARIABLE:
                raise KeyError(name)
            return Polynomial.of({_K: 1, (): shift}), _constant(1)
        case Negative(inner):
            top, bottom = _rational(inner, shift)
            return -top, bottom
        case Binary("^", left, Number(exponent)):
            top, bottom = _rational(left, shift)
            tops, bottoms = _constant(1), _constant(1)
            for _ in range(exponent):
                tops, bottoms = tops * top, bottoms * bottom
            return tops, bottoms
        case Binary(operator, left, right):
            (top, bottom), (other_top, other_bottom) = _rational(left, shift), _rational(right, shift)
            match operator:
                case "+":
                    return top * other_bottom + other_top * bottom, bottom * other_bottom
                case "-":
                    return top * other_bottom - other_top * bottom, bottom * other_bottom
                case "*":
                    return top * other_top, bottom * other_bottom
            if not other_top.terms:
                raise ZeroDivisionError
            return top * other_bottom, bottom * other_top
    raise KeyError(node)


def identical(left: Node, right: Node, left_shift: int = 0, right_shift: int = 0) -> bool | None:
    """Whether two expressions in k are equal for every k; None if that can't be told within the limits."""
    first, second = rational(left, left_shift), rational(right, right_shift)
    if first is None or second is None:
        return None
    try:
        return first[0] * second[1] == second[0] * first[1]
    except TooLarge:
        return None


@lru_cache(maxsize=2048)
def neighbours(node: Node, product: bool) -> Split | None:
    """The split that an expression is as it is written: a difference, in a product a quotient, of neighbours."""
    if not isinstance(node, Binary) or node.operator != ("/" if product else "-"):
        return None
    for gap in range(1, MAX_GAP + 1):
        if identical(node.right, node.left, right_shift=gap):
            return Split(node.left, gap, forwards=True)
        if identical(node.left, node.right, right_shift=gap):
            return Split(node.right, gap, forwards=False)
    return None


def ends(split: Split, first: int, last: int, product: bool) -> Ends | None:
    """What is left for k from `first` to `last`; None if the base has no value there."""
    early = [_at(split.base, first + index) for index in range(split.gap)]
    late = [_at(split.base, last + 1 + index) for index in range(split.gap)]
    numbers = [number for number in (*early, *late) if number is not None]
    if len(numbers) < 2 * split.gap or (product and 0 in numbers):
        return None
    sides = tuple(numbers[: split.gap]), tuple(numbers[split.gap :])
    return Ends(*sides) if split.forwards else Ends(sides[1], sides[0])


def _at(node: Node, k: int) -> Fraction | None:
    return evaluate(node, {VARIABLE: Fraction(k)})


def is_written(node: Node, left: Ends, product: bool) -> bool:
    """`node` writes just these ends, in any order; zeros of a sum and ones of a product may be left out."""
    plus, minus = Counter[Fraction](), Counter[Fraction]()
    if product:
        if not _factors(node, True, plus, minus):
            return False
        expected = Counter(left.plus), Counter(left.minus)
        for counter in (plus, minus, *expected):
            del counter[Fraction(1)]
        return (plus, minus) == expected
    if not _summands(node, 1, plus):
        return False
    signed = Counter(left.plus) + Counter([-number for number in left.minus])
    for counter in (plus, signed):
        del counter[Fraction(0)]
    return plus == signed


def _summands(node: Node, sign: int, found: Counter[Fraction]) -> bool:
    if isinstance(node, Binary) and node.operator in "+-":
        return _summands(node.left, sign, found) and _summands(
            node.right, sign if node.operator == "+" else -sign, found
        )
    number = _number(node)
    if number is not None:
        found[sign * number] += 1
    return number is not None


def _factors(node: Node, above: bool, tops: Counter[Fraction], bottoms: Counter[Fraction]) -> bool:
    if isinstance(node, Binary) and node.operator in "*/":
        return _factors(node.left, above, tops, bottoms) and _factors(
            node.right, above if node.operator == "*" else not above, tops, bottoms
        )
    if not isinstance(node, Number):
        return False
    (tops if above else bottoms)[Fraction(node.value)] += 1
    return True


def _number(node: Node) -> Fraction | None:
    """A number, or a quotient of two."""
    if isinstance(node, Binary) and node.operator == "/":
        return evaluate(node) if _is_integer(node.left) and isinstance(node.right, Number) else None
    return evaluate(node) if _is_integer(node) else None


def _is_integer(node: Node) -> bool:
    return isinstance(node.inner if isinstance(node, Negative) else node, Number)


def write_ends(left: Ends, product: bool) -> str:
    """The canonical text: `1 + 1/2 - 1/6 - 1/7`, `6 * 7 / (2 * 3)`, `8/2`; ones of a product are left out."""
    if product:
        tops = [str(number) for number in left.plus if number != 1] or ["1"]
        bottoms = [str(number) for number in left.minus if number != 1]
        if not bottoms:
            return " * ".join(tops)
        if len(tops) == len(bottoms) == 1:
            return f"{tops[0]}/{bottoms[0]}"
        bottom = " * ".join(bottoms)
        return f"{' * '.join(tops)} / " + (f"({bottom})" if len(bottoms) > 1 else bottom)
    signed = [*left.plus, *(-number for number in left.minus)]
    text = str(signed[0])
    for number in signed[1:]:
        text += f" - {-number}" if number < 0 else f" + {number}"
    return text


@lru_cache(maxsize=2048)
def identity_for(term: Node, product: bool) -> str | None:
    """The other side of the identity that makes a split of a term that is none: `1 / k - 1 / (k + 1)`, `(k + 1) / k`.

    For c / (A B) in a sum, with B - A a constant that divides c; for 1 + c / A or 1 - c / A in a product. None else.
    """
    match term:
        case Binary("/", Number(number), Binary("*", first, second)) if not product:
            step = _difference(second, first)
            if step is None or step <= 0 or step.denominator != 1 or number % step.numerator:
                return None
            top = number // step.numerator
            text = f"{top} / {_bracketed(first)} - {top} / {_bracketed(second)}"
        case Binary("+" | "-" as sign, Number(1), Binary("/", Number() as number_node, below)) if product:
            top_form = form_of(Binary(sign, below, number_node))
            top_polynomial = None if top_form is None else polynomial_of(top_form)
            if top_polynomial is None:
                return None
            text = f"{_linear(top_polynomial)} / {_bracketed(below)}"
        case _:
            return None
    node = parse(text)
    proper = node is not None and identical(term, node) and neighbours(node, product) is not None
    return text if proper else None


def _difference(left: Node, right: Node) -> Fraction | None:
    form = form_of(Binary("-", left, right))
    polynomial = None if form is None else polynomial_of(form)
    return None if polynomial is None else polynomial.constant()


def _bracketed(node: Node) -> str:
    form = form_of(node)
    text = "0" if form is None else write(form)
    return text if isinstance(node, Variable | Number) else f"({text})"


def _linear(polynomial: Polynomial) -> str:
    """`(2 k + 1)`, `k`: a polynomial of degree 1 in brackets unless it is just k."""
    times, constant = polynomial.coefficient(_K), polynomial.coefficient()
    text = VARIABLE if times == 1 else f"{times} {VARIABLE}"
    if constant:
        text += f" + {constant}" if constant > 0 else f" - {-constant}"
    return text if text == VARIABLE else f"({text})"
