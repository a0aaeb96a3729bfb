"""Automatic induction, where Dafny applies it.

A variable is worth induction where it stands, alone or in arithmetic, as an argument that a recursive function's
termination depends on. A lemma without results then assumes itself for smaller parameters; a universally quantified
goal assumes its body for smaller values of its variables. "Smaller" is the order of the termination check, with numbers
at least 0, so that the assumption is always about earlier cases.
"""

from __future__ import annotations

from collections.abc import Iterable

from maxproof.formal.embedded.core import (
    Builtin,
    Call,
    Construct,
    CoreFunction,
    CoreLemma,
    DataOf,
    FunctionOf,
    Op,
    Proved,
    Quant,
    SetOf,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import children, conjunction, free_variables, substitute
from maxproof.formal.embedded.obligations.callgraph import CallGraph
from maxproof.formal.embedded.obligations.path import erased, implication
from maxproof.formal.embedded.obligations.termination import below, measure

# Operators whose operands are as prominent as the whole term.
_THROUGH = {
    Op.NEG,
    Op.ADD,
    Op.SUB,
    Op.MUL,
    Op.DIV,
    Op.MOD,
    Op.NOT,
    Op.CARD,
    Op.TO_REAL,
    Op.TO_INT,
    Op.UNION,
    Op.INTERSECT,
    Op.MINUS,
    Op.CONCAT,
}


def lemma_hypotheses(lemma: CoreLemma, graph: CallGraph) -> tuple[Term, ...]:
    """Each postcondition, for all smaller parameters that meet the preconditions. Empty without induction."""
    chosen = _chosen(lemma, graph)
    if not chosen:
        return ()
    smaller = {var.name: Var(f"{var.name}#ih", var.sort, at=var.at) for var in chosen}
    old = measure(lemma)
    new = tuple(substitute(term, smaller) for term in old)
    guards = [substitute(clause, smaller) for clause in lemma.requires]
    guards.append(below(new, old, graph.program, lemma.at, strict_floor=True))
    return tuple(
        Quant("forall", tuple(smaller.values()), conjunction(guards), substitute(clause, smaller), at=clause.at)
        for clause in lemma.ensures
    )


def _chosen(lemma: CoreLemma, graph: CallGraph) -> tuple[Var, ...]:
    if lemma.induction is False or lemma.results:
        return ()
    if isinstance(lemma.induction, tuple):
        return tuple(var for var in lemma.params if var.name in lemma.induction)
    return _worthwhile(lemma.params, [*lemma.requires, *lemma.ensures], graph)


def quantifier_hypothesis(goal: Quant, graph: CallGraph) -> tuple[Term, ...]:
    """For a `forall` goal about to be proved for its variables: its body for smaller ones. Empty without induction."""
    body = implication((goal.range,), goal.body)
    chosen = _worthwhile(goal.vars, [body], graph)
    if not chosen:
        return ()
    smaller = {var.name: Var(f"{var.name}#ih", var.sort, at=var.at) for var in chosen}
    less = below(tuple(smaller.values()), chosen, graph.program, goal.at, strict_floor=True)
    guard = conjunction([less, substitute(goal.range, smaller)])
    return (Quant("forall", tuple(smaller.values()), guard, substitute(goal.body, smaller), at=goal.at),)


def _worthwhile(variables: Iterable[Var], terms: list[Term], graph: CallGraph) -> tuple[Var, ...]:
    plain = [erased(term) for term in terms]
    return tuple(
        var
        for var in variables
        if not isinstance(var.sort, FunctionOf)
        and not (isinstance(var.sort, SetOf) and not var.sort.finite)
        and any(_drives(term, var, False, graph) for term in plain)
    )


def _drives(term: Term, var: Var, prominent: bool, graph: CallGraph) -> bool:
    """`var` is in `term` an argument that a recursion depends on; `prominent`: `term` itself is in such a place."""
    match term:
        case Var():
            return prominent and term.name == var.name
        case Call():
            function = graph.program.functions[term.name]
            driving = _driving(function, graph)
            return any(
                _drives(arg, var, param.name in driving, graph)
                for param, arg in zip(function.params, term.args, strict=True)
            )
        case Construct(args=args):
            kept = prominent and isinstance(var.sort, DataOf)
            return any(_drives(arg, var, kept, graph) for arg in args)
        case Builtin(op=Op.ITE, args=(condition, then, otherwise)):
            return (
                _drives(condition, var, False, graph)
                or _drives(then, var, prominent, graph)
                or _drives(otherwise, var, prominent, graph)
            )
        case Builtin(op=op, args=args):
            return any(_drives(arg, var, prominent and op in _THROUGH, graph) for arg in args)
        case Proved(value=value):
            return _drives(value, var, prominent, graph)
        case Quant():
            return _drives(term.range, var, False, graph) or _drives(term.body, var, False, graph)
    return any(_drives(part, var, False, graph) for part in children(term))  # type: ignore[arg-type]


def _driving(function: CoreFunction, graph: CallGraph) -> frozenset[str]:
    """Parameters that the termination of a recursive function depends on."""
    if not graph.recursive(function.name):
        return frozenset()
    return frozenset(var.name for term in measure(function) for var in free_variables(term))
