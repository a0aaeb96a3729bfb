"""When two statements are the same lemma: up to the names of parameters and bound variables, and parameters' order.

statement_key(lemma)         # hex SHA-256; equal for `lemma A(x: int) ensures x * x >= 0` and `lemma B(y: int) ...`
canonical_name(key)          # learned_0123456789ab
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from maxproof.formal.guided.retrieval import statement_of
from maxproof.formal.syntax.ast import (
    Binder,
    Comprehension,
    Expr,
    LambdaExpr,
    Lemma,
    LetExpr,
    Name,
    Program,
    Quantifier,
)
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.printer import print_program
from maxproof.formal.syntax.walk import descendants, map_expressions, rename

PREFIX: Final = "learned_"
# No name in a source text holds this character, so that new names never meet old ones.
_MARK: Final = "\0"


def statement_key(lemma: Lemma) -> str:
    """Hex SHA-256 of the statement with canonical names; its name, proof and attributes don't count."""
    bare = replace(statement_of(lemma), name=_MARK)
    bare = map_expressions(bare, _canonical_binders)
    order = _first_uses(bare)
    bare = with_parameters(bare, {name: f"{_MARK}a{place}" for place, name in enumerate(order)})
    bare = replace(bare, params=tuple(sorted(bare.params, key=lambda param: (len(param.name), param.name))))
    return hashlib.sha256(print_program(Program((bare,)), Dialect.DAFNY_4).text.encode()).hexdigest()


def canonical_name(key: str) -> str:
    return PREFIX + key[:12]


def with_parameters(lemma: Lemma, names: Mapping[str, str]) -> Lemma:
    """The lemma with its parameters (and results) renamed, in the proof too."""
    open_ = rename(replace(lemma, params=(), results=()), names)
    renamed = [
        tuple(replace(binder, name=names.get(binder.name, binder.name)) for binder in binders)
        for binders in (lemma.params, lemma.results)
    ]
    return replace(open_, params=renamed[0], results=renamed[1])


def _first_uses(lemma: Lemma) -> list[str]:
    """The parameters in the order in which the clauses first use them, then the others."""
    own = [binder.name for binder in (*lemma.params, *lemma.results)]
    used = [
        node.name
        for clause in (*lemma.requires, *lemma.ensures)
        for node in descendants(clause)
        if isinstance(node, Name) and node.name in own
    ]
    return list(dict.fromkeys([*used, *own]))


def _canonical_binders(expression: Expr) -> Expr:
    """Bound variables named by how deep what they bind is; what is inside has such names already."""
    if isinstance(expression, LambdaExpr):
        names = _canonical_names(expression, expression.params)
        free = rename(replace(expression, params=()), names)
        return replace(free, params=_named(expression.params, names))
    if not isinstance(expression, Quantifier | Comprehension | LetExpr):
        return expression
    names = _canonical_names(expression, expression.binders)
    binders = _named(expression.binders, names)
    # Without its binders the expression has these variables free, but for the values of a `var x := e`.
    if isinstance(expression, LetExpr):
        let = rename(replace(expression, binders=()), names)
        return replace(let, binders=binders, values=let.values if expression.such_that else expression.values)
    if isinstance(expression, Quantifier):
        return replace(rename(replace(expression, binders=()), names), binders=binders)
    return replace(rename(replace(expression, binders=()), names), binders=binders)


def _canonical_names(expression: Expr, binders: Sequence[Binder]) -> dict[str, str]:
    inner = [node.name for node in descendants(expression) if isinstance(node, Binder)]
    depth = 1 + max((int(name[2:].split("_")[0]) for name in inner if name.startswith(f"{_MARK}b")), default=0)
    return {binder.name: f"{_MARK}b{depth}_{place}" for place, binder in enumerate(binders)}


def _named(binders: Sequence[Binder], names: Mapping[str, str]) -> tuple[Binder, ...]:
    return tuple(replace(binder, name=names[binder.name]) for binder in binders)
