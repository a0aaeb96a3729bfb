"""A question about polynomials over the reals that follows from no more than the original does.

Every number becomes a real, everything that isn't a polynomial a new variable: calls, quotients, floors, remainders,
cardinalities, and truth values that aren't comparisons. What is known of these is added as polynomial facts. If the
result has no solution, neither has the original; the other way round says nothing.
"""

from __future__ import annotations

from typing import Any

import z3

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    Int,
    Invoke,
    Let,
    Op,
    Proved,
    Real,
    Term,
)
from maxproof.formal.embedded.core.walk import substitute

Expr = Any  # z3.ExprRef
PAIRS = 40  # pairs of calls that are told to agree on equal arguments
DEGREE = 40  # of a product; more is left to other ways


class TooHard(Exception):
    """Not a question that polynomials help with."""


class Relaxation:
    """Collects formulas over the reals in `context`.

    Attributes:
        facts: what is known of the new variables.
        nonlinear: a product of two non-constant numbers occurred.
    """

    def __init__(self, context: z3.Context) -> None:
        self.facts: list[Expr] = []
        self.nonlinear = False
        self._context = context
        self._numbers: dict[Term, Expr] = {}
        self._shared: dict[int, tuple[Term, Expr]] = {}  # by identity
        self._truths: dict[Term, Expr] = {}
        self._calls: list[tuple[Term, Expr]] = []

    def formula(self, term: Term, positive: bool = True) -> Expr:
        """`term`, or its negation, weakened to polynomials. Raises TooHard."""
        match term:
            case Bool(value=value):
                return z3.BoolVal(value is positive, self._context)
            case Builtin(op=Op.NOT, args=(inner,)):
                return self.formula(inner, not positive)
            case Builtin(op=Op.AND | Op.OR as op, args=args):
                parts = [self.formula(arg, positive) for arg in args]
                return z3.And(*parts) if (op is Op.AND) is positive else z3.Or(*parts)
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                parts = [self.formula(left, not positive), self.formula(right, positive)]
                return z3.Or(*parts) if positive else z3.And(*parts)
            case Builtin(op=Op.IFF, args=(left, right)):
                return self._same(left, right, positive)
            case Builtin(op=Op.EQ, args=(left, right)) if left.sort == BOOL:
                return self._same(left, right, positive)
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
                yes, no = self.formula(condition), self.formula(condition, False)
                return z3.Or(z3.And(yes, self.formula(then, positive)), z3.And(no, self.formula(otherwise, positive)))
            case Builtin(op=Op.EQ | Op.LE | Op.LT as op, args=(left, right)) if left.sort in (INT, NAT, REAL):
                return self._comparison(op, left, right, positive)
            case Let(var=var, value=value, body=body):
                return self.formula(substitute(body, {var.name: value}), positive)
            case Proved(value=value):
                return self.formula(value, positive)
        known = self._truths.get(term)
        if known is None:
            known = self._truths[term] = z3.Bool(f"truth{len(self._truths)}", self._context)
        return known if positive else z3.Not(known)

    def _same(self, left: Term, right: Term, positive: bool) -> Expr:
        yes, no = self.formula(left), self.formula(left, False)
        return z3.Or(z3.And(yes, self.formula(right, positive)), z3.And(no, self.formula(right, not positive)))

    def _comparison(self, op: Op, left: Term, right: Term, positive: bool) -> Expr:
        whole = left.sort != REAL
        a, b = self.number(left), self.number(right)

        def less(small: Expr, large: Expr) -> Expr:
            return small + 1 <= large if whole else small < large

        match op, positive:
            case Op.EQ, True:
                return a == b
            case Op.EQ, False:
                return z3.Or(less(a, b), less(b, a))
            case Op.LE, True:
                return a <= b
            case Op.LE, False:
                return less(b, a)
            case Op.LT, True:
                return less(a, b)
        return b <= a

    def number(self, term: Term) -> Expr:
        """`term` as a polynomial. Raises TooHard."""
        known = self._shared.get(id(term))
        if known is None:
            known = self._shared[id(term)] = (term, self._number(term))
        return known[1]

    def _number(self, term: Term) -> Expr:
        match term:
            case Int(value=value):
                return z3.RealVal(value, self._context)
            case Real(value=value):
                return z3.RealVal(str(value), self._context)
            case Builtin(op=Op.ADD, args=(left, right)):
                return self.number(left) + self.number(right)
            case Builtin(op=Op.SUB, args=(left, right)):
                return self.number(left) - self.number(right)
            case Builtin(op=Op.NEG, args=(inner,)):
                return -self.number(inner)
            case Builtin(op=Op.MUL, args=(left, right)):
                if not isinstance(left, Int | Real) and not isinstance(right, Int | Real):
                    self.nonlinear = True
                return self.number(left) * self.number(right)
            case Builtin(op=Op.TO_REAL, args=(inner,)):
                return self.number(inner)
            case Builtin(op=Op.DIV, args=(left, Real(value=value)), sort=sort) if sort == REAL and value != 0:
                return self.number(left) / z3.RealVal(str(value), self._context)
            case Let(var=var, value=value, body=body):
                return self.number(substitute(body, {var.name: value}))
            case Proved(value=value):
                return self.number(value)
        known = self._numbers.get(term)
        if known is None:
            known = z3.Real(f"number{len(self._numbers)}", self._context)
            self._numbers[term] = known
            self._describe(term, known)
        return known

    def _describe(self, term: Term, value: Expr) -> None:
        """Adds what is known of the new variable `value` for `term`."""
        if term.sort == NAT and isinstance(term, Builtin):
            self.facts.append(value >= 0)
        match term:
            case Builtin(op=Op.DIV, args=(left, right), sort=sort) if sort == REAL:
                a, b = self.number(left), self.number(right)
                self.nonlinear = True
                self.facts.append(z3.Or(b == 0, value * b == a))
            case Builtin(op=Op.DIV | Op.MOD as op, args=(left, right)):
                other = self.number(Builtin(Op.MOD if op is Op.DIV else Op.DIV, (left, right), INT))
                quotient, rest = (value, other) if op is Op.DIV else (other, value)
                if op is Op.MOD:
                    return  # the quotient's own description says it all
                a, b = self.number(left), self.number(right)
                if not isinstance(right, Int):
                    self.nonlinear = True
                divides = z3.And(a == b * quotient + rest, rest >= 0, z3.Or(rest + 1 <= b, rest + 1 <= -b))
                self.facts.append(z3.Or(b == 0, divides))
            case Builtin(op=Op.FLOOR, args=(inner,)):
                x = self.number(inner)
                self.facts.append(z3.And(value <= x, x < value + 1))
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
                yes, no = self.formula(condition), self.formula(condition, False)
                self.facts.append(
                    z3.Or(z3.And(yes, value == self.number(then)), z3.And(no, value == self.number(otherwise)))
                )
            case Invoke() | Call():
                self._agree(term, value)

    def _agree(self, term: Invoke | Call, value: Expr) -> None:
        """Calls of one function on equal arguments have equal values."""
        if all(arg.sort in (INT, NAT, REAL) for arg in term.args):
            for other, known in self._calls:
                if len(self._calls) > PAIRS // 4 or type(other) is not type(term):
                    continue
                same_head = (
                    other.function == term.function  # type: ignore[union-attr]
                    if isinstance(term, Invoke)
                    else other.name == term.name  # type: ignore[union-attr]
                )
                if same_head:
                    pairs = zip(term.args, other.args, strict=True)
                    apart = [self._comparison(Op.EQ, a, b, False) for a, b in pairs]
                    self.facts.append(z3.Or(*apart, value == known))
            self._calls.append((term, value))


def polynomial_size(term: Term) -> int:
    """The degree of `term` as a polynomial in everything that isn't one; at most as large as the true one is small."""
    match term:
        case Builtin(op=Op.MUL, args=(left, right)):
            return polynomial_size(left) + polynomial_size(right)
        case Builtin(op=Op.ADD | Op.SUB | Op.NEG | Op.TO_REAL | Op.DIV, args=args):
            return max(map(polynomial_size, args))
        case Int() | Real():
            return 0
    return 1
