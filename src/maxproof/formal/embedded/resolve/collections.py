"""Sets, sequences and tuples as expressions."""

from __future__ import annotations

from maxproof.formal.embedded.core import (
    INT,
    NAT,
    Builtin,
    FunctionOf,
    Int,
    Op,
    SeqOf,
    Sort,
    Term,
    TupleOf,
)
from maxproof.formal.embedded.resolve.infer import infer, place
from maxproof.formal.embedded.resolve.operators import (
    cardinality,
    seq_display,
    set_display,
)
from maxproof.formal.embedded.resolve.scope import Case, Env, Typed, Unit
from maxproof.formal.embedded.resolve.types import (
    Type,
    Unknown,
    function_of,
    join,
    seq_of,
    tuple_of,
)
from maxproof.formal.syntax import ast


def _cardinality(unit: Unit, env: Env, expr: ast.Cardinality, hint: Type | None) -> Typed:
    return cardinality(unit, infer(unit, env, expr.operand), expr.at)


def _sequence(unit: Unit, env: Env, expr: ast.Expr, what: str) -> tuple[Typed, Type]:
    """A sequence and the type of its elements."""
    value = infer(unit, env, expr)
    element = Unknown()
    unit.agree(value.type, seq_of(element), expr.at, what)
    return value, element


def _element(sequence: Term) -> Sort:
    assert isinstance(sequence.sort, SeqOf)
    return sequence.sort.element


def _index(unit: Unit, env: Env, expr: ast.Index, hint: Type | None) -> Typed:
    value, element = _sequence(unit, env, expr.value, "what is indexed")
    index = infer(unit, env, expr.index)
    unit.agree(index.type, INT, expr.index.at, "an index")
    place(env, expr.index, "neutral")

    def build() -> Term:
        sequence = value.build()
        return Builtin(Op.AT, (sequence, index.build()), _element(sequence), at=expr.at)

    return Typed(element, build)


def _slice(unit: Unit, env: Env, expr: ast.Slice, hint: Type | None) -> Typed:
    with unit.copied(2 if expr.high is None else 1):
        value, element = _sequence(unit, env, expr.value, "what is sliced")
    ends: list[Typed | None] = []
    for end in (expr.low, expr.high):
        typed = None if end is None else infer(unit, env, end)
        if typed is not None and end is not None:
            unit.agree(typed.type, INT, end.at, "an end of a slice")
            place(env, end, "neutral")
        ends.append(typed)
    low, high = ends

    def build() -> Term:
        sequence = value.build()
        start = Int(0, at=expr.at) if low is None else low.build()
        stop = Builtin(Op.CARD, (sequence,), NAT, at=expr.at) if high is None else high.build()
        return Builtin(Op.SLICE, (sequence, start, stop), sequence.sort, at=expr.at)

    return Typed(seq_of(element), build)


def _update(unit: Unit, env: Env, expr: ast.Update, hint: Type | None) -> Typed:
    value, element = _sequence(unit, env, expr.value, "what is updated")
    index = infer(unit, env, expr.index)
    unit.agree(index.type, INT, expr.index.at, "an index")
    place(env, expr.index, "neutral")
    item = infer(unit, env, expr.item, element)
    unit.agree(item.type, element, expr.item.at, "the new element")

    def build() -> Term:
        sequence, new = value.build(), item.build()
        sort = SeqOf(join(_element(sequence), new.sort))
        return Builtin(Op.SEQ_UPDATE, (sequence, index.build(), new), sort, at=expr.at)

    return Typed(seq_of(element), build)


def _seq_init(unit: Unit, env: Env, expr: ast.SeqInit, hint: Type | None) -> Typed:
    length = infer(unit, env, expr.length)
    unit.agree(length.type, INT, expr.length.at, "a length")
    element = Unknown()
    wanted = function_of((INT,), element)
    function = infer(unit, env, expr.function, wanted)
    unit.agree(function.type, wanted, expr.function.at, "the function that gives the elements")

    def build() -> Term:
        value = function.build()
        assert isinstance(value.sort, FunctionOf)
        return Builtin(Op.SEQ_INIT, (length.build(), value), SeqOf(value.sort.result), at=expr.at)

    return Typed(seq_of(element), build)


def _tuple(unit: Unit, env: Env, expr: ast.TupleExpr, hint: Type | None) -> Typed:
    items = [infer(unit, env, item) for item in expr.items]
    for item in expr.items:
        place(env, item, "neutral")

    def build() -> Term:
        args = tuple([item.build() for item in items])
        return Builtin(Op.TUPLE, args, TupleOf(tuple([arg.sort for arg in args])), at=expr.at)

    return Typed(tuple_of(tuple([item.type for item in items])), build)


def _set(unit: Unit, env: Env, expr: ast.SetDisplay, hint: Type | None) -> Typed:
    return set_display(unit, [infer(unit, env, item) for item in expr.items], expr.finite, expr.at)


def _seq(unit: Unit, env: Env, expr: ast.SeqDisplay, hint: Type | None) -> Typed:
    return seq_display(unit, [infer(unit, env, item) for item in expr.items], expr.at)


CASES: dict[type, Case] = {
    ast.Cardinality: _cardinality,
    ast.Index: _index,
    ast.Slice: _slice,
    ast.Update: _update,
    ast.TupleExpr: _tuple,
    ast.SetDisplay: _set,
    ast.SeqDisplay: _seq,
    ast.SeqInit: _seq_init,
}
