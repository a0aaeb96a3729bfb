"""Published results, for a comparison that is marked as one: shown only where the dataset holds the same problems.

MaxProof, arXiv 2606.13473: points of 42 at six problems of 7, graded by people. Nobody says that an oracle of ours
grades as they did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from maxproof.problems import Problem

_PLACE = re.compile(r"(IMO|USAMO)[ -]?(\d{4})[ ,:-]*(?:P|Problem)[ -]?([1-6])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Published:
    """One competition: points of 42 of one proof, of the search's pick, and of the best in its archive."""

    name: str
    one_shot: int
    search: int
    best: int


RESULTS = (Published("IMO 2025", 27, 35, 35), Published("USAMO 2026", 26, 36, 40))


def competition(problem: Problem) -> tuple[str, int] | None:
    """(`IMO 2025`, 3) where the problem's source or id says just that; None otherwise, also for a modified one."""
    for text in (problem.source or "", problem.id):
        found = _PLACE.fullmatch(text.strip())
        if found:
            return f"{found[1].upper()} {found[2]}", int(found[3])
    return None


def comparable(problems: Iterable[Problem]) -> list[tuple[Published, dict[str, int]]]:
    """The published results whose six problems are all there, with their numbers 1..6 by id."""
    found: dict[str, dict[str, int]] = {}
    for problem in problems:
        place = competition(problem)
        if place is not None:
            found.setdefault(place[0], {})[problem.id] = place[1]
    return [
        (result, found[result.name])
        for result in RESULTS
        if sorted(found.get(result.name, {}).values()) == [1, 2, 3, 4, 5, 6]
    ]
