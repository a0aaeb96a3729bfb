"""How a claim about a sum or a product over k is judged.

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
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from maxproof.lab import arithmetic, telescoping
from maxproof.lab.arithmetic import Operation, Tree, one_step, put_in, read_answer, show, tree_of
from maxproof.lab.expressions import Node, evaluate, parse, variables
from maxproof.lab.judgements import false, leap, valid
from maxproof.lab.series import Range
from maxproof.lab.types import Judgement

_MAX_CHARS = 300
_MAX_CLAIMS = 64
_COUNT = re.compile(r"there are ([0-9]{1,6}) terms", re.IGNORECASE)
_TERMS = re.compile(r"the terms are (.+)", re.IGNORECASE)
_END = re.compile(r"the (first|last) term is (.+)", re.IGNORECASE)
_ENDS = re.compile(r"the (sum|product) is (.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """`summed`: how many terms the running sum reached holds.

    `form`: the ends that are left, as far as worked out; `written`: they were written down by one inference.
    """

    split: telescoping.Split | None
    terms: bool = False
    summed: int = 1
    count: bool = False
    first: bool = False
    last: bool = False
    pair: bool = False
    total: bool = False
    form: Tree | None = None
    written: bool = False
    claimed: frozenset[tuple[Tree, Tree]] = frozenset()

    def claim(self, pair: tuple[Tree, Tree]) -> Known:
        """With an equation of numbers that may be repeated."""
        return self if len(self.claimed) >= _MAX_CLAIMS else replace(self, claimed=self.claimed | {pair})


def judge(series: Range, state: Known, claim: str) -> Judgement | None:
    """As `Question.judge`."""
    if len(claim) > _MAX_CHARS:
        return None
    text = claim.strip().removesuffix(".").strip()
    answer = read_answer(text)
    if answer is not None:
        if answer != series.answer:
            return false(state, f"the {series.kind} is {series.answer}, not {answer}")
        after = replace(state, total=True)
        return valid(after, goal=True) if _has_total(series, state) else leap(after, "no total yet", goal=True)
    if found := _COUNT.fullmatch(text):
        right = int(found[1]) == len(series.terms)
        after = replace(state, count=True)
        return valid(after) if right else false(state, f"there are {len(series.terms)} terms, not {found[1]}")
    if found := _TERMS.fullmatch(text):
        return _judge_terms(series, state, found[1])
    if found := _END.fullmatch(text):
        return _judge_end(series, state, found[1].lower(), found[2])
    if found := _ENDS.fullmatch(text):
        return _judge_ends(series, state, found[1].lower(), found[2])
    sides = [parse(side) for side in text.split("=", 2)]
    if len(sides) != 2 or sides[0] is None or sides[1] is None:
        return None
    if variables(sides[0]) | variables(sides[1]):
        return _judge_identity(series, state, sides[0], sides[1])
    return _judge_equation(series, state, sides[0], sides[1])


def _has_total(series: Range, state: Known) -> bool:
    summed = not series.product and state.summed == len(series.terms)
    return state.total or summed or isinstance(state.form, Fraction)


def _judge_terms(series: Range, state: Known, text: str) -> Judgement | None:
    numbers = [arithmetic.parse(part) for part in text.replace(" and ", ", ").split(",")]
    if not all(isinstance(number, Fraction) for number in numbers):
        return None
    if len(numbers) != len(series.terms):
        return false(state, f"there are {len(series.terms)} terms, not {len(numbers)}")
    for index, (number, term) in enumerate(zip(numbers, series.terms, strict=True)):
        if number != term:
            return false(state, f"for k = {series.first + index} the term is {term}, not {number}")
    return valid(replace(state, terms=True, first=True, last=True))


def _judge_end(series: Range, state: Known, which: str, text: str) -> Judgement | None:
    number = arithmetic.parse(text)
    if not isinstance(number, Fraction):
        return None
    term = series.terms[0 if which == "first" else -1]
    if number != term:
        return false(state, f"the {which} term is {term}, not {number}")
    return valid(replace(state, first=True) if which == "first" else replace(state, last=True))


def _judge_ends(series: Range, state: Known, kind: str, text: str) -> Judgement | None:
    node = parse(text)
    number = None if node is None or variables(node) else evaluate(node)
    tree = None if node is None else tree_of(node)
    if node is None or number is None or tree is None:
        return None
    if kind != series.kind or number != series.answer:
        return false(state, f"the {series.kind} is {series.answer}, not the {kind} {text.strip()}")
    if isinstance(tree, Fraction) and _has_total(series, state):
        return valid(replace(state, total=True))
    if state.form == tree:
        return valid(state)
    ends = None if state.split is None else series.ends(state.split)
    if ends is not None and telescoping.is_written(node, ends, series.product):
        return valid(state if state.written else replace(state, form=tree, written=True))
    return leap(
        state if state.written else replace(state, form=tree),
        "these are not the ends left by a split that was written down",
    )


def _judge_identity(series: Range, state: Known, left: Node, right: Node) -> Judgement | None:
    equal = telescoping.identical(left, right)
    if equal is None:
        return None
    if not equal:
        return false(state, "the two sides are not equal for every k")
    split = series.usable(right)
    if left != series.node or split is None:
        return leap(state, "the term is not written as a difference or quotient of neighbours")
    return valid(replace(state, split=split))


def _judge_equation(series: Range, state: Known, left: Node, right: Node) -> Judgement | None:
    size, other = evaluate(left), evaluate(right)
    if size is None or other is None:
        return None
    if size != other:
        return false(state, f"the left side is {size}, not {other}")
    before, after = tree_of(left), tree_of(right)
    if before is None or after is None:
        return leap(state, "not a step of this calculation")
    if before == after:
        return valid(state)
    # An equation may serve two techniques at once: the state takes in each use that is valid.
    missing: list[tuple[Known, str]] = []
    uses = 0
    known = state
    for use in (_step, _running_sum, _pairing):
        found = use(series, known, before, after)
        if found is not None and not found[1]:
            known = found[0]
            uses += 1
        elif found is not None:
            missing.append(found)
    pair = (before, after)
    if uses:
        return valid(known if pair in known.claimed else known.claim(pair))
    if pair in state.claimed:
        return valid(state)
    if missing:
        return leap(missing[0][0].claim(pair), missing[0][1])
    return leap(state.claim(pair), f"{show(before)} does not come from what is established")


_Use: TypeAlias = tuple[Known, str] | None
"""What a use of an equation establishes, and what is missing for it to be one inference; None: it is no such use."""


def _step(series: Range, state: Known, before: Tree, after: Tree) -> _Use:
    """A step in working out the ends."""
    if state.form is None:
        return None
    form, occurs = put_in(state.form, before, after, Fraction.__eq__)
    if form == state.form:
        return None
    known = replace(state, form=form)
    if occurs and one_step(before, after, Fraction.__eq__):
        return known, ""
    return known, f"{show(before)} is more than one operation away from {show(state.form)}"


def _running_sum(series: Range, state: Known, before: Tree, after: Tree) -> _Use:
    numbers = _signed(before)
    if series.product or len(numbers) < 2 or not isinstance(after, Fraction):
        return None
    terms = list(series.terms)
    sums = list(accumulate(terms))
    places = range(1, len(terms) - len(numbers) + 2)
    # `held` terms are in the running sum it begins with: the one reached, if that fits, else an earlier, else a later.
    for held in sorted(places, key=lambda held: (held != state.summed, held > state.summed, held)):
        reached = held + len(numbers) - 1
        if numbers[0] == sums[held - 1] and numbers[1:] == terms[held:reached]:
            known = replace(state, summed=max(state.summed, reached))
            if not state.terms:
                return known, "the terms were not listed"
            if held > state.summed:
                return known, f"{numbers[0]} is not established as a running sum"
            return known, "several terms at once" if len(numbers) > 2 else ""
    return None


def _pairing(series: Range, state: Known, before: Tree, after: Tree) -> _Use:
    if series.product or not series.arithmetic() or not isinstance(after, Fraction):
        return None
    ends = [series.terms[0], series.terms[-1]]
    if _signed(before) == ends:
        known = replace(state, pair=True)
        return known, "" if state.first and state.last else "the first and the last term are not established"
    if sorted(_halved(before)) != sorted([Fraction(len(series.terms)), sum(ends, Fraction(0))]):
        return None
    known = replace(state, total=True)
    return known, "" if state.count and state.pair else "the number of terms or first + last is not established"


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
