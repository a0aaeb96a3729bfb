"""What is known at one place of a proof, and the questions asked there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from maxproof.formal.checkers.types import ObligationKind
from maxproof.formal.embedded.core import (
    BOOL,
    Bool,
    Builtin,
    Call,
    CoreProgram,
    Obligation,
    Op,
    Proved,
    Quant,
    Term,
    Var,
)
from maxproof.formal.embedded.core.walk import Node, children, conjunction, free_variables, transform
from maxproof.formal.embedded.errors import Unsupported
from maxproof.formal.embedded.obligations.callgraph import CallGraph
from maxproof.formal.embedded.obligations.domains import domain
from maxproof.formal.syntax.ast import Position

MAX_HYPOTHESES = 3_000_000
"""All obligations of a declaration together: their hypotheses are tuples of their own."""

TRUE, FALSE = Bool(True), Bool(False)


@dataclass(frozen=True, slots=True)
class Path:
    """A place in a proof: the variables in scope and the facts that hold there, in program order."""

    vars: tuple[Var, ...] = ()
    facts: tuple[Term, ...] = ()

    def bind(self, new: Iterable[Var]) -> Path:
        """With `new` in scope, of any value of their types. A variable that is in scope already stays."""
        known = {var.name for var in self.vars}
        added = tuple(var for var in new if var.name not in known)
        if not added:
            return self
        return Path(self.vars + added, self.facts).assume(*map(domain, added))

    def assume(self, *facts: Term) -> Path:
        added = tuple(erased(fact) for fact in facts if fact != TRUE)
        return Path(self.vars, self.facts + added) if added else self

    def learned(
        self, inner: Path, after: Path, close: Callable[[Term], Term] = lambda fact: fact, bound: tuple[Var, ...] = ()
    ) -> Path:
        """With what was learned between `inner` and `after`, where `inner` is this path with more assumed or bound.

        Args:
            close: makes a fact of `inner` one of this path: puts the assumptions before it and binds `bound`.

        Facts about variables that were made in between (values chosen by a proof inside a term) are not told.
        """
        new = after.facts[len(inner.facts) :]
        if not new:
            return self
        visible = {var.name for var in (*self.vars, *bound)}
        kept = [fact for fact in new if all(var.name in visible for var in free_variables(fact))]
        return self.assume(*map(close, kept))


@dataclass(frozen=True, slots=True)
class Claim:
    """What an obligation says of itself."""

    kind: ObligationKind
    at: Position
    text: str
    related: Position | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The declaration under check, and the obligations asked so far.

    Attributes:
        group: declarations that call each other, with this one among them; empty where it doesn't call itself.
        measure: its termination measure, over its parameters.
        own: the function's call on its own parameters, where its postconditions may mention it.
    """

    graph: CallGraph
    name: str
    group: frozenset[str]
    measure: tuple[Term, ...]
    own: Call | None = None
    asked: list[Obligation] = field(default_factory=list)
    size: list[int] = field(default_factory=lambda: [0])

    @property
    def program(self) -> CoreProgram:
        return self.graph.program

    def ask(self, claim: Claim, goal: Term, path: Path) -> None:
        """Poses `goal` at `path`; a goal that is literally true is no question."""
        goal = erased(goal)
        if goal == TRUE:
            return
        self.size[0] += len(path.facts) + len(path.vars)
        if self.size[0] > MAX_HYPOTHESES:
            raise Unsupported(f"a proof of this size: {len(self.asked)} obligations", claim.at)
        self.asked.append(
            Obligation(claim.kind, claim.at, path.vars, path.facts, goal, claim.text, self.name, claim.related)
        )


def erased(term: Term) -> Term:
    """`term` without the statements inside it."""
    if not _has_statements(term):
        return term
    return transform(term, lambda part: part.value if isinstance(part, Proved) else part)


def _has_statements(term: Term) -> bool:
    """Looks at a shared part once only: an argument stands in a clause as often as its parameter does."""
    seen: set[int] = set()
    pending: list[Node] = [term]
    while pending:
        top = pending.pop()
        if isinstance(top, Proved):
            return True
        if id(top) not in seen:
            seen.add(id(top))
            pending += children(top)
    return False


def implication(guards: Iterable[Term], claim: Term) -> Term:
    guard = conjunction(guards)
    return claim if guard == TRUE else Builtin(Op.IMPLIES, (guard, claim), BOOL, at=claim.at)


def quantified(bound: tuple[Var, ...], guards: Iterable[Term], claim: Term) -> Term:
    """`claim` for all values of `bound` that meet `guards`."""
    if not bound:
        return implication(guards, claim)
    return Quant("forall", bound, conjunction(guards), claim, at=claim.at)


def negation(term: Term) -> Term:
    return Builtin(Op.NOT, (term,), BOOL, at=term.at)


def equality(left: Term, right: Term) -> Term:
    return Builtin(Op.EQ, (left, right), BOOL, at=right.at)
