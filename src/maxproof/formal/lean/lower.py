"""Statements in fewer words: sets become membership, so that only what Dafny has a word for is left.

Every step is an equivalence of Mathlib's definitions: `x ∈ {y | P y}` is `P x`, equal sets have the same members,
`IsLeast s a` is `a ∈ s ∧ ∀ x, x ∈ s → a ≤ x`, and so on. Where a hypothesis says that a set is finite, `s.toFinset` is
a variable that stands for a finite set with the same members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import Any, Final

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.terms import (
    Arrow,
    Compare,
    Component,
    Comprehension,
    Connective,
    Constant,
    Display,
    FiniteSet,
    Image,
    Interval,
    Invoke,
    Lambda,
    Member,
    Not,
    Preimage,
    Quantify,
    SetOperation,
    SetType,
    Statement,
    Subset,
    Term,
    ToFinset,
    Truth,
    Tuple,
    Type,
    Var,
)
from maxproof.formal.lean.walk import rebuild, size, substitute

MAX_COPIED: Final = 1_500
MAX_LISTED: Final = 50
_ORDER_MAPS: Final = {
    "StrictMono": ("<", "<"),
    "StrictAnti": ("<", ">"),
    "Monotone": ("≤", "≤"),
    "Antitone": ("≤", "≥"),
}


def lower(statement: Statement) -> Statement:
    """The same statement without `FiniteSet`, and without set constructors outside the domains of `∑`, `∏` and counts.

    Raises:
        NotTranslated: `toFinset` of a set that no hypothesis calls finite.
    """
    params = list(statement.params)
    hypotheses: list[Term] = []
    lowering = _Lowering(count(1_000_000), {})
    for hypothesis in statement.hypotheses:
        if not isinstance(hypothesis, FiniteSet):
            hypotheses.append(lowering.term(hypothesis))
            continue
        type_ = hypothesis.set.type
        assert isinstance(type_, SetType)
        var = Var(next(lowering.indices), "s", SetType(type_.element, finite=True), at=hypothesis.set.at)
        params.append(var)
        hypotheses.append(lowering.same_members(var, hypothesis.set))
        lowering.finite[_canonical(hypothesis.set)] = var
    conclusion = lowering.term(statement.conclusion)
    return replace(statement, params=tuple(params), hypotheses=tuple(hypotheses), conclusion=conclusion)


def member(element: Term, collection: Term) -> Term:
    """`element ∈ collection` for a lowered collection, as a formula without set constructors."""
    return _Lowering(count(2_000_000), {}).member(element, collection)


def chain(term: Term, op: str = "∧") -> Iterator[Term]:
    """The parts of a conjunction (or of a disjunction, for "∨"), in order."""
    if isinstance(term, Connective) and term.op == op:
        yield from chain(term.left, op)
        yield from chain(term.right, op)
    else:
        yield term


def _all(facts: Sequence[Term], op: str = "∧") -> Term:
    if not facts:
        return Truth(op == "∧")
    return reduce(lambda right, left: Connective(op, left, right), reversed(facts[:-1]), facts[-1])  # type: ignore[arg-type]


def _canonical(term: Term) -> Term:
    """`term` with its bound variables numbered in order, so that equal sets compare equal."""
    numbers: dict[int, int] = {}

    def change(part: Any) -> Any:
        bound = getattr(part, "var", None)
        if isinstance(bound, Var):
            numbers.setdefault(bound.index, -1 - len(numbers))
        if isinstance(part, Var):
            return replace(part, index=numbers[part.index], name="") if part.index in numbers else part
        return rebuild(part, change)

    return change(term)  # type: ignore[no-any-return]


@dataclass(slots=True)
class _Lowering:
    indices: Iterator[int]
    finite: dict[Term, Var]

    def _fresh(self, name: str, type_: Type) -> Var:
        return Var(next(self.indices), name, type_)

    def term(self, term: Term) -> Term:
        """`term` lowered, its parts first."""
        return self._one(rebuild(term, self._part))

    def _part(self, part: Any) -> Any:
        return self.term(part) if hasattr(part, "type") else part  # types stay

    def _one(self, term: Term) -> Term:
        match term:
            case Member(element, collection):
                return self.member(element, collection)
            case Subset(left, right, proper) if not (_finite(left) and _finite(right)):
                return self._subset(left, right, proper)
            case Compare("=" | "≠" as op, left, right) if isinstance(left.type, SetType) and not left.type.finite:
                same = self.same_members(left, right)
                return same if op == "=" else Not(same)
            case Compare("=" | "≠" as op, Tuple(xs), Tuple(ys)):
                same = _all([self._one(Compare("=", x, y, at=term.at)) for x, y in zip(xs, ys, strict=True)])
                return same if op == "=" else Not(same)
            case Quantify("∃!", var, body):
                return self._unique(var, body, term)
            case Invoke(Lambda(var, body), args):
                value = self.term(substitute(body, {var.index: args[0]}))
                return value if len(args) == 1 else self._one(Invoke(value, args[1:], term.type, at=term.at))
            case Component(Tuple(items), index):
                return items[index]
            case ToFinset(set_):
                known = self.finite.get(_canonical(set_))
                if known is None:
                    raise NotTranslated("`toFinset` of a set that no hypothesis before it calls finite", term.at)
                return known
            case Constant():
                return self._constant(term)
        return term

    def _unique(self, var: Var, body: Term, term: Quantify) -> Term:
        """`∃ x, P x ∧ ∀ y, P y → y = x`."""
        _copied(body)
        other = self._fresh(var.name, var.type)
        only = Connective("→", _renewed(substitute(body, {var.index: other}), self.indices), Compare("=", other, var))
        return replace(term, kind="∃", body=Connective("∧", body, Quantify("∀", other, only)))

    # Sets

    def member(self, element: Term, collection: Term) -> Term:
        """`element ∈ collection`, as a formula without set constructors."""
        match collection:
            case Comprehension(var, domain, body):
                _copied(body)
                fact = self.term(substitute(body, {var.index: element}))
                return fact if domain is None else Connective("∧", self.member(element, domain), fact)
            case Display(items) if isinstance(collection.type, SetType):
                if len(items) > MAX_LISTED:
                    raise NotTranslated(f"membership in a set of more than {MAX_LISTED} listed items", collection.at)
                return _all([self._one(Compare("=", element, i)) for i in items], "∨")
            case Interval(low, high, low_open, high_open):
                facts: list[Term] = []
                if low is not None:
                    facts.append(Compare("<" if low_open else "≤", low, element))
                if high is not None:
                    facts.append(Compare("<" if high_open else "≤", element, high))
                return _all(facts)
            case Constant("Finset.range", (end,)):
                return Compare("<", element, end)
            case SetOperation("∪", left, right):
                return Connective("∨", self.member(element, left), self.member(element, right))
            case SetOperation("∩", left, right):
                return Connective("∧", self.member(element, left), self.member(element, right))
            case SetOperation("\\", left, right):
                return Connective("∧", self.member(element, left), Not(self.member(element, right)))
            case Preimage(function, set_):
                return self.member(self.call(function, element), set_)
            case Image(function, set_):
                assert isinstance(function.type, Arrow)
                var = self._fresh("y", function.type.domain)
                equal = self._one(Compare("=", self.call(function, var), element))
                body = equal if set_ is None else Connective("∧", self.member(var, set_), equal)
                return Quantify("∃", var, body)
        return Member(element, collection)

    def call(self, function: Term, arg: Term) -> Term:
        assert isinstance(function.type, Arrow)
        return self._one(Invoke(function, (arg,), function.type.codomain, at=function.at))

    def same_members(self, left: Term, right: Term) -> Term:
        assert isinstance(left.type, SetType)
        var = self._fresh("x", left.type.element)
        first, second = self.member(var, self.term(left)), self.member(var, self.term(right))
        return Quantify("∀", var, Connective("↔", first, second))

    def _subset(self, left: Term, right: Term, proper: bool) -> Term:
        assert isinstance(left.type, SetType)
        var, other = self._fresh("x", left.type.element), self._fresh("x", left.type.element)
        inside = Quantify("∀", var, Connective("→", self.member(var, left), self.member(var, right)))
        if not proper:
            return inside
        outside = Connective("∧", self.member(other, right), Not(self.member(other, left)))
        return Connective("∧", inside, Quantify("∃", other, outside))

    # Predicates that Mathlib defines by a formula

    def _constant(self, term: Constant) -> Term:
        match term.name, term.args:
            case "IsLeast" | "IsGreatest" as name, (collection, bound):
                assert isinstance(collection.type, SetType)
                var = self._fresh("x", collection.type.element)
                least = Compare("≤", bound, var) if name == "IsLeast" else Compare("≤", var, bound)
                above = Quantify("∀", var, Connective("→", self.member(var, collection), least))
                return Connective("∧", self.member(bound, collection), above)
            case "Nonempty", (collection,):
                assert isinstance(collection.type, SetType)
                var = self._fresh("x", collection.type.element)
                return Quantify("∃", var, self.member(var, collection))
            case "Function.Injective", (function,):
                x, y, fx, fy = self._two_points(function)
                body = Connective("→", self._one(Compare("=", fx, fy)), self._one(Compare("=", x, y)))
                return Quantify("∀", x, Quantify("∀", y, body))
            case "Function.Surjective", (function,):
                assert isinstance(function.type, Arrow)
                x, y = self._fresh("x", function.type.domain), self._fresh("y", function.type.codomain)
                equal = self._one(Compare("=", self.call(function, x), y))
                return Quantify("∀", y, Quantify("∃", x, equal))
            case name, (function,) if name in _ORDER_MAPS:
                x, y, fx, fy = self._two_points(function)
                before, after = _ORDER_MAPS[name]
                body = Connective("→", Compare(before, x, y), Compare(after, fx, fy))  # type: ignore[arg-type]
                return Quantify("∀", x, Quantify("∀", y, body))
        return term

    def _two_points(self, function: Term) -> tuple[Var, Var, Term, Term]:
        assert isinstance(function.type, Arrow)
        x, y = self._fresh("x", function.type.domain), self._fresh("y", function.type.domain)
        return x, y, self.call(function, x), self.call(function, y)


def _copied(term: Term) -> None:
    """Refuses to write a large formula twice, which would double it at every level."""
    if size(term) > MAX_COPIED:
        raise NotTranslated(f"a formula of more than {MAX_COPIED} parts under `∃!` or in a set", term.at)


def _finite(term: Term) -> bool:
    return isinstance(term.type, SetType) and term.type.finite


def _renewed(term: Term, indices: Iterator[int]) -> Term:
    """`term` with new bound variables, so that a copy shares none with the original."""

    def change(part: Any) -> Any:
        part = rebuild(part, change)
        bound = getattr(part, "var", None)
        if not isinstance(bound, Var):
            return part
        new = replace(bound, index=next(indices))
        return replace(substitute(part, {bound.index: new}), var=new)  # type: ignore[arg-type]

    return change(term)  # type: ignore[no-any-return]
