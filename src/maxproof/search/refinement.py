"""Where offspring go in the archive, and what they are told of their siblings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maxproof.search.settings import SearchSettings
from maxproof.search.types import Origin, Slot, Standing

SIBLINGS_CHARS = 24_000

KINDS: Mapping[str, tuple[Origin, Origin]] = {
    "both": ("patch", "rewrite"),
    "patch": ("patch", "patch"),
    "rewrite": ("rewrite", "rewrite"),
}
"""A parent's two offspring, by the setting `offspring`."""


def first_slots(candidates: int) -> list[Slot]:
    """The slots of round 0: ids 0..N-1."""
    return [Slot(candidate, 0, "generate") for candidate in range(candidates)]


def offspring_slots(number: int, parents: Sequence[int], settings: SearchSettings) -> list[Slot]:
    """The slots of round `number` >= 1: two offspring for each parent, in rank order, of the kinds that are set.

    A round always owns 2M ids, so ids tell the round even where a round had fewer parents than M (see `Slot`).
    """
    first = settings.candidates + 2 * settings.parents * (number - 1)
    kinds = KINDS[settings.offspring]
    return [
        Slot(first + 2 * rank + place, number, kind, parent)
        for rank, parent in enumerate(parents)
        for place, kind in enumerate(kinds)
    ]


def sibling_list(siblings: Sequence[Standing], limit: int = SIBLINGS_CHARS) -> str:
    """One line for each sibling that has a summary, by id; the newest that fit into `limit` characters.

    Summaries only: a fitness may be a bound that the eager search would already know better.
    """
    lines: list[str] = []
    left = limit
    for standing in sorted(siblings, key=lambda s: s.candidate.id, reverse=True):
        if not standing.summary:
            continue
        line = f"Candidate {standing.candidate.id}: {standing.summary}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))
