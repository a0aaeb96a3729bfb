"""Linear equations in one variable, and systems of two, over the rationals.

    Solve 3 x + 4 = 10.                    technique `isolation`
    Solve 2 x + 3 y = 7 and 4 x - y = 5.   techniques `elimination`, `substitution`

A claim is an equation in the question's variables, several joined by "and", or the answer. It is true if it holds at
the solution; whether a true one is one inference away is decided by `linear_rules.py`. Identities (no variable left
over) are checked alone and establish nothing. The goal is `The answer is 2.` or `The answer is x = 2 and y = 3.`, and
follows once every value is established as `x = 2`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from maxproof.lab import linear_make
from maxproof.lab.forms import (
    Form,
    Relation,
    collected,
    has_brackets,
    is_collected,
    number_form,
    polynomial_of,
    read_form,
    read_relation,
    shape,
    write_number,
    write_relation,
)
from maxproof.lab.language import answer_of
from maxproof.lab.linear_rules import Equation, equation, follows, is_known, is_simplification
from maxproof.lab.linear_work import HABITS, definition, elimination, isolation, substitution
from maxproof.lab.polynomials import Polynomial, TooLarge, variable
from maxproof.lab.types import Judgement, Question, StepVerdict

MAX_KNOWN = 24
"""Established equations that are remembered beside those of the statement; older ones are forgotten."""
MAX_SIZE = 10**6
"""Of numerators and denominators in a statement."""
MAX_SIDE_TERMS = 6
MAX_CONJUNCTS = 4

_STATEMENT = re.compile(r"Solve ([^.]+)\.")
_LEAP = "needs more than one inference from what is established"

# The most claims of the natural technique at levels 1, 2 and 3.
_LEVELS = {"isolation": (3, 4, 6), "elimination": (4, 5, 6), "substitution": (4, 6, 7)}


@dataclass(frozen=True, slots=True)
class LinearQuestion:
    """One equation in one variable or two in two, with exactly one solution. Made by `DOMAIN`."""

    equations: tuple[Relation, ...]
    values: tuple[tuple[str, Fraction], ...]

    @property
    def domain(self) -> str:
        return "linear"

    @property
    def statement(self) -> str:
        return f"Solve {' and '.join(write_relation(each) for each in self.equations)}."

    @property
    def techniques(self) -> tuple[str, ...]:
        if len(self.equations) == 1:
            return ("isolation",)
        start = definition(self._system())
        if start is None:
            return ("elimination",)
        return ("substitution", "elimination") if start[2] else ("elimination", "substitution")

    @property
    def level(self) -> int:
        technique = self.techniques[0]
        length = len(self.solve(technique))
        return 1 + sum(length > most for most in _LEVELS[technique])

    @property
    def structure(self) -> str:
        shapes = " and ".join(f"{shape(each.left)} = {shape(each.right)}" for each in self.equations)
        whole = all(value.denominator == 1 for _, value in self.values)
        return f"linear/{self.techniques[0]}: {shapes} ({'integer' if whole else 'fraction'})"

    def habits(self, technique: str) -> tuple[str, ...]:
        return HABITS[technique]

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique not in self.techniques or not habits <= set(HABITS[technique]):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} here")
        names = [name for name, _ in self.values]
        match technique:
            case "isolation":
                return isolation(self._system()[0], names[0], habits)
            case "elimination":
                return elimination(self._system(), names, habits)
            case _:
                return substitution(self._system(), names, habits)

    def start(self) -> Hashable:
        return tuple(equation(each.left, each.right) for each in self.equations)

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, tuple)
        claim = claim.strip().removesuffix(".")
        answer = answer_of(claim)
        if answer is not None and len(self.values) == 1 and (form := read_form(answer)) is not None:
            return self._answered(state, {self.values[0][0]: form})
        relations = [read_relation(part) for part in (claim if answer is None else answer).split(" and ")]
        equations = [equation(each.left, each.right) for each in relations if each and each.symbol == "="]
        if len(equations) < len(relations) or len(equations) > MAX_CONJUNCTS:
            return None
        if answer is None:
            return self._claimed(state, equations)
        named = {name: each.right for each in equations for name in dict(self.values) if each.left == _lone(name)}
        return self._answered(state, named) if len(named) == len(equations) else None

    def _claimed(self, state: tuple[Equation, ...], equations: list[Equation]) -> Judgement | None:
        """The claim that all of the equations hold; each must follow from what was there before the sentence."""
        verdict, new = StepVerdict.VALID, state
        for each in equations:
            left, right = polynomial_of(each.left), polynomial_of(each.right)
            if left is None or right is None or not (left.variables() | right.variables()) <= dict(self.values).keys():
                return None
            try:
                first, second = left.at(dict(self.values)), right.at(dict(self.values))
                difference = left - right
            except TooLarge:
                return None
            if first != second:
                return Judgement(StepVerdict.FALSE, self._falsehood(difference, first, second), False, state)
            identity = not difference.terms
            if not (is_simplification(each.left, each.right) if identity else follows(each, state)):
                verdict = StepVerdict.LEAP
            if not identity and not is_known(each, new):
                new = self._remembered((*new, each))
        return Judgement(verdict, _LEAP if verdict is StepVerdict.LEAP else "", False, new)

    def _remembered(self, known: tuple[Equation, ...]) -> tuple[Equation, ...]:
        given = len(self.equations)
        return known[:given] + known[given:][-MAX_KNOWN:]

    def _falsehood(self, difference: Polynomial, left: Fraction, right: Fraction) -> str:
        sides = f"the left side is {write_number(left)} and the right side is {write_number(right)}"
        if difference.constant() is not None:
            return f"false: {sides}"
        return f"false at {self._solution()}: {sides}"

    def _solution(self) -> str:
        return " and ".join(f"{name} = {write_number(value)}" for name, value in self.values)

    def _answered(self, state: tuple[Equation, ...], named: dict[str, Form]) -> Judgement | None:
        for name, form in named.items():
            value = polynomial_of(form)
            if value is None or value.constant() is None:
                return None
            if value.constant() != dict(self.values)[name]:
                return Judgement(StepVerdict.FALSE, f"false: the solution is {self._solution()}", False, state)
        if missing := [name for name, _ in self.values if name not in named]:
            return Judgement(StepVerdict.LEAP, f"the answer leaves out {missing[0]}", False, state)
        if all(is_known(equation(_lone(name), number_form(value)), state) for name, value in self.values):
            return Judgement(StepVerdict.VALID, "", True, state)
        return Judgement(StepVerdict.LEAP, "the answer is not established", True, state)

    def _system(self) -> tuple[tuple[Form, Form], ...]:
        return tuple((each.left, each.right) for each in self.equations)


def _lone(name: str) -> Form:
    return collected(variable(name))


class _Linear:
    """The domain: see `Domain`."""

    name = "linear"
    techniques = tuple(HABITS)

    def generate(self, rng: Random, technique: str, level: int) -> LinearQuestion:
        """Draws until shape, level and the sizes of all numbers fit. Raises ValueError: unknown technique or level."""
        if technique not in self.techniques or level not in (1, 2, 3, 4):
            raise ValueError(f"no technique {technique!r} at level {level}")
        while True:
            question = question_of(linear_make.draw(rng, technique, level))
            if question is None or question.techniques[0] != technique or question.level != level:
                continue
            if linear_make.is_small(question):
                return question

    def read(self, statement: str) -> Question | None:
        """`Solve EQUATION.` or `Solve EQUATION and EQUATION.`"""
        found = _STATEMENT.fullmatch(statement)
        if found is None:
            return None
        relations = [read_relation(part) for part in found.group(1).split(" and ")]
        return question_of([each for each in relations if each is not None]) if all(relations) else None


def question_of(equations: list[Relation]) -> LinearQuestion | None:
    """The question that asks for the solution; None if it isn't one of this domain, or hasn't exactly one solution."""
    if not 1 <= len(equations) <= 2 or not all(_is_readable(each, len(equations)) for each in equations):
        return None
    try:
        zeros = [_value(each.left) - _value(each.right) for each in equations]
        names = sorted(
            {name for each in equations for side in (each.left, each.right) for name in _value(side).variables()}
        )
        values = _solution(zeros, names)
    except TooLarge:
        return None
    return None if values is None else LinearQuestion(tuple(equations), tuple(zip(names, values, strict=True)))


def _is_readable(each: Relation, equations: int) -> bool:
    for side in (each.left, each.right):
        if len(side.terms) > MAX_SIDE_TERMS or (equations == 2 and not is_collected(side)):
            return False
        terms = [*side.terms]
        for term in side.terms:
            if has_brackets(Form((term,))):
                inner = term.factors[0]
                if len(term.factors) > 1 or not isinstance(inner, Form) or has_brackets(inner):
                    return False
                terms += inner.terms
        sizes = [max(abs(term.coefficient.numerator), term.coefficient.denominator) for term in terms]
        value = polynomial_of(side)
        if value is None or value.degree() > 1 or max(sizes, default=0) > MAX_SIZE:
            return False
        if any(len(term.factors) > 1 for term in terms):
            return False
    return each.symbol == "="


def _value(form: Form) -> Polynomial:
    value = polynomial_of(form)
    if value is None:
        raise TooLarge
    return value


def _solution(zeros: list[Polynomial], names: list[str]) -> list[Fraction] | None:
    """The only point where all are 0; None if there is none, more than one, or no variable that both equations have."""
    if len(names) != len(zeros):
        return None
    rows = [[each.coefficient(((name, 1),)) for name in names] for each in zeros]
    constants = [-each.coefficient() for each in zeros]
    if len(zeros) == 1:
        return [constants[0] / rows[0][0]] if rows[0][0] else None
    (a, b), (c, d) = rows
    determinant = a * d - b * c
    if not determinant or not ((a and c) or (b and d)):
        return None
    return [(constants[0] * d - constants[1] * b) / determinant, (a * constants[1] - c * constants[0]) / determinant]


DOMAIN = _Linear()
