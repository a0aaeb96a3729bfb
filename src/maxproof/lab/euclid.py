"""Euclid's algorithm: the greatest common divisor.

`Find the greatest common divisor of 48 and 18.` Division steps `48 = 2 * 18 + 12.` down to remainder 0.

What is one inference. The state is the current pair (x, y), x > y, and the divisions established. `x = q * y + r.` is
valid for the current pair with 0 <= r < y (`+ 0` may be left out); then (y, r) is the pair. A true division of a later
pair is a leap, and the pair moves on from there; any other true equation between numbers is a leap that establishes
nothing. `The answer is g.` is valid when the remainder 0 is reached; the right number without that is a leap. A
division may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from math import gcd
from random import Random

from maxproof.lab.arithmetic import Equation, read_answer, read_equation, show, value
from maxproof.lab.judgements import false, leap, valid
from maxproof.lab.types import Judgement

_STEPS: Mapping[int, tuple[int, ...]] = {1: (1, 2), 2: (3,), 3: (4, 5), 4: (6, 7)}
_LARGEST_NUMBER = {1: 40, 2: 40, 3: 60, 4: 99}
"""By level."""
_MAX_DIVISIONS = 48
_DIVISION = re.compile(r"([0-9]{1,6}) = ([0-9]{1,6}) \* ([0-9]{1,6})(?: \+ ([0-9]{1,6}))?\.?")
_HABITS = ("remainder_plus_one", "remainder_complement", "answer_from_dividend")


@dataclass(frozen=True, slots=True)
class Division:
    """`dividend = quotient * divisor + remainder`."""

    dividend: int
    quotient: int
    divisor: int
    remainder: int

    def holds(self) -> bool:
        return self.dividend == self.quotient * self.divisor + self.remainder

    def proper(self) -> bool:
        return 0 <= self.remainder < self.divisor

    def __str__(self) -> str:
        return f"{self.dividend} = {self.quotient} * {self.divisor} + {self.remainder}"


@dataclass(frozen=True, slots=True)
class Divided:
    """The current pair and the divisions established."""

    pair: tuple[int, int]
    divisions: frozenset[Division] = frozenset()

    def divide(self, division: Division) -> Divided:
        """After a division: its divisor and remainder are the pair."""
        if len(self.divisions) >= _MAX_DIVISIONS:
            return self
        return Divided((division.divisor, division.remainder), self.divisions | {division})


def divisions(larger: int, smaller: int, last: int) -> tuple[Division, ...]:
    """Euclid's divisions of a pair until a remainder is at most `last`."""
    steps = []
    while smaller > last:
        steps.append(Division(larger, larger // smaller, smaller, larger % smaller))
        larger, smaller = smaller, larger % smaller
    return tuple(steps)


def judge_division(state: Divided, division: Division) -> Judgement:
    """The state of the judgement is a `Divided`."""
    if not division.holds():
        return false(
            state, f"{division.quotient} * {division.divisor} + {division.remainder} is not {division.dividend}"
        )
    if division in state.divisions:
        return valid(state)
    if not division.proper():
        return leap(state, f"{division.remainder} is not a remainder below {division.divisor}")
    if (division.dividend, division.divisor) == state.pair:
        return valid(state.divide(division))
    what = f"the next division is of {state.pair[0]} by {state.pair[1]}"
    later = division in divisions(*state.pair, last=0)
    return leap(state.divide(division) if later else state, what)


def read_division(claim: str) -> Division | None:
    """`x = q * y + r.` or `x = q * y.`; None for anything else."""
    match = _DIVISION.fullmatch(claim.strip()) if len(claim) <= 60 else None
    return None if match is None else Division(*(int(number or 0) for number in match.groups()))


def judge_truth(state: Hashable, equation: Equation) -> Judgement | None:
    """An equation as plain arithmetic: None if it is true."""
    left, right, modulus = value(equation.left), value(equation.right), equation.modulus
    if left is None or right is None:
        return false(state, "a division by zero")
    apart = left - right
    if apart % modulus if modulus else apart:
        return false(state, f"{show(equation.left)} is {left}, not {show(equation.right)}" + _modulo(modulus))
    return None


def _modulo(modulus: int | None) -> str:
    return f" modulo {modulus}" if modulus else ""


@dataclass(frozen=True, slots=True)
class GreatestCommonDivisor:
    """Of `larger` > `smaller` > 0; make it with `of`.

    Habits: `remainder_plus_one` (each division as if the dividend were one larger), `remainder_complement` (what is
    missing to the next multiple is taken for the remainder), `answer_from_dividend` (the last dividend is the answer).
    """

    larger: int
    smaller: int

    @classmethod
    def of(cls, larger: int, smaller: int) -> GreatestCommonDivisor | None:
        return cls(larger, smaller) if larger > smaller > 0 else None

    @property
    def domain(self) -> str:
        return "modular"

    @property
    def statement(self) -> str:
        return f"Find the greatest common divisor of {self.larger} and {self.smaller}."

    @property
    def techniques(self) -> tuple[str, ...]:
        return ("euclid",)

    @property
    def level(self) -> int:
        return level_of(len(divisions(self.larger, self.smaller, last=0)), _STEPS)

    @property
    def structure(self) -> str:
        """The quotients, as 1, 2, 3, 4 or more, in order; whether the numbers are coprime; the size of the larger."""
        coprime = "coprime" if self.answer == 1 else "common factor"
        size = f"up to {-(-self.larger // 40) * 40}"
        return f"euclid: {quotients(divisions(self.larger, self.smaller, last=0))} {coprime}, {size}"

    @property
    def answer(self) -> int:
        return gcd(self.larger, self.smaller)

    def habits(self, technique: str) -> tuple[str, ...]:
        return _HABITS if technique == "euclid" else ()

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique != "euclid" or not habits <= set(_HABITS):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} for {self.statement!r}")
        claims: list[str] = []
        x, y = self.larger, self.smaller
        while y:
            quotient, remainder = divmod(x + ("remainder_plus_one" in habits), y)
            if remainder and "remainder_complement" in habits:
                remainder = y - remainder
            claims.append(f"{x} = {quotient} * {y} + {remainder}.")
            last, x, y = x, y, remainder
        return (*claims, f"The answer is {last if 'answer_from_dividend' in habits else x}.")

    def start(self) -> Hashable:
        return Divided((self.larger, self.smaller))

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, Divided)
        division = read_division(claim)
        if division is not None:
            return judge_division(state, division)
        answer = read_answer(claim)
        if answer is not None:
            if answer != self.answer:
                return false(state, f"the greatest common divisor is {self.answer}, not {answer}")
            if not state.pair[1]:
                return valid(state, goal=True)
            after = replace(state, pair=(self.answer, 0))
            return leap(after, f"{state.pair[0]} by {state.pair[1]} is still to be divided", goal=True)
        equation = read_equation(claim)
        if equation is None:
            return None
        return judge_truth(state, equation) or leap(state, "no division step")


