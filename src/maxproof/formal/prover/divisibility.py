"""What a divisor divides: multiples combined so that the unknowns cancel and a constant is left.

Divisors come from `gcd` (it divides both arguments), from `divides` and from remainders: `x % m == y % m` says that m
divides x - y. Two multiples of one divisor whose linear parts are proportional combine to a constant multiple, which
leaves finitely many divisors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import lcm, prod
from typing import Any

from sympy.polys.rings import PolyElement

from maxproof.formal.embedded.core import BOOL, INT, Builtin, Call, Int, Op, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.prover.certificates import Summand, plain, solution, times
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.polynomials import NotPolynomial, System, conjuncts, constant, fraction
from maxproof.formal.prover.question import Proposal, Question, ground_nodes

MAX_PAIRS = 12
MAX_DEGREE = 4
MAX_ATOMS = 5


@dataclass
class _Multiples:
    """The known multiples of each divisor, and the statements that make a checker know them."""

    of: dict[Term, dict[Term, None]] = field(default_factory=dict)
    lines: dict[str, None] = field(default_factory=dict)

    def add(self, divisor: Term, multiple: Term, line: str) -> None:
        self.lines.setdefault(line)
        self.of.setdefault(divisor, {}).setdefault(multiple)


def divisibility(question: Question) -> Iterator[Proposal]:
    """All multiples that are known, and for each divisor the constants that pairs of them combine to."""
    known = _multiples(question)
    lines = dict(known.lines)
    for divisor, multiples in known.of.items():
        for line in _constants(divisor, list(multiples)):
            lines.setdefault(line)
    if lines:
        yield Proposal("divisibility", tuple(lines), cost=4)
    quotients = [line for goal in question.conclusions for line in _quotient(question, goal)]
    if quotients:
        yield Proposal("quotient", tuple(quotients), cost=3)


def _quotient(question: Question, goal: Term) -> Iterator[str]:
    """Of a conclusion that d divides n: a polynomial q with `n == d * q` by the hypotheses' equations."""
    match goal:
        case Call(name="divides", args=(divisor, multiple)):
            pass
        case Builtin(op=Op.EQ, args=(left, Int(value=0))) if (found := _remainder(left)) is not None:
            multiple, divisor = found
        case _:
            return
    system = System((*question.hypotheses, Builtin(Op.EQ, (divisor, multiple), BOOL)))
    try:
        target, factor = system.poly(multiple), system.poly(divisor)
    except NotPolynomial:
        return
    degree = max(map(sum, target.monoms()), default=0) - max(map(sum, factor.monoms()), default=0)
    if not 0 <= degree <= MAX_DEGREE or len(system.atoms) > MAX_ATOMS:
        return
    equations = [fact for fact in system.facts(question.hypotheses) if fact.relation == "==" and not fact.real]
    monomials = _monomials(system, max(degree, 2 if equations else 0))
    multiples = {
        Summand("==", factor * product): texts
        for product, texts in monomials
        if max(map(sum, product.monoms())) <= degree
    }
    given = [plain(fact) for fact in equations]
    given += [times(fact, product, " * ".join(texts)) for product, texts in monomials if texts for fact in equations]
    used = solution([*multiples, *given], target, strict=False)
    if used is None:
        return
    parts = [(weight, multiples[summand]) for weight, summand in used if summand in multiples]
    if any(weight.denominator != 1 for weight, _ in parts):
        return
    quotient = " + ".join(" * ".join([f"({weight})", *texts]) for weight, texts in parts) or "0"
    yield from dict.fromkeys(line for _, summand in used for line in summand.statements)
    yield f"assert {show(multiple)} == ({show(divisor)}) * ({quotient});"
    yield f"divides_product({show(divisor)}, {quotient});"


def _monomials(system: System, degree: int) -> list[tuple[PolyElement[Any], list[str]]]:
    """The products of up to `degree` atoms, each with the factors as Dafny."""
    return [
        (prod(map(system.poly, chosen), start=system.ring(1)), list(map(show, chosen)))
        for size in range(degree + 1)
        for chosen in combinations_with_replacement(system.atoms, size)
    ]


