"""The model: provers, verifiers and rankers as arrays (problems x columns), all from one table of normal draws.

A proof has a *grade* 0..3 (`POINTS`: 7, 6, 1, 0), a route, and what of the verifier's error is common to all samples on
it. Every error is a threshold on a normal latent variable, a one-factor Gaussian copula (Vasicek, Risk 15, 2002):

    z = sqrt(rho) s + sqrt(1 - rho) e        s: shared by the samples on a proof, e: of one sample

so that the rate of an error is what it is set to, whatever rho is, and rho tunes how often samples err together. Low z
is lenient: the grade that a sample reports rises with z, so the worst of K samples is the report of their largest z.

All draws are by (seed, block, purpose, column): a column is a candidate's id, so that policies which are compared meet
the same proofs, and judges say the same of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxproof.evaluation.study.parameters import SimulatorSettings

POINTS = np.array([7, 6, 1, 0], dtype=np.int16)
TOP = 7
RIGHT, GAP, ERROR, WRONG = range(4)

Floats = NDArray[np.float32]
Ints = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]
Columns = Sequence[int] | Ints
"""Column ids: the same for all rows, or (rows, n) as an array."""

MAX_CACHE_BYTES = 192 * 1024**2
_Key = TypeVar("_Key", bound=Hashable)


class Purpose(IntEnum):
    """What a draw is for. A verifier's sample k of judge j has `SAMPLE` + k * MAX_JUDGES + j."""

    DIFFICULTY = 0
    BLOCKED = 1
    QUALITY = 2
    ROUTE = 3
    ESCAPE = 4
    CRITIQUE = 5
    CHANGE = 6
    OPENING = 7
    SHARED = 8
    BLIND = 9
    RANKER = 10
    FOOLED = 11
    VOTE = 12
    GROUP = 13
    MENDING = 14
    JUDGE = 20
    SAMPLE = 100


MAX_JUDGES = 8
VOTES_PER_MATCH = 64
"""Columns of `Purpose.VOTE` that a match owns."""


class Draws:
    """Standard normal draws for one block of problems; a column has always the same, whoever asks for it first."""

    def __init__(self, seed: int, block: int, problems: int) -> None:
        self.problems = problems
        self._key = (seed, block)
        self._columns: dict[tuple[int, int], Floats] = {}
        self._ranges: dict[tuple[int, range], Floats] = {}
        self._bytes = 0

    def column(self, purpose: int, column: int) -> Floats:
        """(problems,)."""
        key = (int(purpose), column)
        found = self._columns.get(key)
        if found is None:
            found = np.random.default_rng((*self._key, *key)).standard_normal(self.problems, dtype=np.float32)
            self._keep(self._columns, key, found)
        return found

    def columns(self, purpose: int, columns: Columns, rows: Ints | None = None) -> Floats:
        """(rows, columns); all problems without `rows`."""
        every = np.arange(self.problems) if rows is None else rows
        if isinstance(columns, range):
            return self._range(purpose, columns)[every]
        if not isinstance(columns, np.ndarray):
            return np.stack([self.column(purpose, column)[every] for column in columns], axis=1)
        found = np.empty(columns.shape, dtype=np.float32)
        for own in np.unique(columns).tolist():
            at, place = np.nonzero(columns == own)
            found[at, place] = self.column(purpose, own)[every[at]]
        return found

    def _range(self, purpose: int, columns: range) -> Floats:
        """All problems' draws, kept: policies ask for the same ranges."""
        key = (int(purpose), columns)
        found = self._ranges.get(key)
        if found is None:
            found = np.empty((self.problems, len(columns)), dtype=np.float32)
            for place, column in enumerate(columns):
                found[:, place] = self.column(purpose, column)
            self._keep(self._ranges, key, found)
        return found

    def _keep(self, kept: dict[_Key, Floats], key: _Key, found: Floats) -> None:
        if self._bytes + found.nbytes <= MAX_CACHE_BYTES:
            self._bytes += found.nbytes
            kept[key] = found


@dataclass(frozen=True, slots=True)
class Proofs:
    """Proofs of some problems, each array (problems, columns).

    Attributes:
        grade: 0..3, best first; `POINTS[grade]` are the true points.
        route: the approach.
        shared: the shared part of the verifier's error, standard normal; low is lenient.
        blind: a wrong proof that the verifier can't see through.
        family: equal for proofs that the diversity rule takes for the same.
    """

    grade: Ints
    route: Ints
    shared: Floats
    blind: Bools
    family: Ints

    def take(self, rows: Ints, columns: Ints) -> Proofs:
        """The proofs at (rows[i], columns[i, j])."""
        at = rows[:, None], columns
        return Proofs(self.grade[at], self.route[at], self.shared[at], self.blind[at], self.family[at])


def quantile(probability: float) -> float:
    """Of the standard normal distribution; infinite at 0 and 1."""
    if probability <= 0:
        return -inf
    return inf if probability >= 1 else NormalDist().inv_cdf(probability)