def quotients(steps: tuple[Division, ...]) -> str:
    """The quotients in order, as 1, 2, 3 or 4+: the part of a question's structure that its divisions are."""
    return " ".join(str(step.quotient) if step.quotient < 4 else "4+" for step in steps)


def level_of(steps: int, table: Mapping[int, tuple[int, ...]]) -> int:
    """The lowest level, 1 to 4, with as many `steps`; `table` has the numbers of steps of each, smallest first."""
    return next((level for level, counts in table.items() if steps <= counts[-1]), 4)


def generate_gcd(rng: Random, level: int) -> GreatestCommonDivisor:
    """A pair with as many divisions as the level has, numbers as large as that allows."""
    while True:
        larger, smaller = pair_with(rng, rng.choice(_STEPS[level]), rng.randint(1, 4))
        if larger <= _LARGEST_NUMBER[level]:
            return GreatestCommonDivisor(larger, smaller)


def pair_with(rng: Random, steps: int, common: int) -> tuple[int, int]:
    """Two numbers with greatest common divisor `common` and exactly `steps` divisions."""
    larger, smaller = common, 0
    for index in range(steps):
        middle = rng.randint(1, 7) if steps < 3 else rng.choice((1, 1, 2, 3, 4))
        quotient = middle if index else rng.randint(2, 16)
        larger, smaller = quotient * larger + smaller, larger
    return larger, smaller
