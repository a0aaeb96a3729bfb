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

from maxproof.formal.embedded.core import (
    BOOL,
    Bool,
    Builtin,
    Call,
    Construct,
    CoreFunction,
    CoreProgram,
    DataOf,
    Field,
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
    SetComp,
    Term,
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
from maxproof.formal.embedded.encode.fold import fold, iff, implies, literal, negation, size, written
from maxproof.formal.embedded.encode.quantifiers import quantifier
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.sets import all_members, cardinality, equal, member
from maxproof.formal.embedded.encode.sorts import FINITE, constraint
from maxproof.formal.embedded.evaluate.fold import SUMS

COMPUTED = 60  # nodes of a closed call that is tried to be computed
DEPTH = 110  # steps of one unrolled recursion
WORK = 100_000  # nodes that one question may have looked at
GROWTH = 10_000  # nodes that one question may grow by


class _TooLarge(Exception):
    """The rewriting in progress goes over its budget; what began it keeps its term."""


class Simplifier:
    """Rewrites the terms of one question. `evaluate` computes what is closed in a term.

    Sets given by their members are kept where a variable is said to be one (`S == {...}`), until
    `spell_out_sets`.
    """

    def __init__(self, core: CoreProgram, scope: Scope, evaluate: Callable[[Term], Term] = lambda term: term) -> None:
        self.core = core
        self.scope = scope
        self._evaluate = evaluate
        self.room = GROWTH
        self._depth = 0
        self._work = WORK
        self._done: dict[int, Term] = {}  # results, by identity: nothing is left to do in them
        self.spell_sets = False

    def __call__(self, term: Term) -> Term:
        """An equal term. Over the life of the simplifier terms grow by about `GROWTH` nodes, and `WORK` are looked at;
        what comes after that stays as it is."""
        if id(term) in self._done or self._work <= 0:
            return term
        self._work -= 1
        result = self._rewritten(term)
        self._done[id(result)] = result
        return result

    def _rewritten(self, term: Term) -> Term:
        match term:
            case Var() | Int() | Real() | Bool() | FunctionValue():
                return term
            case Proved():
                return self(term.value)
            case Let():
                return self._let(term)
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
                return self._conditional(self(condition), then, otherwise, term)
            case Builtin(op=Op.AND | Op.OR):
                return self._junction(term)
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                left = self(left)
                if isinstance(left, Bool):
                    return self(right) if left.value else Bool(True)
                return implies(left, self(right))
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
                return self.field(term)
            case Is():
                return self._is(term)
            case Invoke():
                return self._invoke(term)
            case Quant():
                return quantifier(term, self)
        return term

    def _let(self, term: Let) -> Term:
        value = self(term.value)
        uses = sum(1 for node in subnodes(term.body) if isinstance(node, Var) and node.name == term.var.name)
        if uses == 0:
            return self(term.body)
        added = uses * size(value)
        if self.room > added and (uses == 1 or isinstance(value, Var | Int | Real | Bool | Lambda) or added <= 200):
            self.spend(added)
            return self(substitute(term.body, {term.var.name: value}))
        return Let(term.var, value, self(term.body), at=term.at)

    def _conditional(self, condition: Term, then: Term, otherwise: Term, term: Builtin) -> Term:
        if isinstance(condition, Bool):
            return self(then if condition.value else otherwise)
        then, otherwise = self(then), self(otherwise)
        if then == otherwise:
            return then
        if term.sort == BOOL and (isinstance(then, Bool) or isinstance(otherwise, Bool)):
            return conjunction([implies(condition, then), implies(negation(condition), otherwise)])
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

    def spell_out_sets(self, spell: bool) -> None:
        """Whether from now on `S == {...}` becomes a statement on members."""
        if spell is not self.spell_sets:
            self.spell_sets = spell
            self._done.clear()

    # Calls

    def _call(self, term: Call) -> Term:
        args = tuple(self(arg) for arg in term.args)
        term = Call(term.name, args, term.sort, at=term.at)
        if term.name == FINITE:
            return term
        function = self.core.functions[term.name]
        if term.name in SUMS or (all(map(_computable, args)) and size(term) <= COMPUTED):
            value = self._evaluate(term)
            if not (isinstance(value, Call) and value.name == term.name):
                return self(value)
        if function.body is None or not self.scope.usable(term.name):
            return term
        if not self.scope.recursive(term.name):
            if self.scope.inline(term.name) and self.room > 0:
                return self(self.put_in(function.body, _bindings(function, args)))
        elif any(literal(arg) for arg in args):
            return self._unrolled(term, function)
        return term

    def _unrolled(self, term: Call, function: CoreFunction) -> Term:
        """`term` unrolled as far as needed to be free of `function`; `term` itself where that isn't decided."""
        if self._depth >= DEPTH:
            raise _TooLarge
        outermost = self._depth == 0
        before = self.room
        try:
            with self._deeper():
                result = self._step(term, function)
        except _TooLarge:
            if not outermost:
                raise
            self.room = before - 1
            return term
        if result is None:
            return term
        if outermost and any(isinstance(node, Call) and node.name == term.name for node in subnodes(result)):
            return term
        return result

    def _step(self, term: Call, function: CoreFunction) -> Term | None:
        bindings = _bindings(function, term.args)
        guards = [*(constraint(arg, p.sort, self.core) for arg, p in zip(term.args, function.params, strict=True))]
        guards += [substitute(r, bindings) for r in function.requires]
        for guard in guards:
            if self(guard) != Bool(True):
                return None
        assert function.body is not None
        body = self.put_in(function.body, bindings)
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

    def put_in(self, body: Term, mapping: dict[str, Term]) -> Term:
        """`substitute`, paid for."""
        result = substitute(body, mapping)
        self.spend(size(result))
        return result

    def spend(self, nodes: int) -> None:
        self.room -= nodes
        if self.room < 0 and self._depth > 0:
            raise _TooLarge

    # Values

    def _invoke(self, term: Invoke) -> Term:
        match term.function:
            case Lambda(params=params, body=body) if self.room > 0:
                return self(self.put_in(body, {p.name: a for p, a in zip(params, term.args, strict=True)}))
            case FunctionValue(name=name):
                return self._call(Call(name, term.args, term.sort, at=term.at))
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)) if self.room > 0:
                self.spend(2 * size(term))
                f = [self._invoke(Invoke(g, term.args, term.sort, at=term.at)) for g in (then, otherwise)]
                return Builtin(Op.ITE, (condition, f[0], f[1]), term.sort, at=term.at)
        return term

    def field(self, term: Field) -> Term:
        match term.value:
            case Construct(constructor=name, args=args, sort=DataOf(name=data)):
                for constructor in self.core.datatypes[data].constructors:
                    if constructor.name == name:
                        for (field, _), arg in zip(constructor.fields, args, strict=True):
                            if field == term.name:
                                return arg
            case Builtin(op=Op.TUPLE, args=items):
                return items[int(term.name)]
            case Builtin(op=Op.ITE, args=(condition, then, otherwise)) if self.room > 0:
                self.spend(2 * size(condition))
                f = [self.field(Field(v, term.name, term.sort, at=term.at)) for v in (then, otherwise)]
                return f[0] if f[0] == f[1] else Builtin(Op.ITE, (condition, f[0], f[1]), term.sort, at=term.at)
        return term

    def _is(self, term: Is) -> Term:
        if isinstance(term.value, Construct):
            return Bool(term.value.constructor == term.constructor)
        sort = term.value.sort
        if isinstance(sort, DataOf) and len(self.core.datatypes[sort.name].constructors) == 1:
            return Bool(True)
        return term

    def _builtin(self, term: Builtin) -> Term:
        args = term.args
        match term.op:
            case Op.EQ:
                return equal(args[0], args[1], self)
            case Op.IFF:
                return iff(args[0], args[1])
            case Op.NOT:
                return negation(args[0])
            case Op.IN:
                return member(args[0], args[1], self)
            case Op.CARD:
                return cardinality(term, args[0], self)
            case Op.AT if isinstance(args[0], Builtin) and args[0].op is Op.SEQ and isinstance(args[1], Int):
                items = args[0].args
                return items[args[1].value] if 0 <= args[1].value < len(items) else term
            case Op.AT if isinstance(args[0], Builtin) and args[0].op is Op.SEQ_INIT:
                length, function = args[0].args
                if isinstance(length, Int) and isinstance(args[1], Int) and 0 <= args[1].value < length.value:
                    return self._invoke(Invoke(function, (args[1],), term.sort, at=term.at))
            case Op.SUBSET if written(args[0]) or written(args[1]):
                return all_members(args[0], args[1], self, inside=True)
            case Op.PROPER_SUBSET:
                subset = self._local(Builtin(Op.SUBSET, args, BOOL))
                return conjunction([subset, negation(equal(args[0], args[1], self))])
            case Op.DISJOINT:
                return all_members(args[0], args[1], self, inside=False)
        return fold(term)


def _computable(term: Term) -> bool:
    """Closed, so that it may have a value that can be computed."""
    match term:
        case Int() | Real() | Bool():
            return True
        case Construct(args=args) | Builtin(args=args) | Call(args=args):
            return all(map(_computable, args))
        case Lambda() | SetComp() | FunctionValue():
            return not free_variables(term)
    return False


def _bindings(function: CoreFunction, args: tuple[Term, ...]) -> dict[str, Term]:
    return {p.name: arg for p, arg in zip(function.params, args, strict=True)}
