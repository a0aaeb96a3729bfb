"""Inverses modulo m: Euclid's algorithm and back substitution.

`Find the inverse of 3 modulo 7.` Division steps `7 = 2 * 3 + 1.` down to remainder 1, then each remainder is written as
its division says, `1 = 7 - 2 * 3.`, until the two numbers of the statement are left.

What is one inference. Divisions are judged as in `euclid.py`. `r = x - q * y.` is valid if the division
`x = q * y + r` is established; `r = s * x + t * y.` if it comes from an established combination by putting one
established division in for its remainder. In a product the coefficient comes first; a coefficient 1 may be left out.
`a * r = 1 (mod m).` for the number a and the modulus m of the statement is valid too: one multiplication, which is what
being the inverse means. Any other true equation between numbers is a leap; it is kept if it is such a combination.

`The answer is r.`, with r in 0..m-1, is valid when `1 = s * m + t * a` is established with t congruent to r, or the
product with r was shown to be 1; the right number without that is a leap. An earlier claim may be repeated.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from random import Random

from maxproof.lab.arithmetic import Equation, Operation, Tree, read_answer, read_equation
from maxproof.lab.euclid import (
    Divided,
    Division,
    divisions,
    judge_division,
    judge_truth,
    level_of,
    pair_with,
    quotients,
    read_division,
)
from maxproof.lab.judgements import false, leap, valid
from maxproof.lab.types import Judgement

_STEPS: Mapping[int, tuple[int, ...]] = {1: (1,), 2: (2,), 3: (3,), 4: (4,)}
_LARGEST_MODULUS = {1: 30, 2: 30, 3: 60, 4: 99}
"""By level."""
_MAX_COMBINATIONS = 48
_HABITS = ("sign_lost", "outer_term_forgotten", "negative_made_positive")


@dataclass(frozen=True, slots=True)
class Combination:
    """`number` as a sum of multiples: pairs (number, coefficient other than 0), sorted by number."""

    number: int
    terms: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, number: int, terms: dict[int, int]) -> Combination:
        return cls(number, tuple(sorted((base, times) for base, times in terms.items() if times)))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is established; `shown`: that the answer is the inverse."""

    divided: Divided
    combinations: frozenset[Combination] = frozenset()
    shown: bool = False

    def combine(self, combination: Combination) -> _Known:
        if len(self.combinations) >= _MAX_COMBINATIONS:
            return self
        return replace(self, combinations=self.combinations | {combination})


@dataclass(frozen=True, slots=True)
class Inverse:
    """Of `number` modulo `modulus`, coprime, 1 < number < modulus; make it with `of`.

    Habits: `sign_lost` (a term keeps its sign when it moves over: r = x + q * y), `outer_term_forgotten` (when a
    remainder is put in, only the new product counts), `negative_made_positive` (the answer for -2 is 2).
    """

    number: int
    modulus: int

    @classmethod
    def of(cls, number: int, modulus: int) -> Inverse | None:
        return cls(number, modulus) if 1 < number < modulus and gcd(number, modulus) == 1 else None

    @property
    def domain(self) -> str:
        return "modular"

    @property
    def statement(self) -> str:
        return f"Find the inverse of {self.number} modulo {self.modulus}."

    @property
    def techniques(self) -> tuple[str, ...]:
        return ("bezout",)

    @property
    def level(self) -> int:
        return level_of(len(self._divisions()), _STEPS)

    @property
    def structure(self) -> str:
        """The quotients, as 1, 2, 3, 4 or more, in order; the sizes of modulus (in tens) and number (in fives)."""
        sizes = f"modulus {self.modulus // 10 * 10}+, number {self.number // 5 * 5}+"
        return f"bezout: {quotients(self._divisions())} {sizes}"

    @property
    def answer(self) -> int:
        return pow(self.number, -1, self.modulus)

    def _divisions(self) -> tuple[Division, ...]:
        return divisions(self.modulus, self.number, last=1)

    def habits(self, technique: str) -> tuple[str, ...]:
        return _HABITS if technique == "bezout" else ()

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique != "bezout" or not habits <= set(_HABITS):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} for {self.statement!r}")
        steps = self._divisions()
        claims = [f"{step}." for step in steps]
        sign = 1 if "sign_lost" in habits else -1
        # 1 = first * x + second * y with (x, y) the dividend and divisor of the division looked at.
        first, second = 1, sign * steps[-1].quotient
        claims.append(_combination(steps[-1], first, second))
        for step in reversed(steps[:-1]):
            outer = 0 if "outer_term_forgotten" in habits else first
            first, second = second, outer + sign * second * step.quotient
            claims.append(_combination(step, first, second))
        answer = abs(second) if "negative_made_positive" in habits else second
        return (*claims, f"The answer is {answer % self.modulus}.")

    def start(self) -> Hashable:
        return _Known(Divided((self.modulus, self.number)))

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, _Known)
        division = read_division(claim)
        if division is not None:
            judgement = judge_division(state.divided, division)
            assert isinstance(judgement.state, Divided)
            return replace(judgement, state=replace(state, divided=judgement.state))
        answer = read_answer(claim)
        if answer is not None:
            return self._judge_answer(state, answer)
        equation = read_equation(claim)
        if equation is None:
            return None
        wrong = judge_truth(state, equation)
        if wrong is not None:
            return wrong
        if equation.modulus is not None:
            factors = (Fraction(self.number), Fraction(self.answer))
            products = (Operation("*", *factors), Operation("*", *reversed(factors)))
            if equation in [Equation(product, Fraction(1), self.modulus) for product in products]:
                return valid(replace(state, shown=True))
            return leap(state, "this congruence is not what was asked for")
        combination = _as_combination(equation)
        if combination is None:
            return leap(state, "no division and no combination of two numbers")
        if combination in state.combinations or combination in _consequences(state, combination.number):
            return valid(state.combine(combination))
        return leap(state.combine(combination), f"{combination.number} was not written in this way by the divisions")

    def _judge_answer(self, state: _Known, answer: Fraction) -> Judgement:
        if answer != self.answer:
            return false(state, f"the inverse of {self.number} modulo {self.modulus} is {self.answer}, not {answer}")
        shown = state.shown or any(
            combination.number == 1
            and {base for base, _ in combination.terms} == {self.number, self.modulus}
            and (dict(combination.terms)[self.number] - self.answer) % self.modulus == 0
            for combination in state.combinations
        )
        if shown:
            return valid(state, goal=True)
        what = f"1 is not written with {self.modulus} and {self.number} yet"
        return leap(replace(state, shown=True), what, goal=True)


