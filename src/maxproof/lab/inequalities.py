"""Inequalities between quadratic polynomials, for all real values of the variables.

    Show that x^2 - 6 x + 10 >= 1.                        technique `completing_the_square`
    Show that x^2 + y^2 - 4 x + 6 y + 14 >= 1.            technique `sum_of_squares`
    Show that (x - 1)^2 + 2 (y + 3)^2 >= 0.               technique `sum_of_squares`
    Show that 3 x^2 + 12 y^2 >= 12 x y.                   technique `scaling`

A claim is an identity `A = B` or an inequality with >= or <=, of degree at most 2 in the question's variables. An
identity is true if both sides are the same polynomial, an inequality if the difference is positive semidefinite, both
decided exactly; whether a true one is one inference away is decided by `inequality_rules.py`. Nothing is established at
the start. The goal is the statement's inequality.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

from maxproof.lab import inequality_make
from maxproof.lab.forms import (
    Form,
    Relation,
    Term,
    canonical,
    has_brackets,
    is_collected,
    read_relation,
    shape,
    write_number,
    write_relation,
)
from maxproof.lab.inequality_rules import follows, is_known, is_nonnegative, ordered
from maxproof.lab.inequality_work import HABITS, completing_the_square, products, scaling, sum_of_squares
from maxproof.lab.linear_make import is_small
from maxproof.lab.linear_rules import value_of
from maxproof.lab.polynomials import TooLarge
from maxproof.lab.types import Judgement, Question, StepVerdict

MAX_KNOWN = 24
"""Established claims that are remembered; older ones are forgotten."""
MAX_SIZE = 10**4
"""Of numerators and denominators in a statement."""
MAX_SIDE_TERMS = 6
MAX_VARIABLES = 2

_STATEMENT = re.compile(r"Show that ([^.]+)\.")
_LEAP = "needs more than one inference from what is established"
_LEVELS = (3, 4, 6)
"""The most claims at levels 1, 2 and 3."""


@dataclass(frozen=True, slots=True)
class InequalityQuestion:
    """A true inequality that at least one technique proves. Made by `DOMAIN`."""

    goal: Relation
    techniques: tuple[str, ...]

    @property
    def domain(self) -> str:
        return "inequalities"

    @property
    def statement(self) -> str:
        return f"Show that {write_relation(self.goal)}."

    @property
    def level(self) -> int:
        length = len(self.solve(self.techniques[0]))
        return 1 + sum(length > most for most in _LEVELS)

    @property
    def structure(self) -> str:
        shapes = f"{shape(self.goal.left)} {self.goal.symbol} {shape(self.goal.right)}"
        return f"inequalities/{self.techniques[0]}: {shapes} ({len(self.solve(self.techniques[0]))} claims)"

    def habits(self, technique: str) -> tuple[str, ...]:
        return HABITS[technique]

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique not in self.techniques or not habits <= set(HABITS[technique]):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} here")
        left, right = _sides(self.goal)
        match technique:
            case "completing_the_square":
                return completing_the_square(self.goal, left, right, habits)
            case "sum_of_squares":
                return sum_of_squares(self.goal, left, right, habits)
            case _:
                parts = products(value_of(left), value_of(right))
                assert parts is not None, "scaling is a technique only where it applies"
                return scaling(self.goal, parts, value_of(right).coefficient(), habits)

    def start(self) -> Hashable:
        return ()

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, tuple)
        read = read_relation(claim.strip().removesuffix("."))
        if read is None:
            return None
        relation, goal = ordered(read), ordered(self.goal)
        try:
            left, right = value_of(relation.left), value_of(relation.right)
            difference = left - right
            asked = value_of(goal.left).variables() | value_of(goal.right).variables()
        except TooLarge:
            return None
        if not (left.variables() | right.variables()) <= asked or max(left.degree(), right.degree()) > 2:
            return None
        if difference.terms if relation.symbol == "=" else not is_nonnegative(difference):
            return Judgement(StepVerdict.FALSE, _falsehood(relation, asked), False, state)
        reached = relation == goal
        if is_known(relation, state):
            return Judgement(StepVerdict.VALID, "", reached, state)
        new = (*state, relation)[-MAX_KNOWN:]
        if follows(relation, state):
            return Judgement(StepVerdict.VALID, "", reached, new)
        return Judgement(StepVerdict.LEAP, _LEAP, reached, new)


def _sides(goal: Relation) -> tuple[Form, Form]:
    """As `left >= right`, terms as written."""
    return (goal.right, goal.left) if goal.symbol == "<=" else (goal.left, goal.right)


def _falsehood(relation: Relation, names: frozenset[str]) -> str:
    """Names a point where the claim fails, if there is a small one."""
    left, right = value_of(relation.left), value_of(relation.right)
    for size in range(7):
        for point in product(range(-size, size + 1), repeat=len(names)):
            values = {name: Fraction(number) for name, number in zip(sorted(names), point, strict=True)}
            first, second = left.at(values), right.at(values)
            if first != second if relation.symbol == "=" else first < second:
                where = " and ".join(f"{name} = {number}" for name, number in values.items())
                sides = f"one side is {write_number(first)} and the other is {write_number(second)}"
                return f"false at {where}: {sides}"
    return "false for some values"


class _Inequalities:
    """The domain: see `Domain`."""

    name = "inequalities"
    techniques = tuple(HABITS)

    def generate(self, rng: Random, technique: str, level: int) -> InequalityQuestion:
        """Draws until shape, level and the sizes of all numbers fit. Raises ValueError: unknown technique or level."""
        if technique not in self.techniques or level not in (1, 2, 3, 4):
            raise ValueError(f"no technique {technique!r} at level {level}")
        while True:
            question = question_of(inequality_make.draw(rng, technique, level))
            if question is None or question.techniques[0] != technique or question.level != level:
                continue
            if is_small(question):
                return question

    def read(self, statement: str) -> Question | None:
        """`Show that INEQUALITY.`"""
        found = _STATEMENT.fullmatch(statement)
        relation = read_relation(found.group(1)) if found else None
        return None if relation is None else question_of(relation)


def question_of(goal: Relation) -> InequalityQuestion | None:
    """The question that asks for a proof; None if it isn't true or no technique of this domain proves it."""
    if goal.symbol == "=" or not (_is_readable(goal.left) and _is_readable(goal.right)):
        return None
    try:
        if not is_nonnegative(value_of(_sides(goal)[0]) - value_of(_sides(goal)[1])):
            return None
        techniques = _techniques(*_sides(goal))
    except TooLarge:
        return None
    return InequalityQuestion(goal, techniques) if techniques else None


