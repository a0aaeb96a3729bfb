"""Dafny's words: what is reserved, and what the parser says of those that lie outside the fragment.

A word is reserved here if any supported version of Dafny reserves it, so that every name may be printed
for all of them.
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN_TYPES: Final = frozenset({"int", "nat", "real", "bool"})
_COLLECTION_TYPES: Final = frozenset({"set", "iset", "seq"})
TYPE_WORDS: Final = _PLAIN_TYPES | _COLLECTION_TYPES

_READ: Final = frozenset(
    (
        *("as", "assert", "assume", "by", "calc", "case", "datatype", "decreases", "else", "ensures", "exists"),
        *("expect", "false", "forall", "function", "ghost", "if", "in", "invariant", "lemma", "match", "method"),
        *("predicate", "requires", "return", "returns", "reveal", "then", "true", "var", "while"),
    )
)

DECLARATION_ADVICE: Final = {
    "abstract": "write the declarations at the top level",
    "class": "a proof is made of lemmas and functions",
    "codatatype": "only datatypes are read",
    "colemma": "write an ordinary lemma",
    "const": "write a function without parameters",
    "constructor": "a proof is made of lemmas and functions",
    "copredicate": "write an ordinary predicate",
    "export": "write the declarations at the top level",
    "greatest": "write an ordinary predicate or lemma",
    "import": "the library's declarations are there without it",
    "include": "the library's declarations are there without it",
    "inductive": "write an ordinary predicate or lemma",
    "iterator": "a proof is made of lemmas and functions",
    "least": "write an ordinary predicate or lemma",
    "method": "write a lemma",
    "module": "write the declarations at the top level",
    "newtype": "write the type itself",
    "opaque": "write an ordinary function",
    "opened": "the library's declarations are there without it",
    "protected": "write an ordinary function",
    "provides": "write the declarations at the top level",
    "refines": "write the declarations at the top level",
    "replaceable": "write the declarations at the top level",
    "reveals": "write the declarations at the top level",
    "static": "write the declaration at the top level without it",
    "trait": "a proof is made of lemmas and functions",
    "twostate": "nothing has a state: write an ordinary function or lemma",
    "type": "write the type itself",
}

CLAUSE_ADVICE: Final = {
    "modifies": "nothing has a state: leave it out",
    "reads": "nothing has a state: leave it out",
    "yields": "write a lemma",
    "extends": "a proof is made of lemmas and functions",
}

STATEMENT_ADVICE: Final = {
    "break": "end the loop by its condition",
    "continue": "branch with if instead",
    "for": "write a forall statement or a while loop",
    "hide": "leave it out",
    "label": "only assertions and preconditions may have labels",
    "modify": "nothing has a state: leave it out",
    "new": "nothing has a state",
    "print": "a proof prints nothing",
    "yield": "a proof is no iterator",
}

EXPRESSION_ADVICE: Final = {
    "allocated": "nothing has a state",
    "fresh": "nothing has a state",
    "imap": "write a function value or a sequence",
    "map": "write a function value or a sequence",
    "multiset": "write a sequence or a set",
    "new": "nothing has a state",
    "null": "nothing has a state",
    "old": "nothing has a state: write the expression itself",
    "this": "nothing has a state",
    "unchanged": "nothing has a state: leave it out",
    "is": "only datatypes have cases: write x.C?",
}

TYPE_ADVICE: Final = {
    "array": "write seq",
    "char": "write int",
    "imap": "write a function type",
    "map": "write a function type or seq",
    "multiset": "write seq or set",
    "object": "nothing has a state",
    "ORDINAL": "write nat or int",
    "string": "strings have no place in a proof",
}

_OTHER: Final = frozenset(("nameonly", "older", "where", "witness"))

RESERVED: Final = (
    _READ
    | TYPE_WORDS
    | frozenset(DECLARATION_ADVICE)
    | frozenset(CLAUSE_ADVICE)
    | frozenset(STATEMENT_ADVICE)
    | frozenset(EXPRESSION_ADVICE)
    | frozenset(TYPE_ADVICE)
    | _OTHER
)

_SIZED = re.compile(r"(array[1-9][0-9]*\??|array\?|bv(0|[1-9][0-9]*)|object\?)\Z")


def is_reserved(word: str) -> bool:
    """Whether no declaration or variable may have this name."""
    return word in RESERVED or _SIZED.match(word) is not None
