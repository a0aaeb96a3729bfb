"""Works on a formal run: every method on every problem; live or resumed.

A resumed run finds finished attempts in its store, finished model calls in its journal and finished checks in the
verdict cache: nothing is paid or solved twice. Attempts without a verdict (cut short by a budget, a failed tool) are
made again. Last, the statements are examined: a proof of a vacuous one solves nothing.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from maxproof.formal.batch import run_batch
from maxproof.formal.checkers.cache import CachedChecker, default_cache
from maxproof.formal.checkers.certify import certify
from maxproof.formal.checkers.choose import EMBEDDED, Installed, find_dafny, open_checker
from maxproof.formal.checkers.types import Checker, CheckState, Limits
from maxproof.formal.empty import EmptyProof
from maxproof.formal.folder import FormalFolder
from maxproof.formal.guided.method import GuidedProof
from maxproof.formal.learned.library import LearnedLibrary, default_library
from maxproof.formal.learned.method import LearningMethod
from maxproof.formal.learned.offer import Offer
from maxproof.formal.learned.snapshot import read_snapshot, write_snapshot
from maxproof.formal.learned.strategy import LearnedCalls
from maxproof.formal.population import PopulationProof
from maxproof.formal.problem import FormalProblem
from maxproof.formal.prover.question import Strategy
from maxproof.formal.prover.search import SymbolicProver
from maxproof.formal.prover.strategies import STRATEGIES
from maxproof.formal.results import Attempt, Method
from maxproof.formal.settings import MODEL_METHODS, MethodName
from maxproof.formal.solution.check import solution_task
from maxproof.formal.statements import AUDIT_RESOURCE, statement_statuses
from maxproof.formal.store import AttemptStore, open_store
from maxproof.models.bindings import resolve_bindings
from maxproof.models.caller import JournaledCaller
from maxproof.models.journal import Journal
from maxproof.models.types import Caller, Stop
from maxproof.problems import InputError
from maxproof.search.run import open_caller

Observe = Callable[[Attempt], None]
# Attempts that wait for a model need no processor: more of them run at once than there are workers.
WAITING_FOR_MODELS: Final = 16
EXAMINED_AT_ONCE: Final = 32  # statements between two times that their statuses are saved


@dataclass(frozen=True, slots=True)
class FormalOutcome:
    """What a run came to.

    Attributes:
        attempts: all of them, by method, problem and seed.
        stop: why no more was asked of models; false if the run came to its own end.
        folder: the run as it is now, with the statuses of its statements.
    """

    attempts: tuple[Attempt, ...]
    stop: Stop
    folder: FormalFolder


class CertifiedMethod:
    """A method whose accepted solutions are checked once more, by an installed Dafny in a fresh process."""

    def __init__(self, method: Method, dafny: Installed, limits: Limits) -> None:
        self._method = method
        self._dafny = dafny
        self._limits = limits

    @property
    def name(self) -> str:
        return self._method.name

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        made = await self._method.attempt(problem, seed)
        if not made.accepted:
            return made
        result = await certify(solution_task(problem, made.solution), self._dafny, self._limits)
        return replace(made, certified=str(result.tool) if result.state is CheckState.PROVED else "")


class EarlierAttempts:
    """`method`, asked only for what it hasn't given a verdict on in this run."""

    def __init__(self, method: Method, store: AttemptStore) -> None:
        self._method = method
        self._store = store

    @property
    def name(self) -> str:
        return self._method.name

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        known = self._store.attempts.get((problem.name, self.name, seed))
        return known if known is not None and known.scored else await self._method.attempt(problem, seed)


async def run_formal(
    folder: FormalFolder,
    observe: Observe = lambda _: None,
    examined: Callable[[int, int], None] = lambda done, total: None,
) -> FormalOutcome:
    """Runs or resumes `folder`.

    Args:
        observe: gets each attempt that was made now.
        examined: is told how many statements of how many have been examined.

    Raises InputError: a checker that isn't there, a store or journal that can't be used, no model where one is needed.
    """
    formal = folder.formal
    header = {"problems": folder.digest, "checker": formal.checker}
    current = folder

    def keep_served(endpoint: str, model: str) -> None:
        nonlocal current
        current = current.with_served(endpoint, model)

    async with AsyncExitStack() as stack:
        store = stack.enter_context(open_store(folder.attempts, header))
        caller: JournaledCaller | None = None
        if MODEL_METHODS.intersection(formal.methods):
            caller = await stack.enter_async_context(_caller(folder, keep_served))
        checker = await _open(formal.checker, folder, stack)
        methods = await _methods(folder, checker, caller, store, stack)
        attempts = await _run(folder, methods, store, observe)
        if caller is not None:
            await caller.finish("formal")
        current = await _examine(current, attempts, checker, examined, stack)
        return FormalOutcome(tuple(attempts), caller.stop if caller is not None else Stop(), current)


