"""Counterexamples and models by exact evaluation: small values are tried, and what is found is certain.

The search assigns one variable after the other. Conditions cut the ranges of the others (`evaluate.intervals`), and a
condition whose variables are all known must hold. Variables that the conditions confine to finitely many values get all
of them; the rest get a few small ones. Where only the former occur and everything could be computed, finding nothing
proves that there is nothing.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    CoreProgram,
    DataOf,
    FunctionOf,
    Invoke,
    Lambda,
    Obligation,
    Op,
    Quant,
    SeqOf,
    SetOf,
    Sort,
    Term,
    TupleOf,
    Var,
)
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, substitute
from maxproof.formal.embedded.evaluate.domains import definition, facts
from maxproof.formal.embedded.evaluate.evaluator import Budget, Evaluator, NotComputable, OutOfBudget, Value, deep_stack
from maxproof.formal.embedded.evaluate.fold import Folder
from maxproof.formal.embedded.evaluate.intervals import Box
from maxproof.formal.embedded.evaluate.values import Data, Function, table, value_text
from maxproof.formal.embedded.falsify.recurrences import Recurrences, of_whole_number

SEARCH_BUDGET = Budget(steps=400_000)
WIDTHS = (3, 8, 24)  # small values of a variable that are tried, pass by pass


@dataclass(frozen=True, slots=True)
class Settled:
    """What a search found out.

    Attributes:
        values: an assignment that meets all conditions; None where none was found.
        complete: everything was tried, so that there is no other.
    """

    values: Mapping[str, Value] | None
    complete: bool = False


def falsify(
    obligation: Obligation, core: CoreProgram, budget: Budget = SEARCH_BUDGET, seed: int = 0
) -> Mapping[str, Value] | None:
    """Values of the obligation's variables that meet all hypotheses and make the goal false; None if none was found."""
    return find_model(counter_conditions(obligation), obligation.vars, core, budget, seed)


def decide(obligation: Obligation, core: CoreProgram, budget: Budget = SEARCH_BUDGET) -> Settled:
    """Tries all values, if there are finitely many: without a counterexample and `complete`, the obligation holds."""
    return Search(counter_conditions(obligation), obligation.vars, core, budget).everything()


