"""The numbers of an evaluation: means with intervals, by group, by round, and the verifier against the oracle.

Points are 0..7. A unit without what a measure needs (nothing graded, no proof) is left out of it and counted apart.
Intervals are from `bootstrap.py`: problems are drawn, with all their seeds. Where a rate is 0 or 1 the resamples say
nothing, and the interval is Wilson's over as many problems: candidates of one problem are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from maxproof.evaluation.bootstrap import Mean, mean_interval, ratio_interval
from maxproof.evaluation.dataset.result import Candidate, EvalResult, UnitResult, Used
from maxproof.statistics import wilson
from maxproof.verifier.types import MAX_POINTS

WRONG_POINTS = 0.3 * MAX_POINTS
"""At most so many points are a wrong proof: the bound of the published false-positive rate (MaxProof section 2.5)."""


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of some units.

    Attributes:
        problems, units: how many. no_proof: finished units without any proof. no_pick: units with proofs, none of
            them picked. ungraded: units whose picked proof is not graded.
        picked, argmax, best: mean points of the picked proof, of that with the highest fitness, of the best in the
            archive. loss: mean selection loss.
        solved: share of the picked proofs with 7 points. passed: share that the method itself calls right, of the units
            in which it has a view on a proof.
    """

    name: str
    problems: int
    units: int
    no_proof: int
    no_pick: int
    ungraded: int
    picked: Mean
    argmax: Mean
    best: Mean
    loss: Mean
    solved: Mean
    passed: Mean


@dataclass(frozen=True, slots=True)
class VerifierCheck:
    """What the method's fitness is worth, over all graded candidates that it has a view on.

    Attributes:
        perfect: candidates at full fitness. right: of these, with 7 points by the oracle. wrong: of these, with at most
            WRONG_POINTS.
        rejected: candidates below full fitness. missed: of these, with 7 points.
        false_positive: 1 - right / perfect, among the graded ones called perfect. false_negative: share of the proofs
            with 7 points that are not at full fitness.
        not_graded, no_view: candidates left out.
    """

    perfect: int
    right: int
    wrong: int
    rejected: int
    missed: int
    false_positive: Mean
    wrongly_perfect: Mean
    false_negative: Mean
    not_graded: int
    no_view: int


@dataclass(frozen=True, slots=True)
class Tables:
    """All aggregated numbers.

    `by_round`: mean points of the best in the archive after each round, of the units with a graded proof in round 0;
    one that has ended keeps its last value.
    `seeds`: the mean points of the picked proofs with each seed. `stops`: units by why the method ended.
    """

    whole: Group
    by_domain: tuple[Group, ...]
    by_level: tuple[Group, ...]
    by_round: tuple[Mean, ...]
    seeds: tuple[tuple[int, float | None, int], ...]
    stops: tuple[tuple[str, int], ...]
    verifier: VerifierCheck
    candidates: int
    graded: int
    search: Used
    oracle: Used


def tables_of(result: EvalResult) -> Tables:
    """A pure function of the result."""
    ran = [unit for unit in result.units if unit.state != "not_run"]
    stops = sorted({unit.stop for unit in ran})
    candidates = [candidate for unit in ran for candidate in unit.candidates]
    return Tables(
        whole=_group("all", result, ran),
        by_domain=_groups(result, ran, lambda unit: unit.domain),
        by_level=_groups(result, ran, lambda unit: unit.level),
        by_round=_by_round(result, ran),
        seeds=tuple(_seed(seed, ran) for seed in result.asked.seeds),
        stops=tuple((stop, sum(unit.stop == stop for unit in ran)) for stop in stops),
        verifier=_verifier(ran),
        candidates=len(candidates),
        graded=sum(candidate.points is not None for candidate in candidates),
        search=sum((unit.search for unit in ran), Used()),
        oracle=sum((unit.oracle for unit in ran), Used()),
    )


