"""Which lemmas of the library a problem is likely to need: those that speak of the same functions and operators.

A symbol that few lemmas mention tells more than one that many do (inverse document frequency), as in text retrieval.
A function that the problem lacks counts against a lemma; an operator doesn't: `3 * m == n` may need a lemma on `n % 3`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Binary, Clause, IntLiteral, Lemma, Node, Program, RealLiteral
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.printer import print_program
from maxproof.formal.syntax.walk import descendants, names_used

_MISSING = 0.5
_OPERATORS = frozenset("*/%")


def relevant_lemmas(problem: FormalProblem, lemmas: Sequence[Lemma], count: int) -> list[Lemma]:
    """At most `count` lemmas that share a symbol with the problem, the closest first; ties in the order of `lemmas`."""
    if not count:
        return []
    found = [symbols(statement_of(lemma)) for lemma in lemmas]
    frequency = Counter(name for names in found for name in names)
    wanted = symbols(problem.lemma).union(*(symbols(definition) for definition in problem.definitions))

    def weight(name: str) -> float:
        return log(1 + len(lemmas) / frequency[name])

    scored = []
    for index, (lemma, names) in enumerate(zip(lemmas, found, strict=True)):
        shared = sum(weight(name) for name in sorted(names & wanted))
        missing = sum(weight(name) for name in sorted(names - wanted - _OPERATORS))
        if shared > _MISSING * missing:
            scored.append((_MISSING * missing - shared, index, lemma))
    scored.sort(key=lambda entry: entry[:2])
    return [lemma for _, _, lemma in scored[:count]]


def statement_of(lemma: Lemma) -> Lemma:
    """The lemma without its proof, measure, attributes and labels."""
    return replace(
        lemma,
        body=None,
        requires=tuple(Clause(clause.condition) for clause in lemma.requires),
        ensures=tuple(Clause(clause.condition) for clause in lemma.ensures),
        decreases=(),
        attributes=(),
    )


def symbols(node: Node) -> frozenset[str]:
    """The functions and types that it uses, and `*`, `/`, `%` where they aren't linear."""
    operators = {
        inner.op
        for inner in descendants(node)
        if isinstance(inner, Binary)
        and (inner.op in ("/", "%") or (inner.op == "*" and not (_number(inner.left) or _number(inner.right))))
    }
    return names_used(node) | operators


def _number(node: Node) -> bool:
    return isinstance(node, IntLiteral | RealLiteral)


def offered(problem: FormalProblem, definitions: Program, lemmas: Sequence[Lemma]) -> str:
    """The functions that the statement and the offered lemmas use, and those lemmas without proofs, as Dafny text."""
    stated = [statement_of(lemma) for lemma in lemmas]
    functions = {declaration.name: declaration for declaration in definitions.declarations}
    wanted = set(names_used(problem.lemma)).union(*(names_used(lemma) for lemma in stated))
    pending = [name for name in wanted if name in functions]
    used = set(pending)
    while pending:
        declaration = functions[pending.pop()]
        for name in names_used(declaration):
            if name in functions and name not in used:
                used.add(name)
                pending.append(name)
    shown = [declaration for declaration in definitions.declarations if declaration.name in used]
    return print_program(Program((*shown, *stated)), Dialect.DAFNY_4).text
