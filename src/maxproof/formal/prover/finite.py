"""Bounded unknowns tried one by one: in each case a hypothesis fails by computation, or the conclusion holds by it.

A bound may come from the conclusion: where `17 <= n` is to be shown, only n < 17 has to be looked at. General
hypotheses are tried at small numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from maxproof.formal.embedded.core import BOOL, INT, NAT, Builtin, Call, Int, Invoke, Op, Quant, Term, Var
from maxproof.formal.embedded.core.show import show
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute
from maxproof.formal.prover.compute import inlined_functions, largest_parts
from maxproof.formal.prover.instances import simplified
from maxproof.formal.prover.literals import value_of
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Helper, Proposal, Question
from maxproof.formal.prover.residues import HELPERS
from maxproof.formal.prover.trace import Writer
from maxproof.formal.prover.trial_division import cases_between

MAX_CASES = 300
MAX_RANGE = 130
_TRIED = range(13)


class _Undecided(Exception):
    """A case in which neither a hypothesis fails nor the conclusion holds, or too many cases."""


def finite(question: Question) -> Iterator[Proposal]:
    """All values of the bounded unknowns; nothing unless every case is decided by computation."""
    for goal in question.conclusions:
        if isinstance(goal, Quant):
            return
    lines: list[str] = []
    helpers: list[Helper] = []
    for goal in question.conclusions:
        bounds = _bounds(question, goal)
        unknowns = [var for var in question.lemma.params if var in bounds and var in _used(question, goal)]
        if not unknowns:
            return
        try:
            body = _Split(question, goal, bounds, helpers).cases({}, unknowns)
        except _Undecided:
            return
        lines.append(f"if !({show(goal)}) {{ {' '.join(body)} }}")
    if lines:
        yield Proposal("finite", tuple(lines), cost=5, helpers=(*HELPERS, *helpers))


def _used(question: Question, goal: Term) -> set[Var]:
    return {var for term in (*question.hypotheses, goal) for var in free_variables(term)}


def _bounds(question: Question, goal: Term) -> dict[Var, tuple[int, int]]:
    """Least and greatest value of the whole-number parameters that hypotheses and the conclusion's negation bound."""
    low: dict[Var, int] = {var: 0 for var in question.lemma.params if var.sort == NAT}
    high: dict[Var, int] = {}
    known = [part for hypothesis in question.hypotheses for part in conjuncts(hypothesis)]
    for part in [*known, Builtin(Op.NOT, (goal,), BOOL)]:
        for var, least, greatest in _bound(part):
            if least is not None:
                low[var] = max(low.get(var, least), least)
            if greatest is not None:
                high[var] = min(high.get(var, greatest), greatest)
    return {
        var: (low[var], high[var])
        for var in question.lemma.params
        if var in low and var in high and high[var] - low[var] <= MAX_RANGE
    }


def _bound(part: Term) -> Iterator[tuple[Var, int | None, int | None]]:
    match part:
        case Builtin(op=Op.NOT, args=(Builtin(op=Op.LE, args=(left, right)),)):
            yield from _bound(Builtin(Op.LT, (right, left), BOOL))
        case Builtin(op=Op.NOT, args=(Builtin(op=Op.LT, args=(left, right)),)):
            yield from _bound(Builtin(Op.LE, (right, left), BOOL))
        case Builtin(op=Op.LE | Op.LT as op, args=(Int(value=bound), Var() as var)) if var.sort in (INT, NAT):
            yield var, bound if op is Op.LE else bound + 1, None
        case Builtin(op=Op.LE | Op.LT as op, args=(Var() as var, Int(value=bound))) if var.sort in (INT, NAT):
            yield var, None, bound if op is Op.LE else bound - 1


class _Split:
    def __init__(
        self, question: Question, goal: Term, bounds: Mapping[Var, tuple[int, int]], helpers: list[Helper]
    ) -> None:
        self._question = question
        self._goal = goal
        self._bounds = bounds
        self._helpers = helpers
        self._count = 0

    def cases(self, values: Mapping[str, Term], unknowns: Sequence[Var]) -> list[str]:
        """Statements that settle everything in which the variables have `values`. Raises _Undecided."""
        self._count += 1
        if self._count > MAX_CASES:
            raise _Undecided
        decided = self._decided(values)
        if decided is not None:
            return decided
        if not unknowns:
            raise _Undecided
        var, *later = unknowns
        low, high = self._bounds[var]
        if low > high:
            return ["assert false;"]

        def leaf(value: int) -> str:
            inner = self.cases({**values, var.name: Int(value)}, later)
            return " ".join([f"assert {var.name} == {value};", *inner])

        return [cases_between(var.name, range(low, high + 1), leaf)]

    def _decided(self, values: Mapping[str, Term]) -> list[str] | None:
        """The lines of a case that needs no further split."""
        for hypothesis in self._question.hypotheses:
            for part in conjuncts(hypothesis):
                if isinstance(part, Quant):
                    found = self._general(part, values)
                else:
                    found = self._computed(part, values, wanted=False)
                if found is not None:
                    return [*found, "assert false;"]
        return self._computed(self._goal, values, wanted=True)

    def _general(self, part: Quant, values: Mapping[str, Term]) -> list[str] | None:
        """An instance of a general hypothesis that fails."""
        if part.kind != "forall" or len(part.vars) != 1 or part.vars[0].sort not in (INT, NAT):
            return None
        for number in _TRIED:
            mapping: dict[str, Term] = {part.vars[0].name: Int(number)}
            if value_of(self._question, simplified(substitute(part.range, mapping))) is not True:
                continue
            instance = substitute(part.body, mapping)
            lines = self._computed(instance, values, wanted=False)
            if lines is not None:
                return [f"assert {show(instance)};", *lines]
        return None

    def _computed(self, part: Term, values: Mapping[str, Term], *, wanted: bool) -> list[str] | None:
        """The steps by which `part` has the value `wanted`; None if it hasn't."""
        closed = inlined_functions(self._question, substitute(part, values))
        if free_variables(closed) or value_of(self._question, closed) is not wanted:
            return None
        writer = Writer(self._question, self._helpers)
        for inner in largest_parts(closed, frozenset()):
            writer.attempt(inner)
        lines = list(writer.lines)
        for node in subnodes(part):
            if isinstance(node, Invoke | Call) and free_variables(node):
                value = inlined_functions(self._question, substitute(node, values))
                number = None if free_variables(value) else writer.attempt(value)
                if isinstance(number, Int):
                    lines.append(f"assert {show(Builtin(Op.EQ, (node, number), BOOL))};")
        return lines
