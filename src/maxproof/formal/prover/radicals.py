"""Nested square roots and fractional powers: `sqrt(a + b * sqrt(c))` as a sum of roots, powers as roots.

sqrt(a + b * sqrt(c)) == sqrt((a + d) / 2) +- sqrt((a - d) / 2)   where d * d == a * a - b * b * c (Euclid, X)
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

from maxproof.formal.embedded.core import REAL, Builtin, Call, Int, Op, Real, Term
from maxproof.formal.prover.library import Calls
from maxproof.formal.prover.polynomials import NotPolynomial, System, constant, fraction, is_real
from maxproof.formal.prover.question import Proposal, Question, ground_nodes

MAX_DENOMINATOR = 6
HALF = Fraction(1, 2)


def radicals(question: Question) -> Iterator[Proposal]:
    """Library lemma calls for the roots and powers of the statement."""
    calls = Calls(question)
    for node in ground_nodes((*question.hypotheses, *question.goals)):
        match node:
            case Call(name="sqrt", args=(inner,)):
                _root(calls, inner)
            case Call(name="rpow", args=(base, exponent)) if (value := constant(exponent)) is not None:
                _power(calls, base, value)
    yield from calls.proposals("radicals", cost=3)


def _root(calls: Calls, radicand: Term) -> None:
    root = simple_root(radicand)
    if root is not None:
        calls.add("sqrt_unique", radicand, root)


def _power(calls: Calls, base: Term, exponent: Fraction) -> None:
    """`base` to a positive rational exponent: whole part and root apart."""
    whole = exponent.numerator // exponent.denominator
    rest = exponent - whole
    if exponent <= 0 or exponent.denominator > MAX_DENOMINATOR:
        return
    if whole:
        calls.add("rpow_natural", base, Int(whole))
    if whole and rest:
        calls.add("rpow_add", base, Real(Fraction(whole)), Real(rest))
    if rest == HALF:
        calls.add("rpow_half", base)
        _root(calls, base)
    elif rest:
        root = Call("rpow", (base, Real(rest)), REAL)
        calls.add("rpow_positive", base, Real(rest))
        calls.add("rpow_of_power", base, Real(rest), Real(Fraction(rest.denominator)))
        calls.add("rpow_natural", root, Int(rest.denominator))


def simple_root(radicand: Term) -> Term | None:
    """The root of `a + b * sqrt(c)` as a sum of roots of rational numbers; None where there is none."""
    system = System([Builtin(Op.EQ, (radicand, radicand), REAL)])
    roots = [atom for atom in system.atoms if isinstance(atom, Call) and atom.name == "sqrt"]
    inner = constant(roots[0].args[0]) if len(roots) == 1 else None
    if inner is None or len(system.atoms) != 1 or not is_real(radicand):
        return None
    try:
        poly = system.poly(radicand)
    except NotPolynomial:
        return None
    if poly.degree() != 1:
        return None
    a, b = fraction(poly.coeff(1)), fraction(poly.coeff(system.poly(roots[0])))
    square = a * a - b * b * inner
    d = _square_root(square)
    if d is None or a <= 0:
        return None
    parts = [_literal_root((a + d) / 2), _literal_root((a - d) / 2)]
    return Builtin(Op.ADD if b > 0 else Op.SUB, tuple(parts), REAL)


def _square_root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    found = Fraction(top, bottom)
    return found if found * found == value else None


def _literal_root(value: Fraction) -> Term:
    exact = _square_root(value)
    return Real(exact) if exact is not None else Call("sqrt", (Real(value),), REAL)
