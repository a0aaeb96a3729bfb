"""The four-layer verifier as a reward (MaxProof section 2.2): min over the judges, points / 7.

All rollouts of a step are verified at once; one limit holds for the judges' calls of all of them together, so the time
is (rollouts x judges / limit) latencies. "Not scored" is None, never zero. A rollout that the token limit cut is judged
as a truncated answer: layer 1 stops it with zero points and no judge call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from maxproof.models.types import Answer, AnswerState, Call, Caller, NoAnswer
from maxproof.problems import InputError, Problem
from maxproof.training.rollouts import IS_PROOF, ORACLE
from maxproof.training.types import Reward, Rollout
from maxproof.verifier import Draft, Verifier, VerifierSettings
from maxproof.verifier.bad_case import without_thinking

MAX_GROUPS, MAX_GROUP = 1 << 16, 1 << 10
"""What `candidate_id` can tell apart in one step."""

Oracle = Callable[[Problem, str], float | None]
"""An outside measure of the visible text, 0..1; None is not measured. For the record only."""


class VerifierReward:
    """A `RewardFunction`: score of one verification sample of each rollout.

    Args:
        caller_for: who answers the calls about a problem; usually one caller for all.
        problems: what the rollouts' tasks are, by id. A problem without a short answer asks for a proof.
        limit: calls in flight at once, over everything this reward is asked.
        oracle: recorded in `parts` as `oracle`; it never touches the reward.

    A rollout has no reward where no judge could be asked any more (a budget is spent, the endpoint is gone): the
    caller knows why, and whoever made it should end the run.
    """

    def __init__(
        self,
        settings: VerifierSettings,
        caller_for: Callable[[Problem], Caller],
        problems: Iterable[Problem],
        *,
        limit: int = 32,
        oracle: Oracle | None = None,
    ) -> None:
        if limit < 1:
            raise InputError(f"expected at least 1, got {limit}", field="limit")
        self._settings = settings
        self._caller_for = caller_for
        self._problems = {problem.id: problem for problem in problems}
        self._places = asyncio.Semaphore(limit)
        self._oracle = oracle

    async def __call__(self, rollouts: Sequence[Rollout]) -> list[Reward]:
        """One reward each, in order. Raises InputError for a task that is none of the problems."""
        problems = [self._problem(rollout) for rollout in rollouts]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._verify(rollout, problem))
                for rollout, problem in zip(rollouts, problems, strict=True)
            ]
        return [task.result() for task in tasks]

    def _problem(self, rollout: Rollout) -> Problem:
        if rollout.task not in self._problems:
            raise InputError(f"no problem has the id {rollout.task!r}", field="task")
        return self._problems[rollout.task]

    async def _verify(self, rollout: Rollout, problem: Problem) -> Reward:
        state = AnswerState.COMPLETE if rollout.finished else AnswerState.TRUNCATED
        caller = _LimitedCaller(self._caller_for(problem), self._places)
        # One verifier a rollout: it keeps the model's rewrite of each candidate for as long as it lives.
        verifier = Verifier(self._settings, caller, problem)
        draft = without_thinking(Draft(rollout.text, state=state))
        found = await verifier.verify(candidate_id(rollout), draft, (0,))
        parts = {IS_PROOF: float(problem.answer is None)}
        if self._oracle is not None and (truth := self._oracle(problem, draft.text)) is not None:
            parts[ORACLE] = truth
        if 0 not in found:
            return Reward(None, None, parts)
        return Reward(found[0].score, found[0], parts)


def candidate_id(rollout: Rollout) -> int:
    """A number of its own for each rollout of a run: equal texts are judged apart, each with its own draw."""
    if not (0 <= rollout.group < MAX_GROUPS and 0 <= rollout.sample < MAX_GROUP):
        raise InputError(f"group {rollout.group} or sample {rollout.sample} is out of range", field="rollout")
    return (rollout.step * MAX_GROUPS + rollout.group) * MAX_GROUP + rollout.sample


class _LimitedCaller:
    """A `Caller` whose calls take one of the shared places each while they run."""

    def __init__(self, caller: Caller, places: asyncio.Semaphore) -> None:
        self._caller = caller
        self._places = places

    async def ask(self, call: Call) -> Answer:
        async with self._places:
            return await self._caller.ask(call)

    async def ask_samples(self, calls: Sequence[Call]) -> list[Answer | NoAnswer]:
        async with self._places:
            return await self._caller.ask_samples(calls)