def cuts(rows: Sequence[Sequence[float]]) -> Floats:
    """Thresholds (rows, outcomes - 1) for outcomes with these probabilities; each row sums to 1."""
    return np.array([[quantile(sum(row[: end + 1])) for end in range(len(row) - 1)] for row in rows], dtype=np.float32)


def outcome(z: Floats, thresholds: Floats) -> Ints:
    """The number of thresholds (on the last axis) at or below `z`: an outcome with the probabilities of `cuts`."""
    found = np.zeros(np.broadcast_shapes(z.shape, thresholds.shape[:-1]), dtype=np.int8)
    for place in range(thresholds.shape[-1]):
        found += z >= thresholds[..., place]
    return found


def verdict_rates(settings: SimulatorSettings) -> list[list[float]]:
    """What one judge reports, by true grade (rows) and reported grade (columns)."""
    s = settings
    return [
        [1 - s.false_alarm, s.false_alarm, 0, 0],
        [s.pass_gap, 1 - s.pass_gap - s.slip, s.slip, 0],
        [s.pass_error, s.slip, 1 - s.pass_error - 2 * s.slip, s.slip],
        [s.pass_wrong, 0, s.slip, 1 - s.pass_wrong - s.slip],
    ]


def patch_rates(settings: SimulatorSettings) -> tuple[list[list[float]], list[list[float]]]:
    """What PATCH makes of each grade: under a right critique, and under a wrong one (all that can happen is damage)."""
    s = settings
    wrong: list[list[float]] = [
        [1 - s.damage, s.damage, 0, 0],
        [0, 1 - s.damage, s.damage, 0],
        [0, 0, 1 - s.damage, s.damage],
        [0, 0, 0, 1],
    ]
    left = 1 - s.damage
    right: list[list[float]] = [
        wrong[RIGHT],
        [s.patch_gap * left, (1 - s.patch_gap) * left, s.damage, 0],
        [s.patch_error * left, s.patch_error * left, (1 - 2 * s.patch_error) * left, s.damage],
        [0, 0, s.patch_error, 1 - s.patch_error],
    ]
    return right, wrong


def _popularity(routes: int, decay: float) -> list[float]:
    weights = [decay**place for place in range(routes)]
    return [weight / sum(weights) for weight in weights]


