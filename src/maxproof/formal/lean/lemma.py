"""Statements to Dafny lemmas with empty bodies: the form in which problems are posed."""

from __future__ import annotations

from functools import cache
from typing import Final

from maxproof.formal.lean import dafny
from maxproof.formal.lean.dafny import apply, compare
from maxproof.formal.lean.emit import Emitter
from maxproof.formal.lean.emit_types import guards as guards_of
from maxproof.formal.lean.emit_types import type_of
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.inverses import Inverses, prime_terms
from maxproof.formal.lean.lower import chain, lower
from maxproof.formal.lean.names import legal
from maxproof.formal.lean.terms import EquivType, Statement, Var
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import (
    Binder,
    Clause,
    Datatype,
    Declaration,
    Expr,
    FunctionType,
    Lemma,
    Name,
    Quantifier,
)
from maxproof.formal.syntax.parse import parse_program

# The prelude sums complex numbers over ranges only.
_COMPLEX_SUM: Final = """
function cset_csum(s: set<complex>, f: complex -> complex): complex
  decreases |s|
{
  if s == {} then Complex(0.0, 0.0) else var z: complex :| z in s; cadd(f(z), cset_csum(s - {z}, f))
}
"""


def to_lemma(statement: Statement) -> tuple[Lemma, tuple[Declaration, ...]]:
    """The lemma that says what `statement` says, and the declarations that it needs besides the prelude.

    Every hypothesis is a `requires` for each of its conjuncts, the conclusion an `ensures` for each of its own; before
    the hypotheses stand the guards of the parameters.

    Raises:
        NotTranslated: something that the fragment of Dafny or the prelude has no word for.
    """
    lowered = lower(statement)
    facts = [fact for hypothesis in lowered.hypotheses for fact in chain(hypothesis)]  # type: ignore[arg-type]
    inverses = Inverses(prime_terms(facts))
    emitter = Emitter(_taken(), inverses)
    params: list[Binder] = []
    guards: list[Expr] = []
    for var in lowered.params:
        name = emitter.declare(var)
        type_ = type_of(var.type, var)
        params.append(Binder(name, type_))
        guards += guards_of(var.type, Name(name), emitter.apart)
        if isinstance(var.type, EquivType):
            params.append(Binder(emitter.inverse_name(var), type_of(_flipped(var.type), var)))
            guards += _inverse_to_each_other(emitter, var)
    requires = [emitter.term(fact) for fact in facts]
    ensures = [emitter.term(fact) for fact in chain(lowered.conclusion)]
    lemma = Lemma(
        legal(statement.name, _taken() | {d.name for d in prelude().library.declarations}),
        (*params, *inverses.params),
        (),
        requires=tuple(Clause(c) for c in (*guards, *inverses.requires, *requires)),
        ensures=tuple(Clause(c) for c in ensures),
    )
    return lemma, _definitions() if emitter.complex_sets else ()


def _flipped(type_: EquivType) -> EquivType:
    return EquivType(type_.codomain, type_.domain)


def _inverse_to_each_other(emitter: Emitter, var: Var) -> list[Expr]:
    """`inverse(f(x)) == x` and `f(inverse(y)) == y`, for all x and y."""
    forward, backward = Name(emitter.name_of(var)), Name(emitter.inverse_name(var))
    facts: list[Expr] = []
    for variable, first, second in (("x", forward, backward), ("y", backward, forward)):
        type_ = type_of(var.type if first is forward else _flipped(var.type), var)  # type: ignore[arg-type]
        assert isinstance(type_, FunctionType)
        if type_.params[0] != dafny.REAL or type_.result != dafny.REAL:
            raise NotTranslated("an equivalence of other types than ℝ ≃ ℝ", var.at)
        point = Name(emitter.apart(variable))
        round_trip = compare(apply(second, (apply(first, (point,)),)), "==", point)
        facts.append(Quantifier("forall", (Binder(point.name, dafny.REAL),), round_trip))
    return facts


@cache
def _taken() -> frozenset[str]:
    """Names that mean something in the prelude, and must not be a variable's."""
    names = {"cset_csum"}
    for declaration in prelude().definitions.declarations:
        names.add(declaration.name)
        if isinstance(declaration, Datatype):
            names |= {c.name for c in declaration.constructors}
    return frozenset(names)


@cache
def _definitions() -> tuple[Declaration, ...]:
    return parse_program(_COMPLEX_SUM).declarations
