"""The search's decisions over many problems at once: the rules of `search.selection` and `search.tournament` as arrays.

Candidates stand in columns, their id is their column. A candidate's *key* orders a problem's archive as `ranking` does:
by score, then by the seeded tie-break of its label; `ABSENT` where there is no candidate.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from maxproof.evaluation.study.model import Bools, Ints, Model, Proofs
from maxproof.search.selection import tie_break
from maxproof.search.tournament import Node, bracket, left_first

ABSENT = -1
_STEP = 1 << 12
"""More than there are columns: a key is score * _STEP + the rank of the tie-break."""


@lru_cache(maxsize=256)
def _tie_ranks(seed: int, label: str, columns: int) -> tuple[int, ...]:
    order = sorted(range(columns), key=lambda column: tie_break(seed, label, column), reverse=True)
    ranks = [0] * columns
    for rank, column in enumerate(order):
        ranks[column] = rank
    return tuple(ranks)


def keys(score: Ints, exists: Bools, seed: int, label: str) -> Ints:
    """(problems, columns), higher is better, all different within a problem. Scores are whole and >= 0."""
    if score.shape[1] >= _STEP:
        raise ValueError(f"{score.shape[1]} candidates; at most {_STEP - 1}")
    ties = np.array(_tie_ranks(seed, label, score.shape[1]), dtype=np.int32)
    return np.where(exists, score.astype(np.int32) * _STEP + ties, ABSENT)


def head(key: Ints, size: int) -> Ints:
    """The columns of the `size` best, best first: (problems, size); -1 where there are fewer."""
    left = key.copy()
    rows = np.arange(len(key))
    found = np.empty((len(key), size), dtype=np.int64)
    for place in range(size):
        best = left.argmax(axis=1)
        found[:, place] = np.where(left[rows, best] > ABSENT, best, -1)
        left[rows, best] = ABSENT
    return found


def parents(key: Ints, family: Ints, size: int) -> Ints:
    """The `size` best of different families, then the best of those passed over; in rank order, -1 where none is left.

    `key` is `ABSENT` for whoever may not be a parent (`parents_choice`).
    """
    rows = np.arange(len(key))
    left = key.copy()
    of_new_family = key.copy()
    found = np.full((len(key), size), -1, dtype=np.int64)
    ranks = np.full((len(key), size), ABSENT, dtype=np.int64)
    for place in range(size):
        best = of_new_family.argmax(axis=1)
        none_new = of_new_family[rows, best] == ABSENT
        if none_new.any():
            best = np.where(none_new, left.argmax(axis=1), best)
        value = left[rows, best]
        found[:, place] = np.where(value > ABSENT, best, -1)
        ranks[:, place] = value
        left[rows, best] = ABSENT
        of_new_family[family == family[rows, best][:, None]] = ABSENT
    order = np.argsort(-ranks, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def knock_out(
    model: Model, rows: Ints, finalists: Ints, score: Ints, proofs: Proofs, votes: int, seed: int
) -> tuple[Ints, Ints]:
    """The single-elimination tournament (`search.tournament`).

    Args:
        rows: the problems (n,).
        finalists: columns in rank order (n, most), -1 where a problem has fewer; at least one each.
        score: fitness, for ties, and `proofs`: both of the finalists, (n, most).

    Returns the winner's place among the finalists (n,), and the votes asked (n,).
    """
    sizes = (finalists >= 0).sum(axis=1)
    merit = model.merit(rows, np.maximum(finalists, 0), proofs)
    winner = np.zeros(len(rows), dtype=np.int64)
    asked = np.zeros(len(rows), dtype=np.int64)
    for size in np.unique(sizes):
        at = np.nonzero(sizes == size)[0]
        among = _Finals(model, rows[at], finalists[at], score[at], merit[at], votes, seed)
        winner[at] = among.play(bracket(int(size)))
        asked[at] = among.asked
    return winner, asked


class _Finals:
    """The tournaments of problems with equally many finalists."""

    def __init__(
        self, model: Model, rows: Ints, ids: Ints, score: Ints, merit: np.ndarray, votes: int, seed: int
    ) -> None:
        self._model, self._rows, self._ids, self._score, self._merit = model, rows, ids, score, merit
        self._votes, self._seed = votes, seed
        self.asked = np.zeros(len(rows), dtype=np.int64)

    def play(self, node: Node) -> Ints:
        """The seats (n,) that win at this node."""
        if node.seat is not None:
            return np.full(len(self._rows), node.seat)
        assert node.left is not None
        assert node.right is not None
        left, right = self.play(node.left), self.play(node.right)
        places = np.arange(len(self._rows))
        ids = self._ids[places, left], self._ids[places, right]
        merits = self._merit[places, left], self._merit[places, right]
        first = [left_first(self._seed, node.number, vote) for vote in range(self._votes)]
        for_left = np.stack(
            [
                self._model.prefers_left(self._rows, node.number, vote, merits, ids, first[vote])
                for vote in range(self._votes)
            ]
        )
        lead, all_one_place, asked = count_votes(for_left, first)
        self.asked += asked
        scores = self._score[places, left], self._score[places, right]
        by_fitness = np.where(scores[0] != scores[1], scores[0] > scores[1], ids[0] < ids[1])
        left_wins = np.where(all_one_place | (lead == 0), by_fitness, lead > 0)
        return np.where(left_wins, left, right)


def count_votes(for_left: Bools, left_first: list[bool]) -> tuple[Ints, Bools, Ints]:
    """Of the votes (votes, n) of a match: the left player's lead, whether all picked one place though both orders were
    shown, and how many votes the match asks: the first majority, and the others unless that decides (`is_decided`)."""
    planned = len(left_first)
    shown = np.array(left_first)[:, None]
    picked_first = for_left == shown
    signs = np.where(for_left, 1, -1)
    both_orders = len(set(left_first)) == 2
    one_place = (picked_first.all(axis=0) | ~picked_first.any(axis=0)) & both_orders
    wave = planned // 2 + 1
    seen = picked_first[:wave]
    both_places = seen.any(axis=0) & ~seen.all(axis=0)
    decided = both_places & (np.abs(signs[:wave].sum(axis=0)) > planned - wave)
    return signs.sum(axis=0), one_place, np.where(decided, wave, planned)
