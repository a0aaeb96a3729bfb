"""Rewrites core terms into ones that the solver does well on, keeping their meaning.

What is rewritten: numbers are folded; function values are applied; fields of known values are taken; membership in a
set that is written out becomes logic; equality of tuples and datatypes becomes equality of their parts; short functions
are replaced by their bodies; recursive ones are unrolled where their arguments decide each step; quantifiers over a few
whole numbers are spelt out. Everything is an equality that holds for all values where the term is well-formed, so the
result may stand for the term anywhere.

A function that is not recursive may be replaced by its body even outside its precondition: taking its body for its
value everywhere is a definition that always exists. A recursive one is replaced only where its precondition and the
ranges of its parameters hold literally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Literal

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    REAL,
    Bool,
    Builtin,
    Call,
    Construct,
    CoreFunction,
    CoreProgram,
    DataOf,
    Field,
    FunctionOf,
    FunctionValue,
    Int,
    Invoke,
    Is,
    Lambda,
    Let,
    Op,
    Proved,
    Quant,
    Real,
    SeqOf,
    SetComp,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.walk import (
    children,
    conjunction,
    disjunction,
    free_variables,
    rebuild,
    subnodes,
    substitute,
)
from maxproof.formal.embedded.encode_scope import Scope
from maxproof.formal.embedded.encode_sorts import FINITE, constraint, is_product, parts_of

INLINE_NODES = 80  # a longer body stays a call
SPELT_OUT = 64  # values that a bounded quantifier may be spelt out for
MEMBERS = 200  # whole numbers that a filtered interval may be counted over
DEPTH = 160  # steps of one unrolled recursion
GROWTH = 20_000  # nodes that one question may grow by


class _TooLarge(Exception):
    """The rewriting in progress goes over its budget; what began it keeps its term."""


class Simplifier:
    """Rewrites the terms of one question. `evaluate` computes what is closed in a term.

    Attributes:
        spell_sets: `S == {...}` becomes a statement on members even where S is a variable.
    """

    def __init__(self, core: CoreProgram, scope: Scope, evaluate: Callable[[Term], Term] = lambda term: term) -> None:
        self._core = core
        self._scope = scope
        self._evaluate = evaluate
        self._left = GROWTH
        self._depth = 0
        self.spell_sets = False

    def __call__(self, term: Term) -> Term:
        """An equal term. Terms grow by at most `GROWTH` nodes over the life of the simplifier."""
        match term:
            case Var() | Int() | Real() | Bool() | FunctionValue():
                return term
            case Proved():
                return self(term.value)
            case Let():
                return self._let(term)
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
                return self._ite(self(condition), then, otherwise, term)
            case Builtin(op=Op.AND | Op.OR):
                return self._junction(term)
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                left = self(left)
                if isinstance(left, Bool):
                    return self(right) if left.value else Bool(True)
                return _implies(left, self(right))
            case Call():
                return self._call(term)
        parts = children(term)
        new = [self(part) for part in parts]  # type: ignore[arg-type]
        if any(a is not b for a, b in zip(parts, new, strict=True)):
            term = rebuild(term, new)  # type: ignore[assignment]
        return self._local(term)

    def _local(self, term: Term) -> Term:
        """`term` with simplified parts, at its root."""
        match term:
            case Builtin():
                return self._builtin(term)
            case Field():
                return self._field(term)
            case Is():
                return self._is(term)
            case Invoke():
                return self._invoke(term)
            case Quant():
                return self._quant(term)
        return term

    def _let(self, term: Let) -> Term:
        value = self(term.value)
        uses = sum(1 for node in subnodes(term.body) if isinstance(node, Var) and node.name == term.var.name)
        if uses == 0:
            return self(term.body)
        size = uses * _size(value)
        if self._left > size and (uses == 1 or isinstance(value, Var | Int | Real | Bool | Lambda) or size <= 200):
            self._spend(size)
            return self(substitute(term.body, {term.var.name: value}))
        return Let(term.var, value, self(term.body), at=term.at)

    def _ite(self, condition: Term, then: Term, otherwise: Term, term: Builtin) -> Term:
        if isinstance(condition, Bool):
            return self(then if condition.value else otherwise)
        then, otherwise = self(then), self(otherwise)
        if then == otherwise:
            return then
        if term.sort == BOOL and (isinstance(then, Bool) or isinstance(otherwise, Bool)):
            return conjunction([_implies(condition, then), _implies(negation(condition), otherwise)])
        return Builtin(Op.ITE, (condition, then, otherwise), term.sort, at=term.at)

    def _junction(self, term: Builtin) -> Term:
        stop = term.op is Op.OR
        kept: list[Term] = []
        for arg in term.args:
            arg = self(arg)
            if isinstance(arg, Bool):
                if arg.value is stop:
                    return Bool(stop)
            elif arg not in kept:
                kept.append(arg)
        return disjunction(kept) if stop else conjunction(kept)

    # Calls

    def _call(self, term: Call) -> Term:
        args = tuple(self(arg) for arg in term.args)
        term = Call(term.name, args, term.sort, at=term.at)
        if term.name == FINITE:
            return term
        function = self._core.functions[term.name]
        if function.trusted or not free_variables(term):
            value = self._evaluate(term)
            if not (isinstance(value, Call) and value.name == term.name):
                return self(value)
        if function.body is None or not self._scope.usable(term.name):
            return term
        if not self._scope.recursive(term.name):
            if self._scope.inline(term.name) and self._left > 0:
                return self(self._put_in(function.body, _bindings(function, args)))
        elif any(_decided(arg) for arg in args):
            return self._unrolled(term, function)
        return term

    def _unrolled(self, term: Call, function: CoreFunction) -> Term:
        """`term` unrolled as far as needed to be free of `function`; `term` itself where that isn't decided."""
        if self._depth >= DEPTH:
            raise _TooLarge
        outermost = self._depth == 0
        before = self._left
        try:
            with self._deeper():
                result = self._step(term, function)
        except _TooLarge:
            if not outermost:
                raise
            self._left = before - 1
            return term
        if result is None:
            return term
        if outermost and any(isinstance(node, Call) and node.name == term.name for node in subnodes(result)):
            return term
        return result

    def _step(self, term: Call, function: CoreFunction) -> Term | None:
        bindings = _bindings(function, term.args)
        guards = [*(constraint(arg, p.sort, self._core) for arg, p in zip(term.args, function.params, strict=True))]
        guards += [substitute(r, bindings) for r in function.requires]
        for guard in guards:
            if self(guard) != Bool(True):
                return None
        assert function.body is not None
        body = self._put_in(function.body, bindings)
        decided = False
        while True:
            match body:
                case Proved():
                    body = body.value
                case Let():
                    body = substitute(body.body, {body.var.name: self(body.value)})
                case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
                    choice = self(condition)
                    if not isinstance(choice, Bool):
                        return None
                    body = then if choice.value else otherwise
                    decided = True
                case _:
                    return self(body) if decided else None

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def _put_in(self, body: Term, mapping: dict[str, Term]) -> Term:
        """`substitute`, paid for."""
        result = substitute(body, mapping)
        self._spend(_size(result))
        return result

    def _spend(self, nodes: int) -> None:
        self._left -= nodes
        if self._left < 0 and self._depth > 0:
            raise _TooLarge

    # Values

    def _invoke(self, term: Invoke) -> Term:
        match term.function:
            case Lambda(params=params, body=body) if self._left > 0:
                return self(self._put_in(body, {p.name: a for p, a in zip(params, term.args, strict=True)}))
            case FunctionValue(name=name):
                return self._call(Call(name, term.args, term.sort, at=term.at))
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)) if self._left > 0:
                self._spend(2 * _size(term))
                f = [self._invoke(Invoke(g, term.args, term.sort, at=term.at)) for g in (then, otherwise)]
                return Builtin(Op.ITE, (condition, f[0], f[1]), term.sort, at=term.at)
        return term

    def _field(self, term: Field) -> Term:
        match term.value:
            case Construct(constructor=name, args=args, sort=DataOf(name=data)):
                for constructor in self._core.datatypes[data].constructors:
                    if constructor.name == name:
                        for (field, _), arg in zip(constructor.fields, args, strict=True):
                            if field == term.name:
                                return arg
            case Builtin(op=Op.TUPLE, args=items):
                return items[int(term.name)]
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)) if self._left > 0:
                self._spend(2 * _size(condition))
                f = [self._field(Field(v, term.name, term.sort, at=term.at)) for v in (then, otherwise)]
                return f[0] if f[0] == f[1] else Builtin(Op.ITE, (condition, f[0], f[1]), term.sort, at=term.at)
        return term

    def _is(self, term: Is) -> Term:
        if isinstance(term.value, Construct):
            return Bool(term.value.constructor == term.constructor)
        sort = term.value.sort
        if isinstance(sort, DataOf) and len(self._core.datatypes[sort.name].constructors) == 1:
            return Bool(True)
        return term

    def _builtin(self, term: Builtin) -> Term:
        args = term.args
        match term.op:
            case Op.EQ:
                return self._equal(args[0], args[1])
            case Op.IFF:
                return _iff(args[0], args[1])
            case Op.NOT:
                return negation(args[0])
            case Op.IN:
                return self._member(args[0], args[1])
            case Op.CARD:
                return self._card(term, args[0])
            case Op.AT if isinstance(args[0], Builtin) and args[0].op is Op.SEQ and isinstance(args[1], Int):
                items = args[0].args
                return items[args[1].value] if 0 <= args[1].value < len(items) else term
            case Op.AT if isinstance(args[0], Builtin) and args[0].op is Op.SEQ_INIT:
                length, function = args[0].args
                if isinstance(length, Int) and isinstance(args[1], Int) and 0 <= args[1].value < length.value:
                    return self._invoke(Invoke(function, (args[1],), term.sort, at=term.at))
            case Op.SUBSET if _written(args[0]) or _written(args[1]):
                return self._for_all_members(args[0], args[0], args[1])
            case Op.PROPER_SUBSET:
                equal = self._equal(args[0], args[1])
                return conjunction([self._local(Builtin(Op.SUBSET, args, BOOL)), negation(equal)])
            case Op.DISJOINT:
                return self._for_all_members(args[0], args[0], args[1], positive=False)
        return fold(term)

    def _equal(self, left: Term, right: Term) -> Term:
        if left == right:
            return Bool(True)
        sort = left.sort
        if sort == BOOL:
            return _iff(left, right)
        if is_product(sort, self._core):
            pairs = zip(parts_of(left, self._core), parts_of(right, self._core), strict=True)
            return conjunction(self._equal(self._field(a), self._field(b)) for a, b in pairs)
        if isinstance(left, Construct) and isinstance(right, Construct):
            if left.constructor != right.constructor:
                return Bool(False)
            return conjunction(self._equal(a, b) for a, b in zip(left.args, right.args, strict=True))
        named = isinstance(left, Var) or isinstance(right, Var)
        if isinstance(sort, SetOf) and (_written(left) or _written(right)) and (self.spell_sets or not named):
            element = self._scope.fresh("e", sort.element)
            same = _iff(self._member(element, left), self._member(element, right))
            return self._quant(Quant("forall", (element,), Bool(True), same))
        return fold(Builtin(Op.EQ, (left, right), BOOL))

    def _member(self, item: Term, whole: Term) -> Term:
        inside = Builtin(Op.IN, (item, whole), BOOL)
        match whole:
            case Builtin(op=Op.SET | Op.SEQ, args=items):
                return disjunction(self._equal(item, other) for other in items)
            case SetComp(vars=(var,), range=bounds, term=Var(name=name)) if name == var.name and self._left > 0:
                natural = self(constraint(item, var.sort, self._core))
                return conjunction([natural, self(self._put_in(bounds, {var.name: item}))])
            case SetComp() if self._left > 0:
                renamed = tuple(self._scope.fresh(v.name, v.sort) for v in whole.vars)
                mapping: dict[str, Term] = {v.name: r for v, r in zip(whole.vars, renamed, strict=True)}
                image = self._equal(substitute(whole.term, mapping), item)
                return self._quant(Quant("exists", renamed, self(substitute(whole.range, mapping)), image))
            case Builtin(op=Op.UNION, args=(a, b)):
                return disjunction([self._member(item, a), self._member(item, b)])
            case Builtin(op=Op.INTERSECT, args=(a, b)):
                return conjunction([self._member(item, a), self._member(item, b)])
            case Builtin(op=Op.MINUS, args=(a, b)):
                return conjunction([self._member(item, a), negation(self._member(item, b))])
            case Builtin(op=Op.ITE, args=(condition, a, b)):
                yes, no = self._member(item, a), self._member(item, b)
                return conjunction([_implies(condition, yes), _implies(negation(condition), no)])
        return inside

    def _for_all_members(self, source: Term, left: Term, right: Term, positive: bool = True) -> Term:
        assert isinstance(source.sort, SetOf)
        element = self._scope.fresh("e", source.sort.element)
        inside = self._member(element, right)
        claim = _implies(self._member(element, left), inside if positive else negation(inside))
        return self._quant(Quant("forall", (element,), Bool(True), claim))

    def _card(self, term: Builtin, whole: Term) -> Term:
        match whole:
            case Builtin(op=Op.SEQ, args=items):
                return Int(len(items))
            case Builtin(op=Op.SET, args=items):
                distinct: list[Term] = []
                count: list[Term] = []
                for item in items:
                    known = disjunction(self._equal(item, other) for other in distinct)
                    distinct.append(item)
                    count.append(_ite(known, Int(0), Int(1)))
                return _sum(count)
            case SetComp(vars=(var,), range=bounds, term=Var(name=name)) if name == var.name and var.sort != REAL:
                found = interval(bounds, var)
                if found is not None and found[1] - found[0] <= MEMBERS:
                    self._spend(_size(bounds) * (found[1] - found[0]))
                    count = []
                    for value in range(*found):
                        inside = self._member(Int(value), whole)
                        count.append(_ite(inside, Int(1), Int(0)))
                    return _sum(count)
        return term

    # Quantifiers

    def _quant(self, term: Quant) -> Term:
        if isinstance(term.body, Quant) and term.body.kind == term.kind and term.body.range == Bool(True):
            term = Quant(term.kind, (*term.vars, *term.body.vars), term.range, term.body.body, at=term.at)
        existential = term.kind == "exists"
        whole = conjunction([term.range, term.body]) if existential else _implies(term.range, term.body)
        if isinstance(whole, Bool):
            if whole.value is not existential:
                return whole
            if all(v.sort in (INT, REAL, BOOL) for v in term.vars):
                return whole
        used = {v.name for v in free_variables(whole)}
        kept = tuple(v for v in term.vars if v.name in used or not inhabited(v.sort))
        if not kept:
            return whole
        if len(kept) < len(term.vars):
            term = Quant(term.kind, kept, term.range, term.body, at=term.at)
        return self._spelt_out(term) or self._one_point(term) or term

    def _spelt_out(self, term: Quant) -> Term | None:
        existential = term.kind == "exists"
        bounds = term.range
        if not existential:
            premises, _ = split_implication(term.body)
            bounds = conjunction([term.range, *premises])
        else:
            bounds = conjunction([term.range, term.body])
        for var in term.vars:
            if var.sort == REAL or isinstance(var.sort, SetOf | FunctionOf | SeqOf):
                continue
            found = interval(bounds, var)
            if found is None or found[1] - found[0] > SPELT_OUT:
                continue
            rest = tuple(v for v in term.vars if v.name != var.name)
            size = _size(term)
            if size * (found[1] - found[0]) > min(self._left, 6000):
                continue
            self._spend(size * max(0, found[1] - found[0]))
            instances: list[Term] = []
            for value in range(*found):
                mapping: dict[str, Term] = {var.name: Int(value)}
                claim = Quant(term.kind, rest, substitute(term.range, mapping), substitute(term.body, mapping))
                if rest:
                    instances.append(self(claim))
                else:
                    parts = (claim.range, claim.body)
                    instances.append(self(conjunction(parts) if existential else Builtin(Op.IMPLIES, parts, BOOL)))
            return disjunction(instances) if existential else conjunction(instances)
        return None

    def _one_point(self, term: Quant) -> Term | None:
        """`exists x :: x == t && P` and `forall x :: x == t ==> P` are P of t."""
        existential = term.kind == "exists"
        claims = flat(term.range)
        if existential:
            claims += flat(term.body)
        else:
            claims += split_implication(term.body)[0]
        for claim in claims:
            if not (isinstance(claim, Builtin) and claim.op is Op.EQ):
                continue
            for var, value in (claim.args, claim.args[::-1]):
                if not isinstance(var, Var) or all(v.name != var.name for v in term.vars):
                    continue
                if any(v.name == var.name for v in free_variables(value)):
                    continue
                own = next(v for v in term.vars if v.name == var.name)
                rest = tuple(v for v in term.vars if v.name != var.name)
                mapping = {var.name: value}
                bounds = conjunction([constraint(value, own.sort, self._core), substitute(term.range, mapping)])
                body = substitute(term.body, mapping)
                self._spend(_size(term))
                if rest:
                    return self(Quant(term.kind, rest, bounds, body))
                parts = (bounds, body)
                return self(conjunction(parts) if existential else Builtin(Op.IMPLIES, parts, BOOL))
        return None


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


