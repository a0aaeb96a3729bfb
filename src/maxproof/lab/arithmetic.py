"""Arithmetic as it is written: trees of `+ - * /` over exact numbers, and what one step of evaluation is.

Unlike a normal form, a tree keeps the order of writing, which is what a proof by stepwise evaluation is about. Trees
are read left to right with the usual precedence; a fraction glued together (`3/4`) is a number, a spaced `/` divides.

What is read is hostile: a text above the limits, or one that doesn't parse, is None. The limits (300 characters, 48
numbers, 6 digits a number, 12 parentheses deep) bound every function here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

MAX_LENGTH = 300
MAX_NUMBERS = 48
MAX_DEPTH = 12
MAX_DIGITS = 6

_TOKEN = re.compile(rf"\s*(?:([0-9]{{1,{MAX_DIGITS}}}(?:/[0-9]{{1,{MAX_DIGITS}}})?(?![0-9]))|([-+*/()]))")
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_MODULUS = re.compile(rf"(.*\S)\s*\(mod ([0-9]{{1,{MAX_DIGITS}}})\)")
_ANSWER = re.compile(rf"the answer is (-?[0-9]{{1,{MAX_DIGITS}}}(?:/[0-9]{{1,{MAX_DIGITS}}})?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Operation:
    """`operator` is one of `+ - * /`."""

    operator: str
    left: Tree
    right: Tree


Tree: TypeAlias = "Fraction | Operation"


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right`, up to a multiple of `modulus` if there is one (at least 1)."""

    left: Tree
    right: Tree
    modulus: int | None


def parse(text: str) -> Tree | None:
    """The tree of an expression; None if it isn't one or is above the limits. Never raises."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    read = _sum(tokens, 0, 0)
    return read[0] if read is not None and read[1] == len(tokens) else None


def show(tree: Tree) -> str:
    """Canonical text, no more parentheses than needed: `parse(show(tree)) == tree`."""
    if isinstance(tree, Fraction):
        return str(tree)
    rank = _PRECEDENCE[tree.operator]
    left, right = show(tree.left), show(tree.right)
    if isinstance(tree.left, Operation) and _PRECEDENCE[tree.left.operator] < rank:
        left = f"({left})"
    if isinstance(tree.right, Operation) and _PRECEDENCE[tree.right.operator] <= rank:
        right = f"({right})"
    return f"{left} {tree.operator} {right}"


def value(tree: Tree) -> Fraction | None:
    """The exact value; None for a division by zero."""
    if isinstance(tree, Fraction):
        return tree
    left, right = value(tree.left), value(tree.right)
    return None if left is None or right is None else apply(tree.operator, left, right)


def apply(operator: str, left: Fraction, right: Fraction) -> Fraction | None:
    """One operation, exactly; None for a division by zero."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left / right if right else None


def parts(tree: Tree) -> Iterator[Tree]:
    """Every subtree, in the order of evaluation: left, right, whole."""
    if isinstance(tree, Operation):
        yield from parts(tree.left)
        yield from parts(tree.right)
    yield tree


def operations(tree: Tree) -> int:
    """How many operations are left to do."""
    return sum(isinstance(part, Operation) for part in parts(tree))


def ready(tree: Tree) -> Operation | None:
    """The first operation whose two sides are numbers; None for a number."""
    for part in parts(tree):
        if isinstance(part, Operation) and isinstance(part.left, Fraction) and isinstance(part.right, Fraction):
            return part
    return None


def replace(tree: Tree, part: Tree, by: Tree) -> Tree:
    """`tree` with every occurrence of `part` replaced."""
    if tree == part:
        return by
    if isinstance(tree, Fraction):
        return tree
    return Operation(tree.operator, replace(tree.left, part, by), replace(tree.right, part, by))


