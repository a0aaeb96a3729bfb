"""Declarations, and the questions that lemmas turn into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from maxproof.formal.embedded.core.steps import Step
from maxproof.formal.embedded.core.terms import Placed, Sort, Term, Var
from maxproof.formal.syntax.ast import Position


@dataclass(frozen=True, slots=True)
class CoreFunction(Placed):
    """A function. `body` None: known by its postconditions alone.

    Attributes:
        result: stands for the call in `ensures`.
        ensures: postconditions over `params` and `result`. Only trusted for a function of the prelude, or once proved.
        decreases: the termination measure; empty: Dafny's default (the parameters in order).
        trusted: of the prelude: not verified again, and its name may be evaluated natively.
    """

    name: str
    params: tuple[Var, ...]
    result: Var
    requires: tuple[Term, ...]
    ensures: tuple[Term, ...]
    decreases: tuple[Term, ...]
    body: Term | None
    trusted: bool = False
    fuel: int | None = None


@dataclass(frozen=True, slots=True)
class CoreLemma(Placed):
    """A lemma. `finals` are the variables that hold the results at the end of the body (single assignment).

    `results` are what `ensures` calls them. A variable that is used, also one of `finals`, and that no step defines
    was declared without a value: it has any value of its sort.
    """

    name: str
    params: tuple[Var, ...]
    results: tuple[Var, ...]
    requires: tuple[Term, ...]
    ensures: tuple[Term, ...]
    decreases: tuple[Term, ...]
    body: tuple[Step, ...] | None
    finals: tuple[Var, ...] = ()
    trusted: bool = False
    induction: tuple[str, ...] | bool | None = None  # {:induction x, y}, {:induction false}; None: automatic


@dataclass(frozen=True, slots=True)
class CoreConstructor:
    name: str
    fields: tuple[tuple[str, Sort], ...]


@dataclass(frozen=True, slots=True)
class CoreDatatype:
    name: str
    constructors: tuple[CoreConstructor, ...]


@dataclass(frozen=True, slots=True)
class CoreProgram:
    """All declarations by name, in source order."""

    datatypes: Mapping[str, CoreDatatype]
    functions: Mapping[str, CoreFunction]
    lemmas: Mapping[str, CoreLemma]


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to be proved: `goal` follows from `hypotheses`, for all values of `vars`.

    Attributes:
        kind: a name of `checkers.types.ObligationKind`.
        vars: free variables in order of appearance; their nat constraints are hypotheses already.
        hypotheses: in program order; each is well-formed under those before it.
        text: what must hold, as the user wrote it.
        lemma: the declaration it belongs to.
        related: where the clause at fault was declared, for a call's precondition or a postcondition.
    """

    kind: str
    at: Position
    vars: tuple[Var, ...]
    hypotheses: tuple[Term, ...]
    goal: Term
    text: str
    lemma: str
    related: Position | None = None