class Model:
    """One setting of the simulator over one block's draws. Every function is pure; `rows` are problems (n,)."""

    def __init__(self, settings: SimulatorSettings, draws: Draws) -> None:
        self.settings = settings
        self.draws = draws
        difficulty = draws.column(Purpose.DIFFICULTY, 0)
        part = settings.blocked_by_difficulty
        own = draws.columns(Purpose.BLOCKED, range(settings.routes))
        hindrance = sqrt(part) * difficulty[:, None] + sqrt(1 - part) * own
        self._blocked: Bools = hindrance > quantile(1 - settings.blocked)
        self._level: Floats = settings.skill - settings.difficulty_spread * difficulty
        self._verdicts = cuts(verdict_rates(settings))
        right, wrong = patch_rates(settings)
        self._patches = np.stack([cuts(wrong), cuts(right)])
        self._grades = -np.array([0, settings.gap_width, settings.gap_width + settings.error_width], dtype=np.float32)
        self._routes = cuts([_popularity(settings.routes, settings.route_decay)])[0]
        self._other_routes = (
            cuts([_popularity(settings.routes - 1, settings.route_decay)])[0] if settings.routes > 1 else None
        )
        self._blind = quantile(settings.blind_spot)

    # Provers

    def fresh(self, rows: Ints, columns: Columns) -> Proofs:
        """First proofs (rows, columns), each of its own family."""
        route = outcome(self.draws.columns(Purpose.ROUTE, columns, rows), self._routes)
        return self._written(rows, columns, route)

    def rewrite(self, rows: Ints, columns: Columns, parents: Proofs) -> Proofs:
        """Another proof for each parent, on another route with probability `escape`."""
        z = self.draws.columns(Purpose.ROUTE, columns, rows)
        route = outcome(z, self._routes)
        if self._other_routes is not None:
            other = outcome(z, self._other_routes)
            other += other >= parents.route
            leaves = self.draws.columns(Purpose.ESCAPE, columns, rows) < quantile(self.settings.escape)
            route = np.where(leaves, other, route)
        return self._written(rows, columns, route)

    def patch(self, rows: Ints, columns: Columns, parents: Proofs) -> Proofs:
        """Each parent with what its critique named mended, or spoilt. No patch mends a blocked route."""
        named = self.draws.columns(Purpose.CRITIQUE, columns, rows) < quantile(self.settings.critique_right)
        right = (named & (parents.grade != RIGHT)).astype(np.int8)
        thresholds = self._patches[right, parents.grade]
        common = self.settings.patch_rho
        own_change = self.draws.columns(Purpose.CHANGE, columns, rows)
        change = sqrt(common) * self.draws.column(Purpose.MENDING, 0)[rows, None] + sqrt(1 - common) * own_change
        grade = outcome(change.astype(np.float32), thresholds)
        blocked = self._blocked[rows[:, None], parents.route]
        grade = np.where(blocked, np.maximum(grade, ERROR), grade).astype(np.int8)
        kept = self.settings.inherits
        own = self.draws.columns(Purpose.SHARED, columns, rows)
        shared = (sqrt(kept) * parents.shared + sqrt(1 - kept) * own).astype(np.float32)
        keeps = self.draws.columns(Purpose.OPENING, columns, rows) < quantile(self.settings.keeps_opening)
        family = np.where(keeps, parents.family, np.asarray(columns, dtype=np.int16)).astype(np.int16)
        return Proofs(grade, parents.route, shared, self._unseen(rows, columns, grade), family)

    def _written(self, rows: Ints, columns: Columns, route: Ints) -> Proofs:
        quality = self._level[rows, None] + self.draws.columns(Purpose.QUALITY, columns, rows)
        grade = np.int8(WRONG) - outcome(quality, self._grades)
        grade = np.where(self._blocked[rows[:, None], route], np.maximum(grade, ERROR), grade).astype(np.int8)
        family = np.broadcast_to(np.asarray(columns, dtype=np.int16), grade.shape).copy()
        shared = self.draws.columns(Purpose.SHARED, columns, rows)
        return Proofs(grade, route, shared, self._unseen(rows, columns, grade), family)

    def _unseen(self, rows: Ints, columns: Columns, grade: Ints) -> Bools:
        found: Bools = (self.draws.columns(Purpose.BLIND, columns, rows) < self._blind) & (grade != RIGHT)
        return found

    # Verifier

    def leniency(self, rows: Ints, columns: Columns, shared: Floats, sample: int) -> Floats:
        """The largest z of the judges in one sample (rows, columns): low passes, high faults."""
        s = self.settings
        between = s.rho if s.judges == 1 else s.rho_judges
        worst = np.full(shared.shape, -np.inf, dtype=np.float32)
        for judge in range(s.judges):
            z = sqrt(between) * shared
            if s.rho > between:
                z = z + sqrt(s.rho - between) * self.draws.columns(Purpose.JUDGE + judge, columns, rows)
            own = self.draws.columns(Purpose.SAMPLE + sample * MAX_JUDGES + judge, columns, rows)
            np.maximum(worst, z + sqrt(1 - s.rho) * own, out=worst, casting="same_kind")
        return worst

    def report(self, proofs: Proofs, z: Floats) -> Ints:
        """The points that a sample at `z` gives; `z` may have samples as a last axis."""
        extra = z.ndim - proofs.grade.ndim
        wide = proofs.grade.reshape(*proofs.grade.shape, *(1,) * extra)
        blind = proofs.blind.reshape(wide.shape)
        thresholds = self._verdicts[wide]
        reported = np.where(blind, np.int8(RIGHT), outcome(z, thresholds))
        points: Ints = POINTS[reported]
        return points

    # Ranker

    def merit(self, rows: Ints, columns: Ints, proofs: Proofs) -> Floats:
        """How each proof looks to the ranker, but for the noise of one vote: (rows, n) at per-problem `columns`.

        The difference of two merits, with the noise of both, has variance 2, so that one vote is right with probability
        `ranker_accuracy` for 7 against 1 point; merit is linear in the points.
        """
        s = self.settings
        own = self.draws.columns(Purpose.RANKER, columns, rows)
        fooled = self.draws.columns(Purpose.FOOLED, columns, rows)
        looks_right = proofs.blind & (fooled < quantile(s.ranker_rho))
        points = np.where(looks_right, TOP, POINTS[proofs.grade])
        slope = sqrt(2) * quantile(s.ranker_accuracy) / (POINTS[RIGHT] - POINTS[ERROR])
        error = -s.ranker_rho * proofs.shared + sqrt(1 - s.ranker_rho**2) * own
        merit: Floats = (slope * points + sqrt(s.ranker_shared) * error).astype(np.float32)
        return merit

    def prefers_left(
        self,
        rows: Ints,
        match: int,
        vote: int,
        merits: tuple[Floats, Floats],
        ids: tuple[Ints, Ints],
        left_first: bool,
    ) -> Bools:
        """One vote (rows,): whether it picks the left proof."""
        s = self.settings
        drawn = self.draws.column(Purpose.VOTE, match * VOTES_PER_MATCH + vote)[rows]
        noise = sqrt(2 * (1 - s.ranker_shared)) * np.where(ids[0] < ids[1], drawn, -drawn)
        shown = s.position_bias if left_first else -s.position_bias
        found: Bools = merits[0] - merits[1] + noise + shown > 0
        return found
