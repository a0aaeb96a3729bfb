"""Core terms in Z3's language.

int and nat are Int, real is Real, bool is Bool; sets are arrays to Bool, function values arrays, sequences Z3's own,
tuples and datatypes Z3 datatypes; declared functions are uninterpreted here (`encode.facts` says what they do). What
types say beyond these sorts (`encode.sorts.constraint`) guards each quantifier. Division by zero and other values
outside an operation's domain are whatever the solver likes: that the question never depends on them is an obligation of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from maxproof.formal.embedded.core import (
    Basic,
    Bool,
    Builtin,
    Call,
    Choose,
    Construct,
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
from maxproof.formal.embedded.core.walk import conjunction, free_variables
from maxproof.formal.embedded.encode.collections import collection, display, is_finite, mentions
from maxproof.formal.embedded.encode.sorts import FINITE, constraint, recursive_group
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.domains import base

Expr = Any  # z3.ExprRef; Z3's Python API has no types


class Encoder:
    """Turns the terms of one question into expressions of one Z3 context.

    Attributes:
        facts: what must be assumed besides the encoded terms: of chosen values, of cardinalities.
        quantified: a quantifier or lambda was encoded.
        opaque: something was encoded that a model may interpret wrongly: declared functions, cardinalities, choices.
        limited: calls are written with the function's second symbol (see `encode.facts`).
        functions: declared functions met so far, in order.
        cards: by set type, the sets whose size was asked for.
        finite: expressions known to be finite sets.
    """

    def __init__(self, core: CoreProgram, context: z3.Context) -> None:
        self.core = core
        self.context = context
        self.facts: list[Expr] = []
        self.quantified = False
        self.opaque = False
        self.limited = False
        self.functions: dict[str, None] = {}
        self._sorts: dict[Sort, Any] = {}
        self._declared: dict[tuple[str, str], Any] = {}
        self._datatypes: dict[str, Any] = {}
        self._free: dict[str, Expr] = {}
        self.cards: dict[Sort, list[Expr]] = {}
        self._chosen: list[tuple[Choose, list[Var], tuple[Any, ...]]] = []
        self.finite: set[int] = set()
        self._ground: dict[int, tuple[Term, Expr]] = {}  # by identity: parts are shared by instances and cases
        self._count = 0

    # Sorts

    def sort(self, sort: Sort) -> Any:
        sort = base(sort)
        known = self._sorts.get(sort)
        if known is None:
            known = self._sorts[sort] = self._make_sort(sort)
        return known

    def _make_sort(self, sort: Sort) -> Any:
        match sort:
            case Basic(name="int" | "nat"):
                return z3.IntSort(self.context)
            case Basic(name="real"):
                return z3.RealSort(self.context)
            case Basic():
                return z3.BoolSort(self.context)
            case SetOf(element=element):
                return z3.ArraySort(self.sort(element), z3.BoolSort(self.context))
            case SeqOf(element=element):
                return z3.SeqSort(self.sort(element))
            case FunctionOf(params=params, result=result):
                if not params:
                    raise Unsupported("a function value without parameters")
                return z3.ArraySort(*[self.sort(p) for p in params], self.sort(result))
            case TupleOf(items=items):
                made = z3.Datatype("tuple:" + str(len(self._sorts)), self.context)
                made.declare("tuple", *[(f"item{i}:{len(self._sorts)}", self.sort(s)) for i, s in enumerate(items)])
                return made.create()
            case DataOf(name=name):
                return self._datatype(name)

    def _datatype(self, name: str) -> Any:
        group = recursive_group(name, self.core)
        made = {member: z3.Datatype("data:" + member, self.context) for member in group}
        for member, builder in made.items():
            for constructor in self.core.datatypes[member].constructors:
                fields = [
                    (f"{constructor.name}.{field}", made[s.name])
                    if isinstance(s, DataOf) and s.name in made
                    else (f"{constructor.name}.{field}", self.sort(s))
                    for field, s in constructor.fields
                ]
                builder.declare(constructor.name, *fields)
        for member, sort in zip(made, z3.CreateDatatypes(*made.values()), strict=True):
            self._sorts[DataOf(member)] = sort
        return self._sorts[DataOf(name)]

    # Names

    def declared(self, name: str, *sorts: Any) -> Any:
        """The uninterpreted function of that name."""
        key = (name, ",".join(str(s) for s in sorts))
        known = self._declared.get(key)
        if known is None:
            known = self._declared[key] = z3.Function(name, *sorts)
        return known

    def function(self, name: str, limited: bool) -> Any:
        """The symbol of a declared function."""
        function = self.core.functions[name]
        self.functions.setdefault(name)
        self.opaque = True
        sorts = [self.sort(p.sort) for p in function.params] + [self.sort(function.result.sort)]
        # A variable may have the name of a function without parameters, which is a constant for Z3 as well.
        return self.declared(f"{name}#limited()" if limited else f"{name}()", *sorts)

    def constant(self, var: Var) -> Expr:
        """A free variable."""
        known = self._free.get(var.name)
        if known is None:
            known = self._free[var.name] = z3.Const(var.name, self.sort(var.sort))
            if isinstance(var.sort, SetOf) and var.sort.finite:
                is_finite(self, known, var.sort)
        return known

    def bind(self, variables: tuple[Var, ...], scope: Mapping[str, Expr]) -> tuple[list[Expr], dict[str, Expr]]:
        """New constants for bound variables, and the scope with them."""
        inner = dict(scope)
        bound: list[Expr] = []
        for var in variables:
            self._count += 1
            constant = z3.Const(f"{var.name}!{self._count}", self.sort(var.sort))
            inner[var.name] = constant
            bound.append(constant)
        return bound, inner

    # Terms

    def __call__(self, term: Term, scope: Mapping[str, Expr] | None = None) -> Expr:
        """`term` in Z3's language; `scope` gives the bound variables. Raises Unsupported."""
        if scope:
            return self._encoded(term, scope)
        if self.limited:
            return self._encoded(term, {})
        known = self._ground.get(id(term))
        if known is None:
            known = self._ground[id(term)] = (term, self._encoded(term, {}))
        return known[1]

    def _encoded(self, term: Term, scope: Mapping[str, Expr]) -> Expr:
        match term:
            case Var(name=name):
                bound = scope.get(name)
                return self.constant(term) if bound is None else bound
            case Int(value=value):
                return z3.IntVal(value, self.context)
            case Real(value=value):
                return z3.RealVal(str(value), self.context)
            case Bool(value=value):
                return z3.BoolVal(value, self.context)
            case Builtin():
                return self._builtin(term, scope)
            case Call(name=name):
                args = [self(arg, scope) for arg in term.args]
                if name == FINITE:
                    return self.declared(FINITE, args[0].sort(), z3.BoolSort(self.context))(args[0])
                return self.function(name, self.limited)(*args)
            case Invoke(function=function):
                return z3.Select(self(function, scope), *[self(arg, scope) for arg in term.args])
            case FunctionValue(name=name):
                params = self.core.functions[name].params
                bound_, inner = self.bind(params, {})
                self.quantified = True
                return z3.Lambda(bound_, self.function(name, self.limited)(*[inner[p.name] for p in params]))
            case Lambda(params=params, body=body):
                bound_, inner = self.bind(params, scope)
                self.quantified = True
                return z3.Lambda(bound_, self(body, inner))
            case Construct(constructor=name, args=parts):
                sort = self.sort(term.sort)
                for i in range(sort.num_constructors()):
                    if sort.constructor(i).name() == name:
                        made = sort.constructor(i)
                        return made(*[self(arg, scope) for arg in parts]) if parts else made()
                raise Unsupported(f"constructor {name}", term.at)
            case Field():
                return self._field(term, scope)
            case Is(value=value, constructor=name):
                sort = self.sort(value.sort)
                for i in range(sort.num_constructors()):
                    if sort.constructor(i).name() == name:
                        return sort.recognizer(i)(self(value, scope))
                raise Unsupported(f"constructor {name}", term.at)
            case Quant():
                return self._quant(term, scope)
            case SetComp():
                return self._comprehension(term, scope)
            case Let(var=var, value=value, body=body):
                return self(body, {**scope, var.name: self(value, scope)})
            case Choose():
                return self._choose(term, scope)
            case Proved(value=value):
                return self(value, scope)

    def _field(self, term: Field, scope: Mapping[str, Expr]) -> Expr:
        value = self(term.value, scope)
        sort = value.sort()
        if isinstance(term.value.sort, TupleOf):
            return sort.accessor(0, int(term.name))(value)
        for i in range(sort.num_constructors()):
            for j in range(sort.constructor(i).arity()):
                if sort.accessor(i, j).name().split(".", 1)[-1] == term.name:
                    return self._last_accessor(term, sort, value)
        raise Unsupported(f"field {term.name}", term.at)

    def _last_accessor(self, term: Field, sort: Any, value: Expr) -> Expr:
        """The field where several constructors have it: chosen by the constructor of the value."""
        found: list[tuple[Any, Any]] = []
        for i in range(sort.num_constructors()):
            for j in range(sort.constructor(i).arity()):
                if sort.accessor(i, j).name().split(".", 1)[-1] == term.name:
                    found.append((sort.recognizer(i), sort.accessor(i, j)))
        result = found[-1][1](value)
        for test, accessor in found[:-1]:
            result = z3.If(test(value), accessor(value), result)
        return result

    def _builtin(self, term: Builtin, scope: Mapping[str, Expr]) -> Expr:
        if term.op in (Op.SET, Op.SEQ):
            return display(self, term, scope)
        args = [self(arg, scope) for arg in term.args]
        a = args[0]
        b = args[1] if len(args) > 1 else None
        match term.op:
            case Op.NEG:
                return -a
            case Op.ADD:
                return a + b
            case Op.SUB:
                return a - b
            case Op.MUL:
                return a * b
            case Op.DIV:
                return a / b
            case Op.MOD:
                return a % b
            case Op.LT:
                return a < b
            case Op.LE:
                return a <= b
            case Op.EQ | Op.IFF:
                return a == b
            case Op.NOT:
                return z3.Not(a)
            case Op.AND:
                return z3.And(*args)
            case Op.OR:
                return z3.Or(*args)
            case Op.IMPLIES:
                return z3.Implies(a, b)
            case Op.ITE:
                return z3.If(a, b, args[2])
            case Op.TO_REAL:
                return z3.ToReal(a)
            case Op.TO_INT | Op.FLOOR:
                return z3.ToInt(a)
            case Op.TUPLE:
                return self.sort(term.sort).constructor(0)(*args)
        return collection(self, term, args, scope)

    # Binders

    def _quant(self, term: Quant, scope: Mapping[str, Expr]) -> Expr:
        self.quantified = True
        bound, inner = self.bind(term.vars, scope)
        guards = [constraint(v, v.sort, self.core) for v in term.vars]
        bounds = [self(g, inner) for g in (*guards, term.range) if g != Bool(True)]
        body = self(term.body, inner)
        patterns = self._patterns(term, inner)
        if term.kind == "exists":
            return z3.Exists(bound, z3.And(*bounds, body), patterns=patterns)
        return z3.ForAll(bound, z3.Implies(z3.And(*bounds), body) if bounds else body, patterns=patterns)

    def _patterns(self, term: Quant, inner: Mapping[str, Expr]) -> list[Any]:
        """The user's triggers, as far as Z3 takes them after rewriting."""
        made: list[Any] = []
        needed = {v.name for v in term.vars}
        for trigger in term.triggers:
            named = {v.name for part in trigger for v in free_variables(part)}
            if needed <= named and all(isinstance(part, Call | Invoke) for part in trigger):
                exprs = [self(part, inner) for part in trigger]
                made.append(exprs[0] if len(exprs) == 1 else z3.MultiPattern(*exprs))
        return made

    def _comprehension(self, term: SetComp, scope: Mapping[str, Expr]) -> Expr:
        assert isinstance(term.sort, SetOf)
        self.quantified = True
        guards = conjunction(constraint(v, v.sort, self.core) for v in term.vars)
        if len(term.vars) == 1 and isinstance(term.term, Var) and term.term.name == term.vars[0].name:
            bound, inner = self.bind(term.vars, scope)
            made = z3.Lambda(bound, self(conjunction([guards, term.range]), inner))
        else:
            (item,), inner = self.bind((Var("element", term.sort.element),), scope)
            bound, inner = self.bind(term.vars, inner)
            image = self(term.term, inner) == item
            made = z3.Lambda([item], z3.Exists(bound, z3.And(self(conjunction([guards, term.range]), inner), image)))
        if term.sort.finite and not mentions(term, scope):
            is_finite(self, made, term.sort)
        return made

    def _choose(self, term: Choose, scope: Mapping[str, Expr]) -> Expr:
        """The values are functions of the bound variables that the predicate depends on."""
        self.opaque = True
        around = [v for v in free_variables(term) if v.name in scope]
        outer = [scope[v.name] for v in around]
        chosen = self._chosen_symbols(term, [c.sort() for c in outer], around)
        values = [symbol(*outer) if outer else symbol() for symbol in chosen]
        inner = {**scope, **{v.name: value for v, value in zip(term.vars, values, strict=True)}}
        return self(term.body, inner)

    def _chosen_symbols(self, term: Choose, sorts: list[Any], around: list[Var]) -> tuple[Any, ...]:
        for known, outside, symbols in self._chosen:
            if known == term and outside == around:
                return symbols
        number = len(self._chosen)
        symbols = tuple(self.declared(f"choice#{number}:{v.name}", *sorts, self.sort(v.sort)) for v in term.vars)
        self._chosen.append((term, around, symbols))
        outer, scope = self.bind(tuple(around), {})
        values = [symbol(*outer) if outer else symbol() for symbol in symbols]
        bound, within = self.bind(term.vars, scope)
        guarded = conjunction([*(constraint(v, v.sort, self.core) for v in term.vars), term.predicate])
        some = z3.Exists(bound, self(guarded, within))
        picked = self(guarded, {**scope, **{v.name: c for v, c in zip(term.vars, values, strict=True)}})
        fact = z3.Implies(some, picked)
        self.quantified = True
        self.facts.append(z3.ForAll(outer, fact, patterns=[values[0]]) if outer else fact)
        return symbols
