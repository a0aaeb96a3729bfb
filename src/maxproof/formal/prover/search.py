"""The symbolic prover: strategies propose bodies, the checker judges, hints that aren't needed go.

    prover = SymbolicProver(checker, limits)
    attempt = await prover.attempt(problem, seed=0)

No model is asked. The empty body comes first, then each strategy's proposals, those of a strategy in the order of
their costs, then some of them joined. Proposals are made in a worker process. What is returned is plain Dafny.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.embedded.workers import WorkerFailure, WorkerPool
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.generate import generated
from maxproof.formal.prover.minimise import minimised
from maxproof.formal.prover.question import Proposal, Strategy
from maxproof.formal.prover.strategies import STRATEGIES
from maxproof.formal.results import Attempt, judged
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.types import SolutionState, SolutionVerdict

EMPTY = Proposal("empty", (), cost=0)
GENERATION_SECONDS = 20.0  # a fuse: what strategies do is bounded by counts and by the solver's resource units
MEMORY_MB = 2048
_JOINED = 4

Complete = Callable[[FormalProblem, str], str]


def _as_it_is(_: FormalProblem, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class ProverSettings:
    """What one attempt may do.

    Attributes:
        checks: proposals that are checked at most, the empty body included.
        per_strategy: proposals taken from one strategy at most.
        minimise: checks spent at most on leaving hints out of an accepted proof.
    """

    checks: int = 40
    per_strategy: int = 8
    minimise: int = 12


class SymbolicProver:
    """A `Method` without a model.

    Args:
        checker, limits: what judges every proposal, and what one check may spend.
        confirm: a second checker that should accept too. Proposals that it refuses are passed over as long as there are
            others; if it accepts none, the first that `checker` accepted is returned.
        complete: adds to a submission the declarations that its strategies call and it lacks.
    """

    name = "symbolic"

    def __init__(
        self,
        checker: Checker,
        limits: Limits,
        settings: ProverSettings | None = None,
        strategies: Sequence[Strategy] = STRATEGIES,
        confirm: tuple[Checker, Limits] | None = None,
        complete: Complete = _as_it_is,
    ) -> None:
        self._complete = complete
        self._checker = checker
        self._limits = limits
        self._settings = settings or ProverSettings()
        self._strategies = strategies
        self._confirm = confirm

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """The proposals are the same for every seed; the solver's own seed differs."""
        started = time.monotonic()
        search = _Search(problem, self._checker, replace(self._limits, seed=seed), self._confirm, self._complete)
        if await search.offer(EMPTY) or not search.worth_going_on:
            return search.attempt(seed, time.monotonic() - started)
        proposals: dict[str, Proposal] = {}
        pool = WorkerPool(1)
        try:
            for strategy in self._strategies:
                made = await self._generated(pool, problem, strategy)
                fresh = {new.submission: new for new in made if new.submission not in proposals}
                proposals |= fresh
                if await self._checked(search, fresh.values()):
                    break
            else:
                await self._checked(search, _joined(list(proposals.values())))
        finally:
            await pool.aclose()
        if search.found is not None:
            await search.minimise(self._settings.minimise)
        return search.attempt(seed, time.monotonic() - started)

    async def _generated(self, pool: WorkerPool, problem: FormalProblem, strategy: Strategy) -> list[Proposal]:
        """The strategy's proposals; none if it fails or exceeds its limits. A closure runs in a thread."""
        most = self._settings.per_strategy
        if "<locals>" in getattr(strategy, "__qualname__", ""):
            return await asyncio.to_thread(generated, problem, strategy, most)
        try:
            return await pool.run(
                generated, problem, strategy, most, wall_seconds=GENERATION_SECONDS, memory_mb=MEMORY_MB, retries=0
            )
        except WorkerFailure:
            return []

    async def _checked(self, search: _Search, proposals: Iterable[Proposal]) -> bool:
        """Checks proposals until one settles the problem or no checks are left; whether that is so."""
        for proposal in proposals:
            if search.checks >= self._settings.checks or await search.offer(proposal):
                return True
        return False


