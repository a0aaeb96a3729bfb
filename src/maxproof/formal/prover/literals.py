"""Values of closed terms as literals: numbers, truth values, sequences and finite sets of whole numbers, data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from maxproof.formal.embedded.core import (
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Construct,
    DataOf,
    Int,
    Op,
    SetOf,
    Term,
)
from maxproof.formal.embedded.evaluate.evaluator import Data, NotComputable, Value, evaluate
from maxproof.formal.prover.instances import literal
from maxproof.formal.prover.question import Question


def elements_of(term: Term | None) -> list[int] | None:
    """The elements of a display of whole numbers."""
    if isinstance(term, Builtin) and term.op is Op.SET and all(isinstance(arg, Int) for arg in term.args):
        return [arg.value for arg in term.args if isinstance(arg, Int)]
    return None


def display_of(elements: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, elements)) + "}"


def chosen_branch(question: Question, body: Term) -> Term:
    """The branch of nested conditionals that closed conditions choose."""
    while isinstance(body, Builtin) and body.op is Op.ITE:
        condition = value_of(question, body.args[0])
        if not isinstance(condition, bool):
            return body
        body = body.args[1] if condition else body.args[2]
    return body


def literal_of(question: Question, term: Term) -> Term | None:
    """The literal of a closed number, truth value, or sequence or finite set of whole numbers."""
    value = value_of(question, term)
    if isinstance(value, bool):
        return Bool(value)
    if term.sort in (INT, NAT, REAL) and isinstance(value, int | Fraction):
        return literal(Fraction(value), REAL if term.sort == REAL else INT)
    if isinstance(value, Data) and isinstance(term.sort, DataOf):
        return _constructed(question, value, term.sort)
    if isinstance(value, tuple) and all(type(item) is int for item in value):
        return Builtin(Op.SEQ, tuple(Int(item) for item in value), term.sort)
    if isinstance(value, frozenset) and isinstance(term.sort, SetOf) and all(type(item) is int for item in value):
        return Builtin(Op.SET, tuple(Int(item) for item in sorted(value)), term.sort)
    return None


def _constructed(question: Question, value: Data, sort: DataOf) -> Term | None:
    """The constructor applied to literals, for fields that are numbers."""
    constructors = question.core.datatypes[sort.name].constructors
    sorts = next((made.fields for made in constructors if made.name == value.constructor), ())
    args: list[Term] = []
    for (_, field), item in zip(sorts, value.fields, strict=True):
        number = literal(Fraction(item), field) if isinstance(item, int | Fraction) and field in (INT, REAL) else None
        if number is None:
            return None
        args.append(number)
    return Construct(value.constructor, tuple(args), sort)


def value_of(question: Question, term: Term) -> Value | None:
    try:
        return evaluate(term, question.core)
    except NotComputable:
        return None
