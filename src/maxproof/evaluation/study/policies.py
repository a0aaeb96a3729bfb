"""The search and its variants on the model, and best-of-N: many problems at once, by the rules of `search/`.

Verifications are lazy as in the engine: sample 0 for each candidate, samples 1..K-1 for whoever a decision needs. Calls
are what would really be made: generator, refiner, summariser, judges, ranker.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from maxproof.evaluation.study.decisions import ABSENT, head, keys, knock_out, parents
from maxproof.evaluation.study.model import POINTS, RIGHT, TOP, Bools, Ints, Model, Proofs
from maxproof.search.refinement import KINDS
from maxproof.search.selection import FINAL
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Fitness, Origin


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy did, by problem: each array (problems,).

    Attributes:
        picked: true points 0..7 of the returned proof. argmax: of the proof that highest fitness alone would return.
        best: true points of the best proof in the archive.
        calls: all calls made. verifications: verifications run.
        candidates: proofs written.
        claimed: the policy itself calls the returned proof right.
        stopped: it ended because enough proofs were perfect in its eyes.
        wrong_stop: stopped, and none of those is right.
        by_round: true points of the best proof in the archive after each round, (problems, rounds + 1).
        winner: the returned proof's column.
    """

    picked: Ints
    argmax: Ints
    best: Ints
    calls: Ints
    verifications: Ints
    candidates: Ints
    claimed: Bools
    stopped: Bools
    wrong_stop: Bools
    by_round: Ints
    winner: Ints

    def merged(self, *others: Outcome) -> Outcome:
        """This one's problems and then the others', in order; fewer rounds are filled up with their last."""
        every = (self, *others)
        longest = max(one.by_round.shape[1] for one in every)
        parts = {name: [getattr(one, name) for one in every] for name in Outcome.__slots__}
        parts["by_round"] = [
            np.pad(rounds, ((0, 0), (0, longest - rounds.shape[1])), mode="edge") for rounds in parts["by_round"]
        ]
        return Outcome(**{name: np.concatenate(found) for name, found in parts.items()})


