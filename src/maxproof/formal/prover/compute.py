"""Closed computations written out: the values that a recursive definition goes through, each from the one before.

The embedded checker computes such terms by itself; Dafny follows a definition a step or two and needs the rest as
assertions.
"""

from __future__ import annotations

from collections.abc import Iterator

from maxproof.formal.embedded.core import BOOL, INT, NAT, REAL, Bool, Builtin, Call, CoreProgram, Int, Op, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute
from maxproof.formal.embedded.evaluate import NotComputable, Value, evaluate
from maxproof.formal.prover.induction import is_recursive
from maxproof.formal.prover.instances import literal, simplified
from maxproof.formal.prover.question import Proposal, Question

MAX_STEPS = 90


def compute(question: Question) -> Iterator[Proposal]:
    """The steps of every closed recursive call in the statement, and the bounds of sums and products unrolled."""
    lines: dict[str, None] = {}
    for call in _calls(question):
        steps: dict[str, None] = {}
        if _trace(question, call, steps, set()) and len(lines) + len(steps) <= 2 * MAX_STEPS:
            lines.update(steps)
    if lines:
        goals = (f"assert {show(goal)};" for goal in question.goals)
        yield Proposal("compute", tuple(dict.fromkeys([*lines, *goals])), cost=2)


def _calls(question: Question) -> list[Call]:
    found: dict[Call, None] = {}
    for term in (*question.goals, *question.hypotheses):
        for node in subnodes(term):
            if isinstance(node, Call) and is_recursive(question, node.name) and not free_variables(node):
                found.setdefault(node)
    return list(found)


def _trace(question: Question, call: Call, steps: dict[str, None], seen: set[Call]) -> bool:
    """Adds the steps that lead to the value of `call`, innermost first; false if they are too many or have no value."""
    call = _with_literals(question.core, call)
    if call in seen:
        return True
    seen.add(call)
    if len(seen) > MAX_STEPS:
        return False
    value = _literal(question.core, call)
    function = question.core.functions[call.name]
    if value is None or function.body is None:
        return False
    mapping = {param.name: arg for param, arg in zip(function.params, call.args, strict=True)}
    body = _branch(question.core, substitute(function.body, mapping))
    for node in subnodes(body):
        if (
            isinstance(node, Call)
            and is_recursive(question, node.name)
            and not free_variables(node)
            and not _trace(question, node, steps, seen)
        ):
            return False
    steps.setdefault(f"assert {show(Builtin(Op.EQ, (call, value), BOOL))};")
    return True


def _branch(core: CoreProgram, body: Term) -> Term:
    """The branch of nested conditionals that closed conditions choose."""
    while isinstance(body, Builtin) and body.op is Op.ITE:
        condition = _value(core, body.args[0])
        if not isinstance(condition, bool):
            return body
        body = body.args[1] if condition else body.args[2]
    return body


def _with_literals(core: CoreProgram, call: Call) -> Call:
    args = tuple(_literal(core, arg) or simplified(arg) for arg in call.args)
    return Call(call.name, args, call.sort)


def _literal(core: CoreProgram, term: Term) -> Term | None:
    """The literal of a closed number, truth value or sequence of whole numbers."""
    value = _value(core, term)
    if isinstance(value, bool):
        return Bool(value)
    if term.sort in (INT, NAT, REAL) and value is not None:
        return literal(value, REAL if term.sort == REAL else INT)
    if isinstance(value, tuple) and all(type(item) is int for item in value):
        return Builtin(Op.SEQ, tuple(Int(item) for item in value), term.sort)
    return None


def _value(core: CoreProgram, term: Term) -> Value | None:
    try:
        return evaluate(term, core)
    except NotComputable:
        return None
