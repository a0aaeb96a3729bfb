"""`calc`: the relation that each step claims, and what they give together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from maxproof.formal.embedded.core import CalcStep, Step
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.resolve.operators import once, relation
from maxproof.formal.embedded.resolve.scope import Typed, Unit
from maxproof.formal.syntax import ast

_RELATIONS = {"==", "!=", "<", "<=", ">", ">=", "<==>", "==>", "<=="}


def calculation(
    unit: Unit, statement: ast.Calc, lines: list[Typed]
) -> Callable[[tuple[tuple[Step, ...], ...]], CalcStep]:
    """Checks the steps' relations; the result makes the step from the hints' steps."""
    shared = [once(line) for line in lines]
    ops = [op or statement.op for op in statement.ops]
    for op in {*ops, statement.op}:
        if op not in _RELATIONS:
            raise Unsupported(f"calc with {op}", statement.at)
    if statement.op == "!=":
        unit.report("!= can't be the operator of a whole calculation: it doesn't carry over", statement.at)
    for first, second in pairwise(lines):
        unit.agree(second.type, first.type, statement.at, "a line of the calculation")
    steps = [relation(unit, op, shared[i], shared[i + 1], statement.lines[i].at) for i, op in enumerate(ops)]
    total = ops[0] if ops else None
    for op in ops[1:]:
        together = _together(total, op) if total is not None else None
        if together is None:
            unit.report(f"{op} can't continue a calculation that gives {total} so far", statement.at)
        total = together
        if total is None:
            break
    conclusion = None if total is None else relation(unit, total, shared[0], shared[-1], statement.at)

    def make(hints: tuple[tuple[Step, ...], ...]) -> CalcStep:
        return CalcStep(
            tuple([line.build() for line in shared]),
            tuple([step.build() for step in steps]),
            hints,
            None if conclusion is None else conclusion.build(),
            at=statement.at,
        )

    return make


def _together(a: str, b: str) -> str | None:
    """The relation of x and z where x `a` y and y `b` z; None where there is none."""
    if _absorbs(a, b):
        return a
    return b if _absorbs(b, a) else None


def _absorbs(a: str, b: str) -> bool:
    if a == b:
        return a != "!="
    if b == "==":
        return True
    if b == "<==>":
        return a in ("==", "==>", "<==")
    return (a, b) in (("<", "<="), (">", ">="))
