"""Exact expressions: what a formula of the controlled language says.

    node = parse("3 (x - 2) + 1")            # a tree, or None: never an exception
    evaluate(node, {"x": Fraction(2)})       # Fraction(1)

Grammar: sums of products of powers; integers, variables of one small letter, `+ - * / ^ ( )`; before a variable or a
bracket `*` may be left out. `1/2 x` is a half of x; `x / 2 y` is refused, as it can be read in two ways. All limits
(length, nesting, exponents, sizes of numbers, terms) end in None. `forms.py` says how a formula is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from maxproof.lab.polynomials import MAX_EXPONENT, TooLarge, bounded, powered

MAX_CHARS = 300
MAX_TOKENS = 160
MAX_DEPTH = 8
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Number:
    """An integer as written, without a sign."""

    value: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`name` is one small letter."""

    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """`inner` with a minus sign before it."""

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
                    return bounded(first + second)
                case "-":
                    return bounded(first - second)
                case "*":
                    return bounded(first * second)
                case "/":
                    return bounded(first / second)
                case _:
                    return powered(first, int(second))
