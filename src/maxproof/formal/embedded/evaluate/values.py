"""Values of exact evaluation, what may be spent on them, and how they turn back into terms and text.

| sort | value |
| --- | --- |
| int, nat | int |
| real | Fraction, always exact |
| bool | bool |
| set, iset | frozenset |
| seq, tuple | tuple |
| datatype | `Data` |
| function | `Function` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Construct,
    CoreProgram,
    DataOf,
    FunctionOf,
    Int,
    Op,
    Real,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
)

# What a value is, Python's types can't say: sorts do. `Any` keeps the arithmetic below free of casts.
Value: TypeAlias = Any


class NotComputable(Exception):
    """The term has no value that exact evaluation can find. Says nothing about what it means."""


class Undefined(NotComputable):
    """Evaluation met an operation outside its domain, such as a division by zero."""


class OutOfBudget(NotComputable):
    """More steps, depth or digits than the budget allows."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one evaluation may spend.

    Attributes:
        steps: elementary operations, about 0.2 microseconds each.
        bits: length of a number.
        frames: nested calls, counted in stack frames; the recursion limit is raised for them.
    """

    steps: int = 2_000_000
    bits: int = 250_000
    frames: int = 3000


DEFAULT_BUDGET = Budget()


class Meter:
    """Counts what an evaluation spends. Raises OutOfBudget when a budget is used up."""

    __slots__ = ("bits", "frames", "steps")

    def __init__(self, budget: Budget) -> None:
        self.reset(budget)

    def reset(self, budget: Budget) -> None:
        self.steps, self.bits, self.frames = budget.steps, budget.bits, budget.frames

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget("too many steps")

    def product_bits(self, bits: int) -> None:
        """To be asked before a number of about that length is made."""
        if bits > self.bits:
            raise OutOfBudget("number too long")
        if bits > 1024:
            self.spend(bits >> 6)

    def real(self, value: Fraction) -> Fraction:
        """`value`, if it isn't too long."""
        self.product_bits(value.numerator.bit_length() + value.denominator.bit_length())
        return value


class Data(NamedTuple):
    """A datatype's value."""

    constructor: str
    fields: tuple[Value, ...]


class Function:
    """A function value. `apply` takes the arguments as one tuple and may raise NotComputable."""

    __slots__ = ("apply", "text")

    def __init__(self, apply: Callable[[tuple[Value, ...]], Value], text: str = "function") -> None:
        self.apply = apply
        self.text = text


def table(entries: Mapping[tuple[Value, ...], Value], otherwise: Value) -> Function:
    """A function given by its values at finitely many points and one value everywhere else."""
    return Function(lambda args: entries.get(args, otherwise), _table_text(entries, otherwise))


def _table_text(entries: Mapping[tuple[Value, ...], Value], otherwise: Value) -> str:
    names = [f"x{i}" for i in range(len(next(iter(entries), (0,))))]
    text = value_text(otherwise)
    for args, value in reversed(list(entries.items())):
        tests = " && ".join(f"{name} == {value_text(arg)}" for name, arg in zip(names, args, strict=True))
        text = f"if {tests} then {value_text(value)} else {text}"
    return f"({', '.join(names)}) => {text}"


def has_functions(sort: Sort, core: CoreProgram, seen: frozenset[str] = frozenset()) -> bool:
    """Whether values of `sort` hold functions, so that equality can't be computed."""
    match sort:
        case FunctionOf():
            return True
        case SetOf(element) | SeqOf(element):
            return has_functions(element, core, seen)
        case TupleOf(items):
            return any(has_functions(item, core, seen) for item in items)
        case DataOf(name):
            if name in seen or name not in core.datatypes:
                return name not in seen
            fields = (field for made in core.datatypes[name].constructors for _, field in made.fields)
            return any(has_functions(field, core, seen | {name}) for field in fields)
    return False


def restricted(sort: Sort) -> bool:
    """Whether nat stands in `sort` where its values are concerned: values of the same base type may not be of it."""
    match sort:
        case SetOf(element) | SeqOf(element):
            return restricted(element)
        case TupleOf(items):
            return any(map(restricted, items))
        case FunctionOf(result=result):
            return restricted(result)
    return sort == NAT


def belongs(value: Value, sort: Sort) -> bool:
    """Whether `value`, which is of the same base type, is of `sort`. Raises NotComputable for functions to nat."""
    if not restricted(sort):
        return True
    match sort:
        case SetOf(element) | SeqOf(element):
            return all(belongs(item, element) for item in value)
        case TupleOf(items):
            return all(belongs(part, item) for part, item in zip(value, items, strict=True))
        case FunctionOf():
            raise NotComputable("all values of a function")
    return bool(value >= 0)


def in_order(values: frozenset[Value]) -> list[Value]:
    """The elements in an order that doesn't depend on hashing."""
    try:
        return sorted(values)
    except TypeError:  # sets hold no order among themselves, nor do tuples with sets in them
        return sorted(values, key=value_text)


def value_term(value: Value, sort: Sort, core: CoreProgram) -> Term:
    """The literal or display that means `value`. Raises NotComputable for functions."""
    match sort:
        case _ if sort in (INT, NAT):
            return Int(value)
        case _ if sort == REAL:
            return Real(value)
        case _ if sort == BOOL:
            return Bool(value)
        case SetOf(element):
            return Builtin(Op.SET, tuple(value_term(item, element, core) for item in in_order(value)), sort)
        case SeqOf(element):
            return Builtin(Op.SEQ, tuple(value_term(item, element, core) for item in value), sort)
        case TupleOf(items):
            parts = (value_term(part, item, core) for part, item in zip(value, items, strict=True))
            return Builtin(Op.TUPLE, tuple(parts), sort)
        case DataOf(name) if name in core.datatypes:
            for made in core.datatypes[name].constructors:
                if made.name == value.constructor:
                    fields = zip(value.fields, made.fields, strict=True)
                    return Construct(made.name, tuple(value_term(part, own, core) for part, (_, own) in fields), sort)
    raise NotComputable("a function has no literal")


def value_text(value: Value) -> str:
    """`value` as a Dafny expression."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return _digits(value)
        case Fraction():
            return _real_text(value)
        case frozenset():
            return "{" + ", ".join(map(value_text, in_order(value))) + "}"
        case Data(constructor, fields):
            return f"{constructor}({', '.join(map(value_text, fields))})" if fields else constructor
        case tuple():
            return "[" + ", ".join(map(value_text, value)) + "]"
        case Function():
            return value.text
    return str(value)


def _digits(value: int) -> str:
    # Python refuses to print numbers of more than 4300 digits.
    return str(value) if value.bit_length() < 10_000 else f"a number of {value.bit_length()} bits"


def _real_text(value: Fraction) -> str:
    sign, size = ("-" if value < 0 else ""), abs(value)
    rest = size.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or size.denominator > 10**6:
        text = f"{_digits(size.numerator)}.0"
        return f"{sign}{text}" if size.denominator == 1 else f"{sign}({text} / {_digits(size.denominator)}.0)"
    whole, part = divmod(size, 1)
    places = 0
    while part.denominator != 1:
        part, places = part * 10, places + 1
    return f"{sign}{_digits(int(whole))}.{int(part):0{max(places, 1)}d}"
