"""Values that hypotheses give to unknown functions: `f(1) == 20`, and `forall n | n >= 3 :: f(n) == 5 * f(n - 1) + n`.

An instance of such an equation gives a value when one side is `f(a)` and the other can be computed, or when one value
alone is missing and occurs linearly. Instances are taken upwards and downwards from what is asked. Whatever functions
meet the hypotheses, they have these values; where the equations say nothing, the function made here has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from maxproof.formal.embedded.core import INT, NAT, REAL, Builtin, Call, FunctionOf, Invoke, Op, Quant, Term, Var
from maxproof.formal.embedded.core.walk import conjunction, free_variables, subnodes
from maxproof.formal.embedded.evaluate.domains import antecedents, facts
from maxproof.formal.embedded.evaluate.evaluator import Evaluator, Expression
from maxproof.formal.embedded.evaluate.values import Function, NotComputable, OutOfBudget, Value

AROUND = 4  # instances that are taken beyond what is asked


@dataclass(frozen=True, slots=True)
class Occurrence:
    """`name(argument)` in an equation."""

    name: str
    term: Invoke
    argument: Expression


@dataclass(frozen=True, slots=True)
class Equation:
    """`left == right` for each whole number that meets `guard`.

    Attributes:
        variable: stands for the number; None for a single equation.
        direct: sides that are one occurrence, each with the other side.
        linear: all occurrences, where each has an argument that can be computed by itself and no function stands
            anywhere else (given to another function, it could be applied to what is missing); else none.
        difference: `left - right` of numbers; None for other sorts.
    """

    variable: Var | None
    guard: Expression
    left: Term
    right: Term
    direct: tuple[tuple[Occurrence, Expression], ...]
    linear: tuple[Occurrence, ...]
    difference: Expression | None


class Recurrences:
    """Functions of one whole number, known by the equations among `conditions`, given other variables' values."""

    def __init__(
        self, conditions: Sequence[Term], functions: Sequence[Var], given: Mapping[str, Value], evaluator: Evaluator
    ) -> None:
        self._evaluator = evaluator
        self._names = tuple(var.name for var in functions if of_whole_number(var))
        self._others = tuple(given)
        self._given = tuple(given.values())
        self._values: dict[str, dict[int, Value]] = {name: {} for name in self._names}
        self._swept: tuple[int, int] | None = None
        equations = [equation for condition in conditions for equation in self._equations(condition)]
        self._equations_of_all = [equation for equation in equations if equation.variable is not None]
        for equation in equations:
            if equation.variable is None:
                self._take(equation, 0)

    def function(self, name: str) -> Function | None:
        """The function of that name; None if no equation is about it."""
        if name not in self._values or not (self._values[name] or self._equations_of_all):
            return None
        return Function(lambda args: self._asked(name, args[0]), name)

    def _asked(self, name: str, at: int) -> Value:
        known = self._values[name]
        if at not in known:
            self._sweep(at)
        if at not in known:
            raise NotComputable(f"nothing says what {name} is there")
        return known[at]

    def _sweep(self, at: int) -> None:
        """Takes the instances between what is known and `at`."""
        if self._swept is None:
            points = [point for known in self._values.values() for point in known] or [0]
            low, high = min(*points, at), max(*points, at)
            self._instances(range(low - AROUND, high + AROUND))
            self._instances(range(high + AROUND, low - AROUND, -1))
        else:
            low, high = self._swept
            if at > high:
                self._instances(range(high - AROUND, at + AROUND))
            elif at < low:
                self._instances(range(low + AROUND, at - AROUND, -1))
        self._swept = min(low, at), max(high, at)

    def _instances(self, numbers: range) -> None:
        if len(numbers) > self._evaluator.meter.steps:
            raise OutOfBudget("too many instances")
        for number in numbers:
            for equation in self._equations_of_all:
                self._evaluator.meter.spend(10)
                self._take(equation, number)

    def _take(self, equation: Equation, number: int) -> None:
        """The instance of `equation` at `number`, if it gives a value."""
        if equation.variable is not None and equation.variable.sort == NAT and number < 0:
            return
        scene: list[Value] = [*self._given, *map(self._reader, self._names), number]
        try:
            if equation.guard.run(scene) is not True:
                return
        except OutOfBudget:
            raise
        except NotComputable:
            return  # the instance may not hold
        try:
            for occurrence, other in equation.direct:
                at = occurrence.argument.run(scene)
                if at not in self._values[occurrence.name]:
                    self._values[occurrence.name][at] = other.run(scene)
                    return
        except OutOfBudget:
            raise
        except NotComputable:
            pass  # a side or an argument needs a value that isn't known
        try:
            self._solve(equation, scene)
        except OutOfBudget:
            raise
        except NotComputable:
            return

    def _reader(self, name: str, more: Mapping[int, Value] | None = None) -> Function:
        """The function as far as it is known now, with a value more."""
        known, extra = self._values[name], more or {}

        def read(args: tuple[Value, ...]) -> Value:
            (at,) = args
            if at in extra:
                return extra[at]
            if at not in known:
                raise NotComputable(f"nothing says what {name} is there")
            return known[at]

        return Function(read, name)

    def _solve(self, equation: Equation, scene: list[Value]) -> None:
        """The one missing value, if the instance is linear in it."""
        places = [(o.name, o.argument.run(scene)) for o in equation.linear]
        missing = {(name, at) for name, at in places if at not in self._values[name]}
        if len(missing) != 1 or equation.difference is None:
            return
        ((name, at),) = missing
        unknown = [o.term for o, place in zip(equation.linear, places, strict=True) if place == (name, at)]
        if max(self._degree(side, unknown) for side in (equation.left, equation.right)) > 1:
            return
        difference, whole = equation.difference, equation.left.sort != REAL

        def off_by(value: int) -> Fraction:
            changed = scene.copy()
            more = {at: value if whole else Fraction(value)}
            changed[len(self._given) + self._names.index(name)] = self._reader(name, more)
            return Fraction(difference.run(changed))

        constant = off_by(0)
        slope = off_by(1) - constant
        if slope:
            value = -constant / slope
            if not whole:
                self._values[name][at] = value
            elif value.denominator == 1:
                self._values[name][at] = value.numerator

    def _degree(self, term: Term, unknown: Sequence[Term]) -> int:
        """In the unknown value; 2 stands for all that isn't linear."""
        if term in unknown:
            return 1
        if not any(part in unknown for part in subnodes(term)):
            return 0
        match term:
            case Builtin(op=Op.ADD | Op.SUB | Op.NEG, args=args):
                return max(self._degree(arg, unknown) for arg in args)
            case Builtin(op=Op.MUL, args=args):
                return min(2, sum(self._degree(arg, unknown) for arg in args))
            case Builtin(op=Op.DIV, args=(left, right)) if left.sort == REAL and not self._degree(right, unknown):
                return self._degree(left, unknown)
            case Call(name="rdiv", args=(left, right)) if self._evaluator.native("rdiv") and not self._degree(
                right, unknown
            ):
                return self._degree(left, unknown)
        return 2

    # Reading

    def _equations(self, condition: Term) -> Iterator[Equation]:
        variable: Var | None = None
        guards: tuple[Term, ...] = ()
        if isinstance(condition, Quant):
            if condition.kind != "forall" or len(condition.vars) != 1 or condition.vars[0].sort not in (INT, NAT):
                return
            (variable,) = condition.vars
            guards = (*facts(condition.range), *antecedents(condition.body))
            condition = condition.body
            while isinstance(condition, Builtin) and condition.op is Op.IMPLIES:
                condition = condition.args[1]
        for fact in facts(condition):
            if isinstance(fact, Builtin) and fact.op is Op.EQ:
                equation = self._equation(variable, guards, fact.args[0], fact.args[1])
                if equation is not None:
                    yield equation

    def _equation(self, variable: Var | None, guards: Sequence[Term], left: Term, right: Term) -> Equation | None:
        names = (*self._others, *self._names, "" if variable is None else variable.name)
        if any(var.name not in names for term in (*guards, left, right) for var in free_variables(term)):
            return None
        compiled: Callable[[Term], Expression] = lambda term: self._evaluator.expression(term, names)  # noqa: E731
        calls = [
            node
            for side in (left, right)
            for node in subnodes(side)
            if isinstance(node, Invoke) and self._is_call(node)
        ]
        if not calls:
            return None

        def occurrence(call: Invoke) -> Occurrence:
            assert isinstance(call.function, Var)
            return Occurrence(call.function.name, call, compiled(call.args[0]))

        direct = tuple(
            (occurrence(side), compiled(other))
            for side, other in ((left, right), (right, left))
            if isinstance(side, Invoke) and self._is_call(side)
        )
        alone = all(var.name in names for call in calls for var in free_variables(call)) and not any(
            self._is_call(inner) for call in calls for arg in call.args for inner in subnodes(arg)
        )
        mentions = sum(
            isinstance(node, Var) and node.name in self._names for side in (left, right) for node in subnodes(side)
        )
        linear = tuple(occurrence(call) for call in calls) if alone and mentions == len(calls) else ()
        difference = None
        if left.sort in (INT, NAT, REAL):
            difference = compiled(Builtin(Op.SUB, (left, right), REAL if left.sort == REAL else INT))
        return Equation(variable, compiled(conjunction(guards)), left, right, direct, linear, difference)

    def _is_call(self, node: object) -> bool:
        return isinstance(node, Invoke) and isinstance(node.function, Var) and node.function.name in self._names


def of_whole_number(var: Var) -> bool:
    """A function of one whole number."""
    return isinstance(var.sort, FunctionOf) and len(var.sort.params) == 1 and var.sort.params[0] in (INT, NAT)