async def _examine(
    folder: FormalFolder,
    attempts: Sequence[Attempt],
    checker: Checker,
    examined: Callable[[int, int], None],
    stack: AsyncExitStack,
) -> FormalFolder:
    """The run with the statuses of its statements, saved as they are found; what is known is not asked again."""
    proofs: dict[str, dict[str, None]] = {problem.name: {} for problem in folder.problems}
    for attempt in attempts:
        if attempt.accepted:
            proofs[attempt.problem][attempt.solution] = None
    left = [problem for problem in folder.problems if folder.examined.get(problem.name) != len(proofs[problem.name])]
    checkers = [checker]
    if left and folder.formal.checker != EMBEDDED:  # the embedded checker finds counterexamples that a Dafny doesn't
        checkers.append(await _open(EMBEDDED, folder, stack))
    for first in range(0, len(left), EXAMINED_AT_ONCE):
        part = left[first : first + EXAMINED_AT_ONCE]
        statuses = await statement_statuses(
            part, proofs, checkers, replace(folder.formal.limits.limits(), resource=AUDIT_RESOURCE)
        )
        answered = {p.name: len(proofs[p.name]) for p in part if p.name not in statuses.unanswered}
        folder = folder.with_statements(statuses.found, answered)
        examined(first + len(part), len(left))
    return folder


async def _run(folder: FormalFolder, methods: Sequence[Method], store: AttemptStore, observe: Observe) -> list[Attempt]:
    seeds = range(folder.formal.repeats)
    left = folder.problems
    attempts: list[Attempt] = []
    for method in methods:
        at_once = _workers(folder)
        if method.name in MODEL_METHODS:
            at_once = max(at_once, WAITING_FOR_MODELS)
        made = await run_batch(left, [method], seeds, store, at_once, observe)
        attempts += made
        if folder.formal.first_success:
            solved = {attempt.problem for attempt in made if attempt.accepted}
            left = tuple(problem for problem in left if problem.name not in solved)
    return attempts


def _workers(folder: FormalFolder) -> int:
    return folder.formal.workers or len(os.sched_getaffinity(0))


async def _methods(
    folder: FormalFolder, checker: Checker, caller: Caller | None, store: AttemptStore, stack: AsyncExitStack
) -> list[Method]:
    formal = folder.formal
    limits = formal.limits.limits()
    confirm = (await _open(formal.confirm, folder, stack), limits) if formal.confirm else None
    offer = Offer()
    library: LearnedLibrary | None = None
    if formal.learn:
        library = stack.enter_context(LearnedLibrary(default_library()))
        if not folder.learned.exists():
            write_snapshot(folder.learned, library.lemmas())
        offer = Offer(read_snapshot(folder.learned))

    def method(name: MethodName) -> Method:
        strategies: tuple[Strategy, ...] = (
            (LearnedCalls(offer, formal.guided.lemmas), *STRATEGIES) if formal.learn else STRATEGIES
        )
        symbolic = SymbolicProver(checker, limits, strategies=strategies, confirm=confirm, complete=offer.complete)
        if name == "empty":
            return EmptyProof(checker, limits)
        if name == "symbolic":
            return symbolic
        assert caller is not None, "opened for these methods"
        if name == "guided":
            return GuidedProof(caller, checker, limits, formal.guided, offer)
        lemmas = formal.guided.lemmas
        earlier = EarlierAttempts(symbolic, store)
        return PopulationProof(caller, checker, limits, folder.settings.search, lemmas, earlier, offer)

    made = [method(name) for name in formal.methods]
    if library is not None:
        made = [LearningMethod(one, checker, limits, library) for one in made]
    if formal.certify:
        dafny = await find_dafny()
        made = [CertifiedMethod(one, dafny, limits) for one in made]
    return made


async def _open(name: str, folder: FormalFolder, stack: AsyncExitStack) -> Checker:
    checker = CachedChecker(await stack.enter_async_context(open_checker(name, _workers(folder))), default_cache())
    stack.push_async_callback(checker.aclose)
    return checker


@asynccontextmanager
async def _caller(folder: FormalFolder, keep_served: Callable[[str, str], None]) -> AsyncIterator[JournaledCaller]:
    settings = folder.settings
    bindings = resolve_bindings(settings.endpoints, settings.roles).with_models(folder.served)
    if folder.journal.exists():
        journal = Journal.resume(folder.journal)
    else:
        journal = Journal.create(folder.journal, {"problem": folder.digest})
    with journal:
        if journal.meta("problem") != folder.digest:
            raise InputError("is the journal of other problems than run.json's", file=folder.journal)
        async with open_caller(journal, settings, bindings, folder.served, keep_served) as caller:
            yield caller
