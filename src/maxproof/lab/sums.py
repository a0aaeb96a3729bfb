"""Sums and products over k: term by term, by pairing first and last, by telescoping.

    Compute the sum of 2 k + 1 for k from 1 to 4.
    Compute the product of (k + 1) / k for k from 2 to 7.

What is one inference. Everything is judged in any order, whatever technique it belongs to:

- `The terms are 3, 5, 7, 9.` is valid: the term at each k, all of them, in order. `There are 4 terms.`, `The first term
  is 3.` and `The last term is 9.` are valid.
- `8 + 7 = 15.` is valid once the terms were listed, if 8 is the running sum reached and 7 the next term; a later
  running sum, or several terms at once, is a leap. A negative term may be subtracted: `8 - 3 = 5.`
- Pairing, for terms with a common difference: `3 + 9 = 12.` is valid when the first and the last term are established
  (or listed), `4 * 12 / 2 = 24.` when the number of terms and that sum are.
- Telescoping: `1 / (k (k + 1)) = 1 / k - 1 / (k + 1).` is valid if the left side is the term and the right side a
  split (see `telescoping.py`); any other true identity in k is a leap. `The sum is 1 - 1/6.` is valid if a split is
  established or is in the statement, and the right side writes just the ends that are left. Then each operation on two
  numbers that occurs in it is valid: `1 - 1/6 = 5/6.`
- `The answer is A.` is valid if all terms were summed, the pairing was done, or the ends are worked out to a number;
  otherwise the right number is a leap.

Any other true equation between numbers is a leap. A leap is taken as established: the running sums, the ends or the
total are where it says they are.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from random import Random

from maxproof.lab import arithmetic, telescoping
from maxproof.lab.arithmetic import Operation, Tree, one_step, put_in, read_answer, show, tree_of, value
from maxproof.lab.euclid import false, leap, valid
from maxproof.lab.expressions import Node, Number, evaluate, parse, variables
from maxproof.lab.series import generate_series
from maxproof.lab.types import Judgement, Question

NAME = "sums"
TECHNIQUES = ("accumulation", "pairing", "telescoping")
MAX_TERMS = 40
_MAX_CHARS = 300
_LONGEST_ACCUMULATION = 7
_LARGEST_NUMBER = 199
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
class _Known:
    """`summed`: how many terms the running sum reached holds. `form`: the ends that are left, as far as worked out."""

    split: telescoping.Split | None
    terms: bool = False
    summed: int = 1
    count: bool = False
    first: bool = False
    last: bool = False
    pair: bool = False
    total: bool = False
    form: Tree | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The sum (or product) of `term`, a text in k, for k from `first` to `last`; make it with `read`.

    Habits of `accumulation`: `last_term_forgotten`, `addition_plus_one` (a running sum comes out one too large),
    `minus_read_as_plus` (in the term); of `pairing`: `count_without_one` (last - first is taken for the number of
    terms), `half_forgotten`, `last_term_early` (k stops one early); of `telescoping`: `end_one_early` (the late ends are
    taken one place early), `ends_swapped`, `gap_taken_for_one` (of several ends on each side only the outermost).
    """

    product: bool
    term: str
    first: int
    last: int

    @property
    def domain(self) -> str:
        return NAME

    @property
    def statement(self) -> str:
        return f"Compute the {self._kind} of {self.term} for k from {self.first} to {self.last}."

    @property
    def _kind(self) -> str:
        return "product" if self.product else "sum"

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
        """The term with n for its numbers (exponents stay), the gap of a split, the number of terms."""
        shape = re.sub(r"(?<!\^)-?\b[0-9]+", "n", self.term)
        split = self._split_to_use()
        gap = f" gap {split.gap}" if split is not None else ""
        return f"{self.techniques[0]}: {self._kind} of {shape}{gap}, {len(self.terms)} terms"

    @property
    def node(self) -> Node:
        node = parse(self.term)
        assert node is not None  # `read` lets no other term through
        return node

    @property
    def terms(self) -> tuple[Fraction, ...]:
        return _terms(self.term, self.first, self.last)

    @property
    def answer(self) -> Fraction:
        return list(accumulate(self.terms, lambda a, b: a * b if self.product else a + b))[-1]

    def arithmetic(self) -> bool:
        """The terms have a common difference."""
        return len({after - before for before, after in pairwise(self.terms)}) == 1

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
        terms = _terms(text, self.first, self.last - ("last_term_forgotten" in habits))
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
        return None if node is None else telescoping.split_of(node, self.product)

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
        claims.append(f"The {self._kind} is {text}.")
        form = arithmetic.parse(text)
        while form is not None and (step := arithmetic.ready(form)) is not None and (result := value(step)) is not None:
            claims.append(f"{show(step)} = {result}.")
            form = arithmetic.replace(form, step, result)
        return (*claims, f"The answer is {form}.")

    def start(self) -> Hashable:
        return _Known(self._usable(self.node))

    def _usable(self, node: Node) -> telescoping.Split | None:
        """The split that `node` is, if its ends have values."""
        split = telescoping.split_of(node, self.product)
        return split if split and telescoping.ends(split, self.first, self.last, self.product) else None

    def judge(self, state: Hashable, claim: str) -> Judgement | None:
        assert isinstance(state, _Known)
        if len(claim) > _MAX_CHARS:
            return None
        text = claim.strip().removesuffix(".").strip()
        answer = read_answer(text)
        if answer is not None:
            if answer != self.answer:
                return false(state, f"the {self._kind} is {self.answer}, not {answer}")
            after = replace(state, total=True)
            return valid(after, goal=True) if self._has_total(state) else leap(after, "no total yet", goal=True)
        if found := _COUNT.fullmatch(text):
            right = int(found[1]) == len(self.terms)
            after = replace(state, count=True)
            return valid(after) if right else false(state, f"there are {len(self.terms)} terms, not {found[1]}")
        if found := _TERMS.fullmatch(text):
            return self._judge_terms(state, found[1])
        if found := _END.fullmatch(text):
            return self._judge_end(state, found[1].lower(), found[2])
        if found := _ENDS.fullmatch(text):
            return self._judge_ends(state, found[1].lower(), found[2])
        sides = [parse(side) for side in text.split("=", 2)]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            return None
        if variables(sides[0]) | variables(sides[1]):
            return self._judge_identity(state, sides[0], sides[1])
        return self._judge_equation(state, sides[0], sides[1])

    def _has_total(self, state: _Known) -> bool:
        summed = not self.product and state.summed == len(self.terms)
        return state.total or summed or isinstance(state.form, Fraction)

    def _judge_terms(self, state: _Known, text: str) -> Judgement | None:
        numbers = [arithmetic.parse(part) for part in text.replace(" and ", ", ").split(",")]
        if not all(isinstance(number, Fraction) for number in numbers):
            return None
        if len(numbers) != len(self.terms):
            return false(state, f"there are {len(self.terms)} terms, not {len(numbers)}")
        for index, (number, term) in enumerate(zip(numbers, self.terms, strict=True)):
            if number != term:
                return false(state, f"for k = {self.first + index} the term is {term}, not {number}")
        return valid(replace(state, terms=True, first=True, last=True))

    def _judge_end(self, state: _Known, which: str, text: str) -> Judgement | None:
        number = arithmetic.parse(text)
        if not isinstance(number, Fraction):
            return None
        term = self.terms[0 if which == "first" else -1]
        if number != term:
            return false(state, f"the {which} term is {term}, not {number}")
        return valid(replace(state, first=True) if which == "first" else replace(state, last=True))

    def _judge_ends(self, state: _Known, kind: str, text: str) -> Judgement | None:
        node = parse(text)
        number = None if node is None or variables(node) else evaluate(node)
        tree = None if node is None else tree_of(node)
        if node is None or number is None or tree is None:
            return None
        if kind != self._kind or number != self.answer:
            return false(state, f"the {self._kind} is {self.answer}, not the {kind} {text.strip()}")
        if isinstance(tree, Fraction) and self._has_total(state):
            return valid(replace(state, total=True))
        after = replace(state, form=tree)
        if state.form == tree:
            return valid(state)
        ends = state.split and telescoping.ends(state.split, self.first, self.last, self.product)
        if ends and telescoping.is_written(node, ends, self.product):
            return valid(after)
        return leap(after, "these are not the ends left by a split that was written down")

    def _judge_identity(self, state: _Known, left: Node, right: Node) -> Judgement | None:
        equal = telescoping.identical(left, right)
        if equal is None:
            return None
        if not equal:
            return false(state, "the two sides are not equal for every k")
        split = self._usable(right)
        if left != self.node or split is None:
            return leap(state, "the term is not written as a difference or quotient of neighbours")
        return valid(replace(state, split=split))

    def _judge_equation(self, state: _Known, left: Node, right: Node) -> Judgement:
        size, other = evaluate(left), evaluate(right)
        if size is None or other is None:
            return false(state, "a division by zero, or numbers beyond all bounds")
        if size != other:
            return false(state, f"the left side is {size}, not {other}")
        before, after = tree_of(left), tree_of(right)
        if before is None or after is None:
            return leap(state, "not a step of this calculation")
        if before == after:
            return valid(state)
        verdicts = [
            judgement
            for judgement in (
                self._judge_step(state, before, after),
                self._judge_running_sum(state, before, after),
                self._judge_pairing(state, left, before),
            )
            if judgement is not None
        ]
        rights = [judgement for judgement in verdicts if not judgement.description]
        return next(iter(rights or verdicts), leap(state, f"{show(before)} does not come from what is established"))

    def _judge_step(self, state: _Known, before: Tree, after: Tree) -> Judgement | None:
        """A step in working out the ends."""
        if state.form is None:
            return None
        form, occurs = put_in(state.form, before, after, Fraction.__eq__)
        if form == state.form:
            return None
        known = replace(state, form=form)
        if occurs and one_step(before, after, Fraction.__eq__):
            return valid(known)
        return leap(known, f"{show(before)} is more than one operation away from {show(state.form)}")

    def _judge_running_sum(self, state: _Known, before: Tree, after: Tree) -> Judgement | None:
        """The next running sum; None if it is none."""
        numbers = _signed(before)
        if self.product or len(numbers) < 2 or not isinstance(after, Fraction):
            return None
        sums = list(accumulate(self.terms))
        last = len(self.terms) - len(numbers) + 1
        # From the sum reached, else from an earlier or later one: (how many terms it holds).
        for held in sorted(range(1, last + 1), key=lambda held: (held != state.summed, held > state.summed, held)):
            if numbers[0] == sums[held - 1] and numbers[1:] == list(self.terms[held : held + len(numbers) - 1]):
                known = replace(state, summed=max(state.summed, held + len(numbers) - 1))
                if not state.terms:
                    return self._with_pair(known, before, leap(known, "the terms were not listed"))
                if held > state.summed:
                    return leap(known, f"{numbers[0]} is not established as a running sum")
                if len(numbers) > 2:
                    return leap(known, "several terms at once")
                return self._with_pair(known, before, valid(known))
        return None

    def _with_pair(self, known: _Known, before: Tree, judgement: Judgement) -> Judgement:
        """With two terms the running sum is the sum of the first and the last."""
        if len(self.terms) != 2 or not (known.first and known.last):
            return judgement
        return valid(replace(known, pair=True)) if self.arithmetic() else judgement

    def _judge_pairing(self, state: _Known, left: Node, before: Tree) -> Judgement | None:
        if self.product or not self.arithmetic():
            return None
        ends = [self.terms[0], self.terms[-1]]
        if _signed(before) == ends:
            known = replace(state, pair=True)
            both = state.first and state.last
            return valid(known) if both else leap(known, "the first and the last term are not established")
        factors = _halved(before)
        if sorted(factors) != sorted([Fraction(len(self.terms)), sum(ends, Fraction(0))]):
            return None
        known = replace(state, total=True)
        if state.count and state.pair:
            return valid(known)
        return leap(known, "the number of terms or the sum of first and last is not established")


