"""Which lemmas of the library a problem is likely to need: those that speak of the same functions.

A function that few lemmas mention tells more than one that many do (inverse document frequency), as in text retrieval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Lemma, Program
from maxproof.formal.syntax.printer import Dialect, print_program
from maxproof.formal.syntax.walk import names_used


def relevant_lemmas(problem: FormalProblem, library: Program, count: int) -> list[Lemma]:
    """At most `count` lemmas that share a function with the statement, the closest first; ties in library order."""
    lemmas = library.lemmas
    symbols = [names_used(statement_of(lemma)) for lemma in lemmas]
    frequency = Counter(name for names in symbols for name in names)
    wanted = names_used(problem.lemma).union(*(names_used(definition) for definition in problem.definitions))

    def weight(name: str) -> float:
        return log(1 + len(lemmas) / frequency[name])

    scored = []
    for index, (lemma, names) in enumerate(zip(lemmas, symbols, strict=True)):
        shared = sum(weight(name) for name in sorted(names & wanted))
        missing = sum(weight(name) for name in sorted(names - wanted))
        if shared > 0:
            scored.append((-(shared - 0.5 * missing), index, lemma))
    scored.sort(key=lambda entry: entry[:2])
    return [lemma for _, _, lemma in scored[:count]]


def statement_of(lemma: Lemma) -> Lemma:
    """The lemma without its proof."""
    return replace(lemma, body=None)


def offered(problem: FormalProblem, definitions: Program, lemmas: Sequence[Lemma]) -> str:
    """The functions that the statement and the offered lemmas use, and those lemmas without proofs, as Dafny text."""
    functions = {declaration.name: declaration for declaration in definitions.declarations}
    wanted = set(names_used(problem.lemma)).union(*(names_used(statement_of(lemma)) for lemma in lemmas))
    pending = [name for name in wanted if name in functions]
    used = set(pending)
    while pending:
        declaration = functions[pending.pop()]
        for name in names_used(declaration):
            if name in functions and name not in used:
                used.add(name)
                pending.append(name)
    shown = [declaration for declaration in definitions.declarations if declaration.name in used]
    return print_program(Program((*shown, *map(statement_of, lemmas))), Dialect.DAFNY_4).text
