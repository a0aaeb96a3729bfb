"""Euclid's algorithm: the greatest common divisor, and the inverse modulo m by back substitution.

- `euclid`: `Find the greatest common divisor of 48 and 18.` Division steps `48 = 2 * 18 + 12.` down to remainder 0.
- `bezout`: `Find the inverse of 3 modulo 7.` Division steps down to remainder 1, then back substitution: each remainder
  is written as its division says (`1 = 7 - 2 * 3.`) until the two numbers of the statement are left.

What is one inference. The state is the current pair (x, y), x > y, with the divisions and combinations established.

- `x = q * y + r.` is valid for the current pair with 0 <= r < y (`+ 0` may be left out); then (y, r) is the pair. A
  true division of a later pair is a leap, and the pair moves on from there.
- `r = x - q * y.` is valid if the division `x = q * y + r` is established. `r = s * x + t * y.` is valid if it comes
  from an established combination by putting one established division in for its remainder. In a product the
  coefficient comes first. Any other true equation between numbers is a leap; it is kept if it is such a combination.
- For an inverse, `a * r = 1 (mod m).` is valid: one multiplication, which is what being the inverse means.
- `The answer is A.` For the greatest common divisor it is valid when the remainder 0 is reached; for the inverse, with
  A in 0..m-1, when `1 = s * m + t * a` is established with t congruent to A, or the product with A was shown to be 1.
  The right number without that is a leap.

An earlier claim may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from random import Random

from maxproof.lab.arithmetic import Equation, Operation, Tree, read_answer, read_equation, show, value
from maxproof.lab.types import Judgement, StepVerdict

_DIVISION_STEPS = {1: (1, 2), 2: (3,), 3: (4, 5), 4: (6, 7)}
_INVERSE_STEPS = {1: (1,), 2: (2,), 3: (3,), 4: (4,)}
_LARGEST_NUMBER = 199
_LARGEST_MODULUS = 99
_MAX_FACTS = 48
_DIVISION = re.compile(r"([0-9]{1,6}) = ([0-9]{1,6}) \* ([0-9]{1,6})(?: \+ ([0-9]{1,6}))?\.?")
_GCD_HABITS = ("remainder_plus_one", "remainder_complement", "answer_from_dividend")
_INVERSE_HABITS = ("sign_lost", "outer_term_forgotten", "negative_made_positive")


def valid(state: Hashable, goal: bool = False) -> Judgement:
    return Judgement(StepVerdict.VALID, "", goal, state)


def leap(state: Hashable, description: str, goal: bool = False) -> Judgement:
    return Judgement(StepVerdict.LEAP, description, goal, state)


def false(state: Hashable, description: str) -> Judgement:
    return Judgement(StepVerdict.FALSE, description, False, state)


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
class Combination:
    """`number` as a sum of multiples: pairs (number, coefficient other than 0), sorted by number."""

    number: int
    terms: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, number: int, terms: dict[int, int]) -> Combination:
        return cls(number, tuple(sorted((base, times) for base, times in terms.items() if times)))


@dataclass(frozen=True, slots=True)
class _Known:
    """The current pair and what is established besides."""

    pair: tuple[int, int]
    divisions: frozenset[Division] = frozenset()
    combinations: frozenset[Combination] = frozenset()
    inverse_shown: bool = False

    def divide(self, division: Division) -> _Known:
        if len(self.divisions) >= _MAX_FACTS:
            return self
        return replace(self, pair=(division.divisor, division.remainder), divisions=self.divisions | {division})

    def combine(self, combination: Combination) -> _Known:
        if len(self.combinations) >= _MAX_FACTS:
            return self
        return replace(self, combinations=self.combinations | {combination})


def divisions(larger: int, smaller: int, last: int) -> tuple[Division, ...]:
    """Euclid's divisions of a pair until a remainder is at most `last`."""
    steps = []
    while smaller > last:
        steps.append(Division(larger, larger // smaller, smaller, larger % smaller))
        larger, smaller = smaller, larger % smaller
    return tuple(steps)


def _judge_division(state: _Known, division: Division) -> Judgement:
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


def _read_division(claim: str) -> Division | None:
    match = _DIVISION.fullmatch(claim.strip()) if len(claim) <= 60 else None
    return None if match is None else Division(*(int(number or 0) for number in match.groups()))


def _judge_equality(state: Hashable, equation: Equation) -> Judgement | None:
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
        return _level(len(divisions(self.larger, self.smaller, last=0)), _DIVISION_STEPS)

    @property
    def structure(self) -> str:
        """The quotients, as 1, 2, 3, 4 or more, in order; whether the numbers are coprime."""
        coprime = "coprime" if self.answer == 1 else "common factor"
        return f"euclid: {_quotients(divisions(self.larger, self.smaller, last=0))} {coprime}"

    @property
    def answer(self) -> int:
        return gcd(self.larger, self.smaller)

    def habits(self, technique: str) -> tuple[str, ...]:
        return _GCD_HABITS if technique == "euclid" else ()

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique != "euclid" or not habits <= set(_GCD_HABITS):
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
        return _Known((self.larger, self.smaller))

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, _Known)
        division = _read_division(claim)
        if division is not None:
            return _judge_division(state, division)
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
        return _judge_equality(state, equation) or leap(state, "no division step")


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
        return _level(len(self._divisions()), _INVERSE_STEPS)

    @property
    def structure(self) -> str:
        """The quotients, as 1, 2, 3, 4 or more, in order; the tens of the modulus."""
        return f"bezout: {_quotients(self._divisions())} modulus {self.modulus // 10}*"

    @property
    def answer(self) -> int:
        return pow(self.number, -1, self.modulus)

    def _divisions(self) -> tuple[Division, ...]:
        return divisions(self.modulus, self.number, last=1)

    def habits(self, technique: str) -> tuple[str, ...]:
        return _INVERSE_HABITS if technique == "bezout" else ()

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique != "bezout" or not habits <= set(_INVERSE_HABITS):
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
        return _Known((self.modulus, self.number))

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, _Known)
        division = _read_division(claim)
        if division is not None:
            return _judge_division(state, division)
        answer = read_answer(claim)
        if answer is not None:
            return self._judge_answer(state, answer)
        equation = read_equation(claim)
        if equation is None:
            return None
        wrong = _judge_equality(state, equation)
        if wrong is not None:
            return wrong
        if equation.modulus is not None:
            factors = (Fraction(self.number), Fraction(self.answer))
            products = (Operation("*", *factors), Operation("*", *reversed(factors)))
            if equation in [Equation(product, Fraction(1), self.modulus) for product in products]:
                return valid(replace(state, inverse_shown=True))
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
        shown = state.inverse_shown or any(
            combination.number == 1
            and {base for base, _ in combination.terms} == {self.number, self.modulus}
            and (dict(combination.terms)[self.number] - self.answer) % self.modulus == 0
            for combination in state.combinations
        )
        if shown:
            return valid(state, goal=True)
        what = f"1 is not written with {self.modulus} and {self.number} yet"
        return leap(replace(state, inverse_shown=True), what, goal=True)


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
    for division in state.divisions:
        if division.remainder == number:
            yield Combination.of(number, {division.dividend: 1, division.divisor: -division.quotient})
    for combination in state.combinations:
        if combination.number != number:
            continue
        for division in state.divisions:
            terms = dict(combination.terms)
            times = terms.pop(division.remainder, 0)
            if times:
                terms[division.dividend] = terms.get(division.dividend, 0) + times
                terms[division.divisor] = terms.get(division.divisor, 0) - times * division.quotient
                yield Combination.of(number, terms)


