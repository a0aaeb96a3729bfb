"""Theorems as written to statements: names bound, types inferred, coercions inserted as Lean inserts them.

Each hypothesis is elaborated on its own, in order, then settled: numerals whose type nothing fixed become ℕ, and every
type must be known. A statement that Lean itself would refuse is outside the contract, but is refused too wherever that
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NoReturn

from maxproof.formal.lean import elaborate_arithmetic as arithmetic
from maxproof.formal.lean import elaborate_binders as binders
from maxproof.formal.lean import elaborate_polymorphic as polymorphic
from maxproof.formal.lean.constants import MONOMORPHIC, POLYMORPHIC, candidates
from maxproof.formal.lean.elaborate_types import elaborate_type, is_type
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.settle import settle
from maxproof.formal.lean.terms import (
    NAT,
    PROP,
    Arrow,
    Cast,
    Connective,
    Constant,
    Display,
    EquivType,
    FiniteSet,
    If,
    Invoke,
    Lambda,
    ListType,
    Member,
    Not,
    Number,
    ProductType,
    SetType,
    Statement,
    Subset,
    Term,
    Truth,
    Tuple,
    Type,
    Var,
)
from maxproof.formal.lean.tree import (
    Application,
    Ascription,
    BigOperator,
    Coercion,
    Conditional,
    Congruence,
    Enclosed,
    Function,
    Hole,
    Ident,
    Infix,
    Numeral,
    Postfix,
    Prefix,
    Projection,
    Quantified,
    SetBuilder,
    Syntax,
    Theorem,
)
from maxproof.formal.lean.tree import Display as DisplaySyntax
from maxproof.formal.lean.unify import Unifier, coerces, is_number
from maxproof.formal.syntax.ast import Position

_ENCLOSED: Final = {
    "||": "abs",
    "‖‖": "norm",
    "⌊⌋": "Int.floor",
    "⌈⌉": "Int.ceil",
    "⌊⌋₊": "Nat.floor",
    "⌈⌉₊": "Nat.ceil",
}


def elaborate(theorem: Theorem) -> Statement:
    """The statement that `theorem` makes.

    Raises:
        NotTranslated: a construct outside the fragment, an ambiguous name, or types that don't fit.
    """
    try:
        return Elaborator(theorem.opened).statement(theorem)
    except NotTranslated as refusal:
        refusal.name = theorem.name
        raise


class Elaborator:
    """Scope and type variables of one statement."""

    def __init__(self, opened: Sequence[str]) -> None:
        self.opened = tuple(opened)
        self.unifier = Unifier()
        self._locals: dict[str, Var] = {}
        self._count = 0

    def refuse(self, construct: str, at: Position) -> NoReturn:
        raise NotTranslated(construct, at)

    # Statements

    def statement(self, theorem: Theorem) -> Statement:
        params: list[Var] = []
        hypotheses: list[Term | FiniteSet] = []
        for binder in theorem.binders:
            if binder.type is None:
                self.refuse(f"`{binder.name}`, bound without a type", binder.at)
            if is_type(binder.type):
                var = self.variable(binder.name, self.type(binder.type), binder.at)
                self._locals[binder.name] = var
                params.append(var)
                continue
            match binder.type:
                case Application(Ident("Fintype"), _):
                    hypotheses.append(FiniteSet(binder.name, self._settled(self._fintype(binder.type))))
                case Application(Ident("Fact"), (fact,)):
                    hypotheses.append(self._settled(self.prop(fact)))
                case _:
                    hypotheses.append(self._settled(self.prop(binder.type)))
        return Statement(theorem.name, tuple(params), tuple(hypotheses), self._settled(self.prop(theorem.conclusion)))

    def _fintype(self, type_: Application) -> Term:
        if len(type_.args) != 1:
            self.refuse("`Fintype`", type_.at)
        value = self.term(type_.args[0])
        if not isinstance(self.unifier.resolve(value.type), SetType):
            self.refuse("`Fintype` of something that is no set", type_.at)
        return value

    def _settled(self, term: Term) -> Term:
        self.unifier.fall_back()
        return settle(term, self.unifier)

    # Scope and types

    def variable(self, name: str, type_: Type, at: Position) -> Var:
        """A new variable, apart from all others of the statement."""
        self._count += 1
        return Var(self._count, name, type_, at=at)

    def fresh_variable(self, type_: Type, at: Position) -> Var:
        return self.variable("x", type_, at)

    @contextmanager
    def bound(self, *variables: Var) -> Iterator[None]:
        saved = dict(self._locals)
        self._locals.update({v.name: v for v in variables if v.name != "_"})
        try:
            yield
        finally:
            self._locals = saved

    def type(self, syntax: Syntax) -> Type:
        return elaborate_type(syntax, self._modulus)

    def _modulus(self, syntax: Syntax) -> Term:
        return self._settled(self.ensure(self.term(syntax, NAT), NAT))

    def ensure(self, term: Term, type_: Type) -> Term:
        """`term` as one of `type_`: types made equal, or a coercion put in."""
        if self.unifier.unify(term.type, type_):
            return term
        source, target = self.unifier.resolve(term.type), self.unifier.resolve(type_)
        if not coerces(source, target):
            self.refuse(f"a term of type {source} where {target} was expected", term.at)
        return Cast(term, target, at=term.at)

    def known(self, type_: Type | None) -> Type | None:
        """`type_` if it's a number type, as far as inference has got; else None."""
        if type_ is None:
            return None
        type_ = self.unifier.resolve(type_)
        return type_ if is_number(type_) else None

    # Terms

    def prop(self, syntax: Syntax) -> Term:
        return self.ensure(self.term(syntax, PROP), PROP)

    def term(self, syntax: Syntax, expected: Type | None = None) -> Term:
        """Elaborates `syntax`. `expected` guides it; the result's type may still be another (see `ensure`)."""
        match syntax:
            case Numeral(value, decimal, at):
                return self._numeral(value, decimal, expected, at)
            case Ident() | Projection() | Application():
                return self.applied(syntax, (), expected)
            case Infix(op) if op in arithmetic.OPERATORS:
                return arithmetic.arithmetic(self, syntax, expected)
            case Prefix("-") | Postfix("⁻¹"):
                return arithmetic.arithmetic(self, syntax, expected)
            case Infix():
                return self._infix(syntax, expected)
            case Prefix("¬", operand, at):
                return Not(self.prop(operand), at=at)
            case Prefix("√", operand, at):
                return self._constant("Real.sqrt", (operand,), expected, at)
            case Postfix("!", operand, at):
                if "Nat" not in self.opened:
                    self.refuse("`!` where the namespace Nat isn't open", at)
                return self._constant("Nat.factorial", (operand,), expected, at)
            case Coercion(operand, at):
                target = expected if expected is not None else self.unifier.fresh()
                return Cast(self.term(operand), target, at=at)
            case Ascription(value, type_, at):
                if not is_type(type_):
                    self.refuse("a term ascribed to something that is no type of the fragment", at)
                wanted = self.type(type_)
                return self.ensure(self.term(value, wanted), wanted)
            case Enclosed(op, operand, at):
                return self._constant(_ENCLOSED[op], (operand,), expected, at)
            case Quantified():
                return binders.quantified(self, syntax, syntax.binders)
            case Function():
                return binders.function(self, syntax, syntax.binders, expected)
            case BigOperator():
                return binders.big_operator(self, syntax, expected)
            case SetBuilder():
                return binders.set_builder(self, syntax, expected)
            case DisplaySyntax():
                return self._display(syntax, expected)
            case Congruence(kind, left, right, modulus, at):
                return self._constant(
                    "Nat.ModEq" if kind == "MOD" else "Int.ModEq", (modulus, left, right), expected, at
                )
            case Conditional(condition, then, otherwise, at):
                test = self.prop(condition)
                first = self.term(then, expected)
                second = self.ensure(self.term(otherwise, expected or first.type), first.type)
                return If(test, first, second, first.type, at=at)
            case Hole(at) | Prefix(_, _, at) | Postfix(_, _, at):
                self.refuse("a term of this form", at)
        self.refuse("a term of this form", syntax.at)

    def _numeral(self, value: object, decimal: bool, expected: Type | None, at: Position) -> Term:
        type_ = self.known(expected)
        if type_ is None:
            type_ = self.unifier.fresh(natural=not decimal)
            if expected is not None and not self.unifier.unify(expected, type_):
                self.refuse(f"a numeral where {self.unifier.resolve(expected)} was expected", at)
        return Number(value, type_, at=at)  # type: ignore[arg-type]

    def _infix(self, syntax: Infix, expected: Type | None) -> Term:
        op, left, right, at = syntax.op, syntax.left, syntax.right, syntax.at
        match op:
            case "=" | "≠" | "<" | "≤" | ">" | "≥":
                return arithmetic.relation(self, op, left, right, at)
            case "∧" | "∨" | "↔" | "→":
                if op == "→" and is_type(left):
                    self.refuse("an arrow out of a type, as a proposition", at)
                return Connective(op, self.prop(left), self.prop(right), at=at)
            case "∣" | "∤":
                divides = self._divides(left, right, at)
                return divides if op == "∣" else Not(divides, at=at)
            case "∈" | "∉":
                member = self._member(left, right, at)
                return member if op == "∈" else Not(member, at=at)
            case "⊆" | "⊂":
                first, second = arithmetic.same_sets(self, left, right, None)
                return Subset(first, second, op == "⊂", at=at)
            case "∪" | "∩" | "\\":
                return arithmetic.set_operation(self, syntax, expected)
            case "⁻¹'" | "''":
                return polymorphic.image(self, op, left, right, at)
            case "∘":
                return self._composition(left, right, at)
        self.refuse(f"`{op}`", at)

    def _divides(self, left: Syntax, right: Syntax, at: Position) -> Term:
        divisor = self.term(left)
        number = self.ensure(self.term(right, divisor.type), divisor.type)
        return Constant("Dvd", (divisor, number), PROP, at=at)

    def _member(self, left: Syntax, right: Syntax, at: Position) -> Term:
        collection = self.term(right)
        type_ = self.unifier.resolve(collection.type)
        if not isinstance(type_, SetType | ListType):
            self.refuse(f"membership in something of type {type_}", at)
        return Member(self.ensure(self.term(left, type_.element), type_.element), collection, at=at)

    def _composition(self, left: Syntax, right: Syntax, at: Position) -> Term:
        inner, outer = self.term(right), self.term(left)
        first, second = self.unifier.resolve(inner.type), self.unifier.resolve(outer.type)
        if not isinstance(first, Arrow) or not isinstance(second, Arrow):
            self.refuse("`∘` of terms that are no functions", at)
        var = self.fresh_variable(first.domain, at)
        value = self.ensure(self.invoke(inner, var, at), second.domain)
        body = self.invoke(outer, value, at)
        return Lambda(var, body, Arrow(first.domain, body.type), at=at)

    def _display(self, syntax: DisplaySyntax, expected: Type | None) -> Term:
        wanted = self.unifier.resolve(expected) if expected is not None else None
        if syntax.kind == "()":
            types = wanted.items if isinstance(wanted, ProductType) else (None,) * len(syntax.items)
            if len(types) != len(syntax.items):
                self.refuse("a tuple of another length than its type", syntax.at)
            items = tuple(
                self.term(i) if t is None else self.ensure(self.term(i, t), t)
                for i, t in zip(syntax.items, types, strict=True)
            )
            return Tuple(items, ProductType(tuple(i.type for i in items)), at=syntax.at)
        if syntax.kind == "{}" and not isinstance(wanted, SetType):
            self.refuse("a set literal, where neither Set nor Finset was expected", syntax.at)
        element = wanted.element if isinstance(wanted, SetType | ListType) else self.unifier.fresh()
        parts = tuple(self.ensure(self.term(i, element), element) for i in syntax.items)
        type_ = SetType(element, wanted.finite) if isinstance(wanted, SetType) else ListType(element)
        return Display(parts, type_, at=syntax.at)

    # Names and applications

    def applied(self, syntax: Syntax, args: Sequence[Syntax], expected: Type | None) -> Term:
        """`syntax` applied to `args`; a name takes as many of them as it needs."""
        match syntax:
            case Application(function, inner):
                return self.applied(function, (*inner, *args), expected)
            case Ident(name, at):
                return self._named(name, args, expected, at)
            case Projection(value, name, at):
                return polymorphic.field(self, self.term(value), name, args, expected, at)
        return self.apply(self.term(syntax), args)

    def _named(self, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
        first, *fields = name.split(".")
        if name in self._locals:
            return self.apply(self._located(self._locals[name], at), args)
        if first in self._locals:
            term: Term = self._located(self._locals[first], at)
            for index, field in enumerate(fields):
                last = index == len(fields) - 1
                term = polymorphic.field(self, term, field, args if last else (), expected if last else None, at)
            return term
        if name == "π":
            if "Real" not in self.opened:
                self.refuse("`π` where the namespace Real isn't open", at)
            name = "Real.pi"
        if name == "𝓝":
            name = "nhds"
        found = candidates(name, self.opened)
        if len(found) != 1:
            meanings = f", which may be {' or '.join(found)}" if found else ""
            self.refuse(f"the name `{name}`{meanings}", at)
        return self._constant(found[0], args, expected, at)

    def _located(self, var: Var, at: Position) -> Var:
        return Var(var.index, var.name, var.type, at=at)

    def _constant(self, name: str, args: Sequence[Syntax], expected: Type | None, at: Position) -> Term:
        if name in ("True", "False"):
            return Truth(name == "True", at=at)
        if name in POLYMORPHIC:
            return polymorphic.constant(self, name, args, expected, at)
        if name not in MONOMORPHIC:
            self.refuse(f"`{name}`", at)
        signature = MONOMORPHIC[name]
        arity = len(signature.params)
        given = tuple(self.ensure(self.term(a, p), p) for a, p in zip(args[:arity], signature.params, strict=False))
        missing = [self.fresh_variable(p, at) for p in signature.params[len(given) :]]
        term: Term = Constant(name, (*given, *missing), signature.result, at=at)
        for var in reversed(missing):
            term = Lambda(var, term, Arrow(var.type, term.type), at=at)
        return self.apply(term, args[arity:])

    def apply(self, function: Term, args: Sequence[Syntax]) -> Term:
        for arg in args:
            function = self._callable(function, arg.at)
            type_ = self.unifier.resolve(function.type)
            assert isinstance(type_, Arrow)
            function = self.invoke(function, self.ensure(self.term(arg, type_.domain), type_.domain), function.at)
        return function

    def _callable(self, function: Term, at: Position) -> Term:
        type_ = self.unifier.resolve(function.type)
        if isinstance(type_, EquivType):
            return polymorphic.equivalence(self, function, 0, at)
        if not isinstance(type_, Arrow):
            self.refuse(f"an argument for something of type {type_}", at)
        return function

    def invoke(self, function: Term, arg: Term, at: Position) -> Term:
        """`function arg`, where the types fit already."""
        type_ = self.unifier.resolve(function.type)
        assert isinstance(type_, Arrow)
        if isinstance(function, Invoke):
            return Invoke(function.function, (*function.args, arg), type_.codomain, at=at)
        return Invoke(function, (arg,), type_.codomain, at=at)
