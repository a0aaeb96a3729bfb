"""Termination: a call inside a declaration's own recursion must make its measure smaller.

Measures are compared lexicographically by Dafny's well-founded orders: an int gets smaller where the old value is at
least 0, a real by at least 1.0, a bool from true to false, a finite set to a proper subset, a sequence in length, a
datatype to a part of itself. A measure of fewer components counts as larger where all of them are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import (
    BOOL,
    NAT,
    REAL,
    Basic,
    Builtin,
    CoreFunction,
    CoreLemma,
    CoreProgram,
    DataOf,
    Field,
    FunctionOf,
    Int,
    Is,
    Op,
    Real,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import conjunction, disjunction, substitute
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.domains import base, known_sort
from maxproof.formal.embedded.obligations.path import FALSE, TRUE, Claim, Path, Scope, equality, negation
from maxproof.formal.syntax.ast import Position


def measure(declaration: CoreFunction | CoreLemma) -> tuple[Term, ...]:
    """Its decreases clause, or Dafny's default: the parameters whose types are ordered."""
    if declaration.decreases:
        return declaration.decreases
    return tuple(var for var in declaration.params if _ordered(var.sort))


def _ordered(sort: Sort) -> bool:
    return not isinstance(sort, FunctionOf) and not (isinstance(sort, SetOf) and not sort.finite)


def ask_decrease(
    callee: CoreFunction | CoreLemma, bindings: Mapping[str, Term], path: Path, scope: Scope, at: Position
) -> None:
    """Asks that a call of `callee`, with `bindings` for its parameters, is below the declaration under check."""
    new = tuple(substitute(term, bindings) for term in measure(callee))
    goal = below(new, scope.measure, scope.program, at)
    text = f"({', '.join(map(show, new))}) is below ({', '.join(map(show, scope.measure))})"
    scope.ask(Claim(ObligationKind.TERMINATION, at, text), goal, path)


def below(
    new: Sequence[Term], old: Sequence[Term], program: CoreProgram, at: Position, strict_floor: bool = False
) -> Term:
    """The measure `new` is below `old`.

    Args:
        strict_floor: numbers are asked to be at least 0 in `new` rather than in `old`, which is the stronger guard that
            an induction hypothesis gets.

    Raises Unsupported for a measure of functions or infinite sets.
    """
    shared = 0
    while shared < min(len(new), len(old)) and base(new[shared].sort) == base(old[shared].sort):
        shared += 1
    cases: list[Term] = []
    same: list[Term] = []
    for smaller, larger in zip(new[:shared], old[:shared], strict=True):
        if smaller == larger:
            continue
        less = _less(smaller, larger, program, at, strict_floor)
        if less != FALSE:
            cases.append(conjunction([*same, less]))
        same.append(_equal(smaller, larger))
    if shared == len(old) < len(new):
        cases.append(conjunction(same))
    return TRUE if TRUE in cases else disjunction(cases)


def _equal(new: Term, old: Term) -> Term:
    if isinstance(old.sort, SeqOf):
        return equality(_length(new), _length(old))
    return equality(new, old)


def _length(term: Term) -> Term:
    return Builtin(Op.CARD, (term,), NAT, at=term.at)


def _less(new: Term, old: Term, program: CoreProgram, at: Position, strict_floor: bool) -> Term:
    floor = new if strict_floor else old
    match old.sort:
        case Basic(name="int" | "nat"):
            less: Term = Builtin(Op.LT, (new, old), BOOL)
            return less if known_sort(floor) == NAT else conjunction([Builtin(Op.LE, (Int(0), floor), BOOL), less])
        case Basic(name="real"):
            one, zero = Real(Fraction(1)), Real(Fraction(0))
            step = Builtin(Op.LE, (Builtin(Op.ADD, (new, one), REAL), old), BOOL)
            return conjunction([Builtin(Op.LE, (zero, floor), BOOL), step])
        case Basic():
            return conjunction([negation(new), old])
        case SetOf(finite=True):
            return Builtin(Op.PROPER_SUBSET, (new, old), BOOL)
        case SeqOf():
            return Builtin(Op.LT, (_length(new), _length(old)), BOOL)
        case TupleOf():
            return FALSE
        case DataOf(name=name):
            return _part(new, old, name, program)
    raise Unsupported("a termination measure of this type", at)


def _part(new: Term, old: Term, name: str, program: CoreProgram) -> Term:
    """`new` is right inside `old`."""
    return disjunction(
        conjunction([Is(old, constructor.name), equality(new, Field(old, field, sort))])
        for constructor in program.datatypes[name].constructors
        for field, sort in constructor.fields
        if sort == DataOf(name)
    )