def _quotients(steps: tuple[Division, ...]) -> str:
    return " ".join(str(step.quotient) if step.quotient < 4 else "4+" for step in steps)


def _level(steps: int, table: dict[int, tuple[int, ...]]) -> int:
    return next((level for level, counts in table.items() if steps <= counts[-1]), 4)


def generate_gcd(rng: Random, level: int) -> GreatestCommonDivisor:
    """A pair with as many divisions as the level has, numbers up to 199."""
    while True:
        larger, smaller = _pair(rng, rng.choice(_DIVISION_STEPS[level]), rng.randint(1, 12))
        if larger <= _LARGEST_NUMBER:
            return GreatestCommonDivisor(larger, smaller)


def generate_inverse(rng: Random, level: int) -> Inverse:
    """A coprime pair with as many divisions down to remainder 1 as the level has, the modulus up to 99."""
    while True:
        # One more division, by 1, is left out of the text: its quotient is the last remainder but one.
        modulus, number = _pair(rng, rng.choice(_INVERSE_STEPS[level]) + 1, 1)
        if modulus <= _LARGEST_MODULUS:
            return Inverse(number, modulus)


def _pair(rng: Random, steps: int, common: int) -> tuple[int, int]:
    """Two numbers with greatest common divisor `common` and exactly `steps` divisions."""
    larger, smaller = common, 0
    for index in range(steps):
        if index:
            quotient = rng.randint(1, 7) if steps < 3 else rng.choice((1, 1, 2, 3, 4))
        else:
            quotient = rng.randint(2, 12)
        larger, smaller = quotient * larger + smaller, larger
    return larger, smaller