def _multiples(question: Question) -> _Multiples:
    known = _Multiples()
    for node in ground_nodes((*question.hypotheses, *question.goals)):
        match node:
            case Call(name="gcd", args=(left, right)):
                for argument in (left, right):
                    known.add(node, argument, f"gcd_divides({show(left)}, {show(right)});")
            case Call(name="lcm", args=(left, right)):
                known.lines.setdefault(f"lcm_multiple({show(left)}, {show(right)});")
                known.lines.setdefault(f"gcd_lcm({show(left)}, {show(right)});")
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        match part:
            case Call(name="divides", args=(divisor, multiple)):
                known.add(divisor, multiple, f"assert divides({show(divisor)}, {show(multiple)});")
            case Builtin(op=Op.EQ, args=(left, right)):
                for one, other in ((left, right), (right, left)):
                    _congruence(known, one, other)
    return known


def _congruence(known: _Multiples, one: Term, other: Term) -> None:
    first, second = _remainder(one), _remainder(other)
    if first is None or constant(first[1]) is not None:
        return
    if second is None and constant(other) is not None:
        second = other, first[1]
    if second is None or second[1] != first[1]:
        return
    divisor = first[1]
    difference = simplified(Builtin(Op.SUB, (first[0], second[0]), INT))
    if constant(second[0]) == 0:
        difference = first[0]
    shown = ", ".join(map(show, (first[0], second[0], divisor)))
    known.lines.setdefault(f"if {show(divisor)} > 0 {{ congruent_difference({shown}); }}")
    known.add(divisor, difference, f"assert divides({show(divisor)}, {show(difference)});")


def _remainder(term: Term) -> tuple[Term, Term] | None:
    """(x, m) of `x % m`."""
    match term:
        case Builtin(op=Op.MOD, args=(value, modulus)) | Call(name="imod", args=(value, modulus)):
            return value, modulus
    return None


def _constants(divisor: Term, multiples: list[Term]) -> Iterator[str]:
    """For pairs of multiples with proportional linear parts: the constant that the divisor divides, with its bound."""
    system = System(Builtin(Op.EQ, (term, term), BOOL) for term in (divisor, *multiples))
    for left, right in list(combinations(multiples, 2))[:MAX_PAIRS]:
        try:
            factors = _cancelling(system, left, right)
        except NotPolynomial:
            continue
        if factors is None:
            continue
        x, y, value = factors
        given = (divisor, left, right, Int(x), Int(y))
        yield f"divides_linear({', '.join(map(show, given))});"
        yield f"assert ({x}) * ({show(left)}) + ({y}) * ({show(right)}) == {value};"
        yield f"assert divides({show(divisor)}, {value});"
        yield f"divides_bound({show(divisor)}, {value});"


def _cancelling(system: System, left: Term, right: Term) -> tuple[int, int, int] | None:
    """Whole x, y and a constant above 0 with `x * left + y * right == constant`; None if there are none."""
    first, second = system.poly(left), system.poly(right)
    origin = (0,) * system.ring.ngens
    linear = [{m: fraction(c) for m, c in poly.terms() if m != origin} for poly in (first, second)]
    if not linear[0] or linear[0].keys() != linear[1].keys():
        return None
    ratios = {linear[1][m] / linear[0][m] for m in linear[0]}
    if len(ratios) != 1:
        return None
    (ratio,) = ratios
    x, y = ratio, Fraction(-1)
    scale = lcm(x.denominator, y.denominator)
    x, y = x * scale, y * scale
    value = fraction(first.coeff(1)) * x + fraction(second.coeff(1)) * y
    if value == 0 or value.denominator != 1:
        return None
    sign = 1 if value > 0 else -1
    return int(x) * sign, int(y) * sign, int(value) * sign
