"""Which values bound variables can have: reads a quantifier's conditions and lists the candidates, if they are finite.

Outside the candidates the conditions are false; among them the caller still asks each condition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    FunctionOf,
    Int,
    Invoke,
    Lambda,
    Op,
    Quant,
    Real,
    SetComp,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import free_variables
from maxproof.formal.embedded.evaluate.conditions import Condition, Divides, OneOf, Within
from maxproof.formal.embedded.evaluate.intervals import (
    ALL,
    Absolute,
    AtLeast,
    Box,
    Empty,
    Floor,
    Power,
    Product,
    Quotient,
    Range,
    SquareRoot,
    Sum,
    Tree,
    Unknown,
)
from maxproof.formal.embedded.evaluate.values import Meter, NotComputable, OutOfBudget, Value, belongs, in_order

ROUNDS = 8  # of cutting ranges by all conditions
Code = Callable[[list[Any]], Value]
NUMBERS = (INT, NAT, REAL)


def facts(term: Term) -> tuple[Term, ...]:
    """The conjuncts of `term`."""
    if isinstance(term, Builtin) and term.op is Op.AND:
        return tuple(fact for arg in term.args for fact in facts(arg))
    return () if isinstance(term, Bool) and term.value else (term,)


def antecedents(term: Term) -> tuple[Term, ...]:
    """The conjuncts of A, B, ... in `A ==> B ==> ...`."""
    found: list[Term] = []
    while isinstance(term, Builtin) and term.op is Op.IMPLIES:
        found.extend(facts(term.args[0]))
        term = term.args[1]
    return tuple(found)


def definition(
    bound: Sequence[Var], known: Term, value: Term, naturals: Collection[str] = ()
) -> tuple[Var, Term] | None:
    """What `forall bound :: known == value` says a set (`x in s`) or a function (`f(x)`) is, if it says that at all.

    `naturals` are sets of whole numbers that are known to have natural numbers only.
    """
    match known:
        case Builtin(op=Op.IN, args=(Var() as item, Var(sort=SetOf(element=element) as sort) as whole)):
            natural = item.sort == NAT and element == INT and whole.name in naturals
            if tuple(bound) == (item,) and (item.sort == element or natural) and whole != item:
                return whole, SetComp((item,), value, item, sort)
        case Invoke(function=Var(sort=FunctionOf(params=params) as sort) as function, args=args):
            if args == tuple(bound) and tuple(var.sort for var in bound) == params and len(set(args)) == len(args):
                return function, Lambda(tuple(bound), value, sort)
    return None


def sets_of_naturals(conditions: Sequence[Term]) -> frozenset[str]:
    """The sets s of which a condition says `forall x: int :: x in s ==> 0 <= x`."""
    found: set[str] = set()
    for condition in conditions:
        match condition:
            case Quant(
                kind="forall",
                vars=(var,),
                range=Bool(value=True),
                body=Builtin(
                    op=Op.IMPLIES,
                    args=(
                        Builtin(op=Op.IN, args=(Var() as item, Var(name=name))),
                        Builtin(op=Op.LE, args=(Int(value=0), Var() as least)),
                    ),
                ),
            ) if var == item == least and var.sort == INT:
                found.add(name)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Choice:
    """Variable `index` is a member of what `code` computes once the variables in `needs` are known."""

    index: int
    needs: int
    code: Code


class Domain:
    """The candidates for `unknowns` under `conditions`.

    Attributes:
        slots: where each variable stands in the frame.
        native: whether a function of that name is the prelude's.
        compile: the code of a term, given that all unknowns stand in the frame.
    """

    def __init__(
        self,
        unknowns: Sequence[Var],
        slots: Sequence[int],
        conditions: Sequence[Term],
        compile_term: Callable[[Term], Code],
        native: Callable[[str], bool],
        meter: Meter,
    ) -> None:
        self._vars = tuple(unknowns)
        self._slots = tuple(slots)
        self._numbers = {var.name: number for number, var in enumerate(unknowns)}
        self._compile = compile_term
        self._native = native
        self._meter = meter
        self._choices: list[Choice] = []
        self._conditions: list[Condition] = []
        self._nodes = 5
        self._naturals = sets_of_naturals(conditions)
        for condition in conditions:
            self._read_choice(condition)
            self._conditions.extend(self._read(condition, True))

    def box(self, frame: list[Any]) -> Box:
        """The widest box. For `narrowed`."""
        ranges = [(0, None) if var.sort == NAT else ALL for var in self._vars]
        return Box(ranges, [var.sort != REAL for var in self._vars], frame)

    def narrowed(self, box: Box) -> bool:
        """Cuts `box` by all conditions; False when there is no solution."""
        for _ in range(ROUNDS):
            self._meter.spend(self._nodes)
            before = list(box.ranges)
            try:
                for condition in self._conditions:
                    condition.apply(box)
            except Empty:
                return False
            if box.ranges == before:
                break
        return True

    def assignments(self, frame: list[Any]) -> Iterator[None]:
        """Puts one candidate after the other into the frame's slots. Raises NotComputable if they aren't finite."""
        yield from self._assign(self.box(frame), frozenset(range(len(self._vars))))

    def _assign(self, box: Box, left: frozenset[int]) -> Iterator[None]:
        if not left:
            yield
            return
        if not self.narrowed(box):
            return
        index, candidates = self._smallest(box, left)
        rest = left - {index}
        slot, bit = self._slots[index], 1 << index
        for value in candidates:
            self._meter.spend(1)
            box.frame[slot] = value
            if not rest:
                yield
                continue
            inner = box.copy()
            inner.known |= bit
            if self._vars[index].sort in NUMBERS:
                inner.ranges[index] = (value, value)
            yield from self._assign(inner, rest)

    def _smallest(self, box: Box, left: frozenset[int]) -> tuple[int, Sequence[Value]]:
        best: tuple[int, Sequence[Value]] | None = None
        for index in sorted(left):
            found = self.candidates(index, box)
            if found is not None and (best is None or len(found) < len(best[1])):
                best = index, found
        if best is None:
            names = ", ".join(self._vars[index].name for index in sorted(left))
            raise NotComputable(f"no finite range for {names}")
        return best

    def candidates(self, index: int, box: Box) -> Sequence[Value] | None:
        """All values that the variable can have in `box`, in a fixed order; None where they aren't finite."""
        var = self._vars[index]
        low, high = box.ranges[index]
        for choice in self._choices:
            if choice.index == index and choice.needs & ~box.known == 0:
                try:
                    members = choice.code(box.frame)
                    if not isinstance(members, frozenset):
                        continue
                    self._meter.spend(len(members))
                    members = frozenset(value for value in members if belongs(value, var.sort))
                except OutOfBudget:
                    raise
                except NotComputable:
                    continue
                if var.sort in NUMBERS:
                    return [
                        value
                        for value in in_order(members)
                        if (low is None or low <= value) and (high is None or value <= high)
                    ]
                return in_order(members)
        if var.sort == BOOL:
            return (False, True)
        if low is None or high is None or var.sort not in NUMBERS:
            return None
        if var.sort == REAL:
            return (Fraction(low),) if low == high else None
        if high - low > self._meter.steps:
            raise OutOfBudget("range too long")
        return range(int(low), int(high) + 1)

    # Reading

    def _needs(self, term: Term) -> int:
        bits = 0
        for var in free_variables(term):
            number = self._numbers.get(var.name)
            if number is not None:
                bits |= 1 << number
        return bits

    def _read_choice(self, term: Term) -> None:
        match term:
            case Builtin(op=Op.IN, args=(Var(name=name), members)) if name in self._numbers:
                self._add_choice(name, members, self._lazy(members))
            case Builtin(op=Op.EQ, args=(left, right)) if left.sort not in NUMBERS:
                for var, value in ((left, right), (right, left)):
                    if isinstance(var, Var) and var.name in self._numbers:
                        self._add_choice(var.name, value, _alone(self._lazy(value)))
            case Quant(kind="forall", range=Bool(value=True), body=Builtin(op=Op.IFF | Op.EQ, args=(left, right))):
                for known, value in ((left, right), (right, left)):
                    defined = definition(term.vars, known, value, self._naturals)
                    if defined is not None and defined[0].name in self._numbers:
                        self._add_choice(defined[0].name, defined[1], _alone(self._lazy(defined[1])))

    def _add_choice(self, name: str, term: Term, code: Code) -> None:
        needs = self._needs(term)
        number = self._numbers[name]
        if not needs >> number & 1:
            self._choices.append(Choice(number, needs, code))

    def _lazy(self, term: Term) -> Code:
        """The code of `term`, compiled when it's first asked for."""
        ready: list[Code] = []

        def run(frame: list[Any]) -> Value:
            if not ready:
                ready.append(self._compile(term))
            return ready[0](frame)

        return run

    def _read(self, term: Term, positive: bool) -> list[Condition]:
        """What `term` (or its negation) says of ranges."""
        match term:
            case Builtin(op=Op.NOT, args=(inner,)):
                return self._read(inner, not positive)
            case Builtin(op=Op.AND, args=args) if positive:
                return [condition for arg in args for condition in self._read(arg, True)]
            case Builtin(op=Op.OR, args=args) if not positive:
                return [condition for arg in args for condition in self._read(arg, False)]
            case Builtin(op=Op.OR | Op.AND, args=args):
                return self._one_of([self._read(arg, positive) for arg in args])
            case Builtin(op=Op.IMPLIES, args=(left, right)):
                if positive:
                    return self._one_of([self._read(left, False), self._read(right, True)])
                return [*self._read(left, True), *self._read(right, False)]
            case Builtin(op=Op.LE | Op.LT, args=(left, right)):
                if not positive:
                    left, right = right, left
                strict = (term.op is Op.LT) == positive and left.sort != REAL
                return self._within(left, right, (None, -1 if strict else 0))
            case Builtin(op=Op.EQ, args=(left, right)) if positive and left.sort in NUMBERS:
                extra: list[Condition] = []
                if isinstance(left, Builtin) and left.op is Op.MOD and right == Int(0):
                    extra.append(Divides(self._tree(left.args[1]), self._tree(left.args[0])))
                return [*extra, *self._within(left, right, (0, 0))]
            case Builtin(op=Op.IN, args=(item, Builtin(op=Op.SET, args=members))) if (
                positive and members and item.sort in NUMBERS
            ):
                return self._one_of([self._within(item, member, (0, 0)) for member in members])
            case Call(name="divides", args=(divisor, number)) if positive and self._native("divides"):
                return [Divides(self._tree(divisor), self._tree(number))]
        return []

    def _one_of(self, cases: list[list[Condition]]) -> list[Condition]:
        if not all(cases):
            return []
        return [OneOf(tuple(map(tuple, cases)))]

    def _within(self, left: Term, right: Term, limits: Range) -> list[Condition]:
        """`left - right` is in `limits`."""
        tree = Sum(self._needs(left) | self._needs(right), _nothing, (self._tree(left), self._negated(right)))
        return [Within(tree, limits)] if tree.needs else []

    def _negated(self, term: Term) -> Tree:
        needs = self._needs(term)
        return Product(needs, _nothing, Tree(0, lambda _: -1), self._tree(term))

    def _tree(self, term: Term) -> Tree:
        self._nodes += 5  # about as dear as five steps of evaluation
        needs = self._needs(term)
        if isinstance(term, Int | Real):
            value = term.value
            return Tree(0, lambda _: value)
        code = self._value(term)
        if not needs:
            return AtLeast(0, code) if term.sort == NAT else Tree(0, code)
        match term:
            case Var(name=name):
                return Unknown(needs, code, self._numbers[name])
            case Builtin(op=Op.ADD, args=args):
                return Sum(needs, code, tuple(map(self._tree, args)))
            case Builtin(op=Op.SUB, args=(left, right)):
                return Sum(needs, code, (self._tree(left), self._negated(right)))
            case Builtin(op=Op.NEG, args=(inner,)):
                return Product(needs, code, Tree(0, lambda _: -1), self._tree(inner))
            case Builtin(op=Op.MUL, args=(left, right)) if left == right:
                return Power(needs, code, self._tree(left), 2)
            case Builtin(op=Op.MUL, args=(left, right)):
                return Product(needs, code, self._tree(left), self._tree(right), term.sort != REAL)
            case Builtin(op=Op.DIV, args=(left, Int(value=divisor))) if divisor > 0:
                return Quotient(needs, code, self._tree(left), divisor)
            case Builtin(op=Op.DIV, args=(left, Real(value=divisor))) if divisor:
                factor = 1 / divisor
                return Product(needs, code, self._tree(left), Tree(0, lambda _: factor))
            case Builtin(op=Op.MOD, args=(_, Int(value=divisor))) if divisor:
                return AtLeast(needs, code, (0, abs(divisor) - 1))
            case Builtin(op=Op.CARD):
                return AtLeast(needs, code)
            case Builtin(op=Op.TO_REAL | Op.TO_INT, args=(inner,)):
                return self._tree(inner)
            case Builtin(op=Op.FLOOR, args=(inner,)):
                return Floor(needs, code, self._tree(inner))
            case Call(name="ipow" | "pow" as name, args=(base, Int(value=exponent))) if (
                2 <= exponent <= 64 and self._native(name)
            ):
                return Power(needs, code, self._tree(base), exponent)
            case Call(name="sqrt", args=(inner,)) if self._native("sqrt"):
                return SquareRoot(needs, code, self._tree(inner))
            case Call(name="iabs" | "rabs" as name, args=(inner,)) if self._native(name):
                return Absolute(needs, code, self._tree(inner))
        return AtLeast(needs, code) if term.sort == NAT else Tree(needs, code)

    def _value(self, term: Term) -> Callable[[list[Any]], int | Fraction | None]:
        code = self._lazy(term)

        def run(frame: list[Any]) -> int | Fraction | None:
            try:
                value: int | Fraction = code(frame)
            except OutOfBudget:
                raise
            except NotComputable:
                return None
            return value

        return run


def _nothing(_: list[Any]) -> None:
    return None


def _alone(code: Code) -> Code:
    return lambda frame: frozenset((code(frame),))
