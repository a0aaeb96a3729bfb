"""What a sum or a product over k is: its term, its range, and the values they have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from maxproof.lab import telescoping
from maxproof.lab.expressions import Node, evaluate, parse


@dataclass(frozen=True, slots=True)
class Range:
    """The sum (or product) of `term`, a readable text in k, for k from `first` to `last`, at least two terms."""

    product: bool
    term: str
    first: int
    last: int

    @property
    def kind(self) -> str:
        return "product" if self.product else "sum"

    @property
    def node(self) -> Node:
        node = parse(self.term)
        assert node is not None  # the domain's `read` lets no other term through
        return node

    @property
    def terms(self) -> tuple[Fraction, ...]:
        return values(self.term, self.first, self.last)

    @property
    def answer(self) -> Fraction:
        total = Fraction(int(self.product))
        for term in self.terms:
            total = total * term if self.product else total + term
        return total

    def arithmetic(self) -> bool:
        """The terms have a common difference."""
        return len({after - before for before, after in pairwise(self.terms)}) == 1

    def usable(self, node: Node) -> telescoping.Split | None:
        """The split that `node` is as it is written, if its ends have values."""
        split = telescoping.neighbours(node, self.product)
        return split if split is not None and self.ends(split) is not None else None

    def ends(self, split: telescoping.Split) -> telescoping.Ends | None:
        """What the split leaves; None if some of it has no value."""
        return telescoping.ends(split, self.first, self.last, self.product)


@lru_cache(maxsize=4096)
def values(term: str, first: int, last: int) -> tuple[Fraction, ...]:
    """The values of a term; () if one has none."""
    node = parse(term)
    values = [None if node is None else evaluate(node, {"k": Fraction(k)}) for k in range(first, last + 1)]
    return tuple(number for number in values if number is not None) if None not in values else ()
