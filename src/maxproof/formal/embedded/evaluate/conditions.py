"""Conditions on the ranges of unknowns: what each cuts off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from maxproof.formal.embedded.evaluate.intervals import Box, Empty, Range, Tree, highest, lowest


@dataclass(frozen=True, slots=True)
class Within:
    """The condition that `tree` is in `limits`."""

    tree: Tree
    limits: Range

    def apply(self, box: Box) -> None:
        low, high = self.tree.range(box)
        want_low, want_high = self.limits
        if (low is not None and want_high is not None and low > want_high) or (
            high is not None and want_low is not None and high < want_low
        ):
            raise Empty
        self.tree.narrow(self.limits, box)


@dataclass(frozen=True, slots=True)
class Divides:
    """`number` is a multiple of `divisor`, so that it's 0 or no smaller in size."""

    divisor: Tree
    number: Tree

    def apply(self, box: Box) -> None:
        low, high = self.number.range(box)
        self.divisor.range(box)
        if low is not None and high is not None and (low > 0 or high < 0):
            size = max(-low, high)
            self.divisor.narrow((-size, size), box)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several lists of conditions holds."""

    cases: tuple[tuple[Condition, ...], ...]

    def apply(self, box: Box) -> None:
        boxes = [one for case in self.cases if (one := _applied(case, box)) is not None]
        if not boxes:
            raise Empty
        for index in range(len(box.ranges)):
            lows = [one.ranges[index][0] for one in boxes]
            highs = [one.ranges[index][1] for one in boxes]
            box.cut(index, (lowest(lows), highest(highs)))


def _applied(case: Sequence[Condition], box: Box) -> Box | None:
    try:
        own = box.copy()
        for condition in case:
            condition.apply(own)
    except Empty:
        return None
    return own


Condition: TypeAlias = Within | Divides | OneOf