def _combination(step: Division, first: int, second: int) -> str:
    """`1 = first * dividend + second * divisor.`, the positive term first, a coefficient 1 left out."""
    terms = sorted([(first, step.dividend), (second, step.divisor)], key=lambda term: term[0] < 0)
    text = ""
    for times, base in terms:
        joint = (" - " if times < 0 else " + ") if text else ""
        text += joint + (f"{base}" if abs(times) == 1 else f"{abs(times)} * {base}")
    return f"1 = {text}."


def _as_combination(equation: Equation) -> Combination | None:
    """`r = s * x + t * y`: a number as a sum of at most two terms."""
    if not isinstance(equation.left, Fraction) or equation.left.denominator != 1:
        return None
    terms: dict[int, int] = {}
    for sign, part in _terms(equation.right):
        times, base = (part.left, part.right) if isinstance(part, Operation) else (Fraction(1), part)
        if (
            not isinstance(times, Fraction)
            or not isinstance(base, Fraction)
            or times.denominator * base.denominator != 1
        ):
            return None
        if isinstance(part, Operation) and part.operator != "*":
            return None
        terms[int(base)] = terms.get(int(base), 0) + sign * int(times)
    return Combination.of(int(equation.left), terms) if len(terms) <= 2 else None


def _terms(tree: Tree) -> Iterator[tuple[int, Tree]]:
    while isinstance(tree, Operation) and tree.operator in "+-":
        yield (1 if tree.operator == "+" else -1), tree.right
        tree = tree.left
    yield 1, tree


def _consequences(state: _Known, number: int) -> Iterator[Combination]:
    """What one rearranged division, or one division put into a combination, says of `number`."""
    for division in state.divided.divisions:
        if division.remainder == number:
            yield Combination.of(number, {division.dividend: 1, division.divisor: -division.quotient})
    for combination in state.combinations:
        if combination.number != number:
            continue
        for division in state.divided.divisions:
            terms = dict(combination.terms)
            times = terms.pop(division.remainder, 0)
            if times:
                terms[division.dividend] = terms.get(division.dividend, 0) + times
                terms[division.divisor] = terms.get(division.divisor, 0) - times * division.quotient
                yield Combination.of(number, terms)


def generate_inverse(rng: Random, level: int) -> Inverse:
    """A coprime pair with as many divisions as the level has; the modulus is as large as that allows."""
    while True:
        # One more division, by 1, is left out of the text: its quotient is the last remainder but one.
        modulus, number = pair_with(rng, rng.choice(_STEPS[level]) + 1, 1)
        if modulus <= _LARGEST_MODULUS[level]:
            return Inverse(number, modulus)
