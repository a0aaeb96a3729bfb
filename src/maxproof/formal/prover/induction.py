"""Induction on a whole number: the lemma calls itself at a smaller value, and the recursive functions are unfolded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from maxproof.formal.embedded.core import BOOL, INT, NAT, Builtin, Call, Int, Op, Term, Var
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute, transform
from maxproof.formal.prover.cases import integer_bounds_below
from maxproof.formal.prover.certificates import refutation
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.polynomials import Fact, System
from maxproof.formal.prover.question import Proposal, Question

_LEVELS = (0, 1, 2)


def induction(question: Question) -> Iterator[Proposal]:
    """For each number parameter: one step back, with and without a certificate for the step; then two steps back."""
    for var in _candidates(question):
        low = _lower_bound(question, var)
        if low is None:
            continue
        yield from _steps(question, var, low)


def _candidates(question: Question) -> list[Var]:
    """The number parameters that the statement uses, those inside arguments of recursive functions first."""
    inside: dict[str, None] = {}
    for call in recursive_calls(question, (*question.goals, *question.hypotheses)):
        for argument in call.args:
            inside.update(dict.fromkeys(var.name for var in free_variables(argument)))
    numbers = [var for var in question.lemma.params if var.sort in (INT, NAT)]
    return sorted(numbers, key=lambda var: var.name not in inside)


def _lower_bound(question: Question, var: Var) -> int | None:
    system = System((*question.hypotheses, Builtin(Op.LE, (var, var), BOOL)))
    bounds = integer_bounds_below(system, system.facts(question.hypotheses))
    found = bounds.get(var)
    if var.sort == NAT:
        return max(0, ceil(found)) if found is not None else 0
    return ceil(found) if found is not None else None


def _steps(question: Question, var: Var, low: int) -> Iterator[Proposal]:
    lemma = question.lemma
    back = {var.name: simplified(Builtin(Op.SUB, (var, Int(1)), INT))}
    call = f"{lemma.name}({', '.join(show(back.get(param.name, param)) for param in lemma.params)});"
    unfolded = [(term, equation) for term, equation in unfoldings(question, question.goals) if _mentions(term, var)]
    unfolds = tuple(f"assert {show(equation)};" for _, equation in unfolded)
    guard = f"{var.name} > {low}"
    body = _body(guard, (call, *unfolds))
    yield Proposal("induction", (body,), cost=5)
    closed = _certified(question, back, call, [equation for _, equation in unfolded])
    if closed:
        yield Proposal("induction-certified", (_body(guard, (call, *unfolds, *closed)),), cost=4)
    before = {var.name: simplified(Builtin(Op.SUB, (var, Int(2)), INT))}
    second = f"{lemma.name}({', '.join(show(before.get(param.name, param)) for param in lemma.params)});"
    yield Proposal("induction-two", (_body(f"{var.name} > {low + 1}", (call, second, *unfolds)),), cost=9)


def _body(guard: str, statements: tuple[str, ...]) -> str:
    return f"if {guard} {{ {' '.join(statements)} }}"


def _mentions(term: Term, var: Var) -> bool:
    return any(other.name == var.name for other in free_variables(term))


def _certified(question: Question, back: dict[str, Term], call: str, equations: list[Term]) -> list[str]:
    """A certificate of the step from what the smaller case says and the unfolded definitions; [] if there is none."""
    earlier = [simplified(substitute(goal, back)) for goal in question.goals]
    system = System((*question.hypotheses, *earlier, *equations, *question.goals))
    facts: list[Fact] = [replace(fact, statement="") for fact in system.facts([*earlier, *equations])]
    facts += system.facts(question.hypotheses)
    lines: list[str] = []
    for goal in question.conclusions:
        fact = system.fact(goal)
        if fact is None:
            continue
        proof = next((p for level in _LEVELS if (p := refutation(system, facts, fact, level)) is not None), None)
        if proof is None:
            return []
        lines += [*proof, f"assert {show(goal)};"]
    return lines


def recursive_calls(question: Question, terms: tuple[Term, ...]) -> list[Call]:
    """Calls of functions that call themselves, each once."""
    found: dict[Call, None] = {}
    for term in terms:
        for node in subnodes(term):
            if isinstance(node, Call) and is_recursive(question, node.name):
                found.setdefault(node)
    return list(found)


def is_recursive(question: Question, name: str) -> bool:
    """The function's body calls it."""
    function = question.core.functions.get(name)
    return (
        function is not None
        and function.body is not None
        and any(isinstance(node, Call) and node.name == name for node in subnodes(function.body))
    )


def unfoldings(question: Question, terms: tuple[Term, ...]) -> Iterator[tuple[Call, Term]]:
    """Each recursive call with the equation of its recursive case: `f(n) == n * f(n - 1)`."""
    for call in recursive_calls(question, terms):
        function = question.core.functions[call.name]
        assert function.body is not None, "recursive_calls gives those with bodies only"
        case = _recursive_case(function.body, call.name)
        mapping = {param.name: arg for param, arg in zip(function.params, call.args, strict=True)}
        yield call, Builtin(Op.EQ, (call, transform(substitute(case, mapping), simplified)), BOOL)


def _recursive_case(body: Term, name: str) -> Term:
    """The branch of nested conditionals that calls the function."""
    while isinstance(body, Builtin) and body.op is Op.ITE:
        branches = [
            arm for arm in body.args[1:] if any(isinstance(node, Call) and node.name == name for node in subnodes(arm))
        ]
        if len(branches) != 1:
            return body
        body = branches[0]
    return body