def aggregate(points: Ints, how: Fitness) -> Ints:
    """The score of the samples' points (..., samples) as whole numbers: minimum, sum for the mean, lower median."""
    score: Ints
    if how == "min":
        score = points.min(axis=-1)
    elif how == "mean":
        score = points.sum(axis=-1)
    else:
        score = np.sort(points, axis=-1)[..., (points.shape[-1] - 1) // 2]
    return score


class Archive:
    """All candidates of a block of problems, in columns, with what the verifier has said of them."""

    def __init__(self, model: Model, columns: int, samples: int, how: Fitness, lazy: bool) -> None:
        shape = (model.draws.problems, columns)
        self.model, self.samples, self.how = model, samples, how
        self.top = TOP * samples if how == "mean" else TOP
        self.lazy = lazy and how == "min"
        self.exists = np.zeros(shape, dtype=bool)
        self.proofs = Proofs(
            np.zeros(shape, dtype=np.int8),
            np.zeros(shape, dtype=np.int8),
            np.zeros(shape, dtype=np.float32),
            np.zeros(shape, dtype=bool),
            np.zeros(shape, dtype=np.int16),
        )
        self.bound = np.zeros(shape, dtype=np.int16)
        self.full = np.zeros(shape, dtype=np.int16)
        self.settled = np.zeros(shape, dtype=bool)
        self.verifications = np.zeros(shape[0], dtype=np.int64)
        self.used = 0

    def add(self, rows: Ints, first: int, found: Proofs, exists: Bools) -> None:
        """Candidates for the columns from `first`, each with its sample 0, or all samples if eager."""
        columns = range(first, first + found.grade.shape[1])
        at = rows[:, None], np.asarray(columns)[None, :]
        for name in Proofs.__slots__:
            getattr(self.proofs, name)[at] = getattr(found, name)
        if self.how == "min":  # the worst sample is that of the largest z: no report per sample is needed
            z = self.model.leniency(rows, columns, found.shared, 0)
            self.bound[at] = self.model.report(found, z)
            for sample in range(1, self.samples):
                z = np.maximum(z, self.model.leniency(rows, columns, found.shared, sample))
            self.full[at] = self.model.report(found, z)
        else:
            z = np.stack([self.model.leniency(rows, columns, found.shared, k) for k in range(self.samples)], axis=-1)
            self.full[at] = aggregate(self.model.report(found, z), self.how)
        self.exists[at] = exists
        if self.lazy and self.samples > 1:
            self.settled[at] = self.bound[at] == 0
            self.verifications[rows] += exists.sum(axis=1)
        else:
            self.bound[at] = self.full[at]
            self.settled[at] = True
            self.verifications[rows] += self.samples * exists.sum(axis=1)
        self.used = max(self.used, columns.stop)

    def first(self, counts: Ints) -> Archive:
        """A new archive of the first `counts` (problems,) of these candidates, of which no decision has been taken."""
        part = copy(self)
        part.used = int(counts.max())
        part.exists = np.arange(self.exists.shape[1]) < counts[:, None]
        part.bound, part.settled = self.bound.copy(), self.settled.copy()
        part.verifications = counts * (1 if self.lazy and self.samples > 1 else self.samples)
        return part

    def keys(self, rows: Ints, seed: int, label: str) -> Ints:
        """The ranking by what is known (`decisions.keys`)."""
        return keys(self.bound[rows, : self.used], self.exists[rows, : self.used], seed, label)

    def settle(self, rows: Ints, chosen: Ints, wanted: Bools) -> Bools:
        """Runs the missing samples of `chosen` (n, size) where wanted; the problems (n,) where any was missing."""
        at = rows[:, None], np.maximum(chosen, 0)
        needed = (chosen >= 0) & wanted & ~self.settled[at]
        row, place = np.nonzero(needed)
        where = rows[row], chosen[row, place]
        self.bound[where] = self.full[where]
        self.settled[where] = True
        self.verifications[rows] += (self.samples - 1) * needed.sum(axis=1)
        found: Bools = np.any(needed, axis=1)
        return found

    def perfect(self, rows: Ints) -> Bools:
        """(n, columns)."""
        found: Bools = self.exists[rows] & self.settled[rows] & (self.bound[rows] == self.top)
        return found

    def settle_stop(self, rows: Ints, size: int, seed: int) -> None:
        """The stop check's verifications: the head of the ranking, where it may be perfect."""
        while len(rows):
            chosen = head(self.keys(rows, seed, FINAL), size)
            full = self.bound[rows[:, None], np.maximum(chosen, 0)] == self.top
            rows = rows[self.settle(rows, chosen, full)]

    def settle_finalists(self, rows: Ints, size: int, seed: int, only_perfect: Bools) -> Ints:
        """The finalists (n, size) in rank order, -1 where there are fewer, exactly known."""
        found = np.full((len(rows), size), -1, dtype=np.int64)
        places = np.arange(len(rows))
        while len(places):
            at = rows[places]
            key = self.keys(at, seed, FINAL)
            key[only_perfect[places, None] & (self.bound[at, : self.used] < self.top)] = ABSENT
            chosen = head(key, size)
            found[places] = chosen
            places = places[self.settle(at, chosen, np.ones(chosen.shape, dtype=bool))]
        return found

    def settle_parents(self, rows: Ints, size: int, seed: int, number: int) -> Ints:
        """The parents of a round (n, size) in rank order, -1 where there are fewer, exactly known."""
        found = np.full((len(rows), size), -1, dtype=np.int64)
        places = np.arange(len(rows))
        while len(places):
            at = rows[places]
            key = self.keys(at, seed, f"round {number}")
            key[self.settled[at, : self.used] & (self.bound[at, : self.used] == self.top)] = ABSENT
            chosen = parents(key, self.proofs.family[at, : self.used], size)
            found[places] = chosen
            places = places[self.settle(at, chosen, np.ones(chosen.shape, dtype=bool))]
        return found

    def best(self) -> Ints:
        """True points of the best proof of each problem."""
        points = np.where(self.exists[:, : self.used], POINTS[self.proofs.grade[:, : self.used]], -1)
        found: Ints = points.max(axis=1)
        return found


def search(model: Model, sizes: SearchSettings, *, tournament: bool = True) -> Outcome:
    """The population search (MaxProof section 5), with the settings' `fitness`, `offspring` and `summaries`.

    Without the tournament the highest fitness is returned, the lowest id among equals.
    """
    n, m = sizes.candidates, sizes.parents
    archive = Archive(model, n + 2 * m * sizes.rounds, sizes.verifications, sizes.fitness, sizes.lazy)
    rows = np.arange(model.draws.problems)
    archive.add(rows, 0, model.fresh(rows, range(n)), np.ones((len(rows), n), dtype=bool))
    stopped = np.zeros(len(rows), dtype=bool)
    by_round = [archive.best()]
    active = rows
    for number in range(1, sizes.rounds + 1):
        archive.settle_stop(active, max(sizes.stop_at_perfect, sizes.finalists), sizes.seed)
        stops = archive.perfect(active).sum(axis=1) >= sizes.stop_at_perfect
        stopped[active[stops]] = True
        active = active[~stops]
        if len(active):
            chosen = archive.settle_parents(active, m, sizes.seed, number)
            has = (chosen >= 0).any(axis=1)
            active, chosen = active[has], chosen[has]
            _offspring(archive, active, chosen, n + 2 * m * (number - 1), KINDS[sizes.offspring])
        by_round.append(archive.best())
    return finish(archive, sizes, stopped, np.stack(by_round, axis=1), tournament=tournament)


def _offspring(archive: Archive, rows: Ints, chosen: Ints, first: int, kinds: tuple[Origin, Origin]) -> None:
    """Two offspring of each parent, in the columns from `first`: parent of rank p at 2p and 2p + 1."""
    sires = archive.proofs.take(rows, np.maximum(chosen, 0))
    model, size = archive.model, chosen.shape[1]
    both: list[Proofs] = []
    for place, kind in enumerate(kinds):
        columns = range(first + place, first + 2 * size, 2)
        both.append((model.patch if kind == "patch" else model.rewrite)(rows, columns, sires))
    woven = Proofs(
        *(
            np.stack([getattr(one, name) for one in both], axis=2).reshape(len(rows), 2 * size)
            for name in Proofs.__slots__
        )
    )
    archive.add(rows, first, woven, np.repeat(chosen >= 0, 2, axis=1))


def finish(
    archive: Archive, sizes: SearchSettings, stopped: Bools, by_round: Ints, *, tournament: bool = True
) -> Outcome:
    """From an archive whose rounds are over: finalists, tournament, and what it all was worth and cost."""
    rows = np.arange(len(stopped))
    model = archive.model
    only_perfect = stopped & (sizes.finalist_mode == "perfect")
    finalists = archive.settle_finalists(rows, min(sizes.finalists, archive.used), sizes.seed, only_perfect)
    at = rows[:, None], np.maximum(finalists, 0)
    score = np.where(finalists >= 0, archive.bound[at], -1)
    top_ids = np.where(score == score.max(axis=1, keepdims=True), finalists, np.iinfo(np.int64).max)
    argmax = top_ids.min(axis=1)
    if tournament:
        proofs = archive.proofs.take(rows, np.maximum(finalists, 0))
        place, votes = knock_out(model, rows, finalists, score, proofs, sizes.votes, sizes.seed)
        winner = finalists[rows, place]
    else:
        winner, votes = argmax, np.zeros(len(rows), dtype=np.int64)
    perfect = archive.perfect(rows)
    right = archive.proofs.grade == RIGHT
    candidates = archive.exists.sum(axis=1)
    calls = candidates * (2 if sizes.summaries else 1) + archive.verifications * model.settings.judges + votes
    true = POINTS[archive.proofs.grade]
    return Outcome(
        picked=true[rows, winner],
        argmax=true[rows, argmax],
        best=archive.best(),
        calls=calls,
        verifications=archive.verifications,
        candidates=candidates,
        claimed=perfect[rows, winner],
        stopped=stopped,
        wrong_stop=stopped & ~(perfect & right).any(axis=1),
        by_round=by_round,
        winner=winner,
    )


def best_of(model: Model, sizes: SearchSettings, limit: Ints | None = None, *, tournament: bool = True) -> Outcome:
    """Best-of-N: as many first proofs as `sizes` says, or as `limit` calls (problems,) pay for; then the tournament.

    With a limit each problem's number of proofs is one whose calls, lazily verified, fit: found by bisection, since
    those calls follow from the proofs. The next larger number tried does not fit.
    """
    sizes = sizes.model_copy(update={"rounds": 0, "summaries": False})
    if limit is None:
        return search(model, sizes, tournament=tournament)
    rows = np.arange(len(limit))
    low = np.ones(len(limit), dtype=np.int64)
    high = np.maximum(limit // (1 + model.settings.judges), 1) + 1
    every = Archive(model, int(high.max()), sizes.verifications, sizes.fitness, sizes.lazy)
    every.add(rows, 0, model.fresh(rows, range(every.exists.shape[1])), np.ones(every.exists.shape, dtype=bool))

    def first(counts: Ints) -> Outcome:
        part = every.first(counts)
        return finish(part, sizes, np.zeros(len(rows), dtype=bool), part.best()[:, None], tournament=tournament)

    while (high - low > 1).any():
        middle = (low + high) // 2
        fits = first(middle).calls <= limit
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return first(low)


def one_shot(model: Model) -> Outcome:
    """The first proof, unverified."""
    rows = np.arange(model.draws.problems)
    true = POINTS[model.fresh(rows, range(1)).grade[:, 0]]
    none, one = np.zeros(len(rows), dtype=bool), np.ones(len(rows), dtype=np.int64)
    return Outcome(true, true, true, one, one * 0, one, none, none, none, true[:, None], one * 0)