def _signed(tree: Tree) -> list[Fraction]:
    """The numbers of a sum with their signs, in order; empty if it is no sum of numbers."""
    found: list[Fraction] = []
    while isinstance(tree, Operation) and tree.operator in "+-" and isinstance(tree.right, Fraction):
        found.append(tree.right if tree.operator == "+" else -tree.right)
        tree = tree.left
    return [tree, *reversed(found)] if isinstance(tree, Fraction) else []


def _halved(tree: Tree) -> list[Fraction]:
    """The two factors of `a * b / 2`; empty for anything else."""
    match tree:
        case Operation("/", Operation("*", Fraction() as first, Fraction() as second), Fraction() as by) if by == 2:
            return [first, second]
    return []


@lru_cache(maxsize=4096)
def _terms(term: str, first: int, last: int) -> tuple[Fraction, ...]:
    """The values of a term; () if one has none."""
    node = parse(term)
    values = [None if node is None else evaluate(node, {"k": Fraction(k)}) for k in range(first, last + 1)]
    return tuple(number for number in values if number is not None) if None not in values else ()


@lru_cache(maxsize=4096)
def _techniques(series: Series) -> tuple[str, ...]:
    """The natural technique first; others only where their numbers stay small."""
    found: list[str] = []
    split = series._split_to_use()
    if split is not None and telescoping.ends(split, series.first, series.last, series.product) is not None:
        found.append("telescoping")
    if not series.product:
        linear = series.arithmetic() and "^" not in series.term and "/" not in series.term
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
        if len(series.terms) != last - first + 1 or not series.techniques:
            return None
        return series


DOMAIN = _Sums()