def _decided(term: Term) -> bool:
    if isinstance(term, Int | Real | Bool):
        return True
    return isinstance(term, Builtin) and term.op in (Op.SEQ, Op.SET) and bool(term.sort)


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


def _implies(left: Term, right: Term) -> Term:
    if isinstance(left, Bool):
        return right if left.value else Bool(True)
    if isinstance(right, Bool):
        return Bool(True) if right.value else negation(left)
    return Bool(True) if left == right else Builtin(Op.IMPLIES, (left, right), BOOL, at=right.at)


def _iff(left: Term, right: Term) -> Term:
    if left == right:
        return Bool(True)
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Bool):
            return b if a.value else negation(b)
    return Builtin(Op.IFF, (left, right), BOOL, at=left.at)


def _ite(condition: Term, then: Term, otherwise: Term) -> Term:
    if isinstance(condition, Bool):
        return then if condition.value else otherwise
    return Builtin(Op.ITE, (condition, then, otherwise), then.sort)


def _sum(terms: list[Term]) -> Term:
    """Balanced, so that long sums stay shallow."""
    constant = sum(t.value for t in terms if isinstance(t, Int))
    rest = [t for t in terms if not isinstance(t, Int)]
    if constant or not rest:
        rest.append(Int(constant))
    while len(rest) > 1:
        rest = [
            Builtin(Op.ADD, (rest[i], rest[i + 1]), INT) if i + 1 < len(rest) else rest[i]
            for i in range(0, len(rest), 2)
        ]
    return rest[0]


def _size(term: Term) -> int:
    return sum(1 for _ in subnodes(term))


def _bindings(function: CoreFunction, args: tuple[Term, ...]) -> dict[str, Term]:
    return {p.name: arg for p, arg in zip(function.params, args, strict=True)}


def _written(term: Term) -> bool:
    """A set given by an expression, not by a name."""
    match term:
        case Builtin(op=Op.SET | Op.UNION | Op.INTERSECT | Op.MINUS | Op.ITE) | SetComp():
            return True
    return False


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
