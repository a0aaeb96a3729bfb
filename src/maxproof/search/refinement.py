"""Where offspring go in the archive, and what they are told of their siblings."""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.search.types import Slot, Standing

SIBLINGS_CHARS = 24_000


def first_slots(candidates: int) -> list[Slot]:
    """The slots of round 0: ids 0..N-1."""
    return [Slot(candidate, 0, "generate") for candidate in range(candidates)]


def offspring_slots(number: int, parents: Sequence[int], candidates: int, max_parents: int) -> list[Slot]:
    """The slots of round `number` >= 1: a PATCH and a REWRITE for each parent, in rank order.

    A round always owns 2M ids, so ids tell the round even where a round had fewer parents than M (see `Slot`).
    """
    first = candidates + 2 * max_parents * (number - 1)
    slots = []
    for rank, parent in enumerate(parents):
        slots.append(Slot(first + 2 * rank, number, "patch", parent))
        slots.append(Slot(first + 2 * rank + 1, number, "rewrite", parent))
    return slots


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
