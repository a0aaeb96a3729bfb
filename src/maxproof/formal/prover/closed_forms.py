"""Closed forms of linear recurrences: f(n) as a polynomial in n whose coefficients are linear in the first values.

    f(n + 2) - f(n + 1) == f(n + 1) - f(n)   gives   f(n) == f(0) + n * (f(1) - f(0))

The first values stay symbols, so that it holds for unknown ones too. The form is guessed from some terms and proved by
a helper lemma by induction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from maxproof.formal.embedded.core import INT, NAT, REAL, Builtin, FunctionOf, Int, Invoke, Op, Quant, Term, Var
from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.core.walk import free_variables
from maxproof.formal.prover.instances import literal
from maxproof.formal.prover.polynomials import NotPolynomial, System, conjuncts, constant, fraction, relation_of
from maxproof.formal.prover.question import Helper, Proposal, Question, dafny, ground_nodes

MAX_ORDER = 4
MAX_DEGREE = 4
TERMS = 14  # from which the form is guessed


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`f(n + order) == sum of weights[i] * f(n + i) + constant` for n >= start.

    Attributes:
        statement: the hypothesis that says it.
    """

    function: Var
    start: int
    weights: tuple[Fraction, ...]
    constant: Fraction
    statement: Term


def closed_forms(question: Question) -> Iterator[Proposal]:
    """A helper lemma for each recurrence with a polynomial closed form, called wherever its function is applied."""
    lines: dict[str, None] = {}
    helpers: list[Helper] = []
    for found in recurrences(question):
        forms = polynomial_form(found)
        if forms is None:
            continue
        helper = _helper(found, forms, len(helpers))
        helpers.append(helper)
        for node in ground_nodes((*question.goals, *question.hypotheses)):
            if isinstance(node, Invoke) and node.function == found.function:
                (argument,) = node.args
                call = f"{helper.name}({', '.join([*_parameters(found), show(argument)])});"
                at = constant(argument)
                if at is None:
                    lines.setdefault(f"if {show(argument)} >= {found.start} {{ {call} }}")
                elif at >= found.start:
                    lines.setdefault(call)
    if lines:
        yield Proposal("closed-forms", tuple(lines), cost=3, helpers=tuple(helpers))


def recurrences(question: Question) -> Iterator[Recurrence]:
    """The hypotheses that are linear recurrences with constant coefficients for one function of a whole number."""
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        if (
            isinstance(part, Quant)
            and part.kind == "forall"
            and len(part.vars) == 1
            and part.vars[0].sort in (INT, NAT)
        ):
            found = _recurrence(part)
            if found is not None:
                yield found


def _recurrence(part: Quant) -> Recurrence | None:
    (index,) = part.vars
    guards, body = list(conjuncts(part.range)), part.body
    while isinstance(body, Builtin) and body.op is Op.IMPLIES:
        guards += conjuncts(body.args[0])
        body = body.args[1]
    related = relation_of(body)
    if related is None or related[0] != "==":
        return None
    system = System((body,))
    functions = {atom.function for atom in system.atoms if isinstance(atom, Invoke)}
    if len(functions) != 1 or not all(isinstance(atom, Invoke) for atom in system.atoms):
        return None
    (function,) = functions
    if not isinstance(function, Var) or not isinstance(function.sort, FunctionOf) or len(function.sort.params) != 1:
        return None
    try:
        poly = system.poly(related[1]) - system.poly(related[2])
    except NotPolynomial:
        return None
    weights: dict[int, Fraction] = {}
    rest = Fraction(0)
    for monomial, coefficient in poly.terms():
        if sum(monomial) > 1:
            return None
        if sum(monomial) == 0:
            rest = fraction(coefficient)
            continue
        shift = _shift(system.atoms[monomial.index(1)], index)
        if shift is None:
            return None
        weights[shift] = weights.get(shift, Fraction(0)) + fraction(coefficient)
    low = _low(guards, index)
    if low is None or not weights:
        return None
    first, last = min(weights), max(weights)
    if not 0 < last - first <= MAX_ORDER or not weights[last]:
        return None
    scaled = tuple(-weights.get(first + i, Fraction(0)) / weights[last] for i in range(last - first))
    return Recurrence(function, low + first, scaled, -rest / weights[last], part)


def _shift(atom: Term, index: Var) -> int | None:
    """c of `f(n + c)`."""
    assert isinstance(atom, Invoke), "asked of those only"
    (argument,) = atom.args
    match argument:
        case Var(name=index.name):
            return 0
        case Builtin(op=Op.ADD, args=(Var(name=index.name), Int(value=value))):
            return value
        case Builtin(op=Op.SUB, args=(Var(name=index.name), Int(value=value))):
            return -value
    return None