def _group(name: str, result: EvalResult, units: Sequence[UnitResult]) -> Group:
    whole_archive = result.asked.grade == "archive"

    def mean(value: Callable[[UnitResult], float | None]) -> Mean:
        return mean_interval(result.by_problem(units, value))

    def solved(unit: UnitResult) -> float | None:
        points = unit.picked_points
        return None if points is None else float(points == MAX_POINTS)

    def passed(unit: UnitResult) -> float | None:
        viewed = any(candidate.fitness is not None for candidate in unit.candidates)
        return float(unit.passed) if viewed else None

    return Group(
        name=name,
        problems=len({unit.problem for unit in units}),
        units=len(units),
        no_proof=sum(unit.state == "done" and not unit.candidates for unit in units),
        no_pick=sum(unit.picked is None and bool(unit.candidates) for unit in units),
        ungraded=sum(unit.picked is not None and unit.picked_points is None for unit in units),
        picked=mean(lambda unit: unit.picked_points),
        argmax=mean(lambda unit: unit.points(unit.argmax)),
        best=mean(lambda unit: unit.best if whole_archive else None),
        loss=mean(lambda unit: unit.loss if whole_archive else None),
        solved=_share(mean(solved)),
        passed=_share(mean(passed)),
    )


def _groups(
    result: EvalResult, units: Sequence[UnitResult], key: Callable[[UnitResult], str | None]
) -> tuple[Group, ...]:
    """One for each value, in its order in the dataset; none where the dataset names no value at all."""
    names = list(dict.fromkeys(key(unit) or "not named" for unit in units))
    if names in ([], ["not named"]):
        return ()
    return tuple(_group(name, result, [unit for unit in units if (key(unit) or "not named") == name]) for name in names)


def _by_round(result: EvalResult, units: Sequence[UnitResult]) -> tuple[Mean, ...]:
    if result.asked.grade != "archive":
        return ()
    # The same units in every round: one that came in later could lower the mean.
    known = [unit for unit in units if unit.best_after(0) is not None]
    last = max((unit.rounds for unit in known), default=0)
    return tuple(
        mean_interval(result.by_problem(known, lambda unit, r=number: unit.best_after(r)))  # type: ignore[misc]
        for number in range(last + 1)
    )


def _seed(seed: int, units: Sequence[UnitResult]) -> tuple[int, float | None, int]:
    points = [unit.picked_points for unit in units if unit.seed == seed and unit.picked_points is not None]
    return seed, sum(points) / len(points) if points else None, len(points)


def _verifier(units: Sequence[UnitResult]) -> VerifierCheck:
    def seen(candidate: Candidate) -> bool:
        return candidate.points is not None and candidate.fitness is not None

    def counted(part: Callable[[Candidate], bool], whole: Callable[[Candidate], bool]) -> Mean:
        counts: dict[str, list[tuple[int, int]]] = {}
        for unit in units:
            of = [candidate for candidate in unit.candidates if seen(candidate) and whole(candidate)]
            counts.setdefault(unit.problem, []).append((sum(map(part, of)), len(of)))
        return _share(ratio_interval(counts))

    def perfect(candidate: Candidate) -> bool:
        return candidate.fitness == MAX_POINTS

    def right(candidate: Candidate) -> bool:
        return candidate.points == MAX_POINTS

    def wrong(candidate: Candidate) -> bool:
        return candidate.points is not None and candidate.points <= WRONG_POINTS

    every = [candidate for unit in units for candidate in unit.candidates]
    known = [candidate for candidate in every if seen(candidate)]
    called = [candidate for candidate in known if perfect(candidate)]
    rejected = [candidate for candidate in known if not perfect(candidate)]
    return VerifierCheck(
        perfect=len(called),
        right=sum(map(right, called)),
        wrong=sum(map(wrong, called)),
        rejected=len(rejected),
        missed=sum(map(right, rejected)),
        false_positive=counted(lambda c: not right(c), perfect),
        wrongly_perfect=counted(wrong, perfect),
        false_negative=counted(lambda c: not perfect(c), right),
        not_graded=sum(candidate.points is None for candidate in every),
        no_view=sum(candidate.points is not None and candidate.fitness is None for candidate in every),
    )


def _share(mean: Mean) -> Mean:
    """A share whose values are all 0 or all 1: the interval is Wilson's, which knows how few problems there are."""
    if mean.value not in (0.0, 1.0):
        return mean
    rate = wilson(round(mean.value * mean.problems), mean.problems)
    return Mean(mean.value, rate.low, rate.high, mean.problems, mean.values)
