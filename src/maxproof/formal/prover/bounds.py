"""Bounds of whole numbers: once every unknown has them, a checker tries all values.

A bound is the least of a ladder of numbers beyond which the facts have a certificate of contradiction. An exponent is
bounded by the largest number of the statement, as powers grow with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from maxproof.formal.embedded.core import INT, NAT, Call, Int, Term, Var
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import subnodes
from maxproof.formal.prover.algebra import asserted
from maxproof.formal.prover.certificates import contradiction, summands
from maxproof.formal.prover.polynomials import Fact, System, conjuncts, constant, relation_of
from maxproof.formal.prover.question import Proposal, Question

LADDER = (6, 12, 24, 50, 100, 200, 500, 1000, 3000)
MAX_VARIABLES = 5
MAX_LITERAL = 10**12
_LEVELS = (0, 1)


def bounds(question: Question) -> Iterator[Proposal]:
    """Bounds of exponents and of the parameters, as assertions; then with the certificates that found them."""
    exponents = tuple(dict.fromkeys(_exponent_bounds(question)))
    short: list[str] = []
    long: list[str] = []
    for statement, proof in _parameter_bounds(question):
        short.append(f"assert {statement};")
        long.append(f"assert {statement} by {{ {' '.join(proof)} }}" if proof else f"assert {statement};")
    if exponents or short:
        yield Proposal("bounds", (*exponents, *short), cost=4)
    if long != short:
        yield Proposal("bounds-certified", (*exponents, *long), cost=5)


def _exponent_bounds(question: Question) -> Iterator[str]:
    """Of exponents in equations whose other side is a number."""
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        related = relation_of(part)
        value = constant(related[2]) if related is not None and related[0] == "==" else None
        if related is None or value is None or not 0 < value <= MAX_LITERAL:
            continue
        for node in subnodes(related[1]):
            match node:
                case Call(name="ipow", args=(Int(value=base), Var() as exponent)) if base >= 2:
                    most = next(power for power in range(64) if base ** (power + 1) > value)
                    steps = f"ipow_exponent_monotone({base}, {most + 1}, {exponent.name});"
                    known = f"assert ipow({base}, {most + 1}) == {base ** (most + 1)};"
                    yield f"if {exponent.name} > {most} {{ {steps} {known} }}"
                    yield f"assert {exponent.name} <= {most};"


def _parameter_bounds(question: Question) -> Iterator[tuple[str, list[str]]]:
    """(bound, its proof) of the whole-number parameters, upper and lower ones; each may rely on those before it."""
    terms = question.consequences
    system = System((*question.hypotheses, *terms, *question.goals))
    facts = [*system.facts(question.hypotheses), *asserted(system, terms), *system.atom_facts()]
    numbers = [atom for atom in system.atoms if isinstance(atom, Var) and atom.sort in (INT, NAT)][:MAX_VARIABLES]
    waiting = [(atom, sign) for atom in numbers for sign in (1, -1)]
    for _ in range(2):  # what wasn't bounded may be once others are
        for atom, sign in waiting.copy():
            found = _bound(system, facts, atom, sign)
            if found is None:
                continue
            waiting.remove((atom, sign))
            fact, statement, proof = found
            facts.insert(0, fact)
            yield statement, proof


def _bound(system: System, facts: Sequence[Fact], atom: Term, sign: int) -> tuple[Fact, str, list[str]] | None:
    """The least bound on the ladder that has a certificate; None if it needs none or there is none."""
    generator, text = system.poly(atom), show(atom)
    for level in _LEVELS:
        for most in LADDER:
            beyond = Fact(">=", sign * generator - most - 1, f"{'-' if sign < 0 else ''}{text} - {most + 1}", False)
            used = contradiction(summands(system, [beyond, *facts], level))
            if used is None:
                continue
            statement = f"{text} <= {most}" if sign > 0 else f"{text} >= {-most}"
            lines = list(dict.fromkeys(line for summand in used for line in summand.statements))
            kept = Fact(">=", most - sign * generator, f"{most} - ({'-' if sign < 0 else ''}{text})", False)
            return kept, statement, [f"if !({statement}) {{ {' '.join([*lines, 'assert false;'])} }}"]
    return None
