"""Attempts as the table that is reported: by method and split, with every status apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from maxproof.formal.error_classes import ErrorClass
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Status
from maxproof.statistics import MeanRate, Rate, mean_pass_at_k, wilson

ALL = "all"


@dataclass(frozen=True, slots=True)
class ProblemSummary:
    """One problem under one method.

    Attributes:
        status: over all attempts.
        accepted, attempts: how many attempts were accepted, of how many that have a verdict.
        best: the accepted attempt with the shortest solution, else the one that came closest; None if nothing was run.
    """

    problem: str
    split: str
    method: str
    status: Status
    accepted: int
    attempts: int
    best: Attempt | None

    @property
    def unstable(self) -> bool:
        """Accepted in some repetitions only."""
        return 0 < self.accepted < self.attempts


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The chance that one of k attempts is accepted, estimated without bias; `problems`: how many it is a mean of."""

    k: int
    problems: int
    rate: MeanRate


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method on one split.

    Attributes:
        counts: problems by status.
        solved: over the problems that are not vacuous.
        solved_of_all: over all problems; a vacuous one counts as not solved.
        seconds: wall time of all attempts together.
        pass_at: pass@k for k = 1, 2, ..., over the problems that are not vacuous and have an attempt with a verdict; up
            to the number of such attempts that all of these problems have.
        errors: refused submissions by what was wrong with them.
        unscored: attempts without a verdict: cut short, or a tool failed.
    """

    method: str
    split: str
    counts: Mapping[Status, int]
    solved: Rate
    solved_of_all: Rate
    unstable: tuple[str, ...]
    checks: int
    seconds: float
    calls: int
    tokens: int
    pass_at: tuple[PassAtK, ...]
    errors: Mapping[ErrorClass, int]
    unscored: int


def summarise_problems(
    problems: Sequence[FormalProblem], attempts: Iterable[Attempt], statements: Mapping[str, Status]
) -> list[ProblemSummary]:
    """One entry for each method and problem, in the order of `problems`.

    Args:
        statements: problems whose statement was found vacuous, refuted or ill-formed; all others are taken to be sound.
    """
    grouped: dict[tuple[str, str], list[Attempt]] = {}
    methods: dict[str, None] = {}
    for attempt in attempts:
        methods.setdefault(attempt.method)
        grouped.setdefault((attempt.method, attempt.problem), []).append(attempt)
    return [
        _problem(problem, method, grouped.get((method, problem.name), []), statements.get(problem.name))
        for method in methods
        for problem in problems
    ]


def _problem(
    problem: FormalProblem, method: str, attempts: Sequence[Attempt], statement: Status | None
) -> ProblemSummary:
    accepted = [attempt for attempt in attempts if attempt.accepted]
    status = statement or (Status.SOLVED if accepted else Status.OPEN)
    best: Attempt | None
    if accepted:
        best = min(accepted, key=lambda attempt: (len(attempt.solution), attempt.seed))
    else:
        best = max(attempts, key=lambda attempt: (attempt.proved / max(1, attempt.total), -attempt.seed), default=None)
    scored = sum(attempt.scored for attempt in attempts)
    return ProblemSummary(problem.name, problem.split, method, status, len(accepted), scored, best)


def summarise_methods(problems: Sequence[ProblemSummary], attempts: Iterable[Attempt]) -> list[MethodSummary]:
    """One entry for each method and split, then one for each method over all splits if there are several."""
    by_method: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_method.setdefault(attempt.method, []).append(attempt)
    summaries: list[MethodSummary] = []
    for method, made in by_method.items():
        own = [summary for summary in problems if summary.method == method]
        splits = sorted({summary.split for summary in own})
        for split in splits:
            summaries.append(_method(method, split, [s for s in own if s.split == split], made))
        if len(splits) > 1:
            summaries.append(_method(method, ALL, own, made))
    return summaries


def _method(method: str, split: str, problems: Sequence[ProblemSummary], attempts: Sequence[Attempt]) -> MethodSummary:
    counts = {status: sum(problem.status is status for problem in problems) for status in Status}
    names = {problem.problem for problem in problems}
    own = [attempt for attempt in attempts if attempt.problem in names]
    return MethodSummary(
        method=method,
        split=split,
        counts=counts,
        solved=wilson(counts[Status.SOLVED], len(problems) - counts[Status.VACUOUS]),
        solved_of_all=wilson(counts[Status.SOLVED], len(problems)),
        unstable=tuple(problem.problem for problem in problems if problem.unstable),
        checks=sum(attempt.checks for attempt in own),
        seconds=sum(attempt.seconds for attempt in own),
        calls=sum(attempt.calls for attempt in own),
        tokens=sum(attempt.prompt_tokens + attempt.completion_tokens for attempt in own),
        pass_at=_pass_at(problems),
        errors={kind: count for kind in ErrorClass if (count := sum(a.errors.count(kind) for a in own))},
        unscored=sum(not attempt.scored for attempt in own),
    )


def _pass_at(problems: Sequence[ProblemSummary]) -> tuple[PassAtK, ...]:
    counts = [(p.attempts, p.accepted) for p in problems if p.attempts and p.status is not Status.VACUOUS]
    most = min((attempts for attempts, _ in counts), default=0)
    return tuple(PassAtK(k, len(counts), mean_pass_at_k(counts, k)) for k in range(1, most + 1))
