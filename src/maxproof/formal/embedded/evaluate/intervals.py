"""Interval constraints: from conditions on whole and real variables to ranges that hold all their solutions.

A condition (`evaluate.conditions`) is about a tree of arithmetic whose leaves are unknowns and computable terms.
`narrow` sends the condition's own range down the tree and cuts the ranges of the unknowns (the HC4 contractor). Ranges
are closed and exact (rational bounds); None is an infinite end. What a tree doesn't understand has the range of all
numbers, so that a range is never too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

Bound: TypeAlias = int | Fraction | None
Range: TypeAlias = tuple[Bound, Bound]

ALL: Range = (None, None)


class Empty(Exception):
    """The conditions have no solution."""


class Box:
    """Ranges of the unknowns by number; `known` has a bit for each that stands in the frame with a value.

    `found` has the last range of each tree here. It belongs to the box, since computing a tree's value may call a
    function whose own quantifiers use the same trees in another box.
    """

    __slots__ = ("found", "frame", "known", "ranges", "whole")

    def __init__(self, ranges: Sequence[Range], whole: Sequence[bool], frame: list[Any]) -> None:
        self.ranges = list(ranges)
        self.whole = tuple(whole)
        self.frame = frame
        self.known = 0
        self.found: dict[int, Range] = {}

    def copy(self) -> Box:
        twin = Box(self.ranges, self.whole, self.frame)
        twin.known = self.known
        return twin

    def cut(self, index: int, to: Range) -> None:
        low, high = self.ranges[index]
        new_low, new_high = to
        if self.whole[index]:
            new_low = None if new_low is None else math.ceil(new_low)
            new_high = None if new_high is None else math.floor(new_high)
        if new_low is None or (low is not None and low >= new_low):
            new_low = low
        if new_high is None or (high is not None and high <= new_high):
            new_high = high
        if new_low is not None and new_high is not None and new_low > new_high:
            raise Empty
        self.ranges[index] = (new_low, new_high)


@dataclass(slots=True, eq=False)
class Tree:
    """A term over unknowns.

    Attributes:
        needs: a bit for each unknown in it.
        value: computes it from the frame once all of those are known; None where it can't be computed then.
    """

    needs: int
    value: Callable[[list[Any]], int | Fraction | None]

    def range(self, box: Box) -> Range:
        value = None if self.needs & ~box.known else self.value(box.frame)
        found = self.forward(box) if value is None else (value, value)
        box.found[id(self)] = found
        return found

    def forward(self, box: Box) -> Range:
        return ALL

    def narrow(self, to: Range, box: Box) -> None:
        """Cuts the unknowns to what is possible when this term is in `to`. `range` was called before."""
        if self.needs & ~box.known and to != ALL:
            self.backward(to, box)

    def backward(self, to: Range, box: Box) -> None:
        pass


@dataclass(slots=True, eq=False)
class Unknown(Tree):
    index: int = 0

    def forward(self, box: Box) -> Range:
        return box.ranges[self.index]

    def backward(self, to: Range, box: Box) -> None:
        box.cut(self.index, to)


@dataclass(slots=True, eq=False)
class AtLeast(Tree):
    """A term of which nothing is known but a range."""

    limits: Range = (0, None)

    def forward(self, box: Box) -> Range:
        return self.limits


@dataclass(slots=True, eq=False)
class Sum(Tree):
    parts: tuple[Tree, ...] = ()

    def forward(self, box: Box) -> Range:
        return _total([part.range(box) for part in self.parts])

    def backward(self, to: Range, box: Box) -> None:
        ranges = [box.found[id(part)] for part in self.parts]
        for place, part in enumerate(self.parts):
            low, high = _total([*ranges[:place], *ranges[place + 1 :]])
            part.narrow((_minus(to[0], high), _minus(to[1], low)), box)


def _total(ranges: Sequence[Range]) -> Range:
    low: Bound = 0
    high: Bound = 0
    for one_low, one_high in ranges:
        low = None if low is None or one_low is None else low + one_low
        high = None if high is None or one_high is None else high + one_high
    return low, high


def _minus(x: Bound, y: Bound) -> Bound:
    return None if x is None or y is None else x - y


@dataclass(slots=True, eq=False)
class Product(Tree):
    left: Tree
    right: Tree
    whole: bool = False

    def forward(self, box: Box) -> Range:
        return _multiplied(self.left.range(box), self.right.range(box))

    def backward(self, to: Range, box: Box) -> None:
        low, high = to
        if self.whole and low is not None and high is not None and (low > 0 or high < 0):
            size = max(-low, high)  # a whole factor of a number that isn't 0 is no larger than it
            self.left.narrow((-size, size), box)
            self.right.narrow((-size, size), box)
        left, right = self.left.range(box), self.right.range(box)
        self.left.narrow(_divided(to, right), box)
        self.right.narrow(_divided(to, left), box)


def _multiplied(x: Range, y: Range) -> Range:
    lows: list[Bound] = []
    highs: list[Bound] = []
    for (a, a_end), (b, b_end) in (((p, i), (q, j)) for i, p in enumerate(x) for j, q in enumerate(y)):
        if a is not None and b is not None:
            lows.append(a * b)
            highs.append(a * b)
        elif a == 0 or b == 0:  # 0 times an infinite end
            lows.append(0)
            highs.append(0)
        else:
            up = _upwards(a, a_end) == _upwards(b, b_end)
            (highs if up else lows).append(None)
    return lowest(lows), highest(highs)


def _upwards(bound: Bound, end: int) -> bool:
    return bound > 0 if bound is not None else end == 1


def lowest(bounds: Sequence[Bound]) -> Bound:
    finite = [bound for bound in bounds if bound is not None]
    return min(finite) if len(finite) == len(bounds) and finite else None


def highest(bounds: Sequence[Bound]) -> Bound:
    finite = [bound for bound in bounds if bound is not None]
    return max(finite) if len(finite) == len(bounds) and finite else None


def _divided(x: Range, y: Range) -> Range:
    """Where a can be when a * b is in x and b in y. All numbers when b may be 0, unless x is off 0."""
    low, high = y
    if low == 0 and high == 0:
        return ALL
    off_zero = (x[0] is not None and x[0] > 0) or (x[1] is not None and x[1] < 0)
    if (low is None or low <= 0) and (high is None or high >= 0):
        if low == 0 and off_zero:
            return _sign_only(x)
        if high == 0 and off_zero:
            flipped = _sign_only(x)
            return (None if flipped[1] is None else 0, None if flipped[0] is None else 0)
        return ALL
    inverse = (
        Fraction(0) if high is None else 1 / Fraction(high),
        Fraction(0) if low is None else 1 / Fraction(low),
    )
    return _multiplied(x, inverse)


def _sign_only(x: Range) -> Range:
    return (0, None) if x[0] is not None and x[0] > 0 else (None, 0)


@dataclass(slots=True, eq=False)
class Power(Tree):
    """`base` to a constant exponent >= 2."""

    base: Tree
    exponent: int = 2

    def forward(self, box: Box) -> Range:
        low, high = self.base.range(box)
        if self.exponent % 2:
            return self._raised(low), self._raised(high)
        if low is not None and low >= 0:
            return self._raised(low), self._raised(high)
        if high is not None and high <= 0:
            return self._raised(high), self._raised(low)
        return 0, None if low is None or high is None else self._raised(max(-low, high))

    def _raised(self, bound: Bound) -> Bound:
        if bound is None or Fraction(bound).numerator.bit_length() * self.exponent > 4096:
            return None
        return bound**self.exponent

    def backward(self, to: Range, box: Box) -> None:
        low, high = to
        if self.exponent % 2 == 0:
            if high is not None:
                if high < 0:
                    raise Empty
                root = _root_above(high, self.exponent)
                self.base.narrow((-root, root), box)
            return
        self.base.narrow(
            (
                None if low is None else (-_root_above(-low, self.exponent) if low < 0 else 0),
                None if high is None else (_root_above(high, self.exponent) if high > 0 else 0),
            ),
            box,
        )


def _root_above(x: int | Fraction, exponent: int) -> int | Fraction:
    """The exponent-th root of x >= 0 if it is rational, else a whole number above it, by less than 2."""
    exact = Fraction(x)
    top, bottom = _whole_root(exact.numerator, exponent), _whole_root(exact.denominator, exponent)
    if top**exponent == exact.numerator and bottom**exponent == exact.denominator:
        return Fraction(top, bottom)
    return _whole_root(math.ceil(exact), exponent) + 1


def _whole_root(x: int, exponent: int) -> int:
    low, high = 0, 1 << (x.bit_length() // exponent + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**exponent <= x:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(slots=True, eq=False)
class Absolute(Tree):
    inner: Tree

    def forward(self, box: Box) -> Range:
        low, high = self.inner.range(box)
        if low is not None and low >= 0:
            return low, high
        if high is not None and high <= 0:
            return -high, None if low is None else -low
        return 0, None if low is None or high is None else max(-low, high)

    def backward(self, to: Range, box: Box) -> None:
        high = to[1]
        if high is not None:
            if high < 0:
                raise Empty
            self.inner.narrow((-high, high), box)


@dataclass(slots=True, eq=False)
class SquareRoot(Tree):
    """0 for numbers below 0."""

    inner: Tree

    def forward(self, box: Box) -> Range:
        low, high = self.inner.range(box)
        least = 0 if low is None or low <= 0 else math.isqrt(math.floor(low))
        return least, None if high is None else (_root_above(high, 2) if high > 0 else 0)

    def backward(self, to: Range, box: Box) -> None:
        low, high = to
        if high is not None and high < 0:
            raise Empty
        least = low * low if low is not None and low > 0 else None
        self.inner.narrow((least, None if high is None else high * high), box)


@dataclass(slots=True, eq=False)
class Quotient(Tree):
    """Euclidean quotient by a constant > 0."""

    inner: Tree
    divisor: int = 1

    def forward(self, box: Box) -> Range:
        low, high = self.inner.range(box)
        return (
            None if low is None else math.floor(low) // self.divisor,
            None if high is None else math.floor(high) // self.divisor,
        )

    def backward(self, to: Range, box: Box) -> None:
        low, high = to
        self.inner.narrow(
            (
                None if low is None else math.ceil(low) * self.divisor,
                None if high is None else math.floor(high) * self.divisor + self.divisor - 1,
            ),
            box,
        )


@dataclass(slots=True, eq=False)
class Floor(Tree):
    inner: Tree

    def forward(self, box: Box) -> Range:
        low, high = self.inner.range(box)
        return None if low is None else math.floor(low), None if high is None else math.floor(high)

    def backward(self, to: Range, box: Box) -> None:
        low, high = to
        self.inner.narrow(
            (None if low is None else math.ceil(low), None if high is None else math.floor(high) + 1), box
        )
