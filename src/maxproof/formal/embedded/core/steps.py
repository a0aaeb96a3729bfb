"""Statements of a proof. A `match` is lowered to `Branch`, `else if` and `if case` too; `reveal label` to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from maxproof.formal.embedded.core.terms import Placed, Term, Var


@dataclass(frozen=True, slots=True)
class AssertStep(Placed):
    condition: Term
    by: tuple[Step, ...] | None = None


@dataclass(frozen=True, slots=True)
class CalcStep(Placed):
    """Lines l0..ln; step i claims `relations[i]` (a term over l_i and l_i+1) under hint i.

    `conclusion` is what the whole calc gives afterwards; None with fewer than two lines.
    """

    lines: tuple[Term, ...]
    relations: tuple[Term, ...]
    hints: tuple[tuple[Step, ...], ...]
    conclusion: Term | None


@dataclass(frozen=True, slots=True)
class ForallStep(Placed):
    """`forall vars | range ensures P { body }`. No `ensures`: what the body's one call gives, as in Dafny."""

    vars: tuple[Var, ...]
    range: Term
    ensures: tuple[Term, ...]
    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Branch(Placed):
    """Guarded alternatives.

    Attributes:
        arms: each guard with the variables it binds (`if x :| P`; else empty) and its body. With `exclusive`, arm i
            runs under its guard and the negation of all guards before it; without (`if case`), under its guard alone.
        otherwise: the body where no guard holds. None: some guard must hold, which is an obligation.

    Where variables are assigned in arms, each arm that runs to its end ends with a `Define` of one common new variable
    for each of them: after the branch, that variable has the value that the arm taken gave it.
    """

    arms: tuple[tuple[Term, tuple[Var, ...], tuple[Step, ...]], ...]
    otherwise: tuple[Step, ...] | None
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class Define(Placed):
    """`x := value`. Assignment makes a new variable each time (single assignment), so terms need no store."""

    var: Var
    value: Term


@dataclass(frozen=True, slots=True)
class ChooseStep(Placed):
    """`var vars :| predicate;`: existence is an obligation."""

    vars: tuple[Var, ...]
    predicate: Term


@dataclass(frozen=True, slots=True)
class CallStep(Placed):
    """`outs := L(args)`: `name` is a key of `CoreProgram.lemmas`."""

    name: str
    args: tuple[Term, ...]
    outs: tuple[Var, ...] = ()


@dataclass(frozen=True, slots=True)
class ReturnStep(Placed):
    """Ends the body: the postconditions must hold here with `values` for the results."""

    values: tuple[Term, ...]


Step: TypeAlias = AssertStep | CalcStep | ForallStep | Branch | Define | ChooseStep | CallStep | ReturnStep
