"""What general hypotheses say of the terms at hand: `forall x :: f(x + 1) == 2 * f(x)` at f(5), f(4), ...

Instances are found by matching: an application in the hypothesis whose arguments are linear in the bound variables
meets an application without bound variables. New instances bring new terms, for a few rounds. Where only whole numbers
are met (a recurrence), the gap between the smallest and the largest is filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    NAT,
    REAL,
    Bool,
    Builtin,
    Call,
    Int,
    Invoke,
    Lambda,
    Op,
    Quant,
    Real,
    Sort,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute, transform
from maxproof.formal.prover.polynomials import conjuncts, constant

MAX_INSTANCES = 400
MAX_GAP = 200


@dataclass(frozen=True, slots=True)
class Instance:
    """A ground consequence of a hypothesis; its range is an antecedent unless it holds by computation."""

    term: Term
    hypothesis: Quant


def literal(value: Fraction, sort: Sort) -> Term | None:
    """The number as a term of that sort; None for a fraction as an int."""
    if sort == REAL:
        return Real(value)
    return Int(int(value)) if value.denominator == 1 else None


def simplified(term: Term) -> Term:
    """Arithmetic on literals carried out, `x + 0`, `1 * x` and the like removed, lambdas applied."""
    return transform(term, _step)


def _step(term: Term) -> Term:
    if isinstance(term, Invoke) and isinstance(term.function, Lambda):
        given = {param.name: arg for param, arg in zip(term.function.params, term.args, strict=True)}
        return simplified(substitute(term.function.body, given))
    if not isinstance(term, Builtin):
        return term
    if term.op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG) and term.sort in (INT, NAT, REAL):
        values = [constant(arg) for arg in term.args]
        if all(value is not None for value in values):
            exact = [value for value in values if value is not None]
            result = _computed(term.op, exact)
            return literal(result, REAL if term.sort == REAL else INT) or term
        if len(values) == 2:
            left, right = term.args
            if values[1] == 0 and term.op in (Op.ADD, Op.SUB):
                return left
            merged = _merged(term, values[1])
            if merged is not None:
                return merged
            if values[0] == 0 and term.op is Op.ADD:
                return right
            if values[1] == 1 and term.op is Op.MUL:
                return left
            if values[0] == 1 and term.op is Op.MUL:
                return right
    if term.op in (Op.LE, Op.LT, Op.EQ):
        left_value, right_value = constant(term.args[0]), constant(term.args[1])
        if left_value is not None and right_value is not None:
            holds = {
                Op.LE: left_value <= right_value,
                Op.LT: left_value < right_value,
                Op.EQ: left_value == right_value,
            }
            return Bool(holds[term.op])
    if term.op is Op.IMPLIES and isinstance(term.args[0], Bool):
        return term.args[1] if term.args[0].value else Bool(True)
    if term.op is Op.NOT and isinstance(term.args[0], Bool):
        return Bool(not term.args[0].value)
    if term.op is Op.AND:
        rest = tuple(arg for arg in term.args if arg != Bool(True))
        if Bool(False) in rest:
            return Bool(False)
        if len(rest) < len(term.args):
            return Bool(True) if not rest else rest[0] if len(rest) == 1 else Builtin(Op.AND, rest, BOOL)
    return term


def _merged(term: Builtin, added: Fraction | None) -> Term | None:
    """`x + a - b` as `x + (a - b)`; None for any other shape."""
    inner = term.args[0]
    if added is None or term.op not in (Op.ADD, Op.SUB) or not isinstance(inner, Builtin):
        return None
    if inner.op not in (Op.ADD, Op.SUB) or len(inner.args) != 2:
        return None
    before = constant(inner.args[1])
    if before is None:
        return None
    total = (before if inner.op is Op.ADD else -before) + (added if term.op is Op.ADD else -added)
    number = literal(abs(total), REAL if term.sort == REAL else INT)
    if total == 0 or number is None:
        return inner.args[0] if total == 0 else None
    return Builtin(Op.ADD if total > 0 else Op.SUB, (inner.args[0], number), term.sort)


def _computed(op: Op, values: Sequence[Fraction]) -> Fraction:
    if op is Op.NEG:
        return -values[0]
    return {Op.ADD: values[0] + values[1], Op.SUB: values[0] - values[1], Op.MUL: values[0] * values[1]}[op]


def applications(terms: Iterable[Term]) -> Iterator[Call | Invoke]:
    """All applications of functions below `terms`, also those with bound variables."""
    for term in terms:
        for node in subnodes(term):
            if isinstance(node, Call | Invoke):
                yield node


def _head(application: Call | Invoke) -> object:
    return application.name if isinstance(application, Call) else application.function


def _solved(pattern: Term, ground: Term, variables: frozenset[str]) -> tuple[str, Term] | None:
    """The bound variable and its value that make the pattern the ground term; patterns `x`, `a * x + b`, `b - x`."""
    if isinstance(pattern, Var):
        return (pattern.name, ground) if pattern.name in variables else None
    if not isinstance(pattern, Builtin) or len(pattern.args) != 2:
        if isinstance(pattern, Builtin) and pattern.op is Op.NEG:
            return _solved(pattern.args[0], simplified(Builtin(Op.NEG, (ground,), ground.sort)), variables)
        return None
    left, right = pattern.args
    left_bound = any(var.name in variables for var in free_variables(left))
    right_bound = any(var.name in variables for var in free_variables(right))
    if left_bound == right_bound:
        return None
    inner, other = (left, right) if left_bound else (right, left)
    sort = REAL if ground.sort == REAL else INT
    if pattern.op is Op.ADD:
        return _solved(inner, simplified(Builtin(Op.SUB, (ground, other), sort)), variables)
    if pattern.op is Op.SUB:
        args = (ground, other) if left_bound else (other, ground)
        return _solved(inner, simplified(Builtin(Op.ADD if left_bound else Op.SUB, args, sort)), variables)
    factor = constant(other)
    value = constant(ground)
    if pattern.op is Op.MUL and factor and value is not None:
        solved = literal(value / factor, sort)
        return None if solved is None else _solved(inner, solved, variables)
    return None


def _bindings(pattern: Call | Invoke, ground: Call | Invoke, variables: frozenset[str]) -> dict[str, Term] | None:
    found: dict[str, Term] = {}
    for part, value in zip(pattern.args, ground.args, strict=True):
        if not any(var.name in variables for var in free_variables(part)):
            continue
        solved = _solved(part, value, variables)
        if solved is None or found.get(solved[0], solved[1]) != solved[1]:
            return None
        found[solved[0]] = solved[1]
    return found


def instances(hypotheses: Sequence[Term], goals: Sequence[Term], rounds: int = 3) -> list[Instance]:
    """Instances of the universally quantified conjuncts of `hypotheses`, those nearest to the goals first."""
    quantified = [
        part
        for hypothesis in hypotheses
        for part in conjuncts(hypothesis)
        if isinstance(part, Quant) and part.kind == "forall"
    ]
    found: dict[Term, Instance] = {}
    known = [*goals, *hypotheses]
    for _ in range(rounds):
        fresh: list[Term] = []
        for general in quantified:
            for _, range_, body in applied(general, known):
                term = body if range_ == Bool(True) else Builtin(Op.IMPLIES, (range_, body), BOOL)
                if term not in found:
                    found[term] = Instance(term, general)
                    fresh.append(term)
                    if len(found) >= MAX_INSTANCES:
                        return list(found.values())
        if not fresh:
            break
        known = [*known, *fresh]
    return list(found.values())


def _ground_applications(terms: Sequence[Term]) -> dict[object, list[Call | Invoke]]:
    ground: dict[object, dict[Call | Invoke, None]] = {}
    free = {var.name for term in terms for var in free_variables(term)}
    for application in applications(terms):
        if all(var.name in free for var in free_variables(application)):
            simple = simplified(application)
            if isinstance(simple, Call | Invoke):
                ground.setdefault(_head(simple), {}).setdefault(simple)
    return {head: list(found) for head, found in ground.items()}


def _all_bindings(quantified: Quant, ground: dict[object, list[Call | Invoke]]) -> Iterator[dict[str, Term]]:
    variables = frozenset(var.name for var in quantified.vars)
    by_variable: dict[str, dict[Term, None]] = {name: {} for name in variables}
    for pattern in applications([quantified.range, quantified.body]):
        used = {var.name for var in free_variables(pattern)} & variables
        if not used:
            continue
        for candidate in ground.get(_head(pattern), ()):
            binding = _bindings(pattern, candidate, variables)
            if binding is None:
                continue
            for name, value in binding.items():
                by_variable[name].setdefault(value)
            if used == variables and binding.keys() == variables:
                yield binding
    sorts = {var.name: var.sort for var in quantified.vars}
    for name, values in by_variable.items():
        for value in _between(values, sorts[name]):
            values.setdefault(value)
    choices = [[(var.name, value) for value in by_variable[var.name]] for var in quantified.vars]
    for combination in islice(product(*choices), MAX_INSTANCES):
        yield dict(combination)


def _between(values: Iterable[Term], sort: Sort) -> list[Term]:
    """The whole numbers between those met, so that a recurrence is followed all the way."""
    numbers = sorted(value.value for value in values if isinstance(value, Int))
    if sort not in (INT, NAT) or len(numbers) < 2 or numbers[-1] - numbers[0] > MAX_GAP:
        return []
    return [Int(number) for number in range(numbers[0], numbers[-1] + 1)]


def applied(general: Quant, terms: Sequence[Term]) -> Iterator[tuple[dict[str, Term], Term, Term]]:
    """(binding, range, body) of a universal statement at the applications in `terms`, each once, simplified.

    Bindings whose range is false by computation, or whose body says nothing, are left out.
    """
    seen: set[tuple[Term, Term]] = set()
    for binding in _all_bindings(general, _ground_applications(terms)):
        if any(var.sort == NAT and _negative(binding[var.name]) for var in general.vars):
            continue
        range_ = simplified(substitute(general.range, binding))
        body = simplified(substitute(general.body, binding))
        if range_ != Bool(False) and body != Bool(True) and (range_, body) not in seen:
            seen.add((range_, body))
            yield binding, range_, body


def _negative(term: Term) -> bool:
    value = constant(term)
    return value is not None and value < 0
