"""One method over many problems: as many at once as there are workers, resumable, and no problem ends the batch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Method
from maxproof.formal.solution.types import SolutionState
from maxproof.formal.store import AttemptStore

_log = logging.getLogger(__name__)


async def run_batch(
    problems: Sequence[FormalProblem],
    methods: Sequence[Method],
    seeds: Sequence[int],
    store: AttemptStore,
    at_once: int,
    observe: Callable[[Attempt], None] = lambda _: None,
) -> list[Attempt]:
    """Every method on every problem for every seed; what the store has with a verdict is not run again.

    Args:
        at_once: attempts that run at the same time, >= 1.
        observe: gets each attempt that was run, after it was stored.

    Returns all attempts, ordered by method, problem and seed. A method that raises (a bug: methods tell failures as
    states) costs its own attempt only, which says so and is run again next time.
    """
    asked = [(problem, method, seed) for method in methods for problem in problems for seed in seeds]
    gate = asyncio.Semaphore(at_once)
    broken: dict[tuple[str, str, int], Attempt] = {}

    async def one(problem: FormalProblem, method: Method, seed: int) -> None:
        async with gate:
            try:
                attempt = await method.attempt(problem, seed)
            except Exception as error:  # noqa: BLE001 - a bug in one method must not cost the others their results
                _log.exception("%s on %s", method.name, problem.name)
                reason = f"internal error: {type(error).__name__}: {error}"
                attempt = Attempt(problem.name, method.name, seed, SolutionState.TOOL_ERROR, reason=reason)
                broken[problem.name, method.name, seed] = attempt
            else:
                store.add(attempt)
            observe(attempt)

    async with asyncio.TaskGroup() as group:
        for problem, method, seed in asked:
            known = store.attempts.get((problem.name, method.name, seed))
            if known is None or not known.scored:
                group.create_task(one(problem, method, seed))
    found = {**store.attempts, **broken}
    return [found[problem.name, method.name, seed] for problem, method, seed in asked]
