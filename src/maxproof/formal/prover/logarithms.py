"""Logarithms and real powers taken apart: what is left is linear in logarithms of primes and of variables.

`log` of a product, quotient, power or root becomes a sum, `logb` a quotient of logarithms, and an equation between
positive terms with real powers becomes the equation of their logarithms. Every step is a library lemma.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sympy import factorint

from maxproof.formal.embedded.core import REAL, Builtin, Call, Int, Op, Real, Term
from maxproof.formal.embedded.core.walk import subnodes
from maxproof.formal.prover.library import Calls
from maxproof.formal.prover.polynomials import conjuncts, constant, relation_of
from maxproof.formal.prover.question import Proposal, Question, ground_nodes

MAX_FACTORS = 40
MAX_LITERAL = 10**15


def logarithms(question: Question) -> Iterator[Proposal]:
    """The lemma calls, alone and with certificates."""
    calls = _Logarithms(question)
    for node in ground_nodes((*question.hypotheses, *question.goals)):
        if isinstance(node, Call):
            calls.about(node)
    for term in (*question.hypotheses, *question.goals):
        for part in conjuncts(term):
            calls.equation(part)
    yield from calls.proposals("logarithms", cost=3)


class _Logarithms(Calls):
    """Collects calls; each term is taken apart once."""

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self._seen: set[Term] = set()

    def about(self, node: Call) -> None:
        match node.name, node.args:
            case "log", (inner,):
                self.log(inner)
            case "logb", (base, inner):
                self.add("logb_as_quotient", base, inner)
                self.add("log_sign", base)
                self.log(base)
                self.log(inner)
            case "rpow", (base, exponent):
                self.add("rpow_positive", base, exponent)
                self.log(base)

    def equation(self, term: Term) -> None:
        """Equal positive terms have equal logarithms, and the other way round."""
        related = relation_of(term)
        if related is None or related[0] not in ("==", "!=") or related[1].sort != REAL or not self._found:
            return
        if not all(_powers(side) or self._evident.positive(side) for side in related[1:]):
            return
        self.log(related[1])
        self.log(related[2])
        self.add("log_monotone", related[1], related[2])

    def log(self, term: Term) -> None:
        """Adds what takes `log(term)` apart."""
        if term in self._seen:
            return
        self._seen.add(term)
        value = constant(term)
        if value is not None:
            self._literal(value)
            return
        match term:
            case Builtin(op=Op.MUL, args=(left, right)):
                self._parts("log_product", left, right)
            case Builtin(op=Op.DIV, args=(left, right)) | Call(name="rdiv", args=(left, right)):
                self._parts("log_quotient", left, right)
            case Call(name="logb", args=(base, inner)):
                self._parts("log_quotient", Call("log", (inner,), REAL), Call("log", (base,), REAL))
            case Call(name="sqrt", args=(inner,)):
                self.log(inner)
                self.add("log_sqrt", inner)
            case Call(name="pow", args=(base, exponent)):
                self.log(base)
                self.add("log_power", base, exponent)
            case Call(name="rpow", args=(base, exponent)):
                self.log(base)
                self.add("rpow_positive", base, exponent)
            case _:
                self.add("log_sign", term)

    def _parts(self, lemma: str, left: Term, right: Term) -> None:
        self.log(left)
        self.log(right)
        self.add(lemma, left, right)

    def _literal(self, value: Fraction) -> None:
        if value <= 0 or max(value.numerator, value.denominator) > MAX_LITERAL:
            return
        if value.denominator > 1:
            self._parts("log_quotient", Real(Fraction(value.numerator)), Real(Fraction(value.denominator)))
            return
        if value == 1:
            self.add("log_one")
            return
        primes = [int(prime) for prime, times in sorted(factorint(value.numerator).items()) for _ in range(times)]
        if len(primes) > MAX_FACTORS:
            return
        product = primes[0]
        for prime in primes[1:]:
            self.add("log_product", Real(Fraction(product)), Real(Fraction(prime)))
            product *= prime
        for prime in dict.fromkeys(primes):
            self.add("log_sign", Real(Fraction(prime)))


def _powers(term: Term) -> bool:
    """Real powers, exponentials or powers with exponents that aren't literals occur as factors."""
    return any(
        isinstance(node, Call)
        and (node.name in ("rpow", "exp") or (node.name == "pow" and not isinstance(node.args[1], Int)))
        for node in subnodes(term)
    )
