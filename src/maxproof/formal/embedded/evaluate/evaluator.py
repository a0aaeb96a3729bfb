"""Exact evaluation of core terms.

A value is found by computing, with whole numbers and fractions of any size, never by rounding. What has no exact value
here (irrational numbers, quantifiers without a finite range, free variables without a value) or costs more than its
budget raises NotComputable. A value that is found is the term's value under every reading of the program.

The prelude's functions are computed natively, but only where the program's declaration equals the prelude's own; other
functions are computed by their declared bodies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from maxproof.formal.embedded.core import NAT, CoreProgram, FunctionOf, Term, Var
from maxproof.formal.embedded.evaluate.compile import Compiler, Layout
from maxproof.formal.embedded.evaluate.control import refuse
from maxproof.formal.embedded.evaluate.domains import Code, Domain
from maxproof.formal.embedded.evaluate.natives import NATIVES
from maxproof.formal.embedded.evaluate.prelude import is_prelude_function
from maxproof.formal.embedded.evaluate.values import (
    DEFAULT_BUDGET,
    Budget,
    Data,
    Function,
    Meter,
    NotComputable,
    OutOfBudget,
    Undefined,
    Value,
)

__all__ = [
    "DEFAULT_BUDGET",
    "Budget",
    "Data",
    "Evaluator",
    "Expression",
    "Function",
    "NotComputable",
    "OutOfBudget",
    "Scene",
    "Undefined",
    "Value",
    "deep_stack",
    "evaluate",
]


STACK_FRAMES = 4500


def evaluate(
    term: Term, core: CoreProgram, env: Mapping[str, Value] | None = None, budget: Budget = DEFAULT_BUDGET
) -> Value:
    """The value of `term` where its free variables have the values in `env`.

    Raises NotComputable: Undefined where it meets an operation outside its domain, OutOfBudget where it costs too much.
    """
    given = env or {}
    return Evaluator(core).expression(term, tuple(given)).value(tuple(given.values()), budget)


class Expression:
    """A compiled term over named variables, for many evaluations."""

    def __init__(self, evaluator: Evaluator, code: Code, layout: Layout) -> None:
        self._evaluator = evaluator
        self._code = code
        self._layout = layout

    def value(self, values: Sequence[Value], budget: Budget = DEFAULT_BUDGET) -> Value:
        """`values` in the order of the names it was compiled for. Raises as `evaluate`."""
        self._evaluator.start(budget)
        return self.run(values)

    def run(self, values: Sequence[Value]) -> Value:
        """`value`, paid from what is left of the evaluator's budget."""
        frame: list[Any] = [*values, *[None] * (self._layout.slots - len(values))]
        with deep_stack():
            return self._code(frame)


