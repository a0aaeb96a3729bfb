"""The single-elimination tournament over the finalists (MaxProof section 5).

Finalists are seeded by rank: 1 v 4 and 2 v 3, in general the usual bracket with byes for the best; there is no match
for third place. The two proofs change places from vote to vote, so a ranker that likes a position gives no winner.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from maxproof.models.types import NoAnswer
from maxproof.search.events import MatchClosed, Observer, Voted
from maxproof.search.roles import Ranker
from maxproof.search.types import Match, Standing, Vote


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the bracket: a finalist by rank (`seat`), or the winner of a match between two places."""

    seat: int | None = None
    number: int = -1
    stage: int = -1
    left: Node | None = None
    right: Node | None = None


def bracket(players: int) -> Node:
    """The bracket of `players` >= 1 finalists. Matches are numbered by stage, then from the top."""
    size = 1
    order = [0]
    while size < players:
        size *= 2
        order = [seat for top in order for seat in (top, size - 1 - top)]
    level: list[Node | None] = [Node(seat=seat) if seat < players else None for seat in order]
    number = stage = 0
    while len(level) > 1:
        following: list[Node | None] = []
        for left, right in zip(level[::2], level[1::2], strict=True):
            if left is None or right is None:
                following.append(left or right)
            else:
                following.append(Node(number=number, stage=stage, left=left, right=right))
                number += 1
        level = following
        stage += 1
    root = level[0]
    assert root is not None
    return root


def left_first(seed: int, match: int, vote: int) -> bool:
    """Whether the left player is shown first: a seeded start per match, then alternating."""
    start = hashlib.sha256(f"{seed}\0match\0{match}".encode()).digest()[0]
    return (start + vote) % 2 == 0


def tally(votes: Sequence[Vote], left: int, right: int) -> int | None:
    """The winner by the majority of the valid votes, None for a tie.

    A tie is also when every valid vote picked the same position although both orders were shown: that says nothing of
    the proofs.
    """
    valid = [vote for vote in votes if vote.choice is not None]
    positions = {vote.choice == vote.first for vote in valid}
    orders = {vote.first for vote in valid}
    if len(positions) == 1 and len(orders) == 2:
        return None
    lead = sum(1 if vote.choice == left else -1 for vote in valid)
    return None if lead == 0 else left if lead > 0 else right


def is_decided(votes: Sequence[Vote], planned: int) -> bool:
    """No further vote can change `tally`: the lead can't be caught up, and both positions were picked already."""
    valid = [vote for vote in votes if vote.choice is not None]
    if len({vote.choice == vote.first for vote in valid}) < 2:
        return len(votes) >= planned
    counts = [sum(vote.choice == player for vote in valid) for player in {vote.choice for vote in valid}]
    lead = max(counts) - min(counts) if len(counts) > 1 else counts[0]
    return lead > planned - len(votes)


async def tournament(
    finalists: Sequence[Standing], votes: int, seed: int, ranker: Ranker, observe: Observer
) -> tuple[tuple[Match, ...], int | None]:
    """Plays the bracket over `finalists`, given in rank order; matches run as soon as their players are known.

    Returns the matches by number and the winner's id, None without finalists.
    """
    if not finalists:
        return (), None
    matches: dict[int, Match] = {}

    async def play(node: Node) -> Standing:
        if node.seat is not None:
            return finalists[node.seat]
        assert node.left is not None
        assert node.right is not None
        async with asyncio.TaskGroup() as group:
            sides = group.create_task(play(node.left)), group.create_task(play(node.right))
        left, right = sides[0].result(), sides[1].result()
        match = await play_match(node, left, right, votes, seed, ranker, observe)
        matches[node.number] = match
        observe(MatchClosed(match))
        return left if match.winner == left.candidate.id else right

    winner = await play(bracket(len(finalists)))
    return tuple(match for _, match in sorted(matches.items())), winner.candidate.id


async def play_match(
    node: Node, left: Standing, right: Standing, votes: int, seed: int, ranker: Ranker, observe: Observer
) -> Match:
    """One match: the votes that can decide it run at once, the others only if they did not."""
    cast: list[Vote] = []

    async def vote(index: int) -> None:
        first, second = (left, right) if left_first(seed, node.number, index) else (right, left)
        cast.append(await _ask(ranker, node.number, index, first, second))
        observe(Voted(node.number, cast[-1]))

    for wave in (range(votes // 2 + 1), range(votes // 2 + 1, votes)):
        if cast and is_decided(cast, votes):
            break
        async with asyncio.TaskGroup() as group:
            for index in wave:
                group.create_task(vote(index))
    cast.sort(key=lambda v: v.vote)
    winner = tally(cast, left.candidate.id, right.candidate.id)
    decided_by: Literal["votes", "fitness", "id"] = "votes"
    if winner is None:
        winner, decided_by = _break_tie(left, right)
    return Match(node.number, node.stage, left.candidate.id, right.candidate.id, tuple(cast), winner, decided_by)


async def _ask(ranker: Ranker, match: int, vote: int, first: Standing, second: Standing) -> Vote:
    ids = first.candidate.id, second.candidate.id
    try:
        picked = await ranker.rank(match, vote, first, second)
    except NoAnswer as failure:
        return Vote(vote, ids[0], None, str(failure))
    if picked is None:
        return Vote(vote, ids[0], None, "the ranker's reply could not be read")
    return Vote(vote, ids[0], ids[0] if picked == "first" else ids[1])


def _break_tie(left: Standing, right: Standing) -> tuple[int, Literal["fitness", "id"]]:
    """The higher fitness (none at all is below any), then the lower id."""
    ours, theirs = (-1.0 if side.fitness is None else side.fitness for side in (left, right))
    if ours != theirs:
        return (left if ours > theirs else right).candidate.id, "fitness"
    return min(left.candidate.id, right.candidate.id), "id"
