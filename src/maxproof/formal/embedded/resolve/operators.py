"""Built-in operators: which types they take, and the core operator each overload stands for."""

from __future__ import annotations

from collections.abc import Callable

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Basic,
    Bool,
    Builtin,
    Let,
    Op,
    SeqOf,
    SetOf,
    Sort,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import conjunction
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.scope import Typed, Unit
from maxproof.formal.embedded.resolve.types import (
    Type,
    Unknown,
    head,
    join,
    mistaken,
    seq_of,
    set_of,
    show_type,
    sort_of,
    unify,
)
from maxproof.formal.syntax.ast import Position

_ARITHMETIC = {"+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "/": Op.DIV, "%": Op.MOD}
_ON_SETS = {"+": Op.UNION, "-": Op.MINUS, "*": Op.INTERSECT}


def number(type_: Type) -> bool:
    type_ = head(type_)
    return type_ in (INT, NAT, REAL)


def arithmetic(unit: Unit, op: str, left: Typed, right: Typed, at: Position) -> Typed:
    """`+ - * / %` on numbers, `+ - *` on sets, `+` on sequences."""
    unit.agree(right.type, left.type, at, f"the right side of {op}")
    result = Unknown()
    unify(result, left.type)

    def accepts(type_: Type) -> bool:
        match type_:
            case SetOf():
                return op in _ON_SETS
            case SeqOf():
                return op == "+"
        return number(type_) and not (op == "%" and type_ == REAL)

    unit.later(_overload(unit, result, accepts, f"{op} is not defined on", at))

    def build() -> Term:
        a, b = left.build(), right.build()
        match sort_of(result):
            case SetOf():
                sort = a.sort if op != "+" else join(a.sort, b.sort)
                return Builtin(_ON_SETS[op], (a, b), sort, at=at)
            case SeqOf():
                return Builtin(Op.CONCAT, (a, b), join(a.sort, b.sort), at=at)
            case sort:
                return Builtin(_ARITHMETIC[op], (a, b), sort, at=at)

    return Typed(result, build)


def _overload(
    unit: Unit, type_: Type, accepts: Callable[[Type], bool], refusal: str, at: Position
) -> Callable[[bool], bool]:
    """The question whether an operator takes what `type_` turns out to be."""

    def question(final: bool) -> bool:
        found = head(type_)
        if isinstance(found, Unknown):
            if final and not found.error:
                unit.report("the type of this operation can't be inferred: write the types of its variables", at)
            return found.error
        if not accepts(found) and not mistaken(found):
            unit.report(f"{refusal} {show_type(found)}", at)
        return True

    return question


def negative(unit: Unit, operand: Typed, at: Position) -> Typed:
    unit.later(_overload(unit, operand.type, number, "unary - is not defined on", at))
    result = Unknown()
    unify(result, operand.type)
    return Typed(result, lambda: Builtin(Op.NEG, (operand.build(),), sort_of(result), at=at))


def comparison(unit: Unit, ops: tuple[str, ...], operands: list[Typed], at: Position) -> Typed:
    """A chain means all its neighbours' relations."""
    operands = [once(operand) for operand in operands]
    if len(ops) > 1 and not {"!!", "in", "!in"}.isdisjoint(ops):
        return unit.mistake("membership and !! can't stand in a chain of relations", at)
    parts = [relation(unit, op, operands[i], operands[i + 1], at) for i, op in enumerate(ops)]
    if len(parts) == 1:
        return parts[0]
    return Typed(BOOL, lambda: conjunction([part.build() for part in parts]))


def relation(unit: Unit, op: str, left: Typed, right: Typed, at: Position) -> Typed:
    """One comparison, membership or, for calc, one logical connective; `op` as Dafny writes it."""
    if op in ("in", "!in"):
        _member_types(unit, op, left.type, right.type, at)
        inside = _builtin(Op.IN, left, right, at)
        return inside if op == "in" else negation(inside, at)
    if op in ("==>", "<==", "<==>"):
        unit.agree(left.type, BOOL, at, f"the left side of {op}")
        unit.agree(right.type, BOOL, at, f"the right side of {op}")
        if op == "<==>":
            return _builtin(Op.IFF, left, right, at)
        return _builtin(Op.IMPLIES, left, right, at) if op == "==>" else _builtin(Op.IMPLIES, right, left, at)
    unit.agree(right.type, left.type, at, f"the right side of {op}")
    if op in ("==", "!="):
        equal = _builtin(Op.EQ, left, right, at)
        return equal if op == "==" else negation(equal, at)
    if op == "!!":
        unit.later(_overload(unit, left.type, lambda t: isinstance(t, SetOf), "!! is not defined on", at))
        return _builtin(Op.DISJOINT, left, right, at)
    small, large = (left, right) if op in ("<", "<=") else (right, left)
    unit.later(_overload(unit, left.type, lambda t: _ordered(t, op), f"{op} is not defined on", at))
    return Typed(BOOL, lambda: _less(small.build(), large.build(), strict=op in ("<", ">"), at=at))


def _ordered(type_: Type, op: str) -> bool:
    return number(type_) or isinstance(type_, SetOf) or (isinstance(type_, SeqOf) and op in ("<", "<="))


def _less(small: Term, large: Term, strict: bool, at: Position) -> Term:
    match small.sort:
        case SetOf():
            return Builtin(Op.PROPER_SUBSET if strict else Op.SUBSET, (small, large), BOOL, at=at)
        case SeqOf():
            prefix = Builtin(Op.PREFIX, (small, large), BOOL, at=at)
            if not strict:
                return prefix
            same = Builtin(Op.EQ, (small, large), BOOL, at=at)
            return Builtin(Op.AND, (prefix, Builtin(Op.NOT, (same,), BOOL, at=at)), BOOL, at=at)
    return Builtin(Op.LT if strict else Op.LE, (small, large), BOOL, at=at)


def _member_types(unit: Unit, op: str, item: Type, whole: Type, at: Position) -> None:
    def question(final: bool) -> bool:
        match head(whole):
            case SetOf(element=element) | SeqOf(element=element):
                unit.agree(item, element, at, f"the left side of {op}")
            case Unknown(error=error):
                if final and not error:
                    unit.report(f"the type on the right of {op} can't be inferred", at)
                return error
            case other:
                unit.report(f"the right side of {op} must be a set or a sequence, found {show_type(other)}", at)
        return True

    unit.later(question)


def _builtin(op: Op, left: Typed, right: Typed, at: Position) -> Typed:
    return Typed(BOOL, lambda: Builtin(op, (left.build(), right.build()), BOOL, at=at))


def negation(operand: Typed, at: Position) -> Typed:
    return Typed(BOOL, lambda: Builtin(Op.NOT, (operand.build(),), BOOL, at=at))


def cardinality(unit: Unit, operand: Typed, at: Position) -> Typed:
    def accepts(type_: Type) -> bool:
        return isinstance(type_, SeqOf) or (isinstance(type_, SetOf) and type_.finite)

    unit.later(_overload(unit, operand.type, accepts, "|...| is not defined on", at))
    return Typed(INT, lambda: Builtin(Op.CARD, (operand.build(),), NAT, at=at))


def conversion(unit: Unit, value: Typed, target: Type, at: Position) -> Typed:
    """`e as T` between number types. To nat it asks for a natural number by a variable of that type."""
    target = head(target)
    if not isinstance(target, Basic) or target == BOOL:
        raise Unsupported(f"conversion to {show_type(target)}", at)
    unit.later(_overload(unit, value.type, number, f"as {target.name} is not defined on", at))
    name = unit.fresh("value") if target == NAT else ""

    def build() -> Term:
        term = value.build()
        if target == REAL and term.sort != REAL:
            return Builtin(Op.TO_REAL, (term,), REAL, at=at)
        if target != REAL and term.sort == REAL:
            term = Builtin(Op.TO_INT, (term,), INT, at=at)
        if target == NAT and term.sort != NAT:
            return Let(Var(name, NAT, at=at), term, Var(name, NAT, at=at), at=at)
        return term

    return Typed(target, build)


def set_display(unit: Unit, items: list[Typed], finite: bool, at: Position) -> Typed:
    element = _same_type(unit, items, at)

    def build() -> Term:
        args = tuple([item.build() for item in items])
        return Builtin(Op.SET, args, SetOf(_joined(args, element), finite), at=at)

    return Typed(set_of(element, finite), build)


def seq_display(unit: Unit, items: list[Typed], at: Position) -> Typed:
    element = _same_type(unit, items, at)

    def build() -> Term:
        args = tuple([item.build() for item in items])
        return Builtin(Op.SEQ, args, SeqOf(_joined(args, element)), at=at)

    return Typed(seq_of(element), build)


def _same_type(unit: Unit, items: list[Typed], at: Position) -> Type:
    element = Unknown()
    for item in items:
        unit.agree(item.type, element, at, "an element")

    def question(final: bool) -> bool:
        known = not isinstance(head(element), Unknown)
        if final and not known and not mistaken(element):
            unit.report("the type of the elements can't be inferred: give the collection a type", at)
        return known

    if not items:
        unit.later(question)
    return element


def _joined(args: tuple[Term, ...], element: Type) -> Sort:
    if not args:
        return sort_of(element)
    sort = args[0].sort
    for arg in args[1:]:
        sort = join(sort, arg.sort)
    return sort


def every(parts: list[Typed]) -> Typed:
    """The conjunction of conditions, as one."""
    return Typed(BOOL, lambda: conjunction([part.build() for part in parts]))


def once(typed: Typed) -> Typed:
    """The same, built once only, for what stands in several places: its bound variables keep their names."""
    built: list[Term] = []

    def build() -> Term:
        if not built:
            built.append(typed.build())
        return built[0]

    return Typed(typed.type, build)


TRUE = Typed(BOOL, lambda: Bool(True))
