"""Lowered statements as Dafny expressions.

A ℕ variable is a `nat`; a function from ℕ takes an `int`, and what a statement says of it is guarded by the ranges of
its quantifiers. Sets of ℕ, ℤ are sets of `int`. What a Dafny type doesn't say of a Lean type (a rational is rational,
ℝ≥0 is not negative, ℕ+ is positive) stands as a guard wherever a variable of it is bound.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from maxproof.formal.lean import dafny, emit_numbers
from maxproof.formal.lean.dafny import binary, call, compare
from maxproof.formal.lean.emit_numbers import kind
from maxproof.formal.lean.emit_types import guards, type_of, value_type
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.inverses import Inverses
from maxproof.formal.lean.lower import chain, member
from maxproof.formal.lean.names import legal
from maxproof.formal.lean.terms import (
    PROP,
    Arith,
    Cast,
    Compare,
    Component,
    Comprehension,
    Connective,
    Constant,
    Display,
    EquivType,
    Fold,
    If,
    Interval,
    Inverse,
    Invoke,
    Lambda,
    Member,
    Negate,
    Not,
    Number,
    Power,
    Quantify,
    SetOperation,
    SetType,
    Subset,
    Term,
    Truth,
    Var,
    ZMod,
)
from maxproof.formal.lean.unify import is_number
from maxproof.formal.lean.walk import free_of
from maxproof.formal.syntax.ast import (
    Binder,
    BoolLiteral,
    Comparison,
    Expr,
    IfExpr,
    IntLiteral,
    LambdaExpr,
    Name,
    Quantifier,
    SeqDisplay,
    SetDisplay,
    Unary,
)
from maxproof.formal.syntax.ast import (
    Comprehension as DafnyComprehension,
)

MAX_NODES: Final = 50_000
_CONNECTIVES: Final = {"∧": "&&", "∨": "||", "→": "==>", "↔": "<==>"}
_SUMS: Final = {"∑": "sum", "∏": "prod"}


class Emitter:
    """Names in scope, and what a statement needs besides its own clauses."""

    def __init__(self, reserved: Collection[str], inverses: Inverses) -> None:
        self._reserved = frozenset(reserved)
        self._names: dict[int, str] = {}
        self._inverse_names: dict[int, str] = {}
        self._in_scope: list[str] = []
        self._bound: list[int] = []
        self._nodes = 0
        self.complex_sets = False
        self.inverses = inverses

    # Names

    def declare(self, var: Var) -> str:
        """Names a variable apart from all in scope; an equivalence gets a second name, for its inverse."""
        name = self.fresh(var.name if var.name != "_" else "x")
        self._names[var.index] = name
        if isinstance(var.type, EquivType):
            self._inverse_names[var.index] = self.fresh(f"{name}_inverse")
        return name

    def fresh(self, name: str) -> str:
        chosen = legal(name, self._reserved.union(self._in_scope))
        self._in_scope.append(chosen)
        return chosen

    def parameter(self, name: str) -> str:
        """A name for a parameter made on the way: taken for good, in every scope."""
        chosen = legal(name, self._reserved.union(self._in_scope))
        self._reserved |= {chosen}
        return chosen

    def apart(self, name: str) -> str:
        """`name` made apart from all in scope, for a variable that binds nothing else."""
        return legal(name, self._reserved.union(self._in_scope))

    def name_of(self, var: Var) -> str:
        return self._names[var.index]

    def inverse_name(self, var: Var) -> str:
        return self._inverse_names[var.index]

    def _enter(self, var: Var) -> str:
        self._bound.append(var.index)
        return self.declare(var)

    def _leave(self, count: int, depth: int) -> None:
        del self._in_scope[depth:]
        del self._bound[len(self._bound) - count :]

    # Terms

    def term(self, term: Term) -> Expr:
        """`term` as a Dafny expression, well-formed wherever its variables satisfy their guards."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise NotTranslated(f"a statement of more than {MAX_NODES} parts", term.at)
        match term:
            case Var():
                return Name(self._names[term.index])
            case Number():
                return emit_numbers.number(term)
            case Cast(value) if isinstance(term.type, SetType):
                return self.term(value)
            case Cast(value):
                return emit_numbers.cast_of(term, self.term(value))
            case Arith(op, left, right) if op == "/" and isinstance(term.type, ZMod):
                inverse = Inverse(right, term.type, at=term.at)
                return binary("*", self.term(left), self._inverse(inverse))
            case Arith(_, left, right):
                return emit_numbers.arithmetic(term, self.term(left), self.term(right))
            case Negate(value):
                return emit_numbers.negation(term.type, self.term(value))
            case Inverse(value):
                if isinstance(term.type, ZMod):
                    return self._inverse(term)
                return emit_numbers.inverse(term.type, self.term(value))
            case Power(base, exponent):
                return emit_numbers.power(term, self.term(base), self.term(exponent))
            case Constant("Nat.properDivisors", (value,)):
                number = self.term(value)
                return binary("-", call("divisors", number), SetDisplay((number,)))
            case Constant("Finset.range", (end,)):
                return self._range_set(IntLiteral(0), self.term(end))
            case Constant("Filter.Tendsto", (sequence, limit)):
                return call("tends_to", self._sequence(sequence), self.term(limit))
            case Constant(_, args):
                return emit_numbers.function(term, tuple(self.term(a) for a in args))
            case Invoke(function, args):
                return self._invocation(function, args, term)
            case If(condition, then, otherwise):
                return IfExpr(self.term(condition), self.term(then), self.term(otherwise))
            case Fold():
                return self._fold(term)
            case Display(items):
                parts = tuple(self.term(i) for i in items)
                return SetDisplay(parts) if isinstance(term.type, SetType) else SeqDisplay(parts)
        if term.type == PROP:
            return self._proposition(term)
        return self._set(term)

    def _proposition(self, term: Term) -> Expr:
        match term:
            case Truth(value):
                return BoolLiteral(value)
            case Not(value):
                return _negation(self.term(value))
            case Compare(op, left, right):
                first, second = self.term(left), self.term(right)
                if isinstance(left.type, ZMod):
                    modulus = self.term(left.type.modulus)
                    first, second = (emit_numbers.remainder(v, modulus) for v in (first, second))
                return compare(first, emit_numbers.order(op), second)
            case Connective("∧" | "∨" as op):
                return dafny.joined([self.term(t) for t in chain(term, op)], _CONNECTIVES[op])
            case Connective(op, left, right):
                return binary(_CONNECTIVES[op], self.term(left), self.term(right))  # type: ignore[arg-type]
            case Member(element, collection):
                return compare(self.term(element), "in", self.term(collection))
            case Subset(left, right, proper):
                return compare(self.term(left), "<" if proper else "<=", self.term(right))
            case Quantify():
                return self._quantifier(term)
        raise NotTranslated("a proposition of this form", term.at)

    def _invocation(self, function: Term, args: tuple[Term, ...], term: Term) -> Expr:
        if not (is_number(term.type) or term.type == PROP):
            raise NotTranslated("a function applied to some of its arguments only", term.at)
        values = [self.term(a) for a in args]
        match function:
            case Var():
                return dafny.apply(Name(self._names[function.index]), values)
            case Component(Var() as var, index) if isinstance(var.type, EquivType):
                name = self._names[var.index] if index == 0 else self._inverse_names[var.index]
                return dafny.apply(Name(name), values)
        raise NotTranslated("the application of a term that is no variable", term.at)

    def _sequence(self, term: Term) -> Expr:
        if isinstance(term, Var):
            return Name(self._names[term.index])
        if not isinstance(term, Lambda):
            raise NotTranslated("a sequence of this form", term.at)
        return self._lambda(term.var, term.body)

    def _lambda(self, var: Var, body: Term) -> Expr:
        depth = len(self._in_scope)
        name = self._enter(var)
        value = self.term(body)
        self._leave(1, depth)
        return LambdaExpr((Binder(name, value_type(var.type)),), value)

    def _quantifier(self, term: Quantify) -> Expr:
        """Quantifiers of one kind that follow each other become one."""
        depth, binders, given = len(self._in_scope), [], []
        body: Term = term
        while isinstance(body, Quantify) and body.kind == term.kind:
            name = self._enter(body.var)
            binders.append(Binder(name, type_of(body.var.type, body.var)))
            given += guards(body.var.type, Name(name), self.apart)
            if isinstance(body.var.type, EquivType):
                raise NotTranslated("a quantifier over equivalences", body.at)
            body = body.body
        value = self.term(body)
        self._leave(len(binders), depth)
        kind_ = "forall" if term.kind == "∀" else "exists"
        range_ = dafny.every(given) if given else None
        return Quantifier(kind_, tuple(binders), value, range_)  # type: ignore[arg-type]

    def _inverse(self, term: Inverse) -> Expr:
        assert isinstance(term.type, ZMod)
        inside = any(not free_of(term.value, i) for i in self._bound)
        return self.inverses.of(self.term(term.value), self.term(term.type.modulus), inside, term, self.parameter)

    # Sums, products and sets

    def _fold(self, term: Fold) -> Expr:
        sort = kind(term.type)
        letter = {"int": "i", "real": "r", "complex": "c"}[sort]
        ends = self._ends(term.domain)
        element = term.var.type
        if ends is not None:
            if (sort, term.kind) == ("complex", "∏"):
                raise NotTranslated("`∏` of complex numbers", term.at)
            low, high = ends
            return call(f"{letter}{_SUMS[term.kind]}", low, high, self._lambda(term.var, term.body))
        if isinstance(element, ZMod):
            raise NotTranslated("a set in ZMod", term.at)
        match kind(element), sort:
            case "int", "int" | "real":
                name = f"set_{letter}{_SUMS[term.kind]}"
            case "real", "real":
                name = f"rset_r{_SUMS[term.kind]}"
            case "complex", "complex" if term.kind == "∑":
                name, self.complex_sets = "cset_csum", True
            case _:
                raise NotTranslated(f"`{term.kind}` of {term.type} over a set of {element}", term.at)
        return call(name, self.term(term.domain), self._lambda(term.var, term.body))

    def _ends(self, domain: Term) -> tuple[Expr, Expr] | None:
        """lo, hi of a domain that is lo ≤ k < hi in whole numbers; None for another."""
        match domain:
            case Constant("Finset.range", (end,)):
                return IntLiteral(0), self.term(end)
            case Interval(low, high, low_open, high_open) if low is not None and high is not None:
                if kind(low.type) == "int":
                    first, last = self.term(low), self.term(high)
                    return (_next(first) if low_open else first), (last if high_open else _next(last))
        return None

    def _set(self, term: Term) -> Expr:
        """A set where a value is needed: in a count, or as the domain of a sum."""
        match term:
            case SetOperation(op, left, right):
                symbol = {"∪": "+", "∩": "*", "\\": "-"}[op]
                return binary(symbol, self.term(left), self.term(right))  # type: ignore[arg-type]
            case Interval() if (ends := self._ends(term)) is not None:
                return self._range_set(*ends)
            case Comprehension(var, domain, body) if domain is not None:
                depth = len(self._in_scope)
                name = self._enter(var)
                inside = member(var, domain)
                facts = [self._membership(inside, domain, name), self.term(body)]
                self._leave(1, depth)
                return DafnyComprehension((Binder(name, value_type(var.type)),), dafny.every(facts))
        raise NotTranslated("a set of this form, as a value", term.at)

    def _membership(self, fact: Term, domain: Term, name: str) -> Expr:
        ends = self._ends(domain)
        return self.term(fact) if ends is None else Comparison((ends[0], Name(name), ends[1]), ("<=", "<"))

    def _range_set(self, low: Expr, high: Expr) -> Expr:
        name = self.apart("x")
        within = Comparison((low, Name(name), high), ("<=", "<"))
        return DafnyComprehension((Binder(name, dafny.INT),), within)


def _negation(value: Expr) -> Expr:
    """`!value`, without a double negation and with `!=` and `!in` where they say it."""
    match value:
        case Unary("!", inner):
            return inner
        case Comparison(operands, ("==" | "in" as op,)):
            return Comparison(operands, ("!=" if op == "==" else "!in",))
    return Unary("!", value)


def _next(value: Expr) -> Expr:
    return IntLiteral(value.value + 1) if isinstance(value, IntLiteral) else binary("+", value, IntLiteral(1))
