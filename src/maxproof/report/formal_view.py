"""What a formal run came to: all that its outputs are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from maxproof.formal.folder import FormalFolder
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Status
from maxproof.formal.summary import MethodSummary, ProblemSummary, summarise_methods, summarise_problems
from maxproof.models.types import Stop


@dataclass(frozen=True, slots=True)
class Entry:
    """One problem over all methods.

    Attributes:
        methods: what each method made of it, by method, in the order in which they ran.
        proof: the shortest accepted proof, of those that a Dafny certified if any was; None if none was accepted.
    """

    problem: FormalProblem
    status: Status
    methods: Mapping[str, ProblemSummary]
    proof: Attempt | None


@dataclass(frozen=True, slots=True)
class FormalView:
    """A formal run. The same folder and attempts give the same view, in whatever order the attempts ended.

    Attributes:
        attempts: by method, problem and seed.
        methods: by method and split.
        stop: why no more was asked of models; false if the run came to its own end.
    """

    folder: FormalFolder
    attempts: tuple[Attempt, ...]
    entries: tuple[Entry, ...]
    methods: tuple[MethodSummary, ...]
    stop: Stop

    @property
    def asks_for_a_proof(self) -> bool:
        """Whether it is a run of `prove`; else it measures methods on a set."""
        return self.folder.formal.first_success and len(self.entries) == 1

    @property
    def method_names(self) -> tuple[str, ...]:
        """The methods that made an attempt."""
        return tuple(dict.fromkeys(summary.method for summary in self.methods))

    @property
    def whole(self) -> tuple[MethodSummary, ...]:
        """Each method over all splits."""
        return tuple({summary.method: summary for summary in self.methods}.values())  # a method's last row

    @property
    def unscored(self) -> tuple[Attempt, ...]:
        """Attempts without a verdict: cut short, or a checker failed."""
        return tuple(attempt for attempt in self.attempts if not attempt.scored)

    def count(self, status: Status) -> int:
        return sum(entry.status is status for entry in self.entries)


def view_of_attempts(folder: FormalFolder, attempts: Sequence[Attempt], stop: Stop | None = None) -> FormalView:
    """The view of a run's attempts. `stop`: None where it isn't known what ended the run."""
    statements = folder.statements
    methods: dict[str, int] = {name: number for number, name in enumerate(folder.formal.methods)}
    places = {problem.name: number for number, problem in enumerate(folder.problems)}
    ordered = sorted(attempts, key=lambda a: (methods.get(a.method, len(methods)), places.get(a.problem, 0), a.seed))
    summaries = summarise_problems(folder.problems, ordered, statements)
    by_problem: dict[str, dict[str, ProblemSummary]] = {problem.name: {} for problem in folder.problems}
    for summary in summaries:
        by_problem[summary.problem][summary.method] = summary
    entries = [_entry(problem, by_problem[problem.name], statements.get(problem.name)) for problem in folder.problems]
    found = summarise_methods(summaries, ordered)
    return FormalView(folder, tuple(ordered), tuple(entries), tuple(found), stop if stop is not None else Stop())


def _entry(problem: FormalProblem, methods: Mapping[str, ProblemSummary], statement: Status | None) -> Entry:
    accepted = [s.best for s in methods.values() if s.accepted and s.best is not None]
    proof = min(accepted, key=lambda attempt: (not attempt.certified, len(attempt.solution)), default=None)
    status = statement or (Status.SOLVED if proof is not None else Status.OPEN)
    return Entry(problem, status, methods, proof)
