"""Small rewritings of core terms: numbers worked out, truth values put together, shapes recognised."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    REAL,
    Bool,
    Builtin,
    DataOf,
    FunctionOf,
    Int,
    Op,
    Quant,
    Real,
    SetComp,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction, subnodes


def fold(term: Builtin) -> Term:
    """`term` with its numbers worked out: literals computed, neutral elements dropped."""
    values = [_number(arg) for arg in term.args]
    known = [v for v in values if v is not None]
    real = term.sort == REAL

    def number(value: Fraction) -> Term:
        return Real(value) if real else Int(int(value))

    match term.op, values:
        case Op.NEG, [a] if a is not None:
            return number(-a)
        case Op.ADD, [a, b]:
            if len(known) == 2:
                return number(known[0] + known[1])
            if a == 0:
                return term.args[1]
            if b == 0:
                return term.args[0]
        case Op.SUB, [a, b]:
            if len(known) == 2:
                return number(known[0] - known[1])
            if b == 0:
                return term.args[0]
            if term.args[0] == term.args[1]:
                return number(Fraction(0))
        case Op.MUL, [a, b]:
            if len(known) == 2:
                return number(known[0] * known[1])
            if a == 0 or b == 0:
                return number(Fraction(0))
            if a == 1:
                return term.args[1]
            if b == 1:
                return term.args[0]
        case Op.DIV, [a, b] if b is not None and b != 0:
            if real:
                if a is not None:
                    return Real(a / b)
                return term.args[0] if b == 1 else term
            if a is not None:
                return Int(_quotient(int(a), int(b)))
            if b == 1:
                return term.args[0]
        case Op.MOD, [a, b] if b is not None and b != 0:
            if a is not None:
                return Int(int(a) - _quotient(int(a), int(b)) * int(b))
            if abs(b) == 1:
                return Int(0)
        case Op.LT, [a, b]:
            if a is not None and b is not None:
                return Bool(a < b)
            if term.args[0] == term.args[1]:
                return Bool(False)
        case Op.LE, [a, b]:
            if a is not None and b is not None:
                return Bool(a <= b)
            if term.args[0] == term.args[1]:
                return Bool(True)
        case Op.EQ, [a, b] if a is not None and b is not None:
            return Bool(a == b)
        case Op.TO_REAL, [a] if a is not None:
            return Real(a)
        case Op.FLOOR, [a]:
            if a is not None:
                return Int(a.numerator // a.denominator)
            if isinstance(term.args[0], Builtin) and term.args[0].op is Op.TO_REAL:
                return term.args[0].args[0]
        case Op.TO_INT, [a]:
            if a is not None and a.denominator == 1:
                return Int(a.numerator)
            if isinstance(term.args[0], Builtin) and term.args[0].op is Op.TO_REAL:
                return term.args[0].args[0]
    return term


def _quotient(a: int, b: int) -> int:
    """Euclidean: the remainder a - b * quotient lies in [0, |b|)."""
    return a // b if b > 0 else -(a // -b)


def _number(term: Term) -> Fraction | None:
    match term:
        case Int(value=value):
            return Fraction(value)
        case Real(value=value):
            return value
    return None


def negation(term: Term) -> Term:
    match term:
        case Bool(value=value):
            return Bool(not value)
        case Builtin(op=Op.NOT, args=(inner,)):
            return inner
        case Quant(kind=kind):
            dual: Literal["forall", "exists"] = "exists" if kind == "forall" else "forall"
            if kind == "forall" and isinstance(term.body, Builtin) and term.body.op is Op.IMPLIES:
                premises, claim = split_implication(term.body)
                return Quant(dual, term.vars, conjunction([term.range, *premises]), negation(claim), term.triggers)
            return Quant(dual, term.vars, term.range, negation(term.body), term.triggers, at=term.at)
    return Builtin(Op.NOT, (term,), BOOL, at=term.at)


def implies(left: Term, right: Term) -> Term:
    if isinstance(left, Bool):
        return right if left.value else Bool(True)
    if isinstance(right, Bool):
        return Bool(True) if right.value else negation(left)
    return Bool(True) if left == right else Builtin(Op.IMPLIES, (left, right), BOOL, at=right.at)


def iff(left: Term, right: Term) -> Term:
    if left == right:
        return Bool(True)
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Bool):
            return b if a.value else negation(b)
    return Builtin(Op.IFF, (left, right), BOOL, at=left.at)


def conditional(condition: Term, then: Term, otherwise: Term) -> Term:
    if isinstance(condition, Bool):
        return then if condition.value else otherwise
    return Builtin(Op.ITE, (condition, then, otherwise), then.sort)


def summed(terms: list[Term]) -> Term:
    """Balanced, so that long sums stay shallow."""
    constant = sum(t.value for t in terms if isinstance(t, Int))
    rest: list[Term] = [t for t in terms if not isinstance(t, Int)]
    if constant or not rest:
        rest.append(Int(constant))
    while len(rest) > 1:
        rest = [
            Builtin(Op.ADD, (rest[i], rest[i + 1]), INT) if i + 1 < len(rest) else rest[i]
            for i in range(0, len(rest), 2)
        ]
    return rest[0]


def flat(term: Term) -> list[Term]:
    """The conjuncts of `term`."""
    if isinstance(term, Builtin) and term.op is Op.AND:
        return [part for arg in term.args for part in flat(arg)]
    return [] if term == Bool(True) else [term]


def split_implication(term: Term) -> tuple[list[Term], Term]:
    """The premises of nested implications, and what follows from them."""
    premises: list[Term] = []
    while isinstance(term, Builtin) and term.op is Op.IMPLIES:
        premises += flat(term.args[0])
        term = term.args[1]
    return premises, term


def interval(bounds: Term, var: Var) -> tuple[int, int] | None:
    """[low, high) that `bounds` confines the whole number `var` to, where both ends are literal."""
    low: int | None = None
    high: int | None = None
    if var.sort not in (INT,) and str(getattr(var.sort, "name", "")) != "nat":
        return None
    if getattr(var.sort, "name", "") == "nat":
        low = 0
    for claim in flat(bounds):
        match claim:
            case Builtin(op=Op.LE | Op.LT, args=(Int(value=value), Var(name=name))) if name == var.name:
                value += claim.op is Op.LT
                low = value if low is None else max(low, value)
            case Builtin(op=Op.LE | Op.LT, args=(Var(name=name), Int(value=value))) if name == var.name:
                value += claim.op is Op.LE
                high = value if high is None else min(high, value)
            case Builtin(
                op=Op.NOT, args=(Builtin(op=Op.LE | Op.LT, args=(Int(value=value), Var(name=name))) as c,)
            ) if name == var.name:
                value += c.op is Op.LT
                high = value if high is None else min(high, value)
            case Builtin(
                op=Op.NOT, args=(Builtin(op=Op.LE | Op.LT, args=(Var(name=name), Int(value=value))) as c,)
            ) if name == var.name:
                value += c.op is Op.LE
                low = value if low is None else max(low, value)
    return None if low is None or high is None else (low, max(low, high))


def literal(term: Term) -> bool:
    if isinstance(term, Int | Real | Bool):
        return True
    return isinstance(term, Builtin) and term.op in (Op.SEQ, Op.SET) and bool(term.sort)


def written(term: Term) -> bool:
    """A set given by an expression, not by a name."""
    match term:
        case Builtin(op=Op.SET | Op.UNION | Op.INTERSECT | Op.MINUS | Op.ITE) | SetComp():
            return True
    return False


def inhabited(sort: Sort) -> bool:
    """Surely has a value (datatypes are not looked into)."""
    match sort:
        case TupleOf(items=items):
            return all(map(inhabited, items))
        case FunctionOf(result=result):
            return inhabited(result)
        case DataOf():
            return False
    return True


def size(term: Term) -> int:
    return sum(1 for _ in subnodes(term))
