"""Statements as polynomial facts: what the algebraic strategies work on.

    system = System.of(lemma)
    system.facts       # hypotheses: polynomial == 0, >= 0 or > 0
    system.goals       # conclusions, likewise

A term that is no sum or product (a call such as `sqrt(x)` or `f(2)`, a quotient by a variable) is an atom: one more
variable. What holds of such an atom whatever its arguments are (a square root is not negative) is a fact too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sympy import QQ
from sympy.polys.rings import PolyElement, ring

from maxproof.formal.embedded.core import (
    INT,
    NAT,
    REAL,
    Builtin,
    Call,
    Int,
    Op,
    Real,
    Sort,
    Term,
)
from maxproof.formal.embedded.core.show import show

Relation = Literal["==", ">=", ">", "!="]

MAX_EXPANDED_POWER = 12
MAX_TERMS = 2000
_POWERS = {"ipow", "pow"}


class NotPolynomial(Exception):
    """A term whose expansion is too large, or of a sort that has no polynomials."""


@dataclass(frozen=True, slots=True)
class Fact:
    """`poly` stands in `relation` to 0.

    Attributes:
        text: the same difference as a Dafny expression.
        real: its sort is real; otherwise int.
        statement: what makes a checker know it: "" where it is a hypothesis.
    """

    relation: Relation
    poly: PolyElement[Any]
    text: str
    real: bool
    statement: str = ""

    @property
    def zero(self) -> str:
        return "0.0" if self.real else "0"


def conjuncts(term: Term) -> Iterator[Term]:
    """The parts of a conjunction, innermost first to last."""
    if isinstance(term, Builtin) and term.op is Op.AND:
        for arg in term.args:
            yield from conjuncts(arg)
    else:
        yield term


def relation_of(term: Term) -> tuple[Relation, Term, Term] | None:
    """(relation, left, right) such that `left - right` stands in the relation to 0; None for anything else."""
    if not isinstance(term, Builtin):
        return None
    if term.op is Op.NOT:
        inner = relation_of(term.args[0])
        if inner is None:
            return None
        relation, left, right = inner
        if relation == "==":
            return "!=", left, right
        if relation == "!=":
            return "==", left, right
        return (">" if relation == ">=" else ">="), right, left
    if term.op is Op.EQ and is_number(term.args[0].sort):
        return "==", term.args[0], term.args[1]
    if term.op in (Op.LE, Op.LT) and is_number(term.args[0].sort):
        return (">=" if term.op is Op.LE else ">"), term.args[1], term.args[0]
    return None


def is_number(sort: Sort) -> bool:
    return sort in (INT, NAT, REAL)


def is_real(term: Term) -> bool:
    return term.sort == REAL


def _power(term: Call) -> int | None:
    exponent = term.args[1] if len(term.args) == 2 else None
    if term.name in _POWERS and isinstance(exponent, Int) and 0 <= exponent.value <= MAX_EXPANDED_POWER:
        return exponent.value
    return None


def _constant_divisor(term: Builtin) -> Fraction | None:
    if term.op is Op.DIV and term.sort == REAL:
        divisor = constant(term.args[1])
        return divisor or None
    return None


def constant(term: Term) -> Fraction | None:
    """The value of a literal, also a negated or divided one."""
    if isinstance(term, Int | Real):
        return Fraction(term.value)
    if isinstance(term, Builtin):
        if term.op is Op.NEG or term.op is Op.TO_REAL:
            inner = constant(term.args[0])
            return None if inner is None else -inner if term.op is Op.NEG else inner
        if term.op is Op.DIV and term.sort == REAL:
            top, bottom = constant(term.args[0]), constant(term.args[1])
            return top / bottom if top is not None and bottom else None
    return None


def atoms_of(term: Term, found: dict[Term, None]) -> None:
    """Adds the atoms of a number term to `found`, in order of appearance."""
    if constant(term) is not None:
        return
    if isinstance(term, Builtin):
        if term.op in (Op.NEG, Op.ADD, Op.SUB, Op.MUL, Op.TO_REAL):
            for arg in term.args:
                atoms_of(arg, found)
            return
        if _constant_divisor(term) is not None:
            atoms_of(term.args[0], found)
            return
    if isinstance(term, Call) and _power(term) is not None:
        atoms_of(term.args[0], found)
        return
    found.setdefault(term)
    for argument in _known_arguments(term):
        atoms_of(argument, found)


def _known_arguments(term: Term) -> tuple[Term, ...]:
    """Arguments of an atom about which something is known in terms of them."""
    if isinstance(term, Call) and term.name in ("sqrt", "rabs", "iabs", "rdiv"):
        return term.args
    if isinstance(term, Builtin) and term.op in (Op.DIV, Op.MOD):
        return term.args
    return ()


class System:
    """Polynomial facts over the atoms of one statement."""

    def __init__(self, terms: Iterable[Term]) -> None:
        found: dict[Term, None] = {}
        for term in terms:
            for part in conjuncts(term):
                related = relation_of(part)
                if related is not None:
                    atoms_of(related[1], found)
                    atoms_of(related[2], found)
        self.atoms: tuple[Term, ...] = tuple(found)
        names = [f"v{i}" for i in range(len(self.atoms))] or ["unused"]
        self.ring, *generators = ring(names, QQ)
        self._generator = dict(zip(self.atoms, generators, strict=False))

    def poly(self, term: Term) -> PolyElement[Any]:
        """The polynomial of a number term. Raises NotPolynomial when it grows beyond `MAX_TERMS` terms."""
        value = constant(term)
        if value is not None:
            return self.ring(QQ(value.numerator, value.denominator))
        result = self._composed(term)
        if result is None:
            if term not in self._generator:
                raise NotPolynomial(show(term))
            return self._generator[term]
        if len(result) > MAX_TERMS:
            raise NotPolynomial(f"{len(result)} terms")
        return result

    def _composed(self, term: Term) -> PolyElement[Any] | None:
        if isinstance(term, Builtin):
            if term.op is Op.NEG:
                return -self.poly(term.args[0])
            if term.op is Op.TO_REAL:
                return self.poly(term.args[0])
            if term.op in (Op.ADD, Op.SUB, Op.MUL):
                left, right = (self.poly(arg) for arg in term.args)
                if term.op is Op.MUL:
                    if len(left) * len(right) > MAX_TERMS * 4:
                        raise NotPolynomial("a product of large sums")
                    return left * right
                return left + right if term.op is Op.ADD else left - right
            divisor = _constant_divisor(term)
            if divisor is not None:
                return self.poly(term.args[0]) * QQ(divisor.denominator, divisor.numerator)
        if isinstance(term, Call):
            exponent = _power(term)
            if exponent is not None:
                base = self.poly(term.args[0])
                if len(base) ** exponent > MAX_TERMS * 4:
                    raise NotPolynomial("a large power")
                return base**exponent
        return None

    def fact(self, term: Term) -> Fact | None:
        """The fact that a comparison states; None if it is none, or no polynomial."""
        related = relation_of(term)
        if related is None:
            return None
        relation, left, right = related
        try:
            poly = self.poly(left) - self.poly(right)
        except NotPolynomial:
            return None
        real = is_real(left)
        if not real and relation == ">":
            return Fact(">=", poly - 1, f"({show(left)}) - ({show(right)}) - 1", False)
        zero = constant(right) == 0
        text = show(left) if zero else f"({show(left)}) - ({show(right)})"
        return Fact(relation, poly, text, real)

    def facts(self, terms: Iterable[Term]) -> list[Fact]:
        """All facts of a list of conjunctions, in order."""
        parts = (part for term in terms for part in conjuncts(term))
        return [fact for fact in map(self.fact, parts) if fact is not None]

    def atom_facts(self) -> list[Fact]:
        """What holds of the atoms by themselves, wherever they are defined.

        Facts that need a condition (a divisor that isn't 0, a radicand that isn't negative) are given too: whoever uses
        one in a proof meets the condition when the proof is checked.
        """
        facts: list[Fact] = []
        for atom in self.atoms:
            facts += self.about(atom)
        return facts

    def about(self, atom: Term) -> Iterator[Fact]:
        """What holds of one atom, as `atom_facts` has it."""
        generator, text, real = self._generator[atom], show(atom), is_real(atom)
        if atom.sort == NAT:
            yield Fact(">=", generator, text, False)
        try:
            if isinstance(atom, Call) and atom.name == "sqrt":
                radicand = atom.args[0]
                yield Fact(">=", generator, text, True)
                yield Fact("==", generator**2 - self.poly(radicand), f"{text} * {text} - ({show(radicand)})", True)
            elif isinstance(atom, Call) and atom.name in ("rabs", "iabs"):
                inner = show(atom.args[0])
                argument = self.poly(atom.args[0])
                yield Fact(">=", generator - argument, f"{text} - ({inner})", real)
                yield Fact(">=", generator + argument, f"{text} + ({inner})", real)
                yield Fact("==", generator**2 - argument**2, f"{text} * {text} - ({inner}) * ({inner})", real)
            elif isinstance(atom, Call) and atom.name == "rdiv":
                top, bottom = atom.args
                product = generator * self.poly(bottom) - self.poly(top)
                yield Fact("==", product, f"{text} * ({show(bottom)}) - ({show(top)})", True)
        except NotPolynomial:
            return


def single_atom(system: System, poly: PolyElement[Any]) -> tuple[Term, Fraction, Fraction] | None:
    """(atom, slope, constant) of a linear polynomial in one atom."""
    atom: Term | None = None
    slope, constant = Fraction(0), Fraction(0)
    for monomial, coefficient in poly.terms():
        value = fraction(coefficient)
        if sum(monomial) == 0:
            constant = value
        elif sum(monomial) == 1 and atom is None:
            atom, slope = system.atoms[monomial.index(1)], value
        else:
            return None
    return None if atom is None else (atom, slope, constant)


def fraction(value: Any) -> Fraction:
    """A coefficient as a Python fraction."""
    exact = QQ.to_sympy(value)
    return Fraction(int(exact.p), int(exact.q))


def factors_of(poly: PolyElement[Any]) -> list[tuple[PolyElement[Any], int]]:
    """The irreducible factors over the rationals, with their multiplicities; in the variables that occur only."""
    used = [place for place in range(poly.ring.ngens) if any(monomial[place] for monomial in poly.monoms())]
    if not used:
        return []
    small, *_ = ring([str(poly.ring.gens[place]) for place in used], QQ)
    reduced = small.from_dict({tuple(m[place] for place in used): c for m, c in poly.terms()})
    found: list[tuple[PolyElement[Any], int]] = []
    for factor, times in reduced.factor_list()[1]:
        whole: dict[tuple[int, ...], Any] = {}
        for monomial, coefficient in factor.terms():
            powers = dict(zip(used, monomial, strict=True))
            whole[tuple(powers.get(place, 0) for place in range(poly.ring.ngens))] = coefficient
        found.append((poly.ring.from_dict(whole), times))
    return found
