"""Modular arithmetic: an expression reduced modulo m, the greatest common divisor, the inverse modulo m.

- `reduction`: `Compute (3 * 5 + 4) * 2 modulo 7.` An expression is evaluated operation by operation.
- `euclid`: `euclid.py`; `bezout`: `bezout.py`.

What is one inference in `reduction`. The state is the reduced form of the expression, as it is written, left to right.
A claim `E = F (mod m)` is valid if E occurs in the reduced form and F is E with one operation on two numbers done (any
number congruent to the result is right), or E is a number and F its residue; F then takes E's place, everywhere. So
each valid claim is progress, or repeats an earlier claim word for word. Every other true claim is a leap: two
operations at once, or an operation that does not occur. A leap is taken as established where it can be placed: on E if
it occurs, else on the operation of the same kind whose sides have congruent values. `E = F` without a modulus must hold
over the integers; a congruence by another modulus, if true, is a leap that establishes nothing. `The answer is r.` is
right for the r in 0..m-1; it is valid if the reduced form has at most one operation left, a leap otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from maxproof.lab.arithmetic import (
    Equation,
    Operation,
    Tree,
    one_step,
    operations,
    parse,
    parts,
    put_in,
    read_answer,
    read_equation,
    ready,
    replace,
    show,
    value,
)
from maxproof.lab.bezout import Inverse, generate_inverse
from maxproof.lab.euclid import GreatestCommonDivisor, generate_gcd
from maxproof.lab.judgements import false, leap, valid
from maxproof.lab.types import Judgement, Question

NAME = "modular"
_STATEMENT = re.compile(r"Compute (.+) modulo ([0-9]{1,3})\.?")
_GCD = re.compile(r"Find the greatest common divisor of ([0-9]{1,6}) and ([0-9]{1,6})\.?")
_INVERSE = re.compile(r"Find the inverse of ([0-9]{1,6}) modulo ([0-9]{1,6})\.?")
_SMALLEST_MODULUS = 3
_OPERATIONS = {1: (2,), 2: (3,), 3: (4, 5), 4: (6, 7)}
_MAX_CLAIMS = 64
_HABITS = ("product_plus_one", "difference_reversed", "wrap_plus_one")


@dataclass(frozen=True, slots=True)
class _Reduced:
    """The reduced form, and what was claimed so far."""

    form: Tree
    claimed: frozenset[Equation]


@dataclass(frozen=True, slots=True)
class Reduction:
    """Evaluate `tree` (integers, `+ - *`) modulo `modulus` (3..999).

    Habits: `product_plus_one` (a product comes out one too large), `difference_reversed` (b - a for a - b),
    `wrap_plus_one` (a sum that reaches the modulus comes out one too large).
    """

    tree: Tree
    modulus: int

    @property
    def domain(self) -> str:
        return NAME

    @property
    def statement(self) -> str:
        return f"Compute {show(self.tree)} modulo {self.modulus}."

    @property
    def techniques(self) -> tuple[str, ...]:
        return ("reduction",)

    @property
    def level(self) -> int:
        count = operations(self.tree)
        return next((level for level, counts in _OPERATIONS.items() if count <= counts[-1]), 4)

    @property
    def structure(self) -> str:
        """The operators and the shape of the tree, and the modulus."""
        shape = re.sub(r"-?[0-9]+", "n", show(self.tree))
        return f"reduction: {shape} mod {self.modulus}"

    @property
    def answer(self) -> Fraction:
        return _integer(self.tree) % self.modulus

    def habits(self, technique: str) -> tuple[str, ...]:
        return _HABITS if technique == "reduction" else ()

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique != "reduction" or not habits <= set(_HABITS):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} for {self.statement!r}")
        claims: list[str] = []
        form = self.tree
        while (operation := ready(form)) is not None:
            result = self._result(operation, habits)
            claims.append(f"{show(operation)} = {result} (mod {self.modulus}).")
            form = replace(form, operation, result)
        assert isinstance(form, Fraction)
        return (*claims, f"The answer is {form % self.modulus}.")

    def _result(self, operation: Operation, habits: frozenset[str]) -> Fraction:
        left, right = operation.left, operation.right
        assert isinstance(left, Fraction)
        assert isinstance(right, Fraction)
        if operation.operator == "*":
            return (left * right + ("product_plus_one" in habits)) % self.modulus
        if operation.operator == "-":
            return (right - left if "difference_reversed" in habits else left - right) % self.modulus
        wraps = left + right >= self.modulus and "wrap_plus_one" in habits
        return (left + right + wraps) % self.modulus

    def start(self) -> Hashable:
        return _Reduced(self.tree, frozenset())

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, _Reduced)
        answer = read_answer(claim)
        if answer is not None:
            return self._judge_answer(state, answer)
        equation = read_equation(claim)
        if equation is None or not (_proper(equation.left) and _proper(equation.right)):
            return None
        return self._judge_equation(state, equation)

    def _judge_answer(self, state: _Reduced, answer: Fraction) -> Judgement:
        if answer != self.answer:
            return false(state, f"the answer is {self.answer}, not {answer}")
        after = _Reduced(answer, state.claimed)
        if operations(state.form) <= 1:
            return valid(after, goal=True)
        return leap(after, f"{show(state.form)} is not reduced yet", goal=True)

    def _judge_equation(self, state: _Reduced, equation: Equation) -> Judgement:
        left, right, modulus = equation.left, equation.right, equation.modulus
        size = _integer(left)
        if (size - _integer(right)) % modulus if modulus else size != _integer(right):
            what = f"{size % modulus} modulo {modulus}" if modulus else f"{size}"
            return false(state, f"{show(left)} is {what}, not {show(right)}")
        if modulus not in (None, self.modulus):
            return leap(state, f"the modulus is {self.modulus}, not {modulus}")
        form, occurs = put_in(state.form, left, right, self._same)
        if not occurs and equation in state.claimed:
            return valid(state)
        claimed = state.claimed | {equation} if len(state.claimed) < _MAX_CLAIMS else state.claimed
        after = _Reduced(form if operations(form) <= operations(self.tree) else state.form, claimed)
        if not occurs:
            return leap(after, f"{show(left)} does not occur in {show(state.form)}")
        if self._is_step(left, right):
            return valid(after)
        return leap(after, f"from {show(left)} to {show(right)} is more than one operation")

    def _same(self, left: Fraction, right: Fraction) -> bool:
        return (left - right) % self.modulus == 0

    def _is_step(self, before: Tree, after: Tree) -> bool:
        if isinstance(before, Fraction):
            return before != after and after == before % self.modulus
        return one_step(before, after, self._same)


def _integer(tree: Tree) -> Fraction:
    result = value(tree)
    assert result is not None  # only proper trees come here: there is no division
    return result


def _proper(tree: Tree) -> bool:
    """Integers and no division."""
    return all(p.operator != "/" if isinstance(p, Operation) else p.denominator == 1 for p in parts(tree))


def _generate_reduction(rng: Random, level: int) -> Reduction:
    modulus = rng.choice((5, 5, 5, 7) if level == 1 else (5, 7))
    count = rng.choice(_OPERATIONS[level])
    return Reduction(_grow(rng, count, modulus), modulus)


def _grow(rng: Random, count: int, modulus: int) -> Tree:
    if count == 0:
        return Fraction(rng.randint(2, min(modulus - 1, 9)))
    left = rng.randrange(count)
    return Operation(rng.choice("+-**"), _grow(rng, left, modulus), _grow(rng, count - 1 - left, modulus))


class _Modular:
    """Numbers modulo m and Euclid's algorithm."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def techniques(self) -> tuple[str, ...]:
        return ("reduction", "euclid", "bezout")

    def generate(self, rng: Random, technique: str, level: int) -> Question:
        """Raises ValueError for an unknown technique or level."""
        if technique not in self.techniques or level not in _OPERATIONS:
            raise ValueError(f"no technique {technique!r} at level {level}")
        if technique == "reduction":
            return _generate_reduction(rng, level)
        return generate_gcd(rng, level) if technique == "euclid" else generate_inverse(rng, level)

    def read(self, statement: str) -> Question | None:
        if len(statement) > 300:
            return None
        text = statement.strip()
        if match := _GCD.fullmatch(text):
            return GreatestCommonDivisor.of(int(match[1]), int(match[2]))
        if match := _INVERSE.fullmatch(text):
            return Inverse.of(int(match[1]), int(match[2]))
        match = _STATEMENT.fullmatch(text)
        tree = parse(match[1]) if match else None
        if match is None or tree is None or int(match[2]) < _SMALLEST_MODULUS or not operations(tree):
            return None
        return Reduction(tree, int(match[2])) if _proper(tree) else None


DOMAIN = _Modular()
