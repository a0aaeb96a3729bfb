"""A learned lemma: its Dafny text with its proof, and where it came from. Nothing in it is believed.

A solution that calls a learned lemma carries its text, so that every checker proves it again each time it is used. What
stands in a file is therefore data of unknown origin, and is read under limits: a lemma that is too long, isn't what its
name says, or speaks of anything but the prelude is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from maxproof.formal.guided.retrieval import statement_of
from maxproof.formal.learned.canonical import canonical_name, statement_key
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Attribute, Datatype, Declaration, Function, Lemma, Program
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_program
from maxproof.formal.syntax.printer import print_program
from maxproof.formal.syntax.walk import descendants, names_used

MAX_TEXT: Final = 6_000
MAX_STATEMENT: Final = 800
MAX_PARAMETERS: Final = 8
MAX_DECLARATIONS: Final = 8
MAX_ORIGIN: Final = 200


@dataclass(frozen=True, slots=True)
class LearnedLemma:
    """One lemma of the learned library.

    Attributes:
        key: hex SHA-256 of the statement up to names (`statement_key`); the lemma's name follows from it.
        text: the lemma with its proof, then the lemmas and functions that its proof uses, as Dafny text.
        problem, method, checker: whose accepted solution it is from, and which tool, with its versions, proved it.
        declarations: `text`, parsed.
    """

    key: str
    text: str
    problem: str
    method: str
    checker: str
    declarations: tuple[Declaration, ...] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        return canonical_name(self.key)

    @property
    def lemma(self) -> Lemma:
        return leading(self.declarations)


def read_lemma(key: str, text: str, problem: str, method: str, checker: str) -> LearnedLemma | None:
    """The lemma, None if `text` isn't one that may be offered under this key. Never raises for what `text` is."""
    if len(text) > MAX_TEXT or not (problem and method and checker):
        return None
    try:
        declarations = parse_program(text).declarations
    except DafnySyntaxError:
        return None
    if not admissible(declarations) or statement_key(leading(declarations)) != key:
        return None
    names = [declaration.name for declaration in declarations]
    if names != canonical_names(key, len(names)):
        return None
    return LearnedLemma(key, text, problem[:MAX_ORIGIN], method[:MAX_ORIGIN], checker[:MAX_ORIGIN], declarations)


def leading(declarations: Sequence[Declaration]) -> Lemma:
    """The lemma that comes first. Raises TypeError if it is none."""
    if not isinstance(declarations[0], Lemma):
        raise TypeError(f"{declarations[0].name} is no lemma")
    return declarations[0]


def canonical_names(key: str, count: int) -> list[str]:
    """The names of a lemma's declarations, its own first."""
    name = canonical_name(key)
    return [name, *(f"{name}_{place}" for place in range(1, count))]


def admissible(declarations: tuple[Declaration, ...]) -> bool:
    """Whether the first declaration may be learned, with the others as what its proof uses.

    Its statement is short and speaks of nothing but numbers and the prelude; all have bodies; the others are lemmas and
    functions that don't call it.
    """
    if not 1 <= len(declarations) <= MAX_DECLARATIONS or any(isinstance(d, Datatype) for d in declarations):
        return False
    lemma = declarations[0]
    if not isinstance(lemma, Lemma) or lemma.results or not lemma.ensures or len(lemma.params) > MAX_PARAMETERS:
        return False
    if any(isinstance(d, Lemma | Function) and d.body is None for d in declarations):
        return False
    stated = statement_of(lemma)
    if any(isinstance(node, Attribute) for node in descendants(stated)):
        return False
    if not names_used(stated) <= _defined() or len(_text((stated,))) > MAX_STATEMENT:
        return False
    return all(lemma.name not in names_used(other) for other in declarations[1:])


def program_text(declarations: tuple[Declaration, ...]) -> str:
    """What is stored and submitted: no comments, no place of the solution it was found in."""
    return _text(declarations)


def _text(declarations: tuple[Declaration, ...]) -> str:
    return print_program(Program(declarations), Dialect.DAFNY_4).text


@cache
def _defined() -> frozenset[str]:
    names = {declaration.name for declaration in prelude().definitions.declarations}
    for declaration in prelude().definitions.declarations:
        if isinstance(declaration, Datatype):
            names.update(constructor.name for constructor in declaration.constructors)
    return frozenset(names)
