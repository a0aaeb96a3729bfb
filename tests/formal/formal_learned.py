"""Learned lemmas for tests."""

from __future__ import annotations

from maxproof.formal.learned.canonical import statement_key
from maxproof.formal.learned.generalise import named
from maxproof.formal.learned.lemma import LearnedLemma, program_text, read_lemma
from maxproof.formal.syntax.ast import Lemma
from maxproof.formal.syntax.parse import parse_program


def lemma(text: str) -> Lemma:
    (found,) = parse_program(text).lemmas
    return found


def learned(text: str) -> LearnedLemma:
    """A lemma as it would stand in the library; nothing is proved."""
    declarations = parse_program(text).declarations
    assert isinstance(declarations[0], Lemma)
    key = statement_key(declarations[0])
    found = read_lemma(key, program_text(named(declarations, key)), "elsewhere", "guided", "embedded 1 (z3)")
    assert found is not None
    return found


FOUR = learned("lemma four(n: nat) ensures ipow(4, n) % 3 == 1 {}")
