"""Error rates of one rule, with two intervals: Wilson's, as if judgements were independent, and by resampling problems.

Judgements of one proof, and proofs of one problem, are alike; where a problem has several, only the second interval
allows for that. It is left out with one problem. A rate of 0 or 1 is 0 or 1 in every resample, so its interval is
Wilson's on the number of problems, not of judgements: many looks at few problems are not many problems.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

from maxproof.evaluation.bootstrap import Mean, ratio_interval
from maxproof.evaluation.calibrate.types import Judged, Rule, Sample
from maxproof.statistics import Rate, wilson

MANY_PROBLEMS = 500


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate with both intervals, all in [0, 1]. `low` and `high`, by problem, are None where left out."""

    rate: Rate
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """The wider view: by problem where there is one, else Wilson's."""
        if self.low is None or self.high is None:
            return self.rate.low, self.rate.high
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class RuleRates:
    """How one rule errs.

    Attributes:
        false_positive: share of the scored judgements of wrong proofs that pass.
        false_negative: share of the scored judgements of right proofs that fail.
        wrong_passes: share of the passes that are of wrong proofs; depends on how many wrong proofs there are.
        not_scored_wrong, not_scored_right: judgements of wrong and of right proofs that were asked for and have no
            points.
        auc: chance that a right proof gets more points than a wrong one, ties half; None without both.
    """

    name: str
    false_positive: Measured
    false_negative: Measured
    wrong_passes: Measured
    not_scored_wrong: int
    not_scored_right: int
    auc: float | None


def measure(outcomes: Iterable[tuple[str, bool]], confidence: float, seed: int) -> Measured:
    """The share of true ones among (problem, outcome)."""
    by_problem: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for problem, outcome in outcomes:
        by_problem[problem][0] += outcome
        by_problem[problem][1] += 1
    successes, total = (sum(row[place] for row in by_problem.values()) for place in (0, 1))
    rate = rate_over(successes, total, len(by_problem), confidence)
    if not 1 < len(by_problem) < total:
        return Measured(rate)
    mean = by_problem_interval({name: (part, whole) for name, (part, whole) in by_problem.items()}, confidence, seed)
    return Measured(rate, mean.low, mean.high)


def rate_over(successes: int, total: int, problems: int, confidence: float) -> Rate:
    """Wilson's interval of `successes` of `total` judgements, taken as independent unless all or none are successes:
    then it is that of all or none of the `problems` that they are of."""
    if 0 < successes < total:
        return wilson(successes, total, confidence)
    bounds = wilson(problems if successes else 0, problems, confidence)
    return Rate(successes, total, bounds.low, bounds.high)


def by_problem_interval(sums: Mapping[str, tuple[float, float]], confidence: float, seed: int) -> Mean:
    """The sum of the first numbers over that of the second ones, with an interval over problems.

    Wilson's on the number of problems for a value of 0 or 1, else percentiles over resampled problems; from
    `MANY_PROBLEMS` on, where these take long and agree with it, the normal interval from the spread between problems
    (the linearised variance of a ratio; W. G. Cochran, "Sampling Techniques", 1977, section 6.3).
    """
    judged, count = fsum(below for _, below in sums.values()), len(sums)
    for value, found in ((0.0, 0), (1.0, count)):
        if judged and all(above == value * below for above, below in sums.values()):
            bounds = wilson(found, count, confidence)
            return Mean(value, bounds.low, bounds.high, count, round(judged))
    if len(sums) < MANY_PROBLEMS:
        return ratio_interval({name: [pair] for name, pair in sums.items()}, confidence=confidence, seed=seed)
    value = fsum(above for above, _ in sums.values()) / judged
    spread = fsum((above - value * below) ** 2 for above, below in sums.values()) * count / (count - 1)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(spread) / judged
    return Mean(value, max(0.0, value - half), min(1.0, value + half), count, round(judged))


def rule_rates(
    name: str,
    rule: Rule,
    pass_at: float,
    proofs: Sequence[Judged],
    confidence: float,
    seed: int,
    asked: Callable[[Sample], bool] = lambda sample: True,
) -> RuleRates:
    """All rates of a rule that passes what has `pass_at` points or more; `asked`: the samples that it is about."""
    scored: dict[bool, list[tuple[str, float]]] = {True: [], False: []}
    missing: Counter[bool] = Counter()
    for proof in proofs:
        for sample in proof.samples:
            points = rule(sample)
            if points is None:
                missing[proof.right] += asked(sample)
            else:
                scored[proof.right].append((proof.problem, points))
    passes = [(problem, not right) for right in (False, True) for problem, points in scored[right] if points >= pass_at]
    return RuleRates(
        name=name,
        false_positive=measure(((problem, points >= pass_at) for problem, points in scored[False]), confidence, seed),
        false_negative=measure(((problem, points < pass_at) for problem, points in scored[True]), confidence, seed),
        wrong_passes=measure(passes, confidence, seed),
        not_scored_wrong=missing[False],
        not_scored_right=missing[True],
        auc=area([points for _, points in scored[True]], [points for _, points in scored[False]]),
    )


def area(right: Sequence[float], wrong: Sequence[float]) -> float | None:
    """P(right > wrong) + P(equal) / 2 over all pairs: the area under the ROC curve (the Mann-Whitney statistic)."""
    if not right or not wrong:
        return None
    rights, wrongs = Counter(right), Counter(wrong)
    below, total = 0, 0.0
    for value in sorted(rights.keys() | wrongs.keys()):
        total += rights[value] * (below + wrongs[value] / 2)
        below += wrongs[value]
    return total / (len(right) * len(wrong))


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """False-positive and false-negative rate of a rule that passes `points` and more."""

    points: float
    false_positive: Rate
    false_negative: Rate


MAX_THRESHOLDS = 30


def sweep(rule: Rule, proofs: Sequence[Judged], confidence: float) -> tuple[AtThreshold, ...]:
    """The rates at every number of points above 0 that occurs, or at each half point where those are too many.

    Their intervals are those of `rate_over`.
    """
    found: dict[bool, list[tuple[str, float]]] = {True: [], False: []}
    for proof in proofs:
        found[proof.right] += [
            (proof.problem, points) for sample in proof.samples if (points := rule(sample)) is not None
        ]
    problems = {right: len({problem for problem, _ in row}) for right, row in found.items()}

    def rate(right: bool, errs: Callable[[float], bool]) -> Rate:
        row = found[right]
        return rate_over(sum(errs(points) for _, points in row), len(row), problems[right], confidence)

    values = sorted({points for row in found.values() for _, points in row if points > 0})
    if len(values) > MAX_THRESHOLDS:
        values = [half / 2 for half in range(1, 15)]
    return tuple(
        AtThreshold(
            value,
            rate(False, value.__le__),
            rate(True, value.__gt__),
        )
        for value in values
    )
