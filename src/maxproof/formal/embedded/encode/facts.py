"""What declared functions do: facts about the calls of a question, and axioms for all other calls.

A function's definition `f(x) == body` and its postconditions hold where the arguments are of the parameters' types and
meet the precondition; each fact and axiom says so. Which functions may be used is `encode.scope`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from maxproof.formal.embedded.core import (
    BOOL,
    Bool,
    Builtin,
    Call,
    CoreFunction,
    CoreProgram,
    Op,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import binders, children, conjunction, free_variables, substitute
from maxproof.formal.embedded.encode.fold import flat
from maxproof.formal.embedded.encode.scope import Scope
from maxproof.formal.embedded.encode.simplify import Simplifier
from maxproof.formal.embedded.encode.sorts import constraint
from maxproof.formal.embedded.encode.terms import Encoder, Expr

ROUNDS = 3  # unfoldings of a recursive function below each call of the question
CALLS = 120  # calls that facts are made for
LONGEST = 120  # nodes of such a call


def ground_calls(terms: Iterable[Term]) -> list[Call]:
    """Calls of declared functions that depend on no bound variable, each once, innermost first."""
    found: dict[Call, None] = {}
    for term in terms:
        _collect(term, frozenset(), found)
    return list(found)


def _collect(term: Term, bound: frozenset[str], found: dict[Call, None]) -> tuple[bool, int]:
    """Whether `term` mentions no variable of `bound`, and its nodes."""
    if isinstance(term, Var):
        return term.name not in bound, 1
    own = binders(term)
    inner = bound.union(v.name for v in own) if own else bound
    free, nodes = True, 1
    for part in children(term):
        part_free, part_nodes = _collect(part, inner, found)  # type: ignore[arg-type]
        free, nodes = free and part_free, nodes + part_nodes
    if own:
        free = bound.isdisjoint(v.name for v in free_variables(term))
    if free and nodes <= LONGEST and isinstance(term, Call) and not term.name.endswith("#"):
        found.setdefault(term)
    return free, nodes


def facts_of_calls(
    terms: Iterable[Term], core: CoreProgram, scope: Scope, simplify: Simplifier, rounds: int = ROUNDS
) -> list[Term]:
    """Definitions and postconditions of the calls in `terms`, then of the calls in those, over `rounds` rounds."""
    facts: list[Term] = []
    known: set[Call] = set()
    new = list(terms)
    for depth in range(rounds):
        calls = [call for call in ground_calls(new) if call not in known]
        new = []
        for call in calls[: CALLS - len(known)]:
            known.add(call)
            if scope.usable(call.name):
                for fact in _facts(call, core, scope, define=depth < rounds - 1 or not scope.recursive(call.name)):
                    fact = simplify(fact)
                    if fact != Bool(True):
                        new += flat(fact)
        facts += new
        if not new:
            break
    return facts


def _facts(call: Call, core: CoreProgram, scope: Scope, define: bool) -> list[Term]:
    function = core.functions[call.name]
    bindings: dict[str, Term] = {p.name: a for p, a in zip(function.params, call.args, strict=True)}
    guards = [constraint(a, p.sort, core) for p, a in zip(function.params, call.args, strict=True)]
    guard = conjunction([*guards, *(substitute(r, bindings) for r in function.requires)])
    claims = [constraint(call, function.result.sort, core)]
    claims += [substitute(e, {**bindings, function.result.name: call}) for e in function.ensures]
    if define and function.body is not None:
        same = Op.IFF if function.result.sort == BOOL else Op.EQ
        claims.append(Builtin(same, (call, substitute(function.body, bindings)), BOOL))
    return [claim if guard == Bool(True) else Builtin(Op.IMPLIES, (guard, claim), BOOL) for claim in claims]


class Axioms:
    """Axioms with triggers for the functions that an encoder has met, for E-matching.

    Each function has two symbols. `f(x)` is unfolded once: its definition speaks of `f#limited` in place of f, and the
    two are equal at every `f(x)`. So no chain of instances feeds itself. Postconditions are triggered by either.
    """

    def __init__(self, core: CoreProgram, scope: Scope, simplify: Simplifier, encoder: Encoder) -> None:
        self._core = core
        self._scope = scope
        self._simplify = simplify
        self._encoder = encoder

    def all(self) -> list[Expr]:
        """Axioms of each function met so far and of those that the axioms mention."""
        made: list[Expr] = []
        done = 0
        while done < len(self._encoder.functions):
            name = list(self._encoder.functions)[done]
            done += 1
            if self._scope.usable(name) and self._core.functions[name].params:
                made += self._axioms(self._core.functions[name])
        return made

    def _axioms(self, function: CoreFunction) -> list[Expr]:
        encoder = self._encoder
        limited_only = self._scope.recursive(function.name)
        bound, inner = encoder.bind(function.params, {})
        guard = conjunction([*(constraint(p, p.sort, self._core) for p in function.params), *function.requires])
        guard = self._simplify(guard)
        args = [inner[p.name] for p in function.params]
        plain = encoder.function(function.name, limited=False)(*args)
        lesser = encoder.function(function.name, limited=True)(*args) if limited_only else plain
        own = Call(function.name, tuple(function.params), function.result.sort)
        claims = [constraint(own, function.result.sort, self._core)]
        claims += [substitute(e, {function.result.name: own}) for e in function.ensures]
        claim = self._simplify(conjunction(claims))
        made: list[Expr] = []
        encoder.limited = limited_only
        try:
            condition = encoder(guard, inner)
            if claim != Bool(True):
                made.append(z3.ForAll(bound, z3.Implies(condition, encoder(claim, inner)), patterns=[lesser]))
            if function.body is not None:
                body = encoder(self._simplify(function.body), inner)
                made.append(z3.ForAll(bound, z3.Implies(condition, plain == body), patterns=[plain]))
        finally:
            encoder.limited = False
        if limited_only:
            made.append(z3.ForAll(bound, plain == lesser, patterns=[plain]))
        return made
