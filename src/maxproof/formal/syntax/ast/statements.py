"""Statements of proofs, and the clauses that they share with declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maxproof.formal.syntax.ast.expressions import Apply, Attribute, Binder, Expr, MatchCase, Node


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """One `requires`, `ensures` or `invariant`."""

    condition: Expr
    attributes: tuple[Attribute, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Block(Node):
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Assert(Node):
    """`assert label: P by { ... }`; `by` is None without a proof."""

    condition: Expr
    by: Block | None = None
    label: str = ""
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Assume(Node):
    """`assume P;` or `expect P;`: parsed so that the audit can point at it; no checker accepts it in a solution."""

    condition: Expr
    keyword: Literal["assume", "expect"] = "assume"
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Calc(Node):
    """`calc op { l0; op0 hint0 l1; ... }`: len(ops) == len(hints) == len(lines) - 1 (0 lines allowed).

    `ops[i]` relates lines i and i + 1; None means the calc's own operator `op`. A hint is a tuple of blocks.
    """

    lines: tuple[Expr, ...]
    ops: tuple[str | None, ...]
    hints: tuple[tuple[Block, ...], ...]
    op: str = "=="
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ForallStmt(Node):
    """`forall x | range ensures P { ... }`."""

    binders: tuple[Binder, ...]
    range: Expr | None
    ensures: tuple[Clause, ...]
    body: Block | None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class IfStmt(Node):
    """`if c { } else { }`, or `if x: T :| P { }` (then `binders` is not empty and `condition` is P)."""

    condition: Expr
    then: Block
    otherwise: Block | IfStmt | IfCases | None = None
    binders: tuple[Binder, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardedCase(Node):
    """One alternative of an `if { case c => ... }`."""

    condition: Expr
    body: tuple[Stmt, ...]
    binders: tuple[Binder, ...] = ()


@dataclass(frozen=True, slots=True)
class IfCases(Node):
    cases: tuple[GuardedCase, ...]


@dataclass(frozen=True, slots=True)
class MatchStmt(Node):
    value: Expr
    cases: tuple[MatchCase, ...]


@dataclass(frozen=True, slots=True)
class VarStmt(Node):
    """`var x: T, y := a, b;`, `var x :| P;` (such_that, one value), or a lemma's results `var x := L(y);`."""

    binders: tuple[Binder, ...]
    values: tuple[Expr, ...] = ()
    such_that: bool = False


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`x := e;` or `x :| P;` for declared variables."""

    targets: tuple[str, ...]
    values: tuple[Expr, ...]
    such_that: bool = False


@dataclass(frozen=True, slots=True)
class CallStmt(Node):
    """`L(x, y);`."""

    call: Apply


@dataclass(frozen=True, slots=True)
class While(Node):
    condition: Expr
    invariants: tuple[Clause, ...]
    decreases: tuple[Expr, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Return(Node):
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Reveal(Node):
    """`reveal label;` or `reveal f();`."""

    targets: tuple[Expr, ...]


Stmt: TypeAlias = (
    Block
    | Assert
    | Assume
    | Calc
    | ForallStmt
    | IfStmt
    | IfCases
    | MatchStmt
    | VarStmt
    | Assign
    | CallStmt
    | While
    | Return
    | Reveal
)
