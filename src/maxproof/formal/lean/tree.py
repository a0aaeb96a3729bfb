"""Lean 4 as it is written: the terms, binders and theorems of the fragment that statements use."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.syntax.ast import Position


@dataclass(frozen=True, slots=True)
class Ident:
    """A name with its dots, as written: `x`, `Real.sqrt`, `x.divisors.card`; also ℕ, ℤ, ∅ and other atoms."""

    name: str
    at: Position


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral; `decimal` where it was written with a point."""

    value: Fraction
    decimal: bool
    at: Position


@dataclass(frozen=True, slots=True)
class Hole:
    """`_`."""

    at: Position


@dataclass(frozen=True, slots=True)
class Application:
    function: Syntax
    args: tuple[Syntax, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Infix:
    """`a op b` with a binary operator, relation or connective; ASCII spellings were made the Unicode ones."""

    op: str
    left: Syntax
    right: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Prefix:
    """`-a`, `¬a`, `√a`."""

    op: str
    operand: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Postfix:
    """`a⁻¹`, `a !`."""

    op: str
    operand: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Coercion:
    """`↑a`."""

    operand: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Ascription:
    """`(a : T)`."""

    value: Syntax
    type: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Enclosed:
    """`|a|`, `‖a‖`, `⌊a⌋`, `⌈a⌉`, `⌊a⌋₊`, `⌈a⌉₊`; `op` is both marks."""

    op: Literal["||", "‖‖", "⌊⌋", "⌈⌉", "⌊⌋₊", "⌈⌉₊"]
    operand: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Projection:
    """`e.name` or `e.1` behind something that is no identifier."""

    value: Syntax
    name: str
    at: Position


@dataclass(frozen=True, slots=True)
class BoundName:
    """One bound variable.

    Attributes:
        name: `_` for an anonymous one.
        type: as written; None where it was left to inference. A proposition makes it a hypothesis.
        relation, bound: `∀ x > 0`: the bound variable stands left of `relation`; "" and None without.
    """

    name: str
    type: Syntax | None
    at: Position
    relation: str = ""
    bound: Syntax | None = None


@dataclass(frozen=True, slots=True)
class Quantified:
    kind: Literal["∀", "∃", "∃!"]
    binders: tuple[BoundName, ...]
    body: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Function:
    """`fun x ↦ e`; `(· + 1)` is written so too, its variables named `·1`, `·2`, ..."""

    binders: tuple[BoundName, ...]
    body: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class BigOperator:
    """`∑ x ∈ s with p, e`; `domain` is None for a sum over a whole type."""

    kind: Literal["∑", "∏"]
    binder: BoundName
    domain: Syntax | None
    condition: Syntax | None
    body: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class SetBuilder:
    """`{x : T | p}`, or `{x ∈ s | p}` with `domain`."""

    binder: BoundName
    domain: Syntax | None
    body: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Display:
    """`{a, b}`, `[a, b]`, `(a, b)`."""

    kind: Literal["{}", "[]", "()"]
    items: tuple[Syntax, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Congruence:
    """`a ≡ b [MOD n]` or `[ZMOD n]`."""

    kind: Literal["MOD", "ZMOD"]
    left: Syntax
    right: Syntax
    modulus: Syntax
    at: Position


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Syntax
    then: Syntax
    otherwise: Syntax
    at: Position


Syntax: TypeAlias = (
    Ident
    | Numeral
    | Hole
    | Application
    | Infix
    | Prefix
    | Postfix
    | Coercion
    | Ascription
    | Enclosed
    | Projection
    | Quantified
    | Function
    | BigOperator
    | SetBuilder
    | Display
    | Congruence
    | Conditional
)


@dataclass(frozen=True, slots=True)
class Theorem:
    """One theorem without its proof.

    Attributes:
        binders: parameters and hypotheses in order; an instance binder `[T]` has the name `_`.
        text: the statement as written, from `theorem` to the end of the conclusion.
        opened: the namespaces that are open there, outermost first.
    """

    name: str
    binders: tuple[BoundName, ...]
    conclusion: Syntax
    text: str
    opened: tuple[str, ...]
    at: Position


MAX_DEPTH: Final = 150


def check_depth(syntax: Syntax) -> None:
    """Raises NotTranslated where a term is deeper than what the passes over it can follow."""
    level: list[object] = [syntax]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for node in level:
            for item in fields(node):  # type: ignore[arg-type]
                value = getattr(node, item.name)
                below += [v for v in (value if isinstance(value, tuple) else (value,)) if _is_syntax(v)]
        if not below:
            return
        level = below
    raise NotTranslated(f"terms more than {MAX_DEPTH} operators deep", syntax.at)


def _is_syntax(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, Position)