def _joined(proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    """The first proposal of each strategy, joined: what none of them proves alone they may prove together."""
    first: dict[str, Proposal] = {}
    for proposal in proposals:
        first.setdefault(proposal.strategy, proposal)
    chosen = list(first.values())[:_JOINED]
    if len(chosen) > 1:
        lines = dict.fromkeys(line for proposal in chosen for line in proposal.lines)
        helpers = dict.fromkeys(helper for proposal in chosen for helper in proposal.helpers)
        yield Proposal("+".join(first), tuple(lines), cost=chosen[-1].cost + 1, helpers=tuple(helpers))


class _Search:
    """One attempt: what was checked, what was accepted, what came closest."""

    def __init__(
        self,
        problem: FormalProblem,
        checker: Checker,
        limits: Limits,
        confirm: tuple[Checker, Limits] | None,
        complete: Complete,
    ) -> None:
        self._complete = complete
        self._problem = problem
        self._checker = checker
        self._limits = limits
        self._confirm = confirm
        self._resource = 0
        self._best: tuple[SolutionVerdict, Proposal] | None = None
        self._certified = ""
        self.checks = 0
        self.found: tuple[SolutionVerdict, Proposal] | None = None

    @property
    def worth_going_on(self) -> bool:
        """Not where the statement itself is at fault, or the checker can't read it."""
        assert self._best is not None, "after an offer"
        return self._best[0].state in (SolutionState.ACCEPTED, SolutionState.UNPROVED, SolutionState.TIMEOUT)

    async def offer(self, proposal: Proposal) -> bool:
        """Checks a proposal; true when nothing better can be found."""
        verdict = await self._judge(proposal)
        if not verdict.accepted:
            if self._best is None or _share(verdict) > _share(self._best[0]):
                self._best = verdict, proposal
            return False
        self.found = self.found or (verdict, proposal)
        self._best = self._best or (verdict, proposal)
        if self._confirm is None:
            return True
        if await self._confirmed(proposal):
            self.found = verdict, proposal
            return True
        return False

    async def minimise(self, checks: int) -> None:
        """Leaves out hints of the accepted proof that it doesn't need."""
        assert self.found is not None, "something was accepted"
        certified = self._certified

        async def accepts(lines: tuple[str, ...]) -> bool:
            proposal = replace(proposal_found, lines=lines)
            verdict = await self._judge(proposal)
            if not verdict.accepted or (certified and not await self._confirmed(proposal)):
                return False
            self.found = verdict, proposal
            return True

        proposal_found = self.found[1]
        await minimised(proposal_found.lines, accepts, checks)
        self._certified = certified

    async def _judge(self, proposal: Proposal) -> SolutionVerdict:
        verdict = await check_solution(self._problem, self._text(proposal), self._checker, self._limits)
        self.checks += 1
        self._resource += verdict.result.resource if verdict.result is not None else 0
        return verdict

    async def _confirmed(self, proposal: Proposal) -> bool:
        assert self._confirm is not None, "only asked with a second checker"
        checker, limits = self._confirm
        verdict = await check_solution(self._problem, self._text(proposal), checker, limits)
        if verdict.accepted:
            self._certified = str(checker.tool)
        return verdict.accepted

    def attempt(self, seed: int, seconds: float) -> Attempt:
        """What the search came to."""
        shown = self.found or self._best
        assert shown is not None, "after an offer"
        verdict, proposal = shown
        made = Attempt(
            self._problem.name,
            SymbolicProver.name,
            seed,
            verdict.state,
            checker=str(self._checker.tool),
            certified=self._certified,
            checks=self.checks,
            seconds=seconds,
            resource=self._resource,
        )
        return judged(made, verdict, self._text(proposal))

    def _text(self, proposal: Proposal) -> str:
        return self._complete(self._problem, proposal.submission)


def _share(verdict: SolutionVerdict) -> float:
    return verdict.proved / max(1, verdict.total)
