"""Counterexamples: what a model says of the obligation's variables, as Dafny writes it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import z3

from maxproof.formal.embedded.core import Obligation
from maxproof.formal.embedded.encode.prepare import Question
from maxproof.formal.embedded.encode.terms import Encoder

LENGTH = 200  # characters of one value


def counterexample(model: Any, question: Question, obligation: Obligation, encoder: Encoder) -> dict[str, str]:
    """Values by the names of the obligation's variables, in their order. An approximation ends in `?`."""
    values: dict[str, str] = {}
    for var in obligation.vars:
        expression = encoder(question.values[var.name])
        text = value_text(model.eval(expression, model_completion=True))
        values[var.name] = text if len(text) <= LENGTH else text[: LENGTH - 3] + "..."
    return values


def value_text(value: Any) -> str:
    """A Z3 value as a Dafny expression: rationals as quotients of decimals, sets and functions as short tables."""
    if z3.is_int_value(value):
        return str(value.as_long())
    if z3.is_rational_value(value):
        return fraction_text(value.as_fraction())
    if z3.is_algebraic_value(value):
        return str(value.approx(8).as_decimal(8)).rstrip("?") + "?"
    if z3.is_true(value) or z3.is_false(value):
        return "true" if z3.is_true(value) else "false"
    if z3.is_store(value) or z3.is_K(value):
        return _table(value)
    if z3.is_app(value) and value.num_args() and isinstance(value.sort(), z3.DatatypeSortRef):
        items = ", ".join(value_text(value.arg(i)) for i in range(value.num_args()))
        name = value.decl().name()
        return f"({items})" if name == "tuple" else f"{name}({items})"
    return str(value).replace("\n", " ")


def fraction_text(value: Fraction) -> str:
    """`value` as a real expression: 2.0, -1.0 / 3.0."""
    if value.denominator == 1:
        return f"{value.numerator}.0"
    return f"{value.numerator}.0 / {value.denominator}.0"


def _table(value: Any) -> str:
    entries: list[tuple[str, str]] = []
    while z3.is_store(value):
        arguments = ", ".join(value_text(value.arg(i)) for i in range(1, value.num_args() - 1))
        entries.append((arguments, value_text(value.arg(value.num_args() - 1))))
        value = value.arg(0)
    rest = value_text(value.arg(0)) if z3.is_K(value) else str(value)
    known: dict[str, str] = {}
    for arguments, result in entries:
        known.setdefault(arguments, result)
    if rest == "false" and all(result in ("true", "false") for result in known.values()):
        return "{" + ", ".join(a for a, r in known.items() if r == "true") + "}"
    return "[" + "".join(f"{a} -> {r}, " for a, r in known.items()) + f"else -> {rest}]"