def find_model(
    conditions: Sequence[Term],
    variables: Sequence[Var],
    core: CoreProgram,
    budget: Budget = SEARCH_BUDGET,
    seed: int = 0,
) -> Mapping[str, Value] | None:
    """Values of `variables` that meet all conditions; None if none was found within the budget."""
    for number, width in enumerate(WIDTHS):
        share = replace(budget, steps=budget.steps // len(WIDTHS))
        search = Search(conditions, variables, core, share)
        settled = search.sample(width, random.Random(f"{seed}.{number}"))
        if settled.values is not None:
            return settled.values
        if settled.complete:
            return None
    return None


def confirm(
    conditions: Sequence[Term], values: Mapping[str, Value], core: CoreProgram, budget: Budget = SEARCH_BUDGET
) -> bool:
    """Whether all conditions are computably true at `values`."""
    evaluator = Evaluator(core)
    names, given = tuple(values), tuple(values.values())
    try:
        return all(evaluator.expression(term, names).value(given, budget) is True for term in conditions)
    except NotComputable:
        return False


def counter_conditions(obligation: Obligation) -> list[Term]:
    """What a counterexample has to meet."""
    return [*obligation.hypotheses, Builtin(Op.NOT, (obligation.goal,), BOOL, at=obligation.at)]


def value_texts(values: Mapping[str, Value]) -> dict[str, str]:
    """An assignment as Dafny expressions."""
    return {name: value_text(value) for name, value in values.items()}


class Search:
    """One search over `variables` for values that meet `conditions`."""

    def __init__(self, conditions: Sequence[Term], variables: Sequence[Var], core: CoreProgram, budget: Budget) -> None:
        flat, self._defined = _put_in(conditions, variables, core)
        used = {var.name for fact in flat for var in free_variables(fact)}
        self._core = core
        self._vars = [var for var in variables if var.name in used]
        self._rest = [var for var in variables if var.name not in used]
        self._names = [var.name for var in self._vars]
        self._evaluator = Evaluator(core)
        self._evaluator.start(budget)
        self._conditions = flat
        self._needs = [
            sum(1 << self._names.index(var.name) for var in free_variables(fact) if var.name in self._names)
            for fact in flat
        ]
        self._complete = True
        self._width = 0
        self._random = random.Random(0)

    def everything(self) -> Settled:
        """All values, where they are finitely many."""
        return self._run(0)

    def sample(self, width: int, source: random.Random) -> Settled:
        """All values where there are finitely many, up to `width` small ones elsewhere."""
        self._random = source
        return self._run(width)

    def _run(self, width: int) -> Settled:
        self._width, self._complete = width, True
        try:
            scene = self._evaluator.scene(self._vars, self._conditions)
            self._domain, self._checks = scene.domain, scene.checks
            with deep_stack():
                root = self._domain.box(scene.frame)
                sure = self._check(root, [place for place, needs in enumerate(self._needs) if not needs])
                if sure is None:
                    return Settled(None, complete=True)
                found = self._assign(root, frozenset(range(len(self._vars))), sure)
        except NotComputable:
            return Settled(None)
        if not found:
            return Settled(None, self._complete)
        return Settled(self._all_values(dict(zip(self._names, scene.frame, strict=False))))

    def _all_values(self, found: dict[str, Value]) -> dict[str, Value]:
        """With the variables that the conditions don't mention, and those that they define."""
        values: dict[str, Value] = {}
        for var in self._rest:
            for value in self._small(var, 1)[:1]:
                values[var.name] = value
        values.update(found)
        for name, term in reversed(self._defined.items()):
            function = self._evaluator.expression(term, tuple(values)).run(tuple(values.values()))
            values[name] = Function(function.apply, show(term))
        return values

    def _assign(self, box: Box, left: frozenset[int], sure: bool) -> bool:
        """Whether the frame now holds a model. `sure`: all conditions so far could be computed."""
        if not left:
            self._complete = self._complete and sure
            return sure
        if not self._domain.narrowed(box):
            return False
        index, candidates = self._next(box, left)
        bit = 1 << index
        for value in candidates:
            self._evaluator.meter.spend(5)
            box.frame[index] = value
            inner = box.copy()
            inner.known |= bit
            if self._vars[index].sort in (INT, NAT, REAL):
                inner.ranges[index] = (value, value)
            ready = [place for place, needs in enumerate(self._needs) if needs & bit and needs & ~inner.known == 0]
            outcome = self._check(inner, ready)
            if outcome is not None and self._assign(inner, left - {index}, sure and outcome):
                return True
        return False

    def _check(self, box: Box, places: Sequence[int]) -> bool | None:
        """None if one of these conditions is false; else whether all could be computed."""
        sure = True
        for place in places:
            try:
                if not self._checks[place](box.frame):
                    return None
            except NotComputable:
                self._evaluator.meter.spend(0)  # ends the search if it was the steps that ran out
                sure = False
        return sure

    def _next(self, box: Box, left: frozenset[int]) -> tuple[int, Sequence[Value]]:
        """The variable to try next, one with few candidates, and its candidates."""
        best: tuple[int, Sequence[Value]] | None = None
        for index in sorted(left):
            found = self._domain.candidates(index, box)
            if found is not None and (best is None or len(found) < len(best[1])):
                best = index, found
        if best is not None and (self._width == 0 or len(best[1]) <= 1000):
            return best
        known = self._by_equations(box, left)
        if self._width == 0:
            if known is None:
                raise NotComputable("not finite")
            return known[0], [known[1]]
        self._complete = False
        if known is not None:
            return known[0], [known[1], *self._some(self._vars[known[0]], box)]
        index = best[0] if best is not None else min(left)
        return index, self._some(self._vars[index], box)

    def _by_equations(self, box: Box, left: frozenset[int]) -> tuple[int, Function] | None:
        """A function that equations tell values of, which all models have."""
        functions = [index for index in sorted(left) if of_whole_number(self._vars[index])]
        if not functions:
            return None
        given = {
            var.name: box.frame[index]
            for index, var in enumerate(self._vars)
            if index not in left and not isinstance(var.sort, FunctionOf)
        }
        told = Recurrences(self._conditions, [self._vars[index] for index in functions], given, self._evaluator)
        for index in functions:
            function = told.function(self._names[index])
            if function is not None:
                return index, function
        return None

    def _some(self, var: Var, box: Box) -> list[Value]:
        """A few values of a variable that has many."""
        if var.sort not in (INT, NAT, REAL):
            return self._small(var, self._width)
        low, high = box.ranges[self._names.index(var.name)]
        kind = Fraction if var.sort == REAL else int
        found: dict[Value, None] = {}
        for step in range(self._width // 2 + 1):
            if low is not None:
                found[kind(low + step)] = None
            if high is not None:
                found[kind(high - step)] = None
        for value in self._small(var, self._width):
            found[value] = None
        if self._width == WIDTHS[-1]:
            for size in (10, 100, 1000):
                found[kind(self._random.randint(-size, size))] = None
        inside = [v for v in found if (low is None or low <= v) and (high is None or v <= high)]
        return inside[: 2 * self._width]

    def _small(self, var: Var, count: int) -> list[Value]:
        if isinstance(var.sort, FunctionOf):
            points = self._points(var)
            return [table(points, value) for value in small_values(var.sort.result, count, self._core)]
        return small_values(var.sort, count, self._core)

    def _points(self, function: Var) -> dict[tuple[Value, ...], Value]:
        """What equations among the conditions say of a function's values: f(2) == 5."""
        points: dict[tuple[Value, ...], Value] = {}
        for condition in self._conditions:
            match condition:
                case Builtin(op=Op.EQ, args=(left, right)):
                    for call, result in ((left, right), (right, left)):
                        match call:
                            case Invoke(function=Var(name=name), args=args) if name == function.name:
                                self._read_point(args, result, points)
        return points

    def _read_point(self, args: Sequence[Term], result: Term, points: dict[tuple[Value, ...], Value]) -> None:
        try:
            at = tuple([self._evaluator.expression(arg, ()).run(()) for arg in args])
            points.setdefault(at, self._evaluator.expression(result, ()).run(()))
        except OutOfBudget:
            raise
        except NotComputable:
            return


def _put_in(
    conditions: Sequence[Term], variables: Sequence[Var], core: CoreProgram
) -> tuple[list[Term], dict[str, Term]]:
    """The single conditions, with functions that one of them defines (`forall k :: f(k) == ...`) put in, and those."""
    flat = [fact for condition in conditions for fact in facts(condition)]
    names = {var.name for var in variables}
    defined: dict[str, Term] = {}
    while (found := _a_definition(flat, names - defined.keys())) is not None:
        place, name, term = found
        defined[name] = term
        flat = [substitute(fact, {name: term}) for fact in (*flat[:place], *flat[place + 1 :])]
    if defined:
        folder = Folder(core)
        flat = [fact for term in flat for fact in facts(folder.fold(term))]
    return flat, defined


def _a_definition(conditions: Sequence[Term], names: AbstractSet[str]) -> tuple[int, str, Term] | None:
    """The first condition that defines a function, which one, and as what."""
    for place, condition in enumerate(conditions):
        match condition:
            case Quant(kind="forall", range=Bool(value=True), body=Builtin(op=Op.EQ | Op.IFF, args=(left, right))):
                for known, value in ((left, right), (right, left)):
                    found = definition(condition.vars, known, value)
                    if found is None or not isinstance(found[1], Lambda) or found[0].name not in names:
                        continue
                    if all(var.name != found[0].name for var in free_variables(found[1])):
                        return place, found[0].name, found[1]
    return None


def small_values(sort: Sort, count: int, core: CoreProgram) -> list[Value]:
    """Up to `count` small values, the smallest first. At least one, unless the sort is recursive without an end."""
    return list(islice(_small(sort, count, core, 4), max(count, 1)))


def _small(sort: Sort, count: int, core: CoreProgram, depth: int) -> list[Value]:
    half = range(1, count // 2 + 2)
    match sort:
        case _ if sort == NAT:
            return list(range(count))
        case _ if sort == INT:
            return [0, *(sign * k for k in half for sign in (1, -1))]
        case _ if sort == REAL:
            whole = [Fraction(sign * k) for k in half for sign in (1, -1)]
            halves = [Fraction(sign * (2 * k - 1), 2) for k in half for sign in (1, -1)]
            return [Fraction(0), *(v for pair in zip(whole, halves, strict=True) for v in pair)]
        case _ if sort == BOOL:
            return [False, True]
        case SetOf(element):
            items = _small(element, count, core, depth - 1)
            ones = [frozenset((item,)) for item in items]
            return [frozenset(), *ones, *(frozenset(items[:k]) for k in range(2, len(items) + 1))]
        case SeqOf(element):
            items = _small(element, count, core, depth - 1)
            return [(), *((item,) for item in items), *(tuple(items[:k]) for k in range(2, len(items) + 1))]
        case TupleOf(items):
            return _products([_small(item, count, core, depth - 1) for item in items], count)
        case DataOf(name) if name in core.datatypes and depth:
            found: list[Value] = []
            for made in core.datatypes[name].constructors:
                parts = [_small(field, count, core, depth - 1) for _, field in made.fields]
                found.extend(Data(made.name, fields) for fields in _products(parts, count))
            return found
        case FunctionOf(result=result):
            return [table({}, value) for value in _small(result, count, core, depth - 1)]
    return []


def _products(parts: Sequence[Sequence[Value]], count: int) -> list[tuple[Value, ...]]:
    """Combinations, those of small parts first."""
    width = 1
    while width ** len(parts) < count and width < max(map(len, parts), default=1):
        width += 1
    return list(islice(product(*(part[:width] for part in parts)), 4 * count))