@contextmanager
def deep_stack() -> Iterator[None]:
    """Room for the frames that a budget allows: pure Python calls, which take no C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, STACK_FRAMES))
    try:
        yield
    except RecursionError:  # the caller was deep already
        raise OutOfBudget("nested too deeply") from None
    except MemoryError:
        raise OutOfBudget("out of memory") from None
    finally:
        sys.setrecursionlimit(before)


@dataclass(frozen=True, slots=True)
class Scene:
    """Conditions over variables that are looked for.

    Attributes:
        frame: the variables' slots come first, in their order.
        checks: the conditions' code, for a frame in which all their variables have values.
        domain: what the conditions leave for the variables.
    """

    frame: list[Any]
    checks: tuple[Code, ...]
    domain: Domain


class Evaluator:
    """Evaluation in one program. Functions are compiled once; one budget at a time.

    Args:
        native: use native implementations where the program declares the prelude's functions.
    """

    def __init__(self, core: CoreProgram, native: bool = True) -> None:
        self.core = core
        self.meter = Meter(DEFAULT_BUDGET)
        self._use_natives = native
        self._natives: dict[str, bool] = {}
        self._calls: dict[str, Callable[[tuple[Value, ...]], Value]] = {}
        self._results: dict[tuple[str, tuple[Value, ...]], Value] = {}

    def start(self, budget: Budget) -> None:
        self.meter.reset(budget)
        self._results.clear()

    def expression(self, term: Term, names: Sequence[str]) -> Expression:
        """Raises NotComputable for a term that is nested too deeply."""
        layout = Layout(slots=len(names))
        compiler = Compiler(self.core, self, self.meter, layout)
        with deep_stack():
            code = compiler.code(term, {name: slot for slot, name in enumerate(names)})
        return Expression(self, code, layout)

    def candidates(
        self, unknowns: Sequence[Var], conditions: Sequence[Term], budget: Budget, most: int
    ) -> list[tuple[Value, ...]] | None:
        """All values of `unknowns` that `conditions` may allow, in order; None for more than `most`.

        Other variables of the conditions may have any value. Raises NotComputable where the candidates aren't finite.
        """
        self.start(budget)
        scene = self.scene(unknowns, conditions, checks=False)
        found: list[tuple[Value, ...]] = []
        with deep_stack():
            for _ in scene.domain.assignments(scene.frame):
                if len(found) == most:
                    return None
                found.append(tuple(scene.frame[: len(unknowns)]))
        return found

    def scene(self, unknowns: Sequence[Var], conditions: Sequence[Term], checks: bool = True) -> Scene:
        """`conditions` compiled over `unknowns`. What can't be compiled raises NotComputable when it's asked."""
        layout = Layout(slots=len(unknowns))
        slots = {var.name: slot for slot, var in enumerate(unknowns)}
        compiler = Compiler(self.core, self, self.meter, layout)
        codes: list[Code] = []
        with deep_stack():
            for condition in conditions if checks else ():
                try:
                    codes.append(compiler.code(condition, slots))
                except NotComputable as error:
                    codes.append(refuse(str(error)))
            domain = compiler.domain(unknowns, slots, conditions)
        return Scene([None] * layout.slots, tuple(codes), domain)

    def native(self, name: str) -> bool:
        """Whether calls of `name` are computed natively."""
        known = self._natives.get(name)
        if known is None:
            known = self._use_natives and name in NATIVES and is_prelude_function(name, self.core.functions)
            self._natives[name] = known
        return known

    def call(self, name: str) -> Callable[[tuple[Value, ...]], Value]:
        """What a call of the declared function does. Compiled when it's first called."""
        if name not in self._calls:
            self._calls[name] = self._native_call(name) if self.native(name) else self._declared_call(name)
        return self._calls[name]

    def _native_call(self, name: str) -> Callable[[tuple[Value, ...]], Value]:
        function, meter = NATIVES[name], self.meter
        return lambda args: function(meter, *args)

    def _declared_call(self, name: str) -> Callable[[tuple[Value, ...]], Value]:
        meter, results = self.meter, self._results
        ready: list[tuple[Code, list[Code], Layout]] = []
        declared = self.core.functions.get(name)
        if declared is None or declared.body is None:
            return _unknown(name)
        body = declared.body
        naturals = [place for place, var in enumerate(declared.params) if var.sort == NAT]
        keep = not any(isinstance(var.sort, FunctionOf) for var in declared.params)

        def run(args: tuple[Value, ...]) -> Value:
            if keep and (name, args) in results:
                return results[name, args]
            for place in naturals:
                if args[place] < 0:
                    raise Undefined(f"{name} expects a natural number")
            if not ready:
                layout = Layout(slots=len(args))
                compiler = Compiler(self.core, self, meter, layout)
                slots = {var.name: slot for slot, var in enumerate(declared.params)}
                requires = [compiler.code(clause, slots) for clause in declared.requires]
                ready.append((compiler.code(body, slots), requires, layout))
            code, requires, layout = ready[0]
            height = 2 * layout.deepest + 4
            meter.spend(layout.size)
            frame = [*args, *[None] * (layout.slots - len(args))]
            meter.frames -= height
            try:
                if meter.frames < 0:
                    raise OutOfBudget("calls nested too deeply")
                for clause in requires:
                    if not clause(frame):
                        raise Undefined(f"{name}'s precondition")
                value = code(frame)
            finally:
                meter.frames += height
            if keep and len(results) < 100_000:
                results[name, args] = value
            return value

        return run


def _unknown(name: str) -> Callable[[tuple[Value, ...]], Value]:
    def run(_: tuple[Value, ...]) -> Value:
        raise NotComputable(f"{name} has no definition that can be computed")

    return run
