"""Certificates: why polynomial facts contradict each other, as a sum that can be checked line by line.

Positivstellensatz in small degree: equalities times terms, products of inequalities and squares are added up with
multipliers (non-negative ones for inequalities) so that the sum is 0 and some strict inequality takes part. Finding the
multipliers is a linear programme over the rationals. What takes part becomes a lemma call in the proof, and what is
left for the checker is linear arithmetic over monomials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import z3
from sympy import QQ
from sympy.polys.rings import PolyElement

from maxproof.formal.embedded.core.show import show
from maxproof.formal.prover.polynomials import Fact, System, is_real

_RESOURCE = 4_000_000
_MAX_SUMMANDS = 500
_MAX_ROOTS = 100
_MAX_MONOMIALS = 1000
_MAX_ENTRIES = 6000  # of the linear programme's matrix


@dataclass(frozen=True, slots=True)
class Summand:
    """A polynomial fact with the statements that make a checker know it; none where it knows it already."""

    relation: str
    poly: PolyElement[Any]
    statements: tuple[str, ...] = ()


def _prefix(real: bool) -> str:
    return "real" if real else "int"


def plain(fact: Fact) -> Summand:
    """A fact as it stands."""
    return Summand(fact.relation, fact.poly, _known(fact))


def _known(*facts: Fact) -> tuple[str, ...]:
    return tuple(fact.statement for fact in facts if fact.statement)


def times(fact: Fact, factor: PolyElement[Any], text: str) -> Summand:
    """An equality times any factor."""
    call = f"{_prefix(fact.real)}_mul_zero({text}, {fact.text});"
    return Summand("==", fact.poly * factor, (*_known(fact), call))


def product(left: Fact, right: Fact) -> Summand:
    """The product of two inequalities."""
    strict = left.relation == right.relation == ">"
    name = "mul_positive" if strict else "mul_nonnegative"
    call = f"{_prefix(left.real)}_{name}({left.text}, {right.text});"
    return Summand(">" if strict else ">=", left.poly * right.poly, (*_known(left, right), call))


def square(poly: PolyElement[Any], text: str, real: bool) -> Summand:
    """A square is not negative."""
    return Summand(">=", poly**2, (f"{_prefix(real)}_square_nonnegative({text});",))


def scaled_square(fact: Fact, poly: PolyElement[Any], text: str) -> Summand:
    """An inequality times a square."""
    call = f"{_prefix(fact.real)}_mul_square_nonnegative({fact.text}, {text});"
    return Summand(">=", fact.poly * poly**2, (*_known(fact), call))


def squares_of(system: System, real: bool) -> Iterator[tuple[PolyElement[Any], str]]:
    """Terms whose squares are tried: atoms, and sums and differences of two of them and of an atom and 1."""
    atoms = [(system.poly(atom), show(atom)) for atom in system.atoms if is_real(atom) == real]
    one = "1.0" if real else "1"
    for poly, text in atoms:
        yield poly, text
    for (left, left_text), (right, right_text) in combinations(atoms, 2):
        yield left - right, f"({left_text}) - ({right_text})"
        yield left + right, f"({left_text}) + ({right_text})"
    for poly, text in atoms:
        yield poly - 1, f"({text}) - {one}"
        yield poly + 1, f"({text}) + {one}"


def summands(system: System, facts: Sequence[Fact], level: int) -> list[Summand]:
    """What may be added up. Level 0: the facts; 1: products of low degree; 2: more of them; 3: of higher degree.

    `facts` come most important first: products of later ones are left out when there are too many.
    """
    return list(islice(_summands(system, facts, level), _MAX_SUMMANDS))


def _summands(system: System, facts: Sequence[Fact], level: int) -> Iterator[Summand]:
    yield from (plain(fact) for fact in facts if fact.relation != "!=")
    if level == 0:
        return
    inequalities = [fact for fact in facts if fact.relation in (">=", ">")][: 8 if level == 1 else 14]
    factors = [(system.poly(atom), show(atom), is_real(atom)) for atom in system.atoms]
    for fact in (fact for fact in facts if fact.relation == "=="):
        usable = [(poly, text) for poly, text, real in factors if real == fact.real]
        yield from (times(fact, poly, text) for poly, text in usable)
        if level >= 2:
            for i, (a, a_text) in enumerate(usable):
                yield from (times(fact, a * b, f"({a_text}) * ({b_text})") for b, b_text in usable[i:])
        if level >= 3:
            yield from (times(fact, a**3, f"({text}) * ({text}) * ({text})") for a, text in usable)
    yield from (product(a, b) for a, b in combinations(inequalities, 2) if a.real == b.real)
    yield from (product(a, a) for a in inequalities)
    for real in (True, False):
        roots = list(islice(squares_of(system, real), _MAX_ROOTS))
        yield from (square(poly, text, real) for poly, text in roots)
        if level >= 2:
            for fact in inequalities[:6]:
                if fact.real == real:
                    yield from (scaled_square(fact, poly, text) for poly, text in roots[:16])
        if level >= 3:
            for (a, at), (b, bt) in combinations(roots[:6], 2):
                for (c, ct), (d, dt) in combinations(roots[:6], 2):
                    yield square(a * c - b * d, f"({at}) * ({ct}) - ({bt}) * ({dt})", real)
            positive = [fact for fact in inequalities[:6] if fact.real == real]
            for one, two, three in combinations(positive, 3):
                pair = Fact(">=", one.poly * two.poly, f"({one.text}) * ({two.text})", real)
                whole = product(pair, three)
                yield replace(whole, statements=(*product(one, two).statements, *whole.statements))


def contradiction(candidates: Sequence[Summand]) -> list[Summand] | None:
    """The candidates that take part in a certificate of contradiction; None if none was found.

    The sum is to be minus a non-negative constant, which counts as strict where it is positive.
    """
    if not candidates:
        return None
    one = candidates[0].poly.ring(1)
    used = _weighted([*candidates, Summand(">", one)], one * 0, strict=True)
    return None if used is None else [summand for summand in used if summand.statements or summand.poly != one]


def combination(candidates: Sequence[Summand], target: PolyElement[Any]) -> list[Summand] | None:
    """The equalities among the candidates of which `target` is a linear combination; None if it is none."""
    return _weighted([summand for summand in candidates if summand.relation == "=="], target, strict=False)


def value(candidates: Sequence[Summand], atom: PolyElement[Any]) -> tuple[Fraction, list[Summand]] | None:
    """The one value that equalities among the candidates leave for `atom`, with those that take part."""
    one = atom.ring(1)
    equalities = [summand for summand in candidates if summand.relation == "=="]
    used = solution([*equalities, Summand("==", one)], atom, strict=False)
    if used is None:
        return None
    constant = sum((weight for weight, summand in used if summand.poly == one and not summand.statements), Fraction(0))
    return constant, [summand for _, summand in used if summand.statements or summand.poly != one]


def _weighted(candidates: Sequence[Summand], target: PolyElement[Any], *, strict: bool) -> list[Summand] | None:
    """The candidates with a multiplier other than 0 in some weighted sum that equals `target`."""
    used = solution(candidates, target, strict=strict)
    return None if used is None else [summand for _, summand in used]


def solution(
    candidates: Sequence[Summand], target: PolyElement[Any], *, strict: bool
) -> list[tuple[Fraction, Summand]] | None:
    """Multipliers other than 0 with their candidates, whose weighted sum equals `target`.

    Multipliers of inequalities are not negative; with `strict` those of strict inequalities add up to 1.
    """
    rows: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
    for index, summand in enumerate(candidates):
        for monomial, coefficient in summand.poly.terms():
            rows.setdefault(monomial, []).append((index, coefficient))
    wanted = dict(target.terms())
    size = sum(map(len, rows.values()))
    if len(rows) > _MAX_MONOMIALS or size > _MAX_ENTRIES or wanted.keys() - rows.keys():
        return None
    context = z3.Context()
    multipliers = [z3.Real(f"m{i}", context) for i in range(len(candidates))]
    solver = z3.SolverFor("QF_LRA", ctx=context)
    solver.set("rlimit", _RESOURCE)
    positive = []
    for multiplier, summand in zip(multipliers, candidates, strict=True):
        if summand.relation != "==":
            solver.add(multiplier >= 0)
        if summand.relation == ">":
            positive.append(multiplier)
    if strict:
        solver.add(z3.Sum(positive) == 1)
    for monomial, entries in sorted(rows.items()):
        total = z3.Sum([multipliers[index] * _number(value, context) for index, value in entries])
        solver.add(total == _number(wanted.get(monomial, QQ(0)), context))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    weights = (Fraction(model.eval(m, model_completion=True).as_fraction()) for m in multipliers)
    return [(weight, summand) for weight, summand in zip(weights, candidates, strict=True) if weight]


def _number(value: Any, context: z3.Context) -> z3.RatNumRef:
    exact = QQ.to_sympy(value)
    return z3.RealVal(f"{exact.p}/{exact.q}", context)


def negations(system: System, goal: Fact) -> list[tuple[str, Fact]]:
    """The ways in which a goal can fail, each as a condition in Dafny and the fact that it gives.

    Together they cover the negation: one for an inequality, two for an equality, one (an equality) for `!=`.
    """
    zero, one = goal.zero, system.ring(1)
    below = f"{goal.text} < {zero}"
    above = f"{goal.text} > {zero}"
    if goal.relation == "!=":
        return [(f"{goal.text} == {zero}", Fact("==", goal.poly, goal.text, goal.real))]
    if goal.real:
        less = Fact(">", -goal.poly, f"-({goal.text})", True)
        more = Fact(">", goal.poly, goal.text, True)
    else:
        less = Fact(">=", -goal.poly - one, f"-({goal.text}) - 1", False)
        more = Fact(">=", goal.poly - one, f"({goal.text}) - 1", False)
    if goal.relation == "==":
        return [(below, less), (above, more)]
    if goal.relation == ">=":
        return [(below, less)]
    return [(f"{goal.text} <= {zero}", Fact(">=", -goal.poly, f"-({goal.text})", True))]


def refutation(system: System, facts: Sequence[Fact], goal: Fact, level: int) -> list[str] | None:
    """Statements of a proof of `goal` from `facts`; None if no certificate of this level was found.

    A linear combination of the equalities is tried first, where the goal is one; else each way in which the goal can
    fail is led to a contradiction.
    """
    if goal.relation == "==":
        used = combination(summands(system, facts, level), goal.poly)
        if used is not None:
            return _statements(used)
    lines: list[str] = []
    for condition, negated in negations(system, goal):
        used = contradiction(summands(system, [negated, *facts], level))
        if used is None:
            return None
        lines.append(f"if {condition} {{ {' '.join([*_statements(used), 'assert false;'])} }}")
    return lines


def _statements(used: Sequence[Summand]) -> list[str]:
    return list(dict.fromkeys(statement for summand in used for statement in summand.statements))
