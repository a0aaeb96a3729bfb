"""Core terms as Dafny text, for messages: obligations' goals, hypotheses, counterexamples."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from maxproof.formal.embedded.core.steps import AssertStep, CallStep, Step
from maxproof.formal.embedded.core.terms import (
    INT,
    REAL,
    Basic,
    Bool,
    Builtin,
    Call,
    Choose,
    Construct,
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

# How tightly operators bind. An operand that binds no tighter than its place asks for is put in parentheses.
_OPEN, _IFF, _IMPLIES, _LOGIC, _RELATION, _SUM, _PRODUCT, _CONVERSION, _UNARY, _ATOM = range(10)

_INFIX = {
    Op.IFF: ("<==>", _IFF),
    Op.IMPLIES: ("==>", _IMPLIES),
    Op.AND: ("&&", _LOGIC),
    Op.OR: ("||", _LOGIC),
    Op.EQ: ("==", _RELATION),
    Op.LT: ("<", _RELATION),
    Op.LE: ("<=", _RELATION),
    Op.IN: ("in", _RELATION),
    Op.SUBSET: ("<=", _RELATION),
    Op.PROPER_SUBSET: ("<", _RELATION),
    Op.PREFIX: ("<=", _RELATION),
    Op.DISJOINT: ("!!", _RELATION),
    Op.ADD: ("+", _SUM),
    Op.SUB: ("-", _SUM),
    Op.UNION: ("+", _SUM),
    Op.MINUS: ("-", _SUM),
    Op.CONCAT: ("+", _SUM),
    Op.MUL: ("*", _PRODUCT),
    Op.DIV: ("/", _PRODUCT),
    Op.MOD: ("%", _PRODUCT),
    Op.INTERSECT: ("*", _PRODUCT),
}
_NEGATED = {Op.EQ: "!=", Op.IN: "!in"}


def show(term: Term) -> str:
    """`term` as Dafny writes it. A variable that was renamed shows its number, as in `x#1`."""
    return _show(term, _OPEN)


def show_sort(sort: Sort) -> str:
    """A sort as Dafny writes the type."""
    match sort:
        case Basic() | DataOf():
            return sort.name
        case SetOf():
            return f"{'set' if sort.finite else 'iset'}<{show_sort(sort.element)}>"
        case SeqOf():
            return f"seq<{show_sort(sort.element)}>"
        case TupleOf():
            return f"({', '.join(map(show_sort, sort.items))})"
    params = ", ".join(map(show_sort, sort.params))
    bare = len(sort.params) == 1 and not isinstance(sort.params[0], FunctionOf | TupleOf)
    return f"{params if bare else f'({params})'} {'->' if sort.total else '-->'} {show_sort(sort.result)}"


def _show(term: Term, place: int) -> str:
    """`term` where an operand must bind at least as tightly as `place`."""
    text, tightness = _parts(term)
    return text if tightness >= place else f"({text})"


def _list(terms: Iterable[Term]) -> str:
    return ", ".join([_show(term, _OPEN) for term in terms])


def _parts(term: Term) -> tuple[str, int]:
    """The text and how tightly it binds."""
    match term:
        case Var():
            return term.name, _ATOM
        case Int():
            return (str(term.value), _ATOM) if term.value >= 0 else (str(term.value), _UNARY)
        case Real():
            return _real(term.value)
        case Bool():
            return ("true" if term.value else "false"), _ATOM
        case Builtin():
            return _builtin(term)
        case Call(name=name, args=args):
            return f"{name}({_list(args)})", _ATOM
        case Construct(constructor=name, args=args):
            return (f"{name}({_list(args)})" if args else name), _ATOM
        case Invoke():
            return f"{_show(term.function, _ATOM)}({_list(term.args)})", _ATOM
        case FunctionValue():
            return term.name, _ATOM
        case Lambda():
            need = "" if term.requires == Bool(True) else f" requires {_show(term.requires, _IFF)}"
            return f"({_binders(term.params)}){need} => {_show(term.body, _OPEN)}", _OPEN
        case Field():
            return f"{_show(term.value, _ATOM)}.{term.name}", _ATOM
        case Is():
            return f"{_show(term.value, _ATOM)}.{term.constructor}?", _ATOM
        case Quant():
            limits = "" if term.range == Bool(True) else f" | {_show(term.range, _IFF)}"
            return f"{term.kind} {_binders(term.vars)}{limits} :: {_show(term.body, _OPEN)}", _OPEN
        case SetComp():
            word = "set" if isinstance(term.sort, SetOf) and term.sort.finite else "iset"
            item = "" if term.vars == (term.term,) else f" :: {_show(term.term, _OPEN)}"
            return f"{word} {_binders(term.vars)} | {_show(term.range, _IFF)}{item}", _OPEN
        case Let():
            return f"var {term.var.name} := {_show(term.value, _IFF)}; {_show(term.body, _OPEN)}", _OPEN
        case Choose():
            return f"var {_binders(term.vars)} :| {_show(term.predicate, _IFF)}; {_show(term.body, _OPEN)}", _OPEN
        case Proved():
            return " ".join([*map(_step, term.statements), _show(term.value, _OPEN)]), _OPEN


def _binders(bound: tuple[Var, ...]) -> str:
    return ", ".join([f"{var.name}: {show_sort(var.sort)}" for var in bound])


def _step(step: Step) -> str:
    match step:
        case AssertStep(condition=condition):
            return f"assert {_show(condition, _OPEN)};"
        case CallStep(name=name, args=args):
            return f"{name}({_list(args)});"
    return "...;"


def _real(value: Fraction) -> tuple[str, int]:
    """A decimal where it has one, else a quotient."""
    digits = 0
    rest = value.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        digits = max(digits, power)
    if rest != 1:
        return f"{value.numerator}.0 / {value.denominator}.0", _PRODUCT
    digits = max(digits, 1)
    scaled = abs(value.numerator) * 10**digits // value.denominator
    whole, part = divmod(scaled, 10**digits)
    text = f"{whole}.{part:0{digits}d}"
    return (text, _ATOM) if value >= 0 else (f"-{text}", _UNARY)


def _builtin(term: Builtin) -> tuple[str, int]:
    op, args = term.op, term.args
    infix = _INFIX.get(op)
    if infix is not None:
        sign, tightness = infix
        if op in (Op.AND, Op.OR):
            return f" {sign} ".join([_show(arg, _LOGIC + 1) for arg in args]), tightness
        grouped_left = tightness >= _SUM
        left = _show(args[0], tightness if grouped_left else tightness + 1)
        right = _show(args[1], tightness if op is Op.IMPLIES else tightness + 1)
        return f"{left} {sign} {right}", tightness
    match op:
        case Op.NOT:
            inner = args[0]
            if isinstance(inner, Builtin) and inner.op in _NEGATED:
                left, right = (_show(arg, _RELATION + 1) for arg in inner.args)
                return f"{left} {_NEGATED[inner.op]} {right}", _RELATION
            return f"!{_show(inner, _UNARY)}", _UNARY
        case Op.NEG:
            return f"-{_show(args[0], _UNARY)}", _UNARY
        case Op.ITE:
            test, then, otherwise = (_show(arg, _OPEN) for arg in args)
            return f"if {test} then {then} else {otherwise}", _OPEN
        case Op.TO_REAL | Op.TO_INT:
            return f"{_show(args[0], _CONVERSION)} as {show_sort(REAL if op is Op.TO_REAL else INT)}", _CONVERSION
        case Op.FLOOR:
            return f"{_show(args[0], _ATOM)}.Floor", _ATOM
        case Op.CARD:
            return f"|{_show(args[0], _OPEN)}|", _ATOM
        case Op.SET:
            prefix = "" if isinstance(term.sort, SetOf) and term.sort.finite else "iset"
            return f"{prefix}{{{_list(args)}}}", _ATOM
        case Op.SEQ:
            return f"[{_list(args)}]", _ATOM
        case Op.SEQ_INIT:
            return f"seq({_list(args)})", _ATOM
        case Op.AT:
            return f"{_show(args[0], _ATOM)}[{_show(args[1], _OPEN)}]", _ATOM
        case Op.SLICE:
            return f"{_show(args[0], _ATOM)}[{_show(args[1], _OPEN)}..{_show(args[2], _OPEN)}]", _ATOM
        case Op.SEQ_UPDATE:
            return f"{_show(args[0], _ATOM)}[{_show(args[1], _OPEN)} := {_show(args[2], _OPEN)}]", _ATOM
    return f"({_list(args)})", _ATOM
