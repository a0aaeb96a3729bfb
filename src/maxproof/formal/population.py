"""MaxProof on formal problems: the population search with a checker where the judges were.

    method = PopulationProof(caller, checker, limits, settings, lemmas=12, symbolic=prover)
    attempt = await method.attempt(problem, seed=0)

Fitness is exact: 7 points times the share of obligations that are proved, 7 only for an accepted proof, so one sample
is enough (K_verify = 1) and one accepted proof ends the search. PATCH gets the messages on the obligations that failed,
REWRITE takes another route, and both see one line on each other attempt. The symbolic prover's closest proofs are first
candidates among the model's. The ranker asks no model: an accepted proof beats any other, then the shorter one wins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from maxproof.formal.checkers.types import Checker, Limits
from maxproof.formal.guided.calls import Prompts
from maxproof.formal.guided.counting import CountingCaller
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Attempt, Method, judged
from maxproof.formal.solution.check import check_solution
from maxproof.formal.solution.feedback import messages_for_model
from maxproof.formal.solution.types import SolutionState, SolutionVerdict
from maxproof.models.types import Answer, CallAddress, Caller
from maxproof.search.engine import search
from maxproof.search.refinement import sibling_list
from maxproof.search.roles import Roles
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier.types import MAX_POINTS, Draft, ScoreState, Verdict, Verification


def formal_search(settings: SearchSettings) -> SearchSettings:
    """The same search for an exact fitness: one verification, one accepted proof is enough."""
    return settings.model_copy(update={"verifications": 1, "stop_at_perfect": 1, "finalist_mode": "top"})


def points(verdict: SolutionVerdict) -> float:
    """0..7: the share of obligations that are proved, in steps of 1/7 and below 7 unless the solution is accepted."""
    if verdict.accepted:
        return float(MAX_POINTS)
    share = verdict.proved / max(1, verdict.total)
    return float(min(MAX_POINTS - 1, int(MAX_POINTS * share)))


def verification_of(verdict: SolutionVerdict, sample: int) -> Verification:
    """The checker's verdict as a verification; a checker that failed leaves the candidate not scored."""
    if verdict.state is SolutionState.TOOL_ERROR:
        return Verification(sample, ScoreState.NOT_SCORED, None, None, verdict.reason)
    score = points(verdict)
    if verdict.accepted:
        return Verification(sample, ScoreState.PASSED, score, Verdict.NO_ERRORS, "")
    wrong = Verdict.FUNDAMENTALLY_WRONG if score == 0 else Verdict.HAS_ERRORS
    return Verification(sample, ScoreState.FAILED, score, wrong, messages_for_model(verdict))


@dataclass(slots=True)
class FormalVerifier:
    """Checks candidates and counts what that took."""

    problem: FormalProblem
    checker: Checker
    limits: Limits
    checks: int = 0
    resource: int = 0

    async def verify(self, candidate: Candidate, samples: Sequence[int]) -> Mapping[int, Verification]:
        verdict = await check_solution(self.problem, candidate.text, self.checker, self.limits)
        if verdict.result is not None:
            self.checks += 1
            self.resource += verdict.result.resource
        return {sample: verification_of(verdict, sample) for sample in samples}


@dataclass(slots=True)
class FormalGenerator:
    """Slot k is the k-th text of `symbolic`, as long as there is one; the others are the model's."""

    prompts: Prompts
    caller: Caller
    symbolic: Sequence[str] = ()

    async def generate(self, slot: Slot) -> Draft:
        if slot.id < len(self.symbolic):
            return Draft(self.symbolic[slot.id])
        return _draft(await self.caller.ask(self.prompts.prove(CallAddress("generator", "prove", slot.id))))


@dataclass(slots=True)
class FormalSummariser:
    """What still fails, in one line, from the checker's messages: no model is asked."""

    async def summarise(self, candidate: Candidate, first: Verification) -> str:
        lines = [line.strip() for line in first.critique.splitlines() if line.strip()]
        return " ".join(lines)[:300]


@dataclass(slots=True)
class FormalRefiner:
    """PATCH on the obligations that failed, REWRITE elsewhere."""

    prompts: Prompts
    caller: Caller

    async def patch(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        address = CallAddress("refiner", "patch", slot.id)
        call = self.prompts.patch(address, parent.candidate.text, parent.critique, sibling_list(siblings))
        return _draft(await self.caller.ask(call))

    async def rewrite(self, slot: Slot, parent: Standing, siblings: Sequence[Standing]) -> Draft:
        address = CallAddress("refiner", "rewrite", slot.id)
        call = self.prompts.rewrite(address, parent.candidate.text, sibling_list(siblings))
        return _draft(await self.caller.ask(call))


@dataclass(slots=True)
class FormalRanker:
    """An accepted proof beats any other; then more points; then the shorter text."""

    async def rank(self, match: int, vote: int, first: Standing, second: Standing) -> Literal["first", "second"] | None:
        return "first" if _order(first) <= _order(second) else "second"


def _order(standing: Standing) -> tuple[float, int, int]:
    return -(standing.fitness or 0.0), len(standing.candidate.text), standing.candidate.id


def formal_roles(verifier: FormalVerifier, prompts: Prompts, caller: Caller, symbolic: Sequence[str] = ()) -> Roles:
    """All the roles for one problem. `symbolic`: proofs that the symbolic prover offers as first candidates."""
    return Roles(
        generator=FormalGenerator(prompts, caller, symbolic),
        verifier=verifier,
        summariser=FormalSummariser(),
        refiner=FormalRefiner(prompts, caller),
        ranker=FormalRanker(),
    )


def _draft(answer: Answer) -> Draft:
    return Draft(answer.text, answer.reasoning, answer.state, answer.unclosed_thinking)


class PopulationProof:
    """A `Method`: the whole population search on one problem."""

    name = "population"

    def __init__(
        self,
        caller: Caller,
        checker: Checker,
        limits: Limits,
        settings: SearchSettings,
        lemmas: int,
        symbolic: Method | None = None,
    ) -> None:
        self._caller = caller
        self._checker = checker
        self._limits = limits
        self._settings = formal_search(settings)
        self._lemmas = lemmas
        self._symbolic = symbolic

    async def attempt(self, problem: FormalProblem, seed: int) -> Attempt:
        """`seed` is the search's: it decides ties. The symbolic prover's closest proof is candidate 0."""
        started = time.monotonic()
        first = [] if self._symbolic is None else [(await self._symbolic.attempt(problem, seed)).solution]
        caller = CountingCaller(self._caller)
        verifier = FormalVerifier(problem, self._checker, self._limits)
        roles = formal_roles(verifier, Prompts(problem, self._lemmas), caller, first)
        result = await search(self._settings.model_copy(update={"seed": seed}), roles)
        made = Attempt(
            problem.name,
            self.name,
            seed,
            SolutionState.TOOL_ERROR,
            checker=str(self._checker.tool),
            checks=verifier.checks,
            seconds=time.monotonic() - started,
            resource=verifier.resource,
            calls=caller.calls,
            prompt_tokens=caller.prompt_tokens,
            completion_tokens=caller.completion_tokens,
            reason="no candidate was written",
        )
        if result.winner is None:
            return made
        winner = result.standing(result.winner).candidate
        verdict = await check_solution(problem, winner.text, self._checker, self._limits)
        return judged(made, verdict, winner.text)
