"""Case splits: factors of an equation, values of a bounded variable, residues.

Every split covers all cases by what the checker is told or can see; within each case the polynomial conclusions are
closed by certificates where they can be, and left to the checker otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any

from sympy.polys.rings import PolyElement

from maxproof.formal.embedded.core import Call, Invoke, Term
from maxproof.formal.embedded.core.show import show
from maxproof.formal.prover.algebra import asserted
from maxproof.formal.prover.certificates import combination, refutation, summands
from maxproof.formal.prover.polynomials import Fact, System, factors_of, fraction, is_real, single_atom
from maxproof.formal.prover.question import Proposal, Question

MAX_CASES = 128
MAX_TERMS = 12
MAX_EQUATIONS = 8
_LEVELS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its condition in Dafny, and the facts that it gives."""

    condition: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Cases that cover everything once `lines` are proved."""

    lines: tuple[str, ...]
    cases: tuple[Case, ...]


def cases(question: Question) -> Iterator[Proposal]:
    """Bodies that split once or twice and close every case."""
    terms = question.consequences
    system = System((*question.hypotheses, *terms, *question.goals))
    facts = [*system.facts(question.hypotheses), *asserted(system, terms), *system.atom_facts()]
    polynomial = [(goal, fact) for goal in question.conclusions if (fact := system.fact(goal)) is not None]
    splits = [*factor_splits(system, facts), *value_splits(system, facts)]
    for number, split in enumerate(splits):
        lines, closed = _closed(system, facts, split, polynomial, question.goals, [])
        yield Proposal("cases", tuple(lines), cost=(4 if closed else 8) + number)
    for number, split in enumerate(splits):
        rest = [other for other in splits if other is not split]
        if rest and len(split.cases) * len(rest[0].cases) <= MAX_CASES:
            lines, closed = _closed(system, facts, split, polynomial, question.goals, rest)
            yield Proposal("cases-twice", tuple(lines), cost=(6 if closed else 12) + number)


def _closed(
    system: System,
    facts: Sequence[Fact],
    split: Split,
    goals: Sequence[tuple[Term, Fact]],
    conclusions: Sequence[Term],
    inner: Sequence[Split],
) -> tuple[list[str], bool]:
    """The lines of a split with the proof of each case, and whether a certificate closed all of them."""
    everything = True
    branches: list[str] = []
    for case in split.cases:
        known = [*case.facts, *facts]
        body = _by_certificate(system, known, goals)
        if body is None and inner:
            lines, closed = _closed(system, known, inner[0], goals, conclusions, inner[1:2])
            body = lines if closed else []
            everything = everything and closed
        elif body is None:
            body, everything = [f"assert {show(goal)};" for goal in conclusions], False
        branches.append(f"if {case.condition} {{ {' '.join([*_as_whole(system, case.facts), *body])} }}")
    return [*split.lines, " else ".join(branches)], everything


def _as_whole(system: System, facts: Sequence[Fact]) -> Iterator[str]:
    """Real equations between whole numbers, stated of these."""
    for fact in facts:
        used = [atom for place, atom in enumerate(system.atoms) if any(m[place] for m in fact.poly.monoms())]
        if fact.real and fact.relation == "==" and used and not any(map(is_real, used)):
            yield f"assert {text_of(system, fact.poly, False)} == 0;"


def _by_certificate(system: System, facts: Sequence[Fact], goals: Sequence[tuple[Term, Fact]]) -> list[str] | None:
    candidates = summands(system, facts, 0)
    for fact in facts:
        used = combination(candidates, fact.poly) if fact.relation == "!=" else None
        if used is not None:
            return [*dict.fromkeys(line for summand in used for line in summand.statements), "assert false;"]
    if not goals:
        return None
    lines: list[str] = []
    for goal, fact in goals:
        proof = next((p for level in _LEVELS if (p := refutation(system, facts, fact, level)) is not None), None)
        if proof is None:
            return None
        lines += [*proof, f"assert {show(goal)};"]
    return list(dict.fromkeys(lines))


def factor_splits(system: System, facts: Sequence[Fact]) -> Iterator[Split]:
    """An equation whose difference has factors: one of them is 0. Differences of two equations are tried too."""
    for fact in (*facts, *differences(system, facts)):
        if fact.relation != "==" or not fact.poly or len(fact.poly) > 60:
            continue
        factors = factors_of(fact.poly)
        distinct = [factor for factor, _ in factors]
        if len(distinct) < 2 or len(distinct) > 6:
            continue
        pieces = [_cleared(factor) for factor in distinct]
        texts = [f"({text_of(system, piece, fact.real)})" for piece in pieces]
        name = "real_zero_product" if fact.real else "int_zero_product"
        lines = [fact.statement] if fact.statement else []
        for index in range(len(pieces) - 1):
            powers = " * ".join(
                " * ".join([text] * power)
                for text, (_, power) in zip(texts[index + 1 :], factors[index + 1 :], strict=True)
            )
            own = " * ".join([texts[index]] * factors[index][1])
            lines.append(f"{name}({own}, {powers});")
        cases_ = [
            Case(f"{text} == {fact.zero}", (Fact("==", piece, text, fact.real),))
            for piece, text in zip(pieces, texts, strict=True)
        ]
        yield Split(tuple(lines), tuple(cases_))


def _cleared(poly: PolyElement[Any]) -> PolyElement[Any]:
    """The polynomial times the least number that makes its coefficients whole."""
    return poly.clear_denoms()[1]


def differences(system: System, facts: Sequence[Fact]) -> list[Fact]:
    """What is left of equations when values of functions are put in, and differences of those that share an atom."""
    equalities = [fact for fact in facts if fact.relation == "==" and len(fact.poly) <= MAX_TERMS][:MAX_EQUATIONS]
    applied = [atom for atom in system.atoms if isinstance(atom, Call | Invoke)]
    without = list(_cancelled(system, equalities, applied))[:MAX_EQUATIONS]
    return [*without, *_cancelled(system, [*equalities, *without], system.atoms)]


def _cancelled(system: System, equalities: Sequence[Fact], atoms: Sequence[Term]) -> Iterator[Fact]:
    for one, other in combinations(equalities, 2):
        for atom in atoms:
            monomial = system.poly(atom).leading_expv()
            first, second = one.poly.get(monomial, 0), other.poly.get(monomial, 0)
            if one.real != other.real or not first or not second:
                continue
            scale = fraction(first / second)
            whole = one.real or scale.denominator == 1
            if whole and _linear_in(one, monomial) and _linear_in(other, monomial):
                number = f"{scale.numerator}.0 / {scale.denominator}.0" if one.real else str(scale.numerator)
                poly = one.poly - other.poly * (first / second)
                statement = " ".join(fact.statement for fact in (one, other) if fact.statement)
                yield Fact("==", poly, f"({one.text}) - ({number}) * ({other.text})", one.real, statement)


def _linear_in(fact: Fact, monomial: tuple[int, ...]) -> bool:
    """The atom of that monomial occurs in no other one."""
    place = monomial.index(1)
    return sum(1 for other in fact.poly.monoms() if other[place]) == 1


def value_splits(system: System, facts: Sequence[Fact]) -> Iterator[Split]:
    """An int between two numbers: each of its values."""
    for atom, (low, high) in integer_bounds(system, facts).items():
        if not 2 <= high - low + 1 <= MAX_CASES:
            continue
        text = show(atom)
        generator = system.poly(atom)
        yield Split(
            (),
            tuple(
                Case(f"{text} == {value}", (Fact("==", generator - value, f"{text} - ({value})", False),))
                for value in range(low, high + 1)
            ),
        )


def integer_bounds(system: System, facts: Sequence[Fact]) -> dict[Term, tuple[int, int]]:
    """The int atoms that lie between two numbers by facts in that atom alone."""
    low, high = _bounds(system, facts)
    return {atom: (ceil(low[atom]), floor(high[atom])) for atom in system.atoms if atom in low and atom in high}


def integer_bounds_below(system: System, facts: Sequence[Fact]) -> dict[Term, Fraction]:
    """The greatest lower bound that facts in one int atom alone give it."""
    return _bounds(system, facts)[0]


def _bounds(system: System, facts: Sequence[Fact]) -> tuple[dict[Term, Fraction], dict[Term, Fraction]]:
    low: dict[Term, Fraction] = {}
    high: dict[Term, Fraction] = {}
    for fact in facts:
        if fact.relation not in (">=", "==", ">") or fact.real:
            continue
        found = single_atom(system, fact.poly)
        if found is None or is_real(found[0]):
            continue
        atom, slope, constant = found
        bound = -constant / slope
        if slope > 0 or fact.relation == "==":
            low[atom] = max(low.get(atom, bound), bound)
        if slope < 0 or fact.relation == "==":
            high[atom] = min(high.get(atom, bound), bound)
    return low, high


def text_of(system: System, poly: PolyElement[Any], real: bool) -> str:
    """A polynomial with whole coefficients as a Dafny expression."""
    parts: list[str] = []
    for monomial, coefficient in poly.terms():
        value = fraction(coefficient)
        factors = [
            shown_as(atom, real) for atom, power in zip(system.atoms, monomial, strict=True) for _ in range(power)
        ]
        number = f"{abs(value).numerator}.0" if real else str(abs(value).numerator)
        if abs(value) != 1 or not factors:
            factors.insert(0, number)
        parts.append((" - " if value < 0 else " + ") + " * ".join(factors))
    text = "".join(parts).strip()
    return text.removeprefix("+ ") if parts else ("0.0" if real else "0")


def shown_as(atom: Term, real: bool) -> str:
    """An atom as Dafny, cast where a whole number stands in a real polynomial."""
    return f"({show(atom)} as real)" if real and not is_real(atom) else show(atom)