def _is_readable(form: Form) -> bool:
    """Small numbers, few terms; brackets only as squares of collected linear sums."""
    terms = [*form.terms]
    for term in form.terms:
        if has_brackets(Form((term,))):
            if not _is_square(term) or not isinstance(term.factors[0], Form) or not is_collected(term.factors[0]):
                return False
            terms += term.factors[0].terms
            if value_of(term.factors[0]).degree() > 1:
                return False
    sizes = [max(abs(term.coefficient.numerator), term.coefficient.denominator) for term in terms]
    if len(form.terms) > MAX_SIDE_TERMS or max(sizes, default=0) > MAX_SIZE:
        return False
    value = value_of(form)
    return value.degree() <= 2 and len(value.variables()) <= MAX_VARIABLES


def _is_square(term: Term) -> bool:
    return term.coefficient > 0 and len(term.factors) == 2 and term.factors[0] == term.factors[1]


def _techniques(left: Form, right: Form) -> tuple[str, ...]:
    """Which techniques prove a true inequality of readable sides, the natural one first."""
    if has_brackets(right):
        return ()
    if has_brackets(left):
        squares = [term for term in left.terms if term.factors]
        plain = (
            all(_is_square(term) for term in squares) and len({term.factors for term in squares}) == len(squares) > 1
        )
        rest = value_of(Form(tuple(term for term in left.terms if not term.factors))).constant()
        bound = value_of(right).constant()
        return ("sum_of_squares",) if plain and bound is not None and rest is not None and rest >= bound else ()
    if not (is_collected(left) and is_collected(right)):
        return ()
    polynomial, less = value_of(left), value_of(right)
    names = sorted(polynomial.variables() | less.variables())
    found: list[str] = []
    if less.constant() is None and products(polynomial, less):
        found.append("scaling")
    if len(names) == 1 and less.degree() <= 1 and polynomial.variables() == set(names):
        whole = polynomial - less
        if whole.coefficient(((names[0], 1),)) and whole.coefficient(((names[0], 2),)) > 0:
            found.append("completing_the_square")
    elif len(names) == 2 and less.constant() is not None and canonical(left) != canonical(right):
        linear = [polynomial.coefficient(((name, 1),)) for name in names]
        first, second = (polynomial.coefficient(((name, 2),)) for name in names)
        cross = polynomial.coefficient(tuple((name, 1) for name in names))
        joined = bool(cross) and first == 1 and not any(linear) and polynomial.coefficient() >= less.coefficient()
        apart = not cross and any(linear) and first == second == 1
        if joined or apart:
            found.append("sum_of_squares")
    return tuple(found)


DOMAIN = _Inequalities()
