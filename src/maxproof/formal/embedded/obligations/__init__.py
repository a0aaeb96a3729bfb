"""The questions that a lemma or a function comes down to, as Dafny would pose them.

Pure: from a resolved program to obligations over its terms; nothing here solves anything. An obligation's hypotheses
are the facts of the path to it in program order: types of the variables, preconditions, induction hypotheses, what the
statements before it established.

What the solver's side adds: definitions and postconditions of the functions a declaration may rely on (those that don't
depend on it), that a call of a function with a nat result is at least 0, and what built-in operators mean.
"""

from __future__ import annotations

from maxproof.formal.embedded.core import CoreDatatype, CoreProgram, Obligation
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.callgraph import CallGraph
from maxproof.formal.embedded.obligations.declarations import function_obligations, lemma_obligations
from maxproof.formal.embedded.obligations.domains import base, comparable
from maxproof.formal.embedded.obligations.path import Scope
from maxproof.formal.embedded.obligations.termination import measure

__all__ = ["NoBody", "obligations"]


class NoBody(Exception):
    """The declaration to be checked is stated without a body: there is nothing that could prove it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} has no body")
        self.name = name


def obligations(core: CoreProgram, target: str) -> tuple[Obligation, ...]:
    """All that must be proved for `target`, a lemma or function of `core`, in program order.

    Other declarations are taken as they are promised; a declaration that calls itself, directly or through others, is
    also asked to make its measure smaller with every such call, so each of a group must be checked on its own. No
    obligation at all means that there is nothing to prove.

    Raises:
        KeyError: no lemma or function has that name.
        NoBody: it is declared without a body.
        Unsupported: it uses what these obligations can't express, or is too large.
    """
    declaration = core.lemmas.get(target) or core.functions[target]
    if declaration.body is None:
        raise NoBody(target)
    for datatype in core.datatypes.values():
        _check_fields(datatype)
    graph = CallGraph(core)
    group = graph.group_of(target)
    if not declaration.trusted:
        for name in sorted(group):
            if (core.lemmas.get(name) or core.functions[name]).trusted:
                raise Unsupported(f"{name} of the prelude depends on {target}", declaration.at)
    scope = Scope(graph, target, group, measure(declaration))
    try:
        if target in core.lemmas:
            lemma_obligations(core.lemmas[target], scope)
        else:
            function_obligations(core.functions[target], scope)
    except RecursionError:
        raise Unsupported(f"terms nested this deep, in {target}", declaration.at) from None
    return tuple(scope.asked)


def _check_fields(datatype: CoreDatatype) -> None:
    for constructor in datatype.constructors:
        for name, sort in constructor.fields:
            if base(sort) != sort or not comparable(sort):
                raise Unsupported(f"field {name} of datatype {datatype.name}: its type restricts its values")
