"""Arithmetic as it is written: trees of `+ - * /` over exact numbers, and what one step of evaluation is.

Unlike a normal form, a tree keeps the order of writing, which is what a proof by stepwise evaluation is about. Trees
come from `expressions.parse`, whose limits bound every function here; a quotient of two integers is one number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from maxproof.lab import expressions
from maxproof.lab.language import answer_of

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_MODULUS = re.compile(r"(.*[^ ]) *\(mod ([0-9]{1,6})\)")


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
    """The tree of an expression without variables and powers; None for anything else. Never raises."""
    node = expressions.parse(text)
    return None if node is None else tree_of(node)


def tree_of(node: expressions.Node) -> Tree | None:
    """The tree of a parsed expression; None if it has variables, powers or a sign before a bracket."""
    number = _integer(node)
    if number is not None:
        return Fraction(number)
    if not isinstance(node, expressions.Binary) or node.operator == "^":
        return None
    if node.operator == "/":
        top, bottom = _integer(node.left), _integer(node.right)
        if top is not None and bottom:
            return Fraction(top, bottom)
    left, right = tree_of(node.left), tree_of(node.right)
    return None if left is None or right is None else Operation(node.operator, left, right)


def _integer(node: expressions.Node) -> int | None:
    if isinstance(node, expressions.Negative) and isinstance(node.inner, expressions.Number):
        return -node.inner.value
    return node.value if isinstance(node, expressions.Number) else None


def show(tree: Tree) -> str:
    """Canonical text, no more parentheses than needed: `parse(show(tree)) == tree` for numbers without a fraction."""
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
    """`tree` with every occurrence of `part` replaced; a quotient of two integers becomes a number."""
    if tree == part:
        return by
    if isinstance(tree, Fraction):
        return tree
    left, right = replace(tree.left, part, by), replace(tree.right, part, by)
    match tree.operator, left, right:
        case "/", Fraction(denominator=1), Fraction(denominator=1) if right:
            return left / right
    return Operation(tree.operator, left, right)


def put_in(form: Tree, left: Tree, right: Tree, same: Callable[[Fraction, Fraction], bool]) -> tuple[Tree, bool]:
    """The form with a true equation put in, and whether `left` occurs in it.

    If it does not, the equation is put in for the first operation of the same kind on `same` values, if there is one:
    that is what was meant if steps were left out.
    """
    if any(left == part for part in parts(form)):
        return replace(form, left, right), True
    if isinstance(left, Operation):
        for part in parts(form):
            if isinstance(part, Operation) and part.operator == left.operator:
                pairs = [(value(a), value(b)) for a, b in ((part.left, left.left), (part.right, left.right))]
                if all(a is not None and b is not None and same(a, b) for a, b in pairs):
                    return replace(form, part, right), False
    return form, False


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


def read_equation(claim: str) -> Equation | None:
    """`E = F` or `E = F (mod m)`; None for anything else. Never raises."""
    text, modulus = claim.strip().removesuffix("."), None
    congruence = _MODULUS.fullmatch(text) if len(text) <= expressions.MAX_CHARS else None
    if congruence is not None:
        text, modulus = congruence[1], int(congruence[2])
        if modulus == 0:
            return None
    sides = text.split("=", 2)
    if len(sides) != 2:
        return None
    left, right = parse(sides[0]), parse(sides[1])
    return None if left is None or right is None else Equation(left, right, modulus)


def read_answer(claim: str) -> Fraction | None:
    """The number of `The answer is A.`; None for anything else. Never raises."""
    text = answer_of(claim.strip().removesuffix("."))
    number = None if text is None else parse(text)
    return number if isinstance(number, Fraction) else None
