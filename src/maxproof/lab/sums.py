"""Sums and products over k: term by term, by pairing first and last, by telescoping.

    Compute the sum of 2 k + 1 for k from 1 to 4.
    Compute the product of (k + 1) / k for k from 2 to 7.

How claims are judged: `sum_rules.py`. What telescopes: `telescoping.py`. What is drawn: `sum_families.py`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from maxproof.lab import arithmetic, telescoping
from maxproof.lab.arithmetic import show, value
from maxproof.lab.expressions import Number, parse, variables
from maxproof.lab.series import Range, values
from maxproof.lab.sum_families import generate_series
from maxproof.lab.sum_rules import Known, judge
from maxproof.lab.types import Judgement, Question, StepVerdict

NAME = "sums"
TECHNIQUES = ("accumulation", "pairing", "telescoping")
MAX_TERMS = 40
_MAX_CHARS = 300
_LONGEST_ACCUMULATION = 7
_LARGEST_NUMBER = 150
_STATEMENT = re.compile(r"Compute the (sum|product) of (.+) for k from (-?[0-9]{1,3}) to (-?[0-9]{1,3})\.?")
_COUNT = re.compile(r"there are ([0-9]{1,6}) terms", re.IGNORECASE)
_TERMS = re.compile(r"the terms are (.+)", re.IGNORECASE)
_END = re.compile(r"the (first|last) term is (.+)", re.IGNORECASE)
_ENDS = re.compile(r"the (sum|product) is (.+)", re.IGNORECASE)
_HABITS = {
    "accumulation": ("last_term_forgotten", "addition_plus_one", "minus_read_as_plus"),
    "pairing": ("count_without_one", "half_forgotten", "last_term_early"),
    "telescoping": ("end_one_early", "ends_swapped", "gap_taken_for_one"),
}


@dataclass(frozen=True, slots=True)
class Series(Range):
    """The sum (or product) of `term`, a text in k, for k from `first` to `last`; make it with `read`.

    Habits of `accumulation`: `last_term_forgotten`, `addition_plus_one` (a running sum comes out one too large),
    `minus_read_as_plus` (in the term); of `pairing`: `count_without_one` (last - first is taken for the number of
    terms), `half_forgotten`, `last_term_early` (k stops one early); of `telescoping`: `end_one_early` (the late ends
    are taken one place early), `ends_swapped`, `gap_taken_for_one` (of several ends on each side only the outermost).
    """

    @property
    def domain(self) -> str:
        return NAME

    @property
    def statement(self) -> str:
        return f"Compute the {self.kind} of {self.term} for k from {self.first} to {self.last}."

    @property
    def techniques(self) -> tuple[str, ...]:
        return _techniques(self)

    @property
    def level(self) -> int:
        """By the claims of the natural technique; pairing always has 6, there it is by the number of terms."""
        technique = self.techniques[0]
        if technique == "pairing":
            return min(4, max(1, len(self.terms) // 2 - 3))
        return {2: 1, 3: 1, 4: 2, 5: 3, 6: 3}.get(len(self.solve(technique)), 4)

    @property
    def structure(self) -> str:
        """The term with n for its numbers (exponents stay), the gap of a split, where k begins, the number of terms."""
        shape = re.sub(r"(?<!\^)-?\b[0-9]+", "n", self.term)
        split = self._split_to_use()
        start = self.first if self.first in (0, 1) else "later"
        gap = f" gap {split.gap}" if split is not None else ""
        return f"{self.techniques[0]}: {self.kind} of {shape}{gap} from {start}, {len(self.terms)} terms"

    def habits(self, technique: str) -> tuple[str, ...]:
        return _HABITS.get(technique, ())

    def solve(self, technique: str, habits: frozenset[str] = frozenset()) -> tuple[str, ...]:
        if technique not in self.techniques or not habits <= set(_HABITS[technique]):
            raise ValueError(f"no technique {technique!r} with habits {sorted(habits)} for {self.statement!r}")
        return self._proof(technique, habits)

    def _proof(self, technique: str, habits: frozenset[str]) -> tuple[str, ...]:
        if technique == "accumulation":
            return self._accumulate(habits)
        return self._pair(habits) if technique == "pairing" else self._telescope(habits)

    def _accumulate(self, habits: frozenset[str]) -> tuple[str, ...]:
        text = self.term.replace("-", "+") if "minus_read_as_plus" in habits else self.term
        last = self.last - ("last_term_forgotten" in habits)
        # A term that has no value without its minus signs is read as it stands.
        terms = values(text, self.first, last) or values(self.term, self.first, last)
        claims = [f"The terms are {', '.join(map(str, terms))}."]
        total = terms[0]
        for term in terms[1:]:
            after = total + term + ("addition_plus_one" in habits)
            claims.append(f"{total} {'-' if term < 0 else '+'} {abs(term)} = {after}.")
            total = after
        return (*claims, f"The answer is {total}.")

    def _pair(self, habits: frozenset[str]) -> tuple[str, ...]:
        count = len(self.terms) - ("count_without_one" in habits)
        first, last = self.terms[0], self.terms[-2 if "last_term_early" in habits else -1]
        both = first + last
        total = count * both / (1 if "half_forgotten" in habits else 2)
        return (
            f"There are {count} terms.",
            f"The first term is {first}.",
            f"The last term is {last}.",
            f"{first} {'-' if last < 0 else '+'} {abs(last)} = {both}.",
            f"{count} * {both} = {total}." if "half_forgotten" in habits else f"{count} * {both} / 2 = {total}.",
            f"The answer is {total}.",
        )

    def _split_to_use(self) -> telescoping.Split | None:
        identity = telescoping.identity_for(self.node, self.product)
        node = self.node if identity is None else parse(identity)
        return None if node is None else telescoping.neighbours(node, self.product)

    def _telescope(self, habits: frozenset[str]) -> tuple[str, ...]:
        identity = telescoping.identity_for(self.node, self.product)
        claims = [f"{self.term} = {identity}."] if identity is not None else []
        split = self._split_to_use()
        assert split is not None  # else it is no technique of this question
        ends = telescoping.ends(split, self.first, self.last, self.product)
        if "end_one_early" in habits:
            early = telescoping.ends(split, self.first, self.last - 1, self.product)
            if ends is not None and early is not None:
                # Only the late ends move.
                ends = replace(ends, minus=early.minus) if split.forwards else replace(ends, plus=early.plus)
        assert ends is not None
        if "gap_taken_for_one" in habits and split.gap > 1:
            # The first of the early ends and the last of the late ones.
            sides = ends.plus[:1], ends.minus[-1:]
            ends = telescoping.Ends(*sides if split.forwards else (ends.plus[-1:], ends.minus[:1]))
        if "ends_swapped" in habits:
            ends = telescoping.Ends(ends.minus, ends.plus)
        text = telescoping.write_ends(ends, self.product)
        claims.append(f"The {self.kind} is {text}.")
        form = arithmetic.parse(text)
        while form is not None and (step := arithmetic.ready(form)) is not None and (result := value(step)) is not None:
            claims.append(f"{show(step)} = {result}.")
            form = arithmetic.replace(form, step, result)
        return (*claims, f"The answer is {form}.")

    def start(self) -> Hashable:
        return Known(self.usable(self.node))

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, Known)
        return judge(self, state, claim)


@lru_cache(maxsize=4096)
def _techniques(series: Series) -> tuple[str, ...]:
    """The natural technique first; others only where their numbers stay small."""
    found: list[str] = []
    split = series._split_to_use()
    if split is not None and telescoping.ends(split, series.first, series.last, series.product) is not None:
        found.append("telescoping")
    if not series.product:
        linear = len(series.terms) > 2 and series.arithmetic()
        candidates = ["accumulation"] if len(series.terms) <= _LONGEST_ACCUMULATION or not (linear or found) else []
        candidates += ["pairing"] if linear else []
        found += [name for name in candidates if not found or _small(series._proof(name, frozenset()))]
    return tuple(found)


def _small(claims: tuple[str, ...]) -> bool:
    return all(int(number) <= _LARGEST_NUMBER for claim in claims for number in re.findall(r"[0-9]+", claim))


class _Sums:
    """Sums and products over k."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def techniques(self) -> tuple[str, ...]:
        return TECHNIQUES

    def generate(self, rng: Random, technique: str, level: int) -> Question:
        """Raises ValueError for an unknown technique or level."""
        if technique not in TECHNIQUES or level not in (1, 2, 3, 4):
            raise ValueError(f"no technique {technique!r} at level {level}")
        while True:
            question = self.read(generate_series(rng, technique, level))
            if (
                question is not None
                and question.techniques[0] == technique
                and question.level == level
                and question.answer != question.product
                and all(map(_small, (question.solve(name) for name in question.techniques)))
            ):
                return question

    def read(self, statement: str) -> Series | None:
        found = _STATEMENT.fullmatch(statement.strip()) if len(statement) <= _MAX_CHARS else None
        if found is None:
            return None
        first, last = int(found[3]), int(found[4])
        node = parse(found[2])
        if not 1 <= last - first < MAX_TERMS or node is None or variables(node) != {"k"} or isinstance(node, Number):
            return None
        series = Series(found[1] == "product", found[2], first, last)
        if len(series.terms) != last - first + 1 or not series.techniques or not _can_be_written(series):
            return None
        return series


def _can_be_written(series: Series) -> bool:
    """Every own solution is one by the rules: not so where a term is written in a way that no claim repeats."""
    for technique in series.techniques:
        state = series.start()
        for claim in series.solve(technique):
            judgement = series.judge(state, claim)
            if judgement is None or judgement.verdict is not StepVerdict.VALID:
                return False
            state = judgement.state
    return True


DOMAIN = _Sums()