def _low(guards: Sequence[Term], index: Var) -> int | None:
    """From where on the guards hold; None if they say more than that."""
    low = 0 if index.sort == NAT else None
    for guard in guards:
        match guard:
            case Builtin(op=Op.LE, args=(Int(value=value), Var(name=index.name))):
                low = value if low is None else max(low, value)
            case Builtin(op=Op.LT, args=(Int(value=value), Var(name=index.name))):
                low = value + 1 if low is None else max(low, value + 1)
            case _ if any(var.name == index.name for var in free_variables(guard)):
                return None
    return low


def polynomial_form(found: Recurrence) -> list[list[Fraction]] | None:
    """For each first value, then for the constant: the coefficients (lowest first) of its polynomial in n.

    None if the terms from `start` on aren't polynomials of degree `MAX_DEGREE` at most.
    """
    order = len(found.weights)
    terms = [[Fraction(int(i == j)) for j in range(order + 1)] for i in range(order)]
    while len(terms) < TERMS:
        new = [
            sum((weight * term[j] for weight, term in zip(found.weights, terms[-order:], strict=True)), Fraction(0))
            for j in range(order + 1)
        ]
        new[order] += found.constant
        terms.append(new)
    forms: list[list[Fraction]] = []
    for j in range(order + 1):
        form = _interpolated(found.start, [term[j] for term in terms])
        if form is None:
            return None
        forms.append(form)
    return forms


def _interpolated(start: int, values: Sequence[Fraction]) -> list[Fraction] | None:
    """The polynomial of low degree through (start, values[0]), (start + 1, values[1]), ...; None if there is none."""
    differences: list[Fraction] = []
    row = list(values)
    while any(row):
        if len(differences) > MAX_DEGREE:
            return None
        differences.append(row[0])
        row = [b - a for a, b in pairwise(row)]
    result = [Fraction(0)]
    basis = [Fraction(1)]
    for k, difference in enumerate(differences):
        result = [
            (result[i] if i < len(result) else Fraction(0)) + (difference * basis[i] if i < len(basis) else 0)
            for i in range(max(len(result), len(basis)))
        ]
        shifted = [Fraction(0), *basis]
        basis = [
            (shifted[i] - (start + k) * (basis[i] if i < len(basis) else Fraction(0))) / (k + 1)
            for i in range(len(shifted))
        ]
    return result


def _helper(found: Recurrence, forms: Sequence[Sequence[Fraction]], number: int) -> Helper:
    real = isinstance(found.function.sort, FunctionOf) and found.function.sort.result == REAL
    name = f"closed_form_{number + 1}"
    function = found.function.name
    order = len(found.weights)
    denominator = 1 if real else lcm(*(value.denominator for form in forms for value in form))
    parts = [
        f"({_polynomial([value * denominator for value in form], real)}) * {function}({found.start + i})"
        for i, form in enumerate(forms[:order])
    ]
    if any(forms[order]):
        parts.append(f"({_polynomial([value * denominator for value in forms[order]], real)})")
    left = f"{function}(k)" if denominator == 1 else f"{denominator} * {function}(k)"
    declared = ", ".join(f"{var.name}: {show_sort(var.sort)}" for var in _variables(found))
    back = " ".join(f"{name}({', '.join([*_parameters(found), f'k - {i}'])});" for i in range(1, order + 1))
    text = (
        f"lemma {name}({declared}, k: int)\n  requires {show(found.statement)}\n  requires k >= {found.start}\n"
        f"  ensures {left} == {' + '.join(parts)}\n  decreases k - {found.start}\n"
        f"{{\n  if k >= {found.start + order} {{ {back} }}\n}}"
    )
    return Helper(name, dafny(text))


def _polynomial(coefficients: Sequence[Fraction], real: bool) -> str:
    k, sort = ("k as real", REAL) if real else ("k", INT)
    parts = []
    for power, value in enumerate(coefficients):
        number = literal(value, sort)
        if value and number is not None:
            parts.append(" * ".join([f"({show(number)})", *[k] * power]))
    return " + ".join(parts) or ("0.0" if real else "0")


def _variables(found: Recurrence) -> tuple[Var, ...]:
    return free_variables(found.statement)


def _parameters(found: Recurrence) -> list[str]:
    return [var.name for var in _variables(found)]
