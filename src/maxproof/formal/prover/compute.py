"""Closed computations written out: each value from the ones before it, in steps that a solver sees at once.

The embedded checker computes such terms by itself; Dafny follows a definition a step or two and needs the rest as
assertions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from maxproof.formal.embedded.core import (
    BOOL,
    Builtin,
    Call,
    DataOf,
    FunctionOf,
    Invoke,
    Lambda,
    Op,
    Quant,
    SetComp,
    Term,
    Var,
)
from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.literals import literal_of
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Helper, Proposal, Question
from maxproof.formal.prover.residues import HELPERS
from maxproof.formal.prover.sets import inlined
from maxproof.formal.prover.trace import Writer


def compute(question: Question) -> Iterator[Proposal]:
    """The value of every computable part of the statement, and the steps that lead to it."""
    known = _defined(question)
    writer = Writer(question)
    for term in (*question.hypotheses, *question.goals):
        for part in largest_parts(term, frozenset(known)):
            closed = inlined_functions(question, substitute(part, known))
            if free_variables(closed):
                continue
            value = writer.attempt(closed)
            if part != closed and value is not None:
                writer.link(part, closed)
                writer.lines.setdefault(f"assert {show(Builtin(Op.EQ, (part, value), BOOL))};")
    if writer.lines:
        goals = (f"assert {show(goal)};" for goal in question.goals)
        lines = tuple(dict.fromkeys([*writer.lines, *goals]))
        yield Proposal("compute", lines, cost=2, helpers=(*HELPERS, *writer.helpers))


def _defined(question: Question) -> dict[str, Term]:
    """Variables that hypotheses give a computable value, as literals."""
    found: dict[str, Term] = {}
    for _ in range(3):
        for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
            if not isinstance(part, Builtin) or part.op is not Op.EQ:
                continue
            for left, right in (part.args, part.args[::-1]):
                if isinstance(left, Var) and left.name not in found:
                    closed = inlined_functions(question, substitute(right, found))
                    value = None if free_variables(closed) else literal_of(question, closed)
                    if value is not None:
                        found[left.name] = value
    return found


def inlined_functions(question: Question, term: Term) -> Term:
    """`term` with the functions put in that hypotheses define; a guard of the definition is left to the checker."""
    given: dict[str, Term] = {}
    for part in (part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)):
        match part:
            case Quant(
                kind="forall",
                vars=(var,),
                body=Builtin(op=Op.EQ, args=(Invoke(function=Var() as function, args=(Var() as arg,)), body)),
            ) if arg.name == var.name and isinstance(function.sort, FunctionOf):
                if all(other.name == var.name for other in free_variables(body)):
                    given.setdefault(
                        function.name, Lambda((Var(var.name, function.sort.params[0]),), body, function.sort)
                    )
    return simplified(substitute(inlined(question, term), given))


def largest_parts(term: Term, known: frozenset[str]) -> Iterator[Term]:
    """The largest parts of a statement that are no connective, comparison or quantifier and may be computable."""
    if isinstance(term, Builtin):
        plain = term.sort == BOOL and term.op not in (Op.IN,)
        if plain or any(var.name not in known for var in free_variables(term)):
            for arg in term.args:
                yield from largest_parts(arg, known)
            return
    if isinstance(term, Call | Builtin | SetComp):
        yield term


def isolated(question: Question) -> Iterator[Proposal]:
    """`compute` with every step in a lemma of its own, so that nothing else of the statement is in the solver's way."""
    known: dict[str, Term] = {}
    helpers: list[Helper] = []
    lines: list[str] = []
    parts = [part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)]
    for part in parts:
        for var, right in _definitions(part):
            if var.name in known:
                continue
            closed = substitute(right, known)
            value = None if free_variables(closed) else literal_of(question, closed)
            if value is not None:
                result = Builtin(Op.EQ, (var, value), BOOL)
                lines.append(_step(question, helpers, part, result, known))
                known[var.name] = value
    for goal in question.conclusions:
        if any(var.name not in known for var in free_variables(goal)) or isinstance(goal, Quant):
            return
        lines.append(_step(question, helpers, None, goal, known))
    if lines:
        yield Proposal("isolated", tuple(lines), cost=4, helpers=(*HELPERS, *helpers))


def _definitions(part: Term) -> Iterator[tuple[Var, Term]]:
    if isinstance(part, Builtin) and part.op is Op.EQ:
        for left, right in (part.args, part.args[::-1]):
            if isinstance(left, Var):
                yield left, right


def _step(
    question: Question, helpers: list[Helper], given: Term | None, result: Term, known: Mapping[str, Term]
) -> str:
    """Adds the lemma that `result` follows from `given` and the values of variables; its call."""
    used = {var.name: var for term in (given, result) if term is not None for var in free_variables(term)}
    requires = [show(given)] if given is not None else []
    requires += [show(Builtin(Op.EQ, (var, known[name]), BOOL)) for name, var in used.items() if name in known]
    writer = Writer(question, helpers)
    for term in (given, result):
        if term is not None:
            for part in largest_parts(substitute(term, known), frozenset()):
                if not free_variables(part):
                    writer.attempt(part)
            for node in reversed(list(subnodes(term))):
                value = literal_of(question, substitute(node, known)) if isinstance(node, Call) else None
                if value is not None and isinstance(node, Call) and isinstance(node.sort, DataOf):
                    writer.lines.setdefault(f"assert {show(Builtin(Op.EQ, (node, value), BOOL))};")
    name = f"trace_step_{len(helpers) + 1}"
    parameters = ", ".join(f"{var.name}: {show_sort(var.sort)}" for var in used.values())
    clauses = [f"  requires {clause}" for clause in requires]
    lines = [f"lemma {name}({parameters})", *clauses, f"  ensures {show(result)}", "{", *writer.lines, "}"]
    helpers.append(Helper(name, "\n".join(lines)))
    return f"{name}({', '.join(used)});"
