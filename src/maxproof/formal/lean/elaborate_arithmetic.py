"""Trees of arithmetic, as Lean's `binop%` and `binrel%` elaborate them.

All of `+ - * / %`, unary `-`, `⁻¹` and the bases of `^` that hang together, through parentheses, are one tree. Its
leaves are elaborated without an expected type; the largest of their types (and of the expected one, for arithmetic
outside a relation) is the tree's type, and each leaf is coerced to it. Leaves whose type is not known (numerals, `↑x`,
bound variables that nothing has fixed yet) take that type. Exponents are no part of the tree. An ascription `(a : T)`,
a function's argument, the body of `∑` and anything else is a leaf, with a tree of its own inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from maxproof.formal.lean.terms import (
    Arith,
    Compare,
    Inverse,
    Meta,
    Negate,
    Power,
    ProductType,
    SetOperation,
    SetType,
    Term,
    Tuple,
    Type,
)
from maxproof.formal.lean.tree import Display, Infix, Postfix, Prefix, Syntax
from maxproof.formal.lean.unify import coerces, is_number
from maxproof.formal.syntax.ast import Position

if TYPE_CHECKING:
    from maxproof.formal.lean.elaborate import Elaborator

OPERATORS: Final = ("+", "-", "*", "/", "%", "^")


@dataclass(frozen=True, slots=True)
class _Node:
    """An operator of a tree; `exponent` is the finished exponent of a power."""

    op: str
    parts: tuple[_Node | _Leaf, ...]
    at: Position
    exponent: Term | None = None


@dataclass(frozen=True, slots=True)
class _Leaf:
    term: Term


def arithmetic(e: Elaborator, syntax: Syntax, expected: Type | None) -> Term:
    """One tree of arithmetic that no relation is part of."""
    tree = _tree(e, syntax)
    return _assemble(e, tree, _largest(e, _terms(tree), e.known(expected)))


def relation(e: Elaborator, op: str, left: Syntax, right: Syntax, at: Position) -> Term:
    """`left op right`: one tree with both sides in it."""
    symbol = cast(Literal["="], op)
    if op in ("=", "≠") and (_is_set_literal(left) or _is_set_literal(right)):
        return Compare(symbol, *same_sets(e, left, right, None), at=at)
    first, second = _tree(e, left), _tree(e, right)
    if isinstance(first, _Leaf) and isinstance(second, _Leaf) and not _numeric(e, first.term, second.term):
        return Compare(symbol, *_alike(e, first.term, second.term), at=at)
    type_ = _largest(e, [*_terms(first), *_terms(second)], None)
    return Compare(symbol, _assemble(e, first, type_), _assemble(e, second, type_), at=at)


def _tree(e: Elaborator, syntax: Syntax) -> _Node | _Leaf:
    """The tree at `syntax`, its leaves elaborated from left to right."""
    match syntax:
        case Infix("+" | "-" | "*" | "/" | "%" as op, left, right, at):
            return _Node(op, (_tree(e, left), _tree(e, right)), at)
        case Infix("^", left, right, at):
            base = _tree(e, left)
            return _Node("^", (base,), at, _exponent(e, right))
        case Prefix("-", operand, at):
            return _Node("neg", (_tree(e, operand),), at)
        case Postfix("⁻¹", operand, at):
            return _Node("⁻¹", (_tree(e, operand),), at)
    return _Leaf(e.term(syntax))


def _exponent(e: Elaborator, syntax: Syntax) -> Term:
    """An exponent: of type ℕ where nothing else will fix its type (Mathlib's default instance)."""
    exponent = e.term(syntax)
    if isinstance(e.unifier.resolve(exponent.type), Meta):
        e.unifier.unify(exponent.type, e.unifier.fresh(natural=True))
    return exponent


def _terms(tree: _Node | _Leaf) -> list[Term]:
    return [tree.term] if isinstance(tree, _Leaf) else [t for part in tree.parts for t in _terms(part)]


def _numeric(e: Elaborator, *terms: Term) -> bool:
    types = [e.unifier.resolve(t.type) for t in terms]
    return all(is_number(t) or isinstance(t, Meta) for t in types)


def _largest(e: Elaborator, leaves: Sequence[Term], expected: Type | None) -> Type:
    """The type of a tree with these leaves; where none is known, one for all of them that is to be found out."""
    largest = expected
    for leaf in leaves:
        type_ = e.unifier.resolve(leaf.type)
        if isinstance(type_, Meta):
            continue
        if not is_number(type_):
            e.refuse(f"arithmetic on something of type {type_}", leaf.at)
        if largest is None:
            largest = type_
        elif type_ != largest and not coerces(type_, largest):
            if not coerces(largest, type_):
                e.refuse(f"{type_} and {largest} in one expression", leaf.at)
            largest = type_
    return largest if largest is not None else e.unifier.fresh()


def _assemble(e: Elaborator, tree: _Node | _Leaf, type_: Type) -> Term:
    if isinstance(tree, _Leaf):
        return e.ensure(tree.term, type_)
    parts = [_assemble(e, part, type_) for part in tree.parts]
    match tree.op:
        case "neg":
            return Negate(parts[0], type_, at=tree.at)
        case "⁻¹":
            return Inverse(parts[0], type_, at=tree.at)
        case "^":
            assert tree.exponent is not None
            return Power(parts[0], tree.exponent, type_, at=tree.at)
    return Arith(cast(Literal["+"], tree.op), parts[0], parts[1], type_, at=tree.at)


# Sets and tuples


def _is_set_literal(syntax: Syntax) -> bool:
    return isinstance(syntax, Display) and syntax.kind == "{}"


def same_sets(e: Elaborator, left: Syntax, right: Syntax, expected: Type | None) -> tuple[Term, Term]:
    """Two sets of one type; a literal takes its type from the other."""
    if _is_set_literal(left) and not _is_set_literal(right):
        second = e.term(right, expected)
        return e.ensure(e.term(left, second.type), second.type), second
    first = e.term(left, expected)
    type_ = e.unifier.resolve(first.type)
    if not isinstance(type_, SetType):
        e.refuse(f"a set operation on something of type {type_}", left.at)
    return first, e.ensure(e.term(right, first.type), first.type)


def set_operation(e: Elaborator, syntax: Infix, expected: Type | None) -> Term:
    """`∪`, `∩` or `\\`."""
    first, second = same_sets(e, syntax.left, syntax.right, expected)
    return SetOperation(cast(Literal["∪"], syntax.op), first, second, first.type, at=syntax.at)


def _alike(e: Elaborator, left: Term, right: Term) -> tuple[Term, Term]:
    """Two terms of one type that is no number type."""
    first, second = e.unifier.resolve(left.type), e.unifier.resolve(right.type)
    if isinstance(first, ProductType) and isinstance(left, Tuple) and isinstance(right, Tuple):
        if not e.unifier.unify(first, second):
            e.refuse("tuples of different types", right.at)
        return left, right
    return left, e.ensure(right, left.type)