def one_step(before: Tree, after: Tree, same: Callable[[Fraction, Fraction], bool]) -> bool:
    """`after` is `before` with exactly one operation on two numbers done.

    `same` says which numbers are equal (congruent, for a calculation modulo m).
    """
    if isinstance(before, Fraction):
        return False
    if isinstance(after, Fraction):
        if not isinstance(before.left, Fraction) or not isinstance(before.right, Fraction):
            return False
        result = apply(before.operator, before.left, before.right)
        return result is not None and same(result, after)
    if before.operator != after.operator:
        return False
    if before.left == after.left:
        return one_step(before.right, after.right, same)
    return before.right == after.right and one_step(before.left, after.left, same)


def claim_text(claim: str) -> str:
    """A claim without surrounding space and final full stop."""
    return claim.strip().removesuffix(".").rstrip()


def read_equation(claim: str) -> Equation | None:
    """`E = F` or `E = F (mod m)`; None for anything else. Never raises."""
    if len(claim) > MAX_LENGTH:
        return None
    text, modulus = claim_text(claim), None
    congruence = _MODULUS.fullmatch(text)
    if congruence is not None:
        text, modulus = congruence[1], int(congruence[2])
        if modulus == 0:
            return None
    sides = text.split("=")
    if len(sides) != 2:
        return None
    left, right = parse(sides[0]), parse(sides[1])
    return None if left is None or right is None else Equation(left, right, modulus)


def read_answer(claim: str) -> Fraction | None:
    """The number of `The answer is A.`; None for anything else. Never raises."""
    match = _ANSWER.fullmatch(claim_text(claim)) if len(claim) <= MAX_LENGTH else None
    return None if match is None else _number(match[1])


def _number(text: str) -> Fraction | None:
    top, _, bottom = text.partition("/")
    if not bottom:
        return Fraction(int(top))
    return Fraction(int(top), int(bottom)) if int(bottom) else None


def _tokens(text: str) -> list[Fraction | str] | None:
    if len(text) > MAX_LENGTH:
        return None
    text = text.rstrip()
    tokens: list[Fraction | str] = []
    position = numbers = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        if match[1] is None:
            tokens.append(match[2])
        else:
            number = _number(match[1])
            if number is None:
                return None
            numbers += 1
            # A minus glued to a number with no operand before it is the number's sign.
            if (
                tokens
                and tokens[-1] == "-"
                and match.start(1) == position
                and (len(tokens) == 1 or tokens[-2] in _SIGN)
            ):
                tokens.pop()
                number = -number
            tokens.append(number)
        position = match.end()
    return tokens if numbers <= MAX_NUMBERS else None


_SIGN = frozenset("+-*/(")
_Read: TypeAlias = "tuple[Tree, int] | None"


def _sum(tokens: list[Fraction | str], at: int, depth: int) -> _Read:
    return _chain(tokens, at, depth, "+-", _product)


def _product(tokens: list[Fraction | str], at: int, depth: int) -> _Read:
    return _chain(tokens, at, depth, "*/", _operand)


def _chain(
    tokens: list[Fraction | str],
    at: int,
    depth: int,
    operators: str,
    operand: Callable[[list[Fraction | str], int, int], _Read],
) -> _Read:
    read = operand(tokens, at, depth)
    while read is not None and read[1] < len(tokens):
        tree, at = read
        operator = tokens[at]
        if not isinstance(operator, str) or operator not in operators:
            break
        right = operand(tokens, at + 1, depth)
        read = None if right is None else (Operation(operator, tree, right[0]), right[1])
    return read


def _operand(tokens: list[Fraction | str], at: int, depth: int) -> _Read:
    if at >= len(tokens):
        return None
    token = tokens[at]
    if isinstance(token, Fraction):
        return token, at + 1
    if token != "(" or depth >= MAX_DEPTH:
        return None
    read = _sum(tokens, at + 1, depth + 1)
    if read is None or read[1] >= len(tokens) or tokens[read[1]] != ")":
        return None
    return read[0], read[1] + 1
